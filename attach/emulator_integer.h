/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The integer instructions that the emulator follows: moves, addresses,
 * arithmetic, shifts, bit counts, and what depends on flags without
 * branching. Each form has one small function.
 */
#ifndef PIEPROFD_ATTACH_EMULATOR_INTEGER_H
#define PIEPROFD_ATTACH_EMULATOR_INTEGER_H

#include "attach/emulator.h"

/* False, with nothing changed, when it is none of them. Leaves rip alone. */
bool emulator_integer(struct emulator *emulator, const struct ZydisDecodedInstruction_ *decoded,
		      const struct ZydisDecodedOperand_ *operands);

#endif
