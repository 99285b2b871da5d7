/* SPDX-License-Identifier: Apache-2.0 */
#include "pyintrospect/gc_objects.h"

#include "common/hash.h"
#include "pyintrospect/field.h"
#include "pyintrospect/runtime_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WALKS_MAX            6
#define PAUSE_NS             20000000
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

/* Neighbours in a list mostly lie near each other, in a few places at a time. */
#define PAGE_BYTES 4096
#define PAGES      256

struct page_cache {
	remote_addr addresses[PAGES]; /* of what each page holds; 1: of nothing */
	uint8_t pages[PAGES][PAGE_BYTES];
};

struct gc_walk {
	const struct python_runtime *runtime;
	const struct gc_visitor *visitor;
	struct page_cache *cache;
	size_t head_bytes;
	size_t objects;
};

static void forget_pages(struct page_cache *cache)
{
	for (size_t i = 0; i < PAGES; i++)
		cache->addresses[i] = 1;
}

static int read_part(struct gc_walk *walk, remote_addr address, uint8_t *bytes, size_t size)
{
	struct page_cache *cache = walk->cache;
	remote_addr page = address - address % PAGE_BYTES;
	size_t slot = hash_word(page) % PAGES;
	int error;

	if (cache->addresses[slot] != page) {
		cache->addresses[slot] = 1;
		error = memory_read(walk->runtime->reader, page, cache->pages[slot], PAGE_BYTES);
		if (error)
			return error;
		cache->addresses[slot] = page;
	}
	memcpy(bytes, cache->pages[slot] + address % PAGE_BYTES, size);
	return 0;
}

static int read_bytes(struct gc_walk *walk, remote_addr address, uint8_t *bytes, size_t size)
{
	size_t first = PAGE_BYTES - address % PAGE_BYTES;
	int error;

	if (size <= first)
		return read_part(walk, address, bytes, size);
	error = read_part(walk, address, bytes, first);
	return error ? error : read_part(walk, address + first, bytes + first, size - first);
}

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
	int error = read_bytes(walk, list, bytes, walk->head_bytes);

	if (error)
		return error;
	for (remote_addr at = link_of(bytes, forth); at != list; at = link_of(bytes, forth)) {
		if (walk->objects == GC_OBJECTS_MAX)
			return -E2BIG;
		error = read_bytes(walk, at, bytes, type_offset + sizeof(uint64_t));
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

/* A collection may be under way, which uses the links for itself: time has to pass. */
static int walk_both_ways(struct gc_walk *walk, remote_addr list)
{
	const struct timespec pause = { .tv_nsec = PAUSE_NS };
	int error = -EAGAIN;

	for (unsigned i = 0; i < WALKS_MAX && error == -EAGAIN; i++) {
		if (i)
			nanosleep(&pause, NULL);
		forget_pages(walk->cache);
		error = walk_list(walk, list, LINK_NEXT, LINK_PREVIOUS);
	}
	if (error != -EAGAIN)
		return error;
	forget_pages(walk->cache);
	error = walk_list(walk, list, LINK_PREVIOUS, LINK_NEXT);
	return error ? error : -EAGAIN;
}

/* Do the links of a list's head lead back to it? */
static bool is_list(struct gc_walk *walk, remote_addr list)
{
	uint8_t head[HEAD_BYTES], next[HEAD_BYTES], previous[HEAD_BYTES];

	return read_bytes(walk, list, head, sizeof(head)) == 0 &&
	       read_bytes(walk, link_of(head, LINK_NEXT), next, sizeof(next)) == 0 &&
	       read_bytes(walk, link_of(head, LINK_PREVIOUS), previous, sizeof(previous)) == 0 &&
	       link_of(next, LINK_PREVIOUS) == list && link_of(previous, LINK_NEXT) == list;
}

static int visit_lists(struct gc_walk *walk, remote_addr generations, remote_addr permanent,
		       uint64_t generation_bytes, uint32_t *ret_flags)
{
	uint32_t flags = 0;

	/* By the oldest: that one changes only while a collection is under way. */
	if (!is_list(walk, generations + OLDEST * generation_bytes) &&
	    is_list(walk, generations - EARLIER_BYTES + OLDEST * generation_bytes))
		generations -= EARLIER_BYTES;
	for (unsigned i = 0; i <= GENERATIONS; i++) {
		int error = walk_both_ways(
			walk, i < GENERATIONS ? generations + i * generation_bytes : permanent);

		if (error == -EAGAIN || error == -EFAULT)
			flags |= GC_OBJECTS_INCOMPLETE;
		else if (error == -E2BIG)
			flags |= GC_OBJECTS_CUT;
		else if (error)
			return error;
	}
	*ret_flags = flags;
	return 0;
}

int gc_objects_visit(const struct python_runtime *runtime, remote_addr interpreter,
		     const struct gc_visitor *visitor, uint32_t *ret_flags)
{
	const int minor = runtime->layout.minor;
	struct gc_walk walk = { .runtime = runtime, .visitor = visitor };
	remote_addr base = interpreter;
	int error;

	if ((size_t)minor >= sizeof(layouts) / sizeof(layouts[0]) || !layouts[minor].generations) {
		*ret_flags = GC_OBJECTS_UNKNOWN;
		return 0;
	}
	if (minor < MINOR_OF_INTERPRETER)
		base = runtime->interpreters -
		       (uint64_t)runtime->layout.offsets.runtime_interpreters;
	walk.head_bytes = minor == 7 ? HEAD_BYTES_3_7 : HEAD_BYTES;
	walk.cache = malloc(sizeof(*walk.cache));
	if (!walk.cache)
		return -ENOMEM;
	forget_pages(walk.cache);
	error = visit_lists(&walk, base + layouts[minor].generations,
			    base + layouts[minor].permanent,
			    minor == 7 ? GENERATION_BYTES_3_7 : GENERATION_BYTES, ret_flags);
	free(walk.cache);
	return error;
}
