/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytecode: the name of the instruction at an offset, as the compiler wrote
 * it, whatever the interpreter has since specialised or instrumented it to.
 * Pure.
 */
#ifndef PIEPROFD_PYINTROSPECT_OPCODE_H
#define PIEPROFD_PYINTROSPECT_OPCODE_H

#include <stddef.h>
#include <stdint.h>

#define OPCODE_CACHES_UNKNOWN 255

struct opcode_info {
	const char *name; /* NULL: no such opcode */
	uint8_t base;     /* what it is a specialised or instrumented form of, else itself */
	uint8_t caches;   /* 2-byte inline cache entries behind it; OPCODE_CACHES_UNKNOWN */
};

/* 256 entries, or NULL for an unknown minor. */
const struct opcode_info *opcode_table(int minor);

/* Of a known minor; -1: it has no such opcode. */
int opcode_number(int minor, const char *name);

/*
 * Where 3.12 and later keep opcodes that monitoring has replaced: per
 * instruction (2 bytes of code), as _PyCoMonitoringData has them. Each may be
 * NULL.
 */
struct opcode_originals {
	const uint8_t *lines;        /* 2 bytes an instruction: original opcode, line delta */
	const uint8_t *instructions; /* 1 byte an instruction */
};

/*
 * Rewrites bytecode to what the compiler wrote: base opcodes, empty caches.
 * Stops where it cannot tell; what follows stays as it was. originals may be
 * NULL.
 */
void opcode_normalise(int minor, uint8_t *bytecode, size_t size,
		      const struct opcode_originals *originals);

/*
 * Name of the instruction that the offset is in (an offset into its inline
 * caches means the instruction before them). NULL: outside the code, or it
 * cannot be told.
 */
const char *opcode_name(int minor, const uint8_t *bytecode, size_t size, int instruction_offset);

#endif
