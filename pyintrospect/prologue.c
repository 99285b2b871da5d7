/* SPDX-License-Identifier: Apache-2.0 */
/*
 *   sp of the loop in its prologue      sp of its caller's loop
 *   |<-- distance -->| cframe: garbage  |<-- distance -->| cframe: what is sought
 *   [...........................][ret]..[ret into the loop|...................]
 *
 * A _PyCFrame lies at the same distance above the stack pointer in every
 * activation of the loop, the thread is in the loop itself, so the distance is
 * known, and an outer activation is in the middle of a call, so the word below
 * its stack pointer leads back into the loop. Remains of dead activations look
 * the same; they are told by the data stack, where frames lie end to end: from
 * the frame that a true cframe names, only the frame just entered, or nothing,
 * is left up to the top.
 */
#include "pyintrospect/prologue.h"

#include <errno.h>

#define WORD_BYTES	   8ull
#define DISTANCE_MAX	   4096 /* a native frame of the evaluation loop is a few hundred bytes */
#define SEARCHED_BYTES_MAX (256u << 10)
#define CANDIDATES_MAX	   64
#define ENTERED_FRAMES_MAX 4 /* frames pushed and not yet run, between caller and top */

/* Bytes a frame takes on the data stack, by its code object; 0: this is no frame. */
static uint64_t frame_bytes(struct python_runtime *runtime, const struct frame_walk_start *start,
			    remote_addr frame)
{
	const struct python_offsets *offsets = &runtime->layout.offsets;
	const uint8_t *bytes, *head;
	int64_t words;

	if (frame_read(runtime, start, frame, &bytes))
		return 0;
	if (remote_copy_read(&runtime->copy, field_u64(bytes, offsets->frame_code),
			     runtime->sizes.code, &head))
		return 0;
	if (field_u64(head, offsets->object_type) != runtime->code_type)
		return 0;
	if (offsets->code_frame_size != OFFSET_ABSENT)
		words = field_i32(head, offsets->code_frame_size);
	else
		words = (int64_t)field_i32(head, offsets->code_locals) +
			field_i32(head, offsets->code_stack_size) +
			offsets->frame_locals / (int64_t)WORD_BYTES;
	return words > 0 ? (uint64_t)words * WORD_BYTES : 0;
}

/* Do the frames from this one on fill the data stack exactly to its top? */
static bool reaches_top(struct python_runtime *runtime, const struct frame_walk_start *start,
			remote_addr frame)
{
	for (unsigned i = 0; i <= ENTERED_FRAMES_MAX; i++) {
		uint64_t size = frame_bytes(runtime, start, frame);

		if (size == 0 || size > start->chunk_top - frame)
			return false;
		frame += size;
		if (frame == start->chunk_top)
			return true;
	}
	return false;
}

static bool on_data_stack(const struct python_runtime *runtime,
			  const struct frame_walk_start *start, remote_addr frame)
{
	return frame >= start->chunk + (uint64_t)runtime->layout.offsets.chunk_data &&
	       frame < start->chunk_top && frame % WORD_BYTES == 0;
}

/* Is the frame being entered the thread's first? Then the root cframe is the outer one. */
static bool enters_first_frame(struct python_runtime *runtime, const struct frame_walk_start *start)
{
	const struct python_offsets *offsets = &runtime->layout.offsets;
	remote_addr first = start->chunk + (uint64_t)offsets->chunk_data;
	const uint8_t *head;

	if (remote_copy_read(&runtime->copy, start->chunk, (size_t)offsets->chunk_data, &head) ||
	    field_u64(head, offsets->chunk_previous) != 0)
		return false;
	first += WORD_BYTES; /* the first chunk leaves out one word, so that no frame is at its start */
	return first < start->chunk_top &&
	       frame_bytes(runtime, start, first) == start->chunk_top - first;
}

static bool is_outer_cframe(struct python_runtime *runtime, const struct frame_walk_start *start,
			    remote_addr cframe)
{
	struct frame_walk_start from = *start;
	remote_addr current, previous;
	struct frame_walk walk;

	if (cframe_read(runtime, cframe, &current, &previous) ||
	    !on_data_stack(runtime, start, current) || !reaches_top(runtime, start, current))
		return false;
	from.cframe = cframe;
	walk = frame_walk(runtime, &from);
	return walk.end != FRAME_WALK_BROKEN || walk.valid > 0;
}

int prologue_recover(struct python_runtime *runtime, const struct stack_snapshot *stack,
		     struct frame_walk_start *start)
{
	remote_addr sp, end, distance, cframe;
	unsigned candidates = 0;

	if (!stack || stack->size <= STACK_RED_ZONE_BYTES || runtime->eval.end == 0 ||
	    start->chunk == 0 || start->chunk_top <= start->chunk)
		return -ENOENT;
	sp = stack->start + STACK_RED_ZONE_BYTES;
	end = stack->start + stack->size;
	if (start->cframe < sp || start->cframe - sp > DISTANCE_MAX || start->cframe % WORD_BYTES)
		return -ENOENT;
	distance = start->cframe - sp;
	if (end - start->cframe > SEARCHED_BYTES_MAX)
		end = start->cframe + SEARCHED_BYTES_MAX;
	if (end < runtime->sizes.cframe)
		return -ENOENT;
	end -= runtime->sizes.cframe;
	for (cframe = start->cframe + distance + WORD_BYTES; cframe <= end; cframe += WORD_BYTES) {
		remote_addr return_address;

		if (stack_snapshot_read(stack, cframe - distance - WORD_BYTES, &return_address,
					sizeof(return_address)) ||
		    !address_range_contains(runtime->eval, return_address))
			continue;
		if (is_outer_cframe(runtime, start, cframe)) {
			start->cframe = cframe;
			return 0;
		}
		if (++candidates == CANDIDATES_MAX)
			return -ENOENT;
	}
	if (enters_first_frame(runtime, start)) {
		start->cframe =
			start->thread + (uint64_t)runtime->layout.offsets.thread_root_cframe;
		return 0;
	}
	return -ENOENT;
}
