/* SPDX-License-Identifier: Apache-2.0 */
#include "pyintrospect/bytecode_copy.h"

#include "pyintrospect/field.h"
#include "pyintrospect/runtime_internal.h"

/* Threads that have bytecode of their own at a time, and where the array of it begins. */
#define COPIES_MAX   (1u << 20)
#define COPIES_START 8

/* Where the bytecode of a frame begins that does not run the code object's own; 0: it does. */
static remote_addr copy_slot(struct python_runtime *runtime, const struct raw_frame *raw)
{
	const uint8_t *head =
		raw->tlbc && raw->tlbc <= COPIES_MAX
			? remote_copy_get(&runtime->copy, raw->code, runtime->sizes.code)
			: NULL;

	/* _PyCodeArray: how many, and a pointer to each. */
	return head ? field_u64(head, runtime->layout.offsets.code_tlbc) + COPIES_START +
			       sizeof(remote_addr) * raw->tlbc
		    : 0;
}

int bytecode_copies_find(struct python_runtime *runtime, size_t count)
{
	uint64_t own = (uint64_t)runtime->layout.offsets.code_bytecode;
	int error;

	if (runtime->layout.offsets.code_tlbc == OFFSET_ABSENT)
		return 0;
	for (size_t i = 0; i < count; i++) {
		remote_addr slot = copy_slot(runtime, &runtime->raw_frames[i]);

		if (slot && remote_copy_want(&runtime->copy, slot, sizeof(remote_addr)))
			break;
	}
	error = remote_copy_fetch(&runtime->copy);
	for (size_t i = 0; !error && i < count; i++) {
		struct raw_frame *raw = &runtime->raw_frames[i];
		remote_addr slot = copy_slot(runtime, raw);
		const uint8_t *start =
			slot ? remote_copy_get(&runtime->copy, slot, sizeof(remote_addr)) : NULL;

		/* Without it, the instruction fails its check. */
		if (start)
			raw->instruction = (int64_t)((uint64_t)raw->instruction + raw->code + own -
						     field_u64(start, 0));
	}
	return error;
}
