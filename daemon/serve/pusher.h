/* SPDX-License-Identifier: Apache-2.0 */
/* Windows of the one profile, one after another and with nothing between them, to a receiver
 * (push.h): a thread that any number of clients beside it does not disturb. */
#ifndef PIEPROFD_DAEMON_SERVE_PUSHER_H
#define PIEPROFD_DAEMON_SERVE_PUSHER_H

#include "daemon/push/push.h"
#include "daemon/serve/sampler.h"

struct pusher;

/* confine: for its thread; NULL: it stays as it is. All are borrowed until the end. NULL: out of
 * memory or threads. */
struct pusher *pusher_start(struct sampler *sampler, struct push *push, uint64_t every_ns,
			    int (*confine)(void));

/* Before sampler_refuse(); what is left is pushed. NULL: nothing. */
void pusher_stop(struct pusher *pusher);

#endif
