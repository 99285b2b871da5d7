/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a session has found between two moments, while it goes on: for those who
 * ask again and again, and several at once. Neither sampling nor any watch is
 * interrupted.
 *
 * As with session_snapshot(): from one thread at a time, and not while another
 * one calls a function that makes a profile or finishes the session.
 */
#ifndef PIEPROFD_DAEMON_SESSION_SESSION_WINDOW_H
#define PIEPROFD_DAEMON_SESSION_SESSION_WINDOW_H

#include "daemon/sample/stop_times.h"
#include "daemon/session/session.h"
#include "daemon/session/snapshot_mark.h"

/* What only ever grows, but for the period and the sizes. */
struct session_counters {
	uint64_t samples;
	uint64_t lost_ns;    /* to stops and waking up from them */
	uint64_t cpu_ns;     /* of the target while it was sampled */
	uint64_t queued_ns;  /* ready to run, but without a CPU */
	uint64_t sampled_ns; /* wall time */
	struct losses losses;
	struct stop_histogram stops;
	uint64_t time_ns[TIME_CLASS_COUNT]; /* of all threads */
	uint64_t user_ns; /* likewise, and in none of these: Python's or native, not told apart */
	struct side_time side;
	uint64_t gil_ns;
	uint64_t period_ns;
	size_t nodes, pairs, origins; /* kept */
	size_t threads;               /* likewise, also those that have ended */
};

/* 0 or -ENOMEM. Takes 50 ms at most, and next to no work. */
__attribute__((warn_unused_result)) int session_count(struct session *session,
						      struct session_counters *ret_counters);

struct session_mark {
	struct snapshot_mark figures;
	struct profile_facts facts; /* what they point to is not the mark's */
	struct stop_histograms stops;
	struct profile_thread *threads;
	size_t thread_count;
	struct profile_stack *stacks;
	size_t stack_count;
	uint64_t elapsed_ns; /* since the session began */
};

/* The beginning of a window, to be destroyed. NULL: out of memory. */
struct session_mark *session_mark_create(struct session *session);
void session_mark_destroy(struct session_mark *mark);

struct session_window_options {
	const char *version;             /* of pieprofd */
	const struct session_mark *mark; /* of this session; NULL: since it began */
	bool all_pairs;                  /* for merging with others (profile_merge.h) */
	bool source;                     /* with source lines */
	/* The mark of where it ends: the next window's begin, with nothing between the two. Set
	 * with a profile alone; NULL: not wanted. */
	struct session_mark **ret_next;
};

/* From the mark until now. Destroy it before the session. NULL: out of memory. */
struct profile *session_window(struct session *session,
			       const struct session_window_options *options);

#endif
