/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unwinding a thread's native stack from copies of its registers and stack.
 *
 * The thread runs on meanwhile: nothing here touches the target except, where
 * the snapshot ends too early, through the memory reader.
 */
#ifndef PIEPROFD_SYMBOLIZE_UNWINDER_H
#define PIEPROFD_SYMBOLIZE_UNWINDER_H

#include "common/memory.h"
#include "common/registers.h"
#include "common/stack_snapshot.h"
#include "symbolize/module.h"
#include "symbolize/native_frame.h"

struct unwinder;

/* modules and reader are borrowed for the unwinder's life; reader may be NULL (snapshot only). */
struct unwinder *unwinder_create(const struct module_table *modules,
				 const struct memory_reader *reader);
void unwinder_destroy(struct unwinder *unwinder);

/*
 * Forgets cached rules and indexes the new modules that need it: call after
 * module_table_update changed something, never while a thread is stopped.
 */
void unwinder_flush(struct unwinder *unwinder);

/* Before any thread is stopped: waits, for limit_ns at most, until its tables are in memory. */
void unwinder_await_tables(const struct unwinder *unwinder, uint64_t limit_ns);

/*
 * Unwinds from registers, innermost frame first, at most maximum frames.
 * When until is not NULL, stops after the first frame whose lookup address
 * lies in it, that frame included (its cfa is still set). Returns why it
 * ended; *ret_count frames are valid in every case. Allocates nothing once
 * its caches are warm.
 */
enum unwind_end unwinder_unwind(struct unwinder *unwinder, const struct registers *registers,
				const struct stack_snapshot *stack,
				const struct address_ranges *until, struct native_frame *frames,
				size_t maximum, size_t *ret_count);

/*
 * Start and end of the function (FDE) around an address of the target;
 * -ENOENT when no unwind information covers it.
 */
__attribute__((warn_unused_result)) int unwinder_function_range(struct unwinder *unwinder,
								remote_addr address,
								struct address_range *ret_range);

/*
 * The parts of a function that the compiler split in two: the range given and
 * its .cold part, the next FDE in .eh_frame order when that one's first row
 * has a CFA that no function entry has. -ENOENT when no unwind information
 * begins at the function's start.
 */
__attribute__((warn_unused_result)) int unwinder_function_parts(struct unwinder *unwinder,
								struct address_range function,
								struct address_ranges *ret_parts);

/* What the unwinds so far have cost beyond the rule cache. */
struct unwinder_counters {
	uint64_t rule_misses; /* call frame programs run */
	uint64_t libunwind;   /* unwinds handed to libunwind */
	uint64_t stack_reads; /* pieces of stack read from the target */
};

struct unwinder_counters unwinder_counters(const struct unwinder *unwinder);

#endif
