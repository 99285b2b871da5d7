/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/trace/trace_analysis.h"

#include "common/array.h"
#include "daemon/trace/mpi_function.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#define THREADS_MAX 256 /* of one process that are told apart */

struct thread_time {
	uint32_t thread;
	uint64_t mpi_ns;
};

/* ---- the time in which all ran ---- */

static uint64_t first_call(const struct trace_process *process)
{
	for (uint64_t i = 0; i < process->file.count; i++)
		if (process->file.events[i].kind == TRACE_CALL)
			return process->file.events[i].begin_ns;
	return 0;
}

static uint64_t last_init(const struct trace *trace)
{
	uint64_t last_ns = 0;

	for (size_t i = 0; i < trace->count; i++)
		if (trace->processes[i]->decoder.init_ns > last_ns)
			last_ns = trace->processes[i]->decoder.init_ns;
	return last_ns;
}

static uint64_t began(const struct trace *trace, const struct trace_process *process)
{
	if (process->decoder.init_ns)
		return process->decoder.init_ns;
	/* It was in MPI_Init when its probes came: it left together with the others. */
	if (process->from_beginning && last_init(trace))
		return last_init(trace);
	return first_call(process);
}

static void find_window(struct trace_analysis *analysis)
{
	const struct trace *trace = analysis->trace;
	uint64_t begin_ns = 0, end_ns = UINT64_MAX;

	analysis->from_beginning = true;
	for (size_t i = 0; i < trace->count; i++) {
		const struct trace_process *process = trace->processes[i];
		uint64_t process_begin_ns, process_end_ns;

		analysis->ranks[i].called = process->calls > 0;
		if (!process->calls)
			continue;
		process_begin_ns = began(trace, process);
		process_end_ns = process->decoder.finalize_ns ? process->decoder.finalize_ns
							      : process->end_ns;
		if (process_begin_ns > begin_ns)
			begin_ns = process_begin_ns;
		if (process_end_ns < end_ns)
			end_ns = process_end_ns;
		analysis->from_beginning &= process->from_beginning;
		analysis->judged++;
	}
	analysis->begin_ns = begin_ns;
	analysis->end_ns = analysis->judged && end_ns > begin_ns ? end_ns : begin_ns;
}

/* ---- time in MPI ---- */

static uint64_t within(const struct trace_analysis *analysis, const struct trace_event *event)
{
	uint64_t begin_ns =
		event->begin_ns > analysis->begin_ns ? event->begin_ns : analysis->begin_ns;
	uint64_t end_ns = event->end_ns < analysis->end_ns ? event->end_ns : analysis->end_ns;

	return end_ns > begin_ns ? end_ns - begin_ns : 0;
}

/* NULL: no memory. */
static struct path_figures *path_of(struct trace_analysis *analysis, uint16_t function,
				    uint32_t path)
{
	const struct sum_key key = { { function, path } };
	size_t at;

	if (sum_table_find(&analysis->paths_found, &key, &at) ||
	    !ARRAY_ROOM(analysis->paths, at, analysis->path_capacity)) {
		analysis->failed = true;
		return NULL;
	}
	if (at == analysis->path_count)
		analysis->paths[analysis->path_count++] =
			(struct path_figures){ .path = path, .function = function };
	return &analysis->paths[at];
}

static void add_to_sums(struct call_sums *sums, const struct trace_event *event, uint64_t ns)
{
	sums->calls++;
	sums->ns += ns;
	sums->bytes += event->bytes;
	if (ns > sums->longest_ns)
		sums->longest_ns = ns;
}

static void add_call(struct trace_analysis *analysis, struct rank_figures *rank,
		     const struct trace_event *event)
{
	uint64_t ns = within(analysis, event);
	struct path_figures *path;

	if (event->end_ns <= analysis->begin_ns || event->begin_ns >= analysis->end_ns)
		return;
	rank->calls++;
	analysis->calls++;
	analysis->unknown_paths += event->path == CALL_PATH_NONE;
	add_to_sums(&analysis->functions[event->function].sums, event, ns);
	path = path_of(analysis, event->function, event->path);
	if (path)
		add_to_sums(&path->sums, event, ns);
}

static void add_thread(struct thread_time *threads, unsigned *count, uint32_t thread, uint64_t ns)
{
	unsigned at = 0;

	while (at < *count && threads[at].thread != thread)
		at++;
	if (at == THREADS_MAX)
		return;
	if (at == *count)
		threads[(*count)++] = (struct thread_time){ .thread = thread };
	threads[at].mpi_ns += ns;
}

static void look_at_process(struct trace_analysis *analysis, size_t place)
{
	const struct trace_process *process = analysis->trace->processes[place];
	struct rank_figures *rank = &analysis->ranks[place];
	struct thread_time threads[THREADS_MAX] = { { 0 } };
	uint64_t run_ns = analysis->end_ns - analysis->begin_ns;

	for (uint64_t i = 0; i < process->file.count; i++) {
		const struct trace_event *event = &process->file.events[i];

		if (event->kind != TRACE_CALL || event->function >= mpi_function_count)
			continue;
		add_call(analysis, rank, event);
		add_thread(threads, &rank->threads, event->thread, within(analysis, event));
	}
	for (unsigned i = 0; i < rank->threads; i++)
		if (!i || threads[i].mpi_ns > rank->mpi_ns) {
			rank->mpi_ns = threads[i].mpi_ns;
			rank->thread = threads[i].thread;
		}
	/* Of calls without a record, the time is known. */
	rank->mpi_ns += process->counts.over_ns + process->counts.dropped_ns;
	if (rank->mpi_ns > run_ns)
		rank->mpi_ns = run_ns;
	rank->useful_ns = run_ns - rank->mpi_ns;
	analysis->mpi_ns += rank->called ? rank->mpi_ns : 0;
	analysis->unrecorded_calls += process->counts.over_limit + process->counts.dropped;
	analysis->left_out_events += process->file.left_out;
	analysis->left_out_requests += process->counts.requests_left_out +
				       process->decoder.left_out +
				       process->decoder.requests.left_out;
}

static void judge(struct trace_analysis *analysis)
{
	uint64_t run_ns = analysis->end_ns - analysis->begin_ns, most_ns = 0;
	double sum_ns = 0;

	for (size_t i = 0; i < analysis->trace->count; i++) {
		const struct rank_figures *rank = &analysis->ranks[i];

		if (!rank->called)
			continue;
		sum_ns += (double)rank->useful_ns;
		if (rank->useful_ns > most_ns)
			most_ns = rank->useful_ns;
	}
	if (!run_ns || !most_ns)
		return;
	analysis->load_balance = sum_ns / (double)analysis->judged / (double)most_ns;
	analysis->communication_efficiency = (double)most_ns / (double)run_ns;
	analysis->parallel_efficiency = analysis->load_balance * analysis->communication_efficiency;
}

static int find_regions(struct trace_analysis *analysis)
{
	struct trace_region_subject subject = {
		.trace = analysis->trace,
		.begin_ns = analysis->begin_ns,
		.end_ns = analysis->end_ns,
		.missing = analysis->unrecorded_calls + analysis->left_out_events,
	};
	struct trace_region_rank *ranks = calloc(analysis->trace->count + 1, sizeof(ranks[0]));
	int error = ranks ? 0 : -ENOMEM;

	subject.ranks = ranks;
	for (size_t i = 0; i < analysis->trace->count && ranks; i++)
		if (analysis->ranks[i].called)
			ranks[subject.rank_count++] =
				(struct trace_region_rank){ i, analysis->ranks[i].thread };
	if (!error)
		error = trace_regions_init(&analysis->regions, &subject);
	free(ranks);
	return error;
}

/* ---- waiting ---- */

static void add_to_pair(struct trace_analysis *analysis, const struct collective_wait *wait)
{
	const struct sum_key key = { { wait->who, wait->whom, wait->function, wait->path,
				       wait->late_path } };
	size_t at;

	if (sum_table_find(&analysis->waits_found, &key, &at) ||
	    !ARRAY_ROOM(analysis->waits, at, analysis->wait_capacity)) {
		analysis->failed = true;
		return;
	}
	if (at == analysis->wait_count)
		analysis->waits[analysis->wait_count++] = (struct wait_figures){
			.who = wait->who,
			.whom = wait->whom,
			.function = wait->function,
			.path = wait->path,
			.late_path = wait->late_path,
		};
	analysis->waits[at].count++;
	analysis->waits[at].ns += wait->ns;
}

static void add_wait(struct trace_analysis *analysis, const struct collective_wait *whole)
{
	uint64_t begin_ns = whole->begin_ns, end_ns = whole->begin_ns + whole->ns;
	struct collective_wait part = *whole, *wait = &part;
	struct path_figures *path;

	/* Of the time that all ran, as all other figures. */
	if (begin_ns < analysis->begin_ns)
		begin_ns = analysis->begin_ns;
	if (end_ns > analysis->end_ns)
		end_ns = analysis->end_ns;
	if (end_ns <= begin_ns)
		return;
	part.begin_ns = begin_ns;
	part.ns = end_ns - begin_ns;
	analysis->ranks[wait->who].waits_ns += wait->ns;
	analysis->ranks[wait->whom].waited_for_ns += wait->ns;
	analysis->waits_ns += wait->ns;
	if (wait_list_add(&analysis->wait_list, wait))
		analysis->failed = true;
	add_to_pair(analysis, wait);
	if (wait->function >= mpi_function_count)
		return;
	analysis->functions[wait->function].sums.waits_ns += wait->ns;
	path = path_of(analysis, wait->function, wait->path);
	if (path)
		path->sums.waits_ns += wait->ns;
}

static void take_wait(void *context, const struct collective_wait *wait)
{
	add_wait(context, wait);
}

static struct ideal_subject subject_of(const struct trace_analysis *analysis)
{
	return (struct ideal_subject){
		.trace = analysis->trace,
		.communicators = &analysis->communicators,
		.messages = &analysis->messages,
		.begin_ns = analysis->begin_ns,
		.end_ns = analysis->end_ns,
		.missing = analysis->unrecorded_calls + analysis->left_out_events +
			   analysis->left_out_requests,
	};
}

static void take_operation(void *context, uint32_t communicator,
			   const struct trace_event *const *calls, uint32_t root)
{
	struct trace_analysis *analysis = context;
	const struct ideal_subject subject = subject_of(analysis);

	if (ideal_run_note(&analysis->ideal, &subject, communicator, calls, root))
		analysis->failed = true;
}

/* Late senders, and late receivers; the call in which they were waited for may be another than the
 * receive. */
static void add_late_ends(struct trace_analysis *analysis)
{
	const struct messages *messages = &analysis->messages;

	for (size_t i = 0; i < messages->count; i++) {
		const struct message *message = &messages->items[i];

		if (message->held_up)
			add_wait(analysis, &(struct collective_wait){
						   .who = message->to,
						   .whom = message->from,
						   .begin_ns = message->receive->wait_ns,
						   .ns = message->late_ns,
						   .function = message->receive->completed_by,
						   .path = message->receive->path,
						   .late_path = message->send->path,
					   });
		if (message->receiver_late_ns)
			add_wait(analysis, &(struct collective_wait){
						   .who = message->from,
						   .whom = message->to,
						   .begin_ns = message->send->begin_ns,
						   .ns = message->receiver_late_ns,
						   .function = message->send->function,
						   .path = message->send->path,
						   .late_path = message->receive->path,
					   });
	}
}

static int find_blame(struct trace_analysis *analysis)
{
	size_t ranks = analysis->trace->count;
	uint64_t *blamed_ns = calloc(ranks + 1, sizeof(blamed_ns[0]));

	if (!blamed_ns)
		return -ENOMEM;
	wait_list_blame(&analysis->wait_list, ranks, blamed_ns);
	for (size_t i = 0; i < ranks; i++)
		analysis->ranks[i].holds_up_ns = blamed_ns[i];
	free(blamed_ns);
	return 0;
}

static void count_messages(struct trace_analysis *analysis)
{
	for (size_t i = 0; i < analysis->messages.count; i++) {
		const struct message *message = &analysis->messages.items[i];
		uint64_t bytes = message->send->bytes;
		unsigned at = 0;

		for (uint64_t left = bytes; left && at < TRACE_SIZES_MAX - 1; left /= 10)
			at++;
		analysis->sizes[at].messages++;
		analysis->sizes[at].bytes += bytes;
		analysis->ranks[message->from].sent++;
		analysis->ranks[message->from].sent_bytes += bytes;
		analysis->ranks[message->to].received++;
	}
}

static int compare_functions(const void *left, const void *right)
{
	const struct function_figures *a = left, *b = right;

	if (a->sums.ns != b->sums.ns)
		return a->sums.ns > b->sums.ns ? -1 : 1;
	return a->function < b->function ? -1 : a->function > b->function;
}

static int compare_paths(const void *left, const void *right)
{
	const struct path_figures *a = left, *b = right;

	if (a->sums.ns != b->sums.ns)
		return a->sums.ns > b->sums.ns ? -1 : 1;
	if (a->function != b->function)
		return a->function < b->function ? -1 : 1;
	return a->path < b->path ? -1 : a->path > b->path;
}

static int compare_figures(const void *left, const void *right)
{
	const struct wait_figures *a = left, *b = right;

	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	if (a->who != b->who)
		return a->who < b->who ? -1 : 1;
	if (a->whom != b->whom)
		return a->whom < b->whom ? -1 : 1;
	if (a->path != b->path)
		return a->path < b->path ? -1 : 1;
	return a->late_path < b->late_path ? -1 : a->late_path > b->late_path;
}

static void sort_figures(struct trace_analysis *analysis)
{
	size_t kept = 0;

	for (size_t i = 0; i < analysis->function_count; i++)
		if (analysis->functions[i].sums.calls)
			analysis->functions[kept++] = analysis->functions[i];
	analysis->function_count = kept;
	if (kept)
		qsort(analysis->functions, kept, sizeof(analysis->functions[0]), compare_functions);
	if (analysis->path_count)
		qsort(analysis->paths, analysis->path_count, sizeof(analysis->paths[0]),
		      compare_paths);
	if (analysis->wait_count)
		qsort(analysis->waits, analysis->wait_count, sizeof(analysis->waits[0]),
		      compare_figures);
}

static int match_collectives(struct trace_analysis *analysis)
{
	const struct collective_taker taker = { take_wait, take_operation, analysis };

	return collectives_go_through(analysis->trace, &analysis->communicators, &taker,
				      &analysis->collectives);
}

static int split_communication(struct trace_analysis *analysis)
{
	struct ideal_run *ideal = &analysis->ideal;
	const struct ideal_subject subject = subject_of(analysis);
	uint64_t run_ns = analysis->end_ns - analysis->begin_ns;
	double most_ns = analysis->communication_efficiency * (double)run_ns, ideal_ns;
	int error = ideal_run_find(ideal, &subject);

	if (error || ideal->state != IDEAL_KNOWN)
		return error;
	/* Calls within calls have their time once for each. */
	if (ideal->ns > run_ns)
		ideal->ns = run_ns;
	ideal_ns = (double)ideal->ns > most_ns ? (double)ideal->ns : most_ns;
	if (ideal_ns <= 0) {
		ideal->state = IDEAL_NO_TIME;
		return 0;
	}
	analysis->transfer_efficiency = ideal_ns / (double)run_ns;
	analysis->serialisation_efficiency = most_ns / ideal_ns;
	return 0;
}

int trace_analysis_init(struct trace_analysis *analysis, const struct trace *trace)
{
	int error = 0;

	*analysis = (struct trace_analysis){ .trace = trace };
	analysis->ranks = calloc(trace->count + 1, sizeof(analysis->ranks[0]));
	analysis->functions = calloc(mpi_function_count, sizeof(analysis->functions[0]));
	if (!analysis->ranks || !analysis->functions)
		return -ENOMEM;
	analysis->function_count = mpi_function_count;
	for (size_t i = 0; i < mpi_function_count; i++)
		analysis->functions[i].function = (uint16_t)i;
	find_window(analysis);
	for (size_t i = 0; i < trace->count; i++)
		look_at_process(analysis, i);
	judge(analysis);
	error = find_regions(analysis);
	if (!error)
		error = span_analysis_init(&analysis->spans, trace);
	if (!error)
		error = detail_analysis_init(&analysis->switches, trace, SPAN_SWITCH);
	if (!error)
		error = detail_analysis_init(&analysis->faults, trace, SPAN_FAULT);
	if (!error)
		error = counter_analysis_init(&analysis->counters, trace);
	if (!error)
		error = function_analysis_init(&analysis->python, trace);
	if (!error)
		error = communicators_init(&analysis->communicators, trace);
	if (!error)
		error = messages_init(&analysis->messages, trace, &analysis->communicators);
	if (!error)
		error = match_collectives(analysis);
	if (!error)
		error = split_communication(analysis);
	if (error)
		return error;
	count_messages(analysis);
	add_late_ends(analysis);
	sort_figures(analysis);
	return analysis->failed ? -ENOMEM : find_blame(analysis);
}

void trace_analysis_deinit(struct trace_analysis *analysis)
{
	communicators_deinit(&analysis->communicators);
	messages_deinit(&analysis->messages);
	span_analysis_deinit(&analysis->spans);
	detail_analysis_deinit(&analysis->switches);
	detail_analysis_deinit(&analysis->faults);
	counter_analysis_deinit(&analysis->counters);
	function_analysis_deinit(&analysis->python);
	wait_list_deinit(&analysis->wait_list);
	ideal_run_deinit(&analysis->ideal);
	trace_regions_deinit(&analysis->regions);
	free(analysis->ranks);
	free(analysis->functions);
	free(analysis->waits);
	free(analysis->paths);
	sum_table_deinit(&analysis->paths_found);
	sum_table_deinit(&analysis->waits_found);
	*analysis = (struct trace_analysis){ 0 };
}

size_t trace_analysis_latest(const struct trace_analysis *analysis)
{
	size_t latest = SIZE_MAX;

	for (size_t i = 0; i < analysis->trace->count; i++)
		if (analysis->ranks[i].holds_up_ns &&
		    (latest == SIZE_MAX ||
		     analysis->ranks[i].holds_up_ns > analysis->ranks[latest].holds_up_ns))
			latest = i;
	return latest;
}
