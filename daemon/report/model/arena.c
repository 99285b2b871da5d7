/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/model/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_BYTES (64u << 10)

struct arena_chunk {
	struct arena_chunk *next;
	size_t used, size;
	_Alignas(max_align_t) unsigned char bytes[];
};

void arena_init(struct arena *arena, size_t limit)
{
	*arena = (struct arena){ .limit = limit };
}

void arena_deinit(struct arena *arena)
{
	while (arena->chunks) {
		struct arena_chunk *chunk = arena->chunks;

		arena->chunks = chunk->next;
		free(chunk);
	}
	arena->bytes = 0;
}

static struct arena_chunk *arena_add_chunk(struct arena *arena, size_t wanted)
{
	size_t size = wanted > CHUNK_BYTES ? wanted : CHUNK_BYTES;
	struct arena_chunk *chunk;

	if (size > arena->limit - arena->bytes)
		return NULL;
	chunk = calloc(1, sizeof(*chunk) + size);
	if (!chunk)
		return NULL;
	chunk->next = arena->chunks;
	chunk->size = size;
	arena->chunks = chunk;
	arena->bytes += size;
	return chunk;
}

void *arena_array(struct arena *arena, size_t count, size_t item_size)
{
	const size_t alignment = _Alignof(max_align_t);
	struct arena_chunk *chunk = arena->chunks;
	size_t size;
	void *bytes;

	if (__builtin_mul_overflow(count, item_size, &size) || size > SIZE_MAX / 2) {
		arena->failed = true;
		return NULL;
	}
	size = (size + alignment - 1) / alignment * alignment;
	if (!chunk || size > chunk->size - chunk->used)
		chunk = arena_add_chunk(arena, size);
	if (!chunk) {
		arena->failed = true;
		return NULL;
	}
	bytes = chunk->bytes + chunk->used;
	chunk->used += size;
	return bytes;
}

const char *arena_copy_string(struct arena *arena, const char *string)
{
	size_t size;
	char *copy;

	if (!string)
		return NULL;
	size = strlen(string) + 1;
	copy = arena_array(arena, size, 1);
	return copy ? memcpy(copy, string, size) : NULL;
}

const char *arena_format(struct arena *arena, const char *format, ...)
{
	char text[512];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	return arena_copy_string(arena, text);
}
