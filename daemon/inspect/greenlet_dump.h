/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The greenlets of a process that is looked at: in which thread each of them is,
 * which of them run. All of a thread's greenlets live on its one C stack, which
 * tells the thread; the one that runs has its frames there, the others keep theirs.
 */
#ifndef PIEPROFD_DAEMON_INSPECT_GREENLET_DUMP_H
#define PIEPROFD_DAEMON_INSPECT_GREENLET_DUMP_H

#include "daemon/inspect/local_dump.h"
#include "daemon/report/model/profile.h"
#include "daemon/report/model/source.h"
#include "pyintrospect/greenlet.h"

struct target;

/* A greenlet that has begun and not ended. A main one that runs is no more than its thread. */
struct dumped_greenlet {
	const char *type; /* "gevent._gevent_cgreenlet.Greenlet" */
	pid_t tid;        /* of its thread; 0: unknown */
	bool running;
	bool main;                    /* the one in which its thread began */
	struct profile_frame *frames; /* Python's alone, outermost first; of one that runs none:
					 they are its thread's */
	size_t frame_count;
	struct dumped_locals locals; /* where they were asked for */
};

struct greenlet_dump {
	struct greenlet_list list;
	struct dumped_greenlet *shown; /* one each */
	size_t count;
};

/*
 * Reads them, without names yet; tid is as the threads' own pid namespace numbers
 * it. What cannot be read is left out. locals is NULL where they are not asked for.
 * 0 or -ENOMEM.
 */
__attribute__((warn_unused_result)) int greenlet_dump_read(struct greenlet_dump *greenlets,
							   struct target *target,
							   const struct python_thread_list *threads,
							   struct local_dump *locals);

/* Names and lines of the frames of those that are suspended. 0 or -ENOMEM. */
__attribute__((warn_unused_result)) int greenlet_dump_show(struct greenlet_dump *greenlets,
							   struct source_cache *sources);
void greenlet_dump_deinit(struct greenlet_dump *greenlets);

#endif
