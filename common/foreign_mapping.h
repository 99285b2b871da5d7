/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that others may write, mapped into this process. A page of such a file
 * that is no longer there when it is read (the file was truncated, or its disk
 * fails) raises SIGBUS, which would end the daemon. So a handler puts zeros in
 * the place of that page and of all behind it in the mapping, and counts. To
 * a parser they are one more hostile content.
 *
 *   | pages of the file                          | zero page |
 *   ^ bytes                               size ^
 *
 * The page behind the file is always there: whatever text a file ended with
 * when it was checked, reading it ends there at the latest.
 *
 * What is read twice may differ: the file's writer goes on writing. Whoever
 * checks must copy first, or be sure of each read by itself.
 *
 * The handler is the process's: it is seen to with each new mapping, and
 * passes on what is not in a mapping of this kind. Mappings may be opened,
 * closed and read by any thread; each one by one thread at a time.
 */
#ifndef PIEPROFD_COMMON_FOREIGN_MAPPING_H
#define PIEPROFD_COMMON_FOREIGN_MAPPING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Each with the page behind it and one lost part are three quarters of the maps of a process. */
#define FOREIGN_MAPPINGS_MAX 16384

struct foreign_mapping {
	uint8_t *bytes; /* NULL: none */
	size_t size;
	size_t slot; /* in the table of all mappings */
};

/*
 * Maps the first size bytes of the regular file behind fd (not closed here),
 * for reading. 0; -EINVAL, size is 0 or too large; -ENOEXEC, a file of huge
 * pages, which are not mapped page by page; -EMFILE, FOREIGN_MAPPINGS_MAX are
 * open; what mmap said.
 */
__attribute__((warn_unused_result)) int foreign_mapping_open(int fd, size_t size,
							     struct foreign_mapping *ret_mapping);
/* Nothing happens when bytes is NULL. */
void foreign_mapping_close(struct foreign_mapping *mapping);

/* From now on it may also be written, privately. 0 or a negative errno. */
__attribute__((warn_unused_result)) int foreign_mapping_allow_writing(
	struct foreign_mapping *mapping);

/* Whether pages were gone when they were read. */
bool foreign_mapping_has_lost(const struct foreign_mapping *mapping);

/* Lets SIGBUS through in this thread, and those it starts: blocked, it would end the process. */
void foreign_mapping_unblock_signal(void);

#endif
