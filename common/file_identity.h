/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which file it is, and in which state: what a later look at the same place must show for the
 * same bytes to be there. Of an open descriptor, so that no name is involved.
 *
 * A file that was written less than FILE_SETTLED_NS ago has none: the kernel's clock for files goes
 * in steps, so that a further change might not show. Nor has a file of a file system in user
 * space, which may say what it likes, also under the device number that another one had before.
 * Whoever may write a file can still change it through a mapping without a trace: of such a file
 * nobody can be sure who reads it, however often.
 */
#ifndef PIEPROFD_COMMON_FILE_IDENTITY_H
#define PIEPROFD_COMMON_FILE_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#define FILE_SETTLED_NS (2 * 1000000000ll)

struct file_identity {
	uint64_t device, inode, size;
	int64_t modified_ns, changed_ns;
	bool known; /* false: it cannot be told, and is like no other */
};

/* status: of fd. */
struct file_identity file_identity_of(int fd, const struct stat *status);
/* The same, with the time of day and the kind of file system given: pure. */
struct file_identity file_identity_at(const struct stat *status, int64_t now_unix_ns,
				      uint64_t file_system);

/* false when either cannot be told. */
bool file_identity_same(const struct file_identity *a, const struct file_identity *b);

#endif
