/* SPDX-License-Identifier: Apache-2.0 */
/* Is what the later access found the same as what the earlier one left? Pure. */
#ifndef PIEPROFD_DAEMON_DETECT_VERDICT_H
#define PIEPROFD_DAEMON_DETECT_VERDICT_H

#include "common/address.h"
#include "daemon/cct/pair_table.h"

#define VERDICT_EPSILON 0.01

/*
 * Compares size bytes (1 to 8). element_size 4 or 8 says they hold floats,
 * 0 that they do not. Floats are compared by their bits first; unequal ones
 * count as approximate when |a - b| <= 1% of the larger; a NaN is never
 * approximately anything.
 */
enum access_verdict verdict_compare(const uint8_t *before, const uint8_t *after, size_t size,
				    unsigned element_size);

/*
 * The watchpoint for an access: the largest of 8, 4, 2, 1 bytes that fits
 * inside [address, address + size) at an address that is a multiple of it.
 */
struct address_range verdict_watch_range(remote_addr address, uint32_t size);

#endif
