/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which containers have more and more in them, by who holds them: looks at the memory of the
 * process (daemon/heap), in a thread of their own beside the session, which stop nothing.
 *
 *   look  ...... look  ...... look       a look takes a twentieth of a processor at most,
 *                                        and meanwhile as much memory as the process has
 */
#ifndef PIEPROFD_DAEMON_TOP_HOLDERS_H
#define PIEPROFD_DAEMON_TOP_HOLDERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define TOP_HOLDERS_MAX   3
#define TOP_HOLDER_BYTES  256
#define TOP_REFUSAL_BYTES 384
/* Of which none can tell growth from chance. */
#define TOP_LOOKS_LEAST 4

struct impersonator;
struct top_holders;

struct top_holder {
	char words[TOP_HOLDER_BYTES]; /* "app.cache (dict)"; names of the target, as they are */
	double per_s;                 /* entries */
	uint64_t length;
};

struct top_growth {
	uint64_t looks;  /* that were taken */
	uint64_t end_ns; /* CLOCK_MONOTONIC, of the last one, */
	uint64_t took_ns;
	uint64_t next_ns; /* and when the next one begins */
	size_t count;     /* those that grow, most bytes first */
	struct top_holder items[TOP_HOLDERS_MAX];
	char refusal[TOP_REFUSAL_BYTES]; /* why there are no more looks; "": there are */
};

/* Begins to look at the process. NULL: no memory, or no thread. */
struct top_holders *top_holders_create(pid_t pid, struct impersonator *impersonator);

/* A look that is under way ends first, within moments. */
void top_holders_destroy(struct top_holders *holders);

/* What is known now. */
void top_holders_read(struct top_holders *holders, struct top_growth *ret_growth);

#endif
