/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which lines make memory grow, by hardware breakpoints on two kinds of words.
 *
 * Containers: a hardware breakpoint on the word with a container's length stops the thread that
 * changes it, right behind the store, and its Python stack says where.
 *
 *   armed in all threads --- a store: the thread stops, is read, goes on
 *        ^                                     |
 *        `--- a pause, and credit for more <---'     until there are HEAP_WATCH_HITS_MAX
 *
 * Types, where no container tells: what is kept needs blocks that were never used before, and the
 * allocator hands these out in order. In one of those that come next, the word that will be an
 * object's type is written once for each object that is put there, and the stack then says where
 * objects of that type are made. What is of another type is no hit: it may be dropped at once, and
 * the block be had by what stays. A block that was handed out before anybody was armed, or that
 * too many others were in, is given up for another. Tuples and strings, of which most lines make
 * some, are looked at again a while later: those that are gone by then count for no line.
 *
 * What a container's length is told by is never the first word of a block, which counts references
 * or links the collector's list: that word changes tens of thousands of times a second. Where the
 * container is gone by the time, its word may be such a word of another object: so its type is
 * looked at before it is armed and in each stop, and one stop is followed by a pause, whoever
 * caused it. The governor keeps the time of all stops below a share of the CPU time of the process.
 *
 * The events are perf events of this process, as in all of pieprofd: when it ends, they do.
 */
#ifndef PIEPROFD_DAEMON_HEAP_HEAP_WATCH_H
#define PIEPROFD_DAEMON_HEAP_HEAP_WATCH_H

#include "common/error.h"
#include "daemon/heap/heap_site.h"
#include "pyintrospect/heap/heap_container.h"
#include "pyintrospect/heap/heap_snapshot.h"

#include <sys/types.h>

#define HEAP_WATCH_AIMS_MAX    4 /* debug registers */
#define HEAP_WATCH_HITS_MAX    10
#define HEAP_WATCH_OTHERS_MAX  20 /* stops at a container that tell nothing */
#define HEAP_WATCH_MISSES_MAX  60 /* at a type: another one was put there */
#define HEAP_WATCH_SITES_MAX   8
#define HEAP_WATCH_THREADS_MAX 512

struct impersonator;

struct heap_watch_options {
	double max_overhead;               /* 0.02: of CPU time, for stops */
	int stop_signal;                   /* 0: choose */
	uint64_t earned_cpu_ns;            /* CPU time of the process that no stop was charged to */
	struct impersonator *impersonator; /* borrowed, see target_init() */
};

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

struct heap_watch_aims {
	struct heap_container containers[HEAP_WATCH_AIMS_MAX];
	size_t container_count;
	struct heap_watch_type types[HEAP_WATCH_AIMS_MAX];
	size_t type_count;
};

struct heap_watched {
	struct heap_container container;
	struct heap_watch_type made; /* type 0: it is a container */
	unsigned hits;               /* that changed its length; objects that were made */
	unsigned grown;              /* of these, to more; all of them, or those that stayed */
	unsigned tried, stayed;      /* of a sized type's: looked at a while later (heap_trial.h) */
	unsigned others; /* stops in which it had not changed, another type was put there, or no
			    Python code ran */
	bool gone;       /* it was another object, or none, in the end */
	bool refused;    /* no debug register was to be had in some thread */
	struct heap_watch_site sites[HEAP_WATCH_SITES_MAX];
	unsigned site_count;
	unsigned beyond; /* hits at further places */
};

struct heap_watch;

/*
 * Attaches to the process, by a thread of its own, and begins. aims: copied; containers come before
 * types where there are too many. NULL with *error filled: the process may not be traced or has no
 * debug registers; it is left as it was.
 */
struct heap_watch *heap_watch_start(pid_t pid, const struct heap_watch_aims *aims,
				    const struct heap_watch_options *options, struct error *error);

/* All have been seen often enough, or the process has ended. */
bool heap_watch_is_done(const struct heap_watch *watch);

/* Detaches. To be called before anything is asked of it. */
void heap_watch_end(struct heap_watch *watch);
void heap_watch_destroy(struct heap_watch *watch);

/* After its end. By the order of the containers, and then of the types. */
const struct heap_watched *heap_watch_results(const struct heap_watch *watch, size_t *ret_count);
/* Why it could not attach; NULL: it could. */
const struct error *heap_watch_error(const struct heap_watch *watch);
uint64_t heap_watch_stops(const struct heap_watch *watch);
uint64_t heap_watch_stopped_ns(const struct heap_watch *watch);

#endif
