/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many values are on a frame's evaluation stack before each instruction of
 * a code object, and in which of them the iterators of the loops around lie.
 * Pure: found by following the flow of control once; the bytes are hostile.
 *
 *   slot 0, the lowest value ... slot depth - 1, the top
 *
 * The interpreter does not save the depth while it runs C code (to 3.13), so
 * this is the only way to know where a call's operands are.
 *
 * To 3.8 the code of `finally` and of leaving `with` is entered with one value
 * on the stack or with six, so there the depth is unknown; so it is in code
 * that is never reached.
 */
#ifndef PIEPROFD_PYINTROSPECT_STACK_DEPTH_H
#define PIEPROFD_PYINTROSPECT_STACK_DEPTH_H

#include "pyintrospect/code_object.h"
#include "pyintrospect/stack_list.h"

/* Larger code objects are not looked into. */
#define STACK_DEPTH_BYTES_MAX (256u << 10)
/* Nor are deeper stacks, and loops nested deeper are left out. */
#define STACK_DEPTH_MAX 4096
#define STACK_LOOPS_MAX STACK_LIST_LENGTH_MAX

#define STACK_DEPTH_UNKNOWN (-1)

struct stack_instruction {
	uint32_t offset;   /* of its first byte, EXTENDED_ARG prefixes included */
	uint32_t end;      /* behind its last unit and its caches */
	uint32_t argument; /* with its prefixes */
	int16_t depth;     /* before it; STACK_DEPTH_UNKNOWN */
	uint16_t inner;    /* the innermost loop in stack_depths.lists, 0: none */
	uint8_t opcode;    /* as compiled */
};

/* A loop whose iterator is on the stack. */
struct stack_loop {
	uint32_t head; /* offset of its FOR_ITER */
	uint16_t slot; /* of its iterator; from 3.15 the slot above belongs to it, too */
};

struct stack_depths {
	int minor;
	struct stack_instruction *instructions;
	size_t count;
	struct stack_lists lists;
};

/*
 * 0; -ENOTSUP: an unknown version, opcode or one whose original is kept
 * elsewhere is reached; -EBADMSG: jumps into nowhere, or takes more values than
 * there are; -E2BIG: larger than code that people write, or too tangled; -ENOMEM.
 */
__attribute__((warn_unused_result)) int stack_depths_init(struct stack_depths *depths,
							  const struct python_code *code);
void stack_depths_deinit(struct stack_depths *depths);

/* The instruction that a byte offset is in (prefixes and caches included); NULL: none. */
const struct stack_instruction *stack_depths_at(const struct stack_depths *depths, int offset);

/* The loops around an instruction, innermost first; returns how many there are. */
size_t stack_depths_loops(const struct stack_depths *depths,
			  const struct stack_instruction *instruction,
			  struct stack_loop ret_loops[STACK_LOOPS_MAX]);

#endif
