/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Contents of objects, read from a process' memory as it was, or as it never could be, and
 * what a line works on that has them as operands.
 *
 *   u8 minor version less 6; u8 how many objects; u16 pieces of memory; the
 *   objects' addresses, 8 bytes each; then pieces, each u64 address, u16 bytes, so many;
 *   then a shape
 *
 * Several times: types are remembered.
 */
#include "daemon/contents/fingerprint.h"
#include "daemon/detect/argument_element.h"
#include "tests/fuzz/fuzz.h"

#include <errno.h>

#define PIECES_MAX 512
/* Types, contents: fingerprint_internal.h. */
#define BYTES_MAX  (3u * FINGERPRINT_BYTES_MAX)
#define ROUNDS_MAX 32

struct piece {
	uint64_t address;
	const uint8_t *bytes;
	size_t size;
};

static void read_range(struct memory_range *range, const struct piece *pieces, size_t count)
{
	range->error = -EFAULT;
	fuzz_must(range->size > 0 && range->size <= BYTES_MAX);
	memset(range->buffer, 0, range->size);
	for (size_t i = 0; i < count; i++) {
		uint64_t offset = range->address - pieces[i].address;

		if (offset >= pieces[i].size)
			continue;
		/* What is not there at its end is zero. */
		memcpy(range->buffer, pieces[i].bytes + offset,
		       range->size < pieces[i].size - offset ? range->size
							     : pieces[i].size - offset);
		range->error = 0;
		return;
	}
}

static void read_all(struct fingerprints *set, const uint64_t *objects, size_t object_count,
		     const struct piece *pieces, size_t piece_count)
{
	size_t count, rounds = 0, bytes = 0;
	struct memory_range *ranges;

	fingerprints_begin(set, objects, object_count, false);
	while ((count = fingerprints_round(set, &ranges))) {
		fuzz_must(++rounds <= ROUNDS_MAX);
		for (size_t i = 0; i < count; i++) {
			read_range(&ranges[i], pieces, piece_count);
			bytes += ranges[i].size;
		}
	}
	fuzz_must(bytes <= BYTES_MAX);
}

static void fill_operand(struct argument_operand *operand, uint8_t role,
			 const struct fingerprint *print)
{
	operand->role = role;
	operand->kind = print->kind;
	operand->size = print->size;
	memcpy(operand->shape, print->shape, sizeof(operand->shape));
}

static void judge_site(const struct argument_site *site)
{
	const struct call_site call = { .does.elementwise = true };
	bool element = argument_takes_element(site), scalars = argument_calls_on_scalars(site);
	bool elements = argument_works_on_elements(site, &call, false);
	bool items = argument_works_on_elements(site, &call, true);

	fuzz_must(element + scalars + elements <= 1 && element + scalars + items <= 1);
	fuzz_must(!elements || items);
	fuzz_must(!items || elements || site->kind == OPERATION_CALL ||
		  site->kind == OPERATION_BINARY || site->kind == OPERATION_COMPARE);
	fuzz_must(!element || site->kind == OPERATION_SUBSCRIPT ||
		  site->kind == OPERATION_STORE_SUBSCRIPT);
	fuzz_must(!scalars || (site->kind == OPERATION_CALL && !site->of_callee));
	fuzz_must(!elements || site->kind == OPERATION_BINARY || site->kind == OPERATION_COMPARE);
}

/* Two objects as the operands of one instruction, whichever it is. */
static void judge_pair(const struct fingerprint *first, const struct fingerprint *second)
{
	for (uint8_t kind = OPERATION_OTHER; kind <= OPERATION_LAST; kind++) {
		struct argument_site site = { .kind = kind, .operand_count = 2 };

		fill_operand(&site.operands[0], OPERAND_CONTAINER, first);
		fill_operand(&site.operands[1], OPERAND_INDEX, second);
		judge_site(&site);
		site.of_callee = true;
		site.operands[0].callable = true;
		judge_site(&site);
		site.of_callee = false;
		judge_site(&site);
	}
}

/* An array of any shape, by any object. */
static void judge_shape(const struct fuzz_input *input, const struct fingerprint *index)
{
	struct fingerprint array = { .kind = CONTENT_ARRAY };

	if (input->left)
		memcpy(array.shape, input->at,
		       input->left < sizeof(array.shape) ? input->left : sizeof(array.shape) - 1);
	judge_pair(&array, index);
	array.kind = CONTENT_OTHER;
	judge_pair(&array, index);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input input = { data, size };
	int minor = 6 + (int)(fuzz_number(&input, 1) % 10);
	size_t object_count = 1 + fuzz_number(&input, 1) % FINGERPRINT_OBJECTS_MAX;
	size_t wanted = fuzz_number(&input, 2), piece_count = 0;
	struct fingerprints *set = fingerprints_create(minor);
	uint64_t objects[FINGERPRINT_OBJECTS_MAX];
	struct fingerprint earlier = { 0 };
	struct piece pieces[PIECES_MAX];

	fuzz_must(set);
	for (size_t i = 0; i < object_count; i++)
		objects[i] = fuzz_number(&input, 8);
	while (input.left && piece_count < PIECES_MAX && piece_count < wanted) {
		struct piece *piece = &pieces[piece_count++];

		piece->address = fuzz_number(&input, 8);
		piece->bytes = fuzz_take(&input, fuzz_number(&input, 2), &piece->size);
	}
	for (unsigned turn = 0; turn < 4; turn++) {
		read_all(set, objects, object_count, pieces, piece_count);
		for (size_t i = 0; i < object_count; i++) {
			struct fingerprint print = fingerprints_get(set, i);

			fuzz_must(print.kind <= CONTENT_OTHER && print.kind != CONTENT_ATTRIBUTES);
			fuzz_must(memchr(print.shape, '\0', sizeof(print.shape)));
			fuzz_must(print.shape[0]);
			if (turn == 0)
				judge_shape(&input, &print);
			judge_pair(&print, &earlier);
			earlier = print;
		}
	}
	fingerprints_destroy(set);
	return 0;
}
