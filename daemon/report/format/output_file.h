/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that are whole or not there: written without a name, or beside the old
 * one, and put in its place at the end. Killed at any moment, the old file is
 * as it was, and as a rule nothing else lies beside it.
 */
#ifndef PIEPROFD_DAEMON_REPORT_FORMAT_OUTPUT_FILE_H
#define PIEPROFD_DAEMON_REPORT_FORMAT_OUTPUT_FILE_H

#include <stdbool.h>
#include <stdio.h>

/*
 * Mode 0600, owned by SUDO_UID when run under sudo; "-" is stdout. A FIFO or
 * device is written to, a symbolic link refused with -ELOOP, a folder with
 * -EISDIR. put returns 0 or a negative errno, -EIO where ferror() tells that the
 * stream failed. 0 or a negative errno; on failure the old file is untouched.
 */
__attribute__((warn_unused_result)) int output_file_write(const char *path,
							  int (*put)(void *context, FILE *file),
							  void *context);

/*
 * Could it be written, as far as can be told without writing it? 0, or the negative errno that
 * output_file_write() would meet. Nothing is left behind.
 */
__attribute__((warn_unused_result)) int output_file_check(const char *path);

/* Would it be replaced as a whole, so that it can be written again and again? */
bool output_file_is_replaced(const char *path);

#endif
