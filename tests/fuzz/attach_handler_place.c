/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An interpreter's evaluation loop, in which places for probes are sought: any code, in one part or
 * two, with handlers that begin anywhere. And a table of handlers, as it may lie in its data.
 *
 *   number of handlers, where a frame notes its instruction, where the second part begins (2
 * bytes), each handler's place (2 bytes); then the code
 */
#include "attach/handler_place.h"
#include "daemon/trace/function_site.h"
#include "tests/fuzz/fuzz.h"

#include <Zydis/Zydis.h>
#include <errno.h>

#define BASE 0x400000u
/* Between the parts nothing can be read. */
#define GAP 0x10000u

struct evaluation {
	const uint8_t *bytes;
	size_t first, second; /* bytes of its parts */
};

static const uint8_t *bytes_at(const struct evaluation *loop, remote_addr address, size_t size)
{
	uint64_t in_first = address - BASE, in_second = address - BASE - loop->first - GAP;

	if (in_first <= loop->first && size <= loop->first - in_first)
		return loop->bytes + in_first;
	if (address >= BASE + loop->first + GAP && in_second <= loop->second &&
	    size <= loop->second - in_second)
		return loop->bytes + loop->first + in_second;
	return NULL;
}

static int read_code(void *context, struct memory_range *ranges, size_t count)
{
	const struct evaluation *loop = context;

	for (size_t i = 0; i < count; i++) {
		const uint8_t *at = bytes_at(loop, ranges[i].address, ranges[i].size);

		ranges[i].error = at ? 0 : -EFAULT;
		if (at)
			memcpy(ranges[i].buffer, at, ranges[i].size);
	}
	return 0;
}

static bool is_kept(unsigned number)
{
	return number == REGISTER_RBX || number == REGISTER_RBP ||
	       (number >= REGISTER_R12 && number <= REGISTER_R15);
}

/* From the handler on, instruction by instruction, its place is met before any jump is passed. */
static void check_place(const struct evaluation *loop, const struct handler_place *place)
{
	remote_addr at = place->handler;
	ZydisDecoder decoder;

	fuzz_must(is_kept(place->frame_register) && place->address >= place->handler);
	fuzz_must(ZYAN_SUCCESS(
		ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)));
	for (;;) {
		ZydisDecodedInstruction decoded;
		size_t left = ZYDIS_MAX_INSTRUCTION_LENGTH;

		while (left && !bytes_at(loop, at, left))
			left--;
		fuzz_must(ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(
			&decoder, NULL, bytes_at(loop, at, left), left, &decoded)));
		if (at == place->address) {
			/* What the kernel need not step is a jump or call by a distance. */
			fuzz_must(place->stepped ||
				  (decoded.attributes & ZYDIS_ATTRIB_IS_RELATIVE));
			return;
		}
		fuzz_must(decoded.meta.category != ZYDIS_CATEGORY_UNCOND_BR &&
			  decoded.meta.category != ZYDIS_CATEGORY_COND_BR &&
			  decoded.meta.category != ZYDIS_CATEGORY_CALL &&
			  decoded.meta.category != ZYDIS_CATEGORY_RET);
		at += decoded.length;
		fuzz_must(at <= place->address);
	}
}

static void check_table(const uint8_t *bytes, size_t size)
{
	uint64_t table[DISPATCH_OPCODES] = { 0 };

	/* Few different ones, so that some are alike. */
	for (size_t i = 0; i < DISPATCH_OPCODES && i < size; i++)
		table[i] = BASE + bytes[i];
	for (int minor = 0; minor < 20; minor++)
		if (dispatch_table_fits(minor, table))
			fuzz_must(minor >= 6);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input input = { data, size };
	struct handler_place places[HANDLER_PLACES_MAX];
	size_t count = fuzz_number(&input, 1) % (HANDLER_PLACES_MAX + 1);
	int32_t store_offset = (int8_t)fuzz_number(&input, 1);
	size_t split = fuzz_number(&input, 2);
	uint16_t starts[HANDLER_PLACES_MAX];
	struct evaluation loop;
	struct memory_reader reader = { read_code, &loop };
	struct address_ranges function;
	uint8_t *copy;
	int error;

	for (size_t i = 0; i < count; i++)
		starts[i] = (uint16_t)fuzz_number(&input, 2);
	/* Exactly as large: reading beyond is seen. */
	copy = fuzz_copy(&input);
	loop.bytes = copy;
	loop.first = split < input.left ? split : input.left;
	loop.second = input.left - loop.first;
	function = (struct address_ranges){
		.items = { { BASE, BASE + loop.first },
			   { BASE + loop.first + GAP, BASE + input.left + GAP } },
		.count = 2,
	};
	for (size_t i = 0; i < count; i++)
		places[i] = (struct handler_place){
			.handler = BASE + starts[i] + (starts[i] < loop.first ? 0 : GAP),
		};
	error = handler_places_find(&reader, &function, store_offset, places, count);
	fuzz_must(!error || error == -ENOENT || error == -EILSEQ || error == -EFAULT);
	for (size_t i = 0; i < count && !error; i++)
		check_place(&loop, &places[i]);
	check_table(copy, input.left);
	free(copy);
	return 0;
}
