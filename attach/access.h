/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From instruction bytes and registers to memory accesses: address, size,
 * load or store. Pure: nothing here touches the target.
 */
#ifndef PIEPROFD_ATTACH_ACCESS_H
#define PIEPROFD_ATTACH_ACCESS_H

#include "common/registers.h"

#define INSTRUCTION_BYTES_MAX 15

enum access_kind {
	ACCESS_LOAD = 1,
	ACCESS_STORE = 2, /* a read-modify-write has both bits, and counts as a store */
};

struct access {
	remote_addr instruction;   /* the instruction that makes it */
	remote_addr address;       /* effective address, first byte */
	uint32_t size;             /* bytes, 1 to 64; of rep string instructions one element's */
	uint8_t kinds;             /* ACCESS_LOAD | ACCESS_STORE */
	bool address_known;        /* false: see instruction_decode; address is 0 */
	bool stack;                /* based on rsp, or push, pop, call, ret */
	bool thread_local_storage; /* through fs or gs */
	bool indirect_branch;      /* read by a call, jmp or ret: rip is elsewhere when it traps */
	bool floating_point;       /* the operand holds floats ... */
	uint8_t element_size;      /* ... of this many bytes (4 or 8); else 0 */
};

#define INSTRUCTION_ACCESSES_MAX 4

struct instruction {
	remote_addr address;
	uint8_t length;
	bool is_rep_string; /* rep/repe/repne movs, stos, cmps, scas, lods, ins, outs */
	size_t access_count;
	struct access accesses[INSTRUCTION_ACCESSES_MAX];
};

/*
 * Decodes the instruction at registers->rip, whose bytes are given (as many
 * as could be read, up to 15), with every memory operand's address computed
 * from registers as they are before it runs. 0, or -EILSEQ when the bytes are
 * no instruction.
 *
 * An address stays unknown where the general registers do not say which bytes
 * are touched: gathers and scatters, vector instructions under a mask, state
 * of the x87 or of XSAVE longer than 64 bytes, tiles, far calls.
 */
__attribute__((warn_unused_result)) int instruction_decode(const struct registers *registers,
							   const uint8_t *bytes, size_t size,
							   struct instruction *ret_instruction);

/*
 * For the files of this folder that hold a decoded instruction already (Zydis'
 * own structures, declared here by tag so that its headers stay out of this
 * one). known_registers has bit 1 << enum register_id for each general
 * register whose value counts; an address that needs another is unknown.
 */
struct ZydisDecodedInstruction_;
struct ZydisDecodedOperand_;

#define REGISTERS_ALL_KNOWN ((1u << REGISTER_COUNT) - 1)

/* The general register that a register operand is or is part of, or -1. */
int operand_register(const struct ZydisDecodedOperand_ *operand);
/* False when the address cannot be known. */
bool operand_address(const struct ZydisDecodedInstruction_ *decoded,
		     const struct ZydisDecodedOperand_ *operand, const struct registers *registers,
		     unsigned known_registers, remote_addr *ret_address);
void instruction_accesses(const struct ZydisDecodedInstruction_ *decoded,
			  const struct ZydisDecodedOperand_ *operands,
			  const struct registers *registers, unsigned known_registers,
			  struct instruction *ret_instruction);

#endif
