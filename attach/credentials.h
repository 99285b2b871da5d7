/* SPDX-License-Identifier: Apache-2.0 */
/* With what rights a process opens files. What /proc tells of them is hostile, as all of it is. */
#ifndef PIEPROFD_ATTACH_CREDENTIALS_H
#define PIEPROFD_ATTACH_CREDENTIALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PROCFS_GROUPS_MAX 1024

/* Ids as our user namespace has them. */
struct process_credentials {
	uid_t user; /* of file access (fsuid) */
	gid_t group;
	uid_t other_users[3]; /* real, effective, saved */
	gid_t other_groups[3];
	gid_t groups[PROCFS_GROUPS_MAX]; /* supplementary */
	size_t group_count;
	bool groups_cut; /* it has more */
	/* None where its user namespace is not ours: there they are rights over other files. */
	uint64_t capabilities; /* effective */
	uint64_t permitted;
};

/*
 * Of the calling thread, which may take up permitted ones again. None is inheritable, nor
 * ambient. 0 or a negative errno.
 */
int credentials_set_capabilities(uint64_t effective, uint64_t permitted);

/*
 * Whether a process that had the one may have come to the other without a set-id
 * program: it may give rights up, and change to what it has kept in reserve.
 */
bool process_credentials_may_become(const struct process_credentials *before,
				    const struct process_credentials *after);

/* Of the main thread. 0, -ESRCH when it is gone (a zombie is not), or a negative errno. */
__attribute__((warn_unused_result)) int procfs_read_credentials(
	pid_t pid, struct process_credentials *ret_credentials);

/* The same from the text of status, ended by a NUL, with all capabilities that it tells; for the
 * reader above and tests. -EPROTO: no such text. */
__attribute__((warn_unused_result)) int procfs_parse_credentials(
	const char *text, struct process_credentials *ret_credentials);

#endif
