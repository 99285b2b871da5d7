/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread that opens files with the rights of somebody else: a target names
 * its sources itself, and must not have us read for it what it may not read.
 *
 * User and group ids of file access, groups and capabilities are a thread's own
 * in Linux. The thread keeps, of what the daemon may do at the time of
 * impersonator_create(), CAP_SETUID and CAP_SETGID, and the rights over files
 * for targets that have them; all other threads may give these up. It runs
 * nothing but opening: a file system that never answers holds up this thread
 * alone, and who asked is told so after IMPERSONATOR_WAIT_NS.
 */
#ifndef PIEPROFD_ATTACH_IMPERSONATOR_H
#define PIEPROFD_ATTACH_IMPERSONATOR_H

#include "attach/credentials.h"
#include "common/clock.h"
#include "common/root_file.h"

#define IMPERSONATOR_WAIT_NS (2 * NS_PER_SECOND)
/* No error of a file's: we may not act with these rights, so nothing was opened. */
#define IMPERSONATOR_REFUSED (-EKEYREJECTED)

struct impersonator;

/* NULL: no memory, or no thread could be made. Before capabilities are given up. */
struct impersonator *impersonator_create(void);
void impersonator_destroy(struct impersonator *impersonator);

/*
 * root_file_open() with these rights. From any thread. A descriptor that the
 * caller closes; IMPERSONATOR_REFUSED; -ETIMEDOUT: the file system has not
 * answered, or still not the request before; or an error of root_file_open().
 * impersonator NULL, or another process's: IMPERSONATOR_REFUSED.
 */
__attribute__((warn_unused_result)) int impersonator_open(struct impersonator *impersonator,
							  const struct process_credentials *as,
							  int root, const char *path,
							  enum root_link link);

#endif
