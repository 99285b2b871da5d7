/* SPDX-License-Identifier: Apache-2.0 */
/* co_exceptiontable of 3.11+: which handler is for which part of the code. Pure. */
#ifndef PIEPROFD_PYINTROSPECT_EXCEPTION_TABLE_H
#define PIEPROFD_PYINTROSPECT_EXCEPTION_TABLE_H

#include <stdbool.h>
#include <stdint.h>

struct exception_entry {
	uint32_t start,
		target; /* byte offsets of the part's first instruction and of the handler */
	int depth;      /* values on the stack that the handler finds */
};

/* No entry's offsets or depth are larger. */
#define EXCEPTION_ENTRY_OFFSET_MAX (1u << 20)
#define EXCEPTION_ENTRY_DEPTH_MAX  (1 << 16)

/* The entry at *position, which is moved behind it. False when there is none. */
bool exception_table_next(const uint8_t **position, const uint8_t *end,
			  struct exception_entry *ret_entry);

#endif
