/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process in a file: what its interpreter's binary says of itself and pieces
 * of its memory, as tests/tools/fuzz_seeds.c records them from a live one.
 *
 *   u32 tid, then entries up to the end:
 *   u8 IMAGE_SYMBOL | IMAGE_SECTION, u8 length, name, u64 address, u32 size
 *   u8 IMAGE_MEMBER | IMAGE_SIZE,    u8 length, "type.member" or type, u32 number
 *   u8 IMAGE_MEMORY, u64 address, u32 size, u16 bytes, so many: zeros behind them
 *   u8 IMAGE_LATER                   the memory behind it is there only after the
 *                                    interpreter has been found, and hides earlier
 */
#ifndef PIEPROFD_TESTS_FUZZ_REMOTE_IMAGE_H
#define PIEPROFD_TESTS_FUZZ_REMOTE_IMAGE_H

#include "common/debug_info.h"
#include "common/memory.h"
#include "tests/fuzz/fuzz.h"

#include <errno.h>

enum image_entry {
	IMAGE_SYMBOL,
	IMAGE_SECTION,
	IMAGE_MEMBER,
	IMAGE_SIZE,
	IMAGE_MEMORY,
	IMAGE_LATER,
	IMAGE_ENTRIES
};

#define IMAGE_NAMES_MAX  160
#define IMAGE_PIECES_MAX 1024
#define IMAGE_PIECE_MAX  (1u << 22)

/* As if it were a symbol: the piece of a C stack that a stopped thread's copy holds. */
#define IMAGE_STACK       "(stack)"
#define IMAGE_STACK_BYTES 6144

struct image_name {
	uint8_t kind; /* enum image_entry */
	uint8_t length;
	const uint8_t *name; /* the input's */
	remote_addr address;
	uint32_t number;
};

struct image_piece {
	remote_addr address;
	uint32_t size;
	uint32_t there;
	const uint8_t *bytes; /* the input's */
	bool later;
};

struct remote_image {
	uint32_t tid;
	struct image_name names[IMAGE_NAMES_MAX];
	size_t name_count;
	struct image_piece pieces[IMAGE_PIECES_MAX];
	size_t piece_count;
	bool is_later;
	uint64_t reads_left; /* then the process is gone */
};

FUZZ_UNUSED FUZZ_UNWATCHED void remote_image_parse(struct remote_image *image,
						   struct fuzz_input input)
{
	bool later = false;

	image->tid = (uint32_t)fuzz_number(&input, 4);
	while (input.left) {
		uint8_t kind = (uint8_t)(fuzz_number(&input, 1) % IMAGE_ENTRIES);
		struct image_piece piece = { .later = later };
		struct image_name name = { .kind = kind };
		size_t size;

		if (kind == IMAGE_LATER) {
			later = true;
			continue;
		}
		if (kind == IMAGE_MEMORY) {
			piece.address = fuzz_number(&input, 8);
			/* Sections may say anything: what is asked for is bounded elsewhere. */
			piece.size = (uint32_t)fuzz_number(&input, 4) % IMAGE_PIECE_MAX;
			piece.there = (uint32_t)fuzz_number(&input, 2);
			piece.bytes = fuzz_take(&input, piece.there, &size);
			piece.there = (uint32_t)size;
			if (piece.size < piece.there)
				piece.size = piece.there;
			if (image->piece_count < IMAGE_PIECES_MAX)
				image->pieces[image->piece_count++] = piece;
			continue;
		}
		size = (size_t)fuzz_number(&input, 1);
		name.name = fuzz_take(&input, size, &size);
		name.length = (uint8_t)size;
		if (kind == IMAGE_SYMBOL || kind == IMAGE_SECTION)
			name.address = fuzz_number(&input, 8);
		name.number = (uint32_t)fuzz_number(&input, 4);
		if (image->name_count < IMAGE_NAMES_MAX)
			image->names[image->name_count++] = name;
	}
}

/* ---- as the binary */

FUZZ_UNUSED FUZZ_UNWATCHED const struct image_name *remote_image_name(
	const struct remote_image *image, enum image_entry kind, const char *name)
{
	size_t length = strlen(name);

	for (size_t i = 0; i < image->name_count; i++)
		if (image->names[i].kind == kind && image->names[i].length == length &&
		    memcmp(image->names[i].name, name, length) == 0)
			return &image->names[i];
	return NULL;
}

FUZZ_UNUSED int remote_image_place(const struct remote_image *image, enum image_entry kind,
				   const char *name, remote_addr *ret_address, uint64_t *ret_size)
{
	const struct image_name *found = remote_image_name(image, kind, name);

	if (!found)
		return -ENOENT;
	*ret_address = found->address;
	*ret_size = found->number;
	return 0;
}

FUZZ_UNUSED int remote_image_symbol(void *context, const char *name, remote_addr *ret_address,
				    uint64_t *ret_size)
{
	return remote_image_place(context, IMAGE_SYMBOL, name, ret_address, ret_size);
}

FUZZ_UNUSED int remote_image_section(void *context, const char *name, remote_addr *ret_address,
				     uint64_t *ret_size)
{
	return remote_image_place(context, IMAGE_SECTION, name, ret_address, ret_size);
}

FUZZ_UNUSED int remote_image_number(const struct remote_image *image, enum image_entry kind,
				    const char *name, uint32_t *ret_number)
{
	const struct image_name *found = remote_image_name(image, kind, name);

	if (!found)
		return -ENODATA;
	*ret_number = found->number;
	return 0;
}

FUZZ_UNUSED int remote_image_member(void *context, const char *type, const char *member,
				    uint32_t *ret_offset)
{
	char name[256];

	snprintf(name, sizeof(name), "%s.%s", type, member);
	return remote_image_number(context, IMAGE_MEMBER, name, ret_offset);
}

FUZZ_UNUSED int remote_image_type_size(void *context, const char *type, uint32_t *ret_size)
{
	return remote_image_number(context, IMAGE_SIZE, type, ret_size);
}

FUZZ_UNUSED struct debug_info remote_image_info(struct remote_image *image)
{
	return (struct debug_info){ remote_image_symbol, remote_image_section, remote_image_member,
				    remote_image_type_size, image };
}

/* ---- as its memory */

FUZZ_UNUSED FUZZ_UNWATCHED const struct image_piece *remote_image_piece(
	const struct remote_image *image, remote_addr address)
{
	for (size_t i = image->piece_count; i-- > 0;) {
		const struct image_piece *piece = &image->pieces[i];

		if (address - piece->address < piece->size && (image->is_later || !piece->later))
			return piece;
	}
	return NULL;
}

FUZZ_UNUSED FUZZ_UNWATCHED int remote_image_copy(const struct remote_image *image,
						 remote_addr address, uint8_t *buffer, size_t size)
{
	while (size) {
		const struct image_piece *piece = remote_image_piece(image, address);
		uint64_t offset, part;

		if (!piece)
			return -EFAULT;
		offset = address - piece->address;
		part = piece->size - offset;
		if (offset < piece->there) {
			part = piece->there - offset;
			part = part < size ? part : size;
			memcpy(buffer, piece->bytes + offset, part);
		} else {
			part = part < size ? part : size;
			memset(buffer, 0, part);
		}
		address += part;
		buffer += part;
		size -= part;
	}
	return 0;
}

FUZZ_UNUSED int remote_image_read(void *context, struct memory_range *ranges, size_t count)
{
	struct remote_image *image = context;

	for (size_t i = 0; i < count; i++) {
		if (!image->reads_left)
			return -ESRCH;
		image->reads_left--;
		ranges[i].error = remote_image_copy(image, ranges[i].address, ranges[i].buffer,
						    ranges[i].size);
	}
	return 0;
}

#endif
