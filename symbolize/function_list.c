/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolize/function_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ENCLOSING_MAX 64 /* functions looked back at for one that encloses an address */

_Static_assert(SYMBOL_NAME_MAX <= UINT16_MAX, "listed_function.name_room holds it");

const char *function_list_name(const struct symbol_table *tables,
			       const struct listed_function *function)
{
	const struct symbol_table *table = &tables[function->table];

	if (function->name >= table->strings_size ||
	    function->name_room > table->strings_size - function->name)
		return NULL;
	return table->strings + function->name;
}

static size_t leading_underscores(const char *name, size_t room)
{
	size_t count = 0;

	while (count < room && name[count] == '_')
		count++;
	return count;
}

/* Below 0 when a is the better name for the address both start at. */
static int compare_names(const struct symbol_table *tables, const struct listed_function *a,
			 const struct listed_function *b)
{
	/* Inside, or they would not be listed. */
	const char *name_a = tables[a->table].strings + a->name;
	const char *name_b = tables[b->table].strings + b->name;
	size_t underscores_a, underscores_b, length_a, length_b;

	if (a->is_sized != b->is_sized)
		return a->is_sized ? -1 : 1;
	if (a->is_local != b->is_local)
		return a->is_local ? 1 : -1;
	underscores_a = leading_underscores(name_a, a->name_room);
	underscores_b = leading_underscores(name_b, b->name_room);
	if (underscores_a != underscores_b)
		return underscores_a < underscores_b ? -1 : 1;
	length_a = symbol_name_length(name_a, a->name_room);
	length_b = symbol_name_length(name_b, b->name_room);
	if (length_a != length_b)
		return length_a < length_b ? -1 : 1;
	return memcmp(name_a, name_b, length_a);
}

/* Order of the fields alone: names are in the file, which may change under a sort. */
static int compare_functions(const void *left, const void *right)
{
	const struct listed_function *a = left, *b = right;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	if (a->end != b->end)
		return a->end < b->end ? -1 : 1;
	if (a->table != b->table)
		return a->table < b->table ? -1 : 1;
	if (a->name != b->name)
		return a->name < b->name ? -1 : 1;
	return 0;
}

static void collect(struct function_list *list, const struct symbol_table *tables, size_t number,
		    size_t capacity)
{
	const struct symbol_table *table = &tables[number];

	for (size_t i = 1; i < table->count && list->count < capacity; i++) {
		Elf64_Sym entry = symbol_table_entry(table, i);
		struct listed_function function = {
			.address = entry.st_value,
			.table = (uint8_t)number,
		};
		size_t room;

		if (!symbol_is_function(&entry) || !symbol_table_name(table, &entry, &room))
			continue;
		function.name = entry.st_name;
		function.name_room = (uint16_t)room;
		function.is_sized = entry.st_size != 0;
		function.is_local = ELF64_ST_BIND(entry.st_info) == STB_LOCAL;
		function.end = symbol_container_end(table->image, &entry);
		if (function.is_sized && entry.st_size < function.end - function.address)
			function.end = function.address + entry.st_size;
		list->items[list->count++] = function;
	}
}

/* Keeps the best of each address, and ends those without a size where the next starts. */
static void settle(struct function_list *list, const struct symbol_table *tables)
{
	struct listed_function *items = list->items;
	size_t kept = 0;

	for (size_t i = 0; i < list->count; i++) {
		if (kept == 0 || items[kept - 1].address != items[i].address)
			items[kept++] = items[i];
		else if (compare_names(tables, &items[i], &items[kept - 1]) < 0)
			items[kept - 1] = items[i];
	}
	list->count = kept;
	for (size_t i = 0; i + 1 < kept; i++)
		if (!items[i].is_sized && items[i].end > items[i + 1].address)
			items[i].end = items[i + 1].address;
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

int function_list_create(const struct symbol_table *tables, size_t table_count,
			 struct function_list **ret_list)
{
	struct function_list *list = calloc(1, sizeof(*list));
	size_t count = 0;

	if (!list)
		return -ENOMEM;
	list->holders = 1;
	for (size_t i = 0; i < table_count; i++)
		count += count_functions(&tables[i]);
	list->items = calloc(count + 1, sizeof(list->items[0]));
	if (!list->items) {
		free(list);
		return -ENOMEM;
	}
	for (size_t i = 0; i < table_count; i++)
		collect(list, tables, i, count);
	qsort(list->items, list->count, sizeof(list->items[0]), compare_functions);
	settle(list, tables);
	*ret_list = list;
	return 0;
}

struct function_list *function_list_hold(struct function_list *list)
{
	if (list)
		__atomic_add_fetch(&list->holders, 1, __ATOMIC_RELAXED);
	return list;
}

void function_list_release(struct function_list *list)
{
	if (!list || __atomic_sub_fetch(&list->holders, 1, __ATOMIC_ACQ_REL))
		return;
	free(list->items);
	free(list);
}

ptrdiff_t function_list_find(const struct function_list *list, uint64_t address)
{
	size_t low = 0, high = list->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (list->items[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	/* A function may enclose smaller ones that end before address. */
	for (size_t i = low; i-- > 0 && low - i <= ENCLOSING_MAX;)
		if (address < list->items[i].end)
			return (ptrdiff_t)i;
	return -1;
}
