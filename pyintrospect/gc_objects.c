/* SPDX-License-Identifier: Apache-2.0 */
#include "pyintrospect/gc_objects.h"

#include "common/block_cache.h"
#include "pyintrospect/field.h"
#include "pyintrospect/runtime_internal.h"

#include <errno.h>

#define WALKS_MAX            4
#define GENERATIONS          3
#define OLDEST               (GENERATIONS - 1)
#define LINK_BITS            3ull /* 3.8+: the lowest bits of a link are flags of the collector's */
#define MINOR_OF_INTERPRETER 9    /* the lists are the interpreter's, before the runtime's */

enum {
	LINK_NEXT = 0,
	LINK_PREVIOUS = 8,
	/* 3.8+; before, a head has a third word, and is aligned to 16 bytes. */
	HEAD_BYTES = 16,
	HEAD_BYTES_3_7 = 32,
	GENERATION_BYTES = 24, /* the head, and counters */
	GENERATION_BYTES_3_7 = 48,
	EARLIER_BYTES = 4,
};

/*
 * Byte offsets of the generations and of what gc.freeze() sets aside, from each minor's DWARF.
 * Some builds, such as Debian's 3.13, have the former four bytes earlier.
 */
static const struct {
	uint16_t generations, permanent;
} layouts[] = {
	[7] = { 352, 512 },    [8] = { 368, 448 },    [9] = { 640, 720 },
	[10] = { 640, 720 },   [11] = { 672, 752 },   [12] = { 136, 216 },
	[13] = { 7424, 7504 }, [14] = { 7432, 7504 }, [15] = { 7408, 7480 },
};

struct gc_walk {
	const struct python_runtime *runtime;
	const struct memory_reader *reader; /* keeps blocks of memory */
	const struct gc_visitor *visitor;
	size_t head_bytes;
	size_t objects;
};

static remote_addr link_of(const uint8_t *head, size_t link)
{
	return field_u64(head, link) & ~LINK_BITS;
}

/*
 * Along one kind of link until the list's head comes again. -EAGAIN: a link did
 * not lead back; -E2BIG: too many objects.
 */
static int walk_list(struct gc_walk *walk, remote_addr list, size_t forth, size_t back)
{
	const size_t type_offset =
		walk->head_bytes + (size_t)walk->runtime->layout.offsets.object_type;
	uint8_t bytes[HEAD_BYTES_3_7 + 64];
	remote_addr from = list;
	int error = memory_read(walk->reader, list, bytes, walk->head_bytes);

	if (error)
		return error;
	for (remote_addr at = link_of(bytes, forth); at != list; at = link_of(bytes, forth)) {
		if (walk->objects == GC_OBJECTS_MAX)
			return -E2BIG;
		error = memory_read(walk->reader, at, bytes, type_offset + sizeof(uint64_t));
		if (error == -EFAULT || (!error && link_of(bytes, back) != from))
			return -EAGAIN;
		if (!error)
			error = walk->visitor->visit(walk->visitor->context, at + walk->head_bytes,
						     field_u64(bytes, type_offset));
		if (error)
			return error;
		walk->objects++;
		from = at;
	}
	return 0;
}

static int walk_both_ways(struct gc_walk *walk, struct block_cache *cache, remote_addr list)
{
	size_t before = walk->objects;
	int error = -EAGAIN;

	for (unsigned i = 0; i < WALKS_MAX && error == -EAGAIN; i++) {
		walk->objects = before;
		block_cache_forget(cache);
		error = walk_list(walk, list, LINK_NEXT, LINK_PREVIOUS);
	}
	if (error != -EAGAIN)
		return error;
	block_cache_forget(cache);
	error = walk_list(walk, list, LINK_PREVIOUS, LINK_NEXT);
	return error ? error : -EAGAIN;
}

/* Do the links of a list's head lead back to it? */
static bool is_list(const struct gc_walk *walk, remote_addr list)
{
	uint8_t head[HEAD_BYTES], next[HEAD_BYTES], previous[HEAD_BYTES];

	return memory_read(walk->reader, list, head, sizeof(head)) == 0 &&
	       memory_read(walk->reader, link_of(head, LINK_NEXT), next, sizeof(next)) == 0 &&
	       memory_read(walk->reader, link_of(head, LINK_PREVIOUS), previous,
			   sizeof(previous)) == 0 &&
	       link_of(next, LINK_PREVIOUS) == list && link_of(previous, LINK_NEXT) == list;
}

int gc_objects_visit(const struct python_runtime *runtime, remote_addr interpreter,
		     const struct gc_visitor *visitor, uint32_t *ret_flags)
{
	const int minor = runtime->layout.minor;
	struct block_cache cache;
	struct memory_reader reader;
	struct gc_walk walk = { .runtime = runtime, .reader = &reader, .visitor = visitor };
	remote_addr base = interpreter, generations;
	uint64_t generation_bytes = minor == 7 ? GENERATION_BYTES_3_7 : GENERATION_BYTES;
	uint32_t flags = 0;
	int error = 0;

	if ((size_t)minor >= sizeof(layouts) / sizeof(layouts[0]) || !layouts[minor].generations) {
		*ret_flags = GC_OBJECTS_UNKNOWN;
		return 0;
	}
	if (minor < MINOR_OF_INTERPRETER)
		base = runtime->interpreters -
		       (uint64_t)runtime->layout.offsets.runtime_interpreters;
	walk.head_bytes = minor == 7 ? HEAD_BYTES_3_7 : HEAD_BYTES;
	block_cache_init(&cache, runtime->reader);
	reader = block_cache_reader(&cache);
	generations = base + layouts[minor].generations;
	/* By the oldest: that one changes only while a collection is under way. */
	if (!is_list(&walk, generations + OLDEST * generation_bytes) &&
	    is_list(&walk, generations - EARLIER_BYTES + OLDEST * generation_bytes))
		generations -= EARLIER_BYTES;
	for (unsigned i = 0; i <= GENERATIONS && !error; i++) {
		remote_addr list = i < GENERATIONS ? generations + i * generation_bytes
						   : base + layouts[minor].permanent;

		error = walk_both_ways(&walk, &cache, list);
		if (error == -EAGAIN || error == -EFAULT)
			flags |= GC_OBJECTS_INCOMPLETE;
		else if (error == -E2BIG)
			flags |= GC_OBJECTS_CUT;
		else
			continue;
		error = 0;
	}
	if (!error)
		*ret_flags = flags;
	return error;
}
