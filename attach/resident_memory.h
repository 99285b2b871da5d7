/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much of a process's memory is resident, how many page faults it had, and how large the page
 * is that an address lies in: by /proc alone, which the process does not notice.
 *
 * A huge page is one fault and 512 times as much memory. Linux 6.7 and later say of any page
 * whether it is one (PAGEMAP_SCAN); before, pages that follow each other in physical memory tell,
 * which only root may see.
 */
#ifndef PIEPROFD_ATTACH_RESIDENT_MEMORY_H
#define PIEPROFD_ATTACH_RESIDENT_MEMORY_H

#include "common/address.h"

#include <sys/types.h>

#define PAGE_SMALL_BYTES 4096u
#define PAGE_HUGE_BYTES  (2u << 20)

/* Resident now, shared pages included. 0, -ESRCH: it is gone, or a negative errno. */
__attribute__((warn_unused_result)) int resident_memory_read(pid_t pid, uint64_t *ret_bytes);

/* The most that it ever was (VmHWM). Likewise. */
__attribute__((warn_unused_result)) int resident_memory_read_peak(pid_t pid, uint64_t *ret_bytes);

/* Page faults of all its threads since it began, those in the kernel's code included. Likewise. */
__attribute__((warn_unused_result)) int resident_memory_read_faults(pid_t pid,
								    uint64_t *ret_faults);

/* The texts of these files; for the readers above and tests. -EPROTO: no such text. */
__attribute__((warn_unused_result)) int resident_memory_parse(const char *statm,
							      uint64_t *ret_bytes);
__attribute__((warn_unused_result)) int resident_memory_parse_faults(const char *stat,
								     uint64_t *ret_faults);

/* To ask for sizes of pages. A descriptor or a negative errno. */
int page_map_open(pid_t pid);

/* PAGE_SMALL_BYTES or PAGE_HUGE_BYTES. 0, -ENOENT: there is no page, not yet or no longer; or
 * another negative errno: the kernel does not tell. */
__attribute__((warn_unused_result)) int page_map_size(int page_map, remote_addr address,
						      uint64_t *ret_bytes);

#endif
