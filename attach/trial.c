/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/trial.h"

#include "attach/kernel_clocks.h"
#include "attach/process_memory.h"
#include "attach/tracer.h"
#include "common/clock.h"
#include "common/interrupted.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TRIAL_NS       (2 * NS_PER_SECOND)
#define PERIOD_NS      NS_PER_MS
#define CHILD_SECONDS  10
#define EXECUTION_SLOT 0
#define DATA_SLOT      1
#define MAGIC          0x7069657072747279ull
#define NEVER_EXECUTED 8 /* the zero page is never mapped */
/* Long against the way through the kernel, which an ordinary user's clock does not sample. */
#define STEPS_BETWEEN   100000
#define MICROSECONDS_UP 500

/* In memory at the same address in both processes. */
struct trial_words {
	uint64_t magic;
	volatile uint64_t counter;
};

struct trial_run {
	struct trial trial;
	pid_t child;
	struct trial_words *words;
};

/* The place at which the child stops, on its way to the store that stops it again. */
__attribute__((noinline)) static void step(struct trial_words *words)
{
	words->counter = words->counter + 1;
}

/* Runs for ever, sleeping now and then; ends with its parent, or by itself. */
__attribute__((noreturn)) static void be_child(struct trial_words *words, pid_t parent)
{
	/* A signal that we were started with blocked would never stop it. */
	sigset_t none;

	sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)signal(SIGALRM, SIG_DFL);
	(void)signal(SIGURG, SIG_DFL);
	(void)alarm(CHILD_SECONDS);
	while (getppid() == parent) {
		for (unsigned i = 0; i < STEPS_BETWEEN; i++)
			step(words);
		(void)usleep(MICROSECONDS_UP);
	}
	_exit(0);
}

static void trial_thread_started(void *context, struct tracee *tracee)
{
	struct trial_run *run = context;
	struct trial *trial = &run->trial;
	int error;

	if (tracee->events.clock_fd < 0)
		return;
	error = breakpoint_arm(&tracee->events, EXECUTION_SLOT, BREAKPOINT_EXECUTE,
			       (remote_addr)(uintptr_t)step, 8);
	trial->breakpoints += !error;
	if (!error)
		error = breakpoint_arm(&tracee->events, DATA_SLOT, BREAKPOINT_WRITE,
				       (remote_addr)(uintptr_t)&run->words->counter, 8);
	trial->breakpoints += trial->breakpoints && !error;
	for (unsigned slot = DATA_SLOT + 1; slot < BREAKPOINT_SLOTS && !error; slot++) {
		error = breakpoint_arm(&tracee->events, slot, BREAKPOINT_EXECUTE, NEVER_EXECUTED,
				       8);
		trial->breakpoints += !error;
	}
	trial->breakpoint_errno = -error;
}

static void trial_thread_ended(void *context, struct tracee *tracee)
{
	(void)context;
	(void)tracee;
}

static void trial_stopped(void *context, struct tracee *tracee, const struct registers *registers,
			  const struct event_record *records, size_t count)
{
	struct trial_run *run = context;
	struct trial *trial = &run->trial;

	for (size_t i = 0; i < count; i++) {
		if (records[i].source == EVENT_CLOCK)
			trial->clock_fired = true;
		if (records[i].source == EXECUTION_SLOT &&
		    registers->rip == (remote_addr)(uintptr_t)step)
			trial->execution_fired = true;
		if (records[i].source == DATA_SLOT)
			trial->data_fired = true;
		if (records[i].source != EVENT_CLOCK)
			breakpoint_disarm(&tracee->events, records[i].source);
	}
}

static void trial_resumed(void *context, struct tracee *tracee)
{
	(void)context;
	(void)tracee;
}

static bool all_seen(const struct trial *trial)
{
	return (trial->clock_errno || trial->clock_fired) &&
	       (trial->breakpoints <= EXECUTION_SLOT || trial->execution_fired) &&
	       (trial->breakpoints <= DATA_SLOT || trial->data_fired);
}

/* A thread of its own: its end lets go of the child. */
static void *trace_child(void *argument)
{
	struct trial_run *run = argument;
	struct trial *trial = &run->trial;
	struct sched_param parameter = { .sched_priority = 1 };
	struct tracer_hooks hooks = {
		.context = run,
		.thread_started = trial_thread_started,
		.thread_ended = trial_thread_ended,
		.stopped = trial_stopped,
		.resumed = trial_resumed,
	};
	struct tracer *tracer = tracer_create(run->child, SIGURG, PERIOD_NS, &hooks);
	uint64_t limit_ns = clock_now_ns() + TRIAL_NS;

	trial->realtime_errno = pthread_setschedparam(pthread_self(), SCHED_RR, &parameter);
	if (!tracer) {
		error_set(&trial->attach_error, EXIT_INTERNAL, "out of memory");
		return NULL;
	}
	trial->attached = !tracer_attach(tracer, &trial->attach_error);
	if (trial->attached) {
		trial->clock_errno = tracer_counts(tracer)->refused_errno;
		trial->kernel_clock_errno = tracer_counts(tracer)->kernel_refused_errno;
		tracer_enable_clocks(tracer, true);
		while (!all_seen(trial) && clock_now_ns() < limit_ns &&
		       tracer_poll(tracer, NS_PER_MS) == TRACER_RUNNING)
			;
		tracer_quiesce(tracer);
	}
	tracer_destroy(tracer);
	return NULL;
}

static void try_memory(struct trial_run *run)
{
	struct process_memory memory;
	struct memory_reader reader;
	uint64_t magic = 0;
	int error;

	process_memory_init(&memory, run->child);
	reader = process_memory_reader(&memory);
	error = memory_read_u64(&reader, (remote_addr)(uintptr_t)&run->words->magic, &magic);
	run->trial.memory_errno = error ? -error : magic == MAGIC ? 0 : EIO;
	run->trial.memory_by_file = memory.refuse_readv;
	process_memory_deinit(&memory);
}

static void program_has_sampled(void *context, const struct clock_sample *sample)
{
	struct trial_run *run = context;

	if (sample->tid == run->child)
		run->trial.program_sampled = true;
}

/* As any program: of its interpreter, nothing is known. */
static void try_program(struct trial_run *run)
{
	const struct clock_config config = { 0 };
	const struct timespec pause = { .tv_nsec = NS_PER_MS };
	struct kernel_clocks *clocks =
		kernel_clocks_create(run->child, &config, PERIOD_NS, &run->trial.program_error);
	uint64_t limit_ns = clock_now_ns() + TRIAL_NS;

	if (!clocks)
		return;
	kernel_clocks_enable(clocks, true);
	while (!run->trial.program_sampled && clock_now_ns() < limit_ns) {
		(void)nanosleep(&pause, NULL);
		(void)kernel_clocks_read(clocks, program_has_sampled, run, UINT_MAX);
	}
	kernel_clocks_destroy(clocks);
}

static int try_child(struct trial_run *run)
{
	unsigned interruptions = 0;
	pthread_t thread;
	int error;

	try_memory(run);
	error = pthread_create(&thread, NULL, trace_child, run);
	if (!error)
		(void)pthread_join(thread, NULL);
	try_program(run);
	(void)kill(run->child, SIGKILL);
	while (interrupted(waitpid(run->child, NULL, 0), &interruptions))
		;
	return -error;
}

int trial_run(struct trial *ret_trial)
{
	struct trial_run run = { .child = -1 };
	pid_t parent = getpid();
	int error;

	run.words = mmap(NULL, sizeof(*run.words), PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (run.words == MAP_FAILED)
		return -errno;
	run.words->magic = MAGIC;
	run.child = fork();
	error = -errno;
	if (run.child == 0)
		be_child(run.words, parent);
	if (run.child > 0)
		error = try_child(&run);
	(void)munmap(run.words, sizeof(*run.words));
	if (!error)
		*ret_trial = run.trial;
	return error;
}
