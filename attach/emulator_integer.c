/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/emulator_integer.h"

#include <Zydis/Zydis.h>

static void emulate_move(struct emulator *emulator, const ZydisDecodedInstruction *decoded,
			 const ZydisDecodedOperand *operands)
{
	struct value value = emulator_read_operand(emulator, decoded, &operands[1]);

	if (value.known && (decoded->mnemonic == ZYDIS_MNEMONIC_MOVSX ||
			    decoded->mnemonic == ZYDIS_MNEMONIC_MOVSXD))
		value.bits = (uint64_t)value_sign_extend(value.bits, operands[1].size);
	emulator_write_operand(emulator, decoded, &operands[0], value);
}

/* lea */
static void emulate_address(struct emulator *emulator, const ZydisDecodedInstruction *decoded,
			    const ZydisDecodedOperand *operands)
{
	struct value value = { .known = true };

	/* Zydis gives no segment to an address that is only computed, even under a prefix. */
	if (!emulator_operand_address(emulator, decoded, &operands[1], &value.bits))
		value.known = false;
	emulator_write_operand(emulator, decoded, &operands[0], value);
}

/* add, adc, sub, sbb, cmp, and, or, xor, test */
static void emulate_binary(struct emulator *emulator, const ZydisDecodedInstruction *decoded,
			   const ZydisDecodedOperand *operands)
{
	ZydisMnemonic mnemonic = decoded->mnemonic;
	unsigned width = operands[0].size;
	bool same = operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    operands[0].reg.value == operands[1].reg.value;
	bool takes_carry = mnemonic == ZYDIS_MNEMONIC_ADC || mnemonic == ZYDIS_MNEMONIC_SBB;
	uint64_t carry = takes_carry && emulator_flag(emulator, FLAG_CARRY),
		 sign = 1ull << (width - 1);
	struct value left = emulator_read_operand_width(emulator, decoded, &operands[0], width);
	struct value right = emulator_read_operand_width(emulator, decoded, &operands[1], width);
	uint64_t result;

	if (same && (mnemonic == ZYDIS_MNEMONIC_XOR || mnemonic == ZYDIS_MNEMONIC_SUB ||
		     mnemonic == ZYDIS_MNEMONIC_SBB))
		left = right = value_known(0, width); /* the difference of anything and itself */
	if (!left.known || !right.known || (takes_carry && !(emulator->known_flags & FLAG_CARRY))) {
		emulator_forget_writes(emulator, decoded, operands);
		return;
	}
	switch (mnemonic) {
	case ZYDIS_MNEMONIC_ADD:
	case ZYDIS_MNEMONIC_ADC:
		result = (left.bits + right.bits + carry) & value_mask(width);
		emulator_set_flag(emulator, FLAG_CARRY,
				  result < left.bits || (carry && result == left.bits));
		emulator_set_flag(emulator, FLAG_OVERFLOW,
				  ~(left.bits ^ right.bits) & (left.bits ^ result) & sign);
		break;
	case ZYDIS_MNEMONIC_SUB:
	case ZYDIS_MNEMONIC_SBB:
	case ZYDIS_MNEMONIC_CMP:
		result = (left.bits - right.bits - carry) & value_mask(width);
		emulator_set_flag(emulator, FLAG_CARRY,
				  left.bits < right.bits || (carry && left.bits == right.bits));
		emulator_set_flag(emulator, FLAG_OVERFLOW,
				  (left.bits ^ right.bits) & (left.bits ^ result) & sign);
		break;
	default:
		if (mnemonic == ZYDIS_MNEMONIC_OR)
			result = left.bits | right.bits;
		else if (mnemonic == ZYDIS_MNEMONIC_XOR)
			result = left.bits ^ right.bits;
		else
			result = left.bits & right.bits;
		emulator_set_flag(emulator, FLAG_CARRY, false);
		emulator_set_flag(emulator, FLAG_OVERFLOW, false);
		break;
	}
	emulator_set_result_flags(emulator, result, width);
	if (mnemonic != ZYDIS_MNEMONIC_CMP && mnemonic != ZYDIS_MNEMONIC_TEST)
		emulator_write_operand(emulator, decoded, &operands[0],
				       (struct value){ result, true });
}

/* inc, dec, neg, not, bswap */
static void emulate_unary(struct emulator *emulator, const ZydisDecodedInstruction *decoded,
			  const ZydisDecodedOperand *operands)
{
	unsigned width = operands[0].size;
	uint64_t sign = 1ull << (width - 1);
	struct value value = emulator_read_operand(emulator, decoded, &operands[0]);
	uint64_t result;

	if (!value.known || (decoded->mnemonic == ZYDIS_MNEMONIC_BSWAP && width < 32)) {
		emulator_forget_writes(emulator, decoded, operands);
		return;
	}
	switch (decoded->mnemonic) {
	case ZYDIS_MNEMONIC_INC: /* inc and dec leave the carry alone */
		result = (value.bits + 1) & value_mask(width);
		emulator_set_flag(emulator, FLAG_OVERFLOW, result == sign);
		emulator_set_result_flags(emulator, result, width);
		break;
	case ZYDIS_MNEMONIC_DEC:
		result = (value.bits - 1) & value_mask(width);
		emulator_set_flag(emulator, FLAG_OVERFLOW, value.bits == sign);
		emulator_set_result_flags(emulator, result, width);
		break;
	case ZYDIS_MNEMONIC_NEG:
		result = -value.bits & value_mask(width);
		emulator_set_flag(emulator, FLAG_CARRY, value.bits != 0);
		emulator_set_flag(emulator, FLAG_OVERFLOW, value.bits == sign);
		emulator_set_result_flags(emulator, result, width);
		break;
	case ZYDIS_MNEMONIC_BSWAP:
		result = __builtin_bswap64(value.bits) >> (64 - width);
		break;
	default:
		result = ~value.bits & value_mask(width);
		break;
	}
	emulator_write_operand(emulator, decoded, &operands[0], (struct value){ result, true });
}

/* shl, shr, sar; shlx, shrx, sarx, which set no flags */
static void emulate_shift(struct emulator *emulator, const ZydisDecodedInstruction *decoded,
			  const ZydisDecodedOperand *operands)
{
	ZydisMnemonic mnemonic = decoded->mnemonic;
	bool three_operands = mnemonic == ZYDIS_MNEMONIC_SHLX || mnemonic == ZYDIS_MNEMONIC_SHRX ||
			      mnemonic == ZYDIS_MNEMONIC_SARX;
	unsigned width = operands[0].size, last_out;
	struct value value = emulator_read_operand(emulator, decoded, &operands[three_operands]);
	struct value count =
		emulator_read_operand(emulator, decoded, &operands[1 + three_operands]);
	uint64_t result, carry;

	count.bits &= width == 64 ? 63 : 31;
	if (!value.known || !count.known) {
		emulator_forget_writes(emulator, decoded, operands);
		return;
	}
	if (mnemonic == ZYDIS_MNEMONIC_SHL || mnemonic == ZYDIS_MNEMONIC_SHLX) {
		result = value.bits << count.bits & value_mask(width);
		last_out = width - (unsigned)count.bits;
	} else {
		if (mnemonic == ZYDIS_MNEMONIC_SHR || mnemonic == ZYDIS_MNEMONIC_SHRX)
			result = value.bits >> count.bits;
		else
			result = (uint64_t)(value_sign_extend(value.bits, width) >> count.bits) &
				 value_mask(width);
		last_out = (unsigned)count.bits - 1;
	}
	emulator_write_operand(emulator, decoded, &operands[0], (struct value){ result, true });
	if (three_operands || count.bits == 0)
		return;
	emulator_set_result_flags(emulator, result, width);
	emulator_forget_flags(emulator, FLAG_OVERFLOW);
	if (count.bits >= width) { /* 8 and 16 bits only: left to the processor model */
		emulator_forget_flags(emulator, FLAG_CARRY);
		return;
	}
	carry = value.bits >> last_out & 1;
	emulator_set_flag(emulator, FLAG_CARRY, carry);
	if (count.bits == 1) {
		if (mnemonic == ZYDIS_MNEMONIC_SHL)
			emulator_set_flag(emulator, FLAG_OVERFLOW,
					  (result >> (width - 1) & 1) != carry);
		else if (mnemonic == ZYDIS_MNEMONIC_SHR)
			emulator_set_flag(emulator, FLAG_OVERFLOW, value.bits >> (width - 1) & 1);
		else
			emulator_set_flag(emulator, FLAG_OVERFLOW, false);
	}
}

/* imul with two or three operands; the one-operand forms of mul and imul are not followed. */
static void emulate_multiply(struct emulator *emulator, const ZydisDecodedInstruction *decoded,
			     const ZydisDecodedOperand *operands)
{
	unsigned width = operands[0].size, first = decoded->operand_count_visible == 3;
	struct value left = emulator_read_operand_width(emulator, decoded, &operands[first], width);
	struct value right =
		emulator_read_operand_width(emulator, decoded, &operands[first + 1], width);
	__int128 product;
	bool overflow;

	if (!left.known || !right.known) {
		emulator_forget_writes(emulator, decoded, operands);
		return;
	}
	product = (__int128)value_sign_extend(left.bits, width) *
		  value_sign_extend(right.bits, width);
	overflow = product != value_sign_extend((uint64_t)product & value_mask(width), width);
	emulator_write_operand(emulator, decoded, &operands[0],
			       value_known((uint64_t)product, width));
	emulator_forget_flags(emulator, FLAGS_ALL);
	emulator_set_flag(emulator, FLAG_CARRY, overflow);
	emulator_set_flag(emulator, FLAG_OVERFLOW, overflow);
}

/* tzcnt, lzcnt, popcnt, and bsf and bsr of what is not zero */
static void emulate_bit_count(struct emulator *emulator, const ZydisDecodedInstruction *decoded,
			      const ZydisDecodedOperand *operands)
{
	unsigned width = operands[0].size;
	struct value source = emulator_read_operand(emulator, decoded, &operands[1]);
	uint64_t result, leading;

	emulator_forget_flags(emulator, FLAGS_ALL);
	if (!source.known || (source.bits == 0 && (decoded->mnemonic == ZYDIS_MNEMONIC_BSF ||
						   decoded->mnemonic == ZYDIS_MNEMONIC_BSR))) {
		/* Of zero, bsf and bsr leave the register as it was, all or half of it. */
		emulator_forget_register(emulator,
					 (enum register_id)operand_register(&operands[0]));
		if (source.known)
			emulator_set_flag(emulator, FLAG_ZERO, true);
		return;
	}
	leading = source.bits ? (unsigned)__builtin_clzll(source.bits) - (64 - width) : width;
	switch (decoded->mnemonic) {
	case ZYDIS_MNEMONIC_BSF:
		result = (unsigned)__builtin_ctzll(source.bits);
		emulator_set_flag(emulator, FLAG_ZERO, false);
		break;
	case ZYDIS_MNEMONIC_BSR:
		result = width - 1 - leading;
		emulator_set_flag(emulator, FLAG_ZERO, false);
		break;
	case ZYDIS_MNEMONIC_POPCNT:
		result = (unsigned)__builtin_popcountll(source.bits);
		emulator_set_flag(emulator, FLAG_ZERO, source.bits == 0);
		break;
	default:
		if (decoded->mnemonic == ZYDIS_MNEMONIC_TZCNT)
			result = source.bits ? (unsigned)__builtin_ctzll(source.bits) : width;
		else
			result = leading;
		emulator_set_flag(emulator, FLAG_CARRY, source.bits == 0);
		emulator_set_flag(emulator, FLAG_ZERO, result == 0);
		break;
	}
	emulator_write_operand(emulator, decoded, &operands[0], (struct value){ result, true });
}

/* cbw, cwde, cdqe extend inside rax; cwd, cdq, cqo spread its sign over rdx. */
static void emulate_sign_extension(struct emulator *emulator,
				   const ZydisDecodedInstruction *decoded,
				   const ZydisDecodedOperand *operands)
{
	unsigned from = operands[1].size, to = operands[0].size;
	struct value value = emulator_read_operand(emulator, decoded, &operands[1]);

	if (value.known) {
		int64_t extended = value_sign_extend(value.bits, from);

		if (operand_register(&operands[0]) == REGISTER_RDX)
			extended = extended < 0 ? -1 : 0;
		value = value_known((uint64_t)extended, to);
	}
	emulator_write_operand(emulator, decoded, &operands[0], value);
}

static void emulate_bit_test(struct emulator *emulator, const ZydisDecodedInstruction *decoded,
			     const ZydisDecodedOperand *operands)
{
	struct value value = emulator_read_operand(emulator, decoded, &operands[0]);
	struct value bit = emulator_read_operand(emulator, decoded, &operands[1]);

	emulator_forget_writes(emulator, decoded, operands);
	if (value.known && bit.known)
		emulator_set_flag(emulator, FLAG_CARRY,
				  value.bits >> (bit.bits % operands[0].size) & 1);
	/* The processor leaves the zero flag alone; the rest is undefined. */
}

static void emulate_exchange(struct emulator *emulator, const ZydisDecodedInstruction *decoded,
			     const ZydisDecodedOperand *operands)
{
	struct value first = emulator_read_operand(emulator, decoded, &operands[0]);
	struct value second = emulator_read_operand(emulator, decoded, &operands[1]);

	/* A memory operand comes first, and is written while its address still holds. */
	emulator_write_operand(emulator, decoded, &operands[0], second);
	emulator_write_operand(emulator, decoded, &operands[1], first);
}

static void emulate_conditional_move(struct emulator *emulator,
				     const ZydisDecodedInstruction *decoded,
				     const ZydisDecodedOperand *operands)
{
	struct value value = VALUE_UNKNOWN;
	bool holds;

	/* A 32-bit cmov clears the upper half even when it does not move. */
	if (emulator_condition(emulator, decoded->opcode & 15, &holds))
		value = emulator_read_operand(emulator, decoded, &operands[holds]);
	emulator_write_operand(emulator, decoded, &operands[0], value);
}

static void emulate_conditional_set(struct emulator *emulator,
				    const ZydisDecodedInstruction *decoded,
				    const ZydisDecodedOperand *operands)
{
	struct value value = VALUE_UNKNOWN;
	bool holds;

	if (emulator_condition(emulator, decoded->opcode & 15, &holds))
		value = value_known(holds, 8);
	emulator_write_operand(emulator, decoded, &operands[0], value);
}

bool emulator_integer(struct emulator *emulator, const ZydisDecodedInstruction *decoded,
		      const ZydisDecodedOperand *operands)
{
	void (*emulate)(struct emulator *, const ZydisDecodedInstruction *,
			const ZydisDecodedOperand *) = NULL;

	switch (decoded->mnemonic) {
	case ZYDIS_MNEMONIC_MOV:
	case ZYDIS_MNEMONIC_MOVZX:
	case ZYDIS_MNEMONIC_MOVSX:
	case ZYDIS_MNEMONIC_MOVSXD:
		emulate = emulate_move;
		break;
	case ZYDIS_MNEMONIC_LEA:
		emulate = emulate_address;
		break;
	case ZYDIS_MNEMONIC_ADD:
	case ZYDIS_MNEMONIC_ADC:
	case ZYDIS_MNEMONIC_SUB:
	case ZYDIS_MNEMONIC_SBB:
	case ZYDIS_MNEMONIC_CMP:
	case ZYDIS_MNEMONIC_AND:
	case ZYDIS_MNEMONIC_OR:
	case ZYDIS_MNEMONIC_XOR:
	case ZYDIS_MNEMONIC_TEST:
		emulate = emulate_binary;
		break;
	case ZYDIS_MNEMONIC_INC:
	case ZYDIS_MNEMONIC_DEC:
	case ZYDIS_MNEMONIC_NEG:
	case ZYDIS_MNEMONIC_NOT:
	case ZYDIS_MNEMONIC_BSWAP:
		emulate = emulate_unary;
		break;
	case ZYDIS_MNEMONIC_SHL:
	case ZYDIS_MNEMONIC_SHR:
	case ZYDIS_MNEMONIC_SAR:
	case ZYDIS_MNEMONIC_SHLX:
	case ZYDIS_MNEMONIC_SHRX:
	case ZYDIS_MNEMONIC_SARX:
		emulate = emulate_shift;
		break;
	case ZYDIS_MNEMONIC_IMUL:
		if (decoded->operand_count_visible >= 2)
			emulate = emulate_multiply;
		break;
	case ZYDIS_MNEMONIC_BSF:
	case ZYDIS_MNEMONIC_BSR:
	case ZYDIS_MNEMONIC_TZCNT:
	case ZYDIS_MNEMONIC_LZCNT:
	case ZYDIS_MNEMONIC_POPCNT:
		emulate = emulate_bit_count;
		break;
	case ZYDIS_MNEMONIC_CBW:
	case ZYDIS_MNEMONIC_CWDE:
	case ZYDIS_MNEMONIC_CDQE:
	case ZYDIS_MNEMONIC_CWD:
	case ZYDIS_MNEMONIC_CDQ:
	case ZYDIS_MNEMONIC_CQO:
		emulate = emulate_sign_extension;
		break;
	case ZYDIS_MNEMONIC_BT:
		emulate = emulate_bit_test;
		break;
	case ZYDIS_MNEMONIC_XCHG:
		emulate = emulate_exchange;
		break;
	default:
		if (decoded->meta.category == ZYDIS_CATEGORY_CMOV)
			emulate = emulate_conditional_move;
		else if (decoded->meta.category == ZYDIS_CATEGORY_SETCC)
			emulate = emulate_conditional_set;
		break;
	}
	if (!emulate)
		return false;
	emulate(emulator, decoded, operands);
	return true;
}
