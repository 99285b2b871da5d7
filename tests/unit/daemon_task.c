/* SPDX-License-Identifier: Apache-2.0 */
/* Which task a stack is of: the outermost coroutine, where all of the stack is known. */
#include "daemon/report/model/task.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum {
	MODULE,
	LOOP,
	OUTER,
	INNER,
	HELPER,
	PROCESS,
	NATIVE,
};

static const struct profile_frame frames[] = {
	[MODULE] = { .kind = FRAME_PYTHON, .function = "<module>" },
	[LOOP] = { .kind = FRAME_PYTHON, .function = "Handle._run" },
	[OUTER] = { .kind = FRAME_PYTHON, .function = "serve", .flags = FRAME_COROUTINE },
	[INNER] = { .kind = FRAME_PYTHON, .function = "read", .flags = FRAME_COROUTINE },
	[HELPER] = { .kind = FRAME_PYTHON, .function = "helper" },
	[PROCESS] = { .kind = FRAME_PROCESS, .function = "[process 7]" },
	[NATIVE] = { .kind = FRAME_NATIVE, .function = "uv_run" },
};

/* The task of a stack, outermost frame first; flags: of its outermost node below a process. */
static const char *task_of(const uint32_t *stack, uint32_t depth, uint32_t flags)
{
	struct profile_node nodes[8] = { 0 };
	const struct profile_tree tree = { .frames = frames, .nodes = nodes, .node_count = depth };

	for (uint32_t i = 0; i < depth; i++)
		nodes[i] = (struct profile_node){
			.parent = i ? i - 1 : PROFILE_NODE_NONE,
			.frame = stack[i],
			.depth = i,
			.flags = i == (stack[0] == PROCESS) ? flags : 0,
		};
	return task_of_node(&tree, &nodes[depth - 1]);
}

#define TASK_OF(flags, ...)                                                                        \
	task_of((const uint32_t[]){ __VA_ARGS__ },                                                 \
		sizeof((const uint32_t[]){ __VA_ARGS__ }) / sizeof(uint32_t), flags)

static void test_outermost(void **state)
{
	(void)state;
	assert_string_equal(TASK_OF(0, MODULE, LOOP, OUTER), "serve");
	assert_string_equal(TASK_OF(0, MODULE, LOOP, OUTER, INNER, HELPER), "serve");
	assert_string_equal(TASK_OF(0, NATIVE, INNER), "read");
	assert_string_equal(TASK_OF(0, PROCESS, MODULE, OUTER, HELPER), "serve");
	/* A guessed frame says nothing of what is missing. */
	assert_string_equal(TASK_OF(FRAME_GUESSED, NATIVE, INNER), "read");
}

static void test_none(void **state)
{
	(void)state;
	assert_null(TASK_OF(0, MODULE));
	assert_null(TASK_OF(0, MODULE, LOOP, HELPER));
	/* Nothing runs it: a part of the stack is missing. */
	assert_null(TASK_OF(0, INNER, HELPER));
	assert_null(TASK_OF(0, PROCESS, INNER));
	assert_null(TASK_OF(FRAME_TRUNCATED_ABOVE, HELPER, INNER));
	assert_null(TASK_OF(FRAME_TRUNCATED_ABOVE, PROCESS, HELPER, INNER));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_outermost),
		cmocka_unit_test(test_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
