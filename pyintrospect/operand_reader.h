/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a thread's frames work on now: the operands of each frame's current
 * instruction, the iterators of the loops around it with their positions, and
 * the arguments of the frame's function. Addresses of objects, not contents.
 *
 *   frame -> arguments, other locals | slot 0 ... iterators ... operands
 *
 *   1st system call   frames, arguments, from 3.11 on slots
 *   2nd               to 3.10 slots
 *   then up to five   iterators, and what they go over
 *
 * The thread is stopped or asleep. All that is read is hostile.
 */
#ifndef PIEPROFD_PYINTROSPECT_OPERAND_READER_H
#define PIEPROFD_PYINTROSPECT_OPERAND_READER_H

#include "pyintrospect/iterator.h"
#include "pyintrospect/operation.h"
#include "pyintrospect/python_stack.h"

#define OPERAND_ARGUMENTS_MAX 16
/* Values read of one frame's stack; loops that lie further down are left out. */
#define OPERAND_SLOTS_MAX 64

enum operand_state {
	OPERAND_IS_NULL,    /* not assigned; kept in a cell (to 3.10) */
	OPERAND_IS_OBJECT,  /* from 3.11 on a local variable that is kept in a cell is the cell */
	OPERAND_IS_INTEGER, /* 3.14+: the value itself */
	OPERAND_IS_WRONG,   /* cannot be an object's address: the frame has gone on */
};

struct operand_value {
	uint8_t role; /* enum operand_role */
	uint8_t state;
	remote_addr object;
	int64_t integer;
};

struct operand_sample {
	/*
	 * 0; -ESTALE: the frame is not at this instruction any more; -EFAULT; or
	 * why the operands cannot be told: -ENOENT (the depth is unknown),
	 * -ENOTSUP, -EBADMSG, -E2BIG. Only arguments are there then.
	 */
	int error;
	/*
	 * The instruction has called a Python function in the same evaluation loop:
	 * what it took from the stack is the callee's now, and may be gone.
	 */
	bool taken;
	uint8_t kind; /* enum operation_kind */
	bool in_place;
	uint32_t operand_total; /* there may be more than are told */
	size_t operand_count, loop_count, argument_count;
	struct operand_value operands[OPERANDS_MAX];
	struct operand_iterator loops[OPERAND_LOOPS_MAX]; /* innermost first */
	struct operand_value arguments[OPERAND_ARGUMENTS_MAX];
};

/* What a word in a frame says. */
struct operand_value operand_value_of(const struct python_runtime *runtime, uint64_t word,
				      uint8_t role);

struct operand_reader;

/* runtime is borrowed. NULL: no memory. */
struct operand_reader *operand_reader_create(const struct python_runtime *runtime);
void operand_reader_destroy(struct operand_reader *reader);

/*
 * Of some frames of a stack, by their numbers, at most OPERAND_FRAMES_MAX. 0,
 * -ENOMEM, or what the memory reader said.
 *
 * Callables and selves are told apart, NULLs that stand for "none" left out.
 */
__attribute__((warn_unused_result)) int operand_reader_read(struct operand_reader *reader,
							    const struct python_stack *stack,
							    const size_t *frames, size_t count,
							    struct operand_sample *ret_samples);

/* Bytes that will be so when the instruction begins; not known: or nobody knows what. */
struct operand_store {
	remote_addr address;
	uint64_t size, value;
	bool known;
};

/*
 * The same of an instruction that this frame, a thread's innermost, is about to
 * begin: all its operands are there, as none has been taken yet, but for stores
 * that are still to be made, of which the last one comes first.
 */
__attribute__((warn_unused_result)) int operand_reader_read_next(
	struct operand_reader *reader, const struct python_frame *frame, int instruction_offset,
	const struct operand_store *stores, size_t store_count, struct operand_sample *ret_sample);

/*
 * Where the first two bytes of a frame's current instruction lie, which the
 * interpreter reads whenever it begins it. 0, -ENOENT (it cannot be told), -ENOMEM, or
 * what the memory reader said.
 */
__attribute__((warn_unused_result)) int operand_reader_instruction(struct operand_reader *reader,
								   const struct python_frame *frame,
								   int *ret_offset,
								   remote_addr *ret_address);

/*
 * The same of the instruction that a call of the frame's function begins with
 * (code_entry.h). -ENOENT: it has none.
 */
__attribute__((warn_unused_result)) int operand_reader_entry(struct operand_reader *reader,
							     const struct python_frame *frame,
							     int *ret_offset,
							     remote_addr *ret_address);

#endif
