/* SPDX-License-Identifier: Apache-2.0 */
/* What attach/bpf/clock.bpf.c copies of a thread, copied from outside of one that stands still. */
#ifndef PIEPROFD_TESTS_UNIT_COPIED_THREAD_H
#define PIEPROFD_TESTS_UNIT_COPIED_THREAD_H

#include "common/memory.h"
#include "pyintrospect/frame_places.h"
#include "pyintrospect/offsets.h"
#include "tests/must.h"

#include <stdlib.h>

#define COPIED_CHUNK_BYTES 16384u
#define COPIED_FRAMES_MAX  512u
#define COPIED_CFRAMES_MAX 64u
#define COPIED_PIECES_MAX  640u

struct copied_thread {
	struct memory_reader process;
	size_t count;
	struct {
		remote_addr address;
		size_t size;
		uint8_t *bytes;
	} pieces[COPIED_PIECES_MAX];
};

static inline uint64_t copied_word(const struct copied_thread *copied, remote_addr address)
{
	uint64_t word;

	return memory_read_u64(&copied->process, address, &word) ? 0 : word;
}

static inline void copied_piece_add(struct copied_thread *copied, remote_addr address, size_t size)
{
	uint8_t *bytes = malloc(size);

	must(bytes && copied->count < COPIED_PIECES_MAX);
	if (memory_read(&copied->process, address, bytes, size)) {
		free(bytes);
		return;
	}
	copied->pieces[copied->count].address = address;
	copied->pieces[copied->count].size = size;
	copied->pieces[copied->count++].bytes = bytes;
}

static inline void copied_chunk_add(struct copied_thread *copied, const struct frame_places *places,
				    remote_addr thread)
{
	remote_addr start, end;

	if (places->offsets->thread_chunk == OFFSET_ABSENT)
		return;
	start = copied_word(copied, thread + (uint64_t)places->offsets->thread_chunk);
	end = copied_word(copied, thread + (uint64_t)places->offsets->thread_chunk_top);
	if (end - start > COPIED_CHUNK_BYTES)
		start = end - COPIED_CHUNK_BYTES;
	if (start && end > start)
		copied_piece_add(copied, start, end - start);
}

/* The first frame. */
static inline remote_addr copied_cframes_add(struct copied_thread *copied,
					     const struct frame_places *places, remote_addr thread)
{
	const struct python_offsets *offsets = places->offsets;
	remote_addr at, first;

	if (offsets->thread_cframe == OFFSET_ABSENT)
		return copied_word(copied, thread + (uint64_t)offsets->thread_frame);
	at = copied_word(copied, thread + (uint64_t)offsets->thread_cframe);
	first = copied_word(copied, at + (uint64_t)offsets->cframe_current);
	for (unsigned i = 0; at && i < COPIED_CFRAMES_MAX; i++) {
		copied_piece_add(copied, at, places->cframe_bytes);
		at = copied_word(copied, at + (uint64_t)offsets->cframe_previous);
	}
	return first;
}

/* By copied->process; freed by copied_thread_deinit(). */
static inline void copied_thread_take(struct copied_thread *copied,
				      const struct frame_places *places, remote_addr thread)
{
	remote_addr frame;

	copied->count = 0;
	copied_piece_add(copied, thread, places->thread_bytes);
	for (size_t i = 0; i < places->word_count; i++)
		copied_piece_add(copied, places->words[i].start,
				 places->words[i].end - places->words[i].start);
	copied_chunk_add(copied, places, thread);
	frame = copied_cframes_add(copied, places, thread);
	for (unsigned i = 0; frame && i < COPIED_FRAMES_MAX; i++) {
		copied_piece_add(copied, frame, places->frame_bytes);
		frame = copied_word(copied, frame + (uint64_t)places->offsets->frame_previous);
	}
}

static inline void copied_thread_deinit(struct copied_thread *copied)
{
	while (copied->count)
		free(copied->pieces[--copied->count].bytes);
}

#endif
