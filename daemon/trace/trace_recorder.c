/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/trace/trace_recorder.h"

#include "attach/mpi_probes.h"
#include "attach/procfs.h"
#include "common/array.h"
#include "common/clock.h"
#include "common/pid_list.h"
#include "daemon/session/descendants.h"
#include "daemon/trace/function_depth.h"
#include "daemon/trace/library_list.h"
#include "daemon/trace/mpi_function.h"
#include "daemon/trace/path_reader.h"
#include "daemon/trace/rank.h"
#include "daemon/trace/trace_process.h"
#include "daemon/trace/trace_recorder_parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A process without a library is looked at less and less often, at last so. */
#define PAUSE_MAX_NS (500 * NS_PER_MS)
/* Pauses between looks at /proc, as multiples of the CPU time that the last one took. */
#define PAUSE_COSTS 50
/* How often it is asked whether a process that has mapped the library runs Python by now. */
#define PYTHON_PAUSE_NS (5 * NS_PER_MS)
/* What a thread that is about to enter MPI, or to leave it, needs for that. */
#define SETTLE_MS 2

/* A process that may turn out to be a rank. */
struct candidate {
	pid_t pid;
	uint64_t start_time;
	uint64_t next_ns, pause_ns;    /* when it is looked at again */
	struct trace_process *process; /* NULL: not yet */
	bool refused;
};

static int configure_spans(struct trace_recorder *recorder)
{
	int error = 0;

	for (unsigned i = 0; i < recorder->spans->count && !error; i++)
		error = mpi_probes_configure_span(recorder->probes, i,
						  recorder->spans->items[i].least_ns);
	return error;
}

struct trace_recorder *trace_recorder_create(struct impersonator *impersonator,
					     const struct span_list *spans, struct error *error)
{
	struct trace_recorder *recorder = calloc(1, sizeof(*recorder));
	struct mpi_shape shapes[MPI_FUNCTIONS_MAX];
	struct mpi_wanted wanted;

	if (!recorder) {
		error_set(error, EXIT_INTERNAL, "out of memory");
		return NULL;
	}
	recorder->impersonator = impersonator;
	recorder->spans = spans;
	recorder->events_left = TRACE_EVENTS_MAX;
	for (size_t i = 0; i < mpi_function_count; i++)
		shapes[i] = shapes[mpi_function_count + i] = mpi_functions[i].shape;
	wanted = (struct mpi_wanted){ .switches = span_list_find(spans, SPAN_SWITCH),
				      .faults = span_list_find(spans, SPAN_FAULT),
				      .functions = span_list_find(spans, SPAN_PYTHON) >= 0 };
	recorder->probes =
		mpi_probes_create(shapes, MPI_FUNCTION_NUMBERS, MPI_PROBES_AUTO, &wanted, error);
	if (recorder->probes && !configure_spans(recorder)) {
		if (wanted.functions)
			recorder->trap_cost = trap_cost_measure(recorder->probes);
		return recorder;
	}
	if (recorder->probes)
		error_set(error, EXIT_INTERNAL, "the kernel does not take what is to be traced");
	trace_recorder_destroy(recorder);
	return NULL;
}

bool trace_recorder_needs_admin(const struct trace_recorder *recorder)
{
	return mpi_probes_need_admin(recorder->probes);
}

void trace_recorder_destroy(struct trace_recorder *recorder)
{
	if (!recorder)
		return;
	mpi_probes_destroy(recorder->probes);
	for (size_t i = 0; i < recorder->process_count; i++)
		trace_process_destroy(recorder->processes[i]);
	call_paths_deinit(&recorder->paths);
	library_list_deinit(&recorder->libraries);
	free(recorder->processes);
	free(recorder->candidates);
	pid_list_deinit(&recorder->found);
	free(recorder);
}

/* ---- processes ---- */

/* Once its interpreter is known. 0 or a negative errno with *error filled. */
static int start_functions(struct trace_recorder *recorder, struct trace_process *process,
			   struct error *error)
{
	int span = span_list_find(recorder->spans, SPAN_PYTHON), failure;

	if (span < 0)
		return 0;
	failure = function_watch_start(
		&process->functions,
		&(struct function_process){ .probes = recorder->probes,
					    .target = path_reader_target(process->path_reader),
					    .paths = &recorder->paths,
					    .choice = &recorder->spans->functions,
					    .trap_cost = &recorder->trap_cost,
					    .slot = process->slot,
					    .span = (unsigned)span },
		error);
	process->spans[span].state = failure ? SPAN_REFUSED : SPAN_SET;
	return failure;
}

/* Its interpreter: from then on, its calls come with their Python lines. */
static void look_at_python(struct trace_recorder *recorder, struct trace_process *process)
{
	struct mapping_list mappings = { 0 };
	struct clock_config places;
	uint64_t now_ns = clock_now_ns();
	struct error error;
	bool mapped;

	if (process->path_reader || now_ns < process->python_next_ns)
		return;
	/* A launcher's shell has none before it runs the program. */
	mapped = !procfs_read_mappings(process->pid, &mappings) &&
		 (!process->library || mpi_library_find(&mappings));
	mapping_list_deinit(&mappings);
	if (mapped &&
	    !path_reader_create(process->pid, recorder->impersonator, &recorder->paths,
				&process->path_reader, &places) &&
	    !mpi_probes_set_python(recorder->probes, process->slot, &places)) {
		if (start_functions(recorder, process, &error) && !recorder->spans_refused++)
			recorder->span_refusal = error;
		return;
	}
	/* It is not asked for ever: some programs run no Python. */
	process->python_pause_ns =
		process->python_pause_ns ? 2 * process->python_pause_ns : PYTHON_PAUSE_NS;
	process->python_next_ns = now_ns + process->python_pause_ns;
}

static struct span_process span_process_of(const struct trace_recorder *recorder,
					   const struct trace_process *process)
{
	return (struct span_process){ recorder->probes, process->slot, process->pid,
				      recorder->impersonator };
}

/* What it has loaded only now. */
static void look_at_libraries(struct trace_recorder *recorder, struct trace_process *process)
{
	struct span_process spans = span_process_of(recorder, process);
	struct mapping_list mappings = { 0 };
	struct mpi_library *library;
	uint64_t now_ns = clock_now_ns();
	struct error error;
	int failure;

	span_watches_look(process->spans, recorder->spans, &spans, now_ns);
	if (process->complete || now_ns < process->spans_next_ns)
		return;
	failure = library_list_find(&recorder->libraries, process->pid, recorder->impersonator,
				    &mappings, &library);
	if (!failure && !process->library &&
	    !mpi_probes_add_places(recorder->probes, process->slot, process->pid, library->fd,
				   library->places, library->place_count, &library->layout)) {
		trace_process_set_library(process, library);
		process->from_beginning =
			mpi_library_is_before_init(library, process->pid, &mappings);
	}
	failure = span_watches_set(process->spans, recorder->spans, &spans, &mappings, &error);
	process->complete = !failure && process->library;
	if (failure && failure != -ENODATA && !recorder->spans_refused++)
		recorder->span_refusal = error;
	mapping_list_deinit(&mappings);
	process->spans_pause_ns += process->spans_pause_ns / 16 + TRACE_LOOK_NS;
	if (process->spans_pause_ns > PAUSE_MAX_NS)
		process->spans_pause_ns = PAUSE_MAX_NS;
	process->spans_next_ns = clock_now_ns() + process->spans_pause_ns;
}

/* library: NULL: it has none; mappings: NULL: it has not mapped it yet. 0 or a negative errno. */
static int set_probes(struct trace_recorder *recorder, pid_t pid, uint64_t start_time,
		      struct mpi_library *library, const struct mapping_list *mappings,
		      struct trace_process **ret_process)
{
	struct trace_process *process;
	int error;

	if (!ARRAY_ROOM(recorder->processes, recorder->process_count, recorder->process_capacity))
		return -ENOMEM;
	error = trace_process_create(pid, start_time, library, &recorder->events_left, &process);
	if (error)
		return error;
	error = mpi_probes_add(recorder->probes, pid, library ? library->fd : -1,
			       library ? library->places : NULL, library ? library->place_count : 0,
			       library ? &library->layout : &mpi_no_library, &process->slot);
	if (error) {
		trace_process_destroy(process);
		return error;
	}
	recorder->by_slot[process->slot] = process;
	recorder->processes[recorder->process_count++] = process;
	if (recorder->began_ns) {
		process->begin_ns = clock_now_ns();
		mpi_probes_record(recorder->probes, process->slot, true);
	}
	/* Asked when the probes are there: what it may do from now on is seen. */
	process->from_beginning =
		library && (!mappings || mpi_library_is_before_init(library, pid, mappings));
	if (mappings)
		look_at_python(recorder, process);
	counter_watch_init(&process->counters, recorder->spans->counters);
	process->complete = library && !recorder->spans->count;
	*ret_process = process;
	return 0;
}

/* Of the newest process, whose spans cannot be traced. */
static void take_back(struct trace_recorder *recorder)
{
	struct trace_process *process = recorder->processes[--recorder->process_count];

	mpi_probes_remove(recorder->probes, process->slot);
	recorder->by_slot[process->slot] = NULL;
	trace_process_destroy(process);
}

static void explain(pid_t pid, int failure, struct error *error)
{
	if (failure == -ENODATA || failure == -ENOEXEC) {
		error_set(error, EXIT_NO_TARGET, "process %d has no MPI library loaded", (int)pid);
		error_set_cure(error,
			       "Trace a process that has imported mpi4py, or start the job by "
			       "pieprofd trace -- mpirun ...; Open MPI and MPICH are known, as "
			       "shared libraries.");
		return;
	}
	if (failure == -ESRCH) {
		error_set(error, EXIT_NO_TARGET, "there is no process %d", (int)pid);
		return;
	}
	if (failure == -EUSERS) {
		error_set(error, EXIT_USAGE, "process %d is one too many: at most %d are traced",
			  (int)pid, MPI_TARGETS_MAX);
		return;
	}
	error_set(error, failure == -ENOMEM ? EXIT_INTERNAL : EXIT_PERMISSION,
		  "process %d cannot be traced: %s", (int)pid, strerror(-failure));
	if (failure == -EMFILE)
		error_set_cure(error, "Raise the limit of open files: ulimit -n 65536.");
	else
		error_set_cure(error, "Run it as root, or with CAP_BPF, CAP_PERFMON and "
				      "CAP_SYS_PTRACE; before Linux 6.10, with CAP_SYS_ADMIN.");
}

/* Of a process that runs: whether its functions are traced. */
static int check_functions(struct trace_recorder *recorder, const struct trace_process *process,
			   struct error *error)
{
	int span = span_list_find(recorder->spans, SPAN_PYTHON);

	if (span < 0 || process->spans[span].state == SPAN_SET)
		return 0;
	if (process->spans[span].state == SPAN_REFUSED) {
		*error = recorder->span_refusal;
		recorder->spans_refused--;
		return -EOPNOTSUPP;
	}
	error_set(error, EXIT_NO_TARGET, "process %d runs no Python that can be read",
		  (int)process->pid);
	error_set_cure(error, "pieprofd doctor %d says why.", (int)process->pid);
	return -ENODATA;
}

int trace_recorder_add(struct trace_recorder *recorder, pid_t pid, struct error *error)
{
	struct mapping_list mappings = { 0 };
	struct process_times times;
	struct mpi_library *library = NULL;
	struct trace_process *process;
	int failure = procfs_read_times(pid, 0, &times);

	if (!failure)
		failure = library_list_find(&recorder->libraries, pid, recorder->impersonator,
					    &mappings, &library);
	if ((failure == -ENODATA || failure == -ENOEXEC) && !span_list_is_empty(recorder->spans)) {
		library = NULL;
		failure = 0;
	}
	if (!failure)
		failure = set_probes(recorder, pid, times.start_time, library, &mappings, &process);
	if (failure) {
		explain(pid, failure, error);
	} else {
		const struct span_process spans = span_process_of(recorder, process);

		failure =
			span_watches_set(process->spans, recorder->spans, &spans, &mappings, error);
		if (!failure)
			failure = check_functions(recorder, process, error);
		if (failure)
			take_back(recorder);
	}
	mapping_list_deinit(&mappings);
	return failure ? -1 : 0;
}

void trace_recorder_begin(struct trace_recorder *recorder)
{
	recorder->began_ns = clock_now_ns();
	for (size_t i = 0; i < recorder->process_count; i++) {
		recorder->processes[i]->begin_ns = recorder->began_ns;
		mpi_probes_record(recorder->probes, recorder->processes[i]->slot, true);
	}
}

/* ---- what a launcher starts ---- */

static void add_candidate(struct trace_recorder *recorder, pid_t pid)
{
	struct process_times times;

	for (size_t i = 0; i < recorder->candidate_count; i++)
		if (recorder->candidates[i].pid == pid)
			return;
	if (procfs_read_times(pid, 0, &times) ||
	    !ARRAY_ROOM(recorder->candidates, recorder->candidate_count,
			recorder->candidate_capacity))
		return;
	recorder->candidates[recorder->candidate_count++] = (struct candidate){
		.pid = pid,
		.start_time = times.start_time,
		.pause_ns = TRACE_LOOK_NS,
	};
}

void trace_recorder_follow(struct trace_recorder *recorder, pid_t pid)
{
	recorder->followed = pid;
	if (!recorder->began_ns)
		recorder->began_ns = clock_now_ns();
	add_candidate(recorder, pid);
}

/* It has the rank's environment, and need have nothing to do with MPI. */
static bool is_child_of_rank(const struct trace_recorder *recorder, pid_t pid)
{
	struct process_status status;

	if (procfs_read_status(pid, 0, &status))
		return false;
	for (size_t i = 0; i < recorder->process_count; i++)
		if (recorder->processes[i]->pid == status.parent)
			return true;
	return false;
}

static void try_candidate(struct trace_recorder *recorder, struct candidate *candidate)
{
	struct mapping_list mappings = { 0 };
	struct mpi_library *library = NULL;
	struct rank rank;
	int error;

	/* The same job, by all likelihood: its probes wait for it. */
	if (recorder->libraries.count == 1 && !rank_read(candidate->pid, &rank) &&
	    !is_child_of_rank(recorder, candidate->pid)) {
		library = recorder->libraries.items[0];
		error = set_probes(recorder, candidate->pid, candidate->start_time, library, NULL,
				   &candidate->process);
	} else {
		error = library_list_find(&recorder->libraries, candidate->pid,
					  recorder->impersonator, &mappings, &library);
		if ((error == -ENODATA || error == -ENOEXEC) &&
		    !span_list_is_empty(recorder->spans) && mappings_run_python(&mappings)) {
			library = NULL;
			error = 0;
		}
		if (!error)
			error = set_probes(recorder, candidate->pid, candidate->start_time, library,
					   &mappings, &candidate->process);
	}
	mapping_list_deinit(&mappings);
	if (!error)
		look_at_libraries(recorder, candidate->process);
	if (!error || error == -ENODATA || error == -ENOEXEC || error == -ESRCH)
		return;
	candidate->refused = true;
	if (!recorder->refused++)
		explain(candidate->pid, error, &recorder->refusal);
}

static bool is_gone(pid_t pid, uint64_t start_time)
{
	struct process_times times;

	return procfs_read_times(pid, 0, &times) || times.start_time != start_time ||
	       times.state == 'Z' || times.state == 'X';
}

static void look_at_candidates(struct trace_recorder *recorder)
{
	uint64_t now_ns = clock_now_ns();
	size_t kept = 0;

	for (size_t i = 0; i < recorder->candidate_count; i++) {
		struct candidate *candidate = &recorder->candidates[i];

		if (is_gone(candidate->pid, candidate->start_time))
			continue;
		if (!candidate->process && !candidate->refused && now_ns >= candidate->next_ns) {
			try_candidate(recorder, candidate);
			candidate->next_ns = now_ns + candidate->pause_ns;
			/* A rank is about to map its library; others never will. */
			candidate->pause_ns += candidate->pause_ns / 16;
			if (candidate->pause_ns > PAUSE_MAX_NS)
				candidate->pause_ns = PAUSE_MAX_NS;
		}
		recorder->candidates[kept++] = *candidate;
	}
	recorder->candidate_count = kept;
}

static void keep_counts(struct trace_recorder *recorder, struct trace_process *process)
{
	const struct span_process spans = span_process_of(recorder, process);
	const struct mpi_taker taker = trace_taker(recorder);

	process->counts = mpi_probes_counts(recorder->probes, process->slot);
	trace_process_end_counters(process);
	function_watch_end(&process->functions, &taker);
	span_watches_end(process->spans, recorder->spans, &spans);
}

static void look_at_processes(struct trace_recorder *recorder)
{
	const struct mpi_taker taker = trace_taker(recorder);

	for (size_t i = 0; i < recorder->process_count; i++) {
		struct trace_process *process = recorder->processes[i];

		if (process->ended)
			continue;
		/* Its environment is another one once it runs the program. */
		trace_process_look_at_rank(process);
		if (!is_gone(process->pid, process->start_time)) {
			look_at_python(recorder, process);
			function_watch_look(&process->functions, &taker);
			trace_process_look_at_counters(process);
			look_at_libraries(recorder, process);
			continue;
		}
		trace_recorder_take(recorder, 0);
		process->ended = true;
		process->end_ns = clock_now_ns();
		keep_counts(recorder, process);
		mpi_probes_remove(recorder->probes, process->slot);
		function_watch_release(&process->functions);
		path_reader_destroy(process->path_reader);
		process->path_reader = NULL;
	}
}

void trace_recorder_look(struct trace_recorder *recorder)
{
	uint64_t cpu_ns;

	trace_recorder_take(recorder, (int)(TRACE_LOOK_NS / NS_PER_MS));
	if (clock_now_ns() < recorder->look_ns)
		return;
	cpu_ns = clock_thread_cpu_ns();
	if (recorder->followed && !descendants_read(recorder->followed, &recorder->found))
		for (size_t i = 0; i < recorder->found.count; i++)
			add_candidate(recorder, recorder->found.items[i]);
	look_at_candidates(recorder);
	look_at_processes(recorder);
	/* With many ranks, on the processors that they compute on. */
	recorder->look_ns = clock_now_ns() + PAUSE_COSTS * (clock_thread_cpu_ns() - cpu_ns);
}

struct trace_progress trace_recorder_progress(const struct trace_recorder *recorder)
{
	struct trace_progress progress = { .refused = recorder->refused,
					   .refusal = recorder->refusal,
					   .spans_refused = recorder->spans_refused,
					   .span_refusal = recorder->span_refusal };

	for (size_t i = 0; i < recorder->process_count; i++) {
		progress.processes += !recorder->processes[i]->ended;
		progress.calls += recorder->processes[i]->calls;
		progress.span_events += recorder->processes[i]->span_events;
	}
	return progress;
}

/* ---- the end ---- */

/* Ranks that were met before they ran anything, and never called MPI, are not of the trace. */
static void leave_out_strangers(struct trace_recorder *recorder)
{
	size_t kept = 0;

	for (size_t i = 0; i < recorder->process_count; i++) {
		struct trace_process *process = recorder->processes[i];

		if (process->calls || process->span_events || !recorder->followed) {
			recorder->processes[kept++] = process;
			continue;
		}
		trace_process_destroy(process);
	}
	recorder->process_count = kept;
}

/* What the program in the kernel could not know to be too deep. */
static int leave_out_deep(const struct trace_recorder *recorder, struct trace_process *process)
{
	int span = span_list_find(recorder->spans, SPAN_PYTHON);
	unsigned depth_max = recorder->spans->functions.depth_max;

	if (span < 0 || !depth_max)
		return 0;
	return function_depth_limit(&process->file, (unsigned)span, depth_max,
				    &process->functions.pruned);
}

static int finish_process(struct trace_recorder *recorder, struct trace_process *process,
			  uint64_t now_ns)
{
	int error;

	if (!process->ended) {
		process->end_ns = now_ns;
		keep_counts(recorder, process);
	}
	process->from_beginning |= process->decoder.init_ns != 0;
	error = trace_file_map(&process->file);
	return error ? error : leave_out_deep(recorder, process);
}

int trace_recorder_end(struct trace_recorder *recorder, struct trace *ret_trace)
{
	const struct mpi_taker taker = trace_taker(recorder);
	uint64_t now_ns;
	int error = 0;

	for (size_t i = 0; i < recorder->process_count; i++)
		if (!recorder->processes[i]->ended)
			function_watch_stop(&recorder->processes[i]->functions);
	for (size_t i = 0; i < recorder->process_count; i++)
		if (!recorder->processes[i]->ended)
			function_watch_end(&recorder->processes[i]->functions, &taker);
	now_ns = clock_now_ns();
	for (size_t i = 0; i < recorder->process_count; i++)
		if (!recorder->processes[i]->ended)
			mpi_probes_record(recorder->probes, recorder->processes[i]->slot, false);
	/* Those that are in the program at this moment. */
	trace_recorder_take(recorder, SETTLE_MS);
	trace_recorder_take(recorder, SETTLE_MS);
	mpi_probes_read_open(recorder->probes, &taker);
	for (size_t i = 0; i < recorder->process_count && !error; i++) {
		trace_process_look_at_rank(recorder->processes[i]);
		error = finish_process(recorder, recorder->processes[i], now_ns);
	}
	for (size_t i = 0; i < recorder->process_count; i++)
		if (!recorder->processes[i]->ended)
			mpi_probes_remove(recorder->probes, recorder->processes[i]->slot);
	if (error)
		return error;
	leave_out_strangers(recorder);
	*ret_trace = (struct trace){
		.processes = recorder->processes,
		.count = recorder->process_count,
		.begin_ns = recorder->began_ns,
		.end_ns = now_ns,
		.paths = &recorder->paths,
		.spans = recorder->spans,
	};
	trace_node_read(&ret_trace->node);
	trace_number_ranks(ret_trace);
	return 0;
}
