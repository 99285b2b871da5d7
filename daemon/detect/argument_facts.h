/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the samples of a log say of each call site, before any of them is judged
 * (argument_rule.h): how many different contents its operands had, in how many
 * different calls, and which rules it meets. argument_gather.h makes them.
 */
#ifndef PIEPROFD_DAEMON_DETECT_ARGUMENT_FACTS_H
#define PIEPROFD_DAEMON_DETECT_ARGUMENT_FACTS_H

#include "daemon/bytecode/common_subexpression.h"
#include "daemon/detect/argument_extent.h"
#include "daemon/detect/argument_log.h"
#include "daemon/detect/argument_part.h"
#include "daemon/detect/argument_verdict.h"
#include "daemon/detect/argument_veto.h"
#include "daemon/detect/argument_work.h"

/* Of a site, samples whose operands were compared, to say what these are like. */
#define ARGUMENT_JUDGED_MIN 5

/* What is known of a site. */
struct argument_summary {
	uint64_t judged;            /* samples whose operands were compared */
	uint64_t commonest;         /* samples with the commonest contents */
	uint64_t contents;          /* hash of those contents */
	uint32_t distinct;          /* sets of contents, up to ARGUMENT_DISTINCT_MAX */
	uint32_t calls;             /* at least so many different calls were sampled */
	uint64_t trips;             /* of the innermost loop; 0: unknown */
	struct saved_part elements; /* where it takes them one by one */
	struct saved_part slow;     /* where it is a slow call */
	struct saved_part few;      /* where its arguments come back after others */
	double repeated;            /* share of calls that repeat the one before; 0: unknown */
	uint32_t repeated_of;       /* calls that this is known of */
	/* That is of the calls of the site's function, from wherever: its entry; ID_NONE: it is
	 * not. */
	uint32_t entry;
	/* That is of the call within its expression that all its operands come from; ID_NONE. */
	uint32_t origin;
	/* Of samples in order of time, ones of another call than the one before, all contents
	 * known: pairs, and those of them with the same contents. */
	uint32_t pairs, alike;
	/* Any two of these, with the same contents: those of a cache's keys come back. */
	uint64_t recurring;
	/* That is of the function that it calls, by what that works on (argument_work.h): pairs of
	 * calls, and those of them alike; 0: it is not. */
	uint32_t work_pairs, work_alike;
	uint32_t work_site; /* one of that function's own */
	uint64_t votes[ARGUMENT_VERDICT_COUNT];
	uint64_t votes_ns[ARGUMENT_VERDICT_COUNT];
};

#define ARGUMENT_DISTINCT_MAX 128

struct argument_facts {
	struct argument_summary *summary;
	struct call_site call;
	struct argument_veto veto;
	struct argument_extent extent;
	int origin;          /* argument_extent_origin() */
	int call_begin;      /* argument_extent_call() */
	bool on_loop_item;   /* it works on what its loop takes out, item by item */
	bool on_free_item;   /* and the outcome is not that of the round before, carried on */
	bool keeps_receiver; /* x of x.f() is one and the same in its loop */
	/* It stores that site's result, and frees what was there before; ID_NONE: it does not. */
	uint32_t stores;
	uint64_t keys[ARGUMENT_DISTINCT_MAX];
	uint32_t counts[ARGUMENT_DISTINCT_MAX];
	uint32_t call_counts[ARGUMENT_DISTINCT_MAX]; /* as counts, once for each call */
	uint32_t overflow; /* judged samples whose contents found no place in keys */
	uint32_t seen;     /* samples with the site in the stack */
	uint64_t data, opaque, partial, state;
	/* Of the last such sample: tells whether the next one is of another call. */
	uint32_t last_position, last_loops, last_rounds;
	/* Of the loop around it: the round last seen, whether it was another one before, whether
	 * all were told by an iterator; by these, argument_loop.h. */
	uint32_t round;
	bool moves, rounds_told;
	bool stands, stays;
	uint32_t code_site; /* the first site of the same code object; there stands */
	bool entry_again;   /* of the first site of a code: some calls, not all, get what the one
			     * before got */
	/* Of the first site of a code: samples in it, and those of them whose callers can spare the
	 * call, or have its result first (argument_common.h). */
	uint32_t entered, entered_common;
	bool entry_refuted; /* of the first site of a code: other evidence speaks against its entry
			     */
	/* Of calls that prepare their first argument: sampled ones, and those of them with the same
	 * one as the call sampled before. */
	uint32_t first_pairs, first_alike, first_calls, first_contents;
	uint64_t pair_calls,
		pair_contents; /* of the last sample for summary->pairs; calls: 0, none yet */
	uint32_t code_seen;    /* samples of all its sites */
	uint32_t code_last;    /* the site seen last, + 1; 0: none yet */
	uint64_t last_size, most_items;
	uint32_t sizes, steps_up; /* of the largest operand, in order of time */
	bool same;                /* the same contents in most samples */
	bool again;               /* often those of the call before (argument_watch.h), or: */
	bool by_pairs;            /* by samples of other calls, next to each other */
	bool searched, cut;
	bool slow; /* it is a slow call (slow_call.h) that has a faster counterpart here */
	bool few, growing, elements, scalars;
	bool kept;                              /* goes over a list that hardly changes */
	bool in_turn;                           /* few, of arguments that are no keys of a cache */
	bool few_held;                          /* and keys beside these are what differs */
	bool end;                               /* sorts all to take one end of it */
	bool bulk;                              /* works on an array as a whole */
	uint64_t loop_trips[OPERAND_LOOPS_MAX]; /* of the loops around, innermost first; 0: unknown
						 */
	/* Of the search that its loop is (bytecode/search_loop.h): the comparison's offset, -1: it
	 * is none; whether it goes over the same in each round of a loop around it in the same
	 * function; and of the caller that was asked last, + 1. */
	int search_compare;
	bool search_ordered; /* x < y, not x == y */
	bool search_same, search_caller_same;
	/* Of samples with the one before: those in a loop over an object that is known, those of
	 * them over the same one, and of these, at an earlier item; the one seen last. */
	uint32_t pass_pairs, pass_same, pass_anew, pass_container;
	int64_t pass_remaining;
	uint32_t search_caller;
	uint32_t search_site; /* that speaks for the search (argument_search.h); ID_NONE: none */
	/* Of the loop that copies (bytecode/copy_loop.h): what takes the items, -1: it is none, and
	 * the call that they are given to; the site of the first (argument_copy.h); ID_NONE. */
	int copy_taken, copy_call;
	uint32_t copy_site;
	/* It is part of an expression that was computed before, and the site that speaks for it
	 * (argument_common.h); ID_NONE. */
	bool is_common;
	bool is_common_first; /* it is part of the first of two such */
	struct common_subexpression common;
	uint32_t common_site;
	struct argument_work work;
	int line;
	uint32_t outermost; /* site with the same contents each time whose extent has this one */
	/* Of the element accesses on this line: the site most sampled, ID_NONE: there is none. */
	uint32_t line_site;
	/* table["x"].iloc[i]: an element access that this computes the container of; ID_NONE. */
	uint32_t element_of;
	bool line_loads;   /* not only stores into elements */
	bool line_scalars; /* enough of them are calls on single numbers */
};

#endif
