/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each instruction form has one small function; emulator_step() chooses. What
 * no function covers goes through forget_writes(), which marks all that Zydis
 * says it writes as unknown: slower to reach an answer, never a wrong one.
 */
#include "attach/emulator.h"

#include <Zydis/Zydis.h>

#define FLAG_CARRY     (1ull << 0)
#define FLAG_PARITY    (1ull << 2)
#define FLAG_ZERO      (1ull << 6)
#define FLAG_SIGN      (1ull << 7)
#define FLAG_DIRECTION (1ull << 10)
#define FLAG_OVERFLOW  (1ull << 11)
/* The auxiliary carry is never followed: no instruction of today's compilers reads it. */
#define FLAGS_RESULT (FLAG_PARITY | FLAG_ZERO | FLAG_SIGN)
#define FLAGS_ALL    (FLAGS_RESULT | FLAG_CARRY | FLAG_OVERFLOW)

#define ALL_BYTES 0xff

/* A value of 8 to 64 bits that may be unknown; bits above its width are 0. */
struct value {
	uint64_t bits;
	bool known;
};

static const struct value unknown_value = { 0, false };

static uint64_t width_mask(unsigned width)
{
	return width >= 64 ? UINT64_MAX : (1ull << width) - 1;
}

static struct value known_value(uint64_t bits, unsigned width)
{
	return (struct value){ bits & width_mask(width), true };
}

static int64_t sign_extend(uint64_t bits, unsigned width)
{
	return width >= 64 ? (int64_t)bits : (int64_t)(bits << (64 - width)) >> (64 - width);
}

/* ---- registers and flags ---- */

void emulator_init(struct emulator *emulator, const struct registers *registers,
		   const struct stack_snapshot *stack, const struct memory_reader *memory)
{
	emulator->registers = *registers;
	memset(emulator->known_bytes, ALL_BYTES, sizeof(emulator->known_bytes));
	emulator->known_flags = UINT64_MAX;
	emulator->stack = stack;
	emulator->memory = memory;
	emulator->reads_left = EMULATOR_READS_MAX;
	emulator->store_count = 0;
}

unsigned emulator_known_registers(const struct emulator *emulator)
{
	unsigned known = 0;

	for (unsigned i = 0; i < REGISTER_COUNT; i++)
		if (emulator->known_bytes[i] == ALL_BYTES)
			known |= 1u << i;
	return known;
}

/* ah, ch, dh and bh are the second byte of their register. */
static unsigned register_shift(ZydisRegister zydis_register)
{
	return zydis_register >= ZYDIS_REGISTER_AH && zydis_register <= ZYDIS_REGISTER_BH ? 8 : 0;
}

static uint8_t byte_mask(unsigned shift, unsigned width)
{
	return (uint8_t)(((1u << width / 8) - 1) << shift / 8);
}

static struct value register_read(const struct emulator *emulator, enum register_id id,
				  unsigned shift, unsigned width)
{
	uint8_t mask = byte_mask(shift, width);

	if ((emulator->known_bytes[id] & mask) != mask)
		return unknown_value;
	return known_value(emulator->registers.general[id] >> shift, width);
}

static void register_write(struct emulator *emulator, enum register_id id, unsigned shift,
			   unsigned width, struct value value)
{
	uint64_t *general = &emulator->registers.general[id];
	uint8_t mask = byte_mask(shift, width);

	if (width >= 32) { /* 32-bit writes clear the upper half */
		*general = value.bits;
		emulator->known_bytes[id] = ALL_BYTES;
	} else {
		*general &= ~(width_mask(width) << shift);
		*general |= value.bits << shift;
		emulator->known_bytes[id] |= mask;
	}
	if (!value.known)
		emulator->known_bytes[id] &= (uint8_t)~mask;
}

static void forget_register(struct emulator *emulator, enum register_id id)
{
	emulator->known_bytes[id] = 0;
}

static struct value whole_register(const struct emulator *emulator, enum register_id id)
{
	return register_read(emulator, id, 0, 64);
}

static void set_whole_register(struct emulator *emulator, enum register_id id, struct value value)
{
	register_write(emulator, id, 0, 64, value);
}

static void forget_flags(struct emulator *emulator, uint64_t flags)
{
	emulator->known_flags &= ~flags;
}

static void set_flag(struct emulator *emulator, uint64_t flag, bool value)
{
	emulator->registers.rflags &= ~flag;
	if (value)
		emulator->registers.rflags |= flag;
	emulator->known_flags |= flag;
}

static void set_result_flags(struct emulator *emulator, uint64_t result, unsigned width)
{
	set_flag(emulator, FLAG_ZERO, result == 0);
	set_flag(emulator, FLAG_SIGN, result >> (width - 1) & 1);
	set_flag(emulator, FLAG_PARITY, !(__builtin_popcountll(result & 0xff) & 1));
}

static bool flag(const struct emulator *emulator, uint64_t wanted)
{
	return emulator->registers.rflags & wanted;
}

/* The 16 conditions of jcc, setcc and cmovcc, by the low four bits of the opcode. */
static bool condition_holds(const struct emulator *emulator, unsigned condition, bool *ret_holds)
{
	static const uint64_t tested[8] = {
		FLAG_OVERFLOW,
		FLAG_CARRY,
		FLAG_ZERO,
		FLAG_CARRY | FLAG_ZERO,
		FLAG_SIGN,
		FLAG_PARITY,
		FLAG_SIGN | FLAG_OVERFLOW,
		FLAG_SIGN | FLAG_OVERFLOW | FLAG_ZERO,
	};
	unsigned pair = condition >> 1 & 7;
	bool holds;

	if ((emulator->known_flags & tested[pair]) != tested[pair])
		return false;
	if (pair < 6)
		holds = flag(emulator, tested[pair]);
	else
		holds = flag(emulator, FLAG_SIGN) != flag(emulator, FLAG_OVERFLOW) ||
			(pair == 7 && flag(emulator, FLAG_ZERO));
	*ret_holds = holds != (condition & 1);
	return true;
}

/* ---- memory ---- */

static bool ranges_overlap(remote_addr a, uint64_t a_size, remote_addr b, uint64_t b_size)
{
	/* Differences wrap as the addresses do. */
	return b - a < a_size || a - b < b_size;
}

static struct value memory_load(struct emulator *emulator, remote_addr address, unsigned size)
{
	uint64_t bits = 0;

	for (size_t i = emulator->store_count; i-- > 0;) {
		const struct emulated_store *store = &emulator->stores[i];
		uint64_t offset = address - store->address;

		if (!store->everywhere &&
		    !ranges_overlap(address, size, store->address, store->size))
			continue;
		if (store->everywhere || !store->known || offset >= store->size ||
		    store->size - offset < size)
			return unknown_value;
		return known_value(store->value >> (offset * 8), size * 8);
	}
	if (emulator->stack && !stack_snapshot_read(emulator->stack, address, &bits, size))
		return known_value(bits, size * 8);
	if (!emulator->memory || !emulator->reads_left)
		return unknown_value;
	emulator->reads_left--;
	if (memory_read(emulator->memory, address, &bits, size))
		return unknown_value;
	return known_value(bits, size * 8);
}

static void add_store(struct emulator *emulator, struct emulated_store store)
{
	/* What has no room any more could be read back from the target stale: forget all. */
	if (emulator->store_count == EMULATOR_STORES_MAX || store.everywhere) {
		emulator->stores[0] = (struct emulated_store){ .everywhere = true };
		emulator->store_count = 1;
	}
	if (!store.everywhere)
		emulator->stores[emulator->store_count++] = store;
}

static void store_anywhere(struct emulator *emulator)
{
	add_store(emulator, (struct emulated_store){ .everywhere = true });
}

static void memory_store(struct emulator *emulator, remote_addr address, unsigned size,
			 struct value value)
{
	add_store(emulator, (struct emulated_store){ .address = address,
						     .size = size,
						     .value = value.bits,
						     .known = value.known });
}

/* ---- operands ---- */

static bool address_of(const struct emulator *emulator, const ZydisDecodedInstruction *decoded,
		       const ZydisDecodedOperand *operand, remote_addr *ret_address)
{
	return operand_address(decoded, operand, &emulator->registers,
			       emulator_known_registers(emulator), ret_address);
}

static struct value operand_read(struct emulator *emulator, const ZydisDecodedInstruction *decoded,
				 const ZydisDecodedOperand *operand)
{
	remote_addr address;
	int id;

	if (operand->size > 64 || operand->size % 8)
		return unknown_value;
	switch (operand->type) {
	case ZYDIS_OPERAND_TYPE_IMMEDIATE:
		/* Zydis has extended it to 64 bits; the reader cuts it to the operation's width. */
		return (struct value){ operand->imm.value.u, true };
	case ZYDIS_OPERAND_TYPE_REGISTER:
		id = operand_register(operand);
		if (id < 0)
			return unknown_value;
		return register_read(emulator, (enum register_id)id,
				     register_shift(operand->reg.value), operand->size);
	case ZYDIS_OPERAND_TYPE_MEMORY:
		if (!operand->size || !address_of(emulator, decoded, operand, &address))
			return unknown_value;
		return memory_load(emulator, address, operand->size / 8);
	default:
		return unknown_value;
	}
}

static struct value operand_read_width(struct emulator *emulator,
				       const ZydisDecodedInstruction *decoded,
				       const ZydisDecodedOperand *operand, unsigned width)
{
	struct value value = operand_read(emulator, decoded, operand);

	value.bits &= width_mask(width);
	return value;
}

static void operand_write(struct emulator *emulator, const ZydisDecodedInstruction *decoded,
			  const ZydisDecodedOperand *operand, struct value value)
{
	remote_addr address;
	int id = operand_register(operand);

	value.bits &= width_mask(operand->size);
	if (id >= 0)
		register_write(emulator, (enum register_id)id, register_shift(operand->reg.value),
			       operand->size, value);
	else if (operand->type != ZYDIS_OPERAND_TYPE_MEMORY)
		return;
	else if (address_of(emulator, decoded, operand, &address))
		memory_store(emulator, address, operand->size / 8, value);
	else
		store_anywhere(emulator);
}

static void forget_memory_write(struct emulator *emulator, const ZydisDecodedInstruction *decoded,
				const ZydisDecodedOperand *operand)
{
	struct emulated_store store = { .size = operand->size / 8 };

	/* How much xsave writes depends on the processor; it stays far below this. */
	if (decoded->meta.category == ZYDIS_CATEGORY_XSAVE ||
	    decoded->meta.category == ZYDIS_CATEGORY_XSAVEOPT)
		store.size = 16384;
	if (!store.size || decoded->mnemonic == ZYDIS_MNEMONIC_ENTER ||
	    !address_of(emulator, decoded, operand, &store.address))
		store_anywhere(emulator);
	else
		add_store(emulator, store);
}

static void forget_register_write(struct emulator *emulator, const ZydisDecodedOperand *operand)
{
	int id = operand_register(operand);

	if (id < 0)
		return;
	/* A conditional 32-bit write may leave the upper half, too. */
	if (!(operand->actions & ZYDIS_OPERAND_ACTION_WRITE))
		forget_register(emulator, (enum register_id)id);
	else
		register_write(emulator, (enum register_id)id, register_shift(operand->reg.value),
			       operand->size, unknown_value);
}

/* The way out for everything not followed. */
static void forget_writes(struct emulator *emulator, const ZydisDecodedInstruction *decoded,
			  const ZydisDecodedOperand *operands)
{
	/* Memory first: its addresses need the registers as they were. */
	for (size_t i = 0; i < decoded->operand_count; i++)
		if (operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY &&
		    operands[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
			forget_memory_write(emulator, decoded, &operands[i]);
	for (size_t i = 0; i < decoded->operand_count; i++)
		if (operands[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
			forget_register_write(emulator, &operands[i]);
	if (decoded->cpu_flags)
		forget_flags(emulator, decoded->cpu_flags->modified | decoded->cpu_flags->set_0 |
					       decoded->cpu_flags->set_1 |
					       decoded->cpu_flags->undefined);
}

/* ---- arithmetic ---- */

static void emulate_move(struct emulator *emulator, const ZydisDecodedInstruction *decoded,
			 const ZydisDecodedOperand *operands)
{
	struct value value = operand_read(emulator, decoded, &operands[1]);

	if (value.known && (decoded->mnemonic == ZYDIS_MNEMONIC_MOVSX ||
			    decoded->mnemonic == ZYDIS_MNEMONIC_MOVSXD))
		value.bits = (uint64_t)sign_extend(value.bits, operands[1].size);
	operand_write(emulator, decoded, &operands[0], value);
}

/* lea */
static void emulate_address(struct emulator *emulator, const ZydisDecodedInstruction *decoded,
			    const ZydisDecodedOperand *operands)
{
	struct value value = { .known = true };

	/* Zydis gives no segment to an address that is only computed, even under a prefix. */
	if (!address_of(emulator, decoded, &operands[1], &value.bits))
		value.known = false;
	operand_write(emulator, decoded, &operands[0], value);
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
	bool takes_carry =
		mnemonic == ZYDIS_MNEMONIC_ADC || mnemonic == ZYDIS_MNEMONIC_SBB;
	uint64_t carry = takes_carry && flag(emulator, FLAG_CARRY), sign = 1ull << (width - 1);
	struct value left = operand_read_width(emulator, decoded, &operands[0], width);
	struct value right = operand_read_width(emulator, decoded, &operands[1], width);
	uint64_t result;

	if (same && (mnemonic == ZYDIS_MNEMONIC_XOR || mnemonic == ZYDIS_MNEMONIC_SUB ||
		     mnemonic == ZYDIS_MNEMONIC_SBB))
		left = right = known_value(0, width); /* the difference of anything and itself */
	if (!left.known || !right.known ||
	    (takes_carry && !(emulator->known_flags & FLAG_CARRY))) {
		forget_writes(emulator, decoded, operands);
		return;
	}
	switch (mnemonic) {
	case ZYDIS_MNEMONIC_ADD:
	case ZYDIS_MNEMONIC_ADC:
		result = (left.bits + right.bits + carry) & width_mask(width);
		set_flag(emulator, FLAG_CARRY,
			 result < left.bits || (carry && result == left.bits));
		set_flag(emulator, FLAG_OVERFLOW,
			 ~(left.bits ^ right.bits) & (left.bits ^ result) & sign);
		break;
	case ZYDIS_MNEMONIC_SUB:
	case ZYDIS_MNEMONIC_SBB:
	case ZYDIS_MNEMONIC_CMP:
		result = (left.bits - right.bits - carry) & width_mask(width);
		set_flag(emulator, FLAG_CARRY,
			 left.bits < right.bits || (carry && left.bits == right.bits));
		set_flag(emulator, FLAG_OVERFLOW,
			 (left.bits ^ right.bits) & (left.bits ^ result) & sign);
		break;
	default:
		if (mnemonic == ZYDIS_MNEMONIC_OR)
			result = left.bits | right.bits;
		else if (mnemonic == ZYDIS_MNEMONIC_XOR)
			result = left.bits ^ right.bits;
		else
			result = left.bits & right.bits;
		set_flag(emulator, FLAG_CARRY, false);
		set_flag(emulator, FLAG_OVERFLOW, false);
		break;
	}
	set_result_flags(emulator, result, width);
	if (mnemonic != ZYDIS_MNEMONIC_CMP && mnemonic != ZYDIS_MNEMONIC_TEST)
		operand_write(emulator, decoded, &operands[0], (struct value){ result, true });
}

/* inc, dec, neg, not, bswap */
static void emulate_unary(struct emulator *emulator, const ZydisDecodedInstruction *decoded,
			  const ZydisDecodedOperand *operands)
{
	unsigned width = operands[0].size;
	uint64_t sign = 1ull << (width - 1);
	struct value value = operand_read(emulator, decoded, &operands[0]);
	uint64_t result;

	if (!value.known || (decoded->mnemonic == ZYDIS_MNEMONIC_BSWAP && width < 32)) {
		forget_writes(emulator, decoded, operands);
		return;
	}
	switch (decoded->mnemonic) {
	case ZYDIS_MNEMONIC_INC: /* inc and dec leave the carry alone */
		result = (value.bits + 1) & width_mask(width);
		set_flag(emulator, FLAG_OVERFLOW, result == sign);
		set_result_flags(emulator, result, width);
		break;
	case ZYDIS_MNEMONIC_DEC:
		result = (value.bits - 1) & width_mask(width);
		set_flag(emulator, FLAG_OVERFLOW, value.bits == sign);
		set_result_flags(emulator, result, width);
		break;
	case ZYDIS_MNEMONIC_NEG:
		result = -value.bits & width_mask(width);
		set_flag(emulator, FLAG_CARRY, value.bits != 0);
		set_flag(emulator, FLAG_OVERFLOW, value.bits == sign);
		set_result_flags(emulator, result, width);
		break;
	case ZYDIS_MNEMONIC_BSWAP:
		result = __builtin_bswap64(value.bits) >> (64 - width);
		break;
	default:
		result = ~value.bits & width_mask(width);
		break;
	}
	operand_write(emulator, decoded, &operands[0], (struct value){ result, true });
}

/* shl, shr, sar; shlx, shrx, sarx, which set no flags */
static void emulate_shift(struct emulator *emulator, const ZydisDecodedInstruction *decoded,
			  const ZydisDecodedOperand *operands)
{
	ZydisMnemonic mnemonic = decoded->mnemonic;
	bool three_operands = mnemonic == ZYDIS_MNEMONIC_SHLX || mnemonic == ZYDIS_MNEMONIC_SHRX ||
			      mnemonic == ZYDIS_MNEMONIC_SARX;
	unsigned width = operands[0].size, last_out;
	struct value value = operand_read(emulator, decoded, &operands[three_operands]);
	struct value count = operand_read(emulator, decoded, &operands[1 + three_operands]);
	uint64_t result, carry;

	count.bits &= width == 64 ? 63 : 31;
	if (!value.known || !count.known) {
		forget_writes(emulator, decoded, operands);
		return;
	}
	if (mnemonic == ZYDIS_MNEMONIC_SHL || mnemonic == ZYDIS_MNEMONIC_SHLX) {
		result = value.bits << count.bits & width_mask(width);
		last_out = width - (unsigned)count.bits;
	} else {
		if (mnemonic == ZYDIS_MNEMONIC_SHR || mnemonic == ZYDIS_MNEMONIC_SHRX)
			result = value.bits >> count.bits;
		else
			result = (uint64_t)(sign_extend(value.bits, width) >> count.bits) &
				 width_mask(width);
		last_out = (unsigned)count.bits - 1;
	}
	operand_write(emulator, decoded, &operands[0], (struct value){ result, true });
	if (three_operands || count.bits == 0)
		return;
	set_result_flags(emulator, result, width);
	forget_flags(emulator, FLAG_OVERFLOW);
	if (count.bits >= width) { /* 8 and 16 bits only: left to the processor model */
		forget_flags(emulator, FLAG_CARRY);
		return;
	}
	carry = value.bits >> last_out & 1;
	set_flag(emulator, FLAG_CARRY, carry);
	if (count.bits == 1) {
		if (mnemonic == ZYDIS_MNEMONIC_SHL)
			set_flag(emulator, FLAG_OVERFLOW, (result >> (width - 1) & 1) != carry);
		else if (mnemonic == ZYDIS_MNEMONIC_SHR)
			set_flag(emulator, FLAG_OVERFLOW, value.bits >> (width - 1) & 1);
		else
			set_flag(emulator, FLAG_OVERFLOW, false);
	}
}

/* imul with two or three operands; the one-operand forms of mul and imul are not followed. */
static void emulate_multiply(struct emulator *emulator, const ZydisDecodedInstruction *decoded,
			     const ZydisDecodedOperand *operands)
{
	unsigned width = operands[0].size, first = decoded->operand_count_visible == 3;
	struct value left = operand_read_width(emulator, decoded, &operands[first], width);
	struct value right = operand_read_width(emulator, decoded, &operands[first + 1], width);
	__int128 product;
	bool overflow;

	if (!left.known || !right.known) {
		forget_writes(emulator, decoded, operands);
		return;
	}
	product = (__int128)sign_extend(left.bits, width) * sign_extend(right.bits, width);
	overflow = product != sign_extend((uint64_t)product & width_mask(width), width);
	operand_write(emulator, decoded, &operands[0], known_value((uint64_t)product, width));
	forget_flags(emulator, FLAGS_ALL);
	set_flag(emulator, FLAG_CARRY, overflow);
	set_flag(emulator, FLAG_OVERFLOW, overflow);
}

/* tzcnt, lzcnt, popcnt, and bsf and bsr of what is not zero */
static void emulate_bit_count(struct emulator *emulator, const ZydisDecodedInstruction *decoded,
			      const ZydisDecodedOperand *operands)
{
	unsigned width = operands[0].size;
	struct value source = operand_read(emulator, decoded, &operands[1]);
	uint64_t result, leading;

	forget_flags(emulator, FLAGS_ALL);
	if (!source.known ||
	    (source.bits == 0 && (decoded->mnemonic == ZYDIS_MNEMONIC_BSF ||
				  decoded->mnemonic == ZYDIS_MNEMONIC_BSR))) {
		/* Of zero, bsf and bsr leave the register as it was, all or half of it. */
		forget_register(emulator, (enum register_id)operand_register(&operands[0]));
		if (source.known)
			set_flag(emulator, FLAG_ZERO, true);
		return;
	}
	leading = source.bits ? (unsigned)__builtin_clzll(source.bits) - (64 - width) : width;
	switch (decoded->mnemonic) {
	case ZYDIS_MNEMONIC_BSF:
		result = (unsigned)__builtin_ctzll(source.bits);
		set_flag(emulator, FLAG_ZERO, false);
		break;
	case ZYDIS_MNEMONIC_BSR:
		result = width - 1 - leading;
		set_flag(emulator, FLAG_ZERO, false);
		break;
	case ZYDIS_MNEMONIC_POPCNT:
		result = (unsigned)__builtin_popcountll(source.bits);
		set_flag(emulator, FLAG_ZERO, source.bits == 0);
		break;
	default:
		if (decoded->mnemonic == ZYDIS_MNEMONIC_TZCNT)
			result = source.bits ? (unsigned)__builtin_ctzll(source.bits) : width;
		else
			result = leading;
		set_flag(emulator, FLAG_CARRY, source.bits == 0);
		set_flag(emulator, FLAG_ZERO, result == 0);
		break;
	}
	operand_write(emulator, decoded, &operands[0], (struct value){ result, true });
}

/* cbw, cwde, cdqe extend inside rax; cwd, cdq, cqo spread its sign over rdx. */
static void emulate_sign_extension(struct emulator *emulator,
				   const ZydisDecodedInstruction *decoded,
				   const ZydisDecodedOperand *operands)
{
	unsigned from = operands[1].size, to = operands[0].size;
	struct value value = operand_read(emulator, decoded, &operands[1]);

	if (value.known) {
		int64_t extended = sign_extend(value.bits, from);

		if (operand_register(&operands[0]) == REGISTER_RDX)
			extended = extended < 0 ? -1 : 0;
		value = known_value((uint64_t)extended, to);
	}
	operand_write(emulator, decoded, &operands[0], value);
}

static void emulate_bit_test(struct emulator *emulator, const ZydisDecodedInstruction *decoded,
			     const ZydisDecodedOperand *operands)
{
	struct value value = operand_read(emulator, decoded, &operands[0]);
	struct value bit = operand_read(emulator, decoded, &operands[1]);

	forget_writes(emulator, decoded, operands);
	if (value.known && bit.known)
		set_flag(emulator, FLAG_CARRY, value.bits >> (bit.bits % operands[0].size) & 1);
	/* The processor leaves the zero flag alone; the rest is undefined. */
}

static void emulate_exchange(struct emulator *emulator, const ZydisDecodedInstruction *decoded,
			     const ZydisDecodedOperand *operands)
{
	struct value first = operand_read(emulator, decoded, &operands[0]);
	struct value second = operand_read(emulator, decoded, &operands[1]);

	/* A memory operand comes first, and is written while its address still holds. */
	operand_write(emulator, decoded, &operands[0], second);
	operand_write(emulator, decoded, &operands[1], first);
}

static void emulate_conditional_move(struct emulator *emulator,
				     const ZydisDecodedInstruction *decoded,
				     const ZydisDecodedOperand *operands)
{
	struct value value = unknown_value;
	bool holds;

	/* A 32-bit cmov clears the upper half even when it does not move. */
	if (condition_holds(emulator, decoded->opcode & 15, &holds))
		value = operand_read(emulator, decoded, &operands[holds]);
	operand_write(emulator, decoded, &operands[0], value);
}

static void emulate_conditional_set(struct emulator *emulator,
				    const ZydisDecodedInstruction *decoded,
				    const ZydisDecodedOperand *operands)
{
	struct value value = unknown_value;
	bool holds;

	if (condition_holds(emulator, decoded->opcode & 15, &holds))
		value = known_value(holds, 8);
	operand_write(emulator, decoded, &operands[0], value);
}

/* ---- stack ---- */

static void move_stack_pointer(struct emulator *emulator, uint64_t distance)
{
	struct value pointer = whole_register(emulator, REGISTER_RSP);

	pointer.bits += distance;
	set_whole_register(emulator, REGISTER_RSP, pointer);
}

static void push_value(struct emulator *emulator, unsigned size, struct value value)
{
	struct value pointer = whole_register(emulator, REGISTER_RSP);

	value.bits &= width_mask(size * 8);
	if (pointer.known)
		memory_store(emulator, pointer.bits - size, size, value);
	else
		store_anywhere(emulator);
	move_stack_pointer(emulator, -(uint64_t)size);
}

static struct value pop_value(struct emulator *emulator, unsigned size)
{
	struct value pointer = whole_register(emulator, REGISTER_RSP), value = unknown_value;

	if (pointer.known)
		value = memory_load(emulator, pointer.bits, size);
	move_stack_pointer(emulator, size);
	return value;
}

static void emulate_push(struct emulator *emulator, const ZydisDecodedInstruction *decoded,
			 const ZydisDecodedOperand *operands)
{
	struct value value = unknown_value;

	if (decoded->operand_count_visible && operands[0].visibility !=
						      ZYDIS_OPERAND_VISIBILITY_HIDDEN)
		value = operand_read(emulator, decoded, &operands[0]);
	push_value(emulator, decoded->operand_width / 8, value);
}

static void emulate_pop(struct emulator *emulator, const ZydisDecodedInstruction *decoded,
			const ZydisDecodedOperand *operands)
{
	unsigned size = decoded->operand_width / 8;
	remote_addr address;
	struct value value;

	if (decoded->mnemonic != ZYDIS_MNEMONIC_POP) { /* popf, popfq */
		forget_flags(emulator, UINT64_MAX);
		move_stack_pointer(emulator, size);
	} else if (operands[0].type == ZYDIS_OPERAND_TYPE_MEMORY) {
		/* operand_address() reckons with rsp after the pop from rsp before it. */
		bool known = address_of(emulator, decoded, &operands[0], &address);

		value = pop_value(emulator, size);
		if (known)
			memory_store(emulator, address, size, value);
		else
			store_anywhere(emulator);
	} else {
		value = pop_value(emulator, size); /* pop rsp: what was popped wins */
		operand_write(emulator, decoded, &operands[0], value);
	}
}

static void emulate_leave(struct emulator *emulator, const ZydisDecodedInstruction *decoded,
			  const ZydisDecodedOperand *operands)
{
	(void)decoded;
	(void)operands;
	struct value frame = whole_register(emulator, REGISTER_RBP);

	set_whole_register(emulator, REGISTER_RSP, frame);
	set_whole_register(emulator, REGISTER_RBP, pop_value(emulator, 8));
}

/* ---- string instructions ---- */

bool emulator_repeat_count(const struct emulator *emulator, const ZydisDecodedInstruction *decoded,
			   uint64_t *ret_count)
{
	struct value count =
		register_read(emulator, REGISTER_RCX, 0, decoded->address_width == 32 ? 32 : 64);

	*ret_count = count.bits;
	return count.known;
}

/* Moves rsi or rdi over the elements done. */
static void advance_pointer(struct emulator *emulator, enum register_id id, uint64_t count,
			    unsigned size)
{
	struct value pointer = whole_register(emulator, id);

	if (!(emulator->known_flags & FLAG_DIRECTION))
		pointer.known = false;
	pointer.bits += flag(emulator, FLAG_DIRECTION) ? -(count * size) : count * size;
	set_whole_register(emulator, id, pointer);
}

static void store_elements(struct emulator *emulator, uint64_t count, unsigned size,
			   struct value value)
{
	struct value pointer = whole_register(emulator, REGISTER_RDI);
	struct emulated_store store = {
		.address = pointer.bits,
		.size = count * size,
		.value = value.bits,
		.known = value.known && count == 1,
	};

	if (!pointer.known || !(emulator->known_flags & FLAG_DIRECTION) || count > UINT32_MAX) {
		store_anywhere(emulator);
		return;
	}
	if (flag(emulator, FLAG_DIRECTION))
		store.address -= (count - 1) * size;
	add_store(emulator, store);
}

/* String instructions by opcode, its width bit cleared; mnemonics double as SSE's (movsd, cmpsd). */
enum { STRING_MOVS = 0xa4, STRING_CMPS = 0xa6, STRING_STOS = 0xaa, STRING_LODS = 0xac,
       STRING_SCAS = 0xae };

/*
 * Zydis 4.0 does not name all the registers that these write (cmps, scas), so
 * none of this relies on its operands.
 */
static enum emulator_result emulate_string(struct emulator *emulator,
					   const ZydisDecodedInstruction *decoded)
{
	bool repeats = decoded->attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE |
					      ZYDIS_ATTRIB_HAS_REPNE);
	unsigned opcode = decoded->opcode & 0xfe, size = decoded->operand_width / 8;
	bool compares = opcode == STRING_CMPS || opcode == STRING_SCAS;
	struct value source = whole_register(emulator, REGISTER_RSI);
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
		forget_flags(emulator, FLAGS_ALL);
	} else if (opcode == STRING_LODS) {
		register_write(emulator, REGISTER_RAX, 0, size * 8, unknown_value);
	} else if (opcode == STRING_STOS) {
		store_elements(emulator, count, size,
			       register_read(emulator, REGISTER_RAX, 0, size * 8));
	} else {
		struct value value = unknown_value;

		if (count == 1 && source.known)
			value = memory_load(emulator, source.bits, size);
		store_elements(emulator, count, size, value);
	}
	if (opcode != STRING_STOS && opcode != STRING_SCAS)
		advance_pointer(emulator, REGISTER_RSI, count, size);
	if (opcode != STRING_LODS)
		advance_pointer(emulator, REGISTER_RDI, count, size);
	if (repeats)
		set_whole_register(emulator, REGISTER_RCX, known_value(0, 64));
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
		return known_value(emulator->registers.rip + decoded->length +
					   operands[0].imm.value.u,
				   64);
	return operand_read(emulator, decoded, &operands[0]);
}

static enum emulator_result emulate_call(struct emulator *emulator,
					 const ZydisDecodedInstruction *decoded,
					 const ZydisDecodedOperand *operands)
{
	struct value target = branch_target(emulator, decoded, operands);

	if (!target.known)
		return EMULATOR_UNKNOWN_BRANCH;
	push_value(emulator, 8, known_value(emulator->registers.rip + decoded->length, 64));
	return jump_to(emulator, target);
}

static enum emulator_result emulate_return(struct emulator *emulator,
					   const ZydisDecodedInstruction *decoded,
					   const ZydisDecodedOperand *operands)
{
	struct value pointer = whole_register(emulator, REGISTER_RSP), target = unknown_value;
	bool releases = operands[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;

	if (decoded->mnemonic != ZYDIS_MNEMONIC_RET)
		return EMULATOR_UNSUPPORTED;
	if (pointer.known)
		target = memory_load(emulator, pointer.bits, 8);
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
		count = register_read(emulator, REGISTER_RCX, 0, count_width);
		if (!count.known)
			return EMULATOR_UNKNOWN_BRANCH;
		taken = count.bits == 0;
		break;
	case ZYDIS_MNEMONIC_LOOP:
		count = register_read(emulator, REGISTER_RCX, 0, count_width);
		if (!count.known)
			return EMULATOR_UNKNOWN_BRANCH;
		count = known_value(count.bits - 1, count_width);
		register_write(emulator, REGISTER_RCX, 0, count_width, count);
		taken = count.bits != 0;
		break;
	default:
		/* What is left of this category beside jcc: loope, loopne, transactions. */
		if (!(decoded->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT &&
		      decoded->opcode >> 4 == 7) &&
		    !(decoded->opcode_map == ZYDIS_OPCODE_MAP_0F && decoded->opcode >> 4 == 8))
			return EMULATOR_UNSUPPORTED;
		if (!condition_holds(emulator, decoded->opcode & 15, &taken))
			return EMULATOR_UNKNOWN_BRANCH;
		break;
	}
	return jump_to(emulator,
		       known_value(taken ? next + operands[0].imm.value.u : next, 64));
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
	void (*emulate)(struct emulator *, const ZydisDecodedInstruction *,
			const ZydisDecodedOperand *) = forget_writes;

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
	case ZYDIS_MNEMONIC_LEAVE:
		emulate = emulate_leave;
		break;
	default:
		if (decoded->meta.category == ZYDIS_CATEGORY_CMOV)
			emulate = emulate_conditional_move;
		else if (decoded->meta.category == ZYDIS_CATEGORY_SETCC)
			emulate = emulate_conditional_set;
		else if (decoded->meta.category == ZYDIS_CATEGORY_PUSH)
			emulate = emulate_push;
		else if (decoded->meta.category == ZYDIS_CATEGORY_POP)
			emulate = emulate_pop;
		break;
	}
	emulate(emulator, decoded, operands);
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
