/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A live process with everything that unwinds it: our unwinder, libunwind over
 * the same copies, libunwind-ptrace on the stopped process. Only for tests and
 * benchmarks.
 */
#ifndef PIEPROFD_TESTS_UNWIND_SUBJECT_H
#define PIEPROFD_TESTS_UNWIND_SUBJECT_H

#include "symbolize/cfi.h"
#include "symbolize/fde_table.h"
#include "symbolize/unwinder.h"
#include "symbolize/unwinder_libunwind.h"
#include "tests/unit/live_process.h"

#include <libunwind-ptrace.h>

#define FRAMES_MAX 512

struct stack {
	struct native_frame frames[FRAMES_MAX];
	size_t count;
	enum unwind_end end;
};

struct subject {
	struct live_process *process;
	struct module_table *modules;
	struct fde_table *fdes;
	struct unwinder *unwinder;
	struct unwinder_libunwind *libunwind;
	struct stack_view *view;
};

static inline struct subject subject_open(struct live_process *process)
{
	struct subject subject = { .process = process };

	live_process_read_mappings(process);
	subject.modules = module_table_create(&process->opener, &process->reader);
	live_must(subject.modules);
	live_must(module_table_update(subject.modules, &process->mappings) == 0);
	subject.fdes = fde_table_create(subject.modules);
	subject.unwinder = unwinder_create(subject.modules, &process->reader);
	subject.libunwind = unwinder_libunwind_create(subject.modules, subject.fdes, false);
	subject.view = calloc(1, sizeof(*subject.view));
	live_must(subject.unwinder);
	live_must(subject.libunwind);
	subject.view->reader = &process->reader;
	return subject;
}

static inline void subject_close(struct subject *subject)
{
	free(subject->view);
	unwinder_libunwind_destroy(subject->libunwind);
	unwinder_destroy(subject->unwinder);
	fde_table_destroy(subject->fdes);
	module_table_destroy(subject->modules);
	live_process_end(subject->process);
}

static inline void unwind_own(const struct subject *subject, const struct address_ranges *until,
			      struct stack *ret_stack)
{
	ret_stack->end = unwinder_unwind(subject->unwinder, &subject->process->registers,
					 &subject->process->stack, until, ret_stack->frames,
					 FRAMES_MAX, &ret_stack->count);
}

static inline void unwind_libunwind(const struct subject *subject, struct stack *ret_stack)
{
	stack_view_begin(subject->view, &subject->process->stack);
	ret_stack->end = unwinder_libunwind_unwind(subject->libunwind, &subject->process->registers,
						   subject->view, NULL, ret_stack->frames,
						   FRAMES_MAX, &ret_stack->count);
}

/* Only the pcs. COMPLETE means that libunwind said so; it may have guessed on the way. */
static inline void unwind_live(const struct subject *subject, struct stack *ret_stack)
{
	unw_addr_space_t address_space = unw_create_addr_space(&_UPT_accessors, 0);
	void *argument = _UPT_create(subject->process->tid);
	unw_cursor_t cursor;
	int step = 1;

	unw_set_caching_policy(address_space, UNW_CACHE_NONE);
	ret_stack->count = 0;
	live_must(unw_init_remote(&cursor, address_space, argument) == 0);
	while (step > 0 && ret_stack->count < FRAMES_MAX) {
		unw_word_t pc = 0;

		unw_get_reg(&cursor, UNW_REG_IP, &pc);
		if (pc == 0) {
			step = 0;
			break;
		}
		ret_stack->frames[ret_stack->count++].pc = pc;
		step = unw_step(&cursor);
	}
	ret_stack->end = step == 0 ? UNWIND_COMPLETE : UNWIND_CORRUPT;
	_UPT_destroy(argument);
	unw_destroy_addr_space(address_space);
}

static inline bool same_pcs(const struct stack *a, const struct stack *b)
{
	if (a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++)
		if (a->frames[i].pc != b->frames[i].pc)
			return false;
	return true;
}

/* Whether the outermost frame is code that says so itself: not where somebody got lost. */
static inline bool ends_in_start(const struct subject *subject, const struct stack *stack)
{
	const struct native_frame *last = &stack->frames[stack->count - 1];
	const struct module *module = module_find(subject->modules, last->pc - 1);
	struct eh_frame_fde fde;

	return module && !fde_table_find(subject->fdes, module, last->pc - 1, &fde) &&
	       cfi_rule_at(&fde, last->pc - 1 - module->bias).kind == CFI_RULE_END;
}

static inline void print_stack(const struct subject *subject, const char *title,
			       const struct stack *stack)
{
	printf("  %s: end %d, %zu frames\n", title, stack->end, stack->count);
	for (size_t i = 0; i < stack->count; i++) {
		const struct native_frame *frame = &stack->frames[i];
		const struct module *module = module_find(subject->modules, frame->pc);

		printf("    %2zu %016" PRIx64 " %s+0x%" PRIx64 "\n", i, frame->pc,
		       module ? module->name : "?", module ? frame->pc - module->bias : 0);
	}
}

#endif
