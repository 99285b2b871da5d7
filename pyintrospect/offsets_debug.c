/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Offsets from _Py_DebugOffsets, which 3.13 and later keep at the start of
 * _PyRuntime for tools like this one.
 *
 * Every minor lays it out anew, so the words to take are chosen by the version
 * it carries. It lacks some fields used here (_co_firsttraceable, the data
 * stack's top); those stay as the built-in row has them.
 */
#include "pyintrospect/offsets.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

#define DEBUG_OFFSETS_WORDS_MAX 96

static const char cookie[8] = { 'x', 'd', 'e', 'b', 'u', 'g', 'p', 'y' };

enum {
	WORD_COOKIE,
	WORD_VERSION,
	WORD_FREE_THREADED,
};

struct debug_word {
	size_t position; /* in struct python_offsets */
	uint8_t word_3_13, word_3_14;
};

#define WORD(name, word_3_13, word_3_14)                                                           \
	{                                                                                          \
		offsetof(struct python_offsets, name), word_3_13, word_3_14                        \
	}

/* Index of the 8-byte word that holds each field. */
static const struct debug_word words[] = {
	WORD(runtime_interpreters, 5, 5), WORD(interpreter_next, 8, 8),
	WORD(interpreter_threads, 9, 9),  WORD(thread_next, 21, 24),
	WORD(thread_frame, 23, 26),       WORD(thread_pthread, 24, 27),
	WORD(thread_native_id, 25, 28),   WORD(thread_chunk, 26, 29),
	WORD(frame_previous, 29, 32),     WORD(frame_code, 30, 33),
	WORD(frame_instruction, 31, 34),  WORD(frame_owner, 33, 36),
	WORD(code_filename, 35, 40),      WORD(code_name, 36, 41),
	WORD(code_qualname, 37, 42),      WORD(code_line_table, 38, 43),
	WORD(code_first_line, 39, 44),    WORD(code_bytecode, 43, 48),
};

int python_layout_from_debug_offsets(const struct memory_reader *reader, remote_addr runtime,
				     struct python_layout *layout)
{
	uint64_t values[DEBUG_OFFSETS_WORDS_MAX];
	struct python_offsets found = layout->offsets;
	int error;

	if (layout->minor < 13)
		return -ENODATA;
	error = memory_read(reader, runtime, values, sizeof(values));
	if (error)
		return error;
	if (memcmp(&values[WORD_COOKIE], cookie, sizeof(cookie)) != 0 ||
	    ((values[WORD_VERSION] >> 16) & 0xff) != (uint64_t)layout->minor)
		return -ENODATA;
	if (values[WORD_FREE_THREADED])
		return -ENOTSUP;
	if (layout->minor > 14)
		return -ENODATA;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		uint64_t value =
			values[layout->minor == 13 ? words[i].word_3_13 : words[i].word_3_14];

		if (value > OFFSET_MAX)
			return -ERANGE;
		*(int32_t *)((char *)&found + words[i].position) = (int32_t)value;
	}
	layout->offsets = found;
	return 0;
}
