/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and decodes one code object that was not seen before; the cold path. */
#ifndef PIEPROFD_PYINTROSPECT_CODE_READER_H
#define PIEPROFD_PYINTROSPECT_CODE_READER_H

#include "pyintrospect/code_object.h"
#include "pyintrospect/offsets.h"

/* Line tables and bytecode longer than this are cut: what lies behind has no line. */
#define CODE_TABLE_BYTES_MAX (4u << 20)

struct code_record {
	struct python_code code; /* its pointers lead behind this structure */
	size_t size;             /* of the whole allocation */
	uint64_t hash;           /* of the content */
};

/* Bytes of bytecode by the head of a code object, 3.11+. */
uint64_t code_head_bytecode_size(const struct python_layout *layout, const uint8_t *head);

/* *ret_record is one allocation, freed by the caller. Errors: code_cache_resolve(). */
__attribute__((warn_unused_result)) int code_read(const struct memory_reader *reader,
						  const struct python_layout *layout,
						  remote_addr address, const uint8_t *head,
						  struct code_record **ret_record);

bool code_record_equal(const struct code_record *a, const struct code_record *b);

#endif
