/* SPDX-License-Identifier: Apache-2.0 */
/* What is pushed where (push.h), and what became of it. */
#ifndef PIEPROFD_DAEMON_PUSH_PUSH_OPTIONS_H
#define PIEPROFD_DAEMON_PUSH_PUSH_OPTIONS_H

#include "daemon/push/push_protocol.h"
#include "daemon/push/push_url.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PUSH_HEADERS_MAX 16

struct push_options {
	enum push_protocol protocol;
	struct push_url url;
	const char *headers[PUSH_HEADERS_MAX]; /* "NAME: VALUE", borrowed until it is started */
	unsigned header_count;
	/* Certificates of authorities to trust instead of the system's, PEM, likewise; NULL: those.
	 */
	const char *authorities;
	size_t authorities_size;
	const char *spool;   /* a folder; NULL: a temporary one */
	const char *service; /* service.name; NULL: told from each process */
	/* Have the process that begins the sender, and the sender, do no more than that. 0 or a
	 * negative errno: nothing is begun. */
	int (*confine_keeper)(void);
	int (*confine)(void);
};

/* Why requests will not be sent. */
enum push_loss {
	PUSH_LOSS_ROOM,      /* they had to give way to newer ones in the spool */
	PUSH_LOSS_UNWRITTEN, /* the spool could not take them: no room, too large */
	PUSH_LOSS_DAMAGED,   /* a file of the spool is not whole */
	PUSH_LOSS_MADE,      /* there was no memory to make them */
	PUSH_LOSS_SENDER,    /* the process that sends did not take them */
	PUSH_LOSS_REFUSED,   /* by the receiver, for good */
	PUSH_LOSS_COUNT
};

/* "room", "unwritten", ...: for /metrics. */
const char *push_loss_name(enum push_loss loss);

/* Shared with the sender; only grow, but for the last three. */
struct push_counts {
	uint64_t taken;       /* requests */
	uint64_t taken_bytes; /* as sent */
	uint64_t failures;    /* tries that are made again */
	uint64_t lost[PUSH_LOSS_COUNT];
	uint64_t rejected; /* profiles of requests that were taken */
	uint64_t restarts; /* of the sender */
	uint64_t waiting;  /* requests, */
	uint64_t waiting_bytes;
	uint64_t taken_unix_ns; /* when the last one was; 0: never */
};

#endif
