/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signals of a traced target: its own, and a group-stop; and no system call of its is
 * interrupted.
 */
#include "tests/unit/assert_sampled.h"
#include "traced_child.h"

#include <sys/syscall.h>
#include <ucontext.h>

static int reading_pipe[2];

static int child_reading(void)
{
	char byte;
	ssize_t got = read(reading_pipe[0], &byte, 1);

	shared->read_errno = got < 0 ? errno : 0;
	return got == 1 ? 9 : 1;
}

static void test_blocked_read_is_not_interrupted(void **state)
{
	struct observer observer = { 0 };
	pid_t pid;

	(void)state;
	assert_int_equal(pipe(reading_pipe), 0);
	pid = start_child(child_reading);
	while (state_of(pid) != 'S')
		usleep(1000);
	observer.pid = pid;
	play(scene_traps, &observer);
	usleep(20000);
	assert_int_equal(state_of(pid), 'S');
	assert_int_equal(shared->read_errno, 0);
	assert_int_equal(write(reading_pipe[1], "x", 1), 1);
	assert_exit(pid, 9);
	tracer_destroy(observer.tracer);
	close(reading_pipe[0]);
	close(reading_pipe[1]);
}

static void count_urgent(int signal)
{
	(void)signal;
	shared->urgent_seen++;
}

static int child_urgent(void)
{
	signal(SIGURG, count_urgent);
	signal(SIGWINCH, count_urgent);
	while (!shared->stop)
		spin(1000);
	return 10;
}

static void *scene_urgent(void *argument)
{
	struct observer *observer = argument;

	observer_attach(observer, observer->pid);
	for (int i = 0; i < 20; i++) {
		int before = shared->urgent_seen;

		kill(observer->pid, SIGURG);
		/* Its own signal reaches it, once. */
		for (int wait_ms = 0; wait_ms < 1000 && shared->urgent_seen == before; wait_ms++)
			observer_poll_ms(observer, 1);
		assert_int_equal(shared->urgent_seen, before + 1);
	}
	tracer_quiesce(observer->tracer);
	return NULL;
}

static void test_targets_own_signals(void **state)
{
	struct observer observer = { 0 };
	pid_t pid = start_child(child_urgent);

	(void)state;
	observer.pid = pid;
	usleep(20000);
	play(scene_urgent, &observer);
	assert_int_equal(shared->urgent_seen, 20); /* none of ours */
	assert_int_equal(tracer_counts(observer.tracer)->foreign_signals, 20);
	assert_sampled(observer.clocks > 0);
	assert_undisturbed(pid);
	shared->stop = true;
	assert_exit(pid, 10);
	tracer_destroy(observer.tracer);
}

/* As the kernel makes it of a debug exception that says nothing; behind an instruction at place. */
static void send_trap(uint8_t *place, int code)
{
	siginfo_t info = { .si_signo = SIGTRAP, .si_code = code, .si_addr = place + 1 };

	syscall(SYS_rt_tgsigqueueinfo, getpid(), gettid(), SIGTRAP, &info);
}

/* Under some hypervisors int1 is where the program goes on, for ever. */
static void count_trap(int signal, siginfo_t *info, void *context)
{
	greg_t *ip = &((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];

	count_urgent(signal);
	if (info->si_code == TRAP_BRKPT && *(const uint8_t *)*ip == 0xf1)
		++*ip;
}

/* Each kind of SIGTRAP: a bit of what was seen before the next. */
static int child_trapped(void)
{
	static uint8_t nop[] = { 0x90, 0x90 }, int1[] = { 0xf1, 0x90 }, nop_int1[] = { 0x90, 0xf1 };
	const struct sigaction action = { .sa_sigaction = count_trap, .sa_flags = SA_SIGINFO };
	int seen;

	sigaction(SIGTRAP, &action, NULL);
	while (!shared->stop)
		spin(1000);
	send_trap(nop, TRAP_BRKPT);
	send_trap(nop, TRAP_HWBKPT);
	seen = shared->urgent_seen;
	raise(SIGTRAP);
	__asm__ volatile("int3");
	__asm__ volatile(".byte 0xf1");
	send_trap(int1, TRAP_BRKPT);
	send_trap(nop_int1, TRAP_BRKPT);
	send_trap(nop, TRAP_TRACE);
	return 20 + 10 * seen + shared->urgent_seen;
}

static void *scene_trapped(void *argument)
{
	struct observer *observer = argument;

	observer_attach(observer, observer->pid);
	observer_poll_ms(observer, 20);
	shared->stop = true;
	for (int wait_ms = 0; wait_ms < 2000 && state_of(observer->pid) != 'Z'; wait_ms++)
		observer_poll_ms(observer, 1);
	tracer_quiesce(observer->tracer);
	return NULL;
}

/* What no instruction has asked for is kept from it, and nothing else. */
static void test_stray_traps_are_kept_from_the_target(void **state)
{
	struct observer observer = { 0 };
	pid_t pid = start_child(child_trapped);

	(void)state;
	observer.pid = pid;
	play(scene_trapped, &observer);
	assert_int_equal(tracer_counts(observer.tracer)->stray_traps, 2);
	assert_int_equal(tracer_counts(observer.tracer)->foreign_signals, 6);
	assert_int_equal(tracer_exit_status(observer.tracer), 26);
	tracer_destroy(observer.tracer);
}

static void *scene_group_stop(void *argument)
{
	struct observer *observer = argument;

	observer_attach(observer, observer->pid);
	observer_poll_ms(observer, 30);
	kill(observer->pid, SIGSTOP);
	observer_poll_ms(observer, 50);
	{
		unsigned before = observer->clocks;

		observer_poll_ms(observer, 50);
		assert_int_equal(observer->clocks, before); /* it is stopped, and stays so */
	}
	kill(observer->pid, SIGCONT);
	{
		unsigned before = observer->clocks;

		observer_poll_ms(observer, 200);
		assert_true(observer->clocks > before);
	}
	/* Detach from a stopped process: it must stay stopped, and be continuable. */
	kill(observer->pid, SIGSTOP);
	observer_poll_ms(observer, 50);
	tracer_quiesce(observer->tracer);
	return NULL;
}

static void test_group_stop(void **state)
{
	struct observer observer = { 0 };
	pid_t pid = start_child(child_storing);

	(void)state;
	observer.pid = pid;
	play(scene_group_stop, &observer);
	/* The kernel detaches a moment after the thread can be joined, and lets the child stop
	 * anew. */
	for (int wait_ms = 0; wait_ms < 1000 && state_of(pid) != 'T'; wait_ms++)
		usleep(1000);
	usleep(20000);
	assert_int_equal(state_of(pid), 'T');
	kill(pid, SIGCONT);
	usleep(20000);
	assert_undisturbed(pid);
	shared->stop = true;
	assert_exit(pid, 7);
	tracer_destroy(observer.tracer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_blocked_read_is_not_interrupted),
		cmocka_unit_test(test_targets_own_signals),
		cmocka_unit_test(test_stray_traps_are_kept_from_the_target),
		cmocka_unit_test(test_group_stop),
	};

	if (under_valgrind())
		return nothing_under_valgrind();
	return cmocka_run_group_tests(tests, share_memory, NULL);
}
