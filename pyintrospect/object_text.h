/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An object of the target in words, much as its repr() would have it, but told from
 * its memory alone: no code of the target runs.
 *
 *   None, True, -12, 1.5, (1+2j), 'text', b'bytes', [1, 2, ... 998 more], {'a': 1}
 *   Thing([1, 2])           of a type derived from one of these
 *   <Thing 0x7f2e6c1b3d90>  of any other type
 *
 * Numbers, strings and containers are cut, and say so by "...". What lies in containers
 * is looked into to a depth. Every object looked at is taken from a budget; when there
 * is none left, what follows is "...". The target may change all of it meanwhile: types
 * and sizes are checked, and what cannot be read is "?".
 *
 * Quotes and control characters are escaped as Python does; what else is fit for a
 * terminal or a page, the writer decides.
 */
#ifndef PIEPROFD_PYINTROSPECT_OBJECT_TEXT_H
#define PIEPROFD_PYINTROSPECT_OBJECT_TEXT_H

#include "pyintrospect/runtime.h"

#define OBJECT_TEXT_SIZE       256
#define OBJECT_TEXT_TYPE_SIZE  64
#define OBJECT_TEXT_ITEMS      8  /* of a container */
#define OBJECT_TEXT_CHARACTERS 96 /* of a string */
#define OBJECT_TEXT_DEPTH      3
#define OBJECT_TEXT_TYPES      64 /* that are remembered */

struct object_text {
	char text[OBJECT_TEXT_SIZE];
	char type[OBJECT_TEXT_TYPE_SIZE]; /* as C names it, see python_type_name() */
	bool by_type;                     /* text says no more than the type and the address */
};

struct object_text_type {
	remote_addr type;
	uint8_t kind;
	bool derived;
	char name[OBJECT_TEXT_TYPE_SIZE];
};

struct object_text_reader {
	const struct python_runtime *runtime; /* borrowed */
	size_t objects_left;
	struct object_text_type types[OBJECT_TEXT_TYPES];
	size_t type_count, next_type;
};

/* objects: how many may be looked at until the next of these. Types are learned anew. */
void object_text_begin(struct object_text_reader *reader, const struct python_runtime *runtime,
		       size_t objects);

/* False: the budget is used up; text and type are empty. A cell's contents are told in its place.
 */
bool object_text_read(struct object_text_reader *reader, remote_addr object,
		      struct object_text *ret_text);

#endif
