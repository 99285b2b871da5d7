/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/emulator_step.h"

#include "attach/emulator_integer.h"

#include <Zydis/Zydis.h>

/* ---- stack ---- */

static void move_stack_pointer(struct emulator *emulator, uint64_t distance)
{
	struct value pointer = emulator_read_whole(emulator, REGISTER_RSP);

	pointer.bits += distance;
	emulator_write_whole(emulator, REGISTER_RSP, pointer);
}

static void push_value(struct emulator *emulator, unsigned size, struct value value)
{
	struct value pointer = emulator_read_whole(emulator, REGISTER_RSP);

	value.bits &= value_mask(size * 8);
	if (pointer.known)
		emulator_store(emulator, pointer.bits - size, size, value);
	else
		emulator_store_anywhere(emulator);
	move_stack_pointer(emulator, -(uint64_t)size);
}

static struct value pop_value(struct emulator *emulator, unsigned size)
{
	struct value pointer = emulator_read_whole(emulator, REGISTER_RSP), value = VALUE_UNKNOWN;

	if (pointer.known)
		value = emulator_load(emulator, pointer.bits, size);
	move_stack_pointer(emulator, size);
	return value;
}

static void emulate_push(struct emulator *emulator, const ZydisDecodedInstruction *decoded,
			 const ZydisDecodedOperand *operands)
{
	struct value value = VALUE_UNKNOWN;

	if (decoded->operand_count_visible &&
	    operands[0].visibility != ZYDIS_OPERAND_VISIBILITY_HIDDEN)
		value = emulator_read_operand(emulator, decoded, &operands[0]);
	push_value(emulator, decoded->operand_width / 8, value);
}

static void emulate_pop(struct emulator *emulator, const ZydisDecodedInstruction *decoded,
			const ZydisDecodedOperand *operands)
{
	unsigned size = decoded->operand_width / 8;
	remote_addr address;
	struct value value;

	if (decoded->mnemonic != ZYDIS_MNEMONIC_POP) { /* popf, popfq */
		emulator_forget_flags(emulator, UINT64_MAX);
		move_stack_pointer(emulator, size);
	} else if (operands[0].type == ZYDIS_OPERAND_TYPE_MEMORY) {
		/* operand_address() reckons with rsp after the pop from rsp before it. */
		bool known = emulator_operand_address(emulator, decoded, &operands[0], &address);

		value = pop_value(emulator, size);
		if (known)
			emulator_store(emulator, address, size, value);
		else
			emulator_store_anywhere(emulator);
	} else {
		value = pop_value(emulator, size); /* pop rsp: what was popped wins */
		emulator_write_operand(emulator, decoded, &operands[0], value);
	}
}

static void emulate_leave(struct emulator *emulator)
{
	struct value frame = emulator_read_whole(emulator, REGISTER_RBP);

	emulator_write_whole(emulator, REGISTER_RSP, frame);
	emulator_write_whole(emulator, REGISTER_RBP, pop_value(emulator, 8));
}

/* ---- string instructions ---- */

bool emulator_repeat_count(const struct emulator *emulator, const ZydisDecodedInstruction *decoded,
			   uint64_t *ret_count)
{
	struct value count = emulator_read_register(emulator, REGISTER_RCX, 0,
						    decoded->address_width == 32 ? 32 : 64);

	*ret_count = count.bits;
	return count.known;
}

/* Moves rsi or rdi over the elements done. */
static void advance_pointer(struct emulator *emulator, enum register_id id, uint64_t count,
			    unsigned size)
{
	struct value pointer = emulator_read_whole(emulator, id);

	if (!(emulator->known_flags & FLAG_DIRECTION))
		pointer.known = false;
	pointer.bits += emulator_flag(emulator, FLAG_DIRECTION) ? -(count * size) : count * size;
	emulator_write_whole(emulator, id, pointer);
}

static void store_elements(struct emulator *emulator, uint64_t count, unsigned size,
			   struct value value)
{
	struct value pointer = emulator_read_whole(emulator, REGISTER_RDI);
	struct emulated_store store = {
		.address = pointer.bits,
		.size = count * size,
		.value = value.bits,
		.known = value.known && count == 1,
	};

	if (!pointer.known || !(emulator->known_flags & FLAG_DIRECTION) || count > UINT32_MAX) {
		emulator_store_anywhere(emulator);
		return;
	}
	if (emulator_flag(emulator, FLAG_DIRECTION))
		store.address -= (count - 1) * size;
	emulator_add_store(emulator, store);
}

/* String instructions by opcode, its width bit cleared; mnemonics double as SSE's (movsd, cmpsd).
 */
enum {
	STRING_MOVS = 0xa4,
	STRING_CMPS = 0xa6,
	STRING_STOS = 0xaa,
	STRING_LODS = 0xac,
	STRING_SCAS = 0xae
};

/*
 * Zydis 4.0 does not name all the registers that these write (cmps, scas), so
 * none of this relies on its operands.
 */
static enum emulator_result emulate_string(struct emulator *emulator,
					   const ZydisDecodedInstruction *decoded)
{
	bool repeats = decoded->attributes &
		       (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE);
	unsigned opcode = decoded->opcode & 0xfe, size = decoded->operand_width / 8;
	bool compares = opcode == STRING_CMPS || opcode == STRING_SCAS;
	struct value source = emulator_read_whole(emulator, REGISTER_RSI);
	uint64_t count = 1;

	if (repeats && !emulator_repeat_count(emulator, decoded, &count))
		return EMULATOR_UNKNOWN_COUNT;
	if (count == 0)
		return EMULATOR_OK;
	if (repeats && compares)
		return EMULATOR_UNKNOWN_COUNT;
	/* Through a segment base or 32-bit registers: nobody does. */
	if (decoded->address_width != 64 ||
	    decoded->attributes & (ZYDIS_ATTRIB_HAS_SEGMENT_FS | ZYDIS_ATTRIB_HAS_SEGMENT_GS))
		return EMULATOR_UNSUPPORTED;
	if (compares) {
		emulator_forget_flags(emulator, FLAGS_ALL);
	} else if (opcode == STRING_LODS) {
		emulator_write_register(emulator, REGISTER_RAX, 0, size * 8, VALUE_UNKNOWN);
	} else if (opcode == STRING_STOS) {
		store_elements(emulator, count, size,
			       emulator_read_register(emulator, REGISTER_RAX, 0, size * 8));
	} else {
		struct value value = VALUE_UNKNOWN;

		if (count == 1 && source.known)
			value = emulator_load(emulator, source.bits, size);
		store_elements(emulator, count, size, value);
	}
	if (opcode != STRING_STOS && opcode != STRING_SCAS)
		advance_pointer(emulator, REGISTER_RSI, count, size);
	if (opcode != STRING_LODS)
		advance_pointer(emulator, REGISTER_RDI, count, size);
	if (repeats)
		emulator_write_whole(emulator, REGISTER_RCX, value_known(0, 64));
	return EMULATOR_OK;
}

/* ---- branches ---- */

static enum emulator_result jump_to(struct emulator *emulator, struct value target)
{
	if (!target.known)
		return EMULATOR_UNKNOWN_BRANCH;
	emulator->registers.rip = target.bits;
	return EMULATOR_OK;
}

/* The target of a direct or indirect call or jmp. */
static struct value branch_target(struct emulator *emulator, const ZydisDecodedInstruction *decoded,
				  const ZydisDecodedOperand *operands)
{
	if (operands[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
		return value_known(
			emulator->registers.rip + decoded->length + operands[0].imm.value.u, 64);
	return emulator_read_operand(emulator, decoded, &operands[0]);
}

static enum emulator_result emulate_call(struct emulator *emulator,
					 const ZydisDecodedInstruction *decoded,
					 const ZydisDecodedOperand *operands)
{
	struct value target = branch_target(emulator, decoded, operands);

	if (!target.known)
		return EMULATOR_UNKNOWN_BRANCH;
	push_value(emulator, 8, value_known(emulator->registers.rip + decoded->length, 64));
	return jump_to(emulator, target);
}

static enum emulator_result emulate_return(struct emulator *emulator,
					   const ZydisDecodedInstruction *decoded,
					   const ZydisDecodedOperand *operands)
{
	struct value pointer = emulator_read_whole(emulator, REGISTER_RSP), target = VALUE_UNKNOWN;
	bool releases = operands[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;

	if (decoded->mnemonic != ZYDIS_MNEMONIC_RET)
		return EMULATOR_UNSUPPORTED;
	if (pointer.known)
		target = emulator_load(emulator, pointer.bits, 8);
	if (!target.known)
		return EMULATOR_UNKNOWN_BRANCH;
	move_stack_pointer(emulator, 8 + (releases ? operands[0].imm.value.u : 0));
	return jump_to(emulator, target);
}

static enum emulator_result emulate_conditional_branch(struct emulator *emulator,
						       const ZydisDecodedInstruction *decoded,
						       const ZydisDecodedOperand *operands)
{
	uint64_t next = emulator->registers.rip + decoded->length;
	unsigned count_width = decoded->address_width == 32 ? 32 : 64;
	struct value count;
	bool taken;

	switch (decoded->mnemonic) {
	case ZYDIS_MNEMONIC_JECXZ:
	case ZYDIS_MNEMONIC_JRCXZ:
		count = emulator_read_register(emulator, REGISTER_RCX, 0, count_width);
		if (!count.known)
			return EMULATOR_UNKNOWN_BRANCH;
		taken = count.bits == 0;
		break;
	case ZYDIS_MNEMONIC_LOOP:
		count = emulator_read_register(emulator, REGISTER_RCX, 0, count_width);
		if (!count.known)
			return EMULATOR_UNKNOWN_BRANCH;
		count = value_known(count.bits - 1, count_width);
		emulator_write_register(emulator, REGISTER_RCX, 0, count_width, count);
		taken = count.bits != 0;
		break;
	default:
		/* What is left of this category beside jcc: loope, loopne, transactions. */
		if (!(decoded->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT &&
		      decoded->opcode >> 4 == 7) &&
		    !(decoded->opcode_map == ZYDIS_OPCODE_MAP_0F && decoded->opcode >> 4 == 8))
			return EMULATOR_UNSUPPORTED;
		if (!emulator_condition(emulator, decoded->opcode & 15, &taken))
			return EMULATOR_UNKNOWN_BRANCH;
		break;
	}
	return jump_to(emulator, value_known(taken ? next + operands[0].imm.value.u : next, 64));
}

/* Near branches; the processors differ in what they make of one with an operand-size prefix. */
static bool branch_is_supported(const ZydisDecodedInstruction *decoded)
{
	return decoded->meta.branch_type != ZYDIS_BRANCH_TYPE_FAR &&
	       (!(decoded->attributes & ZYDIS_ATTRIB_HAS_OPERANDSIZE) || decoded->raw.rex.W);
}

/* ---- choosing ---- */

static enum emulator_result refusal(const ZydisDecodedInstruction *decoded)
{
	switch (decoded->meta.category) {
	case ZYDIS_CATEGORY_SYSTEM:
		if (decoded->mnemonic == ZYDIS_MNEMONIC_RDTSC ||
		    decoded->mnemonic == ZYDIS_MNEMONIC_RDTSCP ||
		    decoded->mnemonic == ZYDIS_MNEMONIC_RDPMC)
			return EMULATOR_OK;
		return EMULATOR_SYSTEM_CALL;
	case ZYDIS_CATEGORY_SYSCALL:
	case ZYDIS_CATEGORY_SYSRET:
	case ZYDIS_CATEGORY_INTERRUPT:
	case ZYDIS_CATEGORY_IO:
	case ZYDIS_CATEGORY_IOSTRINGOP:
		return EMULATOR_SYSTEM_CALL;
	case ZYDIS_CATEGORY_CLZERO: /* these write memory that they do not name as an operand */
	case ZYDIS_CATEGORY_ENQCMD:
	case ZYDIS_CATEGORY_PADLOCK:
	case ZYDIS_CATEGORY_UINTR:
		return EMULATOR_UNSUPPORTED;
	default:
		break;
	}
	switch (decoded->mnemonic) {
	case ZYDIS_MNEMONIC_UD0:
	case ZYDIS_MNEMONIC_UD1:
	case ZYDIS_MNEMONIC_UD2:
		return EMULATOR_SYSTEM_CALL;
	default:
		return EMULATOR_OK;
	}
}

/* What neither branches nor can be refused: afterwards the next instruction follows. */
static void emulate_plain(struct emulator *emulator, const ZydisDecodedInstruction *decoded,
			  const ZydisDecodedOperand *operands)
{
	if (decoded->meta.category == ZYDIS_CATEGORY_PUSH)
		emulate_push(emulator, decoded, operands);
	else if (decoded->meta.category == ZYDIS_CATEGORY_POP)
		emulate_pop(emulator, decoded, operands);
	else if (decoded->mnemonic == ZYDIS_MNEMONIC_LEAVE)
		emulate_leave(emulator);
	else if (!emulator_integer(emulator, decoded, operands))
		emulator_forget_writes(emulator, decoded, operands);
}

enum emulator_result emulator_step(struct emulator *emulator,
				   const ZydisDecodedInstruction *decoded,
				   const ZydisDecodedOperand *operands)
{
	enum emulator_result result = refusal(decoded);

	if (result != EMULATOR_OK)
		return result;
	switch (decoded->meta.category) {
	case ZYDIS_CATEGORY_CALL:
	case ZYDIS_CATEGORY_UNCOND_BR:
	case ZYDIS_CATEGORY_COND_BR:
	case ZYDIS_CATEGORY_RET:
		if (!branch_is_supported(decoded))
			return EMULATOR_UNSUPPORTED;
		if (decoded->meta.category == ZYDIS_CATEGORY_CALL)
			return emulate_call(emulator, decoded, operands);
		if (decoded->meta.category == ZYDIS_CATEGORY_RET)
			return emulate_return(emulator, decoded, operands);
		if (decoded->meta.category == ZYDIS_CATEGORY_COND_BR)
			return emulate_conditional_branch(emulator, decoded, operands);
		if (decoded->mnemonic != ZYDIS_MNEMONIC_JMP)
			return EMULATOR_UNSUPPORTED;
		return jump_to(emulator, branch_target(emulator, decoded, operands));
	case ZYDIS_CATEGORY_STRINGOP:
		result = emulate_string(emulator, decoded);
		if (result != EMULATOR_OK)
			return result;
		break;
	default:
		emulate_plain(emulator, decoded, operands);
		break;
	}
	emulator->registers.rip += decoded->length;
	return EMULATOR_OK;
}
