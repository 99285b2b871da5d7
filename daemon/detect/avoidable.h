/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Avoidable time: how much of a line's time could be saved by writing it
 * otherwise, estimated from what was seen. Pure.
 *
 * Neither of the two obvious figures will do. The share of redundant accesses
 * is much the same on good lines and bad (every numpy call re-reads the same
 * type objects and array headers: 56% on lines known to be inefficient, 64%
 * elsewhere), and time alone says where a program works, not where it wastes.
 * What tells them apart is what the work consists of:
 *
 *   avoidable = time x max(redundancy x interaction x payload x repetition x confidence,
 * invariance)
 *
 * time         of the line and of the thin library wrappers it calls, all
 *              classes (report/model/line_stats.h): the interpreter around the
 *              native calls is part of what a better line does without.
 * redundancy   q = (redundant + p) / (sampled + 2), exact and approximate, loads
 *              and stores; p is the run's own share: two accesses more, half as
 *              redundant as all are. A line that accesses were never followed on
 *              is not taken for innocent, and one or two do not condemn it. p is
 *              0 for lines without native calls. Saturating, (1 + h) q / (q + h)
 *              with h = 0.15: a quarter gives 0.72, and above a half the
 *              differences, which mean little, hardly count.
 * interaction  1 when native calls last 2 us or less: then the call's fixed
 *              costs (parsing arguments, finding the loop, creating the
 *              result) are most of it, and one call over the whole array would
 *              save them. 0 from 50 us on: the call does bulk work, its fixed
 *              costs are lost in it. Between them a smooth step over log(t).
 * invariance   what remains for bulk work: the same call site, called again,
 *              left the values that were there already, though nothing says
 *              that its operands changed. (l - 0.5) / 0.4, within 0 to 1, l
 *              being the lower end of the 95% Wilson interval of such results
 *              over all results of such calls that were compared, and over those
 *              of stores alone, whichever is less: what is loaded may be scratch
 *              memory, filled with the same at the end of each call; times the
 *              share of the line's stores that calls made of which some such
 *              results are known, as a line may make other calls too. Four such
 *              results say nothing, twenty and all of them the same say 0.85.
 *              Then the whole call was for nothing, so the other factors have no
 *              say: least of all redundancy, as a call that works in place stores
 *              many other values on its way to the same end. That is why not only
 *              the next store counts, but what the call leaves there in the end
 *              (detect/watch_machine.c). Only memory that the call changed does: a
 *              pipeline's constant weights are read again by every good program.
 * payload      by what the redundant addresses are: data (heap, objects) counts in
 *              full, a library's static data 0.8, as all calls read the same
 *              tables; the mean over the redundant accesses and two more of 0.9.
 *              (A half, as was guessed first, put lines of single elements too
 *              low: it is their short calls that read tables most.)
 * repetition   0.2 + 0.8 s, s being the share of the redundant accesses whose both
 *              ends lie on this line, inside a loop, with two more of a half: one
 *              line that keeps asking for the same can be hoisted or made one
 *              call, while pairs across lines are often how two steps hand over
 *              data. Wherever the other end is, an access counts if its operation
 *              has the same operands in every round, by their names, and what the
 *              line stores does not refute that: a = cos(angle); b = sin(angle).
 * confidence   e / (e + 4), e being the accesses followed and an eighth of the time
 *              samples: of seven samples, none of them followed, all else is made of
 *              what was taken for granted. A clean program of few samples was
 *              once called avoidable by a quarter for such lines.
 *
 * The duration of calls has two independent estimates, joined as a weighted
 * geometric mean. One are the residuals of sampled calls (report/model/call_time.h),
 * which are few, and useless below some us as stops disturb them: calls of less
 * than 1 us were estimated at 0.1 to 75 us. The other is the interpreter's share
 * p of the line's time, as the interpreter takes about 150 ns to get from one
 * native call of a line to the next: 150 ns (1 - p) / p. It was 14 to 40% on
 * lines of single elements and 0 to 8% on bulk lines, but a line of pure Python
 * with rare long calls looks the same; so the residuals get up to half of the
 * weight, n / (n + 8) / 2 when there are n.
 *
 * The interval is that of sampling alone: the number of time samples (Poisson)
 * and the redundant share (Wilson), joined in quadrature of their logarithms. It
 * says nothing of how much faster the other way to write the line would be; what
 * the fixes of our targets really saved was mostly more than the estimate.
 *
 * Fitted by hand on some 130 profiles of tests/targets/listing_*.py
 * (inefficient and fixed, CPython 3.11); validated on tests/targets/twins_*.py,
 * which were written before and, but for two, not used for fitting.
 * docs/MEASURED.md has both.
 *
 * Not seen: bulk work done twice whose results go to other memory each time,
 * and what only algebra could save (listing 7: products with unchanged factors,
 * of which each call has another result).
 * Whether both ends of a pair had the same objects as operands was considered:
 * it takes the frame's locals at both stops, and does not decide, as a line that
 * makes its operands anew (the paper's listing 7) has other objects with the
 * same contents, and one that works in place has the same with other contents.
 * Loads that one call site repeats with the same values were tried as a sign of a
 * repeated call: on the listings that held for no guilty line and for nine others.
 */
#ifndef PIEPROFD_DAEMON_DETECT_AVOIDABLE_H
#define PIEPROFD_DAEMON_DETECT_AVOIDABLE_H

#include "daemon/cct/pair_table.h"

#define AVOIDABLE_SHORT_CALL_NS 2000
#define AVOIDABLE_LONG_CALL_NS  50000

/* How long a line's native calls are. */
struct call_evidence {
	uint64_t time_ns;     /* all classes */
	uint64_t python_ns;   /* of it, the interpreter's */
	uint64_t period_ns;   /* that one sample stands for; 0: unknown */
	uint64_t residual_ns; /* estimate by residuals; 0: none */
	uint64_t residuals;   /* how many there were */
};

/* 0: nothing is known. */
uint64_t avoidable_call_ns(const struct call_evidence *evidence);

struct avoidable_evidence {
	uint64_t time_ns;
	uint64_t period_ns; /* 0: unknown, then time is taken for exact */
	uint64_t sampled;   /* both kinds */
	uint64_t redundant; /* both kinds, exact and approximate; at most sampled */
	double run_share;   /* redundant share of the whole run; 0 for lines without native calls */
	uint64_t redundant_by_memory[MEMORY_CLASS_COUNT];
	uint64_t repeated; /* of redundant: what a loop repeats, as above */
	uint64_t call_ns;  /* typical duration of the native calls; 0: unknown */
	/* Stores that the same call site made again with operands that seem unchanged. */
	uint64_t again;
	uint64_t again_redundant; /* of them: the same value, at once or at the call's end */
	/* Loads by such calls of what they had changed; of them: at the end it was as before. */
	uint64_t again_loads, again_loads_redundant;
	/* Stores with a later one; of them, by calls of which some were made again. */
	uint64_t stores, again_stores;
};

/* The factors, each from 0 to 1, and what follows. */
struct avoidable {
	double redundancy;
	double interaction;
	double invariance;
	double payload;
	double repetition;
	double confidence;
	bool by_invariance; /* it gives more than the others' product */
	uint64_t time_ns;
	uint64_t low_ns, high_ns; /* 95% interval */
};

struct avoidable avoidable_estimate(const struct avoidable_evidence *evidence);

#endif
