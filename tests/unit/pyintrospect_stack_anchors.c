/* SPDX-License-Identifier: Apache-2.0 */
/* The native frame that each group of Python frames lies in, by libunwind on a stopped thread. */
#include "held_stacks.h"
#include "tests/unit/support_unwind.h"

/* The k-th group's anchor lies in the k-th native frame of the evaluation loop. */
static unsigned check_anchors(struct session *session, struct python_runtime *runtime,
			      const struct expected_stack *expected)
{
	static struct python_stack stack;
	static struct eval_frame frames[1024];
	int count, groups = 0, status;
	unsigned wrong = 0;

	assert_int_equal(ptrace(PTRACE_SEIZE, expected->tid, NULL, NULL), 0);
	assert_int_equal(ptrace(PTRACE_INTERRUPT, expected->tid, NULL, NULL), 0);
	assert_int_equal(waitpid(expected->tid, &status, __WALL), expected->tid);
	count = native_eval_frames(expected->tid, frames, 1024);
	assert_int_equal(python_stack_read(runtime, expected->tid, NULL, &stack), 0);
	assert_int_equal(ptrace(PTRACE_DETACH, expected->tid, NULL, NULL), 0);
	(void)session;
	if (stack.flags & PYTHON_STACK_TRUNCATED) /* its outermost groups are missing */
		return !same_stack(&stack, expected, true);
	for (size_t i = 0; i < stack.count; i++) {
		const struct python_frame *frame = &stack.frames[i];

		if (!frame->entry) {
			assert_int_equal(frame->anchor, 0);
			continue;
		}
		if (groups < count && frame->anchor &&
		    (frame->anchor < frames[groups].sp || frame->anchor >= frames[groups].cfa)) {
			print_error("%s: anchor %#lx of group %d outside [%#lx, %#lx)\n",
				    expected->name, frame->anchor, groups, frames[groups].sp,
				    frames[groups].cfa);
			wrong++;
		}
		if (runtime->layout.minor >= 11 && !frame->anchor)
			wrong++;
		groups++;
	}
	if (groups != count) {
		print_error("%s: %d groups, %d evaluation loops\n", expected->name, groups, count);
		wrong++;
	}
	assert_true(stack.count == 0 || stack.frames[stack.count - 1].entry);
	return wrong;
}

static void test_anchors(void **state)
{
	const struct live_pythons *pythons = live_pythons();
	unsigned wrong = 0;

	(void)state;
	for (size_t i = 0; i < pythons->count; i++) {
		struct session session;
		struct error error;
		struct python_runtime *runtime;
		unsigned now = 0;

		session_start(&session, &pythons->items[i]);
		runtime = python_runtime_create(&session.info, &session.reader, &error);
		assert_non_null(runtime);
		for (size_t j = 0; j < session.count; j++) {
			uint64_t sp;

			assert_true(live_thread_wait_syscall(session.target.pid,
							     session.stacks[j].tid, SYS_read, &sp));
			now += check_anchors(&session, runtime, &session.stacks[j]);
		}
		print_message("3.%d.%d: %zu stacks, %u wrong groups or anchors\n",
			      pythons->items[i].minor, pythons->items[i].micro, session.count, now);
		wrong += now;
		python_runtime_destroy(runtime);
		session_end(&session);
	}
	assert_int_equal(wrong, 0);
	if (!pythons->count)
		skip();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_anchors),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
