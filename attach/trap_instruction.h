/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which instruction made the access a data watchpoint has trapped on.
 *
 * The trap comes after the access: rip is behind the instruction (rep string
 * instructions: still on it). x86 cannot be decoded backwards, so boundaries
 * are found by decoding forward from the function's start, and cached.
 */
#ifndef PIEPROFD_ATTACH_TRAP_INSTRUCTION_H
#define PIEPROFD_ATTACH_TRAP_INSTRUCTION_H

#include "attach/access.h"
#include "common/memory.h"

struct trap_instruction {
	remote_addr address; /* of the instruction that trapped */
	uint8_t kinds; /* ACCESS_LOAD | ACCESS_STORE of its operand that can have hit the watch */
	uint32_t size; /* of that operand */
	bool operand_known; /* the instruction left its address registers alone, so this is sure: */
	remote_addr operand; /* its first byte */
	bool floating_point;
	uint8_t element_size;
};

struct trap_decoder;

/* code is borrowed. Bounded cache, see trap_instruction.c. */
struct trap_decoder *trap_decoder_create(const struct memory_reader *code);
void trap_decoder_destroy(struct trap_decoder *decoder);
/* Forget everything: the target's map changed. */
void trap_decoder_flush(struct trap_decoder *decoder);

/* How far behind its start an instruction may lie: the decoding of a cold function up to there. */
#define TRAP_FUNCTION_BYTES_MAX 65536

/*
 * registers as at the trap; function is the range (FDE) that holds rip;
 * watched is the range of bytes under watch.
 *
 * 0; -ENOENT when no instruction of the function that ends at rip can have made
 * the access (an indirect branch to rip, or a ret, did); -EILSEQ when the
 * function does not decode up to rip; -E2BIG when rip is too far from its start
 * to decode while a thread waits; or the error of reading the code, -ENOMEM.
 */
__attribute__((warn_unused_result)) int trap_decode(struct trap_decoder *decoder,
						    const struct registers *registers,
						    struct address_range function,
						    struct address_range watched,
						    struct trap_instruction *ret_instruction);

#endif
