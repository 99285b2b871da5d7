/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the daemon gives up once it no longer needs it: capabilities, the right
 * to gain any by exec, and system calls. docs/PRIVILEGES.md has the tables for
 * people.
 *
 * A filtered call fails with EPERM rather than kill: the part that met it ends
 * with words, through the error handling that it has anyway, and what is
 * written by then stays whole. clone3(2) fails with ENOSYS, upon which the C
 * library uses clone(2).
 *
 * Capabilities and filters are a thread's own, and are passed on to the threads
 * that it makes later.
 */
#ifndef PIEPROFD_DAEMON_CLI_CONFINEMENT_H
#define PIEPROFD_DAEMON_CLI_CONFINEMENT_H

#include "common/error.h"

#include <stdbool.h>
#include <stddef.h>

enum confinement_need {
	CONFINEMENT_NOTHING = 0,
	CONFINEMENT_READS_TARGETS = 1 << 0, /* attaches to processes, reads them and their files */
	CONFINEMENT_WRITES_FILES = 1 << 1,  /* reports, anywhere, for the user of sudo */
	CONFINEMENT_SIGNALS = 1 << 2,       /* processes of other users */
	CONFINEMENT_PROBES = 1 << 3, /* sets probes as perf events in the code of processes */
	CONFINEMENT_EVENTS = 1 << 4, /* opens other perf events: clocks, breakpoints */
};

/*
 * Keeps of the thread's capabilities those that serve the needs, and forbids
 * to gain any by exec: to be called when all commands are started.
 *
 * A reader of targets without CAP_SYS_PTRACE keeps all: the kernel lets it read
 * those that have no capability which it lacks. For events, CAP_SYS_ADMIN stays where
 * the kernel opens none without it.
 *
 * 0, or a negative errno: something was not given up.
 */
__attribute__((warn_unused_result)) int confinement_give_up(unsigned needs);

/* Paths of the files that a command reads and writes. */
struct confinement_files {
	const char *const *read;
	size_t read_count;
	const char *const *written;
	size_t written_count;
};

/*
 * Before a file is read: all capabilities are given up, unless these files are
 * only to be had with those about files, which then stay. Returns as above.
 */
__attribute__((warn_unused_result)) int confinement_give_up_for_files(
	const struct confinement_files *files);

/*
 * Filters of system calls, for this thread and those that it makes. 0; -ENOTSUP:
 * the kernel has none, or this build, as sanitizers need more calls; or another
 * negative errno.
 *
 * The first is for a process that reads and writes files: no network, no other
 * process, no program, no code made at run time.
 */
__attribute__((warn_unused_result)) int confinement_filter_files(void);

/*
 * For a thread that answers over sockets made before: it may accept, read and
 * write them, open files for reading alone, make threads, and signal its own
 * process. It makes no sockets, runs no program, traces nobody, and changes no
 * file. reads_target: it may read processes' memory, for one that builds
 * profiles itself.
 */
__attribute__((warn_unused_result)) int confinement_filter_http(bool reads_target);

/*
 * For a process that reads and writes files and connects to others: no other process, no program,
 * no code made at run time.
 */
__attribute__((warn_unused_result)) int confinement_filter_sender(void);
/* For the process that begins such processes, gives them up their rights, and waits for them. */
__attribute__((warn_unused_result)) int confinement_filter_keeper(void);

/* Not so where the kernel or the build has no filters. Who cannot be confined goes no further. */
bool confinement_has_failed(int result);
/* What a person is told of a negative errno of the above. */
void confinement_explain(int failure, struct error *error);

#endif
