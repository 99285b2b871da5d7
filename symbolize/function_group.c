/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolize/function_group.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* An interpreter has some 250 handlers, each with a cold part. */
#define FUNCTIONS_MAX 4096
#define SYMBOLS_MAX   (2u << 20)
/* What aligns a function is less; 64 is the most that compilers ask for. */
#define PADDING_MAX 64

struct symbols {
	const uint8_t *entries; /* Elf64_Sym, unaligned */
	size_t count;
	const char *strings;
	size_t strings_size;
};

struct piece {
	struct address_range code;
	bool is_followed; /* by a function that is none of the group, before the next piece */
};

static int open_symbols(const struct elf_image *image, uint32_t type, struct symbols *ret_symbols)
{
	struct elf_section section, strings;

	for (size_t i = 0; i < image->section_count; i++) {
		if (elf_image_section(image, i, &section) != 0 || section.type != type)
			continue;
		if (section.entry_size != sizeof(Elf64_Sym) ||
		    elf_image_section(image, section.link, &strings) != 0 ||
		    strings.type != SHT_STRTAB)
			return -ENOENT;
		*ret_symbols = (struct symbols){
			.entries = image->bytes + section.file_offset,
			.count = section.size / sizeof(Elf64_Sym),
			.strings = (const char *)image->bytes + strings.file_offset,
			.strings_size = strings.size,
		};
		if (ret_symbols->count > SYMBOLS_MAX)
			ret_symbols->count = SYMBOLS_MAX;
		return 0;
	}
	return -ENOENT;
}

/* A function with code; false: something else. */
static bool symbol_code(const struct symbols *symbols, size_t index, struct address_range *ret_code,
			const char **ret_name, size_t *ret_room)
{
	Elf64_Sym symbol;

	memcpy(&symbol, symbols->entries + index * sizeof(symbol), sizeof(symbol));
	if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF ||
	    symbol.st_size == 0 || symbol.st_value > UINT64_MAX - symbol.st_size ||
	    symbol.st_name >= symbols->strings_size)
		return false;
	*ret_code = (struct address_range){ symbol.st_value, symbol.st_value + symbol.st_size };
	*ret_name = symbols->strings + symbol.st_name;
	*ret_room = symbols->strings_size - symbol.st_name;
	return true;
}

/* name has room bytes at most, and need not end in them. */
static bool name_matches(const char *name, size_t room, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		size_t length = strlen(names[i]);
		bool is_prefix = length > 0 && names[i][length - 1] == '*';

		length -= is_prefix;
		if (length < room && memcmp(name, names[i], length) == 0 &&
		    (is_prefix || name[length] == '\0' || name[length] == '.'))
			return true;
	}
	return false;
}

static int compare_pieces(const void *left, const void *right)
{
	const struct piece *a = left, *b = right;

	return a->code.start < b->code.start ? -1 : a->code.start > b->code.start;
}

/* Of functions with one start, as aliases are, the longest; none overlaps the next. */
static size_t tidy(struct piece *pieces, size_t count)
{
	size_t kept = 0;

	qsort(pieces, count, sizeof(*pieces), compare_pieces);
	for (size_t i = 0; i < count; i++) {
		if (kept > 0 && pieces[i].code.start < pieces[kept - 1].code.end) {
			if (pieces[i].code.end > pieces[kept - 1].code.end)
				pieces[kept - 1].code.end = pieces[i].code.end;
		} else {
			pieces[kept++] = pieces[i];
		}
	}
	return kept;
}

/* Notes that another function starts behind the piece before it. */
static void note_other(struct piece *pieces, size_t count, uint64_t start)
{
	size_t low = 0, high = count;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (pieces[middle].code.start <= start)
			low = middle;
		else
			high = middle;
	}
	if (start >= pieces[low].code.end)
		pieces[low].is_followed = true;
}

static int collect(const struct symbols *symbols, const char *const *names, size_t name_count,
		   struct piece *pieces, size_t *ret_count)
{
	struct address_range code;
	const char *name;
	size_t room, count = 0;

	for (size_t i = 0; i < symbols->count; i++) {
		if (!symbol_code(symbols, i, &code, &name, &room) ||
		    !name_matches(name, room, names, name_count))
			continue;
		if (count == FUNCTIONS_MAX)
			return -E2BIG;
		pieces[count++] = (struct piece){ .code = code };
	}
	if (count == 0)
		return -ENOENT;
	count = tidy(pieces, count);
	for (size_t i = 0; i < symbols->count; i++)
		if (symbol_code(symbols, i, &code, &name, &room) &&
		    !name_matches(name, room, names, name_count))
			note_other(pieces, count, code.start);
	*ret_count = count;
	return 0;
}

int function_group_find(const struct elf_image *image, const char *const *names, size_t count,
			struct address_ranges *ret_code)
{
	struct address_ranges code = { .count = 0 };
	struct symbols symbols;
	struct piece *pieces;
	size_t piece_count;
	int error;

	if (open_symbols(image, SHT_SYMTAB, &symbols) && open_symbols(image, SHT_DYNSYM, &symbols))
		return -ENOENT;
	pieces = calloc(FUNCTIONS_MAX, sizeof(*pieces));
	if (!pieces)
		return -ENOMEM;
	error = collect(&symbols, names, count, pieces, &piece_count);
	for (size_t i = 0; !error && i < piece_count; i++) {
		struct address_range *last = code.count ? &code.items[code.count - 1] : NULL;

		if (last && !pieces[i - 1].is_followed &&
		    pieces[i].code.start - last->end <= PADDING_MAX)
			last->end = pieces[i].code.end;
		else if (code.count < ADDRESS_RANGES_MAX)
			code.items[code.count++] = pieces[i].code;
		else
			error = -E2BIG;
	}
	free(pieces);
	if (!error)
		*ret_code = code;
	return error;
}
