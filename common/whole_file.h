/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PIEPROFD_COMMON_WHOLE_FILE_H
#define PIEPROFD_COMMON_WHOLE_FILE_H

#include <stddef.h>
#include <sys/types.h>

/*
 * Up to size bytes from where fd is, an interrupted read tried again. How many,
 * less than size at the end of the file, or a negative errno.
 */
__attribute__((warn_unused_result)) ssize_t whole_file_fill(int fd, void *bytes, size_t size);

/*
 * All of a file, up to limit bytes, which its size need not tell (in /proc it
 * does not). *ret_text is the caller's to free and has a NUL behind *ret_size
 * bytes. 0, -ENOMEM, or what open and read said.
 */
__attribute__((warn_unused_result)) int whole_file_read(const char *path, size_t limit,
							char **ret_text, size_t *ret_size);

#endif
