/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a stop of a thread to the memory access to be watched: the one that the
 * processor sampled, or the next one that counts, by decoding ahead. Asked while
 * the thread waits.
 */
#ifndef PIEPROFD_DAEMON_DETECT_ACCESS_SEARCH_H
#define PIEPROFD_DAEMON_DETECT_ACCESS_SEARCH_H

#include "attach/thread_events.h"
#include "common/block_cache.h"
#include "daemon/cct/pair_table.h"
#include "daemon/detect/sample_filter.h"

/* How far the search for a sample's access has come. */
struct access_sought {
	enum pair_kind kind;
	unsigned skip;  /* accesses still to be passed over at random */
	unsigned steps; /* stops on the way so far */
};

struct access_found {
	bool further;         /* it cannot be told from here: the thread must run to ... */
	remote_addr run_to;   /* ... this instruction first */
	struct access access; /* otherwise */
};

struct access_search {
	struct sample_filter *filter; /* borrowed */
	struct block_cache memory;    /* of the stop in hand: what lies ahead of the thread */
};

/* filter is borrowed, and has its target. */
void access_search_init(struct access_search *search, struct sample_filter *filter);

/*
 * The next access that counts, or the instruction to run to and ask again, with
 * sought brought up to date; capture then has the frames of the native call.
 * LOSS_COUNT, or why there is none.
 */
enum loss access_search_next(struct access_search *search, struct capture *capture,
			     struct access_sought *sought, struct access_found *ret_found);

/*
 * The access of the record, an EVENT_MEMORY. LOSS_COUNT: it is one to watch, and
 * capture has the frames of its native call.
 */
enum loss access_search_sampled(struct access_search *search, struct capture *capture,
				const struct event_record *record, enum pair_kind kind,
				struct access *ret_access);

#endif
