/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/capture/allocator_places.h"

#include "attach/probe_place.h"
#include "pyintrospect/heap/heap_allocator.h"
#include "symbolize/symbol_table.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* {'r', raw}, {'m', memory}, {'o', objects}: of each a letter, a context and four functions. */
#define ROW_WORDS   6
#define TABLE_WORDS (3 * ROW_WORDS)
/* Of an interpreter's data: static ones have some 2 MB. */
#define DATA_BYTES_MAX (64u << 20)
/* A build that calls it has at most five, the table left out; one that has it in its callers, 150
 * and more. */
#define REFERENCES_MAX 24
/* pymalloc's own: larger ones are malloc()'s. The same in 3.6 to 3.15. */
#define SMALL_BYTES_MAX 512u
#define LEA             0x8d
#define PROLOGUE_BYTES  48

/* ---- CPython's table ---- */

static bool row_at(const uint64_t *words, uint8_t letter, struct address_range code,
		   struct allocator_row *ret_row)
{
	if (words[0] != letter || words[1])
		return false;
	for (unsigned i = 2; i < ROW_WORDS; i++)
		if (!address_range_contains(code, words[i]))
			return false;
	*ret_row = (struct allocator_row){ words[2], words[3], words[4], words[5] };
	return true;
}

bool allocator_rows_find(const uint64_t *words, size_t count, struct address_range code,
			 struct allocator_row *ret_memory, struct allocator_row *ret_objects)
{
	for (size_t i = 0; i + TABLE_WORDS <= count; i++) {
		struct allocator_row raw, memory, objects;

		if (words[i] != 'r' || !row_at(words + i, 'r', code, &raw) ||
		    !row_at(words + i + ROW_WORDS, 'm', code, &memory) ||
		    !row_at(words + i + 2 * ROW_WORDS, 'o', code, &objects))
			continue;
		*ret_memory = memory;
		*ret_objects = objects;
		return true;
	}
	return false;
}

size_t allocator_references(const uint8_t *code, size_t size, uint64_t address, uint64_t function)
{
	size_t count = 0;

	for (size_t i = 3; i + 4 <= size; i++) {
		int32_t value;

		memcpy(&value, code + i, sizeof(value));
		/* lea function(%rip), register; and in programs at a fixed place, its address. */
		if ((code[i - 2] == LEA && (code[i - 1] & 0xc7) == 5 &&
		     address + i + 4 + (uint64_t)(int64_t)value == function) ||
		    (value > 0 && (uint64_t)value == function))
			count++;
	}
	return count;
}

static bool read_rows(const struct target *target, const struct module *module,
		      struct allocator_row *ret_memory, struct allocator_row *ret_objects)
{
	bool found = false;

	for (size_t i = 0; i < module->image->segment_count && !found; i++) {
		const struct elf_segment *segment = &module->image->segments[i];
		uint64_t bytes = segment->memory_size & ~(uint64_t)7;
		uint64_t *words;

		if (!(segment->flags & PF_W) || segment->virtual_address % 8 || !bytes ||
		    bytes > DATA_BYTES_MAX)
			continue;
		words = malloc(bytes);
		if (!words)
			return false;
		found = !memory_read(&target->reader, segment->virtual_address + module->bias,
				     words, bytes) &&
			allocator_rows_find(words, bytes / 8, module->range, ret_memory,
					    ret_objects);
		free(words);
	}
	return found;
}

static bool is_inlined(const struct module *module, uint64_t function)
{
	size_t count = 0;

	for (size_t i = 0; i < module->image->segment_count; i++) {
		const struct elf_segment *segment = &module->image->segments[i];
		size_t available;
		const uint8_t *code =
			segment->flags & PF_X
				? elf_image_at(module->image, segment->virtual_address, &available)
				: NULL;

		if (code)
			count += allocator_references(
				code,
				available < segment->file_size ? available : segment->file_size,
				segment->virtual_address + module->bias, function);
	}
	return count > REFERENCES_MAX;
}

/* ---- places ---- */

/* Those that the program looks at. */
static unsigned arguments_of(uint64_t cookie)
{
	unsigned arguments = PROBE_ARGUMENT(ALLOCATION_SIZE(cookie));

	if (ALLOCATION_OPERATION(cookie) == ALLOCATION_RELEASE)
		return PROBE_ARGUMENT(ALLOCATION_POINTER(cookie));
	if (ALLOCATION_OPERATION(cookie) != ALLOCATION_MAKE)
		arguments |= PROBE_ARGUMENT(ALLOCATION_POINTER(cookie));
	if (ALLOCATION_COUNT(cookie) != ALLOCATION_NONE)
		arguments |= PROBE_ARGUMENT(ALLOCATION_COUNT(cookie));
	return arguments;
}

static unsigned register_of(const struct probe_place *place, unsigned argument)
{
	return argument < PROBE_ARGUMENTS ? place->registers[argument] : argument;
}

/* What said which arguments says in which registers they are. */
static uint64_t with_registers(uint64_t cookie, const struct probe_place *place)
{
	return (cookie & ~ALLOCATION_COOKIE(0, 15, 15, 15, 0, 0)) |
	       ALLOCATION_COOKIE(0, register_of(place, ALLOCATION_POINTER(cookie)),
				 register_of(place, ALLOCATION_SIZE(cookie)),
				 register_of(place, ALLOCATION_COUNT(cookie)), 0, 0);
}

/* Of a function at an address of the target. */
static void add(struct allocator_places *places, const struct module *module, int fd,
		uint64_t address, uint64_t cookie)
{
	size_t available = 0;
	const uint8_t *code = elf_image_at(module->image, address - module->bias, &available);
	struct probe_place place;
	uint64_t offset;

	if (!code || places->count == ALLOCATION_PLACES_MAX ||
	    !elf_image_file_offset(module->image, address - module->bias, PF_X, &offset))
		return;
	if (!probe_place_choose(code, available < PROLOGUE_BYTES ? available : PROLOGUE_BYTES,
				arguments_of(cookie), &place))
		cookie |= ALLOCATION_STEPPED;
	cookie = with_registers(cookie, &place);
	offset += place.offset;
	/* Of one function under two names, one. */
	for (size_t i = 0; i < places->count; i++)
		if (places->items[i].fd == fd && places->items[i].file_offset == offset)
			return;
	places->items[places->count++] = (struct allocation_place){ fd, offset, cookie };
}

/* -1: it cannot be had. */
static int open_module(struct target *target, const struct module *module,
		       struct allocator_places *places)
{
	const struct mapping *mapping = mapping_find(&target->mappings, module->range.start);
	int fd = mapping && places->fd_count < ALLOCATOR_FILES_MAX
			 ? target->opener.open(target->opener.context, mapping)
			 : -1;

	if (fd >= 0)
		places->fds[places->fd_count++] = fd;
	return fd;
}

static void add_row(struct allocator_places *places, const struct module *module, int fd,
		    const struct allocator_row *row, bool whole)
{
	uint64_t most = whole ? 0 : SMALL_BYTES_MAX;

	add(places, module, fd, row->make_zeroed,
	    ALLOCATION_COOKIE(ALLOCATION_MAKE, 0, 2, 1, 0, most));
	/* pymalloc's calls the others. */
	if (whole)
		add(places, module, fd, row->resize,
		    ALLOCATION_COOKIE(ALLOCATION_RESIZE, 1, 2, ALLOCATION_NONE, 0, 0));
	add(places, module, fd, row->release,
	    ALLOCATION_COOKIE(ALLOCATION_RELEASE, 1, 0, ALLOCATION_NONE, 0, 0));
	add(places, module, fd, row->make,
	    ALLOCATION_COOKIE(ALLOCATION_MAKE, 0, 1, ALLOCATION_NONE, 0, most));
}

static void add_python(struct target *target, struct allocator_places *places)
{
	const struct module *module = target->interpreter;
	struct allocator_row memory, objects;
	int fd;

	places->python = ALLOCATOR_NOT_FOUND;
	if (!module || !module->image || !read_rows(target, module, &memory, &objects))
		return;
	places->python = ALLOCATOR_INLINED;
	if (is_inlined(module, objects.make))
		return;
	fd = open_module(target, module, places);
	places->python = fd < 0 ? ALLOCATOR_NOT_FOUND : ALLOCATOR_SEEN;
	if (fd < 0)
		return;
	/* mimalloc has functions of its own for each, of all sizes. */
	add_row(places, module, fd, &memory, memory.make != objects.make);
	add_row(places, module, fd, &objects, memory.make != objects.make);
}

static const struct {
	const char *name;
	uint64_t cookie;
} library_functions[] = {
	{ "malloc", ALLOCATION_COOKIE(ALLOCATION_MAKE, 0, 0, ALLOCATION_NONE, 0, 0) },
	{ "calloc", ALLOCATION_COOKIE(ALLOCATION_MAKE, 0, 1, 0, 0, 0) },
	{ "realloc", ALLOCATION_COOKIE(ALLOCATION_RESIZE, 0, 1, ALLOCATION_NONE, 0, 0) },
	{ "free", ALLOCATION_COOKIE(ALLOCATION_RELEASE, 0, 0, ALLOCATION_NONE, 0, 0) },
	{ "posix_memalign", ALLOCATION_COOKIE(ALLOCATION_ALIGN, 0, 2, ALLOCATION_NONE, 0, 0) },
	{ "aligned_alloc", ALLOCATION_COOKIE(ALLOCATION_MAKE, 0, 1, ALLOCATION_NONE, 0, 0) },
	{ "memalign", ALLOCATION_COOKIE(ALLOCATION_MAKE, 0, 1, ALLOCATION_NONE, 0, 0) },
};
#define LIBRARY_FUNCTIONS (sizeof(library_functions) / sizeof(library_functions[0]))

/* An allocator that takes the place of the C library's? */
static bool replaces_library(const struct module *module)
{
	struct mapping mapping = { .inode = 1,
				   .protection = PROT_READ | PROT_EXEC,
				   .path = module->path ? module->path : "" };
	const struct mapping_list list = { .mappings = &mapping, .count = 1 };

	return heap_allocator_find(&list) != NULL;
}

static bool find_exports(const struct elf_image *image, uint64_t ret_addresses[LIBRARY_FUNCTIONS])
{
	struct symbol_table table;

	memset(ret_addresses, 0, LIBRARY_FUNCTIONS * sizeof(ret_addresses[0]));
	if (!symbol_table_open(image, ".dynsym", SHT_DYNSYM, &table))
		return false;
	for (size_t i = 0; i < table.count; i++) {
		Elf64_Sym symbol = symbol_table_entry(&table, i);
		size_t room, length;
		const char *name = symbol_is_function(&symbol) &&
						   ELF64_ST_TYPE(symbol.st_info) != STT_GNU_IFUNC
					   ? symbol_table_name(&table, &symbol, &room)
					   : NULL;

		if (!name)
			continue;
		length = symbol_name_length(name, room);
		for (size_t k = 0; k < LIBRARY_FUNCTIONS; k++)
			if (length == strlen(library_functions[k].name) &&
			    !memcmp(name, library_functions[k].name, length))
				ret_addresses[k] = symbol.st_value;
	}
	return ret_addresses[0] && ret_addresses[3];
}

static void add_library(struct target *target, struct allocator_places *places)
{
	uint64_t addresses[LIBRARY_FUNCTIONS] = { 0 };
	const struct module *chosen = NULL;
	bool replaced = false;
	int fd;

	for (size_t i = 0; i < module_table_count(target->modules); i++) {
		const struct module *module = module_table_get(target->modules, i);
		enum module_kind kind = target_module_kind(target, module);
		bool other = replaces_library(module);

		if (!module->image || module_find(target->modules, module->range.start) != module ||
		    (kind != MODULE_LIBC && kind != MODULE_LOADER && !other) ||
		    (chosen && (replaced || !other)) || !find_exports(module->image, addresses))
			continue;
		/* The loader has one of its own for as long as there is no other. */
		if (kind == MODULE_LOADER && !other)
			continue;
		chosen = module;
		replaced = other;
	}
	fd = chosen && find_exports(chosen->image, addresses) ? open_module(target, chosen, places)
							      : -1;
	places->library = fd >= 0;
	for (size_t k = 0; k < LIBRARY_FUNCTIONS && fd >= 0; k++) {
		uint64_t cookie = library_functions[k].cookie;

		if (!replaced)
			cookie |= ALLOCATION_COOKIE(0, 0, 0, 0, 1, 0);
		if (addresses[k])
			add(places, chosen, fd, addresses[k] + chosen->bias, cookie);
	}
}

void allocator_places_find(struct target *target, enum allocator_scope scope,
			   struct allocator_places *ret_places)
{
	*ret_places = (struct allocator_places){ .python = ALLOCATOR_NOT_FOUND };
	/* Probes come in this order, each some time after the one before: those that are hit most
	 * come last. */
	add_library(target, ret_places);
	if (scope == ALLOCATORS_ALL)
		add_python(target, ret_places);
}

void allocator_places_deinit(struct allocator_places *places)
{
	for (size_t i = 0; i < places->fd_count; i++)
		close(places->fds[i]);
	places->fd_count = 0;
	places->count = 0;
}
