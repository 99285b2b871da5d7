/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading the target's memory, whoever does it: process_vm_readv on a live
 * process (attach/), a corrupted image in a test, a core file one day.
 */
#ifndef PIEPROFD_COMMON_MEMORY_H
#define PIEPROFD_COMMON_MEMORY_H

#include "common/address.h"

struct memory_range {
	remote_addr address;
	void *buffer; /* receives size bytes */
	size_t size;
	int error; /* out: 0, or a negative errno (-EFAULT: not all bytes are mapped) */
};

struct memory_reader {
	/*
	 * Reads every range in as few system calls as it can and sets each
	 * range's error. Returns 0 when the target could be asked at all (single
	 * ranges may have failed), else a negative errno (-ESRCH: it is gone).
	 */
	int (*read)(void *context, struct memory_range *ranges, size_t count);
	void *context;
};

/* Reads a batch; see memory_reader.read. */
__attribute__((warn_unused_result)) int memory_read_ranges(const struct memory_reader *reader,
							   struct memory_range *ranges,
							   size_t count);

/* Reads one piece, all of it or an error: -EFAULT, -ESRCH, -EPERM. */
__attribute__((warn_unused_result)) int memory_read(const struct memory_reader *reader,
						    remote_addr address, void *buffer, size_t size);

/* Reads one 8-byte word; on failure *ret_value is untouched. */
__attribute__((warn_unused_result)) int memory_read_u64(const struct memory_reader *reader,
							remote_addr address, uint64_t *ret_value);

#endif
