/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting in reports: beside CPU time, never in it, and only where it was asked for. */
#include "report_sample.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const struct writer_options defaults = { .columns = 100 };

struct waiting_sample {
	struct profile profile;
	struct profile_line lines[3];
	struct profile_node nodes[6];
	struct profile_thread threads[2];
};

/* The lines wait for a lock, the second for the GIL, too; the innermost node of it as well. */
static void make_sample(struct waiting_sample *sample, bool waits)
{
	sample->profile = sample_profile();
	memcpy(sample->lines, sample_lines, sizeof(sample->lines));
	memcpy(sample->nodes, sample_nodes, sizeof(sample->nodes));
	memset(sample->threads, 0, sizeof(sample->threads));
	sample->profile.lines = sample->lines;
	sample->profile.tree.nodes = sample->nodes;
	sample->profile.facts.threads = sample->threads;
	sample->profile.facts.thread_count = 2;
	sample->threads[0] = (struct profile_thread){
		.tid = 11,
		.name = "one",
		.time_ns = { 3000000000, 6000000000, 800000000 },
		.gil_ns = 4000000000,
	};
	sample->threads[1] = (struct profile_thread){ .tid = 12, .name = "two" };
	sample->profile.facts.gil_known = true;
	sample->profile.gil_ns = 4000000000;
	if (!waits)
		return;
	sample->profile.facts.waits = true;
	sample->lines[0].side.waiting_ns[WAIT_LOCK] = 6000000000;
	sample->lines[1].side.waiting_ns[WAIT_GIL] = 2000000000;
	sample->nodes[1].side.waiting_ns[WAIT_LOCK] = 6000000000;
	sample->nodes[4].side.waiting_ns[WAIT_GIL] = 2000000000;
	sample->threads[1].side.waiting_ns[WAIT_LOCK] = 6000000000;
	sample->threads[1].side.waiting_ns[WAIT_GIL] = 2000000000;
	sample->profile.side = sample->threads[1].side;
}

static void test_text(void **state)
{
	struct waiting_sample sample;
	char *text;

	(void)state;
	make_sample(&sample, true);
	text = sample_written(&writer_text, &sample.profile, &defaults);
	assert_non_null(strstr(text, "\nWAITING  8.00 s asleep in 1 thread, of 10.0 s each\n"));
	assert_non_null(strstr(text, "\n 75.0%  75.0%   0.0%   0.0%   0.0%   0.0%  "));
	assert_non_null(strstr(text, "\n 25.0%   0.0%  25.0%   0.0%   0.0%   0.0%  "));
	/* Of 10 s: the first held the GIL for 4, the second slept for 8, 2 of them for the GIL. */
	assert_non_null(
		strstr(text, " 100.0%  30.6%  61.2%   8.2%  39.9%   0.0%   0.0%       11 one\n"));
	assert_non_null(
		strstr(text, "   0.0%   0.0%   0.0%   0.0%   0.0%  79.8%  20.0%       12 two\n"));
	assert_non_null(strstr(text, "\nTIME  9.80 s of CPU:"));
	free(text);
	make_sample(&sample, false);
	text = sample_written(&writer_text, &sample.profile, &defaults);
	assert_null(strstr(text, "WAITING"));
	assert_null(strstr(text, "asleep"));
	free(text);
}

static void test_json(void **state)
{
	struct waiting_sample sample;
	json_t *root, *waiting;
	char *text;

	(void)state;
	make_sample(&sample, true);
	text = sample_written(&writer_json, &sample.profile, &defaults);
	root = json_loads(text, 0, NULL);
	assert_non_null(root);
	waiting = json_object_get(root, "waiting_ns");
	assert_int_equal(json_integer_value(json_object_get(waiting, "lock")), 6000000000);
	assert_int_equal(json_integer_value(json_object_get(waiting, "gil")), 2000000000);
	assert_int_equal(json_object_size(waiting), WAIT_KIND_COUNT);
	waiting = json_object_get(json_array_get(json_object_get(root, "lines"), 1), "waiting_ns");
	assert_int_equal(json_integer_value(json_object_get(waiting, "gil")), 2000000000);
	waiting =
		json_object_get(json_array_get(json_object_get(root, "threads"), 1), "waiting_ns");
	assert_int_equal(json_integer_value(json_object_get(waiting, "lock")), 6000000000);
	json_decref(root);
	free(text);
	make_sample(&sample, false);
	text = sample_written(&writer_json, &sample.profile, &defaults);
	assert_null(strstr(text, "waiting_ns"));
	free(text);
}

static void test_collapsed(void **state)
{
	struct waiting_sample sample;
	char *with, *without;

	(void)state;
	make_sample(&sample, true);
	with = sample_written(&writer_collapsed, &sample.profile, &defaults);
	assert_non_null(strstr(with, "<module> (" SAMPLE_FILE ":90);[waiting: lock] 6000000\n"));
	assert_non_null(strstr(with, "(_multiarray_umath.so);[waiting: gil] 2000000\n"));
	make_sample(&sample, false);
	without = sample_written(&writer_collapsed, &sample.profile, &defaults);
	assert_null(strstr(without, "waiting"));
	free(with);
	free(without);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_collapsed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
