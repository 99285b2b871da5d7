/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/inspect/thread_dump.h"

#include "attach/container_name.h"
#include "attach/preflight.h"
#include "attach/procfs.h"
#include "attach/tracer.h"
#include "attach/watchdog.h"
#include "common/clock.h"
#include "daemon/capture/capture.h"
#include "daemon/capture/target_sources.h"
#include "daemon/report/model/container_text.h"
#include "daemon/report/model/place.h"
#include "daemon/report/model/shown_frame.h"
#include "daemon/sample/wait_kind.h"
#include "pyintrospect/gil.h"
#include "pyintrospect/thread_list.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A thread that sleeps may wake up while it is read: it is read again. */
#define LOOKS_MAX 4
/* How long running threads are waited for, and how often they are stopped to be caught. */
#define STOP_WAIT_NS           (300 * NS_PER_MS)
#define STOP_PERIOD_NS         NS_PER_MS
#define FRAME_POINTER_ATTEMPTS 8192

struct stored_thread {
	struct dumped_thread shown;
	pid_t inner_tid;
	bool wants_stop;
	struct frame *frames; /* what places and shown.frames are made from */
	size_t frame_count;
};

struct owned_dump {
	struct thread_dump dump; /* first: what callers hold */
	struct thread_dump_options options;
	struct target target;
	struct capture capture;
	struct losses losses;
	struct address_ranges gil_locks;
	struct task_dump tasks;
	struct greenlet_dump greenlets;
	struct deadlock_search locks;
	struct deadlocks deadlocks;
	struct local_dump *locals; /* NULL: not asked for, or no Python */
	struct stored_thread *stored;
	size_t stored_count;
	struct place_table places;
	struct source_cache *sources;
};

static int store_frames(struct stored_thread *stored, const struct frame *frames, size_t count)
{
	free(stored->frames);
	stored->frame_count = 0;
	stored->frames = malloc((count ? count : 1) * sizeof(*frames));
	if (!stored->frames)
		return -ENOMEM;
	memcpy(stored->frames, frames, count * sizeof(*frames));
	stored->frame_count = count;
	return 0;
}

/* The Python frames alone, outermost first. */
static int store_python(struct stored_thread *stored, struct capture *capture)
{
	size_t count = capture->python.count;

	for (size_t i = 0; i < count; i++) {
		const struct python_frame *frame = &capture->python.frames[count - 1 - i];

		capture->frames[i] = (struct frame){
			.kind = FRAME_PYTHON,
			.python = { .code = frame->code,
				    .instruction_offset = frame->instruction_offset },
		};
	}
	return store_frames(stored, capture->frames, count);
}

/* While the thread is stopped or asleep. */
static void take_locals(struct owned_dump *owned, size_t objects)
{
	const struct python_stack *stack = &owned->capture.python;

	if (owned->locals)
		local_dump_take(owned->locals, stack->frames, stack->count, objects);
}

static int store_locals(struct owned_dump *owned, struct stored_thread *stored)
{
	const struct python_stack *stack = &owned->capture.python;

	return owned->locals ? local_dump_keep(owned->locals, stack->frames, stack->count,
					       &stored->shown.locals)
			     : 0;
}

static int store_capture(struct owned_dump *owned, struct stored_thread *stored, bool registers)
{
	struct capture *capture = &owned->capture;

	stored->shown.moved = capture->python.flags & PYTHON_STACK_TORN;
	if (stored->shown.moved)
		return 0;
	stored->shown.native_known = registers && owned->options.native;
	if (!stored->shown.native_known)
		return store_python(stored, capture);
	capture_finish(capture, &owned->target, &owned->losses);
	return store_frames(stored, capture->frames, capture->frame_count);
}

static bool dump_same_sleep(const struct process_sleep *a, const struct process_sleep *b)
{
	return a->system_call == b->system_call && a->ip == b->ip && a->sp == b->sp;
}

/* Reads a thread where it sleeps. -EAGAIN: it does not, or woke up in between. */
static int look_at_sleeper(struct owned_dump *owned, struct stored_thread *stored)
{
	struct dumped_thread *shown = &stored->shown;
	struct process_sleep before, after;
	struct registers registers = { 0 };
	struct deadlock_thread waiter;
	int error = procfs_read_sleep(owned->dump.pid, shown->tid, &before);

	if (error)
		return error;
	registers.rip = before.ip;
	registers.general[REGISTER_RSP] = before.sp;
	capture_look(&owned->capture, &owned->target, shown->tid, stored->inner_tid, &registers);
	error = deadlock_thread_read(owned->target.runtime, &owned->gil_locks, &before,
				     &owned->capture.python, &waiter);
	if (!error) {
		take_locals(owned, LOCAL_DUMP_OBJECTS_ASLEEP);
		error = procfs_read_sleep(owned->dump.pid, shown->tid, &after);
	}
	if (!error && !dump_same_sleep(&before, &after))
		error = -EAGAIN;
	if (!error)
		error = deadlock_search_add(&owned->locks, shown->tid, stored->inner_tid, &waiter);
	if (!error) {
		shown->waits_known = before.system_call >= 0;
		shown->waits_for = wait_kind_of(&before, &owned->gil_locks);
	}
	if (!error && owned->options.native)
		capture_find_frame_pointer(&owned->capture, &owned->target, FRAME_POINTER_ATTEMPTS);
	if (!error)
		error = store_locals(owned, stored);
	return error ? error : store_capture(owned, stored, before.ip != 0);
}

static int dump_look(struct owned_dump *owned, struct stored_thread *stored)
{
	struct registers registers = { 0 };
	int error = -EAGAIN;

	for (unsigned i = 0; i < LOOKS_MAX && error == -EAGAIN; i++)
		error = look_at_sleeper(owned, stored);
	if (!error || error == -ENOMEM)
		return error;
	/* It runs: its frames may be had when it stays in one native call. */
	stored->wants_stop = stored->shown.activity == THREAD_RUNNING;
	capture_look(&owned->capture, &owned->target, stored->shown.tid, stored->inner_tid,
		     &registers);
	return store_capture(owned, stored, false);
}

static int list_threads(struct owned_dump *owned)
{
	pid_t *tids = malloc((THREAD_DUMP_MAX + 1) * sizeof(*tids));
	size_t count = 0;

	owned->stored = calloc(THREAD_DUMP_MAX, sizeof(owned->stored[0]));
	if (!tids || !owned->stored) {
		free(tids);
		return -ENOMEM;
	}
	if (procfs_read_threads(owned->dump.pid, tids, THREAD_DUMP_MAX + 1, &count))
		count = 0;
	if (count > THREAD_DUMP_MAX) {
		count = THREAD_DUMP_MAX;
		owned->dump.left_out++;
	}
	for (size_t i = 0; i < count; i++) {
		struct stored_thread *stored = &owned->stored[owned->stored_count];
		struct process_status status;

		if (procfs_read_status(owned->dump.pid, tids[i], &status) ||
		    strchr("ZX", status.state))
			continue;
		stored->shown.tid = tids[i];
		stored->shown.activity = thread_activity_of(status.state);
		stored->inner_tid = status.inner_pid;
		snprintf(stored->shown.name, sizeof(stored->shown.name), "%s", status.name);
		owned->stored_count++;
	}
	free(tids);
	return 0;
}

/* By the number that its own pid namespace gives it; NULL: not met. */
static struct stored_thread *find_stored(const struct owned_dump *owned, pid_t inner_tid)
{
	for (size_t i = 0; inner_tid && i < owned->stored_count; i++)
		if (owned->stored[i].inner_tid == inner_tid)
			return &owned->stored[i];
	return NULL;
}

/* Threads' numbers become those that we see. */
static void read_tasks(struct owned_dump *owned, const struct python_thread_list *list)
{
	struct thread_dump *dump = &owned->dump;
	struct task_dump *tasks = &owned->tasks;

	task_dump_read(tasks, owned->target.runtime, list, owned->locals);
	dump->tasks_known = tasks->known;
	dump->tasks = tasks->shown;
	dump->task_count = tasks->count;
	dump->left_out += tasks->known && tasks->list.flags & ASYNCIO_CUT;
	for (size_t i = 0; i < tasks->count; i++) {
		const struct stored_thread *stored = find_stored(owned, tasks->shown[i].tid);

		tasks->shown[i].tid = stored ? stored->shown.tid : 0;
	}
}

static void read_greenlets(struct owned_dump *owned, const struct python_thread_list *list)
{
	struct thread_dump *dump = &owned->dump;
	struct greenlet_dump *greenlets = &owned->greenlets;

	if (greenlet_dump_read(greenlets, &owned->target, list, owned->locals) ||
	    greenlets->list.flags & GREENLETS_UNKNOWN)
		return;
	dump->greenlets_known = true;
	dump->greenlets_incomplete = greenlets->list.flags & GREENLETS_INCOMPLETE;
	dump->left_out += (greenlets->list.flags & GREENLETS_CUT) != 0;
	dump->greenlets = greenlets->shown;
	dump->greenlet_count = greenlets->count;
	for (size_t i = 0; i < greenlets->count; i++) {
		struct dumped_greenlet *shown = &greenlets->shown[i];
		struct stored_thread *stored = find_stored(owned, shown->tid);

		shown->tid = stored ? stored->shown.tid : 0;
		if (stored && shown->running)
			stored->shown.greenlet = shown;
	}
}

static void add_python_facts(struct owned_dump *owned)
{
	struct python_thread_list list;

	if (!owned->target.runtime || python_thread_list_read(owned->target.runtime, &list))
		return;
	owned->dump.left_out += (list.flags & PYTHON_THREADS_CUT) != 0;
	owned->dump.gil_known = !(list.flags & PYTHON_THREADS_GIL_UNKNOWN);
	owned->dump.gil_absent = list.flags & PYTHON_THREADS_NO_GIL;
	for (size_t i = 0; i < list.count; i++) {
		const struct python_thread *python = &list.items[i];

		struct stored_thread *stored = find_stored(owned, python->tid);

		if (!stored)
			continue;
		stored->shown.python = true;
		stored->shown.holds_gil = owned->dump.gil_known && python->holds_gil;
		stored->shown.collecting =
			stored->shown.holds_gil && list.flags & PYTHON_THREADS_COLLECTING;
		if (python->name[0])
			snprintf(stored->shown.name, sizeof(stored->shown.name), "%s",
				 python->name);
	}
	read_tasks(owned, &list);
	read_greenlets(owned, &list);
	deadlock_search_find(&owned->locks, &list, &owned->deadlocks);
	python_thread_list_deinit(&list);
}

/* The running threads: each is stopped once, by its own clock, in user code. */
struct stopping {
	struct owned_dump *owned;
	int stop_signal;
	size_t left;
	bool failed;
	struct error error;
};

static void nothing(void *context, struct tracee *tracee)
{
	(void)context;
	(void)tracee;
}

static void dump_stopped(void *context, struct tracee *tracee, const struct registers *registers,
			 const struct event_record *records, size_t count)
{
	struct stopping *stopping = context;
	struct owned_dump *owned = stopping->owned;

	(void)records;
	(void)count;
	tracee->user = NULL;
	for (size_t i = 0; i < owned->stored_count; i++) {
		struct stored_thread *stored = &owned->stored[i];

		if (stored->shown.tid != tracee->id.tid || !stored->wants_stop)
			continue;
		capture_take(&owned->capture, &owned->target, tracee->id.tid, tracee->inner_tid,
			     registers);
		take_locals(owned, LOCAL_DUMP_OBJECTS_STOPPED);
		tracee->user = stored;
	}
}

static void dump_resumed(void *context, struct tracee *tracee)
{
	struct stopping *stopping = context;
	struct stored_thread *stored = tracee->user;

	if (!stored)
		return;
	stored->wants_stop = false;
	stopping->left--;
	dumped_locals_deinit(&stored->shown.locals);
	if (store_locals(stopping->owned, stored) || store_capture(stopping->owned, stored, true))
		stored->shown.moved = true;
}

/* Held up in the kernel while a thread of the target waits (attach/watchdog.h). */
static void dump_end_at_once(void *context)
{
	static const char words[] =
		"pieprofd: held up in the kernel while the target waits: no dump\n";
	ssize_t written = write(STDERR_FILENO, words, sizeof(words) - 1);

	(void)context;
	(void)written;
}

/* A thread of its own: its end detaches. */
static void *stop_running(void *argument)
{
	struct stopping *stopping = argument;
	struct tracer_hooks hooks = {
		.context = stopping,
		.thread_started = nothing,
		.thread_ended = nothing,
		.stopped = dump_stopped,
		.resumed = dump_resumed,
	};
	struct tracer *tracer = tracer_create(stopping->owned->dump.pid, stopping->stop_signal,
					      STOP_PERIOD_NS, &hooks);
	uint64_t limit_ns = clock_now_ns() + STOP_WAIT_NS;
	struct watchdog watchdog = { 0 };

	if (tracer)
		(void)!watchdog_start(&watchdog, stopping->owned->dump.pid, pthread_self(),
				      tracer_relief(tracer), dump_end_at_once, NULL);
	if (!tracer || tracer_attach(tracer, &stopping->error)) {
		stopping->failed = true;
	} else {
		tracer_enable_clocks(tracer, true);
		while (stopping->left && clock_now_ns() < limit_ns &&
		       tracer_poll(tracer, NS_PER_MS) == TRACER_RUNNING)
			;
		tracer_quiesce(tracer);
	}
	watchdog_end(&watchdog);
	tracer_destroy(tracer);
	return NULL;
}

/* What cannot be done here leaves the threads as they were seen running. */
static void catch_running(struct owned_dump *owned)
{
	struct stopping stopping = { .owned = owned };
	struct preflight preflight;
	pthread_t thread;

	for (size_t i = 0; i < owned->stored_count; i++)
		stopping.left += owned->stored[i].wants_stop;
	if (!stopping.left || preflight_check(owned->dump.pid, 0, &preflight, &stopping.error))
		return;
	stopping.stop_signal = preflight.stop_signal;
	if (!pthread_create(&thread, NULL, stop_running, &stopping))
		pthread_join(thread, NULL);
}

static bool waits_for_gil(const struct dumped_thread *shown)
{
	bool waits = false;

	for (size_t i = 0; i < shown->frame_count; i++)
		waits = shown->frames[i].kind == FRAME_NATIVE
				? waits || !strcmp(shown->frames[i].function, "take_gil")
				: false;
	return waits;
}

/* They go with Python frames by number. */
static void drop_foreign_locals(struct dumped_thread *shown)
{
	size_t count = 0;

	for (size_t i = 0; i < shown->frame_count; i++)
		count += shown->frames[i].kind == FRAME_PYTHON;
	if (count != shown->locals.count)
		dumped_locals_deinit(&shown->locals);
}

static int show_thread(struct owned_dump *owned, struct stored_thread *stored)
{
	struct dumped_thread *shown = &stored->shown;

	shown->frames = calloc(stored->frame_count + 1, sizeof(shown->frames[0]));
	if (!shown->frames)
		return -ENOMEM;
	for (size_t i = 0; i < stored->frame_count; i++) {
		const struct frame *frame = &stored->frames[i];
		uint32_t place;

		if (place_table_find(&owned->places, frame, &place))
			return -ENOMEM;
		shown->frames[i] = shown_frame(frame, &owned->places.places[place], owned->sources);
	}
	shown->frame_count = stored->frame_count;
	drop_foreign_locals(shown);
	if (shown->activity == THREAD_SLEEPING &&
	    ((shown->waits_known && shown->waits_for == WAIT_GIL) || waits_for_gil(shown)))
		shown->activity = THREAD_GIL_WAIT;
	return 0;
}

static int show_tasks(struct owned_dump *owned)
{
	struct task_dump *tasks = &owned->tasks;

	for (size_t i = 0; i < tasks->count; i++) {
		const struct dumped_task *task = &tasks->shown[i];
		struct stored_thread *stored = NULL;
		struct task_thread thread;
		bool runs_there;

		for (size_t k = 0; task->running && task->tid && k < owned->stored_count; k++)
			if (owned->stored[k].shown.tid == task->tid)
				stored = &owned->stored[k];
		if (stored)
			thread = (struct task_thread){ stored->frames, stored->shown.frames,
						       stored->frame_count };
		if (task_dump_show(tasks, i, stored ? &thread : NULL, owned->sources, &runs_there))
			return -ENOMEM;
		if (runs_there)
			stored->shown.task = task;
	}
	return 0;
}

static int compare_threads(const void *left, const void *right)
{
	const struct dumped_thread *a = left, *b = right;

	if (a->python != b->python)
		return a->python ? -1 : 1;
	return a->tid < b->tid ? -1 : a->tid > b->tid;
}

static int show(struct owned_dump *owned)
{
	static const struct source_memory memory = { .text = target_sources_text,
						     .title = target_sources_title };
	struct thread_dump *dump = &owned->dump;

	place_table_init(&owned->places, owned->target.symbolizer);
	owned->sources = source_cache_create(target_sources_open, owned->target.sources);
	dump->threads = calloc(owned->stored_count + 1, sizeof(dump->threads[0]));
	if (!owned->sources || !dump->threads)
		return -ENOMEM;
	source_cache_use_memory(owned->sources, &memory);
	owned->places.sources = owned->sources;
	target_read_names(&owned->target);
	for (size_t i = 0; i < owned->stored_count; i++)
		if (show_thread(owned, &owned->stored[i]))
			return -ENOMEM;
	if (show_tasks(owned) || greenlet_dump_show(&owned->greenlets, owned->sources) ||
	    dumped_deadlocks_init(&dump->deadlocks, &owned->deadlocks, owned->sources))
		return -ENOMEM;
	dump->sources = source_cache_refusals(owned->sources);
	dump->lost_files = symbolizer_lost_files(owned->target.symbolizer);
	dump->left_out += target_left_out(&owned->target);
	dump->left_out += owned->locals ? local_dump_left_out(owned->locals) : 0;
	for (size_t i = 0; i < owned->stored_count; i++)
		dump->threads[i] = owned->stored[i].shown;
	dump->thread_count = owned->stored_count;
	qsort(dump->threads, dump->thread_count, sizeof(dump->threads[0]), compare_threads);
	return 0;
}

static int dump_take(struct owned_dump *owned, struct error *error)
{
	int failure = capture_init(&owned->capture);

	if (!failure && target_init(&owned->target, owned->dump.pid, false,
				    owned->options.impersonator, NULL, error))
		return -1;
	if (!failure &&
	    (!owned->target.runtime || gil_read_locks(owned->target.runtime, &owned->gil_locks)))
		owned->gil_locks.count = 0;
	if (!failure && owned->options.locals && owned->target.runtime) {
		owned->locals = local_dump_create(owned->target.runtime, &owned->target.reader);
		failure = owned->locals ? 0 : -ENOMEM;
	}
	if (!failure)
		failure = list_threads(owned);
	for (size_t i = 0; i < owned->stored_count && !failure; i++)
		failure = dump_look(owned, &owned->stored[i]);
	if (!failure) {
		add_python_facts(owned);
		catch_running(owned);
		if (owned->target.runtime)
			owned->dump.python = python_runtime_version(owned->target.runtime);
		else
			owned->dump.python_refusal = owned->target.python_refusal.cause;
		failure = show(owned);
	}
	if (failure)
		error_set(error, EXIT_INTERNAL, "out of memory");
	return failure;
}

struct thread_dump *thread_dump_take(pid_t pid, const struct thread_dump_options *options,
				     struct error *error)
{
	struct owned_dump *owned = calloc(1, sizeof(*owned));
	struct process_status status;
	struct container container;

	if (!owned) {
		error_set(error, EXIT_INTERNAL, "out of memory");
		return NULL;
	}
	owned->dump.pid = pid;
	owned->dump.locals = options->locals;
	owned->dump.start_frames = options->start_frames;
	owned->options = *options;
	if (procfs_read_status(pid, 0, &status)) {
		preflight_explain_seize(pid, -ESRCH, error);
		free(owned);
		return NULL;
	}
	if (preflight_has_ended(pid, &status, error)) {
		free(owned);
		return NULL;
	}
	if (procfs_read_command(pid, &owned->dump.command))
		owned->dump.command = NULL;
	if (!container_read(pid, &container))
		owned->dump.container = profile_container_of(&container);
	if (dump_take(owned, error)) {
		thread_dump_destroy(&owned->dump);
		return NULL;
	}
	return &owned->dump;
}

void thread_dump_destroy(struct thread_dump *dump)
{
	struct owned_dump *owned = (struct owned_dump *)dump;

	if (!owned)
		return;
	for (size_t i = 0; i < owned->stored_count; i++) {
		free(owned->stored[i].frames);
		free(owned->stored[i].shown.frames);
		dumped_locals_deinit(&owned->stored[i].shown.locals);
	}
	free(owned->stored);
	free(dump->threads);
	task_dump_deinit(&owned->tasks);
	greenlet_dump_deinit(&owned->greenlets);
	local_dump_destroy(owned->locals);
	deadlock_search_deinit(&owned->locks);
	dumped_deadlocks_deinit(&dump->deadlocks);
	free(dump->command);
	if (owned->sources)
		source_cache_destroy(owned->sources);
	place_table_deinit(&owned->places);
	capture_deinit(&owned->capture);
	target_deinit(&owned->target);
	free(owned);
}
