/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks of a live child with more frames, and more bytes, than are taken. */
#include "daemon/capture/capture.h"

#include "attach/user_registers.h"
#include "tests/unit/under_valgrind.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* As in docs/SECURITY.md. */
#define PAGE_BYTES   4096u
#define SMALL_BYTES  32u /* a frame of descend(), at least; less than the red zone */
#define DEEPER_BYTES (256u << 10)
#define FRAMES       512
#define STACK_BYTES  (512u << 10)

#define FRAME_BYTES 4096
#define DOUBLINGS   8

static void wait_here(void)
{
	/* Until it is killed. */
	raise(SIGSTOP);
}

/* One frame each, and not the last thing that it does. */
__attribute__((noinline)) static int descend(unsigned depth)
{
	volatile int here = (int)depth;

	if (depth == 0)
		wait_here();
	else
		here += descend(depth - 1);
	return here;
}

__attribute__((noinline)) static int descend_widely(unsigned depth)
{
	volatile char room[FRAME_BYTES];

	room[depth % FRAME_BYTES] = 1;
	if (depth == 0)
		wait_here();
	else
		room[0] = (char)descend_widely(depth - 1);
	return room[0] + room[depth % FRAME_BYTES];
}

__attribute__((noinline)) static int descend_on(unsigned wide, unsigned depth)
{
	volatile char room[FRAME_BYTES];

	room[wide % FRAME_BYTES] = 1;
	room[0] = (char)(wide ? descend_on(wide - 1, depth) : descend(depth));
	return room[0] + room[wide % FRAME_BYTES];
}

/* Further down than the test has ever been, and then by so many small frames more. */
static int descend_further(unsigned depth)
{
	return descend_on(DEEPER_BYTES / FRAME_BYTES, depth);
}

/* The stack of a child that deep, captured so often. */
static void capture_child(int (*body)(unsigned), unsigned depth, unsigned times,
			  struct capture *capture, struct losses *losses)
{
	struct user_regs_struct user;
	struct registers registers;
	static struct target target;
	struct error error;
	pid_t pid = fork();
	int status;

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		_exit(body(depth));
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	assert_true(WIFSTOPPED(status));
	/* It runs no Python: all but the interpreter's part is there. */
	assert_int_equal(target_init(&target, pid, false, NULL, NULL, &error), -1);
	assert_true(target.unwinder && target.live_unwinder && !target.runtime);
	assert_int_equal(ptrace(PTRACE_ATTACH, pid, NULL, NULL), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(ptrace(PTRACE_GETREGS, pid, NULL, &user), 0);
	registers = registers_from_user(&user);
	assert_int_equal(capture_init(capture), 0);
	for (unsigned i = 0; i < times; i++) {
		memset(losses, 0, sizeof(*losses));
		capture_take(capture, &target, pid, pid, &registers);
		capture_finish(capture, &target, losses);
	}
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	capture_deinit(capture);
	target_deinit(&target);
}

static void test_frames(void **state)
{
	static struct capture capture;
	struct losses losses;
	size_t others;

	(void)state;
	if (under_valgrind()) /* the child's registers are not its own */
		skip();
	capture_child(descend, 100, DOUBLINGS, &capture, &losses);
	assert_int_equal(capture.native_end, UNWIND_COMPLETE);
	assert_in_range(capture.native_count, 102, FRAMES / 2);
	others = capture.native_count - 100;
	capture_child(descend, (unsigned)(FRAMES - others), DOUBLINGS, &capture, &losses);
	assert_int_equal(capture.native_end, UNWIND_COMPLETE);
	assert_int_equal(capture.native_count, FRAMES);
	assert_int_equal(losses.counts[LOSS_NATIVE_TRUNCATED], 0);
	capture_child(descend, (unsigned)(FRAMES - others) + 1, DOUBLINGS, &capture, &losses);
	assert_int_equal(capture.native_end, UNWIND_TOO_DEEP);
	assert_int_equal(capture.native_count, FRAMES);
	assert_int_equal(losses.counts[LOSS_NATIVE_TRUNCATED], 1);
}

static void test_stack_copy(void **state)
{
	static struct capture capture;
	struct losses losses;

	(void)state;
	if (under_valgrind()) /* the child's registers are not its own */
		skip();
	/* Less than the bound: after some stops all of it is there. */
	capture_child(descend_widely, STACK_BYTES / FRAME_BYTES * 3 / 4, DOUBLINGS, &capture,
		      &losses);
	assert_int_equal(capture.native_end, UNWIND_COMPLETE);
	assert_true(capture.stack.size <= STACK_BYTES);
	assert_int_equal(losses.counts[LOSS_NATIVE_TRUNCATED], 0);
	/* More: so much is copied and no more, however often. */
	capture_child(descend_widely, 2 * STACK_BYTES / FRAME_BYTES, DOUBLINGS, &capture, &losses);
	assert_int_equal(capture.native_end, UNWIND_STACK_MISSING);
	assert_int_equal(capture.stack.size, STACK_BYTES);
	assert_int_equal(losses.counts[LOSS_NATIVE_TRUNCATED], 1);
}

/* Wherever in a page the stack pointer is, and nothing below it was touched yet. */
static void test_lowest_page(void **state)
{
	static struct capture capture;
	struct losses losses;

	(void)state;
	if (under_valgrind()) /* the child's registers are not its own */
		skip();
	/* The dynamic linker finds raise() before, so that it does not go further down. */
	assert_int_equal(raise(0), 0);
	for (unsigned depth = 0; depth < PAGE_BYTES / SMALL_BYTES; depth++) {
		capture_child(descend_further, depth, 1, &capture, &losses);
		assert_int_not_equal(capture.stack.size, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_frames),
		cmocka_unit_test(test_stack_copy),
		cmocka_unit_test(test_lowest_page),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
