/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/detect/sample_filter.h"

/* No thread's stack is larger; nor is a thread's control block. */
#define STACK_BYTES_MAX     (1ull << 30)
#define CONTROL_BLOCK_BYTES 4096
/* What glibc sets aside for libraries is 1.6 KiB; programs rarely have more than a page. */
#define THREAD_LOCAL_BYTES_MAX 8192

enum loss sample_filter_code(const struct sample_filter *filter, remote_addr instruction)
{
	const struct target *target = filter->target;

	switch (target_module_kind(target, module_find(target->modules, instruction))) {
	case MODULE_INTERPRETER:
		return LOSS_FILTER_INTERPRETER;
	case MODULE_LOADER:
		return LOSS_FILTER_LOADER;
	default:
		return LOSS_COUNT;
	}
}

enum loss sample_filter_call(const struct sample_filter *filter, struct capture *capture)
{
	if (capture_unwind_call(capture, filter->target))
		return LOSS_NO_BOUNDARY;
	return capture_in_library(capture, filter->target) ? LOSS_COUNT : LOSS_FILTER_INTERPRETER;
}

/*
 * The thread's own stack, from its pointer upwards. A thread's stack ends at
 * its control block, to which glibc points fs; it may share its mapping with
 * other memory, so the mapping tells only the main thread's end.
 */
static bool on_own_stack(const struct target *target, const struct registers *registers,
			 remote_addr address)
{
	remote_addr start = registers->general[REGISTER_RSP] - STACK_RED_ZONE_BYTES;
	const struct mapping *mapping;

	if (address < start)
		return false;
	if (registers->fs_base > start && registers->fs_base - start < STACK_BYTES_MAX)
		return address < registers->fs_base + CONTROL_BLOCK_BYTES;
	mapping = mapping_find(&target->mappings, start);
	return mapping && address < mapping->end;
}

/*
 * The main thread's static thread-local variables lie just below its control
 * block, in a mapping of their own. (Those of other threads end their stacks.)
 */
static bool in_thread_block(const struct target *target, const struct registers *registers,
			    remote_addr address)
{
	const struct mapping *mapping = mapping_find(&target->mappings, registers->fs_base);

	return mapping && address >= mapping->start && address < mapping->end &&
	       address + THREAD_LOCAL_BYTES_MAX >= registers->fs_base &&
	       address < registers->fs_base + CONTROL_BLOCK_BYTES;
}

enum loss sample_filter_access(struct sample_filter *filter, const struct capture *capture,
			       const struct access *access)
{
	const struct target *target = filter->target;
	enum loss loss = sample_filter_code(filter, access->instruction);

	if (loss != LOSS_COUNT)
		return loss;
	if (on_own_stack(target, &capture->registers, access->address))
		return LOSS_FILTER_STACK;
	if (in_thread_block(target, &capture->registers, access->address))
		return LOSS_FILTER_TLS;
	if (object_head_at(&filter->types, target, access->address, access->size))
		return LOSS_FILTER_OBJECT_HEAD;
	return LOSS_COUNT;
}
