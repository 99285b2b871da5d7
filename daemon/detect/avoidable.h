/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Avoidable time: how much of a line's own time could be saved by writing it
 * otherwise, estimated from what was seen. Pure.
 *
 * Neither of the two obvious figures will do. The share of redundant accesses
 * is much the same on good lines and bad (every numpy call re-reads the same
 * type objects and array headers: 56% on lines known to be inefficient, 64%
 * elsewhere), and time alone says where a program works, not where it wastes.
 * What tells them apart is what the work consists of:
 *
 *   avoidable = own time x redundancy x interaction x payload x repetition
 *
 * own time     the line's self time of all classes: the interpreter around the
 *              native calls is part of what a better line does without.
 * redundancy   r = lower end of the 95% Wilson interval of redundant
 *              (exact or approximate) over sampled accesses, loads and stores
 *              together. Few samples give a low r, so that a line must earn
 *              its place by evidence. Saturating, (1 + h) r / (r + h) with
 *              h = 0.15: none gives nothing, a quarter gives 0.72, and above a
 *              half the differences, which mean little, hardly count.
 * interaction  1 when native calls last 2 us or less: then the call's fixed
 *              costs (parsing arguments, finding the loop, creating the
 *              result) are most of it, and one call over the whole array would
 *              save them. 0 from 50 us on: the call does bulk work, its fixed
 *              costs are lost in it. Between them a smooth step over log(t).
 *              Unknown duration: 0.5.
 * payload      by what the redundant addresses are: data (heap, objects) counts
 *              in full, a library's static data a half, as all calls read the
 *              same tables; the mean over the redundant accesses.
 * repetition   0.6 + 0.4 s, s being the share of the redundant accesses whose
 *              both ends lie on this line, inside a loop: one line that keeps
 *              asking for the same can be hoisted or made one call, while
 *              pairs across lines are often how two steps hand over data.
 *
 * The constants are first estimates, to be fitted on labelled programs. What
 * this does not see yet is bulk work done twice (long calls with the same
 * arguments): by these accesses alone it cannot be told from a program that
 * runs the same vectorised step again because its input did change elsewhere.
 */
#ifndef PIEPROFD_DAEMON_DETECT_AVOIDABLE_H
#define PIEPROFD_DAEMON_DETECT_AVOIDABLE_H

#include "daemon/cct/pair_table.h"

#define AVOIDABLE_SHORT_CALL_NS 2000
#define AVOIDABLE_LONG_CALL_NS  50000

struct avoidable_evidence {
	uint64_t self_ns;
	uint64_t sampled;   /* both kinds */
	uint64_t redundant; /* both kinds, exact and approximate; at most sampled */
	uint64_t redundant_by_memory[MEMORY_CLASS_COUNT];
	uint64_t repeated; /* of redundant: both ends on this line inside a loop */
	uint64_t call_ns;  /* typical duration of the native calls; 0: unknown */
};

/* The factors, each from 0 to 1, and their product with the time. */
struct avoidable {
	double redundancy;
	double interaction;
	double payload;
	double repetition;
	uint64_t time_ns;
};

struct avoidable avoidable_estimate(const struct avoidable_evidence *evidence);

#endif
