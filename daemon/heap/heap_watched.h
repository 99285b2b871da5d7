/* SPDX-License-Identifier: Apache-2.0 */
/* What was watched (heap_watch.h), and the places in the program that were met there. Pure. */
#ifndef PIEPROFD_DAEMON_HEAP_HEAP_WATCHED_H
#define PIEPROFD_DAEMON_HEAP_HEAP_WATCHED_H

#include "daemon/heap/heap_fill.h"
#include "daemon/heap/heap_site.h"
#include "daemon/heap/heap_trial.h"
#include "pyintrospect/heap/heap_container.h"
#include "pyintrospect/heap/heap_snapshot.h"

#define HEAP_WATCH_SITES_MAX 8

/* The callers are those of the first hit. */
struct heap_watch_site {
	struct heap_site site;
	unsigned grown, shrunk; /* hits */
};

/* A type whose objects are each in a block of pymalloc's, of so many bytes. */
struct heap_watch_type {
	remote_addr type;
	remote_addr link; /* heap_used_pools.h */
	uint32_t pool_bytes, block_bytes;
	uint32_t prefix; /* of a block, before the object */
	uint32_t lead;   /* blocks that may be handed out until the breakpoint is there */
	bool of_python;  /* a class that Python code made */
	bool sized;      /* a built-in type with items in itself, which do not change */
	char name[HEAP_NAME_BYTES];
};

struct heap_watched {
	struct heap_container container;
	struct heap_watch_type made; /* type 0: it is a container, or the end of a heap */
	remote_addr end;             /* 0: it is none */
	unsigned hits;               /* that changed its length; objects that were made */
	unsigned grown;              /* of these, to more; all of them, or those that stayed */
	unsigned tried, stayed;      /* of a sized type's: looked at a while later (heap_trial.h);
					of a heap's end: words that were left alone (heap_fill.h) */
	unsigned others; /* stops in which it had not changed, another type was put there, or no
			    Python code ran */
	bool gone;       /* it was another object, or none, in the end */
	bool refused;    /* no debug register was to be had in some thread */
	struct heap_watch_site sites[HEAP_WATCH_SITES_MAX];
	unsigned site_count;
	unsigned beyond; /* hits at further places */
};

/* The place of a stack that has frames; NULL: there are more than are told apart. */
struct heap_watch_site *heap_watched_site(struct heap_watched *watched,
					  const struct python_stack *stack);

/* In the end: what was gone, or not looked at to the end, counts no more. */
void heap_watched_keep_tried(struct heap_watched *watched, const struct heap_trials *trials);
void heap_watched_keep_filled(struct heap_watched *watched, const struct heap_fills *fills,
			      const struct memory_reader *reader);

#endif
