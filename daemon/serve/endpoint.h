/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is answered to a request: the routes, who may have them, and their
 * limits. Knows nothing of sockets (server.h).
 *
 *   GET  /                            the HTML report, of what the session has seen
 *   GET  /debug/pprof/                what there is
 *   GET  /debug/pprof/profile         CPU time            ?seconds=30
 *   GET  /debug/pprof/redundancy      redundant accesses  ?seconds=30
 *   GET  /debug/fgprof                wall time           ?seconds=30
 *   GET  /debug/pprof/heap            live bytes by holder, now
 *   GET  /metrics, /healthz
 *   GET  /control/status
 *   POST /control/start, /control/stop, /control/snapshot ?format=recording
 *
 * HEAD goes where GET does. With a token, everything but /healthz wants it, but
 * on a Unix socket, whose mode decides. /control is for the Unix socket and the
 * token alone: any local user, or web page, could ask a port. A page cannot read the
 * answer, unless its own name is made to resolve to 127.0.0.1; the check of Host finds
 * such requests.
 */
#ifndef PIEPROFD_DAEMON_SERVE_ENDPOINT_H
#define PIEPROFD_DAEMON_SERVE_ENDPOINT_H

#include "daemon/push/push.h"
#include "daemon/serve/body.h"
#include "daemon/serve/heap_looks.h"
#include "daemon/serve/listener.h"
#include "daemon/serve/metrics.h"
#include "daemon/serve/token.h"

#define ENDPOINT_SECONDS_MAX 300
#define ENDPOINT_PAGES_MAX   4 /* reports and snapshots made or sent at a time */

struct endpoint {
	struct sampler *sampler;
	const struct session_options *session; /* what is sampled */
	const struct listener *listener;
	struct heap_looks *heap;
	const struct push *push; /* NULL: nothing is pushed */
	struct token token;
	struct request_counts requests;
	unsigned windows, pages; /* atomic: made, or not yet sent */
};

struct request {
	const char *method;
	const char *path;
	const char *host;          /* of its header; NULL: none */
	const char *authorization; /* likewise */
	bool has_body;
	/* Of the query; NULL: none. */
	const char *(*argument)(void *context, const char *name);
	/* Whether the client has gone. */
	bool (*gone)(void *context);
	void *context;
};

struct answer {
	unsigned status; /* 0: nobody is there to hear it */
	const char *content_type;
	const char *allow;    /* for 405; NULL */
	const char *filename; /* to save it as; NULL */
	unsigned retry_s;     /* when to come again; 0: as the status has it */
	bool is_page;
	struct body body;
	size_t route;   /* for the counters */
	unsigned *held; /* counter of what it takes up; NULL: nothing */
};

/* May take as long as the window asked for. Any thread. */
void endpoint_answer(struct endpoint *endpoint, const struct request *request,
		     struct answer *ret_answer);

/* When it was sent, or will not be. Counts the request; frees the body. */
void endpoint_finish(struct endpoint *endpoint, struct answer *answer);

#endif
