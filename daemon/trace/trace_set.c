/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/trace/trace_set.h"

#include "common/array.h"
#include "common/printable.h"
#include "daemon/trace/mpi_function.h"
#include "daemon/trace/rank.h"
#include "daemon/trace/trace_process.h"
#include "daemon/trace/trace_recording.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Nanoseconds up to here are summed without a look: 73 years. */
#define TIME_MAX     (1ull << 61)
#define FIGURE_MAX   (1ull << 62)
#define NAME_COLUMNS 160
#define PID_BITS     22 /* of the kernel's largest pid */

/* What the numbers of one file are in the set. */
struct reading {
	struct trace_set *set;
	struct trace_recording recording;
	uint32_t *paths;
	size_t path_count;
	uint16_t functions[MPI_FUNCTIONS_MAX];
	size_t function_count;
	uint16_t spans[SPANS_MAX];
	size_t span_count;
	uint16_t counters[COUNTER_KINDS];
	size_t counter_count;
	uint32_t node;
};

/* ---- values ---- */

/* A member that is a number from 0 to most; false: it is none. */
static bool number_of(const json_t *object, const char *key, uint64_t most, uint64_t *ret_number)
{
	const json_t *value = json_object_get(object, key);
	json_int_t number = json_integer_value(value);

	if (!json_is_integer(value) || number < 0 || (uint64_t)number > most)
		return false;
	*ret_number = (uint64_t)number;
	return true;
}

/* Shorter than size, and copied. */
static bool text_of(const json_t *object, const char *key, char *ret_text, size_t size)
{
	const char *text = json_string_value(json_object_get(object, key));

	if (!text || strlen(text) >= size)
		return false;
	snprintf(ret_text, size, "%s", text);
	return true;
}

/* ---- what events refer to ---- */

static int read_functions(struct reading *reading)
{
	const json_t *list = json_object_get(reading->recording.meta, "functions");

	reading->function_count = json_array_size(list);
	if (reading->function_count > MPI_FUNCTIONS_MAX)
		return -EBADMSG;
	for (size_t i = 0; i < reading->function_count; i++) {
		const char *name = json_string_value(json_array_get(list, i));
		unsigned number;

		if (!name || !mpi_function_find(name, &number) || number >= mpi_function_count)
			return -EBADMSG;
		reading->functions[i] = (uint16_t)number;
	}
	return 0;
}

/* Callers come before those whom they call. */
static int read_paths(struct reading *reading)
{
	const json_t *list = json_object_get(reading->recording.meta, "paths");
	size_t count = json_array_size(list);

	if (!json_is_array(list) || count > CALL_PATHS_MAX)
		return -EBADMSG;
	reading->path_count = count + 1;
	reading->paths = calloc(count + 1, sizeof(reading->paths[0]));
	if (!reading->paths)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		const json_t *row = json_array_get(list, i);
		json_int_t caller = json_integer_value(json_array_get(row, 0));
		const char *function = json_string_value(json_array_get(row, 1));
		const char *file = json_string_value(json_array_get(row, 2));
		json_int_t line = json_integer_value(json_array_get(row, 3));

		if (json_array_size(row) != 4 || caller < 0 || (size_t)caller > i || !function ||
		    !file || line < 0 || line > INT32_MAX)
			return -EBADMSG;
		reading->paths[i + 1] = call_paths_add(&reading->set->paths, reading->paths[caller],
						       function, file, (int)line);
	}
	return 0;
}

static bool same_span(const struct span *a, const struct span *b)
{
	return a->kind == b->kind && !strcmp(a->name, b->name);
}

static int read_spans(struct reading *reading)
{
	const json_t *list = json_object_get(reading->recording.meta, "spans");
	struct span_list *spans = &reading->set->spans;

	const json_t *overhead = json_object_get(reading->recording.meta, "function_overhead");
	double share = json_real_value(overhead);

	reading->span_count = json_array_size(list);
	if (!json_is_array(list) || reading->span_count > SPANS_MAX ||
	    (overhead && (!json_is_real(overhead) || !(share > 0 && share <= 1))))
		return -EBADMSG;
	/* Of several files, the largest. */
	if (share > spans->functions.max_overhead)
		spans->functions.max_overhead = share;
	for (size_t i = 0; i < reading->span_count; i++) {
		const json_t *object = json_array_get(list, i);
		struct span span = { .kind = SPAN_FUNCTION };
		uint64_t kind;
		unsigned at = 0;

		if (!number_of(object, "kind", SPAN_PYTHON, &kind) ||
		    !number_of(object, "least_ns", TIME_MAX, &span.least_ns) ||
		    !text_of(object, "library", span.library, sizeof(span.library)) ||
		    !text_of(object, "function", span.function, sizeof(span.function)) ||
		    !text_of(object, "name", span.name, sizeof(span.name)))
			return -EBADMSG;
		span.kind = (enum span_kind)kind;
		while (at < spans->count && !same_span(&spans->items[at], &span))
			at++;
		if (at == SPANS_MAX)
			return -E2BIG;
		if (at == spans->count)
			spans->items[spans->count++] = span;
		reading->spans[i] = (uint16_t)at;
	}
	return 0;
}

static int read_counters(struct reading *reading)
{
	const json_t *list = json_object_get(reading->recording.meta, "counters");

	uint64_t asked;

	/* It had none. */
	if (!list)
		return 0;
	reading->counter_count = json_array_size(list);
	if (!json_is_array(list) || reading->counter_count > COUNTER_KINDS ||
	    !number_of(reading->recording.meta, "counters_asked",
		       (1u << reading->counter_count) - 1, &asked))
		return -EBADMSG;
	for (size_t i = 0; i < reading->counter_count; i++) {
		const char *name = json_string_value(json_array_get(list, i));
		int kind = name ? counter_find(name, strlen(name)) : -1;

		if (kind < 0)
			return -EBADMSG;
		reading->counters[i] = (uint16_t)kind;
		reading->set->spans.counters |= (unsigned)(asked >> i & 1) << kind;
	}
	return 0;
}

static int read_node(struct reading *reading)
{
	const json_t *meta = reading->recording.meta;
	const json_t *wall = json_object_get(meta, "wall_ns");
	struct trace_set *set = reading->set;
	struct trace_node node = { .wall_ns = json_integer_value(wall) };

	if (!text_of(meta, "boot", node.boot, sizeof(node.boot)) ||
	    !text_of(meta, "host", node.host, sizeof(node.host)) || node.wall_ns < 0 ||
	    (uint64_t)node.wall_ns > TIME_MAX)
		return -EBADMSG;
	/* One that is not known is nobody else's. */
	for (reading->node = 0; reading->node < set->node_count; reading->node++)
		if (node.boot[0] && !strcmp(set->nodes[reading->node].boot, node.boot))
			return 0;
	if (set->node_count == CLOCK_NODES_MAX)
		return -E2BIG;
	if (!ARRAY_ROOM(set->nodes, set->node_count, set->node_capacity))
		return -ENOMEM;
	set->nodes[set->node_count++] = node;
	return 0;
}

/* NULL: no memory. */
static const struct mpi_library *library_of(struct trace_set *set, const char *path,
					    enum mpi_kind kind)
{
	struct mpi_library *library;

	for (size_t i = 0; i < set->library_count; i++)
		if (set->libraries[i]->kind == kind && !strcmp(set->libraries[i]->path, path))
			return set->libraries[i];
	library = calloc(1, sizeof(*library));
	if (!library || !ARRAY_ROOM(set->libraries, set->library_count, set->library_capacity)) {
		free(library);
		return NULL;
	}
	library->fd = -1;
	library->kind = kind;
	snprintf(library->path, sizeof(library->path), "%s", path);
	set->libraries[set->library_count++] = library;
	return library;
}

/* ---- events ---- */

static bool is_function(const struct reading *reading, uint16_t number)
{
	return number < reading->function_count;
}

/* An event's function, by what kind it is of; false: it is none. */
static bool take_function(const struct reading *reading, struct trace_event *event)
{
	size_t count = event->kind == TRACE_SPAN      ? reading->span_count
		       : event->kind == TRACE_COUNTER ? reading->counter_count
						      : reading->function_count;
	const uint16_t *known = event->kind == TRACE_SPAN      ? reading->spans
				: event->kind == TRACE_COUNTER ? reading->counters
							       : reading->functions;

	if (event->function >= count)
		return false;
	event->function = known[event->function];
	return true;
}

/* Numbers of the file become those of the set; false: it is no event. */
static bool take_event(const struct reading *reading, struct trace_event *event)
{
	if (event->kind < TRACE_CALL || event->kind > TRACE_COUNTER || event->end_ns > TIME_MAX ||
	    event->begin_ns > event->end_ns || event->path >= reading->path_count ||
	    event->bytes > FIGURE_MAX)
		return false;
	if (event->kind == TRACE_RECEIVE &&
	    (event->wait_ns > event->end_ns || !is_function(reading, event->completed_by)))
		return false;
	if (!take_function(reading, event))
		return false;
	if (event->kind == TRACE_RECEIVE)
		event->completed_by = reading->functions[event->completed_by];
	event->path = reading->paths[event->path];
	event->flags &= TRACE_OPEN | TRACE_SIZE_UNKNOWN | TRACE_ANY_PEER | TRACE_ANY_TAG |
			TRACE_BEFORE | TRACE_RAISED;
	return true;
}

static int read_events(struct reading *reading, struct trace_process *process, uint64_t count)
{
	struct trace_event *events = calloc(TRACE_CHUNK_EVENTS, sizeof(events[0]));
	int error = events ? 0 : -ENOMEM;

	while (count && !error) {
		size_t chunk = count < TRACE_CHUNK_EVENTS ? (size_t)count : TRACE_CHUNK_EVENTS;

		error = trace_recording_next(&reading->recording, events, chunk);
		for (size_t i = 0; i < chunk && !error; i++) {
			if (take_event(reading, &events[i]))
				trace_process_add(process, &events[i]);
			else
				error = -EBADMSG;
		}
		count -= chunk;
	}
	free(events);
	return error                 ? error
	       : process->file.error ? process->file.error
				     : trace_file_map(&process->file);
}

/* ---- processes ---- */

static bool read_watches(const struct reading *reading, const json_t *object,
			 struct trace_process *process)
{
	const json_t *list = json_object_get(object, "spans");

	if (json_array_size(list) != reading->span_count)
		return false;
	for (size_t i = 0; i < reading->span_count; i++) {
		struct span_watch *watch = &process->spans[reading->spans[i]];
		struct span_counts *counts = &watch->counts;
		uint64_t state;
		__u64 *const figures[] = { &counts->begun,      &counts->ended,
					   &counts->short_ones, &counts->short_ns,
					   &counts->over_limit, &counts->over_ns };
		const json_t *row = json_array_get(list, i);

		for (size_t k = 0; k < 8; k++) {
			json_int_t value = json_integer_value(json_array_get(row, k));

			if (json_array_size(row) != 8 || value < 0 || (uint64_t)value > TIME_MAX)
				return false;
			if (k >= 2)
				*figures[k - 2] = (uint64_t)value;
		}
		state = (uint64_t)json_integer_value(json_array_get(row, 0));
		if (state > SPAN_RELIEVED)
			return false;
		watch->state = (enum span_state)state;
		watch->relieved_ns = (uint64_t)json_integer_value(json_array_get(row, 1));
		/* Said as a time since then. */
		if (watch->relieved_ns < process->begin_ns)
			watch->relieved_ns = process->begin_ns;
	}
	return true;
}

/* In the order of trace_recording.c's json_python(). */
static bool read_python(const json_t *object, struct function_watch *watch)
{
	struct function_counts *counts = &watch->counts;
	const json_t *row = json_object_get(object, "python");
	uint64_t *const times[] = { &watch->met_ns,   &watch->ended_ns, &watch->observed_ns,
				    &watch->spent_ns, &watch->pauses,   &watch->pruned,
				    &watch->unknown };
	__u64 *const figures[] = { &counts->traps,          &counts->stepped,
				   &counts->begun,          &counts->ended,
				   &counts->passed_over,    &counts->short_ones,
				   &counts->short_ns,       &counts->too_deep,
				   &counts->no_room,        &counts->over_limit,
				   &counts->over_ns,        &counts->unreadable,
				   &counts->codes_left_out, &counts->compiled };
	const size_t time_count = sizeof(times) / sizeof(times[0]);
	const size_t count = time_count + sizeof(figures) / sizeof(figures[0]);

	/* It had none. */
	if (!row)
		return true;
	if (json_array_size(row) != count)
		return false;
	for (size_t i = 0; i < count; i++) {
		json_int_t value = json_integer_value(json_array_get(row, i));

		if (value < 0 || (uint64_t)value > TIME_MAX)
			return false;
		if (i < time_count)
			*times[i] = (uint64_t)value;
		else
			*figures[i - time_count] = (uint64_t)value;
	}
	return true;
}

static bool read_counts(const json_t *object, struct trace_process *process)
{
	struct mpi_target *counts = &process->counts;
	uint64_t limit, over_limit, over_ns, dropped, dropped_ns, requests, threads;

	if (!number_of(object, "begin_ns", TIME_MAX, &process->begin_ns) ||
	    !number_of(object, "end_ns", TIME_MAX, &process->end_ns) ||
	    !number_of(object, "init_ns", TIME_MAX, &process->decoder.init_ns) ||
	    !number_of(object, "finalize_ns", TIME_MAX, &process->decoder.finalize_ns) ||
	    !number_of(object, "over_limit", FIGURE_MAX, &over_limit) ||
	    !number_of(object, "over_ns", TIME_MAX, &over_ns) ||
	    !number_of(object, "dropped", FIGURE_MAX, &dropped) ||
	    !number_of(object, "dropped_ns", TIME_MAX, &dropped_ns) ||
	    !number_of(object, "limit", UINT32_MAX, &limit) ||
	    !number_of(object, "requests_left_out", FIGURE_MAX, &requests) ||
	    !number_of(object, "left_out", FIGURE_MAX, &process->file.left_out) ||
	    process->end_ns < process->begin_ns)
		return false;
	counts->over_limit = over_limit;
	counts->over_ns = over_ns;
	counts->dropped = dropped;
	counts->dropped_ns = dropped_ns;
	counts->limit = (uint32_t)limit;
	counts->requests_left_out = requests;
	if (number_of(object, "counter_threads_left_out", UINT32_MAX, &threads))
		process->counters.threads_left_out = (size_t)threads;
	return true;
}

static int read_facts(struct reading *reading, const json_t *object, struct trace_process *process)
{
	const char *library = json_string_value(json_object_get(object, "library"));
	json_int_t rank = json_integer_value(json_object_get(object, "rank"));
	uint64_t pid, size, kind;

	if (!number_of(object, "pid", (1u << PID_BITS), &pid) ||
	    !number_of(object, "size", RANK_MAX + 1, &size) ||
	    !number_of(object, "kind", MPI_KIND_MPICH, &kind) || rank < -1 || rank > RANK_MAX ||
	    !text_of(object, "name", process->name, sizeof(process->name)) ||
	    (library && strlen(library) >= sizeof(((struct mpi_library *)0)->path)) ||
	    !read_counts(object, process) || !read_watches(reading, object, process) ||
	    !read_python(object, &process->functions))
		return -EBADMSG;
	process->pid = (pid_t)pid;
	process->rank = (int32_t)rank;
	process->size = (int32_t)size;
	process->rank_known = json_is_true(json_object_get(object, "rank_known")) && rank >= 0;
	process->from_beginning = json_is_true(json_object_get(object, "from_beginning"));
	process->ended = json_is_true(json_object_get(object, "ended"));
	if (library) {
		process->library = library_of(reading->set, library, (enum mpi_kind)kind);
		if (!process->library)
			return -ENOMEM;
	}
	return 0;
}

static int read_process(struct reading *reading, const json_t *object)
{
	struct trace_set *set = reading->set;
	struct trace *trace = &set->trace;
	struct trace_process *process;
	uint64_t events;
	int error;

	if (!number_of(object, "events", TRACE_SET_EVENTS_MAX, &events))
		return -EBADMSG;
	if (trace->count == TRACE_SET_PROCESSES_MAX)
		return -E2BIG;
	if (!ARRAY_ROOM(trace->processes, trace->count, set->process_capacity))
		return -ENOMEM;
	process = calloc(1, sizeof(*process));
	if (!process)
		return -ENOMEM;
	error = trace_file_open(&process->file);
	if (error) {
		free(process);
		return error;
	}
	trace->processes[trace->count++] = process;
	process->events_left = &set->events_left;
	process->slot = reading->node; /* until they are sorted */
	error = read_facts(reading, object, process);
	return error ? error : read_events(reading, process, events);
}

static int read_file(struct trace_set *set, const char *path)
{
	struct reading reading = { .set = set };
	int error = trace_recording_open(&reading.recording, path);
	const json_t *processes;

	if (!error)
		error = read_node(&reading);
	if (!error)
		error = read_functions(&reading);
	if (!error)
		error = read_paths(&reading);
	if (!error)
		error = read_spans(&reading);
	if (!error)
		error = read_counters(&reading);
	processes = json_object_get(reading.recording.meta, "processes");
	if (!error && !json_is_array(processes))
		error = -EBADMSG;
	for (size_t i = 0; i < json_array_size(processes) && !error; i++)
		error = read_process(&reading, json_array_get(processes, i));
	free(reading.paths);
	trace_recording_close(&reading.recording);
	return error;
}

static void refuse(struct error *error, const char *path, int failure)
{
	char name[PRINTABLE_BYTES(NAME_COLUMNS)];

	printable_fit(name, sizeof(name), path, NAME_COLUMNS, true);
	if (failure == -ENOEXEC || failure == -EINVAL) {
		error_set(error, EXIT_USAGE, "%s is not a trace of pieprofd", name);
		error_set_cure(error, "report merges what trace -o FILE.pietrace wrote");
	} else if (failure == -EPROTO) {
		error_set(error, EXIT_USAGE, "%s is a trace of another version of pieprofd", name);
		error_set_cure(error, "use the pieprofd that wrote it");
	} else if (failure == -EBADMSG) {
		error_set(error, EXIT_INTERNAL, "%s is a damaged trace", name);
		error_set_cure(error, "copy it again from where it was made");
	} else if (failure == -E2BIG) {
		error_set(error, EXIT_USAGE, "%s: too many nodes, processes or spans together",
			  name);
	} else {
		error_set(error, EXIT_INTERNAL, "%s cannot be read: %s", name, strerror(-failure));
	}
}

/* ---- all of them ---- */

/* Formats tell processes apart by it. */
static void make_pids_differ(struct trace_set *set)
{
	const struct trace *trace = &set->trace;
	unsigned char *seen = calloc((1u << PID_BITS) / 8 + 1, 1);

	for (size_t i = 0; seen && i < trace->count; i++) {
		uint32_t pid = (uint32_t)trace->processes[i]->pid;

		set->pids_differ |= (seen[pid / 8] >> (pid % 8)) & 1;
		seen[pid / 8] |= (unsigned char)(1u << (pid % 8));
	}
	free(seen);
	for (size_t i = 0; i < trace->count && set->pids_differ; i++)
		trace->processes[i]->pid = (pid_t)((1u << PID_BITS) + i);
}

static int finish(struct trace_set *set)
{
	struct trace *trace = &set->trace;
	int64_t *walls = calloc(set->node_count + 1, sizeof(walls[0]));
	int error = -ENOMEM;

	set->node_of = calloc(trace->count + 1, sizeof(set->node_of[0]));
	trace->paths = &set->paths;
	trace->spans = span_list_is_empty(&set->spans) ? NULL : &set->spans;
	trace_number_ranks(trace);
	trace->by_order = set->node_count > 1;
	for (size_t i = 0; i < trace->count && set->node_of; i++) {
		set->node_of[i] = trace->processes[i]->slot;
		if (trace->processes[i]->calls && !trace->processes[i]->from_beginning)
			trace->by_order = false;
	}
	for (size_t i = 0; i < set->node_count && walls; i++)
		walls[i] = set->nodes[i].wall_ns;
	if (walls && set->node_of)
		error = clock_alignment_init(&set->clocks, trace, set->node_of, walls,
					     set->node_count);
	trace->clocks = &set->clocks;
	trace->nodes = set->nodes;
	free(walls);
	make_pids_differ(set);
	return error;
}

int trace_set_read(struct trace_set *set, const char *const *paths, size_t count,
		   struct error *error)
{
	int failure = 0;

	*set = (struct trace_set){ .events_left = TRACE_SET_EVENTS_MAX };
	for (size_t i = 0; i < count && !failure; i++) {
		failure = read_file(set, paths[i]);
		if (failure)
			refuse(error, paths[i], failure);
	}
	if (failure)
		return -1;
	failure = finish(set);
	if (failure)
		error_set(error, EXIT_INTERNAL, "the traces cannot be merged: %s",
			  strerror(-failure));
	return failure ? -1 : 0;
}

void trace_set_deinit(struct trace_set *set)
{
	for (size_t i = 0; i < set->trace.count; i++)
		trace_process_destroy(set->trace.processes[i]);
	for (size_t i = 0; i < set->library_count; i++)
		free(set->libraries[i]);
	free(set->trace.processes);
	free(set->libraries);
	free(set->nodes);
	free(set->node_of);
	call_paths_deinit(&set->paths);
	clock_alignment_deinit(&set->clocks);
	*set = (struct trace_set){ .events_left = 0 };
}
