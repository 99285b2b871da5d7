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

#define FIRST_MINOR 13
#define LAST_MINOR  15
#define MINOR_COUNT (LAST_MINOR - FIRST_MINOR + 1)

#define DEBUG_OFFSETS_WORDS_MAX 96

/* The version's last byte: release candidates and releases; before, layouts still change. */
#define LEVEL_CANDIDATE 0xc0

static const char cookie[8] = { 'x', 'd', 'e', 'b', 'u', 'g', 'p', 'y' };

enum {
	WORD_COOKIE,
	WORD_VERSION,
	WORD_FREE_THREADED,
};

struct debug_word {
	size_t position; /* in struct python_offsets */
	uint8_t words[MINOR_COUNT];
};

#define WORD(name, ...)                                                                            \
	{                                                                                          \
		offsetof(struct python_offsets, name),                                             \
		{                                                                                  \
			__VA_ARGS__                                                                \
		}                                                                                  \
	}

/* clang-format off */
/* Index of the 8-byte word that holds each field, in 3.13, 3.14 and 3.15. */
static const struct debug_word words[] = {
	WORD(runtime_interpreters, 5, 5, 5),
	WORD(interpreter_next, 8, 8, 8),
	WORD(interpreter_threads, 9, 9, 9),
	WORD(interpreter_modules, 11, 12, 12),
	WORD(interpreter_gil, 14, 15, 15),
	WORD(thread_next, 21, 24, 24),
	WORD(thread_interpreter, 22, 25, 25),
	WORD(thread_frame, 23, 26, 26),
	WORD(thread_pthread, 24, 27, 30),
	WORD(thread_native_id, 25, 28, 31),
	WORD(thread_chunk, 26, 29, 32),
	WORD(frame_previous, 29, 32, 40),
	WORD(frame_code, 30, 33, 41),
	WORD(frame_instruction, 31, 34, 42),
	WORD(frame_locals, 32, 35, 43),
	WORD(frame_owner, 33, 36, 44),
	WORD(code_filename, 35, 40, 48),
	WORD(code_name, 36, 41, 49),
	WORD(code_qualname, 37, 42, 50),
	WORD(code_line_table, 38, 43, 51),
	WORD(code_first_line, 39, 44, 52),
	WORD(code_local_names, 41, 46, 54),
	WORD(code_bytecode, 43, 48, 56),
	WORD(object_type, 45, 51, 59),
	WORD(type_name, 47, 53, 61),
	WORD(bytes_data, 66, 76, 88),
	WORD(string_state, 68, 78, 90),
	WORD(string_length, 69, 79, 91),
	WORD(string_ascii_data, 70, 80, 92),
};

/* The same of what free-threaded builds alone have; 0: not yet in this version. */
static const struct debug_word free_threaded_words[] = {
	WORD(frame_tlbc, 0, 38, 46),
	WORD(code_tlbc, 0, 49, 57),
};
/* clang-format on */

static int take_words(const struct debug_word *from, size_t count, size_t column,
		      const uint64_t *values, struct python_offsets *offsets)
{
	for (size_t i = 0; i < count; i++) {
		uint64_t value = values[from[i].words[column]];

		if (!from[i].words[column])
			continue;
		if (value > OFFSET_MAX)
			return -ERANGE;
		*(int32_t *)((char *)offsets + from[i].position) = (int32_t)value;
	}
	return 0;
}

static bool is_of_minor(const uint64_t *values, int minor)
{
	return memcmp(&values[WORD_COOKIE], cookie, sizeof(cookie)) == 0 &&
	       ((values[WORD_VERSION] >> 16) & 0xff) == (uint64_t)minor;
}

bool python_debug_offsets_free_threaded(const struct memory_reader *reader, remote_addr runtime,
					int minor)
{
	uint64_t values[WORD_FREE_THREADED + 1];

	return runtime && minor >= FIRST_MINOR &&
	       memory_read(reader, runtime, values, sizeof(values)) == 0 &&
	       is_of_minor(values, minor) && values[WORD_FREE_THREADED];
}

int python_layout_from_debug_offsets(const struct memory_reader *reader, remote_addr runtime,
				     struct python_layout *layout)
{
	uint64_t values[DEBUG_OFFSETS_WORDS_MAX];
	struct python_offsets found = layout->offsets;
	size_t column;
	int error;

	if (layout->minor < FIRST_MINOR || layout->minor > LAST_MINOR)
		return -ENODATA;
	error = memory_read(reader, runtime, values, sizeof(values));
	if (error)
		return error;
	if (!is_of_minor(values, layout->minor) ||
	    (values[WORD_FREE_THREADED] != 0) != layout->free_threaded ||
	    (values[WORD_VERSION] & 0xff) < LEVEL_CANDIDATE)
		return -ENODATA;
	column = (size_t)(layout->minor - FIRST_MINOR);
	error = take_words(words, sizeof(words) / sizeof(words[0]), column, values, &found);
	if (!error && layout->free_threaded)
		error = take_words(free_threaded_words,
				   sizeof(free_threaded_words) / sizeof(free_threaded_words[0]),
				   column, values, &found);
	if (!error)
		layout->offsets = found;
	return error;
}
