/* SPDX-License-Identifier: Apache-2.0 */
/*
 *   length, version, header length, ...      one table, at the unit's
 *   opcode_base, arguments of each opcode    DW_AT_stmt_list
 *   folders, files                           (version 5: formats before each)
 *   line program                             a special opcode is a row
 *
 * Each step adds to a sum, and ends when the sum is too large: a text that all
 * files name is not measured a million times.
 */
#include "symbolize/dwarf_lines.h"

#include "symbolize/dwarf_section.h"

#include <dwarf.h>
#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#define FORMATS_MAX   16 /* compilers have 2 to 5 */
#define ADDRESS_BYTES 8
#define FILE_BYTES    72
#define FOLDER_BYTES  24

static atomic_ullong taken_in_all;

struct format {
	uint64_t content; /* DW_LNCT_* */
	uint64_t form;
};

struct table {
	const struct dwarf_lines *lines;
	struct byte_cursor cursor;
	size_t offset_size;
	uint64_t folder_length; /* the longest; with the compiler's own */
	uint64_t bytes;         /* counted so far */
};

void dwarf_lines_init(struct dwarf_lines *lines, Dwarf *dwarf)
{
	*lines = (struct dwarf_lines){ 0 };
	lines->is_ambiguous = dwarf_section_find(dwarf, "line", &lines->programs) ||
			      dwarf_section_find(dwarf, "line_str", &lines->line_strings) ||
			      dwarf_section_find(dwarf, "str", &lines->strings);
}

static bool is_too_much(const struct table *table)
{
	return table->bytes > DWARF_LINES_MAX_BYTES;
}

static uint64_t text_length(struct byte_cursor *cursor)
{
	const uint8_t *start = cursor->position;
	const uint8_t *end = memchr(start, 0, byte_cursor_left(cursor));

	if (!end) {
		byte_cursor_fail(cursor);
		return 0;
	}
	cursor->position = end + 1;
	return (uint64_t)(end - start);
}

/* Of a text in another section. */
static uint64_t named_length(struct table *table, const Elf_Data *data)
{
	uint64_t offset = byte_cursor_unsigned(&table->cursor, table->offset_size);
	struct byte_cursor text;

	if (!data || !data->d_buf || offset >= data->d_size) {
		byte_cursor_fail(&table->cursor);
		return 0;
	}
	text = byte_cursor_over((const uint8_t *)data->d_buf + offset, data->d_size - offset);
	offset = text_length(&text);
	if (text.failed)
		byte_cursor_fail(&table->cursor);
	return offset;
}

/* Passes over a folder's or a file's name, and returns its length. */
static uint64_t pass_name(struct table *table, uint64_t form)
{
	switch (form) {
	case DW_FORM_string:
		return text_length(&table->cursor);
	case DW_FORM_line_strp:
		return named_length(table, table->lines->line_strings);
	case DW_FORM_strp:
		return named_length(table, table->lines->strings);
	default:
		byte_cursor_fail(&table->cursor);
		return 0;
	}
}

static void pass_value(struct table *table, uint64_t form)
{
	struct byte_cursor *cursor = &table->cursor;

	switch (form) {
	case DW_FORM_string:
		(void)text_length(cursor);
		break;
	case DW_FORM_line_strp:
	case DW_FORM_strp:
		(void)byte_cursor_skip(cursor, table->offset_size);
		break;
	case DW_FORM_udata:
		(void)dwarf_read_leb128(cursor);
		break;
	case DW_FORM_block:
		(void)byte_cursor_skip(cursor, dwarf_read_leb128(cursor));
		break;
	case DW_FORM_data1:
		(void)byte_cursor_skip(cursor, 1);
		break;
	case DW_FORM_data2:
		(void)byte_cursor_skip(cursor, 2);
		break;
	case DW_FORM_data4:
		(void)byte_cursor_skip(cursor, 4);
		break;
	case DW_FORM_data8:
		(void)byte_cursor_skip(cursor, 8);
		break;
	case DW_FORM_data16:
		(void)byte_cursor_skip(cursor, 16);
		break;
	default:
		byte_cursor_fail(cursor);
	}
}

static void count_folder(struct table *table, uint64_t length)
{
	if (length > table->folder_length)
		table->folder_length = length;
	/* Its length as well, for the time that it takes to measure it. */
	table->bytes += FOLDER_BYTES + length;
}

static void count_file(struct table *table, uint64_t length)
{
	table->bytes += FILE_BYTES + table->folder_length + 1 + length + 1;
}

/* Folders or files of version 5. */
static void count_entries(struct table *table, void (*count)(struct table *, uint64_t))
{
	struct byte_cursor *cursor = &table->cursor;
	struct format formats[FORMATS_MAX];
	size_t format_count = byte_cursor_u8(cursor);
	uint64_t entries;

	if (format_count > FORMATS_MAX) {
		byte_cursor_fail(cursor);
		return;
	}
	for (size_t i = 0; i < format_count; i++) {
		formats[i].content = dwarf_read_leb128(cursor);
		formats[i].form = dwarf_read_leb128(cursor);
		/* libdw keeps 16 bits. */
		if (formats[i].content > UINT16_MAX || formats[i].form > UINT16_MAX)
			byte_cursor_fail(cursor);
	}
	entries = dwarf_read_leb128(cursor);
	if (format_count == 0 && entries != 0)
		byte_cursor_fail(cursor);
	for (uint64_t n = 0; n < entries && !cursor->failed && !is_too_much(table); n++) {
		uint64_t length = 0;

		for (size_t i = 0; i < format_count; i++)
			if (formats[i].content == DW_LNCT_path)
				length = pass_name(table, formats[i].form);
			else
				pass_value(table, formats[i].form);
		count(table, length);
	}
}

/* The numbers behind a file's name before version 5: its folder, its time, its size. */
static void count_older_file(struct table *table)
{
	uint64_t length = text_length(&table->cursor);

	for (int i = 0; i < 3; i++)
		(void)dwarf_read_leb128(&table->cursor);
	count_file(table, length);
}

static void count_older_entries(struct table *table)
{
	struct byte_cursor *cursor = &table->cursor;

	while (byte_cursor_left(cursor) && *cursor->position && !is_too_much(table))
		count_folder(table, text_length(cursor));
	(void)byte_cursor_u8(cursor);
	while (byte_cursor_left(cursor) && *cursor->position && !is_too_much(table))
		count_older_file(table);
	(void)byte_cursor_u8(cursor);
}

static void count_extended(struct table *table)
{
	struct byte_cursor *cursor = &table->cursor;
	uint8_t length = byte_cursor_u8(cursor);
	const uint8_t *start = cursor->position;

	/* libdw reads its length from one byte. */
	if (length == 0 || length > 0x7f || length > byte_cursor_left(cursor)) {
		byte_cursor_fail(cursor);
		return;
	}
	switch (byte_cursor_u8(cursor)) {
	case DW_LNE_end_sequence:
		table->bytes += DWARF_LINES_ROW_BYTES;
		break;
	case DW_LNE_set_address:
		(void)byte_cursor_skip(cursor, ADDRESS_BYTES);
		break;
	case DW_LNE_define_file:
		count_older_file(table);
		break;
	case DW_LNE_set_discriminator:
		(void)dwarf_read_leb128(cursor);
		break;
	default: /* libdw knows some that no compiler for a CPU writes */
		byte_cursor_fail(cursor);
	}
	/* It goes on behind what it has read, whatever the length. */
	if (cursor->position - start != length)
		byte_cursor_fail(cursor);
}

static void count_program(struct table *table, const uint8_t *argument_counts, uint8_t opcode_base)
{
	struct byte_cursor *cursor = &table->cursor;

	while (byte_cursor_left(cursor) && !is_too_much(table)) {
		uint8_t opcode = byte_cursor_u8(cursor);

		if (opcode >= opcode_base || opcode == DW_LNS_copy)
			table->bytes += DWARF_LINES_ROW_BYTES;
		else if (opcode == 0)
			count_extended(table);
		else if (opcode == DW_LNS_fixed_advance_pc)
			(void)byte_cursor_skip(cursor, 2);
		else
			for (uint8_t i = 0; i < argument_counts[opcode - 1]; i++)
				(void)dwarf_read_leb128(cursor);
	}
}

/* Of the opcodes that libdw knows, how many arguments the table says and they have. */
static bool are_known_opcodes(const uint8_t *argument_counts, uint8_t opcode_base)
{
	static const uint8_t known[DW_LNS_set_isa] = { 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1 };

	for (uint8_t i = 0; i < DW_LNS_set_isa && i + 1 < opcode_base; i++)
		if (argument_counts[i] != known[i])
			return false;
	return true;
}

/* 0, -ENODATA or -E2BIG; table->cursor is at its length. */
static int count_table(struct table *table)
{
	struct byte_cursor *cursor = &table->cursor;
	uint64_t length = byte_cursor_unsigned(cursor, 4);
	const uint8_t *end, *argument_counts;
	unsigned int version;
	uint8_t opcode_base;

	table->offset_size = 4;
	if (length == 0xffffffff) {
		table->offset_size = 8;
		length = byte_cursor_unsigned(cursor, 8);
	}
	if (cursor->failed || length > byte_cursor_left(cursor))
		return -ENODATA;
	end = cursor->position + length;
	cursor->end = end;
	version = (unsigned int)byte_cursor_unsigned(cursor, 2);
	if (version < 2 || version > 5)
		return -ENODATA;
	if (version == 5)
		(void)byte_cursor_skip(cursor, 2); /* sizes of addresses and segments */
	length = byte_cursor_unsigned(cursor, table->offset_size);
	if (cursor->failed || length > byte_cursor_left(cursor))
		return -ENODATA;
	cursor->end = cursor->position + length;
	/* The sizes of instructions, whether a row is a statement, the range of lines. */
	(void)byte_cursor_skip(cursor, version >= 4 ? 5 : 4);
	opcode_base = byte_cursor_u8(cursor);
	if (opcode_base == 0)
		return -ENODATA;
	argument_counts = byte_cursor_skip(cursor, opcode_base - 1u);
	if (cursor->failed || !are_known_opcodes(argument_counts, opcode_base))
		return -ENODATA;
	if (version == 5) {
		count_entries(table, count_folder);
		count_entries(table, count_file);
	} else {
		count_older_entries(table);
	}
	if (is_too_much(table))
		return -E2BIG;
	/* Otherwise libdw finds no program either. */
	if (cursor->failed || byte_cursor_left(cursor))
		return -ENODATA;
	cursor->end = end;
	count_program(table, argument_counts, opcode_base);
	if (is_too_much(table))
		return -E2BIG;
	return cursor->failed ? -ENODATA : 0;
}

int dwarf_lines_take(struct dwarf_lines *lines, Dwarf_Die *unit)
{
	struct table table = { .lines = lines };
	const char *own_folder;
	Dwarf_Attribute attribute;
	Dwarf_Word offset;
	Dwarf_Die itself;
	uint8_t address_size;
	int error;

	if (lines->is_ambiguous || !lines->programs || !lines->programs->d_buf ||
	    dwarf_formudata(dwarf_attr(unit, DW_AT_stmt_list, &attribute), &offset) != 0 ||
	    offset >= lines->programs->d_size || !dwarf_diecu(unit, &itself, &address_size, NULL) ||
	    address_size != ADDRESS_BYTES)
		return -ENODATA;
	own_folder = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute));
	table.folder_length = own_folder ? strlen(own_folder) : 0;
	table.cursor = byte_cursor_over((const uint8_t *)lines->programs->d_buf + offset,
					lines->programs->d_size - offset);
	error = count_table(&table);
	if (error)
		return error;
	if (atomic_fetch_add(&taken_in_all, table.bytes) > DWARF_LINES_MAX_BYTES - table.bytes) {
		atomic_fetch_sub(&taken_in_all, table.bytes);
		return -E2BIG;
	}
	lines->taken += table.bytes;
	return 0;
}

void dwarf_lines_give_back(struct dwarf_lines *lines)
{
	atomic_fetch_sub(&taken_in_all, lines->taken);
	lines->taken = 0;
}
