/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Per module, made on the first question:
 *
 *   tables[]     where symbols come from: .dynsym, .symtab (pointers into images)
 *   functions    one a start address, sorted; what an address is looked up in, shared
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
#include "symbolize/function_cache.h"
#include "symbolize/mini_image.h"
#include "symbolize/symbol_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TABLES_MAX 3
#define PROBES_MAX 256 /* in the hash; far beyond what names that are not made to collide need */

struct module_symbols {
	const struct elf_image *image; /* the module's; NULL: none */
	struct elf_image *debug_image; /* the debug file or mini-symbols, owned; NULL: none */
	struct symbol_table tables[TABLES_MAX];
	size_t table_count;
	struct function_list *functions; /* held; NULL: none */
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
	for (size_t i = 0; symbols->names && i < symbols->functions->count; i++)
		free(symbols->names[i]);
	free(symbols->names);
	function_list_release(symbols->functions);
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

/* Those that another process with these files had, or anew. */
static int list_functions(struct symbolizer *symbolizer, struct module_symbols *symbols)
{
	struct function_cache *cache = layout_cache_functions(symbolizer->layouts);
	struct layout_source source = {
		.module = symbols->image->identity,
		.has_debug = symbols->debug_image != NULL,
	};
	int error;

	if (symbols->debug_image)
		source.debug = symbols->debug_image->identity;
	symbols->functions = function_cache_find(cache, &source);
	if (symbols->functions)
		return 0;
	error = function_list_create(symbols->tables, symbols->table_count, &symbols->functions);
	/* Not what was read of pages that are gone. */
	if (!error && !elf_image_has_lost(symbols->image) &&
	    !(symbols->debug_image && elf_image_has_lost(symbols->debug_image)))
		function_cache_keep(cache, &source, symbols->functions);
	return error;
}

static int load_symbols(struct symbolizer *symbolizer, struct module_symbols *symbols,
			const struct module *module)
{
	int error;

	symbols->image = module->image;
	if (!module->image)
		return 0;
	(void)add_table(symbols, module->image, ".dynsym", SHT_DYNSYM);
	if (!add_table(symbols, module->image, ".symtab", SHT_SYMTAB))
		add_separate_table(symbolizer, symbols, module);
	error = list_functions(symbolizer, symbols);
	if (error)
		return error;
	/* Zero pages until used: only the few functions of a report are ever named. */
	symbols->names = calloc(symbols->functions->count + 1, sizeof(symbols->names[0]));
	return symbols->names ? 0 : -ENOMEM;
}

/* Memory, with what the names and their hash may take later on; no files. */
static size_t bytes_of(const struct module_symbols *symbols)
{
	size_t entries = 0;

	for (size_t i = 0; i < symbols->table_count; i++)
		entries += symbols->tables[i].count;
	size_t functions = symbols->functions ? symbols->functions->count : 0;

	return sizeof(*symbols) +
	       functions * (sizeof(*symbols->functions->items) + sizeof(*symbols->names)) +
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

/* NULL: out of memory, or the file is not what its list was made of. */
static char *text_of(const struct module_symbols *symbols, const struct listed_function *function)
{
	char mangled[SYMBOL_NAME_MAX + 1], plain[SYMBOL_NAME_MAX];
	const char *name = function->table < symbols->table_count
				   ? function_list_name(symbols->tables, function)
				   : NULL;
	size_t length;

	if (!name)
		return NULL;
	length = symbol_name_length(name, function->name_room);
	memcpy(mangled, name, length);
	mangled[length] = '\0';
	return strdup(demangle_name(mangled, plain, sizeof(plain)) ? plain : mangled);
}

static const char *module_function(struct symbolizer *symbolizer, const struct module *module,
				   remote_addr address, remote_addr *ret_start)
{
	struct module_symbols *symbols = symbols_of(symbolizer, module);
	ptrdiff_t index;

	if (!symbols || !symbols->names)
		return NULL;
	index = function_list_find(symbols->functions, address - module->bias);
	if (index < 0)
		return NULL;
	if (!symbols->names[index]) {
		symbols->names[index] = text_of(symbols, &symbols->functions->items[index]);
		if (!symbols->names[index])
			return NULL;
	}
	if (ret_start)
		*ret_start = symbols->functions->items[index].address + module->bias;
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
