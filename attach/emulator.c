/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/emulator.h"

#include <Zydis/Zydis.h>

#define ALL_BYTES 0xff

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

struct value emulator_read_register(const struct emulator *emulator, enum register_id id,
				    unsigned shift, unsigned width)
{
	uint8_t mask = byte_mask(shift, width);

	if ((emulator->known_bytes[id] & mask) != mask)
		return VALUE_UNKNOWN;
	return value_known(emulator->registers.general[id] >> shift, width);
}

void emulator_write_register(struct emulator *emulator, enum register_id id, unsigned shift,
			     unsigned width, struct value value)
{
	uint64_t *general = &emulator->registers.general[id];
	uint8_t mask = byte_mask(shift, width);

	if (width >= 32) { /* 32-bit writes clear the upper half */
		*general = value.bits;
		emulator->known_bytes[id] = ALL_BYTES;
	} else {
		*general &= ~(value_mask(width) << shift);
		*general |= value.bits << shift;
		emulator->known_bytes[id] |= mask;
	}
	if (!value.known)
		emulator->known_bytes[id] &= (uint8_t)~mask;
}

void emulator_forget_register(struct emulator *emulator, enum register_id id)
{
	emulator->known_bytes[id] = 0;
}

struct value emulator_read_whole(const struct emulator *emulator, enum register_id id)
{
	return emulator_read_register(emulator, id, 0, 64);
}

void emulator_write_whole(struct emulator *emulator, enum register_id id, struct value value)
{
	emulator_write_register(emulator, id, 0, 64, value);
}

void emulator_forget_flags(struct emulator *emulator, uint64_t flags)
{
	emulator->known_flags &= ~flags;
}

void emulator_set_flag(struct emulator *emulator, uint64_t flag, bool value)
{
	emulator->registers.rflags &= ~flag;
	if (value)
		emulator->registers.rflags |= flag;
	emulator->known_flags |= flag;
}

void emulator_set_result_flags(struct emulator *emulator, uint64_t result, unsigned width)
{
	emulator_set_flag(emulator, FLAG_ZERO, result == 0);
	emulator_set_flag(emulator, FLAG_SIGN, result >> (width - 1) & 1);
	emulator_set_flag(emulator, FLAG_PARITY, !(__builtin_popcountll(result & 0xff) & 1));
}

bool emulator_flag(const struct emulator *emulator, uint64_t wanted)
{
	return emulator->registers.rflags & wanted;
}

bool emulator_condition(const struct emulator *emulator, unsigned condition, bool *ret_holds)
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
		holds = emulator_flag(emulator, tested[pair]);
	else
		holds = emulator_flag(emulator, FLAG_SIGN) !=
				emulator_flag(emulator, FLAG_OVERFLOW) ||
			(pair == 7 && emulator_flag(emulator, FLAG_ZERO));
	*ret_holds = holds != (condition & 1);
	return true;
}

/* ---- memory ---- */

static bool ranges_overlap(remote_addr a, uint64_t a_size, remote_addr b, uint64_t b_size)
{
	/* Differences wrap as the addresses do. */
	return b - a < a_size || a - b < b_size;
}

struct value emulator_load(struct emulator *emulator, remote_addr address, unsigned size)
{
	uint64_t bits = 0;

	for (size_t i = emulator->store_count; i-- > 0;) {
		const struct emulated_store *store = &emulator->stores[i];
		uint64_t offset = address - store->address;

		if (!store->everywhere &&
		    !ranges_overlap(address, size, store->address, store->size))
			continue;
		if (!store->known || offset >= store->size || store->size - offset < size)
			return VALUE_UNKNOWN;
		return value_known(store->value >> (offset * 8), size * 8);
	}
	if (emulator->stack && !stack_snapshot_read(emulator->stack, address, &bits, size))
		return value_known(bits, size * 8);
	if (!emulator->memory || !emulator->reads_left)
		return VALUE_UNKNOWN;
	emulator->reads_left--;
	if (memory_read(emulator->memory, address, &bits, size))
		return VALUE_UNKNOWN;
	return value_known(bits, size * 8);
}

void emulator_add_store(struct emulator *emulator, struct emulated_store store)
{
	/* What has no room any more could be read back from the target stale: forget all. */
	if (emulator->store_count == EMULATOR_STORES_MAX || store.everywhere) {
		emulator->stores[0] = (struct emulated_store){ .everywhere = true };
		emulator->store_count = 1;
	}
	if (!store.everywhere)
		emulator->stores[emulator->store_count++] = store;
}

void emulator_store_anywhere(struct emulator *emulator)
{
	emulator_add_store(emulator, (struct emulated_store){ .everywhere = true });
}

void emulator_store(struct emulator *emulator, remote_addr address, unsigned size,
		    struct value value)
{
	emulator_add_store(emulator, (struct emulated_store){ .address = address,
							      .size = size,
							      .value = value.bits,
							      .known = value.known });
}

/* ---- operands ---- */

bool emulator_operand_address(const struct emulator *emulator,
			      const ZydisDecodedInstruction *decoded,
			      const ZydisDecodedOperand *operand, remote_addr *ret_address)
{
	return operand_address(decoded, operand, &emulator->registers,
			       emulator_known_registers(emulator), ret_address);
}

struct value emulator_read_operand(struct emulator *emulator,
				   const ZydisDecodedInstruction *decoded,
				   const ZydisDecodedOperand *operand)
{
	remote_addr address;
	int id;

	if (operand->size > 64 || operand->size % 8)
		return VALUE_UNKNOWN;
	switch (operand->type) {
	case ZYDIS_OPERAND_TYPE_IMMEDIATE:
		/* Zydis has extended it to 64 bits; the reader cuts it to the operation's width. */
		return (struct value){ operand->imm.value.u, true };
	case ZYDIS_OPERAND_TYPE_REGISTER:
		id = operand_register(operand);
		if (id < 0)
			return VALUE_UNKNOWN;
		return emulator_read_register(emulator, (enum register_id)id,
					      register_shift(operand->reg.value), operand->size);
	case ZYDIS_OPERAND_TYPE_MEMORY:
		if (!operand->size ||
		    !emulator_operand_address(emulator, decoded, operand, &address))
			return VALUE_UNKNOWN;
		return emulator_load(emulator, address, operand->size / 8);
	default:
		return VALUE_UNKNOWN;
	}
}

struct value emulator_read_operand_width(struct emulator *emulator,
					 const ZydisDecodedInstruction *decoded,
					 const ZydisDecodedOperand *operand, unsigned width)
{
	struct value value = emulator_read_operand(emulator, decoded, operand);

	value.bits &= value_mask(width);
	return value;
}

void emulator_write_operand(struct emulator *emulator, const ZydisDecodedInstruction *decoded,
			    const ZydisDecodedOperand *operand, struct value value)
{
	remote_addr address;
	int id = operand_register(operand);

	value.bits &= value_mask(operand->size);
	if (id >= 0)
		emulator_write_register(emulator, (enum register_id)id,
					register_shift(operand->reg.value), operand->size, value);
	else if (operand->type != ZYDIS_OPERAND_TYPE_MEMORY)
		return;
	else if (emulator_operand_address(emulator, decoded, operand, &address))
		emulator_store(emulator, address, operand->size / 8, value);
	else
		emulator_store_anywhere(emulator);
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
	    !emulator_operand_address(emulator, decoded, operand, &store.address))
		emulator_store_anywhere(emulator);
	else
		emulator_add_store(emulator, store);
}

static void forget_register_write(struct emulator *emulator, const ZydisDecodedOperand *operand)
{
	int id = operand_register(operand);

	if (id < 0)
		return;
	/* A conditional 32-bit write may leave the upper half, too. */
	if (!(operand->actions & ZYDIS_OPERAND_ACTION_WRITE))
		emulator_forget_register(emulator, (enum register_id)id);
	else
		emulator_write_register(emulator, (enum register_id)id,
					register_shift(operand->reg.value), operand->size,
					VALUE_UNKNOWN);
}

/* The way out for everything not followed. */
void emulator_forget_writes(struct emulator *emulator, const ZydisDecodedInstruction *decoded,
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
		emulator_forget_flags(emulator, decoded->cpu_flags->modified |
							decoded->cpu_flags->set_0 |
							decoded->cpu_flags->set_1 |
							decoded->cpu_flags->undefined);
}
