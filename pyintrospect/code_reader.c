/* SPDX-License-Identifier: Apache-2.0 */
#include "pyintrospect/code_reader.h"

#include "common/hash.h"
#include "pyintrospect/field.h"
#include "pyintrospect/opcode.h"
#include "pyintrospect/unicode.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_MINOR_WITH_INLINE_CODE       11
#define FIRST_MINOR_WITH_LONG_LINE_ENTRIES 14

/* The head of a bytes object up to and with its size: 24 bytes, 40 in free-threaded builds. */
#define BYTES_HEAD_SIZE_MAX 40

uint64_t code_head_bytecode_size(const struct python_layout *layout, const uint8_t *head)
{
	/* PyCodeObject is a variable-sized object: its size counts 2-byte instructions. */
	uint64_t units = field_u64(head, layout->offsets.variable_size);

	return units > UINT64_MAX / 2 ? UINT64_MAX : 2 * units;
}

/* The parts of a code object while it is being read. */
struct code_parts {
	struct unicode name, file;
	remote_addr line_table;
	uint64_t line_table_size;
	remote_addr bytecode;
	uint64_t bytecode_size;
	remote_addr exceptions;
	uint64_t exceptions_size;
	uint8_t *buffer; /* the five of them one after the other */
	uint8_t *name_bytes, *file_bytes, *line_table_bytes, *bytecode_bytes, *exceptions_bytes;
};

static int all_read(const struct memory_range *ranges, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (ranges[i].error)
			return ranges[i].error;
	return 0;
}

static uint64_t cut(uint64_t size)
{
	return size < CODE_TABLE_BYTES_MAX ? size : CODE_TABLE_BYTES_MAX;
}

/* Where the parts are and how long: the heads of two str and two bytes objects. */
static int read_heads(const struct memory_reader *reader, const struct python_layout *layout,
		      remote_addr address, const uint8_t *head, struct code_parts *parts)
{
	const struct python_offsets *offsets = &layout->offsets;
	bool qualified = offsets->code_qualname != OFFSET_ABSENT;
	bool inline_code = layout->minor >= FIRST_MINOR_WITH_INLINE_CODE;
	remote_addr name = field_u64(head, qualified ? offsets->code_qualname : offsets->code_name);
	remote_addr file = field_u64(head, offsets->code_filename);
	remote_addr line_table = field_u64(head, offsets->code_line_table);
	/* Behind the line table there is one more: from 3.11 on the code is in its object. */
	remote_addr other =
		field_u64(head, inline_code ? offsets->code_exceptions : offsets->code_bytecode);
	uint8_t name_head[UNICODE_HEAD_MAX], file_head[UNICODE_HEAD_MAX];
	uint8_t line_head[BYTES_HEAD_SIZE_MAX], other_head[BYTES_HEAD_SIZE_MAX];
	size_t bytes_head_size = (size_t)offsets->variable_size + sizeof(uint64_t);
	size_t head_size = unicode_head_size(offsets);
	struct memory_range ranges[] = {
		{ .address = name, .buffer = name_head, .size = head_size },
		{ .address = file, .buffer = file_head, .size = head_size },
		{ .address = line_table, .buffer = line_head, .size = bytes_head_size },
		{ .address = other, .buffer = other_head, .size = bytes_head_size },
	};
	size_t count = 4;
	int error;

	error = memory_read_ranges(reader, ranges, count);
	if (!error)
		error = all_read(ranges, count);
	if (!error)
		error = unicode_parse(offsets, name, name_head, &parts->name);
	if (!error)
		error = unicode_parse(offsets, file, file_head, &parts->file);
	if (error)
		return error;
	parts->line_table = line_table + (uint64_t)offsets->bytes_data;
	parts->line_table_size = cut(field_u64(line_head, offsets->variable_size));
	if (inline_code) {
		parts->bytecode = address + (uint64_t)offsets->code_bytecode;
		parts->bytecode_size = cut(code_head_bytecode_size(layout, head));
		parts->exceptions = other + (uint64_t)offsets->bytes_data;
		parts->exceptions_size = cut(field_u64(other_head, offsets->variable_size));
	} else {
		parts->bytecode = other + (uint64_t)offsets->bytes_data;
		parts->bytecode_size = cut(field_u64(other_head, offsets->variable_size));
	}
	return 0;
}

static int read_bodies(const struct memory_reader *reader, struct code_parts *parts)
{
	size_t name_size = parts->name.characters * parts->name.width;
	size_t file_size = parts->file.characters * parts->file.width;
	struct memory_range ranges[5];
	size_t count = parts->exceptions ? 5 : 4;
	int error;

	parts->buffer = malloc(name_size + file_size + parts->line_table_size +
			       parts->bytecode_size + parts->exceptions_size + 1);
	if (!parts->buffer)
		return -ENOMEM;
	parts->name_bytes = parts->buffer;
	parts->file_bytes = parts->name_bytes + name_size;
	parts->line_table_bytes = parts->file_bytes + file_size;
	parts->bytecode_bytes = parts->line_table_bytes + parts->line_table_size;
	parts->exceptions_bytes = parts->bytecode_bytes + parts->bytecode_size;
	ranges[0] = (struct memory_range){ parts->name.data, parts->name_bytes, name_size, 0 };
	ranges[1] = (struct memory_range){ parts->file.data, parts->file_bytes, file_size, 0 };
	ranges[2] = (struct memory_range){ parts->line_table, parts->line_table_bytes,
					   parts->line_table_size, 0 };
	ranges[3] = (struct memory_range){ parts->bytecode, parts->bytecode_bytes,
					   parts->bytecode_size, 0 };
	ranges[4] = (struct memory_range){ parts->exceptions, parts->exceptions_bytes,
					   parts->exceptions_size, 0 };
	error = memory_read_ranges(reader, ranges, count);
	return error ? error : all_read(ranges, count);
}

/* Longest entry of the line events' table: the original opcode and four bytes of line delta. */
#define LINE_ENTRY_BYTES_MAX 8

/*
 * The line events' table, an entry for each of units instructions with the
 * original opcode in front, as struct opcode_originals wants it: an entry of
 * two bytes. In 3.12 and 3.13 it is so in the target, too; from 3.14 the
 * table's first byte is the length of an entry.
 */
static int read_line_originals(const struct memory_reader *reader, int minor, remote_addr table,
			       size_t units, uint8_t *ret_entries)
{
	uint8_t length, *entries;
	int error;

	if (minor < FIRST_MINOR_WITH_LONG_LINE_ENTRIES)
		return memory_read(reader, table, ret_entries, 2 * units);
	error = memory_read(reader, table, &length, sizeof(length));
	if (error)
		return error;
	if (length == 0 || length > LINE_ENTRY_BYTES_MAX)
		return -EBADMSG;
	entries = malloc(units * length + 1);
	if (!entries)
		return -ENOMEM;
	error = memory_read(reader, table + 1, entries, units * length);
	for (size_t i = 0; !error && i < units; i++) {
		ret_entries[2 * i] = entries[i * length];
		ret_entries[2 * i + 1] = 0;
	}
	free(entries);
	return error;
}

/*
 * 3.12 and later under sys.monitoring or a tracer: the replaced opcodes are in
 * side tables. When they cannot be read, the opcodes stay unknown.
 */
static void undo_monitoring(const struct memory_reader *reader, const struct python_layout *layout,
			    const uint8_t *head, struct code_parts *parts)
{
	const struct python_offsets *offsets = &layout->offsets;
	size_t units = parts->bytecode_size / 2;
	struct opcode_originals originals = { 0 };
	uint64_t monitoring = 0, lines = 0, instructions = 0;
	uint8_t *buffer = NULL;

	if (offsets->code_monitoring != OFFSET_ABSENT && offsets->monitoring_lines != OFFSET_ABSENT)
		monitoring = field_u64(head, offsets->code_monitoring);
	if (monitoring) {
		struct memory_range pointers[] = {
			{ .address = monitoring + (uint64_t)offsets->monitoring_lines,
			  .buffer = &lines,
			  .size = sizeof(lines) },
			{ .address = monitoring + (uint64_t)offsets->monitoring_instructions,
			  .buffer = &instructions,
			  .size = sizeof(instructions) },
		};

		if (memory_read_ranges(reader, pointers, 2) || all_read(pointers, 2))
			lines = instructions = 0;
		buffer = malloc(3 * units + 1);
	}
	if (buffer && lines && !read_line_originals(reader, layout->minor, lines, units, buffer))
		originals.lines = buffer;
	if (buffer && instructions && !memory_read(reader, instructions, buffer + 2 * units, units))
		originals.instructions = buffer + 2 * units;
	opcode_normalise(layout->minor, parts->bytecode_bytes, parts->bytecode_size, &originals);
	free(buffer);
}

/* CO_COROUTINE, CO_ITERABLE_COROUTINE, CO_ASYNC_GENERATOR */
#define COROUTINE_FLAGS 0x380

static uint64_t code_hash(const struct python_code *code)
{
	uint64_t hash = HASH_BASIS;

	hash = hash_add_bytes(hash, code->function, strlen(code->function) + 1);
	hash = hash_add_bytes(hash, code->file, strlen(code->file) + 1);
	hash = hash_add_bytes(hash, &code->first_line, sizeof(code->first_line));
	hash = hash_add_bytes(hash, &code->coroutine, sizeof(code->coroutine));
	hash = hash_add_bytes(hash, code->line_table, code->line_table_size);
	hash = hash_add_bytes(hash, code->exception_table, code->exception_table_size);
	hash = hash_add_bytes(hash, &code->argument_count, sizeof(code->argument_count));
	hash = hash_add_bytes(hash, &code->local_count, sizeof(code->local_count));
	return hash_add_bytes(hash, code->bytecode, code->bytecode_size);
}

bool code_record_equal(const struct code_record *a, const struct code_record *b)
{
	const struct python_code *x = &a->code, *y = &b->code;

	return a->hash == b->hash && x->first_line == y->first_line &&
	       x->coroutine == y->coroutine && x->line_table_size == y->line_table_size &&
	       x->bytecode_size == y->bytecode_size &&
	       x->exception_table_size == y->exception_table_size &&
	       x->argument_count == y->argument_count && x->local_count == y->local_count &&
	       strcmp(x->function, y->function) == 0 && strcmp(x->file, y->file) == 0 &&
	       memcmp(x->line_table, y->line_table, x->line_table_size) == 0 &&
	       memcmp(x->bytecode, y->bytecode, x->bytecode_size) == 0 &&
	       memcmp(x->exception_table, y->exception_table, x->exception_table_size) == 0;
}

/* More than any function has; larger numbers come from no code object. */
#define ARGUMENTS_MAX 65535
/* CO_VARARGS, CO_VARKEYWORDS */
#define REST_FLAGS 12

static uint32_t head_arguments(const struct python_layout *layout, const uint8_t *head)
{
	const struct python_offsets *offsets = &layout->offsets;
	int64_t count =
		(int64_t)field_i32(head, offsets->code_arguments) +
		field_i32(head, offsets->code_keyword_arguments) +
		__builtin_popcount((unsigned)field_i32(head, offsets->code_flags) & REST_FLAGS);

	return count >= 0 && count <= ARGUMENTS_MAX ? (uint32_t)count : 0;
}

static uint32_t head_locals(const struct python_layout *layout, const uint8_t *head)
{
	int32_t offset = layout->offsets.code_locals;
	int32_t count = offset == OFFSET_ABSENT ? 0 : field_i32(head, offset);

	return count >= 0 && count <= ARGUMENTS_MAX ? (uint32_t)count : 0;
}

/* Packs the parts into one allocation of the size they need. */
static struct code_record *record_build(const struct python_layout *layout, const uint8_t *head,
					const struct code_parts *parts)
{
	size_t tables = parts->line_table_size + parts->bytecode_size + parts->exceptions_size;
	size_t room = sizeof(struct code_record) + tables +
		      unicode_utf8_size_max(parts->name.characters) +
		      unicode_utf8_size_max(parts->file.characters);
	struct code_record *record = malloc(room), *smaller;
	uint8_t *line_table, *bytecode, *exceptions;
	char *function, *file;
	size_t function_size, file_size;

	if (!record)
		return NULL;
	line_table = (uint8_t *)(record + 1);
	bytecode = line_table + parts->line_table_size;
	memcpy(line_table, parts->line_table_bytes, parts->line_table_size);
	memcpy(bytecode, parts->bytecode_bytes, parts->bytecode_size);
	exceptions = bytecode + parts->bytecode_size;
	memcpy(exceptions, parts->exceptions_bytes, parts->exceptions_size);
	function = (char *)exceptions + parts->exceptions_size;
	function_size =
		1 + unicode_to_utf8(parts->name_bytes, parts->name.width, parts->name.characters,
				    function, unicode_utf8_size_max(parts->name.characters));
	file = function + function_size;
	file_size =
		1 + unicode_to_utf8(parts->file_bytes, parts->file.width, parts->file.characters,
				    file, unicode_utf8_size_max(parts->file.characters));
	smaller = realloc(record, sizeof(*record) + tables + function_size + file_size);
	if (smaller)
		record = smaller;
	line_table = (uint8_t *)(record + 1);
	record->size = sizeof(*record) + tables + function_size + file_size;
	record->code = (struct python_code){
		.function = (char *)line_table + tables,
		.file = (char *)line_table + tables + function_size,
		.first_line = field_i32(head, layout->offsets.code_first_line),
		.coroutine = field_i32(head, layout->offsets.code_flags) & COROUTINE_FLAGS,
		.line_table = line_table,
		.line_table_size = (uint32_t)parts->line_table_size,
		.bytecode = line_table + parts->line_table_size,
		.bytecode_size = (uint32_t)parts->bytecode_size,
		.minor = layout->minor,
		.exception_table = line_table + parts->line_table_size + parts->bytecode_size,
		.exception_table_size = (uint32_t)parts->exceptions_size,
		.argument_count = head_arguments(layout, head),
		.local_count = head_locals(layout, head),
	};
	record->hash = code_hash(&record->code);
	return record;
}

int code_read(const struct memory_reader *reader, const struct python_layout *layout,
	      remote_addr address, const uint8_t *head, struct code_record **ret_record)
{
	struct code_parts parts = { 0 };
	struct code_record *record;
	int error;

	error = read_heads(reader, layout, address, head, &parts);
	if (!error)
		error = read_bodies(reader, &parts);
	if (!error) {
		undo_monitoring(reader, layout, head, &parts);
		record = record_build(layout, head, &parts);
		if (record)
			*ret_record = record;
		else
			error = -ENOMEM;
	}
	free(parts.buffer);
	return error;
}
