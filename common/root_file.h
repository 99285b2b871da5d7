/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one way to open a file whose name somebody else has chosen: the target
 * (sources, ELF and debug files, perf maps) or a recording. Every name and link
 * on the way was made by somebody who is not trusted.
 *
 * - Links are followed as a process in that root would follow them, so that none
 *   leads out of it: by openat2(2), or name by name where the kernel, or a filter
 *   of system calls, has no such call.
 * - A file is opened for reading only when it is known to be a regular one: to
 *   open a FIFO can block, and to open a device can act.
 * - No lease is broken: its holder would get a signal, and have us wait.
 *
 * The rights are the calling thread's. Whoever opens files for a target passes
 * the target's own rights by a file_opener (attach/target_files.h).
 */
#ifndef PIEPROFD_COMMON_ROOT_FILE_H
#define PIEPROFD_COMMON_ROOT_FILE_H

#define ROOT_OWN (-1) /* in place of a directory: our own root */

/* What to do when the path itself, not a folder on the way, is a symbolic link. */
enum root_link {
	ROOT_LINK_FOLLOW,
	ROOT_LINK_REFUSE
};

/*
 * Opens an absolute path for reading below the directory behind the descriptor
 * root. A descriptor the caller closes, or a negative errno: -ELOOP a link
 * that is to be refused or one too many, -EINVAL no absolute path or no regular
 * file, -EAGAIN a lease is held on it.
 */
__attribute__((warn_unused_result)) int root_file_open(int root, const char *path,
						       enum root_link link);

/* The same without openat2(2): for older kernels, and for tests. */
__attribute__((warn_unused_result)) int root_file_open_by_steps(int root, const char *path,
								enum root_link link);

/* A regular file behind a link of the kernel's in /proc, such as map_files/: it leads out of any
 * root. */
__attribute__((warn_unused_result)) int root_file_open_magic(const char *path);

/* Opens as root_file_open() does, with somebody's rights. open NULL: with our own. */
struct file_opener {
	int (*open)(void *context, int root, const char *path, enum root_link link);
	void *context;
};

__attribute__((warn_unused_result)) int file_opener_open(const struct file_opener *opener, int root,
							 const char *path, enum root_link link);

#endif
