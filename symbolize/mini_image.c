/* SPDX-License-Identifier: Apache-2.0 */
/*
 * liblzma itself, not libdwfl, which unpacks such sections too: it would take
 * any amount of memory that a few packed kilobytes ask for.
 */
#include "symbolize/mini_image.h"

#include <elf.h>
#include <errno.h>
#include <lzma.h>
#include <stdlib.h>
#include <sys/types.h>

#define FIRST_BYTES        65536u
#define DECODER_MEMORY_MAX (80ull << 20) /* a dictionary of 64 MiB: xz -9, the largest preset */

static int grow(lzma_stream *stream, uint8_t **bytes, size_t *size)
{
	size_t wanted = *size ? 2 * *size : FIRST_BYTES;
	uint8_t *grown;

	if (*size == MINI_IMAGE_BYTES_MAX)
		return -ENOEXEC;
	if (wanted > MINI_IMAGE_BYTES_MAX)
		wanted = MINI_IMAGE_BYTES_MAX;
	grown = realloc(*bytes, wanted);
	if (!grown)
		return -ENOMEM;
	*bytes = grown;
	*size = wanted;
	stream->next_out = grown + stream->total_out;
	stream->avail_out = wanted - (size_t)stream->total_out;
	return 0;
}

/* *ret_bytes is from malloc. */
static int unpack(const uint8_t *packed, size_t packed_size, uint8_t **ret_bytes, size_t *ret_size)
{
	lzma_stream stream = LZMA_STREAM_INIT;
	uint8_t *bytes = NULL;
	size_t size = 0;
	lzma_ret result;
	int error = 0;

	result = lzma_stream_decoder(&stream, DECODER_MEMORY_MAX, 0);
	if (result != LZMA_OK)
		return result == LZMA_MEM_ERROR ? -ENOMEM : -ENOEXEC;
	stream.next_in = packed;
	stream.avail_in = packed_size;
	while (!error && result == LZMA_OK) {
		if (stream.avail_out == 0)
			error = grow(&stream, &bytes, &size);
		if (!error)
			result = lzma_code(&stream, LZMA_FINISH);
	}
	if (!error && result != LZMA_STREAM_END)
		error = result == LZMA_MEM_ERROR ? -ENOMEM : -ENOEXEC;
	size = (size_t)stream.total_out;
	lzma_end(&stream);
	if (error) {
		free(bytes);
		return error;
	}
	*ret_bytes = bytes;
	*ret_size = size;
	return 0;
}

int mini_image_open(const struct elf_image *image, struct elf_image **ret_image)
{
	struct elf_section section;
	uint8_t *bytes;
	size_t size;
	int error;

	if (elf_image_section_find(image, ".gnu_debugdata", &section) != 0 ||
	    section.type == SHT_NOBITS || section.size == 0)
		return -ENOENT;
	error = unpack(image->bytes + section.file_offset, section.size, &bytes, &size);
	if (error)
		return error;
	error = elf_image_open_memory(bytes, size, ret_image);
	if (error)
		free(bytes);
	return error;
}
