/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Python processes of this machine, as far as /proc shows them to us. Told
 * by what is mapped into them, not by names: renamed programs and embedded
 * interpreters are found, too. Nothing is attached, no memory is read but where
 * an interpreter has lost its symbols.
 *
 * Every file is looked into once, however many processes map it: 500 workers
 * of a server cost little more than their 500 maps.
 */
#ifndef PIEPROFD_DAEMON_INSPECT_PROCESS_LIST_H
#define PIEPROFD_DAEMON_INSPECT_PROCESS_LIST_H

#include "attach/container.h"
#include "common/error.h"
#include "pyintrospect/runtime.h"

#include <stdbool.h>

#define PROCESS_LIST_MAX        65536
#define PROCESS_LIST_DENIED_MAX 64

struct impersonator;

struct listed_process {
	pid_t pid;
	pid_t inner_pid; /* as its own pid namespace numbers it */
	uid_t uid;
	char user[33];                 /* a number when it has no name here */
	char name[64];                 /* the kernel's */
	struct python_version version; /* major 0: unknown */
	char *interpreter;             /* path of the file, as the process sees it */
	bool contained;
	struct container container;
	double cpu;           /* processors in use while it was looked at */
	uint64_t cpu_ns;      /* since it began */
	uint64_t running_ns;  /* since it began, by the clock */
	char **command;       /* NULL-terminated; NULL: unknown */
	uint64_t measured_ns; /* when cpu_ns was read */
};

struct process_list {
	struct listed_process *items; /* by pid */
	size_t count;
	size_t seen; /* processes with a program, Python or not */
	/* What could not be looked at: another user's, or more privileged than we are. */
	size_t denied;
	pid_t denied_pythons[PROCESS_LIST_DENIED_MAX]; /* of them, those that are called python */
	size_t denied_python_count;
	size_t unreadable; /* programs that could not be opened */
	bool cut; /* there are more than PROCESS_LIST_MAX, or than the files that are remembered */
};

/*
 * NULL with *error filled. Takes a quarter of a second, to see who uses the processors.
 * impersonator: opens programs where map_files is refused (attach/mapped_file.h); may be NULL.
 */
struct process_list *process_list_take(struct impersonator *impersonator, struct error *error);
/* The same of at most so many: for tests. */
struct process_list *process_list_take_some(size_t most, struct impersonator *impersonator,
					    struct error *error);
void process_list_destroy(struct process_list *list);

#endif
