/* SPDX-License-Identifier: Apache-2.0 */
/* Collapsed stacks, to the letter, and what a reader's rule makes of hostile names. */
#include "report_sample.h"

#include <errno.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const struct writer_options defaults;

#define MODULE   "_start (python3.11);<module> (" SAMPLE_FILE ":90)"
#define BACKPROP MODULE ";Convolution.backprop (" SAMPLE_FILE ":33)"
#define ENCODE   MODULE ";encode (/usr/lib/python3.11/json/encoder.py:200)"

static void test_sample(void **state)
{
	struct profile profile = sample_profile();
	char *text = sample_written(&writer_collapsed, &profile, &defaults);

	(void)state;
	/* Nanoseconds that a line loses to rounding come back in a later one. */
	assert_string_equal(text, MODULE " 10000\n" BACKPROP " 2000000\n" BACKPROP
					 ";[system] 123000\n" BACKPROP
					 ";0x9abc (libm.so.6) 300000\n" BACKPROP
					 ";array_subscript (_multiarray_umath.so) 5500000\n" ENCODE
					 " 1190000\n" ENCODE ";[system] 677000\n");
	free(text);
}

/* One process has no frame of its own that could name its container; several have. */
static void test_container(void **state)
{
	static const struct profile_container without_name = { "docker", "0123;5\n", "" };
	static const char head[] = "[container web (podman aaaaaaaaaaaa)];_start (";
	struct profile profile = sample_profile();
	struct profile_container *container = &profile.facts.target.container;
	char *text;

	(void)state;
	snprintf(container->runtime, sizeof(container->runtime), "podman");
	snprintf(container->name, sizeof(container->name), "web");
	memset(container->id, 'a', sizeof(container->id) - 1);
	text = sample_written(&writer_collapsed, &profile, &defaults);
	for (const char *line = text; *line; line = strchr(line, '\n') + 1)
		assert_memory_equal(line, head, strlen(head));
	free(text);
	*container = without_name;
	text = sample_written(&writer_collapsed, &profile, &defaults);
	assert_non_null(strstr(text, "[container docker 0123\\x3b5\\n];" MODULE " 10000\n"));
	free(text);
	profile.process_count = 2;
	text = sample_written(&writer_collapsed, &profile, &defaults);
	assert_null(strstr(text, "container"));
	free(text);
}

/* The sum of all lines, and the number of frames of the longest. */
static uint64_t check_lines(char *text, size_t *ret_deepest)
{
	uint64_t sum = 0;
	char *saved = NULL;

	*ret_deepest = 0;
	for (char *line = strtok_r(text, "\n", &saved); line; line = strtok_r(NULL, "\n", &saved)) {
		char *number = strrchr(line, ' '), *end;
		size_t frames = 1;

		assert_non_null(number);
		sum += strtoull(number + 1, &end, 10);
		assert_true(end > number + 1 && !*end);
		/* The frame before cannot be taken for a number. */
		assert_true(number[-1] == ')' || number[-1] == ']');
		for (const char *at = line; at < number; at++)
			frames += *at == ';';
		if (frames > *ret_deepest)
			*ret_deepest = frames;
	}
	return sum;
}

static void test_hostile(void **state)
{
	struct profile profile = sample_profile();
	struct profile_frame frames[sizeof(sample_tree_frames) / sizeof(sample_tree_frames[0])];
	size_t deepest;
	char *text;

	(void)state;
	memcpy(frames, sample_tree_frames, sizeof(frames));
	frames[1].function = "f 12\nroot;leaf 99";
	frames[2].file = "/x\x1b[2J/\xff;y 7";
	frames[4].function = "operator() (int) const 5";
	frames[4].file = "/x/lib;evil\n.so";
	profile.tree.frames = frames;
	text = sample_written(&writer_collapsed, &profile, &defaults);
	assert_non_null(strstr(text, "f 12\\nroot\\x3bleaf 99 ("));
	assert_non_null(strstr(text, "(/x\\u001b[2J/\\xff\\x3by 7:33)"));
	assert_non_null(strstr(text, "operator() (int) const 5 (lib\\x3bevil\\n.so) 5500000\n"));
	assert_true(check_lines(text, &deepest) == 9800000);
	assert_int_equal(deepest, 4);
	free(text);
}

static void test_empty(void **state)
{
	struct profile profile = { .facts = { .version = "1", .sampler = "clock" } };
	char *text = sample_written(&writer_collapsed, &profile, &defaults);

	(void)state;
	assert_string_equal(text, "");
	free(text);
}

/* Stacks of less than a microsecond are not lost from the sum. */
static void test_rounding(void **state)
{
	struct profile_node nodes[1000];
	const struct profile_frame frame = { .kind = FRAME_NATIVE, .function = "f", .file = "?" };
	struct profile profile = {
		.tree = { .frames = &frame, .frame_count = 1, .nodes = nodes, .node_count = 1000 },
	};
	size_t deepest;
	char *text;

	(void)state;
	for (size_t i = 0; i < 1000; i++)
		nodes[i] = (struct profile_node){
			.parent = PROFILE_NODE_NONE,
			.samples = { 1, 0, 0 },
			.time_ns = { 333, 0, 0 },
		};
	text = sample_written(&writer_collapsed, &profile, &defaults);
	assert_true(check_lines(text, &deepest) == 333);
	free(text);
}

static void test_full_disk(void **state)
{
	struct profile profile = sample_profile();
	FILE *file = fopen("/dev/full", "w");

	(void)state;
	assert_non_null(file);
	setvbuf(file, NULL, _IONBF, 0);
	assert_int_equal(writer_collapsed.write(&profile, &defaults, file), -EIO);
	fclose(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sample),   cmocka_unit_test(test_container),
		cmocka_unit_test(test_hostile),  cmocka_unit_test(test_empty),
		cmocka_unit_test(test_rounding), cmocka_unit_test(test_full_disk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
