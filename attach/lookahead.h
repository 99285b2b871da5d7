/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The next load or store a stopped thread will make, found by decoding ahead
 * of it instead of stepping.
 *
 * Where decoding cannot tell (an address register or the flags of a branch
 * were computed on the way in a way not followed), the answer is "run to this
 * instruction and ask again": the caller lets the thread run to an execution
 * breakpoint there. PTRACE_SINGLESTEP is never used: its stop is a SIGTRAP,
 * which kills the target when the daemon dies in the middle of it.
 */
#ifndef PIEPROFD_ATTACH_LOOKAHEAD_H
#define PIEPROFD_ATTACH_LOOKAHEAD_H

#include "attach/access.h"
#include "common/memory.h"
#include "common/stack_snapshot.h"

/*
 * UNSUPPORTED: the access is of a form not followed (gather, masked, x87
 * state), or the very first instruction cannot be passed (a transaction, a
 * jump through memory that cannot be read).
 */
enum lookahead_end {
	LOOKAHEAD_FOUND,
	LOOKAHEAD_RUN_TO,      /* see run_to */
	LOOKAHEAD_SYSTEM_CALL, /* a system call or trap comes first */
	LOOKAHEAD_UNREADABLE,  /* code bytes cannot be read or decoded */
	LOOKAHEAD_TOO_FAR,     /* nothing within the limit */
	LOOKAHEAD_UNSUPPORTED,
	LOOKAHEAD_END_COUNT
};

struct lookahead {
	enum lookahead_end end;
	struct access access; /* LOOKAHEAD_FOUND */
	remote_addr run_to;   /* LOOKAHEAD_RUN_TO: the thread reaches it before the sought access */
	unsigned skipped;     /* LOOKAHEAD_RUN_TO: of those sought, passed before run_to */
	unsigned instructions; /* decoded on the way */
};

/* Of the accesses of the kind sought, those that count; the others are passed over. */
struct lookahead_filter {
	bool (*counts)(void *context, const struct access *access);
	void *context;
};

/* Instructions decoded ahead at most; one takes about 0.15 us, and what reading code takes. */
#define LOOKAHEAD_INSTRUCTIONS_MAX 256

/*
 * Finds the next access of the kind sought (ACCESS_LOAD: pure loads only;
 * ACCESS_STORE: stores and read-modify-writes), starting skip_count accesses
 * of that kind later (randomised distance against the clock's skid). code
 * reads instruction bytes (from the daemon's own copy of the files, so without
 * system calls); stack and memory, either may be NULL, serve loads of the
 * emulated code.
 *
 * filter (NULL: all count) is asked behind the skipped ones, each of them one
 * time; what it passes over is skipped, too.
 *
 * Accesses to the stack (access.stack), thread-local storage and by indirect
 * branches are passed over uncounted, as they are never watched; the one found
 * does not lie in the given stack snapshot either. A rep string instruction
 * counts as one access, of its first element, and as none when it runs 0 times.
 *
 * LOOKAHEAD_RUN_TO: the caller lets the thread run to an execution breakpoint
 * at run_to (never the instruction it is at), which it reaches before the
 * sought access, and asks again with the registers it has there and
 * skip_count - skipped. Loops can make each such move a short one: the caller
 * bounds their number, and the time it waits, as a signal or another thread's
 * store may lead the thread elsewhere.
 */
void lookahead_next(const struct registers *registers, enum access_kind sought, unsigned skip_count,
		    const struct memory_reader *code, const struct stack_snapshot *stack,
		    const struct memory_reader *memory, const struct lookahead_filter *filter,
		    struct lookahead *ret);

/* Eight bytes that will have been stored; not known: what, or how many of them. */
struct lookahead_store {
	remote_addr address;
	uint64_t size;
	uint64_t value;
	bool known;
};

#define LOOKAHEAD_STORES_MAX 16

/*
 * The stores that a stopped thread will make before its next jump to where a register or
 * memory says, the last one first: what an interpreter has still to write when
 * it has read its next instruction already. -ENOTSUP: it cannot be followed there.
 */
__attribute__((warn_unused_result)) int lookahead_stores(
	const struct registers *registers, const struct memory_reader *code,
	const struct stack_snapshot *stack, const struct memory_reader *memory,
	struct lookahead_store ret_stores[LOOKAHEAD_STORES_MAX], size_t *ret_count);

#endif
