/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files in a root that may not be ours: the target's, by /proc/PID/root. Every
 * name and link in it was made by somebody we do not trust. Links are followed
 * as the target would follow them, so that none leads out of its root, and
 * only regular files are opened: opening a FIFO blocks, a device may act.
 */
#ifndef PIEPROFD_SYMBOLIZE_ROOT_FILE_H
#define PIEPROFD_SYMBOLIZE_ROOT_FILE_H

#define ROOT_OWN (-1) /* in place of a directory: our own root */

/* What to do when the path itself, not a folder on the way, is a symbolic link. */
enum root_link {
	ROOT_LINK_FOLLOW,
	ROOT_LINK_REFUSE
};

/*
 * Opens an absolute path for reading below the directory behind the descriptor
 * root. A descriptor the caller closes, or a negative errno: -ELOOP a link
 * that is to be refused, -EINVAL no absolute path or no regular file, -ENOSYS
 * a kernel before 5.6.
 */
__attribute__((warn_unused_result)) int root_file_open(int root, const char *path,
						       enum root_link link);

#endif
