/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where iterators have got to: those of the interpreter's own types, by the
 * fields behind their heads. What is not known stays unknown.
 */
#ifndef PIEPROFD_PYINTROSPECT_ITERATOR_H
#define PIEPROFD_PYINTROSPECT_ITERATOR_H

#include "common/address.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct python_runtime;

#define OPERAND_FRAMES_MAX 4
#define OPERAND_LOOPS_MAX  4 /* the innermost ones of a frame */

enum iterator_kind {
	ITERATOR_OTHER,    /* generators, and everything that is not known */
	ITERATOR_SEQUENCE, /* of list, tuple, str, bytes; and of all with __getitem__ */
	ITERATOR_REVERSED,
	ITERATOR_RANGE,
	ITERATOR_ENUMERATE,
	ITERATOR_ZIP,
	ITERATOR_MAP,
	ITERATOR_FILTER,
	ITERATOR_DICT,
	ITERATOR_SET,
};

#define ITERATOR_UNKNOWN (-1)

struct operand_iterator {
	remote_addr object; /* from 3.15 on the list or tuple itself, where there is no iterator */
	uint32_t head;      /* offset of the loop's FOR_ITER */
	uint8_t kind;
	bool position_known;
	/*
	 * Differs from round to round. The index of the element that comes next
	 * (REVERSED: falling); RANGE from 3.12 on: the number that comes next;
	 * DICT, SET: its place in the table; ZIP, MAP, FILTER: of the first iterator.
	 */
	int64_t position;
	int64_t remaining; /* elements that are still to come, or ITERATOR_UNKNOWN */
	/* What it goes over: a sequence, dict or set, by way of enumerate() and its like, too; 0:
	 * not known. */
	remote_addr container;
};

/* From here on a loop over a list or tuple keeps it with an index, and has no iterator. */
#define ITERATOR_FIRST_MINOR_INDEXED 15

#define ITERATOR_TYPES_MAX 64

/* Types seen before; those of the interpreter's own never go away. Zeroed at first. */
struct iterator_types {
	struct {
		remote_addr type;
		uint8_t layout; /* iterator.c */
	} items[ITERATOR_TYPES_MAX];
	size_t next;
};

/*
 * Fills what is to be known of iterators whose object is known; in a few system
 * calls for all of them. 0 or what the memory reader said.
 */
__attribute__((warn_unused_result)) int iterators_read(const struct python_runtime *runtime,
						       struct iterator_types *types,
						       struct operand_iterator *const *iterators,
						       size_t count);

#endif
