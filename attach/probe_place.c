/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/probe_place.h"

#include <Zydis/Zydis.h>

/* Behind these, such a place is rare. */
#define INSTRUCTIONS_MAX 8

/* Which registers hold an argument, as bits of their numbers in the machine's encoding. */
struct holders {
	unsigned of[PROBE_ARGUMENTS];
	unsigned arguments; /* the wanted ones */
};

/* As struct probe_place numbers them. */
static const ZydisRegister numbered[] = { ZYDIS_REGISTER_RDI, ZYDIS_REGISTER_RSI,
					  ZYDIS_REGISTER_RDX, ZYDIS_REGISTER_RCX,
					  ZYDIS_REGISTER_RAX };
#define NUMBERED (sizeof(numbered) / sizeof(numbered[0]))

static unsigned bit_of(ZydisRegister zydis_register)
{
	ZydisRegister whole =
		ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, zydis_register);

	return whole >= ZYDIS_REGISTER_RAX && whole <= ZYDIS_REGISTER_R15
		       ? 1u << (whole - ZYDIS_REGISTER_RAX)
		       : 0;
}

/* As arch/x86/kernel/uprobes.c has them, Linux 6.18. */
static bool is_emulated(const ZydisDecodedInstruction *instruction)
{
	switch (instruction->meta.category) {
	case ZYDIS_CATEGORY_COND_BR:
	case ZYDIS_CATEGORY_NOP:
	case ZYDIS_CATEGORY_WIDENOP:
		return true;
	case ZYDIS_CATEGORY_UNCOND_BR:
		return instruction->raw.imm[0].is_relative;
	case ZYDIS_CATEGORY_PUSH:
		return instruction->opcode >= 0x50 && instruction->opcode < 0x58;
	default:
		return false;
	}
}

static bool goes_on(const ZydisDecodedInstruction *instruction)
{
	switch (instruction->meta.category) {
	case ZYDIS_CATEGORY_CALL:
	case ZYDIS_CATEGORY_RET:
	case ZYDIS_CATEGORY_COND_BR:
	case ZYDIS_CATEGORY_UNCOND_BR:
	case ZYDIS_CATEGORY_SYSCALL:
	case ZYDIS_CATEGORY_INTERRUPT:
		return false;
	default:
		return true;
	}
}

/* One instruction. False: it changes the stack pointer, or the last copy of an argument. */
static bool step(struct holders *holders, const ZydisDecodedInstruction *instruction,
		 const ZydisDecodedOperand *operands)
{
	unsigned written = 0, source = 0, copied = 0;

	for (unsigned i = 0; i < instruction->operand_count; i++)
		if (operands[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    operands[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
			written |= bit_of(operands[i].reg.value);
	if (written & bit_of(ZYDIS_REGISTER_RSP))
		return false;
	if (instruction->mnemonic == ZYDIS_MNEMONIC_MOV && instruction->operand_width == 64 &&
	    operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
	    operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER) {
		source = bit_of(operands[1].reg.value);
		copied = written;
	}
	for (unsigned i = 0; i < PROBE_ARGUMENTS; i++) {
		bool has = holders->of[i] & source;

		holders->of[i] &= ~written;
		if (has)
			holders->of[i] |= copied;
		if (holders->arguments & PROBE_ARGUMENT(i) && !holders->of[i])
			return false;
	}
	return true;
}

/* False: an argument is in none of the registers that have a number. */
static bool name_registers(const struct holders *holders, struct probe_place *place)
{
	for (unsigned i = 0; i < PROBE_ARGUMENTS; i++) {
		unsigned number = 0;

		if (!(holders->arguments & PROBE_ARGUMENT(i)))
			continue;
		while (number < NUMBERED && !(holders->of[i] & bit_of(numbered[number])))
			number++;
		if (number == NUMBERED)
			return false;
		place->registers[i] = number;
	}
	return true;
}

bool probe_place_choose(const uint8_t *code, size_t size, unsigned arguments,
			struct probe_place *ret_place)
{
	const struct probe_place beginning = { .registers = { 0, 1, 2 } };
	struct holders holders = { .arguments = arguments };
	ZydisDecoder decoder;
	size_t at = 0;

	*ret_place = beginning;
	for (unsigned i = 0; i < PROBE_ARGUMENTS; i++)
		holders.of[i] = bit_of(numbered[i]);
	if (!ZYAN_SUCCESS(
		    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)))
		return false;
	for (unsigned i = 0; i < INSTRUCTIONS_MAX && at < size; i++) {
		ZydisDecodedInstruction instruction;
		ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
		struct probe_place place = { .offset = at, .registers = { 0, 1, 2 } };

		if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code + at, size - at,
							 &instruction, operands)))
			return false;
		if (is_emulated(&instruction) && name_registers(&holders, &place)) {
			*ret_place = place;
			return true;
		}
		if (!goes_on(&instruction) || !step(&holders, &instruction, operands))
			return false;
		at += instruction.length;
	}
	return false;
}
