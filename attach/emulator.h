/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of a mini-emulator of user-mode x86-64, which runs a copied thread
 * ahead on paper as far as integer code goes, without touching the target.
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

#define FLAG_CARRY     (1ull << 0)
#define FLAG_PARITY    (1ull << 2)
#define FLAG_ZERO      (1ull << 6)
#define FLAG_SIGN      (1ull << 7)
#define FLAG_DIRECTION (1ull << 10)
#define FLAG_OVERFLOW  (1ull << 11)
/* The auxiliary carry is never followed: no instruction of today's compilers reads it. */
#define FLAGS_ALL (FLAG_CARRY | FLAG_PARITY | FLAG_ZERO | FLAG_SIGN | FLAG_OVERFLOW)

#define EMULATOR_STORES_MAX 64
/* Reads of the target's memory (a system call each): a thread waits meanwhile. */
#define EMULATOR_READS_MAX 64

/* Memory that emulated code has written: the newest entry that overlaps counts. */
struct emulated_store {
	remote_addr address;
	uint64_t size;
	uint64_t value; /* when known; size is 8 at most then */
	bool known;
	bool everywhere; /* a store to an unknown address: it may have been any byte */
};

struct emulator {
	struct registers registers;          /* rip is always known */
	uint8_t known_bytes[REGISTER_COUNT]; /* bit 0: the lowest byte of the register is known */
	uint64_t known_flags;                /* bits of rflags */
	const struct stack_snapshot *stack;
	const struct memory_reader *memory;
	unsigned reads_left;
	size_t store_count;
	struct emulated_store stores[EMULATOR_STORES_MAX];
};

/* A value of 8 to 64 bits that may be unknown; bits above its width are 0. */
struct value {
	uint64_t bits;
	bool known;
};

#define VALUE_UNKNOWN ((struct value){ 0, false })

static inline uint64_t value_mask(unsigned width)
{
	return width >= 64 ? UINT64_MAX : (1ull << width) - 1;
}

static inline struct value value_known(uint64_t bits, unsigned width)
{
	return (struct value){ bits & value_mask(width), true };
}

static inline int64_t value_sign_extend(uint64_t bits, unsigned width)
{
	return width >= 64 ? (int64_t)bits : (int64_t)(bits << (64 - width)) >> (64 - width);
}

/* stack and memory may be NULL; both are borrowed. */
void emulator_init(struct emulator *emulator, const struct registers *registers,
		   const struct stack_snapshot *stack, const struct memory_reader *memory);

/*
 * Registers. Shift is 8 for ah, ch, dh and bh, else 0. Writing 32 bits clears
 * the upper half, as the processor does.
 */
unsigned emulator_known_registers(const struct emulator *emulator); /* for operand_address */
struct value emulator_read_register(const struct emulator *emulator, enum register_id id,
				    unsigned shift, unsigned width);
void emulator_write_register(struct emulator *emulator, enum register_id id, unsigned shift,
			     unsigned width, struct value value);
void emulator_forget_register(struct emulator *emulator, enum register_id id);
struct value emulator_read_whole(const struct emulator *emulator, enum register_id id);
void emulator_write_whole(struct emulator *emulator, enum register_id id, struct value value);

/* Flags. A flag's value counts only when its bit is set in known_flags. */
bool emulator_flag(const struct emulator *emulator, uint64_t flag);
void emulator_set_flag(struct emulator *emulator, uint64_t flag, bool value);
void emulator_set_result_flags(struct emulator *emulator, uint64_t result, unsigned width);
void emulator_forget_flags(struct emulator *emulator, uint64_t flags);
/*
 * The 16 conditions of jcc, setcc and cmovcc, by the low four bits of the
 * opcode; false when a flag that it needs is unknown.
 */
bool emulator_condition(const struct emulator *emulator, unsigned condition, bool *ret_holds);

/* Memory, as the emulated stores have left it. Sizes in bytes; loads up to 8. */
struct value emulator_load(struct emulator *emulator, remote_addr address, unsigned size);
void emulator_store(struct emulator *emulator, remote_addr address, unsigned size,
		    struct value value);
void emulator_add_store(struct emulator *emulator, struct emulated_store store);
void emulator_store_anywhere(struct emulator *emulator);

/* Operands of the instruction at registers.rip. */
bool emulator_operand_address(const struct emulator *emulator,
			      const struct ZydisDecodedInstruction_ *decoded,
			      const struct ZydisDecodedOperand_ *operand, remote_addr *ret_address);
/* Immediates come extended to 64 bits; the second form cuts all to a width. */
struct value emulator_read_operand(struct emulator *emulator,
				   const struct ZydisDecodedInstruction_ *decoded,
				   const struct ZydisDecodedOperand_ *operand);
struct value emulator_read_operand_width(struct emulator *emulator,
					 const struct ZydisDecodedInstruction_ *decoded,
					 const struct ZydisDecodedOperand_ *operand,
					 unsigned width);
void emulator_write_operand(struct emulator *emulator,
			    const struct ZydisDecodedInstruction_ *decoded,
			    const struct ZydisDecodedOperand_ *operand, struct value value);
/* Everything that the instruction writes becomes unknown. */
void emulator_forget_writes(struct emulator *emulator,
			    const struct ZydisDecodedInstruction_ *decoded,
			    const struct ZydisDecodedOperand_ *operands);

#endif
