/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Per module, made on the first question:
 *
 *   units[]       compilation units, each with its functions[], made when a
 *                 unit is first asked for
 *   unit_ranges[] sorted by start; which unit an address is in
 *   functions[]   a function's ranges in one unit, sorted; where its entry is
 *
 * libdw finds an address by walking all entries of a unit, every time. That is
 * done once a unit here; afterwards only the entries inside one function are
 * looked at.
 *
 * DWARF is hostile: siblings must come in the file's order, since a sibling
 * reference may lead back, and whatever is counted has a limit. What lies
 * beyond a limit is not found, and nothing else happens.
 */
#include "symbolize/line_info.h"

#include "common/array.h"
#include "common/hash.h"
#include "common/root_file.h"
#include "symbolize/demangle.h"
#include "symbolize/dwarf_file.h"
#include "symbolize/dwarf_lines.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define RANGES_MAX       (1u << 20) /* of all units together, and of a unit's functions */
#define ENTRIES_MAX      (4u << 20) /* walked in one unit, and ranges looked at */
#define FILE_ENTRIES_MAX (1u << 28) /* of a file, in all questions together */
#define NESTING_MAX      64
#define OVERLAPS_MAX     32 /* ranges looked back at for one that encloses an address */
#define PRETTY_NAMES_MAX (1u << 20)

struct range {
	uint64_t start; /* ELF virtual addresses */
	uint64_t end;
	size_t item; /* a unit's number, or where a function's entry is */
};

struct range_list {
	struct range *ranges;
	size_t count;
	size_t capacity;
};

struct unit {
	Dwarf_Die die;
	struct range_list functions;
	bool is_indexed;
	bool is_counted; /* whether its lines may be read has been asked */
	bool has_lines;  /* they may */
};

struct module_lines {
	struct dwarf_file *file; /* NULL: no DWARF */
	struct dwarf_lines tables;
	struct unit *units;
	size_t unit_count;
	size_t unit_capacity;
	struct range_list unit_ranges;
	size_t entries_walked; /* against FILE_ENTRIES_MAX */
};

struct pretty_name {
	const char *mangled; /* in the DWARF: the pointer is the key */
	char *pretty;
};

struct line_info {
	struct debug_search search;
	struct module_lines **modules; /* by module.index; NULL: not asked for yet */
	size_t count;
	struct pretty_name *names; /* hash; size a power of two, at most half full */
	size_t name_count;
	size_t name_capacity;
	uint64_t dropped;
};

/* Walks what is inside one entry, in the file's order, see above. */
struct walk {
	size_t entries; /* left */
};

struct line_info *line_info_create(const struct debug_search *search)
{
	struct line_info *info = calloc(1, sizeof(*info));

	if (info)
		info->search = search ? *search : (struct debug_search){ .root = ROOT_OWN };
	return info;
}

static void module_lines_destroy(struct module_lines *lines)
{
	if (!lines)
		return;
	for (size_t i = 0; i < lines->unit_count; i++)
		free(lines->units[i].functions.ranges);
	free(lines->units);
	free(lines->unit_ranges.ranges);
	dwarf_file_close(lines->file);
	dwarf_lines_give_back(&lines->tables);
	free(lines);
}

uint64_t line_info_dropped(const struct line_info *info)
{
	return info->dropped;
}

void line_info_destroy(struct line_info *info)
{
	if (!info)
		return;
	for (size_t i = 0; i < info->count; i++)
		module_lines_destroy(info->modules[i]);
	for (size_t i = 0; i < info->name_capacity; i++)
		free(info->names[i].pretty);
	free(info->names);
	free(info->modules);
	free(info);
}

/* Adds the ranges of die to list, as many as it may have and *budget lets it look at. */
static int add_die_ranges(struct range_list *list, Dwarf_Die *die, size_t item, size_t *budget)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t position = 0;

	while (list->count<RANGES_MAX && * budget> 0 &&
	       (position = dwarf_ranges(die, position, &base, &start, &end)) > 0) {
		struct range *ranges;

		--*budget;
		/* At 0 is what the linker threw away. */
		if (start >= end || start == 0)
			continue;
		ranges = array_reserve(list->ranges, list->count, &list->capacity, sizeof(*ranges));
		if (!ranges)
			return -ENOMEM;
		list->ranges = ranges;
		ranges[list->count++] = (struct range){ .start = start, .end = end, .item = item };
	}
	return 0;
}

static int compare_ranges(const void *left, const void *right)
{
	const struct range *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	/* The smaller, the later: it is looked at first. */
	if (a->end != b->end)
		return a->end > b->end ? -1 : 1;
	return a->item < b->item ? -1 : a->item > b->item;
}

static void sort_ranges(struct range_list *list)
{
	if (list->count)
		qsort(list->ranges, list->count, sizeof(list->ranges[0]), compare_ranges);
}

/* The innermost range around address, or NULL. */
static const struct range *find_range(const struct range_list *list, uint64_t address)
{
	size_t low = 0, high = list->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (list->ranges[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t i = low; i-- > 0 && low - i <= OVERLAPS_MAX;)
		if (address < list->ranges[i].end)
			return &list->ranges[i];
	return NULL;
}

static int load_units(struct module_lines *lines)
{
	Dwarf *dwarf = dwarf_file_dwarf(lines->file);
	Dwarf_CU *current = NULL, *next;
	size_t budget = ENTRIES_MAX;

	dwarf_lines_init(&lines->tables, dwarf);
	for (;;) {
		struct unit *units;
		uint8_t type;
		Dwarf_Die die;
		int error;

		/* DWARF_UNITS_MAX at most. */
		if (dwarf_get_units(dwarf, current, &next, NULL, &type, &die, NULL) != 0)
			break;
		current = next;
		/* Not skeletons either: for them libdw opens the file that they name. */
		if (type != DW_UT_compile || dwarf_tag(&die) != DW_TAG_compile_unit)
			continue;
		units = array_reserve(lines->units, lines->unit_count, &lines->unit_capacity,
				      sizeof(*units));
		if (!units)
			return -ENOMEM;
		lines->units = units;
		units[lines->unit_count] = (struct unit){ .die = die };
		error = add_die_ranges(&lines->unit_ranges, &die, lines->unit_count++, &budget);
		if (error)
			return error;
	}
	sort_ranges(&lines->unit_ranges);
	return 0;
}

/* Moves die to its next sibling; false at the end, or when the walk is over. */
static bool next_sibling(struct walk *walk, Dwarf_Die *die)
{
	Dwarf_Off previous = dwarf_dieoffset(die);

	if (walk->entries == 0)
		return false;
	walk->entries--;
	return dwarf_siblingof(die, die) == 0 && dwarf_dieoffset(die) > previous;
}

/* Entries that functions with code may be in. */
static bool may_hold_functions(int tag)
{
	switch (tag) {
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_subprogram:
	case DW_TAG_lexical_block:
		return true;
	default:
		return false;
	}
}

static int index_children(struct unit *unit, Dwarf_Die *parent, struct walk *walk,
			  unsigned int nesting)
{
	Dwarf_Die die;

	if (nesting == NESTING_MAX || dwarf_child(parent, &die) != 0)
		return 0;
	do {
		int tag = dwarf_tag(&die), error = 0;

		if (tag == DW_TAG_subprogram)
			error = add_die_ranges(&unit->functions, &die, dwarf_dieoffset(&die),
					       &walk->entries);
		if (!error && may_hold_functions(tag))
			error = index_children(unit, &die, walk, nesting + 1);
		if (error)
			return error;
	} while (next_sibling(walk, &die));
	return 0;
}

static int index_functions(struct module_lines *lines, struct unit *unit)
{
	struct walk walk = { .entries = ENTRIES_MAX };
	int error;

	if (unit->is_indexed)
		return 0;
	error = index_children(unit, &unit->die, &walk, 0);
	lines->entries_walked += ENTRIES_MAX - walk.entries;
	if (error) {
		unit->functions.count = 0;
		return error;
	}
	sort_ranges(&unit->functions);
	unit->is_indexed = true;
	return 0;
}

/* The lines of a module, loaded now if need be. */
static int lines_of_module(struct line_info *info, const struct module *module,
			   struct module_lines **ret_lines)
{
	struct module_lines *lines;
	int error;

	if (module->index >= MODULES_MAX)
		return -ENODATA;
	if (module->index >= info->count) {
		size_t count = (module->index + 64) & ~(size_t)63;
		struct module_lines **modules;

		modules = reallocarray(info->modules, count, sizeof(modules[0]));
		if (!modules)
			return -ENOMEM;
		memset(modules + info->count, 0, (count - info->count) * sizeof(modules[0]));
		info->modules = modules;
		info->count = count;
	}
	lines = info->modules[module->index];
	if (!lines) {
		lines = calloc(1, sizeof(*lines));
		if (!lines)
			return -ENOMEM;
		error = dwarf_file_open(module, &info->search, &lines->file);
		info->dropped += error == -E2BIG;
		if (!error)
			error = load_units(lines);
		if (error && error != -ENODATA && error != -E2BIG) {
			module_lines_destroy(lines);
			return error;
		}
		info->modules[module->index] = lines;
	}
	if (!lines->file)
		return -ENODATA;
	*ret_lines = lines;
	return 0;
}

static int grow_pretty_names(struct line_info *info)
{
	size_t capacity = info->name_capacity ? 2 * info->name_capacity : 256;
	struct pretty_name *names = calloc(capacity, sizeof(*names));

	if (!names)
		return -ENOMEM;
	for (size_t i = 0; i < info->name_capacity; i++) {
		size_t slot = hash_word((uintptr_t)info->names[i].mangled);

		if (!info->names[i].mangled)
			continue;
		while (names[slot & (capacity - 1)].mangled)
			slot++;
		names[slot & (capacity - 1)] = info->names[i];
	}
	free(info->names);
	info->names = names;
	info->name_capacity = capacity;
	return 0;
}

/* mangled itself when it is not mangled, or there is no memory for more. */
static const char *pretty_name(struct line_info *info, const char *mangled)
{
	size_t slot = hash_word((uintptr_t)mangled);
	char buffer[DEMANGLE_NAME_MAX];
	struct pretty_name *name;

	if (strncmp(mangled, "_Z", 2) != 0 && strncmp(mangled, "_R", 2) != 0)
		return mangled;
	if (2 * (info->name_count + 1) > info->name_capacity &&
	    (info->name_count == PRETTY_NAMES_MAX || grow_pretty_names(info) != 0))
		return mangled;
	for (;; slot++) {
		name = &info->names[slot & (info->name_capacity - 1)];
		if (name->mangled == mangled)
			return name->pretty;
		if (!name->mangled)
			break;
	}
	name->pretty = strdup(demangle_name(mangled, buffer, sizeof(buffer)) ? buffer : mangled);
	if (!name->pretty)
		return mangled;
	name->mangled = mangled;
	info->name_count++;
	return name->pretty;
}

static const char *string_of(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attribute;

	/* Follows the abstract instance and the declaration, a few steps at most. */
	return dwarf_formstring(dwarf_attr_integrate(die, name, &attribute));
}

static const char *function_name(struct line_info *info, Dwarf_Die *die)
{
	/* It alone names the class and the namespace. */
	const char *name = string_of(die, DW_AT_linkage_name);

	if (!name)
		name = string_of(die, DW_AT_MIPS_linkage_name);
	return name ? pretty_name(info, name) : string_of(die, DW_AT_name);
}

/* Whether libdw may be asked for lines and files of a unit. */
static bool has_lines(struct line_info *info, struct module_lines *lines, struct unit *unit)
{
	if (!unit->is_counted) {
		int error = dwarf_lines_take(&lines->tables, &unit->die);

		info->dropped += error == -E2BIG;
		unit->has_lines = !error;
		unit->is_counted = true;
	}
	return unit->has_lines;
}

static int positive(Dwarf_Word number)
{
	return number <= INT32_MAX ? (int)number : 0;
}

/* Where the call was that is inlined as die; has_lines() was asked. */
static void call_place(struct unit *unit, Dwarf_Die *die, struct line_frame *frame)
{
	Dwarf_Attribute attribute;
	Dwarf_Files *files;
	size_t file_count;
	Dwarf_Word number;

	if (dwarf_formudata(dwarf_attr(die, DW_AT_call_line, &attribute), &number) == 0)
		frame->line = positive(number);
	if (unit->has_lines &&
	    dwarf_formudata(dwarf_attr(die, DW_AT_call_file, &attribute), &number) == 0 &&
	    dwarf_getsrcfiles(&unit->die, &files, &file_count) == 0 && number < file_count)
		frame->file = dwarf_filesrc(files, number, NULL, NULL);
}

static bool line_place(struct unit *unit, uint64_t address, struct line_frame *frame)
{
	Dwarf_Line *line = dwarf_getsrc_die(&unit->die, address);
	int number = 0;

	if (!line)
		return false;
	frame->file = dwarf_linesrc(line, NULL, NULL);
	if (dwarf_lineno(line, &number) == 0 && number > 0)
		frame->line = number;
	return frame->file || frame->line;
}

/* Replaces *die by what inside it holds address: a block or an inlined function. */
static bool step_inside(Dwarf_Die *die, uint64_t address, struct walk *walk)
{
	Dwarf_Die child;

	if (dwarf_child(die, &child) != 0)
		return false;
	do {
		switch (dwarf_tag(&child)) {
		case DW_TAG_inlined_subroutine:
		case DW_TAG_lexical_block:
		case DW_TAG_try_block:
		case DW_TAG_catch_block:
		case DW_TAG_with_stmt:
			if (dwarf_haspc(&child, address) == 1) {
				*die = child;
				return true;
			}
			break;
		default:
			break;
		}
	} while (next_sibling(walk, &child));
	return false;
}

/*
 * The chain of functions around address, outermost first: *ret_count entries
 * of chain.
 */
static void function_chain(struct module_lines *lines, const struct range *function,
			   uint64_t address, Dwarf_Die chain[LINE_INFO_DEPTH_MAX],
			   size_t *ret_count)
{
	struct walk walk = { .entries = ENTRIES_MAX };
	Dwarf_Die die;
	size_t count = 1;

	*ret_count = 0;
	if (!dwarf_offdie(dwarf_file_dwarf(lines->file), function->item, &die))
		return;
	chain[0] = die;
	for (unsigned int i = 0;
	     i < NESTING_MAX && count < LINE_INFO_DEPTH_MAX && step_inside(&die, address, &walk);
	     i++)
		if (dwarf_tag(&die) == DW_TAG_inlined_subroutine)
			chain[count++] = die;
	lines->entries_walked += ENTRIES_MAX - walk.entries;
	*ret_count = count;
}

int line_info_find(struct line_info *info, const struct module *module, remote_addr address,
		   struct line_frame *frames, size_t capacity, size_t *ret_count)
{
	Dwarf_Die chain[LINE_INFO_DEPTH_MAX];
	struct line_frame inner = { 0 };
	const struct range *range;
	struct module_lines *lines;
	struct unit *unit;
	size_t count = 0;
	int error;

	address -= module->bias;
	error = lines_of_module(info, module, &lines);
	if (error)
		return error;
	range = find_range(&lines->unit_ranges, address);
	if (!range || capacity == 0)
		return -ENOENT;
	if (lines->entries_walked >= FILE_ENTRIES_MAX)
		return -ENOENT;
	unit = &lines->units[range->item];
	error = index_functions(lines, unit);
	if (error)
		return error;
	range = find_range(&unit->functions, address);
	if (range)
		function_chain(lines, range, address, chain, &count);
	info->dropped += lines->entries_walked >= FILE_ENTRIES_MAX;
	if (!(has_lines(info, lines, unit) && line_place(unit, address, &inner)) && count == 0)
		return -ENOENT;
	if (count == 0) {
		/* Assembly: a line, but no function. */
		frames[0] = inner;
		*ret_count = 1;
		return 0;
	}
	*ret_count = count < capacity ? count : capacity;
	for (size_t i = 0; i < *ret_count; i++) {
		Dwarf_Die *die = &chain[count - 1 - i];

		inner.function = function_name(info, die);
		inner.is_inlined = i + 1 < count;
		frames[i] = inner;
		inner = (struct line_frame){ 0 };
		if (frames[i].is_inlined)
			call_place(unit, die, &inner);
	}
	return 0;
}
