/* SPDX-License-Identifier: Apache-2.0 */
/* What is told of an object's contents, and how far they are looked into. */
#ifndef PIEPROFD_DAEMON_CONTENTS_CONTENT_KIND_H
#define PIEPROFD_DAEMON_CONTENTS_CONTENT_KIND_H

#include "common/memory.h"

#define FINGERPRINT_OBJECTS_MAX 64
/* Bytes of contents asked for between begin and the end, types apart. */
#define FINGERPRINT_BYTES_MAX (32u << 10)
#define FINGERPRINT_DEPTH     4
#define FINGERPRINT_SHAPE     48

enum content_kind {
	CONTENT_UNREADABLE, /* no object, or memory that is gone */
	CONTENT_NONE,
	CONTENT_BOOL,
	CONTENT_INT,
	CONTENT_FLOAT,
	CONTENT_COMPLEX,
	CONTENT_STR,
	CONTENT_BYTES,
	CONTENT_BYTEARRAY,
	CONTENT_TUPLE,
	CONTENT_LIST,
	CONTENT_DICT,
	CONTENT_SLICE,
	CONTENT_RANGE,
	CONTENT_ARRAY,    /* numpy.ndarray */
	CONTENT_SCALAR,   /* numpy.float64 and its like */
	CONTENT_CALLABLE, /* functions, types, modules: known by identity alone */
	CONTENT_FUNCTION, /* a Python function: its code, and what it was made with */
	CONTENT_METHOD,   /* of an object, whose contents count */
	CONTENT_CONSTANT, /* never changes, and identity tells all: an enumeration's members, dtypes
			   */
	CONTENT_VALUE,    /* never changes: decimals, dates, patterns */
	CONTENT_SET,
	CONTENT_FROZENSET,
	CONTENT_DEQUE,
	CONTENT_BUFFER,    /* array.array, memoryview */
	CONTENT_OBJECT,    /* attributes, or fields that are known */
	CONTENT_TENSOR,    /* torch.Tensor in the processor's memory */
	CONTENT_ITERATOR,  /* where a call begins: what it goes over, and how far it is */
	CONTENT_GENERATOR, /* the same: its code, its iterator, the variables that it was made with
			    */
	/* Never told: what they hold is. */
	CONTENT_CELL,
	CONTENT_ATTRIBUTES, /* those of an object that are not in slots */
	CONTENT_LOOP,       /* an object that what is being looked at is in */
	CONTENT_OTHER,      /* by identity alone, though there may be contents */
};

struct fingerprint {
	uint64_t content;
	remote_addr object;
	uint8_t kind; /* enum content_kind */
	bool whole;   /* all of the contents are in the number */
	bool spread; /* or parts that lie all over it, and nothing in it went unread for its kind or
			depth */
	bool opaque; /* something in it is known by identity alone */
	bool frame;  /* a library's frame, series or index: data, whatever it is made of */
	bool keyed;  /* of fingerprints_only(): the attributes chosen could be keys of a dict */
	/* Bytes of an array's, str's or bytes' contents; a small int's magnitude, UINT64_MAX of
	 * one that is not; items of others. */
	uint64_t size;
	char shape[FINGERPRINT_SHAPE]; /* "float64[1000,3]", "list(7)", "Thing" */
	/* Of a numpy array that is part of another one: where its contents begin; else 0. */
	remote_addr part;
	/* Of a list or tuple, bytes of the largest array among its first items; 0: none is one. */
	uint64_t largest_item;
	/* Of a list, deque, set or dict, or a view of one, a bit for each of its first items that
	 * is known by its contents: of two with the same items, bar a few, most bits are the same.
	 * 0: of other objects. */
	uint64_t sketch;
	/* Of a function in C: its PyMethodDef, and its module's name where it has one; else 0. */
	remote_addr definition, module;
};

#endif
