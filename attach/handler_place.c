/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/handler_place.h"

#include <Zydis/Zydis.h>
#include <errno.h>

/* Of a handler, up to its first jump. */
#define INSTRUCTIONS_MAX 32
#define CODE_BYTES       4096
/* Of an evaluation loop: the largest known has 100 KiB. */
#define FUNCTION_BYTES_MAX (1u << 20)

/* ---- one handler ---- */

static int kept_register(ZydisRegister number)
{
	int id = number >= ZYDIS_REGISTER_RAX && number <= ZYDIS_REGISTER_R15
			 ? (int)(number - ZYDIS_REGISTER_RAX)
			 : -1;

	return id == REGISTER_RBX || id == REGISTER_RBP || id >= REGISTER_R12 ? id : -1;
}

/* "mov %r15,0x38(%rbx)": the register that has the frame. -1: it is another instruction. */
static int frame_of_store(const ZydisDecodedInstruction *decoded,
			  const ZydisDecodedOperand *operands, int32_t store_offset)
{
	const ZydisDecodedOperand *to = &operands[0], *from = &operands[1];

	if (decoded->mnemonic != ZYDIS_MNEMONIC_MOV || to->type != ZYDIS_OPERAND_TYPE_MEMORY ||
	    from->type != ZYDIS_OPERAND_TYPE_REGISTER || to->size != 64 ||
	    to->mem.index != ZYDIS_REGISTER_NONE || !to->mem.disp.has_displacement ||
	    to->mem.disp.value != store_offset)
		return -1;
	return kept_register(to->mem.base);
}

static bool writes(const ZydisDecodedInstruction *decoded, const ZydisDecodedOperand *operands,
		   int number)
{
	for (unsigned i = 0; i < decoded->operand_count; i++)
		if (operands[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    operands[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE &&
		    ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64,
						     operands[i].reg.value) ==
			    (ZydisRegister)((int)ZYDIS_REGISTER_RAX + number))
			return true;
	return false;
}

static bool jumps(const ZydisDecodedInstruction *decoded)
{
	return decoded->meta.category == ZYDIS_CATEGORY_COND_BR ||
	       decoded->meta.category == ZYDIS_CATEGORY_UNCOND_BR ||
	       decoded->meta.category == ZYDIS_CATEGORY_CALL ||
	       decoded->meta.category == ZYDIS_CATEGORY_RET;
}

/* What the kernel does itself, in arch/x86/kernel/uprobes.c: jumps and calls by a distance. */
static bool is_emulated(const ZydisDecodedInstruction *decoded)
{
	return decoded->meta.category != ZYDIS_CATEGORY_RET && jumps(decoded) &&
	       decoded->raw.imm[0].is_relative && decoded->mnemonic != ZYDIS_MNEMONIC_LOOP &&
	       decoded->mnemonic != ZYDIS_MNEMONIC_LOOPE &&
	       decoded->mnemonic != ZYDIS_MNEMONIC_LOOPNE &&
	       decoded->mnemonic != ZYDIS_MNEMONIC_JRCXZ &&
	       decoded->mnemonic != ZYDIS_MNEMONIC_JECXZ;
}

/* end: of the code that it lies in; frame: the register that has the frame, where that is known;
 * -1: it is not. */
static int find_place(const ZydisDecoder *decoder, const struct memory_reader *code,
		      remote_addr end, int32_t store_offset, int frame, struct handler_place *place)
{
	uint8_t bytes[INSTRUCTIONS_MAX * ZYDIS_MAX_INSTRUCTION_LENGTH];
	bool written[REGISTER_COUNT] = { false };
	size_t left = end - place->handler, used = 0;
	size_t size = left < sizeof(bytes) ? left : sizeof(bytes);
	int error = memory_read(code, place->handler, bytes, size);
	bool found = false; /* an instruction behind the one that tells the register */

	if (error)
		return error;
	for (unsigned i = 0; i < INSTRUCTIONS_MAX; i++) {
		ZydisDecodedInstruction decoded;
		ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
		int store;

		if (ZYAN_FAILED(ZydisDecoderDecodeFull(decoder, bytes + used, size - used, &decoded,
						       operands)))
			return -EILSEQ;
		store = frame_of_store(&decoded, operands, store_offset);
		if (frame < 0 && store >= 0 && !written[store]) {
			frame = store;
		} else if (frame >= 0) {
			place->address = place->handler + used;
			place->stepped = !is_emulated(&decoded);
			place->frame_register = (unsigned)frame;
			found = true;
			if (jumps(&decoded) || writes(&decoded, operands, frame))
				return 0;
		} else if (jumps(&decoded)) {
			return -ENOENT;
		}
		for (int k = 0; k < REGISTER_COUNT; k++)
			written[k] |= writes(&decoded, operands, k);
		/* The stack pointer tells calls apart. */
		if (written[REGISTER_RSP])
			return found ? 0 : -ENOENT;
		used += decoded.length;
	}
	return found ? 0 : -ENOENT;
}

/* ---- other code that jumps there ---- */

static void take_jump(struct handler_place *places, size_t count, remote_addr to)
{
	for (size_t i = 0; i < count; i++)
		if (to > places[i].handler && to <= places[i].address) {
			places[i].address = places[i].handler;
			places[i].stepped = true;
		}
}

static int find_jumps(const ZydisDecoder *decoder, const struct memory_reader *code,
		      struct address_range function, struct handler_place *places, size_t count)
{
	uint8_t bytes[CODE_BYTES];
	remote_addr at = function.start;

	if (function.end - function.start > FUNCTION_BYTES_MAX)
		return -E2BIG;
	while (at < function.end) {
		size_t have = function.end - at < sizeof(bytes) ? function.end - at : sizeof(bytes);
		size_t used = 0;
		int error = memory_read(code, at, bytes, have);

		if (error)
			return error;
		while (used < have) {
			ZydisDecodedInstruction decoded;
			ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];

			if (ZYAN_FAILED(ZydisDecoderDecodeFull(decoder, bytes + used, have - used,
							       &decoded, operands)))
				break;
			if (jumps(&decoded) && decoded.attributes & ZYDIS_ATTRIB_IS_RELATIVE &&
			    operands[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
				take_jump(places, count,
					  at + used + decoded.length +
						  (uint64_t)operands[0].imm.value.s);
			used += decoded.length;
		}
		/* Cut off by the buffer, unless nothing could be decoded. */
		if (!used)
			return have < ZYDIS_MAX_INSTRUCTION_LENGTH ? 0 : -EILSEQ;
		at += used;
	}
	return 0;
}

/* Of the part that has this address; 0: none has. */
static remote_addr end_of(const struct address_ranges *function, remote_addr address)
{
	for (size_t i = 0; i < function->count; i++)
		if (address_range_contains(function->items[i], address))
			return function->items[i].end;
	return 0;
}

/* Each handler may follow any other, so that the frame is in one register at the beginning of all:
 * which one, those say that note its instruction before their first jump. -1: they do not agree. */
static int common_register(const struct handler_place *places, size_t count)
{
	int frame = -1;

	for (size_t i = 0; i < count; i++) {
		if (!places[i].address)
			continue;
		if (frame >= 0 && (unsigned)frame != places[i].frame_register)
			return -1;
		frame = (int)places[i].frame_register;
	}
	return frame;
}

static int find_places(const ZydisDecoder *decoder, const struct memory_reader *code,
		       const struct address_ranges *function, int32_t store_offset,
		       struct handler_place *places, size_t count)
{
	int frame = -1, error = 0;

	for (unsigned round = 0; round < 2 && !error; round++) {
		size_t left = 0;

		for (size_t i = 0; i < count && !error; i++) {
			const remote_addr end = end_of(function, places[i].handler);

			if (round == 0)
				places[i].address = 0;
			if (places[i].address)
				continue;
			error = end ? find_place(decoder, code, end, store_offset, frame,
						 &places[i])
				    : -ENOENT;
			/* By what the others say. */
			if (round == 0 && end && error == -ENOENT) {
				places[i].address = 0;
				left++;
				error = 0;
			}
		}
		if (error || !left)
			return error;
		frame = common_register(places, count);
		if (frame < 0)
			return -ENOENT;
	}
	return error;
}

int handler_places_find(const struct memory_reader *code, const struct address_ranges *function,
			int32_t store_offset, struct handler_place *places, size_t count)
{
	ZydisDecoder decoder;
	int error = 0;

	if (ZYAN_FAILED(
		    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)))
		return -EINVAL;
	error = find_places(&decoder, code, function, store_offset, places, count);
	for (size_t i = 0; i < function->count && !error; i++)
		error = find_jumps(&decoder, code, function->items[i], places, count);
	return error;
}
