/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How CPython's allocator and its objects lie in memory, by minor version: x86-64 builds.
 * From Objects/obmalloc.c, Include/cpython/object.h and the structures' own headers; none of
 * it has moved from 3.6 to 3.15 but what depends on the minor below.
 *
 *                    16                  48
 *   with the GIL     count, type       | list: size, items ...
 *   free-threaded    thread, flags, count, others' count, type | list: size, items ...
 *
 * Offsets inside of objects are those of builds with the GIL. A free-threaded object has the same
 * ones from object_fields() on, 16 bytes behind its start; only its counts are elsewhere.
 */
#ifndef PIEPROFD_PYINTROSPECT_HEAP_HEAP_LAYOUT_H
#define PIEPROFD_PYINTROSPECT_HEAP_HEAP_LAYOUT_H

#include "pyintrospect/dict_layout.h"
#include "pyintrospect/offsets.h"

enum {
	WORD_SIZE = 8,
	OBJECT_REFERENCES = 0, /* ob_refcnt */
	OBJECT_TYPE = 8,
	OBJECT_SIZE = 16, /* ob_size, where there is one */
	OBJECT_HEAD = 16,
	VARIABLE_HEAD = 24,
	/* free-threaded: the owner's count, the others' */
	OBJECT_LOCAL_COUNT = 12,
	OBJECT_SHARED_COUNT = 16,
	FREE_THREADED_HEAD_EXTRA = 16,

	POOL_BYTES_3_9 = 4096,
	POOL_BYTES_3_10 = 16384,
	POOL_HEAD = 48,
	BLOCK_MAX = 512,

	DICT_USED = 16, /* ma_used */

	LIST_SIZE = 16,
	LIST_ITEMS = 24,
	LIST_HEAD = 40,
	SET_USED = 24,
	SET_MASK = 32,
	SET_TABLE = 40,
	SET_HEAD = 48,
	SET_ENTRY = 16,
	WEAKREF_CALLBACK = 24,
	MODULE_DICT_AT = 16,
	ARRAY_DATA = 16, /* PyArrayObject of numpy 1 and 2 */
	ARRAY_DESCRIPTION = 56,
	ARRAY_HEAD = 64,
	DESCRIPTION_KIND = 24,   /* PyArray_Descr.kind */
	DESCRIPTION_NUMBER = 28, /* .type_num */
	BYTEARRAY_DATA = 32,     /* ob_bytes */
	BYTEARRAY_BYTES = 56,    /* ob_bytes_object, from 3.15 on: ob_bytes is inside of it */

	TYPE_NAME = 24,
	TYPE_BASIC = 32,
	TYPE_ITEM = 40,
	TYPE_FLAGS_AT = 168,
	TYPE_WEAK_OFFSET = 208,
	TYPE_MEMBERS = 240,
	TYPE_BASE = 256,
	TYPE_DICT = 264,
	TYPE_DICT_OFFSET_AT = 288,
	TYPE_READ = 296,

	MEMBER_NAME = 0, /* PyMemberDef */
	MEMBER_OFFSET = 16,
	MEMBER_SIZE = 40,
};

/* Of a type's flags. */
#define FLAG_MANAGED_WEAKREF (1ull << 3) /* 3.12+ */
#define FLAG_IMMUTABLE       (1ull << 8) /* 3.10+: never one that Python code made */
#define FLAG_HEAP_TYPE       (1ull << 9)
#define FLAG_READY           (1ull << 12)
#define FLAG_COLLECTED       (1ull << 14)
#define FLAG_INT             (1ull << 24)
#define FLAG_LIST            (1ull << 25)
#define FLAG_TUPLE           (1ull << 26)
#define FLAG_BYTES           (1ull << 27)
#define FLAG_STR             (1ull << 28)
#define FLAG_DICT            (1ull << 29)
#define FLAG_TYPE            (1ull << 31)

/* What the blocks of one place may be, where the allocator keeps them apart. */
enum heap_contents {
	HEAP_CONTENTS_ANY,
	HEAP_CONTENTS_RAW,       /* no objects */
	HEAP_CONTENTS_PLAIN,     /* objects that the collector does not know, and raw memory */
	HEAP_CONTENTS_COLLECTED, /* objects that it knows */
	HEAP_CONTENTS_MANAGED,   /* those with a managed dict or weak references before them */
};

struct heap_layout {
	const struct python_offsets *offsets;
	int minor;
	bool free_threaded;
	uint32_t head_extra; /* bytes that an object's head is longer than with the GIL */
	uint32_t pool_bytes;
	uint32_t collector_bytes; /* PyGC_Head, before an object that the collector knows */
	/* Before an instance with a managed dict or weak references, where the dict's pointer is,
	 * and how much there is in all. */
	uint32_t managed_bytes, managed_dict_before;
};

/* An object's bytes as the offsets above count them: from its head's last two words on. */
static inline const uint8_t *object_fields(const struct heap_layout *layout, const uint8_t *object)
{
	return object + layout->head_extra;
}

static inline struct heap_layout heap_layout_of(const struct python_layout *layout)
{
	return (struct heap_layout){
		.offsets = &layout->offsets,
		.minor = layout->minor,
		.free_threaded = layout->free_threaded,
		.head_extra = layout->free_threaded ? FREE_THREADED_HEAD_EXTRA : 0,
		.pool_bytes = layout->minor >= 10 ? POOL_BYTES_3_10 : POOL_BYTES_3_9,
		/* To 3.7 it has a third word, and is aligned to 16 bytes. */
		.collector_bytes = layout->free_threaded ? 0
				   : layout->minor >= 8  ? 16
							 : 32,
		.managed_bytes = 2 * WORD_SIZE,
		.managed_dict_before = layout->free_threaded ? WORD_SIZE : MANAGED_DICT_BEFORE,
	};
}

#endif
