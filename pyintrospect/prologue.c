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
 * the same; they are told by the data stack, where frames lie end to end: above
 * the frame that a true cframe names there is at most the one just entered,
 * which has not run an instruction. Generators' frames lie elsewhere; one that
 * is not running has no link to a previous frame, so a walk notices it.
 */
#include "pyintrospect/prologue.h"

#include "pyintrospect/field.h"
#include "pyintrospect/runtime_internal.h"

#include <errno.h>

#define WORD_BYTES         8ull
#define DISTANCE_MAX       4096 /* a native frame of the evaluation loop is a few hundred bytes */
#define SEARCHED_BYTES_MAX (256u << 10)
#define CANDIDATES_MAX     64
#define OWNED_BY_GENERATOR 1

/* What matters here of a frame on the data stack; false: this is no frame. */
struct pushed_frame {
	uint64_t bytes;
	bool started;
};

static bool read_pushed(struct python_runtime *runtime, const struct frame_walk_start *start,
			remote_addr frame, struct pushed_frame *ret_pushed)
{
	const struct python_offsets *offsets = &runtime->layout.offsets;
	const uint8_t *bytes, *head;
	remote_addr code;
	int64_t words;

	if (frame_read(runtime, start, frame, &bytes))
		return false;
	code = field_u64(bytes, offsets->frame_code);
	if (remote_copy_read(&runtime->copy, code, runtime->sizes.code, &head) ||
	    field_u64(head, offsets->object_type) != runtime->code_type)
		return false;
	if (offsets->code_frame_size != OFFSET_ABSENT)
		words = field_i32(head, offsets->code_frame_size);
	else
		words = (int64_t)field_i32(head, offsets->code_locals) +
			field_i32(head, offsets->code_stack_size) +
			offsets->frame_locals / (int64_t)WORD_BYTES;
	if (words <= 0)
		return false;
	ret_pushed->bytes = (uint64_t)words * WORD_BYTES;
	ret_pushed->started = field_u64(bytes, offsets->frame_instruction) >=
			      code + (uint64_t)offsets->code_bytecode;
	return true;
}

static bool on_data_stack(const struct python_runtime *runtime,
			  const struct frame_walk_start *start, remote_addr frame)
{
	return frame >= start->chunk + (uint64_t)runtime->layout.offsets.chunk_data &&
	       frame < start->chunk_top && frame % WORD_BYTES == 0;
}

/* From here to the top of the data stack: nothing, or a frame that has not run yet. */
static bool only_entered_above(struct python_runtime *runtime, const struct frame_walk_start *start,
			       remote_addr address)
{
	struct pushed_frame entered;

	return address == start->chunk_top ||
	       (address < start->chunk_top && read_pushed(runtime, start, address, &entered) &&
		!entered.started && entered.bytes == start->chunk_top - address);
}

/* Is nothing but the frame being entered on the data stack? */
static bool only_entered(struct python_runtime *runtime, const struct frame_walk_start *start)
{
	const struct python_offsets *offsets = &runtime->layout.offsets;
	const uint8_t *head;

	/* The first chunk leaves out one word, so that no frame is at its start. */
	return remote_copy_read(&runtime->copy, start->chunk, (size_t)offsets->chunk_data, &head) ==
		       0 &&
	       field_u64(head, offsets->chunk_previous) == 0 &&
	       only_entered_above(runtime, start,
				  start->chunk + (uint64_t)offsets->chunk_data + WORD_BYTES);
}

static bool is_outer_cframe(struct python_runtime *runtime, const struct frame_walk_start *start,
			    remote_addr cframe)
{
	struct frame_walk_start from = *start;
	struct pushed_frame pushed;
	struct frame_walk walk;
	size_t count, i;

	from.cframe = cframe;
	walk = frame_walk(runtime, &from);
	count = walk.end == FRAME_WALK_BROKEN ? walk.valid : runtime->raw_count;
	if (count == 0)
		return false;
	for (i = 0; i < count && runtime->raw_frames[i].owner == OWNED_BY_GENERATOR; i++)
		continue;
	if (i == count)
		return only_entered(runtime, start);
	return on_data_stack(runtime, start, runtime->raw_frames[i].address) &&
	       read_pushed(runtime, start, runtime->raw_frames[i].address, &pushed) &&
	       only_entered_above(runtime, start, runtime->raw_frames[i].address + pushed.bytes);
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
	if (only_entered(runtime, start)) {
		start->cframe =
			start->thread + (uint64_t)runtime->layout.offsets.thread_root_cframe;
		return 0;
	}
	return -ENOENT;
}
