/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/heap/heap_look.h"

#include "attach/container_name.h"
#include "attach/memory_limit.h"
#include "attach/page_map.h"
#include "attach/preflight.h"
#include "attach/procfs.h"
#include "common/clock.h"
#include "common/whole_file.h"
#include "daemon/capture/target.h"
#include "daemon/report/model/container_text.h"
#include "daemon/sample/program_watch.h"
#include "pyintrospect/thread_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STACKS_MAX   8192
#define MEMORY_LEAST (64ull << 20)
/* Where a group has hardly any left. */
#define MEMORY_SCARCE (1ull << 20)
#define MEMINFO_BYTES 65536
/* For a process to be seen to end. */
#define END_LOOKS   20
#define END_LOOK_NS (10 * NS_PER_MS)
/* One may be of 64 MB; a word costs less than the question. */
#define READS_A_QUESTION 4

struct heap_looker {
	pid_t pid;
	struct heap_look_options options;
	bool looked;
	struct program_watch program;
	struct target target;
};

/* 0: the kernel does not say. */
static uint64_t available_memory(void)
{
	uint64_t available = 0;
	char *text;
	size_t size;

	if (!whole_file_read("/proc/meminfo", MEMINFO_BYTES, &text, &size)) {
		const char *line = strstr(text, "MemAvailable:");

		available = line ? strtoull(line + strlen("MemAvailable:"), NULL, 10) * 1024 : 0;
		free(text);
	}
	return available;
}

/*
 * Half of what is available on the machine, and to our control group, which may be the target's:
 * it, and others, go on. most: 0: no limit.
 */
static uint64_t default_memory(uint64_t most)
{
	uint64_t half = available_memory() / 2, room;
	struct memory_limit ours;

	if (half < MEMORY_LEAST)
		half = MEMORY_LEAST;
	memory_limit_read(getpid(), &ours);
	if (ours.known) {
		room = (ours.limit_bytes - ours.used_bytes) / 2;
		half = half < room ? half : room > MEMORY_SCARCE ? room : MEMORY_SCARCE;
	}
	return most && half > most ? most : half;
}

/* "Anonymous" of smaps_rollup, which is exact where the counters of status may lag; 0: unknown. */
static uint64_t read_anonymous(pid_t pid)
{
	char path[PROCFS_PATH_SIZE], *text;
	uint64_t bytes = 0;
	size_t size;

	procfs_living_path(path, pid, "smaps_rollup");
	if (!whole_file_read(path, MEMINFO_BYTES, &text, &size)) {
		const char *line = strstr(text, "\nAnonymous:");

		bytes = line ? strtoull(line + strlen("\nAnonymous:"), NULL, 10) * 1024 : 0;
		free(text);
	}
	return bytes;
}

/* Where a sleeping thread's stack is, and where glibc has the heads of Python's threads. */
static size_t list_stacks(const struct target *target, pid_t inner_pid,
			  remote_addr stacks[STACKS_MAX])
{
	pid_t *tids = malloc(STACKS_MAX / 2 * sizeof(*tids));
	struct python_thread_list threads;
	size_t count = 0, tid_count = 0;

	if (tids && procfs_read_threads(target->pid, tids, STACKS_MAX / 2, &tid_count))
		tid_count = 0;
	for (size_t i = 0; i < tid_count && i < STACKS_MAX / 2; i++) {
		struct process_sleep sleep;

		if (!procfs_read_sleep(target->pid, tids[i], &sleep))
			stacks[count++] = sleep.sp;
	}
	free(tids);
	if (python_thread_list_read(target->runtime, &threads))
		return count;
	/* The main thread's head is not in its stack, but with the data of the first libraries. */
	for (size_t i = 0; i < threads.count && count < STACKS_MAX; i++)
		if (threads.items[i].tid != inner_pid)
			stacks[count++] = threads.items[i].ident;
	python_thread_list_deinit(&threads);
	return count;
}

/* Reads a target until nobody waits for the look any more. */
struct patience {
	const struct memory_reader *reader;
	const struct heap_look_options *options;
	uint32_t reads;
};

static int read_patiently(void *context, struct memory_range *ranges, size_t count)
{
	struct patience *patience = context;

	if (patience->reads++ % READS_A_QUESTION == 0 && patience->options->cancelled &&
	    patience->options->cancelled(patience->options->cancel_context))
		return -ECANCELED;
	return memory_read_ranges(patience->reader, ranges, count);
}

static int take_snapshot(struct heap_look *look, struct target *target,
			 const struct heap_look_options *options,
			 const struct heap_questions *questions, struct error *error)
{
	const struct heap_limits limits = { .no_holders = options->no_holders,
					    .memory_bytes = look->memory_bytes };
	remote_addr *stacks = calloc(STACKS_MAX, sizeof(*stacks));
	struct patience patience = { .reader = &target->reader, .options = options };
	const struct memory_reader reader = { read_patiently, &patience };
	struct heap_source source = { .runtime = target->runtime,
				      .reader = &reader,
				      .mappings = &target->mappings,
				      .stacks = stacks };
	struct page_reader pages;
	struct process_status status = { 0 };
	struct page_map map;
	int failure;

	if (!stacks) {
		error_set(error, EXIT_INTERNAL, "out of memory");
		return -1;
	}
	failure = page_map_open_states(&map, look->pid);
	if (failure) {
		error_set(error, failure == -ESRCH ? EXIT_NO_TARGET : EXIT_PERMISSION,
			  "which pages of process %d are in memory cannot be seen: "
			  "/proc/%d/pagemap: %s",
			  (int)look->pid, (int)look->pid, strerror(-failure));
		free(stacks);
		return -1;
	}
	pages = page_map_reader(&map);
	source.pages = &pages;
	source.anonymous_bytes = read_anonymous(look->pid);
	if (questions) {
		source.asked = questions->addresses;
		source.asked_count = questions->count;
		source.asked_within = questions->within;
	}
	if (procfs_read_status(look->pid, 0, &status))
		status.inner_pid = 0;
	source.stack_count = list_stacks(target, status.inner_pid, stacks);
	failure = heap_snapshot_take(&source, &limits, &look->snapshot, error);
	page_map_close_states(&map);
	free(stacks);
	return failure;
}

static void read_process(struct heap_look *look)
{
	struct process_times times;
	struct container container;

	if (!procfs_read_times(look->pid, 0, &times))
		look->start_time = times.start_time;
	if (procfs_read_command(look->pid, &look->command))
		look->command = NULL;
	if (!container_read(look->pid, &container))
		look->container = profile_container_of(&container);
}

static int check_process(const struct heap_looker *looker, struct error *error)
{
	struct process_status status;

	if (procfs_read_status(looker->pid, 0, &status)) {
		preflight_explain_seize(looker->pid, -ESRCH, error);
		return -1;
	}
	return preflight_has_ended(looker->pid, &status, error) ? -1 : 0;
}

/* Of a process that has become another program, what is known of its interpreter is wrong. */
static int check_program(struct heap_looker *looker, struct error *error)
{
	switch (program_watch_look(&looker->program, looker->pid, clock_now_ns())) {
	case PROGRAM_RUNS:
		return 0;
	case PROGRAM_REPLACED:
		error_set(error, EXIT_NO_TARGET, "process %d has become another program",
			  (int)looker->pid);
		return -1;
	case PROGRAM_EXITED:
		break;
	}
	error_set(error, EXIT_NO_TARGET, "process %d has ended", (int)looker->pid);
	return -1;
}

/* Of a process that is about to end, memory is gone first: no failure tells more than that. */
static void explain_end(struct heap_looker *looker, struct error *error)
{
	const struct timespec pause = { .tv_nsec = (long)END_LOOK_NS };
	struct error end;

	for (unsigned i = 0; i < END_LOOKS; i++) {
		if (check_program(looker, &end)) {
			*error = end;
			return;
		}
		(void)nanosleep(&pause, NULL);
	}
}

struct heap_looker *heap_looker_create(pid_t pid, const struct heap_look_options *options,
				       struct error *error)
{
	struct heap_looker *looker = calloc(1, sizeof(*looker));

	if (!looker) {
		error_set(error, EXIT_INTERNAL, "out of memory");
		return NULL;
	}
	looker->pid = pid;
	looker->options = *options;
	if (check_process(looker, error)) {
		free(looker);
		return NULL;
	}
	program_watch_begin(&looker->program, pid);
	if (target_init(&looker->target, pid, false, options->impersonator, NULL, error)) {
		heap_looker_destroy(looker);
		return NULL;
	}
	if (!looker->target.runtime) {
		*error = looker->target.python_refusal;
		heap_looker_destroy(looker);
		return NULL;
	}
	return looker;
}

void heap_looker_destroy(struct heap_looker *looker)
{
	if (!looker)
		return;
	target_deinit(&looker->target);
	free(looker);
}

struct heap_look *heap_looker_look(struct heap_looker *looker,
				   const struct heap_questions *questions, struct error *error)
{
	const struct heap_look_options *options = &looker->options;
	struct heap_look *look;
	uint64_t cpu_ns;

	if (looker->looked && check_program(looker, error))
		return NULL;
	look = calloc(1, sizeof(*look));
	if (!look) {
		error_set(error, EXIT_INTERNAL, "out of memory");
		return NULL;
	}
	look->pid = looker->pid;
	look->memory_bytes = options->memory_bytes ? options->memory_bytes
						   : default_memory(options->memory_most);
	look->python = python_runtime_version(looker->target.runtime);
	read_process(look);
	/* The map is as old as the looker, or the look before. */
	if (looker->looked)
		(void)target_refresh(&looker->target);
	looker->looked = true;
	look->time_ns = clock_now_ns();
	look->unix_ns = clock_read_ns(CLOCK_REALTIME);
	cpu_ns = clock_thread_cpu_ns();
	if (take_snapshot(look, &looker->target, options, questions, error)) {
		heap_look_destroy(look);
		explain_end(looker, error);
		return NULL;
	}
	look->cpu_ns = clock_thread_cpu_ns() - cpu_ns;
	return look;
}

struct heap_look *heap_look_take(pid_t pid, const struct heap_look_options *options,
				 struct error *error)
{
	struct heap_looker *looker = heap_looker_create(pid, options, error);
	struct heap_look *look = looker ? heap_looker_look(looker, NULL, error) : NULL;

	heap_looker_destroy(looker);
	return look;
}

void heap_look_destroy(struct heap_look *look)
{
	if (!look)
		return;
	heap_snapshot_deinit(&look->snapshot);
	free(look->command);
	free(look);
}
