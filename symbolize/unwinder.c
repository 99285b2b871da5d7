/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames come from the rules for their code (stack_walk). Stacks that hold a
 * frame no rule expresses are left to libunwind; past code without unwind
 * information the stack is scanned (stack_guess).
 *
 * No locks, no allocation; no system call except through stack_view when the
 * snapshot ends too early, and in libunwind.
 */
#include "symbolize/unwinder.h"

#include "symbolize/stack_guess.h"
#include "symbolize/stack_walk.h"
#include "symbolize/unwinder_libunwind.h"

#include <stdlib.h>

struct unwinder {
	struct unwinder_libunwind *libunwind;
	struct unwinder_counters counters;
	struct stack_walker walker; /* large: last */
};

struct unwinder *unwinder_create(const struct module_table *modules,
				 const struct memory_reader *reader)
{
	struct unwinder *unwinder = calloc(1, sizeof(*unwinder));

	if (!unwinder)
		return NULL;
	if (stack_walker_init(&unwinder->walker, modules, reader))
		goto fail;
	unwinder->libunwind = unwinder_libunwind_create(modules, unwinder->walker.fdes, false);
	if (!unwinder->libunwind)
		goto fail;
	return unwinder;
fail:
	unwinder_destroy(unwinder);
	return NULL;
}

void unwinder_destroy(struct unwinder *unwinder)
{
	if (!unwinder)
		return;
	unwinder_libunwind_destroy(unwinder->libunwind);
	stack_walker_deinit(&unwinder->walker);
	free(unwinder);
}

void unwinder_flush(struct unwinder *unwinder)
{
	stack_walker_flush(&unwinder->walker);
	unwinder_libunwind_flush(unwinder->libunwind);
	fde_table_prepare(unwinder->walker.fdes);
}

void unwinder_await_tables(const struct unwinder *unwinder, uint64_t limit_ns)
{
	fde_table_await(unwinder->walker.fdes, limit_ns);
}

struct unwinder_counters unwinder_counters(const struct unwinder *unwinder)
{
	struct unwinder_counters counters = unwinder->counters;

	counters.rule_misses = unwinder->walker.rule_misses;
	counters.stack_reads = unwinder->walker.view.reads;
	return counters;
}

enum unwind_end unwinder_unwind(struct unwinder *unwinder, const struct registers *registers,
				const struct stack_snapshot *stack,
				const struct address_ranges *until, struct native_frame *frames,
				size_t maximum, size_t *ret_count)
{
	struct stack_walk walk = stack_walk_from(registers);
	enum unwind_end end;
	size_t count = 0;

	stack_view_begin(&unwinder->walker.view, stack);
	stack_memo_begin(&unwinder->walker.memo, registers->fs_base);
	walk.memo = &unwinder->walker.memo;
	end = stack_walk_frames(&unwinder->walker, &walk, until, frames, maximum, &count);
	stack_memo_end(&unwinder->walker.memo);
	if (walk.is_complex) {
		size_t own_count = count;

		/* From the start again: it needs registers that our rules do not keep. */
		unwinder->counters.libunwind++;
		stack_view_begin(&unwinder->walker.view, stack);
		end = unwinder_libunwind_unwind(unwinder->libunwind, registers,
						&unwinder->walker.view, until, frames, maximum,
						&count);
		if (count < own_count) {
			walk = stack_walk_from(registers);
			count = 0;
			stack_view_begin(&unwinder->walker.view, stack);
			end = stack_walk_frames(&unwinder->walker, &walk, until, frames, maximum,
						&count);
		}
	} else if (end == UNWIND_NO_CFI ||
		   (end == UNWIND_NO_MODULE &&
		    stack_walker_knows_generated_code(&unwinder->walker, walk.pc))) {
		stack_guess(&unwinder->walker, &walk, until, frames, maximum, &count, &end);
	}
	*ret_count = count;
	return end;
}

int unwinder_function_range(struct unwinder *unwinder, remote_addr address,
			    struct address_range *ret_range)
{
	const struct module *module = module_find(unwinder->walker.modules, address);
	struct eh_frame_fde fde;

	if (!module || fde_table_find(unwinder->walker.fdes, module, address, &fde))
		return -ENOENT;
	*ret_range = (struct address_range){
		.start = fde.start + module->bias,
		.end = fde.end + module->bias,
	};
	return 0;
}

int unwinder_function_parts(struct unwinder *unwinder, struct address_range function,
			    struct address_ranges *ret_parts)
{
	const struct module *module = module_find(unwinder->walker.modules, function.start);
	struct address_ranges parts = { .items = { function }, .count = 1 };
	struct eh_frame_fde fde, next;

	if (!module || fde_table_find(unwinder->walker.fdes, module, function.start, &fde) ||
	    fde.start + module->bias != function.start)
		return -ENOENT;
	/* A symbol may lack its size; the FDE never does. */
	if (function.end - function.start < fde.end - fde.start)
		parts.items[0].end = fde.end + module->bias;
	/*
	 * The compiler emits a function's two FDEs one after the other. Control
	 * comes into the cold part by a jump from the middle of the hot one, so
	 * it begins with registers pushed already.
	 */
	if (eh_frame_fde_after(module->image, fde.next, &next) == 0 &&
	    fde_is_in_module(&next, module) &&
	    cfi_rule_is_mid_function(cfi_rule_at(&next, next.start)))
		parts.items[parts.count++] = (struct address_range){
			.start = next.start + module->bias,
			.end = next.end + module->bias,
		};
	*ret_parts = parts;
	return 0;
}
