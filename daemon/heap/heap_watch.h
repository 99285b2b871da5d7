/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which lines make memory grow, by hardware breakpoints on three kinds of words.
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
 * Ends of glibc's heaps, where memory grows that no object holds: who fills what they grow by
 * (heap_fill.h). Such a word stays armed for several stops, as the last to write there counts.
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
#include "daemon/heap/heap_look.h"
#include "daemon/heap/heap_watched.h"

#include <sys/types.h>

#define HEAP_WATCH_AIMS_MAX    4 /* debug registers */
#define HEAP_WATCH_HITS_MAX    10
#define HEAP_WATCH_OTHERS_MAX  20 /* stops at a container that tell nothing */
#define HEAP_WATCH_MISSES_MAX  60 /* at a type: another one was put there */
#define HEAP_WATCH_THREADS_MAX 512

struct impersonator;

struct heap_watch_options {
	double max_overhead;               /* 0.02: of CPU time, for stops */
	int stop_signal;                   /* 0: choose */
	uint64_t earned_cpu_ns;            /* CPU time of the process that no stop was charged to */
	struct impersonator *impersonator; /* borrowed, see target_init() */
};

struct heap_watch_aims {
	struct heap_container containers[HEAP_WATCH_AIMS_MAX];
	size_t container_count;
	struct heap_watch_type types[HEAP_WATCH_AIMS_MAX];
	size_t type_count;
	/* Words with the addresses at which glibc's heaps end. One may be there several times. */
	remote_addr ends[HEAP_WATCH_AIMS_MAX];
	size_t end_count;
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

/* Of ends of heaps: what a look is to be asked for, until the next call, and what it said of that.
 */
struct heap_questions heap_watch_ask(struct heap_watch *watch);
void heap_watch_answer(struct heap_watch *watch, const struct heap_look *look);

/* Detaches. To be called before anything is asked of it. */
void heap_watch_end(struct heap_watch *watch);
void heap_watch_destroy(struct heap_watch *watch);

/* After its end. By the order of the containers, of the types, and of the ends of heaps. */
const struct heap_watched *heap_watch_results(const struct heap_watch *watch, size_t *ret_count);
/* Why it could not attach; NULL: it could. */
const struct error *heap_watch_error(const struct heap_watch *watch);
uint64_t heap_watch_stops(const struct heap_watch *watch);
uint64_t heap_watch_stopped_ns(const struct heap_watch *watch);

#endif
