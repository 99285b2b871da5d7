/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every opcode does to the evaluation stack's depth and to the flow of
 * control, for each minor version. Data, see stack_effect_table.c.
 */
#ifndef PIEPROFD_PYINTROSPECT_STACK_EFFECT_H
#define PIEPROFD_PYINTROSPECT_STACK_EFFECT_H

#include <stdint.h>

/* What the instruction's argument adds to the change of depth. */
enum stack_effect_form {
	EFFECT_UNKNOWN, /* no such opcode, or none of compiled code */
	EFFECT_CONSTANT,
	EFFECT_MINUS_ARGUMENT,
	EFFECT_PLUS_ARGUMENT,
	EFFECT_MINUS_TWICE,
	EFFECT_PLUS_BIT_0,
	EFFECT_MINUS_BIT_0,
	EFFECT_MINUS_BIT_2,
	EFFECT_MINUS_BITS_0_TO_3, /* one for each that is set */
	EFFECT_PLUS_BOTH_BYTES,   /* the lowest one, and the number above it */
	EFFECT_MINUS_ONE_AT_3,
};

enum stack_effect_flow {
	FLOW_NEXT,
	FLOW_BRANCH,      /* goes on or jumps */
	FLOW_JUMP,        /* always jumps */
	FLOW_END,         /* leaves the function, raises, or goes where other code has gone */
	FLOW_HANDLER,     /* goes on; where it would jump, more values are on the stack */
	FLOW_END_FINALLY, /* to 3.8: goes on, or does again what led to the handler */
};

/* What the argument says of where it jumps. */
enum stack_effect_target {
	TARGET_NONE,
	TARGET_FORWARD, /* from behind the instruction and its caches */
	TARGET_BACKWARD,
	TARGET_ABSOLUTE,
};

struct stack_effect {
	uint8_t form; /* enum stack_effect_form */
	int8_t next;  /* change of depth where it goes on, without the argument's part */
	int8_t jump;  /* the same where it jumps, which never depends on the argument */
	uint8_t flow;
	uint8_t target;
};

/* 256 entries by base opcode, or NULL for an unknown minor. */
const struct stack_effect *stack_effect_table(int minor);

/* Arguments above this count as this: no stack is as deep. */
#define STACK_EFFECT_ARGUMENT_MAX 65536

/* What the argument adds to the change of depth. */
int stack_effect_of_argument(uint8_t form, uint32_t argument);

/* What an opcode does beside its effect. */
enum stack_special {
	SPECIAL_NONE,
	SPECIAL_PREFIX,
	SPECIAL_FOR_ITER,
	SPECIAL_REORDER_2, /* so many of the topmost values change places */
	SPECIAL_REORDER_3,
	SPECIAL_REORDER_4,
	SPECIAL_REORDER_ARGUMENT,
	SPECIAL_WITH_CLEANUP,
	SPECIAL_POP_FINALLY,
};

/* For every base opcode of a known minor. */
void stack_special_table(int minor, uint8_t ret_special[256]);

#endif
