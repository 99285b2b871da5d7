/* SPDX-License-Identifier: Apache-2.0 */
/* Where in the kernel lines spend time: from a tree to the list, and to what reports show of it. */
#include "daemon/report/model/kernel_lines.h"

#include "report_sample.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define KERNEL(name)                                                                               \
	{                                                                                          \
		.kind = FRAME_NATIVE, .function = (name), .file = FRAME_KERNEL_FILE                \
	}

static const struct profile_frame kernel_frames[] = {
	{ .kind = FRAME_PYTHON, .function = "f", .file = "/a.py", .line = 3, .source = "read()" },
	{ .kind = FRAME_NATIVE, .function = "read", .file = "/lib/libc.so.6" },
	KERNEL("__x64_sys_read"),
	KERNEL("read_zero"),
	KERNEL("rep_stos_alternative"),
	{ .kind = FRAME_PYTHON, .function = "g", .file = "/a.py", .line = 9 },
	KERNEL("exc_page_fault"),
	KERNEL("clear_page_erms"),
	KERNEL("[scheduling, thread start and end]"),
};

#define NODE(parent_, frame_, depth_, ns)                                                          \
	{                                                                                          \
		.parent = (parent_), .frame = (frame_), .depth = (depth_),                         \
		.samples = { 0, 0, (ns) ? 1 : 0 }, .time_ns = {                                    \
			0,                                                                         \
			0,                                                                         \
			(ns)                                                                       \
		}                                                                                  \
	}

/* f has native frames between it and the kernel or not; g's fault ran in the fault's own function,
 * too; a native thread reads without any Python; the last is of no line. */
static const struct profile_node kernel_nodes[] = {
	NODE(PROFILE_NODE_NONE, 0, 0, 7), /* it is not known where in the kernel */
	NODE(0, 1, 1, 0),
	NODE(1, 2, 2, 0),
	NODE(2, 3, 3, 300),
	NODE(3, 4, 4, 500),
	NODE(0, 2, 1, 0),
	NODE(5, 4, 2, 50),
	NODE(0, 5, 1, 0),
	NODE(7, 6, 2, 20),
	NODE(8, 7, 3, 200),
	NODE(PROFILE_NODE_NONE, 1, 0, 0),
	NODE(10, 2, 1, 0),
	NODE(11, 3, 2, 40),
	NODE(PROFILE_NODE_NONE, 8, 0, 1000),
};

static struct profile kernel_profile(void)
{
	struct profile profile = sample_profile();

	profile.tree = (struct profile_tree){
		.frames = kernel_frames,
		.frame_count = sizeof(kernel_frames) / sizeof(kernel_frames[0]),
		.nodes = kernel_nodes,
		.node_count = sizeof(kernel_nodes) / sizeof(kernel_nodes[0]),
	};
	profile.time_ns[TIME_PYTHON] = profile.time_ns[TIME_NATIVE] = 0;
	profile.time_ns[TIME_SYSTEM] = 2117;
	return profile;
}

static void check_line(const struct kernel_line *line, const char *function, const char *entry,
		       const char *call, uint64_t time_ns, size_t functions)
{
	assert_string_equal(line->frame->function, function);
	assert_string_equal(line->entry, entry);
	assert_string_equal(line->call, call);
	assert_int_equal(line->time_ns, time_ns);
	assert_int_equal(line->function_count, functions);
}

static void test_lines(void **state)
{
	struct profile profile = kernel_profile();
	struct kernel_lines lines;

	(void)state;
	assert_int_equal(kernel_lines_find(&lines, &profile), 0);
	assert_int_equal(lines.count, 3);
	assert_int_equal(lines.time_ns, 1110);
	check_line(&lines.items[0], "f", "__x64_sys_read", "read", 850, 2);
	assert_string_equal(lines.items[0].functions[0].function, "rep_stos_alternative");
	assert_int_equal(lines.items[0].functions[0].time_ns, 550);
	assert_int_equal(lines.items[0].functions[0].samples, 2);
	assert_string_equal(lines.items[0].functions[1].function, "read_zero");
	check_line(&lines.items[1], "g", "exc_page_fault", "", 220, 2);
	assert_string_equal(lines.items[1].functions[0].function, "clear_page_erms");
	check_line(&lines.items[2], "read", "__x64_sys_read", "read", 40, 1);
	kernel_lines_deinit(&lines);
}

static void test_none(void **state)
{
	struct profile profile = sample_profile();
	struct kernel_lines lines;

	(void)state;
	assert_int_equal(kernel_lines_find(&lines, &profile), 0);
	assert_int_equal(lines.count, 0);
	kernel_lines_deinit(&lines);
}

static void test_text(void **state)
{
	struct profile profile = kernel_profile();
	struct writer_options options = { .columns = 100 };
	char *text = sample_written(&writer_text, &profile, &options);

	(void)state;
	assert_non_null(strstr(text, "SYSTEM"));
	assert_non_null(strstr(text, " read                  /a.py:3"));
	assert_non_null(strstr(text, "in rep_stos_alternative "));
	assert_non_null(strstr(text, " exc_page_fault        /a.py:9"));
	assert_null(strstr(text, "where in the kernel is not known"));
	free(text);
	profile = sample_profile();
	text = sample_written(&writer_text, &profile, &options);
	assert_null(strstr(text, "SYSTEM"));
	assert_non_null(strstr(text, "where in the kernel is not known"));
	free(text);
}

/* A function of the kernel is marked, and its time needs no frame that says so once more. */
static void test_collapsed(void **state)
{
	struct profile profile = kernel_profile();
	struct writer_options options = { 0 };
	struct profile_node nodes[] = {
		NODE(PROFILE_NODE_NONE, 0, 0, 3000),
		NODE(0, 2, 1, 5000),
	};
	char *text;

	(void)state;
	profile.tree.nodes = nodes;
	profile.tree.node_count = 2;
	text = sample_written(&writer_collapsed, &profile, &options);
	assert_string_equal(text, "f (/a.py:3);[system] 3\nf (/a.py:3);__x64_sys_read_[k] 5\n");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_collapsed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
