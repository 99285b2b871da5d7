/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cct/frame.h"

#include "common/hash.h"
#include "daemon/cct/id_table.h"

const struct module frame_kernel = { .path = FRAME_KERNEL_FILE, .name = FRAME_KERNEL_FILE };

struct frame frame_of_kernel(const char *name)
{
	return (struct frame){
		.kind = FRAME_NATIVE,
		.native = { .module = &frame_kernel, .name = name },
	};
}

struct frame frame_of_scheduling(void)
{
	static const char name[] = "[scheduling, thread start and end]";

	return frame_of_kernel(name);
}

bool frame_is_kernel(const struct frame *frame)
{
	return frame->kind == FRAME_NATIVE && frame->native.module == &frame_kernel;
}

bool frame_equal(const struct frame *a, const struct frame *b)
{
	if (a->kind != b->kind)
		return false;
	if (a->kind == FRAME_PYTHON)
		return a->python.code == b->python.code &&
		       a->python.instruction_offset == b->python.instruction_offset;
	if (a->native.module != b->native.module || a->native.function != b->native.function)
		return false;
	if (a->native.module == &frame_kernel)
		return a->native.name == b->native.name;
	return a->native.function || a->native.pc == b->native.pc;
}

uint64_t frame_hash(const struct frame *frame)
{
	uint64_t hash = hash_mix(frame->kind);

	if (frame->kind == FRAME_PYTHON) {
		hash = hash_mix(hash ^ (uintptr_t)frame->python.code);
		return hash_mix(hash ^ (uint32_t)frame->python.instruction_offset);
	}
	hash = hash_mix(hash ^ (uintptr_t)frame->native.module);
	if (frame_is_kernel(frame))
		return hash_mix(hash ^ (uintptr_t)frame->native.name);
	if (frame->native.function)
		return hash_mix(hash ^ frame->native.function);
	return hash_mix(~hash ^ frame->native.pc);
}
