/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Contents of objects, read from a process' memory as it was, or as it never could be.
 *
 *   u8 minor version less 6; u8 how many objects; u16 pieces of memory; the
 *   objects' addresses, 8 bytes each; then pieces, each u64 address, u16 bytes, so many
 *
 * Several times: types are remembered.
 */
#include "daemon/detect/fingerprint.h"
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

	fingerprints_begin(set, objects, object_count);
	while ((count = fingerprints_round(set, &ranges))) {
		fuzz_must(++rounds <= ROUNDS_MAX);
		for (size_t i = 0; i < count; i++) {
			read_range(&ranges[i], pieces, piece_count);
			bytes += ranges[i].size;
		}
	}
	fuzz_must(bytes <= BYTES_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input input = { data, size };
	int minor = 6 + (int)(fuzz_number(&input, 1) % 10);
	size_t object_count = 1 + fuzz_number(&input, 1) % FINGERPRINT_OBJECTS_MAX;
	size_t wanted = fuzz_number(&input, 2), piece_count = 0;
	struct fingerprints *set = fingerprints_create(minor);
	uint64_t objects[FINGERPRINT_OBJECTS_MAX];
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
		}
	}
	fingerprints_destroy(set);
	return 0;
}
