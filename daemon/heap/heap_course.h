/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process's memory over a time: looks one after the other, what grew from one to the next, and
 * which lines make it grow.
 *
 *   look  look  look  look  look  look  look ...      each takes next to nothing of the time
 *                     `-- something grows: it is watched where (heap_watch.h)
 *
 * The last look is kept whole, of the others their figures (heap_growth.h).
 */
#ifndef PIEPROFD_DAEMON_HEAP_HEAP_COURSE_H
#define PIEPROFD_DAEMON_HEAP_HEAP_COURSE_H

#include "attach/memory_limit.h"
#include "daemon/heap/heap_probes.h"
#include "daemon/heap/heap_verdict.h"
#include "daemon/heap/heap_watch.h"

#define HEAP_COURSE_GROWERS_MAX 100
#define HEAP_COURSE_PATHS_MAX   100
/* Of which it is watched where they are made. */
#define HEAP_COURSE_TYPES_MAX 2

struct heap_course_options {
	struct heap_look_options look;
	uint64_t duration_ns; /* 0: until wait() says so */
	uint64_t interval_ns; /* between two looks; 0: as little as they cost */
	bool no_watch;        /* nothing is attached */
	bool allocations;     /* probes may be set (heap_probes.h) */
	double max_overhead;  /* heap_watch.h */
	int stop_signal;      /* likewise */
	/* Sleeps for so long. True: it shall end now. looks: that were taken. */
	bool (*wait)(void *context, uint64_t ns, uint64_t looks);
	void *context;
};

/* Why there are no lines. */
enum heap_watch_state {
	HEAP_WATCH_DONE,
	HEAP_WATCH_NOT_NEEDED, /* nothing was found to leak that can be watched */
	HEAP_WATCH_UNWANTED,
	HEAP_WATCH_REFUSED, /* watch_error says why */
};

struct heap_course {
	struct heap_growth growth;
	struct heap_grower *growers; /* most bytes first */
	size_t grower_count;
	struct heap_growing_path *paths; /* likewise */
	size_t path_count;
	struct heap_verdict verdict;
	struct memory_limit limit;
	enum heap_watch_state watch_state;
	struct error watch_error;
	struct heap_watch *watch; /* ended; NULL: there was none */
	enum heap_watch_state probes_state;
	struct error probes_error;
	struct heap_probes *probes; /* likewise */
	bool ended;                 /* the process did, before its time was over */
};

/*
 * Looks at a process for a time. The last look, whose `course` is what came of all of them;
 * NULL with *error filled: there was none.
 */
struct heap_look *heap_course_take(pid_t pid, const struct heap_course_options *options,
				   struct error *error);
void heap_course_destroy(struct heap_course *course);

/* What was seen at a grower's length; NULL: it was not watched. */
const struct heap_watched *heap_course_watched(const struct heap_course *course,
					       const struct heap_snapshot *last,
					       const struct heap_grower *grower);

/* The types of which it was watched where they are made, as far as that can be believed, one after
 * the other; NULL: no more. */
const struct heap_watched *heap_course_made(const struct heap_course *course, size_t number);

/* Where memory that no object holds is filled: `stayed` of `tried` words that glibc's heaps grew
 * by. NULL: too few stayed to tell, or it was not looked at. */
const struct heap_watched *heap_course_filled(const struct heap_course *course);

/* Whether it is about memory that no object holds, for heap_probes_result(). */
bool heap_course_is_native(const struct heap_course *course);
/* Which lines make what stays; NULL: there were no probes. */
const struct heap_kept_result *heap_course_kept(const struct heap_course *course);

/* In how many seconds the control group's limit is reached at this pace; 0: never, or not known. */
double heap_course_seconds_left(const struct heap_course *course);

#endif
