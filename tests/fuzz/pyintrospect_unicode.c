/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A str: u8 minor version, less 6; u8 room for its UTF-8; the object's head,
 * then its characters.
 */
#include "pyintrospect/unicode.h"
#include "tests/fuzz/fuzz.h"

#define OBJECT 0x10000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input input = { data, size };
	int minor = PYTHON_MINOR_MIN +
		    (int)(fuzz_number(&input, 1) % (PYTHON_MINOR_MAX - PYTHON_MINOR_MIN + 1));
	size_t room = (size_t)fuzz_number(&input, 1) + 1, characters;
	const struct python_offsets *offsets = &python_layout_builtin(minor)->offsets;
	struct unicode unicode;
	uint8_t *bytes;
	char *buffer;

	if (input.left < unicode_head_size(offsets))
		return 0;
	bytes = fuzz_copy(&input);
	buffer = malloc(room);
	fuzz_must(buffer);
	if (unicode_parse(offsets, OBJECT, bytes, &unicode) == 0) {
		fuzz_must(unicode.width == 1 || unicode.width == 2 || unicode.width == 4);
		fuzz_must(unicode.characters <= UNICODE_CHARACTERS_MAX);
		characters = (input.left - unicode_head_size(offsets)) / unicode.width;
		if (characters > unicode.characters)
			characters = unicode.characters;
		fuzz_must(unicode_to_utf8(bytes + unicode_head_size(offsets), unicode.width,
					  characters, buffer, room) < room);
		fuzz_must(memchr(buffer, '\0', room));
	}
	free(buffer);
	free(bytes);
	return 0;
}
