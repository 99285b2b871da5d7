/* SPDX-License-Identifier: Apache-2.0 */
/* What each thread did, in the formats that tell threads apart. */
#include "daemon/report/model/stack_list.h"
#include "report_sample.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <jansson.h>

static const struct writer_options defaults;

static struct profile with_stacks(void)
{
	struct profile profile = sample_profile();

	sample_add_stacks(&profile);
	return profile;
}

/* The stacks and what is left of each node are all that the tree has. */
static void test_list(void **state)
{
	struct profile profile = with_stacks();
	uint64_t samples[TIME_CLASS_COUNT] = { 0 }, time_ns[TIME_CLASS_COUNT] = { 0 };
	struct stack_list list;

	(void)state;
	assert_int_equal(stack_list_init(&list, &profile), 0);
	assert_int_equal(list.count, 5 + 2);
	assert_int_equal(list.thread_count, 2);
	assert_int_equal(list.items[5].thread, STACK_THREAD_NONE);
	assert_int_equal(list.items[5].node, 3);
	assert_int_equal(list.items[6].node, 5);
	assert_int_equal(list.items[6].time_ns[TIME_SYSTEM], 77000000);
	for (size_t i = 0; i < list.count; i++)
		for (size_t c = 0; c < TIME_CLASS_COUNT; c++) {
			samples[c] += list.items[i].samples[c];
			time_ns[c] += list.items[i].time_ns[c];
		}
	assert_int_equal(time_sum(samples), 987);
	assert_memory_equal(time_ns, profile.time_ns, sizeof(time_ns));
	stack_list_deinit(&list);
	/* A recording that says more of a thread than of the tree. */
	profile.tree.node_count = 1;
	profile.facts.stack_count = 0;
	assert_int_equal(stack_list_init(&list, &profile), 0);
	assert_int_equal(list.count, 0);
	stack_list_deinit(&list);
}

/* By thread and time; what has no place in time comes last. */
static void test_moments(void **state)
{
	static const struct {
		uint32_t thread, node;
		uint64_t slice, time_ns;
	} expected[] = {
		{ 0, 4, 0, 4000000 },
		{ 0, 1, 2, 10000400 },
		{ 0, 4, 3, 6000000 },
		{ 0, 2, 4, 2122999700 },
		{ 0, 4, 4, 4990000000 },
		{ 1, 5, 1, 30000000 },
		{ 1, 4, 4, 500000000 },
		{ 1, 5, 4, 1759999900 },
		{ STACK_THREAD_NONE, 3, 4, 300000000 },
		{ STACK_THREAD_NONE, 5, 4, 77000000 },
	};
	struct profile profile = with_stacks();
	struct stack_list list;
	struct moment_list moments;

	(void)state;
	assert_int_equal(stack_list_init(&list, &profile), 0);
	assert_int_equal(moment_list_init(&moments, &profile, &list), 0);
	assert_int_equal(moments.count, sizeof(expected) / sizeof(expected[0]));
	for (size_t i = 0; i < moments.count; i++) {
		assert_int_equal(moments.items[i].thread, expected[i].thread);
		assert_int_equal(moments.items[i].node, expected[i].node);
		assert_int_equal(moments.items[i].slice, expected[i].slice);
		assert_int_equal(time_sum(moments.items[i].time_ns), expected[i].time_ns);
	}
	moment_list_deinit(&moments);
	stack_list_deinit(&list);
}

/* A root for each thread, behind the process's; none where there is but one. */
static void test_collapsed(void **state)
{
	struct profile_thread threads[2] = { sample_stack_threads[0], sample_stack_threads[1] };
	struct profile profile = with_stacks();
	struct profile_frame frames[sizeof(sample_tree_frames) / sizeof(sample_tree_frames[0])];
	char *text = sample_written(&writer_collapsed, &profile, &defaults);
	uint64_t sum_us = 0;

	(void)state;
	assert_memory_equal(text, "[thread MainThread 4321];_start (", 33);
	assert_non_null(strstr(text, "\n[thread worker 4322];_start (python3.11);<module> ("));
	assert_non_null(strstr(text, "\n[unknown thread];_start ("));
	for (const char *line = text; *line; line = strchr(line, '\n') + 1) {
		const char *end = strchr(line, '\n');

		while (end[-1] != ' ')
			end--;
		sum_us += strtoull(end, NULL, 10);
	}
	assert_int_equal(sum_us, 9800000);
	free(text);

	snprintf(threads[0].name, sizeof(threads[0].name), "a;b\n] 7");
	profile.facts.threads = threads;
	memcpy(frames, sample_tree_frames, sizeof(frames));
	frames[0].kind = FRAME_PROCESS;
	frames[0].function = "process 4321 (x.py)";
	profile.tree.frames = frames;
	text = sample_written(&writer_collapsed, &profile, &defaults);
	assert_memory_equal(text, "process 4321 (x.py);[thread a\\x3bb\\n] 7 4321];<module> (", 54);
	free(text);

	/* Others, for whom there was no room, are no second thread. */
	threads[1].tid = 0;
	text = sample_written(&writer_collapsed, &profile, &defaults);
	assert_null(strstr(text, "thread"));
	free(text);
	profile.facts.stack_count = 0;
	text = sample_written(&writer_collapsed, &profile, &defaults);
	assert_null(strstr(text, "thread"));
	free(text);
}

static json_t *parsed(const struct writer *writer, const struct profile *profile)
{
	char *text = sample_written(writer, profile, &defaults);
	json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);

	assert_non_null(root);
	free(text);
	return root;
}

static const char *string_at(json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

/* The innermost frame of each sample of a profile. */
static json_int_t leaf_of(json_t *profile, size_t sample)
{
	json_t *stack = json_array_get(json_object_get(profile, "samples"), sample);

	return json_integer_value(json_array_get(stack, json_array_size(stack) - 1));
}

static void test_speedscope(void **state)
{
	static const json_int_t leaves[] = { 4, 1, 4, 2, 4 };
	struct profile profile = with_stacks();
	json_t *root = parsed(&writer_speedscope, &profile);
	json_t *profiles = json_object_get(root, "profiles"), *main_thread;

	(void)state;
	/* All, two threads, three classes; what is of no thread is in the first. */
	assert_int_equal(json_array_size(profiles), 6);
	assert_string_equal(string_at(json_array_get(profiles, 0), "name"), "CPU time");
	main_thread = json_array_get(profiles, 1);
	assert_string_equal(string_at(main_thread, "name"), "MainThread (4321)");
	assert_string_equal(string_at(json_array_get(profiles, 2), "name"), "worker (4322)");
	assert_string_equal(string_at(json_array_get(profiles, 3), "name"), "Python");
	assert_int_equal(json_array_size(json_object_get(main_thread, "samples")), 5);
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(leaf_of(main_thread, i), leaves[i]);
	assert_int_equal(
		json_integer_value(json_array_get(json_object_get(main_thread, "weights"), 0)),
		4000000);
	assert_int_equal(json_integer_value(json_object_get(main_thread, "endValue")),
			 10000400 + 2122999700 + 5000000000);
	json_decref(root);
}

static double real_at(json_t *samples, const char *column, size_t row)
{
	return json_number_value(json_array_get(json_object_get(samples, column), row));
}

/* Where it ran in time; a pause is a row without a stack. */
static void test_firefox(void **state)
{
	static const struct {
		bool stack;
		double time, weight, cpu;
	} rows[] = {
		{ true, 0, 4, 0 },           { false, 4, 0, 4000000 },
		{ true, 100, 10.0004, 0 },   { false, 110.0004, 0, 10000400 },
		{ true, 150, 6, 0 },         { false, 156, 0, 6000000 },
		{ true, 200, 1999.9997, 0 }, { true, 2199.9997, 123, 1999999700 },
	};
	struct profile profile = with_stacks();
	json_t *root = parsed(&writer_firefox, &profile), *threads, *samples;

	(void)state;
	threads = json_object_get(root, "threads");
	assert_int_equal(json_array_size(threads), 3);
	assert_string_equal(string_at(json_array_get(threads, 0), "name"), "MainThread");
	assert_string_equal(string_at(json_array_get(threads, 0), "pid"), "4321");
	assert_int_equal(json_integer_value(json_object_get(json_array_get(threads, 0), "tid")),
			 4321);
	assert_true(json_is_true(json_object_get(json_array_get(threads, 0), "isMainThread")));
	assert_true(json_is_false(json_object_get(json_array_get(threads, 1), "isMainThread")));
	assert_string_equal(string_at(json_array_get(threads, 2), "name"), "unknown thread");
	samples = json_object_get(json_array_get(threads, 0), "samples");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(
			json_is_integer(json_array_get(json_object_get(samples, "stack"), i)),
			rows[i].stack);
		assert_true(fabs(real_at(samples, "time", i) - rows[i].time) < 1e-6);
		assert_true(fabs(real_at(samples, "weight", i) - rows[i].weight) < 1e-6);
		assert_true(fabs(real_at(samples, "threadCPUDelta", i) - rows[i].cpu) < 0.5);
	}
	json_decref(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_list),      cmocka_unit_test(test_moments),
		cmocka_unit_test(test_collapsed), cmocka_unit_test(test_speedscope),
		cmocka_unit_test(test_firefox),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
