/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes that repeated searches (process_search.h) have found to be no Python, so that the next
 * search passes over them: to tell takes their memory map, to see that they run the same program
 * one system call. Who runs another program is looked at anew, and so is, ever more seldom, who may
 * have loaded a libpython meanwhile: after as long as it was known before, a minute at most.
 *
 *   strangers_begin(&strangers, now_ns);
 *   for each process:
 *           if (strangers_pass(&strangers, pid))
 *                   continue;
 *           if (it is no Python)
 *                   strangers_add(&strangers);
 *   strangers_end(&strangers);
 */
#ifndef PIEPROFD_DAEMON_SESSION_STRANGERS_H
#define PIEPROFD_DAEMON_SESSION_STRANGERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* More are looked at each time. */
#define STRANGERS_MAX 65536
/* Of those known, in a search. */
#define STRANGERS_LOOKS_MAX 4
#define STRANGERS_PAUSE_MAX (60 * 1000000000ull)

struct stranger {
	pid_t pid;
	dev_t device; /* of the program it runs */
	ino_t inode;
	uint64_t since_ns, next_look_ns;
};

struct stranger_list {
	struct stranger *items;
	size_t count, capacity;
};

/* All zeros: none. Those that a search does not meet are forgotten. */
struct strangers {
	struct stranger_list met, before; /* by this search; by the one before it, by pid */
	uint64_t now_ns;
	struct stranger asked; /* for, last; inode 0: what it runs cannot be told */
	size_t looks;          /* of those known, in this search */
	pid_t looked_until;    /* the next search goes on behind it */
};

void strangers_deinit(struct strangers *strangers);

void strangers_begin(struct strangers *strangers, uint64_t now_ns);
/* Whether nothing is to be looked at in it. */
bool strangers_pass(struct strangers *strangers, pid_t pid);
/* The one that was asked for last is no Python. Without memory it is looked at again. */
void strangers_add(struct strangers *strangers);
void strangers_end(struct strangers *strangers);

#endif
