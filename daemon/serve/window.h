/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A request's part of the one profile: from when it is opened until it is
 * closed. Each is one thread's; any number up to WINDOWS_MAX at a time.
 *
 * A watch counts in the window in which it ends, and the durations of an origin's
 * native calls are those of the whole session.
 */
#ifndef PIEPROFD_DAEMON_SERVE_WINDOW_H
#define PIEPROFD_DAEMON_SERVE_WINDOW_H

#include "daemon/serve/sampler.h"

struct window;

/* 0, -EAGAIN: nothing is sampled now, -EBUSY: too many, or -ENOMEM. */
__attribute__((warn_unused_result)) int window_open(struct sampler *sampler,
						    struct window **ret_window);

/*
 * Until so long after it was opened, or the session's end; gone(context) is asked
 * now and then whether anybody still wants it. 0, or -ECANCELED: nobody does.
 */
__attribute__((warn_unused_result)) int window_wait(struct window *window, uint64_t duration_ns,
						    bool (*gone)(void *context), void *context);

/* What was seen since it was opened or last renewed, to put, if there was anything: the window goes
 * on from there, and nothing is lost between the two or in both. 0, -ENOMEM: it can only be closed;
 * or what put said. */
int window_renew(struct window *window, sampler_put *put, void *context);

/* What was seen, to put; NULL: it is not wanted. Frees the window. 0, -ENOMEM or what put said. */
int window_close(struct window *window, sampler_put *put, void *context);

#endif
