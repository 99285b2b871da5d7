/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From one frame to the next by the rule for its pc, which comes from the rule
 * cache or from running one FDE's program.
 *
 * No locks, no allocation; no system call except through stack_view when the
 * snapshot ends too early.
 */
#ifndef PIEPROFD_SYMBOLIZE_STACK_WALK_H
#define PIEPROFD_SYMBOLIZE_STACK_WALK_H

#include "common/registers.h"
#include "symbolize/fde_table.h"
#include "symbolize/native_frame.h"
#include "symbolize/rule_cache.h"
#include "symbolize/stack_memo.h"
#include "symbolize/stack_view.h"

/*
 * Places at which no file was found are remembered, in a table of so many, to
 * tell generated code from a library that has just been loaded.
 */
#define STACK_WALKER_PLACES 64

/* What walks know and keep. */
struct stack_walker {
	const struct module_table *modules;
	struct fde_table *fdes;
	struct rule_cache cache;
	struct rule_cache_entry unknown;              /* the answer for an address in no module */
	uint64_t rule_misses;                         /* call frame programs run */
	uint64_t unknown_places[STACK_WALKER_PLACES]; /* place number, 0: none */
	struct stack_memo memo;
	struct stack_view view; /* large: last */
};

/* Where a walk stands: the registers of the frame it looks at. */
struct stack_walk {
	remote_addr pc;
	remote_addr sp;
	remote_addr rbp;
	bool pc_is_exact;        /* not a return address */
	bool all_registers;      /* general holds this frame's: innermost, or interrupted */
	bool is_at_start;        /* out: ended at a frame whose CFI says that it has no caller */
	bool is_complex;         /* out: ended at a frame that no rule expresses */
	uint32_t flags;          /* of the frame, enum native_frame_flag */
	struct stack_memo *memo; /* NULL: steps are not remembered */
	uint64_t general[REGISTER_COUNT];
};

/* modules and reader are borrowed; walker is zeroed. 0 or -ENOMEM; deinit in either case. */
__attribute__((warn_unused_result)) int stack_walker_init(struct stack_walker *walker,
							  const struct module_table *modules,
							  const struct memory_reader *reader);
void stack_walker_deinit(struct stack_walker *walker);
/* Forgets what it keeps of modules. */
void stack_walker_flush(struct stack_walker *walker);

/*
 * Whether code in no module is generated code, not a library that the module
 * table does not know yet: the caller has been told of the place before, and
 * the map as it was then, or is now, has no file there.
 */
bool stack_walker_knows_generated_code(struct stack_walker *walker, remote_addr address);

struct stack_walk stack_walk_from(const struct registers *registers);

/* Appends frames from where walk stands; *count is both in and out. */
enum unwind_end stack_walk_frames(struct stack_walker *walker, struct stack_walk *walk,
				  const struct address_ranges *until, struct native_frame *frames,
				  size_t maximum, size_t *count);

#endif
