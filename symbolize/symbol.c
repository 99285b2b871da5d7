/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Per module, made on the first question:
 *
 *   tables[]     where symbols come from: .dynsym, .symtab (pointers into images)
 *   functions[]  one a start address, sorted; what an address is looked up in
 *   names[]      text given out, beside functions[]; filled when first asked for
 *   buckets[]    hash of all symbols' names, made when first a name is looked up
 *
 * Text from a file is copied before it is handed out: it is then ended by a
 * NUL and stays as it is, whatever happens to the file.
 */
#include "symbolize/symbol.h"

#include "common/hash.h"
#include "common/root_file.h"
#include "symbolize/demangle.h"
#include "symbolize/elf_image.h"
#include "symbolize/mini_image.h"
#include "symbolize/symbol_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TABLES_MAX    3
#define ENCLOSING_MAX 64  /* functions looked back at for one that encloses an address */
#define PROBES_MAX    256 /* in the hash; far beyond what names that are not made to collide need */

struct function {
	uint64_t address; /* ELF virtual address */
	uint64_t end;     /* address + size; for size 0 where the next one or the section starts */
	const char *name; /* in a table's strings, not checked for its NUL */
	uint32_t name_room; /* bytes up to the end of those strings, at most SYMBOL_NAME_MAX */
	bool is_sized;
	bool is_local;
};

struct module_symbols {
	const struct elf_image *image; /* the module's; NULL: none */
	struct elf_image *debug_image; /* the debug file or mini-symbols, owned; NULL: none */
	struct symbol_table tables[TABLES_MAX];
	size_t table_count;
	struct function *functions;
	size_t function_count;
	char **names;
	uint32_t *buckets;   /* number of a symbol over all tables, + 1; 0: empty */
	size_t bucket_count; /* a power of two */
};

struct symbolizer {
	struct module_symbols **modules; /* by module.index; NULL: not asked for yet */
	size_t count;
	size_t bytes, bytes_max; /* of all modules' tables */
	uint64_t dropped;        /* modules without, as these were full, and DWARF left out */
	struct debug_search search;
	uint8_t *without_debug; /* by module.index: a debug file was looked for, there is none */
	size_t without_debug_count;
	struct layout_cache *layouts;    /* borrowed; NULL: none */
	const struct perf_map *perf_map; /* borrowed; NULL: none */
};

struct symbolizer *symbolizer_create(void)
{
	struct symbolizer *symbolizer = calloc(1, sizeof(*symbolizer));

	if (!symbolizer)
		return NULL;
	symbolizer->search.root = ROOT_OWN;
	symbolizer->bytes_max = SYMBOLIZER_BYTES_MAX;
	return symbolizer;
}

void symbolizer_limit(struct symbolizer *symbolizer, size_t bytes_max)
{
	symbolizer->bytes_max = bytes_max;
}

uint64_t symbolizer_dropped(const struct symbolizer *symbolizer)
{
	return symbolizer->dropped;
}

void symbolizer_drop(struct symbolizer *symbolizer)
{
	symbolizer->dropped++;
}

const struct debug_search *symbolizer_search(const struct symbolizer *symbolizer)
{
	return &symbolizer->search;
}

void symbolizer_set_search(struct symbolizer *symbolizer, const struct debug_search *search)
{
	symbolizer->search = *search;
	free(symbolizer->without_debug);
	symbolizer->without_debug = NULL;
	symbolizer->without_debug_count = 0;
}

void symbolizer_set_layouts(struct symbolizer *symbolizer, struct layout_cache *layouts)
{
	symbolizer->layouts = layouts;
}

struct layout_cache *symbolizer_layouts(const struct symbolizer *symbolizer)
{
	return symbolizer->layouts;
}

void symbolizer_set_perf_map(struct symbolizer *symbolizer, const struct perf_map *map)
{
	symbolizer->perf_map = map;
}

static void module_symbols_destroy(struct module_symbols *symbols)
{
	if (!symbols)
		return;
	for (size_t i = 0; symbols->names && i < symbols->function_count; i++)
		free(symbols->names[i]);
	free(symbols->names);
	free(symbols->functions);
	free(symbols->buckets);
	elf_image_close(symbols->debug_image);
	free(symbols);
}

void symbolizer_destroy(struct symbolizer *symbolizer)
{
	if (!symbolizer)
		return;
	for (size_t i = 0; i < symbolizer->count; i++)
		module_symbols_destroy(symbolizer->modules[i]);
	free(symbolizer->modules);
	free(symbolizer->without_debug);
	free(symbolizer);
}

static void note_without_debug(struct symbolizer *symbolizer, const struct module *module)
{
	size_t count = (module->index + 64) & ~(size_t)63;
	uint8_t *marks;

	if (module->index >= MODULES_MAX)
		return;
	if (module->index >= symbolizer->without_debug_count) {
		marks = realloc(symbolizer->without_debug, count);
		if (!marks)
			return;
		memset(marks + symbolizer->without_debug_count, 0,
		       count - symbolizer->without_debug_count);
		symbolizer->without_debug = marks;
		symbolizer->without_debug_count = count;
	}
	symbolizer->without_debug[module->index] = 1;
}

int symbolizer_debug_file(struct symbolizer *symbolizer, const struct module *module,
			  struct elf_image **ret_image)
{
	int error;

	if (module->index < symbolizer->without_debug_count &&
	    symbolizer->without_debug[module->index])
		return -ENOENT;
	error = debug_file_find(module, &symbolizer->search, ret_image);
	if (error == -ENOENT)
		note_without_debug(symbolizer, module);
	return error;
}

/* Adds the symbol table of that type and name, when the image has a sound one. */
static bool add_table(struct module_symbols *symbols, const struct elf_image *image,
		      const char *name, uint32_t type)
{
	if (symbols->table_count == TABLES_MAX ||
	    !symbol_table_open(image, name, type, &symbols->tables[symbols->table_count]))
		return false;
	symbols->table_count++;
	return true;
}

static size_t leading_underscores(const struct function *function)
{
	size_t count = 0;

	while (count < function->name_room && function->name[count] == '_')
		count++;
	return count;
}

/* Below 0 when a is the better name for the address both start at. */
static int compare_symbol_names(const struct function *a, const struct function *b)
{
	size_t underscores_a, underscores_b, length_a, length_b;

	if (a->is_sized != b->is_sized)
		return a->is_sized ? -1 : 1;
	if (a->is_local != b->is_local)
		return a->is_local ? 1 : -1;
	underscores_a = leading_underscores(a);
	underscores_b = leading_underscores(b);
	if (underscores_a != underscores_b)
		return underscores_a < underscores_b ? -1 : 1;
	length_a = symbol_name_length(a->name, a->name_room);
	length_b = symbol_name_length(b->name, b->name_room);
	if (length_a != length_b)
		return length_a < length_b ? -1 : 1;
	return memcmp(a->name, b->name, length_a);
}

/* Order of the fields alone: names are in the file, which may change under a sort. */
static int compare_symbols(const void *left, const void *right)
{
	const struct function *a = left, *b = right;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	if (a->end != b->end)
		return a->end < b->end ? -1 : 1;
	if (a->name != b->name)
		return a->name < b->name ? -1 : 1;
	return 0;
}

static void collect_functions(struct module_symbols *symbols, const struct symbol_table *table,
			      size_t capacity)
{
	for (size_t i = 1; i < table->count && symbols->function_count < capacity; i++) {
		Elf64_Sym entry = symbol_table_entry(table, i);
		struct function function = { .address = entry.st_value };
		size_t room;

		if (!symbol_is_function(&entry))
			continue;
		function.name = symbol_table_name(table, &entry, &room);
		if (!function.name)
			continue;
		function.name_room = (uint32_t)room;
		function.is_sized = entry.st_size != 0;
		function.is_local = ELF64_ST_BIND(entry.st_info) == STB_LOCAL;
		function.end = symbol_container_end(table->image, &entry);
		if (function.is_sized && entry.st_size < function.end - function.address)
			function.end = function.address + entry.st_size;
		symbols->functions[symbols->function_count++] = function;
	}
}

/* Keeps the best of each address, and ends those without a size where the next starts. */
static void settle_functions(struct module_symbols *symbols)
{
	struct function *functions = symbols->functions;
	size_t kept = 0;

	for (size_t i = 0; i < symbols->function_count; i++) {
		if (kept == 0 || functions[kept - 1].address != functions[i].address)
			functions[kept++] = functions[i];
		else if (compare_symbol_names(&functions[i], &functions[kept - 1]) < 0)
			functions[kept - 1] = functions[i];
	}
	symbols->function_count = kept;
	for (size_t i = 0; i + 1 < kept; i++)
		if (!functions[i].is_sized && functions[i].end > functions[i + 1].address)
			functions[i].end = functions[i + 1].address;
}

static size_t count_functions(const struct symbol_table *table)
{
	size_t count = 0;

	for (size_t i = 1; i < table->count; i++) {
		Elf64_Sym entry = symbol_table_entry(table, i);

		count += symbol_is_function(&entry);
	}
	return count;
}

/* Adds the .symtab of whatever stands in for the one that was stripped off. */
static void add_separate_table(struct symbolizer *symbolizer, struct module_symbols *symbols,
			       const struct module *module)
{
	if (symbolizer_debug_file(symbolizer, module, &symbols->debug_image) == 0) {
		if (add_table(symbols, symbols->debug_image, ".symtab", SHT_SYMTAB))
			return;
		elf_image_close(symbols->debug_image);
		symbols->debug_image = NULL;
	}
	if (mini_image_open(module->image, &symbols->debug_image) == 0)
		(void)add_table(symbols, symbols->debug_image, ".symtab", SHT_SYMTAB);
}

static int load_symbols(struct symbolizer *symbolizer, struct module_symbols *symbols,
			const struct module *module)
{
	size_t count = 0;

	symbols->image = module->image;
	if (!module->image)
		return 0;
	(void)add_table(symbols, module->image, ".dynsym", SHT_DYNSYM);
	if (!add_table(symbols, module->image, ".symtab", SHT_SYMTAB))
		add_separate_table(symbolizer, symbols, module);
	for (size_t i = 0; i < symbols->table_count; i++)
		count += count_functions(&symbols->tables[i]);
	if (count == 0)
		return 0;
	symbols->functions = calloc(count, sizeof(symbols->functions[0]));
	if (!symbols->functions)
		return -ENOMEM;
	for (size_t i = 0; i < symbols->table_count; i++)
		collect_functions(symbols, &symbols->tables[i], count);
	qsort(symbols->functions, symbols->function_count, sizeof(symbols->functions[0]),
	      compare_symbols);
	settle_functions(symbols);
	/* Zero pages until used: only the few functions of a report are ever named. */
	symbols->names = calloc(symbols->function_count + 1, sizeof(symbols->names[0]));
	return symbols->names ? 0 : -ENOMEM;
}

/* Memory, with what the names and their hash may take later on; no files. */
static size_t bytes_of(const struct module_symbols *symbols)
{
	size_t entries = 0;

	for (size_t i = 0; i < symbols->table_count; i++)
		entries += symbols->tables[i].count;
	return sizeof(*symbols) +
	       symbols->function_count * (sizeof(*symbols->functions) + sizeof(*symbols->names)) +
	       4 * entries * sizeof(*symbols->buckets) +
	       (symbols->debug_image && !symbols->debug_image->mapping.bytes
			? symbols->debug_image->size
			: 0);
}

/* The symbols of a module, loaded now if need be; NULL when out of memory. */
static struct module_symbols *symbols_of(struct symbolizer *symbolizer, const struct module *module)
{
	struct module_symbols *symbols;

	if (module->index >= MODULES_MAX)
		return NULL;
	if (module->index >= symbolizer->count) {
		size_t count = (module->index + 64) & ~(size_t)63;
		struct module_symbols **modules;

		modules = reallocarray(symbolizer->modules, count, sizeof(modules[0]));
		if (!modules)
			return NULL;
		memset(modules + symbolizer->count, 0,
		       (count - symbolizer->count) * sizeof(modules[0]));
		symbolizer->modules = modules;
		symbolizer->count = count;
	}
	symbols = symbolizer->modules[module->index];
	if (symbols)
		return symbols;
	symbols = calloc(1, sizeof(*symbols));
	if (!symbols)
		return NULL;
	if (symbolizer->bytes >= symbolizer->bytes_max) {
		symbolizer->dropped += module->image != NULL;
	} else if (load_symbols(symbolizer, symbols, module) != 0) {
		module_symbols_destroy(symbols);
		return NULL;
	}
	symbolizer->bytes += bytes_of(symbols);
	symbolizer->modules[module->index] = symbols;
	return symbols;
}

/* Index of the innermost function around an ELF virtual address, or -1. */
static ptrdiff_t innermost_function(const struct module_symbols *symbols, uint64_t address)
{
	size_t low = 0, high = symbols->function_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (symbols->functions[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	/* A function may enclose smaller ones that end before address. */
	for (size_t i = low; i-- > 0 && low - i <= ENCLOSING_MAX;)
		if (address < symbols->functions[i].end)
			return (ptrdiff_t)i;
	return -1;
}

static char *text_of(const struct function *function)
{
	size_t length = symbol_name_length(function->name, function->name_room);
	char mangled[SYMBOL_NAME_MAX + 1], plain[SYMBOL_NAME_MAX];

	memcpy(mangled, function->name, length);
	mangled[length] = '\0';
	return strdup(demangle_name(mangled, plain, sizeof(plain)) ? plain : mangled);
}

static const char *module_function(struct symbolizer *symbolizer, const struct module *module,
				   remote_addr address, remote_addr *ret_start)
{
	struct module_symbols *symbols = symbols_of(symbolizer, module);
	ptrdiff_t index;

	if (!symbols)
		return NULL;
	index = innermost_function(symbols, address - module->bias);
	if (index < 0 || !symbols->names)
		return NULL;
	if (!symbols->names[index]) {
		symbols->names[index] = text_of(&symbols->functions[index]);
		if (!symbols->names[index])
			return NULL;
	}
	if (ret_start)
		*ret_start = symbols->functions[index].address + module->bias;
	return symbols->names[index];
}

const char *symbolizer_function(struct symbolizer *symbolizer, const struct module *module,
				remote_addr address, remote_addr *ret_start)
{
	const char *name = NULL;

	if (module)
		name = module_function(symbolizer, module, address, ret_start);
	/* Some runtimes map their code from a file in memory: that is a module without symbols. */
	if (!name && symbolizer->perf_map)
		name = perf_map_find(symbolizer->perf_map, address, ret_start);
	return name;
}

size_t symbolizer_lost_files(const struct symbolizer *symbolizer)
{
	size_t count = 0;

	for (size_t i = 0; i < symbolizer->count; i++) {
		const struct module_symbols *symbols = symbolizer->modules[i];

		if (!symbols)
			continue;
		count += symbols->image && elf_image_has_lost(symbols->image);
		count += symbols->debug_image && elf_image_has_lost(symbols->debug_image);
	}
	return count;
}

/* The table and entry a number over all tables stands for. */
static const struct symbol_table *numbered_entry(const struct module_symbols *symbols,
						 size_t number, size_t *ret_index)
{
	const struct symbol_table *table = symbols->tables;

	while (number >= table->count) {
		number -= table->count;
		table++;
	}
	*ret_index = number;
	return table;
}

/* Whether the symbol of that number has this name, which has no version. */
static bool has_name(const struct module_symbols *symbols, size_t number, const char *name,
		     size_t length, int *ret_preference, Elf64_Sym *ret_entry)
{
	size_t index, room;
	const struct symbol_table *table = numbered_entry(symbols, number, &index);
	Elf64_Sym entry = symbol_table_entry(table, index);
	const char *candidate = symbol_table_name(table, &entry, &room);

	if (!candidate || symbol_name_length(candidate, room) != length ||
	    memcmp(candidate, name, length) != 0)
		return false;
	*ret_preference = symbol_preference(table, index, &entry);
	*ret_entry = entry;
	return true;
}

/* Puts a symbol into the hash, or into the place of a lesser one of its name. */
static void hash_symbol(struct module_symbols *symbols, size_t number,
			const struct symbol_table *table, size_t index)
{
	size_t mask = symbols->bucket_count - 1;
	Elf64_Sym other, entry = symbol_table_entry(table, index);
	size_t room, length, slot;
	const char *name;

	if (!symbol_is_findable(&entry))
		return;
	name = symbol_table_name(table, &entry, &room);
	if (!name)
		return;
	length = symbol_name_length(name, room);
	slot = hash_bytes(name, length) & mask;
	for (size_t i = 0; i < PROBES_MAX; i++, slot = (slot + 1) & mask) {
		uint32_t *bucket = &symbols->buckets[slot];
		int preference;

		if (!*bucket) {
			*bucket = (uint32_t)number + 1;
			return;
		}
		if (has_name(symbols, *bucket - 1, name, length, &preference, &other)) {
			if (symbol_preference(table, index, &entry) > preference)
				*bucket = (uint32_t)number + 1;
			return;
		}
	}
}

static int build_hash(struct module_symbols *symbols)
{
	size_t total = 0, size = 64, number = 0;

	for (size_t i = 0; i < symbols->table_count; i++)
		total += symbols->tables[i].count;
	while (size < 2 * total)
		size *= 2;
	symbols->buckets = calloc(size, sizeof(symbols->buckets[0]));
	if (!symbols->buckets)
		return -ENOMEM;
	symbols->bucket_count = size;
	for (size_t i = 0; i < symbols->table_count; i++)
		for (size_t j = 0; j < symbols->tables[i].count; j++)
			hash_symbol(symbols, number++, &symbols->tables[i], j);
	return 0;
}

int symbolizer_find(struct symbolizer *symbolizer, const struct module *module, const char *name,
		    remote_addr *ret_address, uint64_t *ret_size)
{
	struct module_symbols *symbols = symbols_of(symbolizer, module);
	size_t length = strlen(name), slot;

	if (!symbols || (!symbols->buckets && build_hash(symbols) != 0))
		return -ENOENT;
	slot = hash_bytes(name, length) & (symbols->bucket_count - 1);
	for (size_t i = 0; i < PROBES_MAX && symbols->buckets[slot]; i++) {
		Elf64_Sym entry;
		int preference;

		if (has_name(symbols, symbols->buckets[slot] - 1, name, length, &preference,
			     &entry)) {
			*ret_address = entry.st_value + module->bias;
			*ret_size = entry.st_size;
			return 0;
		}
		slot = (slot + 1) & (symbols->bucket_count - 1);
	}
	return -ENOENT;
}
