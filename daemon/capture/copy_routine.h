/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The code by which a process copies memory: memcpy, memmove and mempcpy of its C library, of which
 * glibc has some ten each and chooses one for the processor.
 */
#ifndef PIEPROFD_DAEMON_CAPTURE_COPY_ROUTINE_H
#define PIEPROFD_DAEMON_CAPTURE_COPY_ROUTINE_H

#include "daemon/capture/target.h"

/*
 * Reads, nothing else; never while a thread is stopped. False: none was found, as in programs
 * that are linked without a library.
 */
bool copy_routine_find(struct target *target, struct address_ranges *ret_code);

/*
 * Of a thread in that code: about how many bytes the copy has that it is at. By where it began,
 * how far it is and what is left of it, as far as registers tell: glibc's and musl's have them
 * where the calling convention puts them.
 */
uint64_t copy_routine_size(const struct target *target, const struct registers *registers);

#endif
