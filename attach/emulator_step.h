/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Running one instruction of the emulator: stack, string instructions and
 * branches here, integer instructions in emulator_integer.h. What neither
 * covers makes all that Zydis says it writes unknown: slower to reach an
 * answer, never a wrong one.
 */
#ifndef PIEPROFD_ATTACH_EMULATOR_STEP_H
#define PIEPROFD_ATTACH_EMULATOR_STEP_H

#include "attach/emulator.h"

enum emulator_result {
	EMULATOR_OK, /* registers.rip is the next instruction */
	/* In all other cases nothing has changed. */
	EMULATOR_UNKNOWN_BRANCH, /* flags or target of a branch are unknown */
	EMULATOR_UNKNOWN_COUNT,  /* how often a rep string instruction runs is unknown */
	EMULATOR_SYSTEM_CALL,    /* a system call, an interrupt or a fault */
	EMULATOR_UNSUPPORTED,    /* far branches, transactions and the like */
};

/* Runs the instruction at registers.rip, which is decoded. */
enum emulator_result emulator_step(struct emulator *emulator,
				   const struct ZydisDecodedInstruction_ *decoded,
				   const struct ZydisDecodedOperand_ *operands);

/* How often a rep string instruction is going to run; false when that is unknown. */
bool emulator_repeat_count(const struct emulator *emulator,
			   const struct ZydisDecodedInstruction_ *decoded, uint64_t *ret_count);

#endif
