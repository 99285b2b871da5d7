/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/trace/clock_alignment.h"

#include "common/array.h"
#include "daemon/trace/collective.h"
#include "daemon/trace/message.h"
#include "daemon/trace/mpi_function.h"
#include "daemon/trace/sum_table.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* A clock that gains more than that is none: then bounds contradict each other, and that is said.
 */
#define DRIFT_MAX 1e-3
/* And one that gains less is not worth another look. */
#define DRIFT_LEAST 1e-9
#define PASSES      4
#define HALVINGS    64
#define DRIFT_STEPS 32

/* At that time since the begin, the second one's clock is at most, or at least, so much ahead. */
struct bound {
	bool known;
	int64_t ahead_ns;
	uint64_t at_ns;
};

/* What two nodes say of each other: by how much the second one's clock is ahead. */
struct edge {
	uint32_t first, second;
	struct bound lows[CLOCK_PARTS], highs[CLOCK_PARTS];
	uint64_t bounds;
	/* Found: at the begin of the trace, and how it grows. */
	double ahead_ns, drift;
	double room_ns;  /* between the bounds; negative: they contradict each other */
	double error_ns; /* at most, if they do not */
	bool both_sides, is_joined;
};

struct aligning {
	struct trace *trace;
	const uint32_t *node_of;
	struct clock_alignment *alignment;
	struct edge *edges;
	size_t edge_count, edge_capacity;
	struct sum_table edges_found;
	uint32_t *groups; /* union-find, by node */
	uint64_t begin_ns, end_ns;
	bool failed, counts_alone;
	struct communicators communicators; /* while bounds are collected */
	/* Of a collective operation, by node: the first to leave, and the last to enter. */
	uint64_t *entered_ns, *left_ns;
	uint32_t *present;
};

/* ---- times ---- */

static uint64_t moved(uint64_t ns, double by_ns)
{
	double at = (double)ns - by_ns;

	/* Whole nanoseconds are kept where the shift is what a double holds exactly. */
	if (at <= 0)
		return 0;
	return by_ns >= 0 ? ns - (uint64_t)by_ns : ns + (uint64_t)-by_ns;
}

/* What the node's clock is ahead is taken off. */
static uint64_t corrected(const struct aligning *aligning, uint64_t ns, double ahead_ns,
			  double drift)
{
	double since = (double)ns - (double)aligning->begin_ns;

	return ns ? moved(ns, ahead_ns + drift * since) : 0;
}

static void correct_process(const struct aligning *aligning, struct trace_process *process,
			    double ahead_ns, double drift)
{
	uint64_t *const times[] = { &process->begin_ns, &process->end_ns, &process->decoder.init_ns,
				    &process->decoder.finalize_ns };

	if (ahead_ns == 0 && drift == 0)
		return;
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
		*times[i] = corrected(aligning, *times[i], ahead_ns, drift);
	for (size_t i = 0; i < SPANS_MAX; i++)
		process->spans[i].relieved_ns =
			corrected(aligning, process->spans[i].relieved_ns, ahead_ns, drift);
	for (uint64_t i = 0; i < process->file.count; i++) {
		struct trace_event *event = &process->file.events[i];

		event->begin_ns = corrected(aligning, event->begin_ns, ahead_ns, drift);
		event->end_ns = corrected(aligning, event->end_ns, ahead_ns, drift);
		event->wait_ns = corrected(aligning, event->wait_ns, ahead_ns, drift);
	}
}

static void find_length(struct aligning *aligning)
{
	struct trace *trace = aligning->trace;

	aligning->begin_ns = UINT64_MAX;
	aligning->end_ns = 0;
	for (size_t i = 0; i < trace->count; i++) {
		const struct trace_process *process = trace->processes[i];

		if (process->begin_ns < aligning->begin_ns)
			aligning->begin_ns = process->begin_ns;
		if (process->end_ns > aligning->end_ns)
			aligning->end_ns = process->end_ns;
	}
	if (aligning->begin_ns > aligning->end_ns)
		aligning->begin_ns = aligning->end_ns;
	trace->begin_ns = aligning->begin_ns;
	trace->end_ns = aligning->end_ns;
}

/* To the first node's clock as the clocks on the wall have it, and so that none is before 0. */
static void set_by_wall(struct aligning *aligning, const int64_t *walls)
{
	struct trace *trace = aligning->trace;
	uint32_t first = trace->count ? aligning->node_of[0] : 0;
	int64_t least_ns = 0;

	for (size_t i = 0; i < trace->count; i++) {
		int64_t begin_ns = (int64_t)trace->processes[i]->begin_ns +
				   (walls[aligning->node_of[i]] - walls[first]);

		if (begin_ns < least_ns)
			least_ns = begin_ns;
	}
	for (size_t i = 0; i < trace->count; i++) {
		int64_t by_ns = walls[first] - walls[aligning->node_of[i]] + least_ns;

		correct_process(aligning, trace->processes[i], (double)by_ns, 0);
	}
}

/* ---- bounds ---- */

static struct edge *edge_of(struct aligning *aligning, uint32_t first, uint32_t second)
{
	const struct sum_key key = { { first, second } };
	struct edge *edge;
	size_t at;

	if (sum_table_find(&aligning->edges_found, &key, &at) ||
	    !ARRAY_ROOM(aligning->edges, at, aligning->edge_capacity)) {
		aligning->failed = true;
		return NULL;
	}
	edge = &aligning->edges[at];
	if (at < aligning->edge_count)
		return edge;
	*edge = (struct edge){ .first = first, .second = second };
	aligning->edge_count++;
	return edge;
}

static uint64_t since_begin(const struct aligning *aligning, uint64_t ns)
{
	return ns > aligning->begin_ns ? ns - aligning->begin_ns : 0;
}

static unsigned part_of(const struct aligning *aligning, uint64_t ns)
{
	uint64_t length_ns = aligning->end_ns - aligning->begin_ns;
	uint64_t part = since_begin(aligning, ns) / (length_ns / CLOCK_PARTS + 1);

	return part < CLOCK_PARTS ? (unsigned)part : CLOCK_PARTS - 1;
}

/* What left one node at sent had come to another one at received. */
static void add_bound(struct aligning *aligning, uint32_t from, uint32_t to, uint64_t sent_ns,
		      uint64_t received_ns)
{
	int64_t took_ns = (int64_t)(received_ns - sent_ns);
	unsigned part = part_of(aligning, sent_ns);
	struct bound *bound;
	struct edge *edge;
	int64_t ahead_ns;

	if (from == to)
		return;
	if (aligning->counts_alone) {
		if (received_ns >= sent_ns)
			return;
		aligning->alignment->contradictions++;
		if (sent_ns - received_ns > aligning->alignment->worst_ns)
			aligning->alignment->worst_ns = sent_ns - received_ns;
		return;
	}
	edge = edge_of(aligning, from < to ? from : to, from < to ? to : from);
	if (!edge)
		return;
	edge->bounds++;
	bound = from < to ? &edge->highs[part] : &edge->lows[part];
	ahead_ns = from < to ? took_ns : -took_ns;
	if (!bound->known || (from < to ? ahead_ns < bound->ahead_ns : ahead_ns > bound->ahead_ns))
		*bound = (struct bound){ true, ahead_ns, since_begin(aligning, sent_ns) };
}

static void take_wait(void *context, const struct collective_wait *wait)
{
	(void)context;
	(void)wait;
}

/* From all that enter to all that leave, by node. */
static void add_all(struct aligning *aligning, const uint32_t *nodes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < count; k++)
			if (count <= CLOCK_NODES_PAIRED || !i || !k)
				add_bound(aligning, nodes[i], nodes[k],
					  aligning->entered_ns[nodes[i]],
					  aligning->left_ns[nodes[k]]);
}

static void take_operation(void *context, uint32_t communicator,
			   const struct trace_event *const *calls, uint32_t root)
{
	struct aligning *aligning = context;
	const struct communicator *members = &aligning->communicators.items[communicator];
	enum mpi_class class = mpi_functions[calls[0]->function].class;
	uint32_t root_node = aligning->node_of[members->members[root]];
	size_t count = 0;

	for (uint32_t i = 0; i < members->size; i++) {
		uint32_t node = aligning->node_of[members->members[i]];

		if (class == MPI_FROM_ROOT)
			add_bound(aligning, root_node, node, calls[root]->begin_ns,
				  calls[i]->end_ns);
		if (class == MPI_TO_ROOT)
			add_bound(aligning, node, root_node, calls[i]->begin_ns,
				  calls[root]->end_ns);
		if (class != MPI_COLLECTIVE)
			continue;
		if (!aligning->left_ns[node]) {
			aligning->present[count++] = node;
			aligning->left_ns[node] = UINT64_MAX;
		}
		if (calls[i]->begin_ns > aligning->entered_ns[node])
			aligning->entered_ns[node] = calls[i]->begin_ns;
		/* 0 says that the node is not in it. */
		if (calls[i]->end_ns && calls[i]->end_ns < aligning->left_ns[node])
			aligning->left_ns[node] = calls[i]->end_ns;
	}
	add_all(aligning, aligning->present, count);
	for (size_t i = 0; i < count; i++)
		aligning->entered_ns[aligning->present[i]] =
			aligning->left_ns[aligning->present[i]] = 0;
}

static int collect_bounds(struct aligning *aligning)
{
	struct trace *trace = aligning->trace;
	const struct collective_taker taker = { take_wait, take_operation, aligning };
	struct messages messages = { 0 };
	struct collectives collectives;
	int error = communicators_init(&aligning->communicators, trace);

	if (!error)
		error = messages_init(&messages, trace, &aligning->communicators);
	for (size_t i = 0; i < messages.count && !error; i++) {
		const struct message *message = &messages.items[i];

		add_bound(aligning, aligning->node_of[message->from],
			  aligning->node_of[message->to], message->send->begin_ns,
			  message->receive->end_ns);
	}
	if (!error)
		error = collectives_go_through(trace, &aligning->communicators, &taker,
					       &collectives);
	messages_deinit(&messages);
	communicators_deinit(&aligning->communicators);
	return error ? error : aligning->failed ? -ENOMEM : 0;
}

/* ---- what the bounds say ---- */

static double most_ns(const struct edge *edge, double drift, double at_ns)
{
	double most = 1e300;

	for (unsigned i = 0; i < CLOCK_PARTS; i++) {
		const struct bound *high = &edge->highs[i];
		double ns = (double)high->ahead_ns + drift * (at_ns - (double)high->at_ns);

		if (high->known && ns < most)
			most = ns;
	}
	return most;
}

static double least_ns(const struct edge *edge, double drift, double at_ns)
{
	double least = -1e300;

	for (unsigned i = 0; i < CLOCK_PARTS; i++) {
		const struct bound *low = &edge->lows[i];
		double ns = (double)low->ahead_ns + drift * (at_ns - (double)low->at_ns);

		if (low->known && ns > least)
			least = ns;
	}
	return least;
}

/* Between the bounds, of a clock that gains so much; negative: no such clock keeps to them. */
static double room_of(const struct edge *edge, double drift)
{
	return most_ns(edge, drift, 0) - least_ns(edge, drift, 0);
}

/* The drift that leaves most room: room is concave, so that thirds of the range fall away. */
static double roomiest_drift(const struct edge *edge)
{
	double low = -DRIFT_MAX, high = DRIFT_MAX;

	for (unsigned i = 0; i < HALVINGS; i++) {
		double third = (high - low) / 3;

		if (room_of(edge, low + third) < room_of(edge, high - third))
			low += third;
		else
			high -= third;
	}
	return (low + high) / 2;
}

/* The drift that is furthest from that one towards the limit, and still keeps to the bounds. */
static double furthest_drift(const struct edge *edge, double drift, double limit)
{
	for (unsigned i = 0; i < HALVINGS; i++) {
		double middle = (drift + limit) / 2;

		if (room_of(edge, middle) >= 0)
			drift = middle;
		else
			limit = middle;
	}
	return drift;
}

/* How far from what was found any clock may be that keeps to the bounds, at that time. The furthest
 * are among those with the furthest drift, or between: looked at in steps. */
static double error_at(const struct edge *edge, double at_ns)
{
	double slowest = furthest_drift(edge, edge->drift, -DRIFT_MAX);
	double fastest = furthest_drift(edge, edge->drift, DRIFT_MAX);
	double found_ns = edge->ahead_ns + edge->drift * at_ns, error_ns = 0;

	for (unsigned i = 0; i <= DRIFT_STEPS; i++) {
		double drift = slowest + (fastest - slowest) * i / DRIFT_STEPS;
		double above_ns = most_ns(edge, drift, at_ns) - found_ns;
		double below_ns = found_ns - least_ns(edge, drift, at_ns);

		error_ns = above_ns > error_ns ? above_ns : error_ns;
		error_ns = below_ns > error_ns ? below_ns : error_ns;
	}
	return error_ns;
}

static void judge_edge(struct edge *edge, double length_ns)
{
	double low_ns = least_ns(edge, 0, 0), high_ns = most_ns(edge, 0, 0);
	double begin_ns, end_ns;

	edge->both_sides = low_ns > -1e299 && high_ns < 1e299;
	if (!edge->both_sides) {
		edge->ahead_ns = low_ns > 0 ? low_ns : high_ns < 0 ? high_ns : 0;
		return;
	}
	edge->drift = roomiest_drift(edge);
	edge->room_ns = room_of(edge, edge->drift);
	edge->ahead_ns = (least_ns(edge, edge->drift, 0) + most_ns(edge, edge->drift, 0)) / 2;
	if (edge->room_ns < 0)
		return;
	begin_ns = error_at(edge, 0);
	end_ns = error_at(edge, length_ns);
	edge->error_ns = begin_ns > end_ns ? begin_ns : end_ns;
}

/* Both sides first, the tightest first. */
static int compare_edges(const void *left, const void *right)
{
	const struct edge *a = left, *b = right;

	if (a->both_sides != b->both_sides)
		return a->both_sides ? -1 : 1;
	if (a->error_ns != b->error_ns)
		return a->error_ns < b->error_ns ? -1 : 1;
	if (a->first != b->first)
		return a->first < b->first ? -1 : 1;
	return a->second < b->second ? -1 : a->second > b->second;
}

static uint32_t group_of(struct aligning *aligning, uint32_t node)
{
	while (aligning->groups[node] != node)
		node = aligning->groups[node] = aligning->groups[aligning->groups[node]];
	return node;
}

static void join_nodes(struct aligning *aligning)
{
	for (uint32_t i = 0; i < aligning->alignment->count; i++)
		aligning->groups[i] = i;
	if (aligning->edge_count)
		qsort(aligning->edges, aligning->edge_count, sizeof(aligning->edges[0]),
		      compare_edges);
	for (size_t i = 0; i < aligning->edge_count; i++) {
		struct edge *edge = &aligning->edges[i];
		uint32_t first = group_of(aligning, edge->first);
		uint32_t second = group_of(aligning, edge->second);

		edge->is_joined = first != second;
		aligning->groups[first] = second;
	}
}

/* ---- from the first node on ---- */

struct step {
	double ahead_ns, drift;
	bool known;
};

static void take_step(struct aligning *aligning, const struct edge *edge, struct step *steps,
		      uint32_t from, uint32_t to)
{
	struct clock_node *nodes = aligning->alignment->nodes;
	double sign = from == edge->first ? 1 : -1;
	bool known = edge->both_sides && edge->room_ns >= 0 && nodes[from].error_ns != UINT64_MAX;

	steps[to] = (struct step){ steps[from].ahead_ns + sign * edge->ahead_ns,
				   steps[from].drift + sign * edge->drift, true };
	nodes[to].basis = edge->both_sides ? CLOCK_MESSAGES : CLOCK_ONE_SIDE;
	nodes[to].towards = from;
	nodes[to].bounds = edge->bounds;
	nodes[to].error_ns = known ? nodes[from].error_ns + (uint64_t)edge->error_ns : UINT64_MAX;
}

static void walk_from_first(struct aligning *aligning, struct step *steps, uint32_t first)
{
	bool more = true;

	steps[first].known = true;
	while (more) {
		more = false;
		for (size_t i = 0; i < aligning->edge_count; i++) {
			const struct edge *edge = &aligning->edges[i];

			if (!edge->is_joined ||
			    steps[edge->first].known == steps[edge->second].known)
				continue;
			if (steps[edge->first].known)
				take_step(aligning, edge, steps, edge->first, edge->second);
			else
				take_step(aligning, edge, steps, edge->second, edge->first);
			more = true;
		}
	}
}

static void correct(struct aligning *aligning, const struct step *steps)
{
	struct trace *trace = aligning->trace;
	struct clock_alignment *alignment = aligning->alignment;

	for (size_t i = 0; i < trace->count; i++) {
		const struct step *step = &steps[aligning->node_of[i]];

		correct_process(aligning, trace->processes[i], step->ahead_ns, step->drift);
	}
	for (size_t i = 0; i < alignment->count; i++) {
		alignment->nodes[i].offset_ns += (int64_t)steps[i].ahead_ns;
		alignment->nodes[i].drift += steps[i].drift;
	}
	find_length(aligning);
}

/* One look at all bounds. *ret_again: clocks drift, so that it is worth another look. */
static int align_once(struct aligning *aligning, bool *ret_again)
{
	size_t nodes = aligning->alignment->count;
	double length_ns = (double)(aligning->end_ns - aligning->begin_ns);
	struct step *steps = calloc(nodes + 1, sizeof(steps[0]));
	int error = steps ? 0 : -ENOMEM;

	*ret_again = false;
	aligning->edge_count = 0;
	sum_table_deinit(&aligning->edges_found);
	if (!error)
		error = collect_bounds(aligning);
	for (size_t i = 0; i < aligning->edge_count && !error; i++) {
		judge_edge(&aligning->edges[i], length_ns);
		*ret_again |= fabs(aligning->edges[i].drift) > DRIFT_LEAST;
	}
	if (!error) {
		join_nodes(aligning);
		walk_from_first(aligning, steps, aligning->node_of[0]);
		correct(aligning, steps);
	}
	free(steps);
	return error;
}

/* The tightest bound of a part is known for what it is once most of the drift is taken off. */
static int align(struct aligning *aligning)
{
	bool again = true;
	int error = 0;

	for (unsigned pass = 0; pass < PASSES && again && !error; pass++)
		error = align_once(aligning, &again);
	aligning->counts_alone = true;
	return error ? error : collect_bounds(aligning);
}

int clock_alignment_init(struct clock_alignment *alignment, struct trace *trace,
			 const uint32_t *node_of, const int64_t *walls, size_t nodes)
{
	struct aligning aligning = { .trace = trace, .node_of = node_of, .alignment = alignment };
	int error = 0;

	*alignment = (struct clock_alignment){ .count = nodes };
	alignment->nodes = calloc(nodes + 1, sizeof(alignment->nodes[0]));
	aligning.groups = calloc(nodes + 1, sizeof(aligning.groups[0]));
	aligning.entered_ns = calloc(nodes + 1, sizeof(aligning.entered_ns[0]));
	aligning.left_ns = calloc(nodes + 1, sizeof(aligning.left_ns[0]));
	aligning.present = calloc(nodes + 1, sizeof(aligning.present[0]));
	if (!alignment->nodes || !aligning.groups || !aligning.entered_ns || !aligning.left_ns ||
	    !aligning.present)
		error = -ENOMEM;
	for (size_t i = 0; i < nodes && !error; i++)
		alignment->nodes[i] =
			(struct clock_node){ .basis = CLOCK_WALL, .error_ns = UINT64_MAX };
	if (!error && trace->count) {
		alignment->nodes[node_of[0]].basis = CLOCK_FIRST;
		alignment->nodes[node_of[0]].error_ns = 0;
		find_length(&aligning);
		set_by_wall(&aligning, walls);
		find_length(&aligning);
		error = nodes > 1 ? align(&aligning) : 0;
	}
	for (size_t i = 0; i < nodes && !error; i++)
		alignment->nodes[i].begin_ns = trace->begin_ns;
	free(aligning.edges);
	free(aligning.groups);
	free(aligning.entered_ns);
	free(aligning.left_ns);
	free(aligning.present);
	sum_table_deinit(&aligning.edges_found);
	return error;
}

void clock_alignment_deinit(struct clock_alignment *alignment)
{
	free(alignment->nodes);
	*alignment = (struct clock_alignment){ 0 };
}
