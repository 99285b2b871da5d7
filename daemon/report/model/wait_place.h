/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where threads waited, as the program's reader knows it: by the innermost line of
 * the program itself, and by what the functions of the standard library below
 * that line do there, which are known by file and name.
 *
 *   consumer         app.py:14      item = q.get()      the place
 *   Queue.get        queue.py:171                       its role: a queue without work
 *   Condition.wait   threading.py:320                   where WAITING lists it
 *
 * The GIL is waited for everywhere, which is no matter of a place: that is left out.
 * A thread that waits for work is idle, which slows nothing down: such places come
 * last, behind those that wait for another thread, which in turn is slow elsewhere.
 */
#ifndef PIEPROFD_DAEMON_REPORT_MODEL_WAIT_PLACE_H
#define PIEPROFD_DAEMON_REPORT_MODEL_WAIT_PLACE_H

#include "daemon/report/model/profile.h"

/* By rank. */
enum wait_role {
	WAIT_ROLE_BLOCKED_LOOP, /* a call that waits in a callback or task of an event loop */
	WAIT_ROLE_NONE,         /* nothing but the kind of waiting is known */
	WAIT_ROLE_SLEEP,        /* a time that the program has set itself */
	WAIT_ROLE_EVENT,        /* for another thread: until it sets or notifies something */
	WAIT_ROLE_RESULT,       /* has a result */
	WAIT_ROLE_END,          /* ends */
	WAIT_ROLE_QUEUE,        /* idle from here on: a queue without work */
	WAIT_ROLE_POOL,         /* a pool without work */
	WAIT_ROLE_LOOP,         /* an event loop with nothing that is ready */
	WAIT_ROLE_SERVER,       /* a server without a client */
	WAIT_ROLE_NATIVE,       /* a thread without Python */
	WAIT_ROLE_COUNT
};

struct wait_place {
	const struct profile_frame
		*frame; /* of Python, of the profile's tree; NULL: native alone */
	enum wait_role role;
	uint64_t waiting_ns[WAIT_KIND_COUNT];
	uint64_t all_ns; /* their sum */
};

bool wait_role_is_idle(enum wait_role role);

/* What is waited for most there. */
enum wait_kind wait_place_kind(const struct wait_place *place);

/* By rank, then longest first; the caller frees. NULL: no memory. */
struct wait_place *wait_places_find(const struct profile *profile, size_t *ret_count);

#endif
