/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The types of objects, each read once, and which memory is an object of one.
 *
 * An address is that of a type when what it says of itself holds: it is set up, its sizes are
 * such as types have, its name is a name, and its own type, a type of types, leads to
 * PyType_Type. Everything else is remembered as none.
 */
#ifndef PIEPROFD_PYINTROSPECT_HEAP_HEAP_TYPE_H
#define PIEPROFD_PYINTROSPECT_HEAP_HEAP_TYPE_H

#include "pyintrospect/heap/heap_image.h"
#include "pyintrospect/heap/heap_layout.h"

#define HEAP_TYPES_MAX     60000
#define HEAP_TYPES_RECENT  256
#define HEAP_TYPE_NAME     96
#define HEAP_SLOT_NAMES    64 /* words of an object that may have a name */
#define HEAP_ARRAY_NUMBERS 25 /* numpy's types of elements, and one for all others */

/* What is known of how an object lies, beyond its sizes. */
enum heap_kind {
	HEAP_KIND_OTHER,
	HEAP_KIND_INT,
	HEAP_KIND_STR,
	HEAP_KIND_BYTES,
	HEAP_KIND_TUPLE,
	HEAP_KIND_LIST,
	HEAP_KIND_DICT,
	HEAP_KIND_SET,
	HEAP_KIND_TYPE,
	HEAP_KIND_MODULE,
	HEAP_KIND_FUNCTION,
	HEAP_KIND_WEAKREF,
	HEAP_KIND_ARRAY, /* numpy.ndarray */
	HEAP_KIND_BYTEARRAY,
	HEAP_KIND_SIZED, /* as OTHER, and ob_size is how much is in it */
	HEAP_KIND_CODE,  /* with its bytecode behind it, from 3.11 on */
	HEAP_KIND_CELL,  /* a closure's variable */
	HEAP_KIND_THREAD_LOCAL,
	HEAP_KIND_VARIABLE, /* with items in a way of its own: frames, generators */
};

struct heap_type {
	remote_addr address;
	uint64_t flags;
	uint32_t basic, item;
	int32_t weak_offset;
	int64_t dict_offset;
	uint8_t prefix; /* bytes before an object, which its block begins with */
	uint8_t kind;   /* enum heap_kind */
	bool of_types;  /* its objects are types */
	bool plain;     /* its objects refer to nothing, and have no storage beside */
	bool text;      /* str itself: of ASCII alone they are plain, too */
	bool read_slots;
	uint32_t *slot_names; /* of the walk's strings, by word; NULL: none */
	uint64_t count, bytes, storage_bytes;
	char name[HEAP_TYPE_NAME]; /* as C has it; see heap_type_qualify() */
};

struct heap_types {
	const struct heap_image *image;
	struct heap_layout layout;
	struct heap_type *items; /* from HEAP_NODE_FIRST_TYPE on */
	size_t count;
	uint16_t *by_address;
	/* Those that were asked for last, and their numbers: of many objects few types. */
	remote_addr recent[HEAP_TYPES_RECENT];
	uint16_t recent_numbers[HEAP_TYPES_RECENT];
	remote_addr *refused;
	remote_addr type_type;
	bool cut; /* there are more than HEAP_TYPES_MAX */
};

/* type_type: &PyType_Type. 0 or -ENOMEM; deinit it in any case. */
__attribute__((warn_unused_result)) int heap_types_init(struct heap_types *types,
							const struct heap_image *image,
							const struct heap_layout *layout,
							remote_addr type_type);
void heap_types_deinit(struct heap_types *types);

/* A str, of at least so many bytes, that is of ASCII alone, and refers to nothing. */
bool heap_types_is_ascii(const struct heap_types *types, const uint8_t *object, uint64_t size);

/* Its number; 0: this is no type. */
uint16_t heap_types_find(struct heap_types *types, remote_addr address);

/*
 * What a block in use of so many bytes is, of which at least the first 64, or all, are given:
 * HEAP_NODE_RAW, HEAP_NODE_CACHED, or the number of its type.
 */
uint16_t heap_types_classify(struct heap_types *types, enum heap_contents contents,
			     const uint8_t *block, uint64_t size);

/*
 * The type of an object of which nothing is known but where it begins, with so many bytes before
 * it and from there on; and how many it has of these. 0: it is none.
 */
uint16_t heap_types_object(struct heap_types *types, const uint8_t *object, uint64_t before,
			   uint64_t size, uint64_t *ret_bytes);

/* How many of an object's bytes are its own, of at most so many; 0: it cannot be one. */
uint64_t heap_type_object_bytes(const struct heap_types *types, const struct heap_type *type,
				const uint8_t *object, uint64_t size);

#endif
