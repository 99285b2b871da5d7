/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A mini-emulator of user-mode x86-64: it runs a copied thread ahead on paper
 * as far as integer code goes, without touching the target.
 *
 * It knows that it does not know. Each byte of a general register, each flag
 * and each emulated store is known or not; whatever an instruction writes in
 * a way not followed becomes unknown. Invariant: what is marked known is what
 * the thread will really have there, given that no other thread writes to the
 * memory that it reads on the way.
 */
#ifndef PIEPROFD_ATTACH_EMULATOR_H
#define PIEPROFD_ATTACH_EMULATOR_H

#include "attach/access.h"
#include "common/memory.h"
#include "common/stack_snapshot.h"

#define EMULATOR_STORES_MAX 64
/* Reads of the target's memory (a system call each): a thread waits meanwhile. */
#define EMULATOR_READS_MAX 64

/* Memory that emulated code has written: the newest entry that overlaps counts. */
struct emulated_store {
	remote_addr address;
	uint64_t size;
	uint64_t value; /* of the low 8 bytes, when known */
	bool known;
	bool everywhere; /* a store to an unknown address: it may have been any byte */
};

struct emulator {
	struct registers registers; /* rip is always known */
	uint8_t known_bytes[REGISTER_COUNT]; /* bit 0: the lowest byte of the register is known */
	uint64_t known_flags;		     /* bits of rflags */
	const struct stack_snapshot *stack;
	const struct memory_reader *memory;
	unsigned reads_left;
	size_t store_count;
	struct emulated_store stores[EMULATOR_STORES_MAX];
};

enum emulator_result {
	EMULATOR_OK,		 /* registers.rip is the next instruction */
	EMULATOR_UNKNOWN_BRANCH, /* flags or target of a branch unknown; nothing has changed */
	EMULATOR_UNKNOWN_COUNT,	 /* nor how often a rep string instruction runs; the same */
	EMULATOR_SYSTEM_CALL,	 /* a system call, an interrupt or a fault comes next; the same */
	EMULATOR_UNSUPPORTED,	 /* far branches, transactions; the same */
};

/* stack and memory may be NULL; both are borrowed. */
void emulator_init(struct emulator *emulator, const struct registers *registers,
		   const struct stack_snapshot *stack, const struct memory_reader *memory);

/* As instruction_accesses and operand_address want it. */
unsigned emulator_known_registers(const struct emulator *emulator);

/* Runs one instruction: the one at registers.rip. */
enum emulator_result emulator_step(struct emulator *emulator,
				   const struct ZydisDecodedInstruction_ *decoded,
				   const struct ZydisDecodedOperand_ *operands);

/*
 * How often a rep string instruction is going to run (rcx, or ecx); false when
 * that is unknown.
 */
bool emulator_repeat_count(const struct emulator *emulator,
			   const struct ZydisDecodedInstruction_ *decoded, uint64_t *ret_count);

#endif
