/* SPDX-License-Identifier: Apache-2.0 */
/* How many files the daemon may open. */
#ifndef PIEPROFD_DAEMON_CLI_FILE_LIMIT_H
#define PIEPROFD_DAEMON_CLI_FILE_LIMIT_H

/* As many as it may: six descriptors for each thread of the target. */
void file_limit_raise(void);

#endif
