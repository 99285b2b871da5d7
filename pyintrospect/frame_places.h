/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a thread's frames are, for who copies them without this folder's code: a program in
 * the kernel. What it has copied is read by python_stack_read_copied().
 */
#ifndef PIEPROFD_PYINTROSPECT_FRAME_PLACES_H
#define PIEPROFD_PYINTROSPECT_FRAME_PLACES_H

#include "common/address.h"

#include <stddef.h>

#define FRAME_PLACES_WORDS_MAX 4

struct python_offsets;
struct python_runtime;

struct frame_places {
	const struct python_offsets *offsets; /* borrowed */
	remote_addr interpreters;             /* of the pointer to the first one */
	remote_addr current_thread; /* to 3.11: of the pointer to the one that runs; 0: unknown */
	size_t thread_bytes, frame_bytes, cframe_bytes; /* from their starts; cframe: 0 to 3.10 */
	/* Words that say who holds the GIL and whether the collector is at work, now. */
	struct address_range words[FRAME_PLACES_WORDS_MAX];
	size_t word_count;
};

/* The main interpreter's words; of others they are read when they are needed. */
void frame_places_of(const struct python_runtime *runtime, struct frame_places *ret_places);

#endif
