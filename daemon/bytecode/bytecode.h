/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The instructions of one code object, as far as advice needs them: names,
 * arguments, where backward jumps go.
 *
 * Every version from 3.6 on has two-byte units (opcode, argument), EXTENDED_ARG
 * prefixes, and from 3.11 on inline caches between the instructions, whose
 * number opcode_table() knows. The bytes are hostile input: decoding ends at
 * the first one that is no opcode, and what came before it is kept.
 */
#ifndef PIEPROFD_DAEMON_BYTECODE_BYTECODE_H
#define PIEPROFD_DAEMON_BYTECODE_BYTECODE_H

#include "pyintrospect/code_object.h"

#include <stdbool.h>
#include <stddef.h>

/* Larger code objects are not looked into. */
#define BYTECODE_BYTES_MAX (256 << 10)

#define BYTECODE_NO_TARGET (-1)

struct bytecode_instruction {
	int offset;        /* of its first byte, EXTENDED_ARG prefixes included */
	int end;           /* behind its last unit and its caches */
	uint32_t argument; /* with its prefixes */
	int target;        /* byte offset a backward jump goes to, or BYTECODE_NO_TARGET */
	const char *name;
};

struct bytecode {
	const struct python_code *code; /* borrowed */
	struct bytecode_instruction *instructions;
	size_t count; /* 0: empty, too large, or of an unknown version */
};

/* 0 or -ENOMEM. */
__attribute__((warn_unused_result)) int bytecode_init(struct bytecode *bytecode,
						      const struct python_code *code);
void bytecode_deinit(struct bytecode *bytecode);

/* The instruction that a byte offset is in (caches included); NULL: none. */
const struct bytecode_instruction *bytecode_at(const struct bytecode *bytecode, int offset);

/* Where a forward jump of the instruction goes, or an exception in what it guards, or
 * BYTECODE_NO_TARGET. */
int bytecode_forward_target(const struct bytecode *bytecode,
			    const struct bytecode_instruction *instruction);

/* x[i]: an instruction of its own, and BINARY_OP's 26 from 3.14 on. */
bool bytecode_is_subscript(const struct bytecode_instruction *instruction);

#endif
