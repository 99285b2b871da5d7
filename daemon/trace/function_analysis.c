/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/trace/function_analysis.h"

#include "common/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A call that goes on at the time that is looked at. */
struct under_way {
	uint64_t begin_ns, end_ns;
	uint64_t inner_ns; /* in others that it called */
	size_t row;
};

/* Of one thread, innermost last. */
struct thread {
	uint32_t number;
	unsigned count;
	struct under_way calls[FUNCTION_DEPTH_MAX];
};

struct replay {
	struct function_analysis *analysis;
	struct thread **threads;
	size_t count, capacity;
	size_t last; /* whose event came last */
};

static struct thread *thread_of(struct replay *replay, uint32_t number)
{
	struct thread *thread;

	if (replay->last < replay->count && replay->threads[replay->last]->number == number)
		return replay->threads[replay->last];
	for (size_t i = 0; i < replay->count; i++)
		if (replay->threads[i]->number == number) {
			replay->last = i;
			return replay->threads[i];
		}
	if (!ARRAY_ROOM(replay->threads, replay->count, replay->capacity))
		return NULL;
	thread = calloc(1, sizeof(*thread));
	if (!thread)
		return NULL;
	thread->number = number;
	replay->last = replay->count;
	replay->threads[replay->count++] = thread;
	return thread;
}

/* The innermost call is over. */
static void leave(struct replay *replay, struct thread *thread)
{
	const struct under_way *call = &thread->calls[--thread->count];
	struct function_row *row = &replay->analysis->rows[call->row];
	uint64_t ns = call->end_ns - call->begin_ns;
	uint64_t self_ns = ns > call->inner_ns ? ns - call->inner_ns : 0;
	bool again = false;

	for (unsigned i = 0; i < thread->count; i++)
		again |= thread->calls[i].row == call->row;
	row->ns += again ? 0 : ns;
	row->self_ns += self_ns;
	replay->analysis->self_ns += self_ns;
	if (thread->count)
		thread->calls[thread->count - 1].inner_ns += ns;
}

static int enter(struct replay *replay, const struct trace_event *event)
{
	struct function_analysis *analysis = replay->analysis;
	const struct sum_key key = { { event->path } };
	struct thread *thread = thread_of(replay, event->thread);
	uint64_t ns = event->end_ns - event->begin_ns;
	struct function_row *row;
	size_t at;

	if (!thread || sum_table_find(&analysis->found, &key, &at) ||
	    !ARRAY_ROOM(analysis->rows, at, analysis->capacity))
		return -ENOMEM;
	if (at == analysis->count)
		analysis->rows[analysis->count++] = (struct function_row){ .path = event->path };
	row = &analysis->rows[at];
	row->raised += (event->flags & TRACE_RAISED) != 0;
	if (!(event->flags & TRACE_BEFORE)) {
		row->calls++;
		analysis->calls++;
	}
	if (event->flags & (TRACE_BEFORE | TRACE_OPEN))
		row->partly++;
	else if (ns > row->longest_ns)
		row->longest_ns = ns;
	while (thread->count && thread->calls[thread->count - 1].end_ns <= event->begin_ns)
		leave(replay, thread);
	if (thread->count && thread->calls[thread->count - 1].end_ns < event->end_ns)
		analysis->crossed++;
	if (thread->count == FUNCTION_DEPTH_MAX)
		leave(replay, thread);
	thread->calls[thread->count++] = (struct under_way){ .begin_ns = event->begin_ns,
							     .end_ns = event->end_ns,
							     .row = at };
	return 0;
}

static int replay_process(struct function_analysis *analysis, const struct trace_process *process)
{
	struct replay replay = { .analysis = analysis };
	int error = 0;

	for (uint64_t i = 0; i < process->file.count && !error; i++) {
		const struct trace_event *event = &process->file.events[i];

		if (event->kind == TRACE_SPAN && event->function == analysis->span)
			error = enter(&replay, event);
	}
	for (size_t i = 0; i < replay.count; i++) {
		while (replay.threads[i]->count && !error)
			leave(&replay, replay.threads[i]);
		free(replay.threads[i]);
	}
	free(replay.threads);
	return error;
}

static void add_counts(struct function_analysis *analysis, const struct trace_process *process)
{
	const struct function_watch *watch = &process->functions;
	const struct function_counts *from = &watch->counts;
	struct function_counts *to = &analysis->counts;

	to->traps += from->traps;
	to->stepped += from->stepped;
	to->timed += from->timed;
	to->timed_ns += from->timed_ns;
	to->begun += from->begun;
	to->ended += from->ended;
	to->passed_over += from->passed_over;
	to->short_ones += from->short_ones;
	to->short_ns += from->short_ns;
	to->too_deep += from->too_deep + watch->pruned;
	to->no_room += from->no_room;
	to->over_limit += from->over_limit;
	to->over_ns += from->over_ns;
	to->unreadable += from->unreadable;
	to->codes_left_out += from->codes_left_out;
	to->compiled += from->compiled;
	analysis->observed_ns += watch->observed_ns;
	if (watch->ended_ns > watch->met_ns)
		analysis->asked_ns += watch->ended_ns - watch->met_ns;
	analysis->pauses += watch->pauses;
	analysis->probes_ns += watch->spent_ns;
	analysis->unknown += watch->unknown;
}

static int compare_rows(const void *left, const void *right)
{
	const struct function_row *a = left, *b = right;

	if (a->self_ns != b->self_ns)
		return a->self_ns > b->self_ns ? -1 : 1;
	return a->path < b->path ? -1 : a->path > b->path;
}

int function_analysis_init(struct function_analysis *analysis, const struct trace *trace)
{
	int error = 0;

	*analysis = (struct function_analysis){
		.span = trace->spans ? span_list_find(trace->spans, SPAN_PYTHON) : -1,
	};
	for (size_t i = 0; i < trace->count && analysis->span >= 0 && !error; i++) {
		error = replay_process(analysis, trace->processes[i]);
		add_counts(analysis, trace->processes[i]);
	}
	if (analysis->count)
		qsort(analysis->rows, analysis->count, sizeof(analysis->rows[0]), compare_rows);
	return error;
}

void function_analysis_deinit(struct function_analysis *analysis)
{
	free(analysis->rows);
	sum_table_deinit(&analysis->found);
	*analysis = (struct function_analysis){ .span = -1 };
}
