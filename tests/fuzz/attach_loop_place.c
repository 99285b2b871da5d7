/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An interpreter's evaluation loop, in which the places are sought where it is entered and left:
 * any code, in one part or two, with what it calls behind it.
 *
 *   u16 where the second part begins; u16 where the loop ends; u16 the function that results are
 *   handed to; u8 which arguments are the frame and the result; u8 turns that are taken at
 *   branches; then the code
 *
 * Whoever goes through the code, from anywhere, comes by one place on the way out, or by none where
 * the way began behind it.
 */
#include "attach/loop_place.h"
#include "tests/fuzz/fuzz.h"

#include <Zydis/Zydis.h>
#include <errno.h>

#define BASE 0x400000u
/* Instructions of a way, and ways that are tried. */
#define STEPS_MAX 64
#define WAYS_MAX  64

struct evaluation {
	const uint8_t *bytes;
	size_t size;
};

static int read_code(void *context, struct memory_range *ranges, size_t count)
{
	const struct evaluation *loop = context;

	for (size_t i = 0; i < count; i++) {
		uint64_t at = ranges[i].address - BASE;

		ranges[i].error = at > loop->size || ranges[i].size > loop->size - at ? -EFAULT : 0;
		if (!ranges[i].error)
			memcpy(ranges[i].buffer, loop->bytes + at, ranges[i].size);
	}
	return 0;
}

struct way {
	const struct loop_place *places;
	size_t count;
	unsigned met;     /* places that leave */
	unsigned above;   /* of the last one */
	int64_t moved;    /* the stack pointer, since then */
	bool is_followed; /* it is known where it goes */
};

static void meet(struct way *way, remote_addr at)
{
	for (size_t i = 1; i < way->count; i++)
		if (way->places[i].address == at) {
			way->met++;
			way->above = way->places[i].above;
			way->moved = 0;
		}
}

static remote_addr target_of(const ZydisDecodedInstruction *decoded,
			     const ZydisDecodedOperand *operands, remote_addr at)
{
	ZyanU64 target = 0;

	if (operands[0].type != ZYDIS_OPERAND_TYPE_IMMEDIATE ||
	    ZYAN_FAILED(ZydisCalcAbsoluteAddress(decoded, &operands[0], at, &target)))
		return 0;
	return target;
}

/* One instruction; 0: the way is over. */
static remote_addr step(struct way *way, const ZydisDecodedInstruction *decoded,
			const ZydisDecodedOperand *operands, remote_addr at, bool turn)
{
	remote_addr next = at + decoded->length;

	if (decoded->meta.category == ZYDIS_CATEGORY_UNCOND_BR)
		return target_of(decoded, operands, at);
	if (decoded->meta.category == ZYDIS_CATEGORY_COND_BR)
		return turn ? target_of(decoded, operands, at) : next;
	if (decoded->mnemonic == ZYDIS_MNEMONIC_POP)
		way->moved += 8;
	else if (decoded->mnemonic == ZYDIS_MNEMONIC_ADD &&
		 operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		 operands[0].reg.value == ZYDIS_REGISTER_RSP &&
		 operands[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
		way->moved += operands[1].imm.value.s;
	if (decoded->meta.category == ZYDIS_CATEGORY_RET) {
		way->is_followed = decoded->mnemonic == ZYDIS_MNEMONIC_RET;
		return 0;
	}
	return decoded->mnemonic == ZYDIS_MNEMONIC_UD2 || decoded->mnemonic == ZYDIS_MNEMONIC_HLT
		       ? 0
		       : next;
}

static void follow(const struct evaluation *loop, const struct address_ranges *parts,
		   const ZydisDecoder *decoder, struct way *way, remote_addr at, uint8_t turns)
{
	for (unsigned i = 0; i < STEPS_MAX && address_ranges_contain(parts, at); i++) {
		ZydisDecodedInstruction decoded;
		ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];

		if (ZYAN_FAILED(ZydisDecoderDecodeFull(decoder, loop->bytes + (at - BASE),
						       loop->size - (at - BASE), &decoded,
						       operands)))
			return;
		meet(way, at);
		fuzz_must(way->met <= 1);
		at = step(way, &decoded, operands, at, turns >> i % 8 & 1);
	}
	if (way->is_followed && way->met)
		fuzz_must(way->moved == way->above);
}

/* From each instruction on, as the code is read. */
static void check_ways(const struct evaluation *loop, const struct address_ranges *parts,
		       const struct loop_place *places, size_t count, uint8_t turns)
{
	remote_addr at = parts->items[0].start;
	ZydisDecoder decoder;

	fuzz_must(ZYAN_SUCCESS(
		ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)));
	for (unsigned i = 0; i < WAYS_MAX && at < parts->items[0].end; i++) {
		struct way way = { .places = places, .count = count };
		ZydisDecodedInstruction decoded;

		follow(loop, parts, &decoder, &way, at, turns);
		/* Who has come the whole way has come by one. */
		fuzz_must(i > 0 || !way.is_followed || way.met == 1);
		if (ZYAN_FAILED(ZydisDecoderDecodeInstruction(&decoder, NULL,
							      loop->bytes + (at - BASE),
							      loop->size - (at - BASE), &decoded)))
			return;
		at += decoded.length;
	}
}

static void check_places(const struct address_ranges *parts, const struct loop_place *places,
			 size_t count)
{
	fuzz_must(count >= 2 && count <= LOOP_PLACES_MAX);
	for (size_t i = 0; i < count; i++) {
		fuzz_must(address_ranges_contain(parts, places[i].address));
		fuzz_must(places[i].enters == (i == 0) && places[i].number < REGISTER_COUNT);
		fuzz_must(places[i].above % 8 == 0 && places[i].above <= 1u << 18);
		for (size_t k = 1; k < i; k++)
			fuzz_must(places[k].address != places[i].address);
	}
	fuzz_must(places[0].address - parts->items[0].start < 64 && !places[0].above);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input input = { data, size };
	size_t split = fuzz_number(&input, 2), end = fuzz_number(&input, 2);
	struct loop_function function = { .check = BASE + fuzz_number(&input, 2) };
	uint8_t arguments = (uint8_t)fuzz_number(&input, 1);
	uint8_t turns = (uint8_t)fuzz_number(&input, 1);
	struct loop_place places[LOOP_PLACES_MAX];
	struct evaluation loop;
	struct memory_reader reader = { read_code, &loop };
	struct address_ranges parts = { .count = 1 };
	size_t count = 0;
	uint8_t *copy;
	int error;

	/* Exactly as large: reading beyond is seen. */
	copy = fuzz_copy(&input);
	loop.bytes = copy;
	loop.size = input.left;
	if (end > loop.size)
		end = loop.size;
	parts.items[0] = (struct address_range){ BASE, BASE + end };
	if (split && split < end) {
		parts.items[0].end = BASE + split;
		parts.items[parts.count++] = (struct address_range){ BASE + split, BASE + end };
	}
	function.parts = &parts;
	function.frame_argument = arguments % 3;
	function.check_argument = arguments / 3 % 3;
	error = loop_places_find(&reader, &reader, &function, places, &count);
	fuzz_must(!error || error == -ENOENT || error == -EILSEQ || error == -E2BIG);
	if (!error) {
		check_places(&parts, places, count);
		check_ways(&loop, &parts, places, count, turns);
	}
	free(copy);
	return 0;
}
