/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HTTP, by libmicrohttpd: a thread for each connection, so that whoever waits
 * for a profile, or reads one slowly, holds up nobody; none of them ever meets
 * the thread that samples.
 *
 * A connection has so long to send its request and to take its answer, however
 * busy it seems meanwhile: libmicrohttpd's own limits are for silence alone.
 */
#ifndef PIEPROFD_DAEMON_SERVE_SERVER_H
#define PIEPROFD_DAEMON_SERVE_SERVER_H

#include "daemon/serve/endpoint.h"

#define SERVER_CONNECTIONS_MAX 64
/* Each; the request line and all headers have to fit. */
#define SERVER_HEADER_BYTES_MAX (16u << 10)

struct server;

/*
 * Has the calling thread, and those that it makes, do no more than answer. 0, or a
 * negative errno: it cannot be had, and nothing must be answered.
 */
typedef int server_confine(void);

/*
 * Takes over the listener's descriptor. confine: for its threads; NULL: they stay as
 * they are. NULL: out of memory or threads.
 */
struct server *server_start(struct endpoint *endpoint, const struct listener *listener,
			    server_confine *confine);

/* Whether its threads can be confined: in a thread of its own. As confine() returns it. */
__attribute__((warn_unused_result)) int server_try_filter(server_confine *confine);

/* Every second or so: closes connections that are over their time. */
void server_reap(struct server *server);

/* How many are being answered. */
unsigned server_busy(struct server *server);

/* No new connections. */
void server_quiesce(struct server *server);
/* Closes all connections; no window may be waited for any more (sampler_refuse()). */
void server_stop(struct server *server);

#endif
