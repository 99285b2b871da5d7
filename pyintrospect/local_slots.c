/* SPDX-License-Identifier: Apache-2.0 */
#include "pyintrospect/local_slots.h"

#include "pyintrospect/field.h"
#include "pyintrospect/frame_walk.h"
#include "pyintrospect/runtime_internal.h"

#include <errno.h>

#define WORD_BYTES 8
/* More than any frame has, to 3.10. */
#define LOCALS_BELIEVED 70000u

/* How many there are to 3.10: the evaluation stack begins behind them. */
static size_t old_slot_count(const struct python_layout *layout, const struct python_frame *frame,
			     const uint8_t *fixed)
{
	remote_addr first = frame->address + (uint64_t)layout->offsets.frame_locals, end;

	end = field_u64(fixed, layout->offsets.frame_stack);
	return end >= first && (end - first) % WORD_BYTES == 0 &&
			       (end - first) / WORD_BYTES <= LOCALS_BELIEVED
		       ? (end - first) / WORD_BYTES
		       : 0;
}

int local_slots_read(const struct python_runtime *runtime, const struct python_frame *frame,
		     struct local_slots *ret_slots)
{
	const struct python_layout *layout = &runtime->layout;
	uint64_t words[LOCAL_SLOTS_MAX];
	uint8_t fixed[OFFSET_BLOCK_MAX];
	struct memory_range ranges[2] = {
		{ .address = frame->address, .buffer = fixed, .size = runtime->sizes.frame },
		{ .address = frame->address + (uint64_t)layout->offsets.frame_locals,
		  .buffer = words },
	};
	bool known = layout->walk != PYTHON_WALK_FRAME_OBJECTS;
	size_t count = known ? frame->code->local_count : 0, shown;
	int error;

	shown = count < LOCAL_SLOTS_MAX ? count : LOCAL_SLOTS_MAX;
	ranges[1].size = WORD_BYTES * shown;
	error = memory_read_ranges(runtime->reader, ranges, shown ? 2 : 1);
	if (!error)
		error = ranges[0].error ? ranges[0].error : shown ? ranges[1].error : 0;
	if (error)
		return error;
	if (frame_instruction(layout, fixed) != frame->instruction_offset)
		return -ESTALE;
	if (!known) {
		count = old_slot_count(layout, frame, fixed);
		shown = count < LOCAL_SLOTS_MAX ? count : LOCAL_SLOTS_MAX;
		if (shown)
			error = memory_read(runtime->reader, ranges[1].address, words,
					    WORD_BYTES * shown);
		if (error)
			return error;
	}
	ret_slots->count = shown;
	ret_slots->left_out = count - shown;
	for (size_t i = 0; i < shown; i++)
		ret_slots->values[i] = operand_value_of(runtime, words[i], OPERAND_VALUE);
	return 0;
}

int local_slots_name(const struct code_names *names, uint32_t number, char *buffer, size_t size)
{
	uint32_t locals;
	int error = code_names_read(names, PYTHON_LOCALS, number, buffer, size);

	/* From 3.11 on there is one tuple. */
	if (error != -ENOENT || !names->cells)
		return error;
	error = code_names_count(names, PYTHON_LOCALS, &locals);
	return error ? error : code_names_read(names, PYTHON_CELLS, number - locals, buffer, size);
}
