/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One look at a process's memory, and what of the process is shown beside it; or several, by the
 * same looker. It is only read: no thread is stopped, nothing is attached.
 */
#ifndef PIEPROFD_DAEMON_HEAP_HEAP_LOOK_H
#define PIEPROFD_DAEMON_HEAP_HEAP_LOOK_H

#include "common/error.h"
#include "daemon/report/model/profile.h"
#include "pyintrospect/heap/heap_snapshot.h"
#include "pyintrospect/version.h"

#include <sys/types.h>

struct heap_course;
struct impersonator;

struct heap_look_options {
	bool no_holders;
	uint64_t memory_bytes;             /* at most, of our own; 0: half of what is available, */
	uint64_t memory_most;              /* and no more than that; 0: however much it is */
	struct impersonator *impersonator; /* borrowed, see target_init() */
	/* Asked now and then while memory is copied and gone through: whether to give up. NULL:
	 * never. */
	bool (*cancelled)(void *context);
	void *cancel_context;
};

struct heap_look {
	pid_t pid;
	struct python_version python;
	char **command; /* NULL-terminated; NULL: unknown */
	struct profile_container container;
	uint64_t memory_bytes; /* that it was allowed to take */
	uint64_t time_ns;      /* CLOCK_MONOTONIC when it began */
	uint64_t unix_ns;      /* the same, since 1970 UTC; 0: unknown */
	uint64_t start_time;   /* of the process, in clock ticks after boot; 0: unknown */
	uint64_t cpu_ns;       /* CPU time that it took */
	struct heap_snapshot snapshot;
	struct heap_course *course; /* of this look and those before (heap_course.h); NULL: alone */
};

struct heap_looker;

/* Who looks at a process. options are copied. NULL with *error filled. */
struct heap_looker *heap_looker_create(pid_t pid, const struct heap_look_options *options,
				       struct error *error);
void heap_looker_destroy(struct heap_looker *looker);

/* Blocks of malloc()'s of which the look is to say what there is by now. */
struct heap_questions {
	const remote_addr *addresses;
	size_t count;
	bool within; /* addresses may be anywhere in them */
};

/*
 * questions: borrowed for the call; NULL: none. NULL with *error filled; EXIT_NO_TARGET: the
 * process has ended, or is another program now.
 */
struct heap_look *heap_looker_look(struct heap_looker *looker,
				   const struct heap_questions *questions, struct error *error);

/* One alone; likewise. */
struct heap_look *heap_look_take(pid_t pid, const struct heap_look_options *options,
				 struct error *error);
void heap_look_destroy(struct heap_look *look);

#endif
