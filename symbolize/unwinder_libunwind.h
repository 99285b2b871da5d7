/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libunwind over the same copies that our own unwinder works on: registers and
 * stack from the sample, unwind tables and code from the mapped ELF files.
 *
 * It keeps all registers and evaluates any DWARF expression, at some 30 times
 * the cost: for the stacks our rules cannot express, and as the second opinion
 * in tests. libunwind's own guesses (frame pointers where there is no unwind
 * information) are not accepted.
 */
#ifndef PIEPROFD_SYMBOLIZE_UNWINDER_LIBUNWIND_H
#define PIEPROFD_SYMBOLIZE_UNWINDER_LIBUNWIND_H

#include "common/registers.h"
#include "symbolize/fde_table.h"
#include "symbolize/native_frame.h"
#include "symbolize/stack_view.h"

struct unwinder_libunwind;

/*
 * modules and fdes are borrowed. with_cache lets libunwind keep rules by
 * address: faster, but 1.6 takes one address reached by a call and by a signal
 * for the same place, and blocks all signals (a system call) around each use.
 */
struct unwinder_libunwind *unwinder_libunwind_create(const struct module_table *modules,
						     const struct fde_table *fdes, bool with_cache);
void unwinder_libunwind_destroy(struct unwinder_libunwind *unwinder);

void unwinder_libunwind_flush(struct unwinder_libunwind *unwinder);

/* As unwinder_unwind(), out of a view that stack_view_begin() has prepared. */
enum unwind_end unwinder_libunwind_unwind(struct unwinder_libunwind *unwinder,
					  const struct registers *registers,
					  struct stack_view *view,
					  const struct address_ranges *until,
					  struct native_frame *frames, size_t maximum,
					  size_t *ret_count);

#endif
