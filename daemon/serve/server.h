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
 * Takes over the listener's descriptor. Its threads have a filter of system calls
 * (daemon/confinement.h) unless unconfined, which who downloads debug files needs.
 * NULL: out of memory or threads.
 */
struct server *server_start(struct endpoint *endpoint, const struct listener *listener,
			    bool unconfined);

/* Whether its threads will have that filter: as confinement_filter_http() returns it. */
__attribute__((warn_unused_result)) int server_try_filter(void);

/* Every second or so: closes connections that are over their time. */
void server_reap(struct server *server);

/* How many are being answered. */
unsigned server_busy(struct server *server);

/* No new connections. */
void server_quiesce(struct server *server);
/* Closes all connections; no window may be waited for any more (sampler_refuse()). */
void server_stop(struct server *server);

#endif
