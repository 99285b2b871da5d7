/* SPDX-License-Identifier: Apache-2.0 */
/*
 * By how much the clocks of nodes differ, as told by what they exchange: nothing is received before
 * it is sent.
 *
 *   A sends at 10, B receives at 17 by its clock     B's clock is at most  7 ahead of A's
 *   B sends at 20, A receives at 16 by its clock     B's clock is at least 4 ahead of A's
 *
 * In a collective operation nobody leaves before all have entered (or the root has, or the root
 * before all): these are messages in that sense. The more there are, and the faster, the nearer are
 * both bounds.
 *
 * Clocks also run at different rates, so the tightest bounds are kept by parts of the time. Of all
 * straight lines between them the one is taken that keeps the largest distance to both sides; how
 * far any other line may be from it is the error that is told. Nodes are then
 * joined by the tightest bounds first (a minimum spanning tree), from the node of the first rank,
 * whose clock all others are set to. Where bounds go one way alone, the clock on the wall
 * (trace_node.h) decides within them; where there are none, it alone. Pure.
 */
#ifndef PIEPROFD_DAEMON_TRACE_CLOCK_ALIGNMENT_H
#define PIEPROFD_DAEMON_TRACE_CLOCK_ALIGNMENT_H

#include "daemon/trace/trace.h"

#define CLOCK_PARTS     8
#define CLOCK_NODES_MAX 4096
/* Members of a collective operation are all compared with each other on so few nodes, otherwise
 * with the first one's. */
#define CLOCK_NODES_PAIRED 16

enum clock_basis {
	CLOCK_FIRST,    /* the node that all others are set to */
	CLOCK_MESSAGES, /* by bounds of both sides */
	CLOCK_ONE_SIDE,
	CLOCK_WALL, /* it exchanged nothing with any other */
};

struct clock_node {
	enum clock_basis basis;
	uint32_t towards;  /* the node by which it was aligned */
	int64_t offset_ns; /* what its clock is ahead at begin_ns, to be taken off */
	double drift;      /* and what it gains, of the time */
	uint64_t error_ns; /* at most, to the first node; UINT64_MAX: not known */
	uint64_t begin_ns;
	uint64_t bounds; /* messages and operations it was aligned by */
};

struct clock_alignment {
	struct clock_node *nodes;
	size_t count;
	uint64_t contradictions; /* messages that are still received before they are sent */
	uint64_t worst_ns;
};

/*
 * Finds and corrects: all times of the trace are those of the first node's clock then, also its
 * begin and end. node_of: by process; walls: of each node, as of trace_node.h. 0 or -ENOMEM;
 * deinit in any case.
 */
__attribute__((warn_unused_result)) int clock_alignment_init(struct clock_alignment *alignment,
							     struct trace *trace,
							     const uint32_t *node_of,
							     const int64_t *walls, size_t nodes);
void clock_alignment_deinit(struct clock_alignment *alignment);

#endif
