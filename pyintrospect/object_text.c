/* SPDX-License-Identifier: Apache-2.0 */
#include "pyintrospect/object_text.h"

#include "pyintrospect/field.h"
#include "pyintrospect/object_reader.h"
#include "pyintrospect/object_type.h"
#include "pyintrospect/runtime_internal.h"
#include "pyintrospect/unicode.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Byte offsets that have not moved from 3.6 to 3.15. */
enum {
	HEAD_SIZE = 16,
	NUMBER_VALUE = 16, /* float, complex, numpy's scalars */
	INT_SIZE = 16,     /* ob_size to 3.11, then lv_tag */
	INT_DIGITS = 24,
	VARIABLE_COUNT = 16,
	LIST_ITEMS = 24,
	BYTEARRAY_START = 40,
	DICT_USED = 16,
	SET_USED = 24,
	SET_MASK = 32,
	SET_TABLE = 40,
	SET_ENTRY = 16,
	CELL_CONTENTS = 16,
};

#define INT_DIGIT_BITS     30
#define INT_DIGITS_SHOWN   4 /* 120 bits */
#define FIRST_MINOR_TAG    12
#define COUNT_BELIEVED     (1ull << 44)
#define SET_ENTRIES_LOOKED 64

enum kind {
	KIND_OTHER,
	KIND_NONE,
	KIND_BOOL,
	KIND_INT,
	KIND_FLOAT,
	KIND_COMPLEX,
	KIND_STR,
	KIND_BYTES,
	KIND_BYTEARRAY,
	KIND_TUPLE,
	KIND_LIST,
	KIND_DICT,
	KIND_SET,
	KIND_FROZENSET,
	KIND_CELL,
	KIND_ELLIPSIS,
	KIND_FLOAT64, /* numpy's */
	KIND_FLOAT32,
	KIND_INT64,
	KIND_INT32,
	KIND_COUNT
};

static const char *const kind_names[KIND_COUNT] = {
	[KIND_NONE] = "NoneType",
	[KIND_BOOL] = "bool",
	[KIND_INT] = "int",
	[KIND_FLOAT] = "float",
	[KIND_COMPLEX] = "complex",
	[KIND_STR] = "str",
	[KIND_BYTES] = "bytes",
	[KIND_BYTEARRAY] = "bytearray",
	[KIND_TUPLE] = "tuple",
	[KIND_LIST] = "list",
	[KIND_DICT] = "dict",
	[KIND_SET] = "set",
	[KIND_FROZENSET] = "frozenset",
	[KIND_CELL] = "cell",
	[KIND_ELLIPSIS] = "ellipsis",
	[KIND_FLOAT64] = "numpy.float64",
	[KIND_FLOAT32] = "numpy.float32",
	[KIND_INT64] = "numpy.int64",
	[KIND_INT32] = "numpy.int32",
};

/* What is being written; a piece that does not fit ends it with "...". */
struct words {
	char *text;
	size_t size, used;
	bool full;
};

/* Room that the last "..." needs is kept free. */
#define DOTS      "..."
#define DOTS_ROOM sizeof(DOTS)

static void put_dots(struct words *words)
{
	if (words->full)
		return;
	memcpy(words->text + words->used, DOTS, DOTS_ROOM);
	words->used += DOTS_ROOM - 1;
	words->full = true;
}

static void put(struct words *words, const char *piece)
{
	size_t length = strlen(piece);

	if (words->full)
		return;
	if (words->used + length + DOTS_ROOM > words->size) {
		put_dots(words);
		return;
	}
	memcpy(words->text + words->used, piece, length + 1);
	words->used += length;
}

__attribute__((format(printf, 2, 3))) static void put_format(struct words *words,
							     const char *format, ...)
{
	char piece[128];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(piece, sizeof(piece), format, arguments);
	va_end(arguments);
	put(words, piece);
}

void object_text_begin(struct object_text_reader *reader, const struct python_runtime *runtime,
		       size_t objects)
{
	reader->runtime = runtime;
	reader->objects_left = objects;
	reader->type_count = reader->next_type = 0;
}

/* Of which of the kinds, by its own name or by that of a type that it is derived from. */
static enum kind find_kind(const struct python_runtime *runtime, remote_addr type,
			   bool *ret_derived)
{
	for (unsigned level = 0; type && level < PYTHON_TYPE_BASES_MAX; level++) {
		char name[OBJECT_TEXT_TYPE_SIZE];

		if (python_type_name(runtime, type, name, sizeof(name)))
			break;
		for (enum kind kind = KIND_OTHER + 1; kind < KIND_COUNT; kind++)
			if (!strcmp(name, kind_names[kind])) {
				*ret_derived = level > 0 || kind >= KIND_FLOAT64;
				return kind;
			}
		if (python_type_base(runtime, type, &type))
			break;
	}
	*ret_derived = false;
	return KIND_OTHER;
}

static const struct object_text_type *find_type(struct object_text_reader *reader, remote_addr type)
{
	struct object_text_type *found;

	for (size_t i = 0; i < reader->type_count; i++)
		if (reader->types[i].type == type)
			return &reader->types[i];
	found = &reader->types[reader->next_type];
	reader->next_type = (reader->next_type + 1) % OBJECT_TEXT_TYPES;
	if (reader->type_count < OBJECT_TEXT_TYPES)
		reader->type_count++;
	*found = (struct object_text_type){ .type = type };
	if (python_type_name(reader->runtime, type, found->name, sizeof(found->name)))
		found->name[0] = '\0';
	else
		found->kind = (uint8_t)find_kind(reader->runtime, type, &found->derived);
	for (char *at = found->name; *at; at++)
		if ((unsigned char)*at < 0x20 || *at == 0x7f)
			*at = '?';
	return found;
}

static bool read_at(const struct object_text_reader *reader, remote_addr address, void *buffer,
		    size_t size)
{
	return !memory_read(reader->runtime->reader, address, buffer, size);
}

static bool read_words(const struct object_text_reader *reader, remote_addr address,
		       uint64_t *values, size_t count)
{
	return read_at(reader, address, values, count * sizeof(*values));
}

/* Most significant digit first. */
static void put_magnitude(struct words *words, const uint32_t *digits, size_t count)
{
	unsigned __int128 value = 0;
	char text[48], *at = text + sizeof(text) - 1;

	for (size_t i = count; i-- > 0;)
		value = value << INT_DIGIT_BITS | digits[i];
	*at = '\0';
	do {
		*--at = (char)('0' + (int)(value % 10));
		value /= 10;
	} while (value);
	put(words, at);
}

static bool put_int(struct object_text_reader *reader, struct words *words, remote_addr object,
		    bool boolean)
{
	uint32_t digits[INT_DIGITS_SHOWN] = { 0 };
	uint64_t size, count;
	bool negative;

	if (!read_words(reader, object + INT_SIZE, &size, 1))
		return false;
	if (reader->runtime->layout.minor >= FIRST_MINOR_TAG) {
		negative = (size & 3) == 2;
		count = (size & 3) == 1 ? 0 : size >> 3;
	} else {
		negative = (int64_t)size < 0;
		count = negative ? 0 - size : size;
	}
	if (count > COUNT_BELIEVED)
		return false;
	if (boolean) {
		put(words, count ? "True" : "False");
		return true;
	}
	if (count > INT_DIGITS_SHOWN) {
		put_format(words, "<%sint of %" PRIu64 " to %" PRIu64 " bits>",
			   negative ? "negative " : "", (count - 1) * INT_DIGIT_BITS + 1,
			   count * INT_DIGIT_BITS);
		return true;
	}
	if (count && !read_at(reader, object + INT_DIGITS, digits, count * sizeof(digits[0])))
		return false;
	for (size_t i = 0; i < count; i++)
		if (digits[i] >> INT_DIGIT_BITS)
			return false;
	if (negative)
		put(words, "-");
	put_magnitude(words, digits, count);
	return true;
}

/* Beyond, repr() writes an exponent. */
#define EXPONENT_MIN (-4)
#define EXPONENT_MAX 15

/* With as few digits as tell it from all others, as repr() does. */
static void put_double(struct words *words, double value)
{
	char text[40];
	int digits = 0, exponent;

	if (!isfinite(value)) {
		put(words, isnan(value) ? "nan" : value < 0 ? "-inf" : "inf");
		return;
	}
	do
		snprintf(text, sizeof(text), "%.*e", digits, value);
	while (digits++ < 16 && strtod(text, NULL) != value);
	exponent = atoi(strchr(text, 'e') + 1);
	if (exponent >= EXPONENT_MIN && exponent <= EXPONENT_MAX)
		/* digits - 1 behind the first one. */
		snprintf(text, sizeof(text), "%.*f",
			 digits - 1 > exponent ? digits - 1 - exponent : 1, value);
	put(words, text);
}

static bool put_numbers(struct object_text_reader *reader, struct words *words, remote_addr object,
			enum kind kind)
{
	double doubles[2];
	int64_t wide;
	int32_t narrow;
	float single;

	switch (kind) {
	case KIND_FLOAT:
	case KIND_FLOAT64:
		if (!read_at(reader, object + NUMBER_VALUE, doubles, sizeof(doubles[0])))
			return false;
		put_double(words, doubles[0]);
		return true;
	case KIND_COMPLEX:
		if (!read_at(reader, object + NUMBER_VALUE, doubles, sizeof(doubles)))
			return false;
		put_format(words, "(%.15g%+.15gj)", doubles[0], doubles[1]);
		return true;
	case KIND_FLOAT32:
		if (!read_at(reader, object + NUMBER_VALUE, &single, sizeof(single)))
			return false;
		put_format(words, "%.9g", (double)single);
		return true;
	case KIND_INT64:
		if (!read_at(reader, object + NUMBER_VALUE, &wide, sizeof(wide)))
			return false;
		put_format(words, "%" PRId64, wide);
		return true;
	default:
		if (!read_at(reader, object + NUMBER_VALUE, &narrow, sizeof(narrow)))
			return false;
		put_format(words, "%" PRId32, narrow);
		return true;
	}
}

/* The bytes of one character of UTF-8, or a byte of bytes, as in a literal. */
static void put_character(struct words *words, const char *bytes, size_t length)
{
	unsigned char first = (unsigned char)bytes[0];
	char piece[8];

	if (length > 1 && length < sizeof(piece)) {
		memcpy(piece, bytes, length);
		piece[length] = '\0';
	} else if (first == '\n' || first == '\r' || first == '\t') {
		snprintf(piece, sizeof(piece), "\\%c",
			 first == '\n'   ? 'n'
			 : first == '\r' ? 'r'
					 : 't');
	} else if (first == '\\' || first == '\'') {
		snprintf(piece, sizeof(piece), "\\%c", first);
	} else if (first < 0x20 || first >= 0x7f) {
		snprintf(piece, sizeof(piece), "\\x%02x", first);
	} else {
		snprintf(piece, sizeof(piece), "%c", first);
	}
	put(words, piece);
}

static size_t character_length(const char *bytes)
{
	unsigned char first = (unsigned char)bytes[0];

	return first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

static bool put_str(struct object_text_reader *reader, struct words *words, remote_addr object)
{
	const struct python_offsets *offsets = &reader->runtime->layout.offsets;
	uint8_t head[UNICODE_HEAD_MAX], characters[4 * OBJECT_TEXT_CHARACTERS];
	char text[4 * OBJECT_TEXT_CHARACTERS + 1];
	struct unicode unicode;
	uint64_t length;
	size_t shown, used;

	if (!read_at(reader, object, head, unicode_head_size(offsets)) ||
	    unicode_parse(offsets, object, head, &unicode))
		return false;
	length = field_u64(head, offsets->string_length);
	shown = unicode.characters < OBJECT_TEXT_CHARACTERS ? unicode.characters
							    : OBJECT_TEXT_CHARACTERS;
	if (length > COUNT_BELIEVED ||
	    (shown && !read_at(reader, unicode.data, characters, shown * unicode.width)))
		return false;
	used = unicode_to_utf8(characters, unicode.width, shown, text, sizeof(text));
	put(words, "'");
	for (size_t i = 0; i < used && !words->full; i += character_length(text + i))
		put_character(words, text + i, character_length(text + i));
	if (shown < length)
		put_format(words, "'... %" PRIu64 " more", length - shown);
	else
		put(words, "'");
	return true;
}

static bool put_bytes(struct object_text_reader *reader, struct words *words, remote_addr object,
		      bool array)
{
	remote_addr start = object + (uint64_t)reader->runtime->layout.offsets.bytes_data;
	char bytes[OBJECT_TEXT_CHARACTERS];
	uint64_t count;
	size_t shown;

	if (!read_words(reader, object + VARIABLE_COUNT, &count, 1) || count > COUNT_BELIEVED)
		return false;
	shown = count < sizeof(bytes) ? count : sizeof(bytes);
	if (array && !read_words(reader, object + BYTEARRAY_START, &start, 1))
		return false;
	if (shown && !read_at(reader, start, bytes, shown))
		return false;
	put(words, array ? "bytearray(b'" : "b'");
	for (size_t i = 0; i < shown && !words->full; i++)
		put_character(words, bytes + i, 1);
	if (shown < count)
		put_format(words, "'... %" PRIu64 " more", count - shown);
	else
		put(words, "'");
	put(words, array ? ")" : "");
	return true;
}

static void put_object(struct object_text_reader *reader, struct words *words, remote_addr object,
		       unsigned depth);

static void put_item(struct object_text_reader *reader, struct words *words, remote_addr object,
		     unsigned depth, size_t number)
{
	if (number)
		put(words, ", ");
	put_object(reader, words, object, depth + 1);
}

/* Opening and closing brackets around the items, and how many are not shown. */
static void put_rest(struct words *words, uint64_t count, size_t shown, const char *end)
{
	if (shown < count)
		put_format(words, "%s... %" PRIu64 " more", shown ? ", " : "", count - shown);
	put(words, end);
}

static bool put_sequence(struct object_text_reader *reader, struct words *words, remote_addr object,
			 unsigned depth, bool list)
{
	remote_addr items = object + (uint64_t)reader->runtime->layout.offsets.tuple_items;
	uint64_t addresses[OBJECT_TEXT_ITEMS], count;
	size_t shown;

	if (!read_words(reader, object + VARIABLE_COUNT, &count, 1) || count > COUNT_BELIEVED)
		return false;
	shown = count < OBJECT_TEXT_ITEMS ? count : OBJECT_TEXT_ITEMS;
	if (depth == OBJECT_TEXT_DEPTH)
		shown = 0;
	if (shown && list && !read_words(reader, object + LIST_ITEMS, &items, 1))
		return false;
	if (shown && !read_words(reader, items, addresses, shown))
		return false;
	put(words, list ? "[" : "(");
	for (size_t i = 0; i < shown && !words->full; i++)
		put_item(reader, words, addresses[i], depth, i);
	put_rest(words, count, shown, list ? "]" : count == 1 && shown ? ",)" : ")");
	return true;
}

static bool put_dict(struct object_text_reader *reader, struct words *words, remote_addr object,
		     unsigned depth)
{
	struct object_entries entries = { 0 };
	uint64_t used;
	size_t shown = 0;

	if (!read_words(reader, object + DICT_USED, &used, 1) || used > COUNT_BELIEVED)
		return false;
	if (used && depth < OBJECT_TEXT_DEPTH &&
	    object_read_dict_first(reader->runtime, object, 2 * OBJECT_TEXT_ITEMS, &entries))
		return false;
	put(words, "{");
	for (; shown < entries.count && shown < OBJECT_TEXT_ITEMS && !words->full; shown++) {
		put_item(reader, words, entries.items[shown].key, depth, shown);
		put(words, ": ");
		put_object(reader, words, entries.items[shown].value, depth + 1);
	}
	object_entries_deinit(&entries);
	put_rest(words, used, shown, "}");
	return true;
}

/* Those that lie first in its table. */
static bool put_set(struct object_text_reader *reader, struct words *words, remote_addr object,
		    unsigned depth, bool frozen)
{
	uint64_t head[3], entries[SET_ENTRIES_LOOKED][SET_ENTRY / 8], looked;
	size_t shown = 0;

	if (!read_words(reader, object + SET_USED, head, 3) || head[0] > COUNT_BELIEVED)
		return false;
	looked = head[1] < SET_ENTRIES_LOOKED ? head[1] + 1 : SET_ENTRIES_LOOKED;
	if (depth == OBJECT_TEXT_DEPTH || !head[0])
		looked = 0;
	if (looked && !read_at(reader, head[2], entries, looked * SET_ENTRY))
		return false;
	put(words, !head[0] ? (frozen ? "frozenset(" : "set(") : frozen ? "frozenset({" : "{");
	for (size_t i = 0; i < looked && shown < OBJECT_TEXT_ITEMS && !words->full; i++)
		/* The hash of one that was removed is -1. */
		if (entries[i][0] && entries[i][1] != UINT64_MAX)
			put_item(reader, words, entries[i][0], depth, shown++);
	put_rest(words, head[0], shown, !head[0] ? ")" : frozen ? "})" : "}");
	return true;
}

static bool put_kind(struct object_text_reader *reader, struct words *words, remote_addr object,
		     unsigned depth, enum kind kind)
{
	switch (kind) {
	case KIND_NONE:
		put(words, "None");
		return true;
	case KIND_ELLIPSIS:
		put(words, "Ellipsis");
		return true;
	case KIND_BOOL:
	case KIND_INT:
		return put_int(reader, words, object, kind == KIND_BOOL);
	case KIND_FLOAT:
	case KIND_COMPLEX:
	case KIND_FLOAT64:
	case KIND_FLOAT32:
	case KIND_INT64:
	case KIND_INT32:
		return put_numbers(reader, words, object, kind);
	case KIND_STR:
		return put_str(reader, words, object);
	case KIND_BYTES:
	case KIND_BYTEARRAY:
		return put_bytes(reader, words, object, kind == KIND_BYTEARRAY);
	case KIND_TUPLE:
	case KIND_LIST:
		return put_sequence(reader, words, object, depth, kind == KIND_LIST);
	case KIND_DICT:
		return put_dict(reader, words, object, depth);
	case KIND_SET:
	case KIND_FROZENSET:
		return put_set(reader, words, object, depth, kind == KIND_FROZENSET);
	default:
		return false;
	}
}

static const struct object_text_type *read_type(struct object_text_reader *reader,
						remote_addr object)
{
	remote_addr type;

	/* A word that is no address, or an object that has gone. */
	if (!object || object % sizeof(uint64_t) ||
	    !read_words(reader, object + (uint64_t)reader->runtime->layout.offsets.object_type,
			&type, 1))
		return NULL;
	return find_type(reader, type);
}

static void put_object(struct object_text_reader *reader, struct words *words, remote_addr object,
		       unsigned depth)
{
	const struct object_text_type *type;
	size_t begin = words->used;
	bool derived;

	if (words->full)
		return;
	if (!reader->objects_left) {
		put_dots(words);
		return;
	}
	reader->objects_left--;
	type = read_type(reader, object);
	if (!type || !type->name[0]) {
		put(words, "?");
		return;
	}
	derived = type->derived;
	if (type->kind == KIND_OTHER || type->kind == KIND_CELL) {
		put_format(words, "<%s 0x%" PRIx64 ">", type->name, object);
		return;
	}
	if (derived)
		put_format(words, "%s(", type->name);
	if (put_kind(reader, words, object, depth, type->kind)) {
		if (derived)
			put(words, ")");
		return;
	}
	/* Nothing was written of it but its name. */
	if (!words->full) {
		words->used = begin;
		words->text[begin] = '\0';
		put(words, "?");
	}
}

bool object_text_read(struct object_text_reader *reader, remote_addr object,
		      struct object_text *ret_text)
{
	struct words words = { .text = ret_text->text, .size = sizeof(ret_text->text) };
	const struct object_text_type *type;

	*ret_text = (struct object_text){ 0 };
	if (!reader->objects_left)
		return false;
	type = read_type(reader, object);
	if (type && type->kind == KIND_CELL && !type->derived) {
		if (!read_words(reader, object + CELL_CONTENTS, &object, 1) || !object)
			return true;
		type = read_type(reader, object);
	}
	if (type) {
		ret_text->by_type = type->kind == KIND_OTHER && type->name[0];
		memcpy(ret_text->type, type->name, sizeof(ret_text->type));
	}
	put_object(reader, &words, object, 0);
	return true;
}
