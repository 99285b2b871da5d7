/* SPDX-License-Identifier: Apache-2.0 */
/* What is pushed where (push.h), and what became of it. */
#ifndef PIEPROFD_DAEMON_PUSH_PUSH_OPTIONS_H
#define PIEPROFD_DAEMON_PUSH_PUSH_OPTIONS_H

#include "daemon/push/push_url.h"

#include <stdint.h>

#define PUSH_HEADERS_MAX 16

struct push_options {
	struct push_url url;
	const char *headers[PUSH_HEADERS_MAX]; /* "NAME: VALUE", borrowed until it is started */
	unsigned header_count;
	const char *spool;   /* a folder; NULL: a temporary one */
	const char *service; /* service.name; NULL: told from each process */
	/* Has the sender's process do no more than send. 0 or a negative errno: it is not begun. */
	int (*confine)(void);
};

/* Shared with the sender; only grow, but for waiting. */
struct push_counts {
	uint64_t taken;    /* requests */
	uint64_t refused;  /* for good */
	uint64_t failures; /* tries that are made again */
	uint64_t dropped;  /* they had to give way to newer ones, or could not be kept */
	uint64_t waiting;
	uint64_t rejected; /* profiles of requests that were taken */
};

#endif
