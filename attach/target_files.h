/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files that a target names: its sources, debug files, the perf map. They
 * are opened in its root and with its own rights, also after it has ended.
 *
 * Its rights are those that it had when it was last seen. A process may give
 * some up while it runs: target_files_look() is to be called now and then, and
 * when it has ended, before anybody reaps it. Rights that only a set-id program
 * can have brought are not the target's: it runs another program by then.
 */
#ifndef PIEPROFD_ATTACH_TARGET_FILES_H
#define PIEPROFD_ATTACH_TARGET_FILES_H

#include "attach/impersonator.h"

#include <limits.h>
#include <pthread.h>

struct target_files {
	pid_t pid;
	uint64_t start_time; /* its number may go to another process */
	int root;            /* descriptor of its root; -1: it cannot be opened */
	struct impersonator *impersonator;
	pthread_mutex_t lock; /* of what follows */
	struct process_credentials credentials;
	bool credentials_known;
	bool same_mounts;         /* as ours */
	bool same_root;           /* it resolves a path to the file that we do */
	char directory[PATH_MAX]; /* its working directory, for relative names */
};

/* While the process lives. impersonator is borrowed; NULL: nothing of the target's is opened. */
void target_files_init(struct target_files *files, pid_t pid, struct impersonator *impersonator);
void target_files_deinit(struct target_files *files);

/* Takes note of what rights the process has now. From any thread; 20 us. */
void target_files_look(struct target_files *files);

/* As file_opener asks for; lives as long as files. */
struct file_opener target_files_opener(struct target_files *files);

/*
 * A source file by the name that the target's code object has for it; context
 * is the target_files. Returns as impersonator_open(); -ESRCH: the target has
 * ended, and with it the mounts that were its own: the name means another file.
 */
int target_files_open_source(void *context, const char *name);

#endif
