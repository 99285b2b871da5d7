/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/tracer.h"

#include "attach/preflight.h"
#include "attach/procfs.h"
#include "attach/signal_origin.h"
#include "attach/tracer_parts.h"
#include "attach/user_registers.h"
#include "common/clock.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>

#define HANDLED_MAX      64u /* stops in a row */
#define THREADS_MAX      16384u
#define RECORDS_MAX      16u /* one stop rarely has two */
#define FILES_OF_OUR_OWN 64
#define QUIESCE_LIMIT_NS (500 * NS_PER_MS)

/* What else is read while threads are traced (maps, libraries) needs files, too. */
static int files_for_events(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur > INT_MAX)
		return INT_MAX;
	return (int)(limit.rlim_cur - (limit.rlim_cur < 2 * FILES_OF_OUR_OWN ? limit.rlim_cur / 2
									     : FILES_OF_OUR_OWN));
}

struct tracer *tracer_create(pid_t pid, int stop_signal, uint64_t period_ns,
			     const struct tracer_hooks *hooks)
{
	struct tracer *tracer = calloc(1, sizeof(*tracer));

	if (!tracer)
		return NULL;
	tracer->pid = pid;
	tracer->stop_signal = stop_signal;
	tracer->period_ns = period_ns;
	tracer->threads_max = THREADS_MAX;
	tracer->hooks = hooks;
	tracer->files_max = files_for_events();
	relief_init(&tracer->relief, pid, stop_signal);
	return tracer;
}

void tracer_sample_memory(struct tracer *tracer, const struct memory_event *events, size_t count)
{
	tracer->memory_events = events;
	tracer->memory_event_count = count;
}

void tracer_leave_kernel_time(struct tracer *tracer)
{
	tracer->leaves_kernel_time = true;
}

void tracer_count_forks(struct tracer *tracer)
{
	tracer->counts_forks = true;
}

static void forget_all(struct tracer *tracer)
{
	struct tracee *tracee;

	while ((tracee = tracee_table_next(&tracer->tracees, NULL)))
		tracee_forget(tracer, tracee);
}

void tracer_limit_threads(struct tracer *tracer, size_t threads_max)
{
	tracer->threads_max = threads_max;
}

void tracer_destroy(struct tracer *tracer)
{
	if (!tracer)
		return;
	forget_all(tracer);
	wake_timer_deinit(&tracer->timer);
	free(tracer);
}

/* NULL: a thread of another process, or no memory (the thread then simply runs on unsampled). */
static struct tracee *tracee_add(struct tracer *tracer, pid_t tid, enum tracee_state state)
{
	struct process_status status;
	struct process_times times;
	struct tracee *tracee;

	if (procfs_read_status(tid, 0, &status) || status.thread_group != tracer->pid ||
	    procfs_read_times(tracer->pid, tid, &times))
		return NULL;
	if (tracer->tracees.count >= tracer->threads_max) {
		tracer->counts.threads_beyond++;
		return NULL;
	}
	tracee = calloc(1, sizeof(*tracee));
	if (!tracee)
		return NULL;
	tracee->id = (struct thread_id){ .tid = tid, .start_time = times.start_time };
	tracee->inner_tid = status.inner_pid;
	snprintf(tracee->name, sizeof(tracee->name), "%.15s", status.name);
	tracee->state = state;
	tracee->unstopped = status.signals_blocked >> (tracer->stop_signal - 1) & 1;
	tracer->unstopped += tracee->unstopped;
	tracee->events.clock_fd = -1;
	tracee->kernel_clock.fd = -1;
	tracee->forks.fd = -1;
	for (unsigned i = 0; i < BREAKPOINT_SLOTS; i++)
		tracee->events.slots[i].fd = -1;
	tracee_table_add(&tracer->tracees, tracee);
	tracer->counts.threads++;
	(void)tracee_has_run(tracer, tracee);
	return tracee;
}

/*
 * PTRACE_O_TRACECLONE alone: the kernel attaches new threads before their first
 * instruction. Processes made by fork and vfork are not attached at all.
 */
static int seize(struct tracer *tracer, pid_t tid)
{
	if (tracer->tracees.count >= tracer->threads_max) {
		tracer->counts.threads_beyond++;
		return -ESRCH;
	}
	if (ptrace(PTRACE_SEIZE, tid, NULL, PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC))
		return -errno;
	return tracee_add(tracer, tid, TRACEE_RUNNING) ? 0 : -ESRCH;
}

/* More processors than a cpu_set_t holds: the thread stays where the scheduler has it. */
static void find_processors(struct tracer *tracer)
{
	int policy = sched_getscheduler(0);

	placement_init(&tracer->placement);
	tracer->moves = (policy == SCHED_RR || policy == SCHED_FIFO) &&
			!sched_getaffinity(0, sizeof(tracer->processors), &tracer->processors);
}

/* Moves the calling thread to where the stopped one was, if that is of use. */
static void move_to_processor(struct tracer *tracer, unsigned target_cpu)
{
	int own_cpu = sched_getcpu();
	cpu_set_t there;

	if (!tracer->moves || own_cpu < 0 || target_cpu >= CPU_SETSIZE ||
	    !CPU_ISSET(target_cpu, &tracer->processors) ||
	    !placement_moves(&tracer->placement, target_cpu, (unsigned)own_cpu))
		return;
	CPU_ZERO(&there);
	CPU_SET(target_cpu, &there);
	/* There, and free again to go: should another real-time thread want the place. */
	(void)sched_setaffinity(0, sizeof(there), &there);
	(void)sched_setaffinity(0, sizeof(tracer->processors), &tracer->processors);
}

int tracer_attach(struct tracer *tracer, struct error *error)
{
	/* One more, which counts as beyond. */
	const size_t maximum = tracer->threads_max + 1;
	pid_t *tids = malloc(maximum * sizeof(*tids));
	size_t count, added, total = 0;
	int first_failure = 0;

	if (!tids) {
		error_set(error, EXIT_INTERNAL, "out of memory");
		return -1;
	}
	first_failure = wake_timer_init(&tracer->timer);
	if (!first_failure)
		first_failure = relief_begin(&tracer->relief);
	if (first_failure) {
		free(tids);
		error_set(error, EXIT_INTERNAL, "no timer could be made: %s",
			  strerror(-first_failure));
		return -1;
	}
	relief_work(&tracer->relief);
	/* Threads may be made by ones not yet seized: look again until nothing is new. */
	find_processors(tracer);
	do {
		added = 0;
		if (procfs_read_threads(tracer->pid, tids, maximum, &count))
			break;
		for (size_t i = 0; i < count; i++) {
			int failure;

			if (tracee_table_find(&tracer->tracees, tids[i]))
				continue;
			failure = seize(tracer, tids[i]);
			if (!failure)
				added++;
			else if (!first_failure)
				first_failure = failure;
		}
		total += added;
	} while (added);
	free(tids);
	if (!total) {
		relief_end(&tracer->relief);
		preflight_explain_seize(tracer->pid, first_failure ? first_failure : -ESRCH, error);
		return -1;
	}
	tracee_table_each (&tracer->tracees, tracee)
		tracee_start(tracer, tracee);
	tracer_share_events(tracer, tracer->tracees.count);
	return 0;
}

/*
 * False: it was let go of before. Fails only with ESRCH, when the thread was killed
 * meanwhile: it reports that by itself.
 */
static bool continue_tracee(struct tracer *tracer, pid_t tid, int signal)
{
	if (!relief_take(&tracer->relief))
		return false;
	(void)ptrace(PTRACE_CONT, tid, NULL, (void *)(long)signal);
	return true;
}

static void listen_tracee(struct tracer *tracer, pid_t tid)
{
	if (relief_take(&tracer->relief))
		(void)ptrace(PTRACE_LISTEN, tid, NULL, NULL);
}

static bool has_clock(const struct event_record *records, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (records[i].source == EVENT_CLOCK)
			return true;
	return false;
}

static void inspect_signal(struct tracer *tracer, struct tracee *tracee, int signal)
{
	struct event_record records[RECORDS_MAX];
	struct user_regs_struct user;
	struct registers registers;
	size_t count;

	enum signal_origin origin =
		signal_origin(tracee->id.tid, &tracee->events, tracer->stop_signal, signal);

	if (origin == SIGNAL_FOREIGN) {
		tracer->counts.foreign_signals++;
		continue_tracee(tracer, tracee->id.tid, signal);
		return;
	}
	relief_drop_signal(&tracer->relief);
	if (origin == SIGNAL_STRAY) {
		tracer->counts.stray_traps++;
		continue_tracee(tracer, tracee->id.tid, 0);
		return;
	}
	tracer->counts.stops++;
	/* One that was on its way while the thread blocked it. */
	if (tracee->unstopped)
		tracee_set_unstopped(tracer, tracee, false);
	count = thread_events_drain(&tracee->events, records, RECORDS_MAX);
	if (count && !ptrace(PTRACE_GETREGS, tracee->id.tid, NULL, &user)) {
		registers = registers_from_user(&user);
		tracer->hooks->stopped(tracer->hooks->context, tracee, &registers, records, count);
		if (has_clock(records, count))
			thread_events_vary_clock(&tracee->events);
	} else {
		count = 0;
	}
	if (!continue_tracee(tracer, tracee->id.tid, 0)) {
		if (count && tracer->hooks->abandoned)
			tracer->hooks->abandoned(tracer->hooks->context, tracee);
		return;
	}
	if (!count)
		return;
	tracer->hooks->resumed(tracer->hooks->context, tracee);
	move_to_processor(tracer, records[0].cpu);
}

static void end_program(struct tracer *tracer)
{
	forget_all(tracer);
	tracer->end = TRACER_TARGET_REPLACED;
	continue_tracee(tracer, tracer->pid, 0);
}

/* A thread of a process that was made by clone() without SIGCHLD: not ours to trace. */
static void release_stranger(struct tracer *tracer, pid_t tid, enum stop stop, int signal)
{
	if (stop != STOP_EXITED && stop != STOP_KILLED && relief_take(&tracer->relief))
		(void)ptrace(PTRACE_DETACH, tid, NULL,
			     (void *)(long)(stop == STOP_SIGNAL ? signal : 0));
}

static void handle_stop(struct tracer *tracer, pid_t tid, int status)
{
	int signal;
	enum stop stop = stop_decode(status, &signal);
	struct tracee *tracee = tracee_table_find(&tracer->tracees, tid);
	struct tracee_transition transition;
	bool ended = stop == STOP_EXITED || stop == STOP_KILLED;

	if (!ended)
		relief_hold(&tracer->relief, tid, stop, stop == STOP_SIGNAL ? signal : 0);
	if (ended && tid == tracer->pid) {
		tracer->end = stop == STOP_EXITED ? TRACER_TARGET_EXITED : TRACER_TARGET_KILLED;
		tracer->exit_status = stop == STOP_EXITED ? WEXITSTATUS(status) : signal;
	}
	/* Whichever thread called exec has its leader's tid now. */
	if (stop == STOP_EXEC && tid == tracer->pid) {
		end_program(tracer);
		return;
	}
	if (!tracee && !ended)
		tracee = tracee_add(tracer, tid, TRACEE_NEW);
	if (!tracee) {
		release_stranger(tracer, tid, stop, signal);
		return;
	}
	transition = tracee_step(tracee->state, stop);
	tracee->state = transition.next;
	switch (transition.action) {
	case TRACEE_START:
		tracee_start(tracer, tracee);
		continue_tracee(tracer, tid, 0);
		break;
	case TRACEE_START_AND_LISTEN:
		tracee_start(tracer, tracee);
		listen_tracee(tracer, tid);
		break;
	case TRACEE_INSPECT_SIGNAL:
		inspect_signal(tracer, tracee, signal);
		break;
	case TRACEE_LISTEN:
		listen_tracee(tracer, tid);
		break;
	case TRACEE_FORGET:
		if (transition.next == TRACEE_GONE)
			tracee_forget(tracer, tracee);
		break;
	case TRACEE_CONTINUE:
	case TRACEE_END_PROGRAM: /* handled above */
	case TRACEE_ACTION_COUNT:
		continue_tracee(tracer, tid, 0);
		break;
	}
}

/*
 * A thread's report, as by waitpid(2): 0 when there is none.
 *
 * A report that is taken takes the thread's signal with it: were we killed before we
 * pass it on, the target would never receive it. So a signal of somebody else's is
 * only looked at, and is the kernel's to deliver until PTRACE_CONT does. Ours and
 * stray ones are taken: they shall be lost.
 */
static pid_t take_report(const struct tracer *tracer, int flags, int *ret_status)
{
	siginfo_t info = { .si_pid = 0 };

	/* __WNOTHREAD: children of other threads of the daemon are none of our business. */
	if (waitid(P_ALL, 0, &info, WEXITED | WNOWAIT | __WALL | __WNOTHREAD | flags))
		return -1;
	if (!info.si_pid)
		return 0;
	/* No event's number above the signal: about to receive it. */
	if (info.si_code == CLD_TRAPPED && !(info.si_status >> 8) &&
	    info.si_status != tracer->stop_signal &&
	    !signal_is_stray(info.si_pid, info.si_status)) {
		*ret_status = info.si_status << 8 | 0x7f;
		return info.si_pid;
	}
	if (info.si_pid == tracer->pid && tracer->hooks->process_ends &&
	    (info.si_code == CLD_EXITED || info.si_code == CLD_KILLED ||
	     info.si_code == CLD_DUMPED))
		tracer->hooks->process_ends(tracer->hooks->context);
	return waitpid(info.si_pid, ret_status, __WALL | __WNOTHREAD | WNOHANG);
}

/* Handles what is there; false when there are no threads left to wait for. */
static bool handle_pending(struct tracer *tracer, bool *ret_any)
{
	unsigned interruptions = 0;

	*ret_any = false;
	/* Bounded: under more load than one tracer can serve, the caller must still get its turn.
	 */
	for (unsigned handled = 0; handled < HANDLED_MAX; handled++) {
		int status;
		pid_t tid = take_report(tracer, WNOHANG, &status);

		relief_work(&tracer->relief);
		if (tid < 0 && errno == EINTR && ++interruptions < HANDLED_MAX)
			continue;
		/* No report will ever come: threads that wait for us must not. */
		if (tid < 0)
			return false;
		if (tid == 0)
			return true;
		*ret_any = true;
		handle_stop(tracer, tid, status);
	}
	return true;
}

/* Sleeps until a thread reports, which is handled, or the time is over. */
static void wait_for_report(struct tracer *tracer, uint64_t timeout_ns)
{
	int status;
	pid_t tid;

	if (!tracer->timer.exists)
		return;
	wake_timer_arm(&tracer->timer, timeout_ns);
	relief_wait(&tracer->relief);
	tid = tracer->unstopped && wake_timer_let_in() ? 0 : take_report(tracer, 0, &status);
	if (tracer->unstopped)
		wake_timer_hold_back();
	relief_work(&tracer->relief);
	wake_timer_disarm(&tracer->timer);
	if (tid > 0)
		handle_stop(tracer, tid, status);
}

/* Threads that reported for the first time while nobody looked. */
static void adopt(struct tracer *tracer)
{
	for (size_t i = 0; i < tracer->relief.born_count; i++) {
		pid_t tid = tracer->relief.born[i];
		struct tracee *tracee = tracee_table_find(&tracer->tracees, tid);

		if (!tracee)
			tracee = tracee_add(tracer, tid, TRACEE_RUNNING);
		else if (tracee->state != TRACEE_NEW)
			continue;
		if (!tracee)
			continue;
		tracee->state = TRACEE_RUNNING;
		tracee_start(tracer, tracee);
	}
	tracer->relief.born_count = 0;
}

static void drop_records(struct tracee *tracee)
{
	struct event_record records[RECORDS_MAX];

	while (thread_events_drain(&tracee->events, records, RECORDS_MAX) == RECORDS_MAX)
		;
}

/* We were held up, and stops were answered without us: their events are silent now. */
static void recover(struct tracer *tracer)
{
	tracer->counts.abandoned += tracer->relief.let_go - tracer->recovered;
	tracer->recovered = tracer->relief.let_go;
	if (tracer->relief.replaced) {
		end_program(tracer);
		return;
	}
	adopt(tracer);
	tracee_table_each (&tracer->tracees, tracee) {
		/* Those of stops that are over, in which nothing was copied. */
		drop_records(tracee);
		thread_events_rearm(&tracee->events);
	}
	tracer_enable_clocks(tracer, tracer->clocks_enabled);
}

enum tracer_end tracer_poll(struct tracer *tracer, uint64_t timeout_ns)
{
	bool any, alive;

	if (tracer->relief.let_go != tracer->recovered)
		recover(tracer);
	alive = handle_pending(tracer, &any);
	if (tracer_read_unstopped(tracer) && alive && !any && timeout_ns) {
		wait_for_report(tracer, timeout_ns);
		alive = handle_pending(tracer, &any);
		tracer_read_unstopped(tracer);
	}
	if (!alive && tracer->end == TRACER_RUNNING)
		tracer->end = TRACER_TARGET_EXITED;
	return tracer->end;
}

void tracer_wake(struct tracer *tracer, pthread_t thread)
{
	/* Even: it waits. At work, it looks for itself, and no system call need be cut short. */
	if (tracer->timer.exists && relief_turn(&tracer->relief) % 2 == 0)
		wake_timer_wake(thread);
}

/* Does some thread still have a signal pending that our events have caused? */
static bool signal_pending(const struct tracer *tracer)
{
	uint64_t ours = 1ULL << (tracer->stop_signal - 1) | 1ULL << (SIGTRAP - 1);

	tracee_table_each (&tracer->tracees, tracee) {
		struct process_status status;

		if (tracee->state == TRACEE_LISTENING || !tracee->events.ring.pages ||
		    procfs_read_status(tracer->pid, tracee->id.tid, &status))
			continue;
		/* 't': stopped and not yet waited for. */
		if (status.state == 't' || status.signals_pending & ~status.signals_blocked & ours)
			return true;
	}
	return false;
}

/* It was sent before anybody could know, and only the thread itself can take it. */
static void count_signals_left(struct tracer *tracer)
{
	struct process_status status;

	tracee_table_each (&tracer->tracees, tracee)
		if ((tracee->unstopped || thread_events_pending(&tracee->events)) &&
		    !procfs_read_status(tracer->pid, tracee->id.tid, &status))
			tracer->counts.signals_left +=
				(status.signals_pending & status.signals_blocked) >>
					(tracer->stop_signal - 1) &
				1;
}

void tracer_quiesce(struct tracer *tracer)
{
	uint64_t limit_ns = clock_now_ns() + QUIESCE_LIMIT_NS;
	bool any;

	/*
	 * Events are silenced first and closed last: a stop that is still on its
	 * way is told as ours by its descriptor.
	 */
	tracer_enable_clocks(tracer, false);
	tracee_table_each (&tracer->tracees, tracee)
		for (unsigned slot = 0; slot < BREAKPOINT_SLOTS; slot++)
			breakpoint_disarm(&tracee->events, slot);
	while (tracer->end == TRACER_RUNNING && handle_pending(tracer, &any) &&
	       (any || signal_pending(tracer)) && clock_now_ns() < limit_ns)
		if (!any)
			wait_for_report(tracer, NS_PER_MS);
	if (tracer->end == TRACER_RUNNING)
		count_signals_left(tracer);
	tracee_table_each (&tracer->tracees, tracee)
		tracee_close(tracer, tracee);
	relief_end(&tracer->relief);
}

static void tracee_let_go(struct tracee *tracee)
{
	thread_events_let_go(&tracee->events);
	tracee->kernel_clock.ring = (struct event_ring){ 0 };
	kernel_clock_close(&tracee->kernel_clock);
	tracee->forks.ring = (struct event_ring){ 0 };
	fork_counter_close(&tracee->forks);
}

void tracer_let_go(struct tracer *tracer)
{
	tracee_table_each (&tracer->tracees, tracee)
		tracee_let_go(tracee);
	tracer->counts.abandoned++;
}

struct relief *tracer_relief(struct tracer *tracer)
{
	return &tracer->relief;
}

const struct tracer_counts *tracer_counts(const struct tracer *tracer)
{
	return &tracer->counts;
}

int tracer_exit_status(const struct tracer *tracer)
{
	return tracer->exit_status;
}
