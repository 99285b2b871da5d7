/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first question about a type walks the top level of every unit once and
 * notes, by name, the first complete structure and the first typedef; after
 * that a question costs microseconds. Only the top level counts: that is where
 * C keeps its types. Where units disagree about a structure of one name
 * (private to a source file), the first unit wins.
 *
 * libdw checks offsets and strings against the sections. It does not guard
 * against circles, so chains of types are followed, and siblings walked, with
 * limits of our own.
 */
#include "symbolize/struct_layout.h"

#include "common/hash.h"
#include "symbolize/debug_file.h"
#include "symbolize/dwarf_file.h"
#include "symbolize/elf_image.h"

#include <dwarf.h>
#include <elf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TYPE_NAMES_MAX  (1u << 16)
#define ENTRIES_MAX     (1u << 26) /* of a file's top levels together */
#define TYPE_CHAIN_MAX  32         /* typedefs and qualifiers in a row */
#define NESTING_MAX     8          /* anonymous members in one another */
#define MEMBERS_MAX     65536      /* looked at for one question */
#define MEMBER_NAME_MAX 256
#define DWZ_FOLDER      "/usr/lib/debug/"

struct type_name {
	const char *name;    /* in the debug file; NULL: free */
	Dwarf_Die structure; /* addr NULL: none */
	Dwarf_Die alias;     /* typedef; addr NULL: none */
};

struct struct_layout {
	struct symbolizer *symbolizer;
	const struct module *module;
	bool dwarf_tried;
	bool source_known;           /* source has been found out */
	struct layout_source source; /* by which answers of earlier layouts are found */
	struct elf_image
		*debug_image; /* owned; NULL: DWARF is in the module's own file, or nowhere */
	Elf *elf;
	Dwarf *dwarf;
	struct dwarf_units units;
	struct dwarf_shared shared; /* the file dwz moved common entries to */
	struct type_name *names;    /* open addressing, at most half full */
	size_t capacity;            /* a power of two */
	size_t count;
	size_t entries_walked; /* against ENTRIES_MAX */
	size_t members_walked; /* in this question, against MEMBERS_MAX */
};

struct struct_layout *struct_layout_create(struct symbolizer *symbolizer,
					   const struct module *module)
{
	struct struct_layout *layout = calloc(1, sizeof(*layout));

	if (layout) {
		layout->symbolizer = symbolizer;
		layout->module = module;
	}
	return layout;
}

void struct_layout_destroy(struct struct_layout *layout)
{
	if (!layout)
		return;
	free(layout->names);
	dwarf_end(layout->dwarf);
	dwarf_units_give_back(&layout->units);
	elf_end(layout->elf);
	dwarf_shared_close(&layout->shared);
	elf_image_close(layout->debug_image);
	free(layout);
}

/* The place of a name, taken or free. */
static struct type_name *find_type_slot(const struct struct_layout *layout, const char *name)
{
	size_t slot = hash_bytes(name, strlen(name)) & (layout->capacity - 1);

	while (layout->names[slot].name && strcmp(layout->names[slot].name, name) != 0)
		slot = (slot + 1) & (layout->capacity - 1);
	return &layout->names[slot];
}

static int grow_type_names(struct struct_layout *layout)
{
	struct type_name *old = layout->names;
	size_t old_capacity = layout->capacity;
	size_t capacity = old_capacity ? 2 * old_capacity : 1024;
	struct type_name *names = calloc(capacity, sizeof(*names));

	if (!names)
		return -ENOMEM;
	layout->names = names;
	layout->capacity = capacity;
	for (size_t i = 0; old && i < old_capacity; i++)
		if (old[i].name)
			*find_type_slot(layout, old[i].name) = old[i];
	free(old);
	return 0;
}

/* The name of this very entry, not one it inherits. */
static const char *die_name(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;

	return dwarf_attr(die, DW_AT_name, &attribute) ? dwarf_formstring(&attribute) : NULL;
}

static bool is_structure(Dwarf_Die *die)
{
	int tag = dwarf_tag(die);

	return tag == DW_TAG_structure_type || tag == DW_TAG_union_type || tag == DW_TAG_class_type;
}

static bool is_declaration(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	bool flag;

	return dwarf_attr(die, DW_AT_declaration, &attribute) &&
	       dwarf_formflag(&attribute, &flag) == 0 && flag;
}

static int note_type(struct struct_layout *layout, Dwarf_Die *die)
{
	bool is_alias = dwarf_tag(die) == DW_TAG_typedef;
	struct type_name *slot;
	const char *name;

	if (!is_alias && (!is_structure(die) || is_declaration(die)))
		return 0;
	name = die_name(die);
	if (!name || layout->count == TYPE_NAMES_MAX)
		return 0;
	if (2 * (layout->count + 1) > layout->capacity && grow_type_names(layout) != 0)
		return -ENOMEM;
	slot = find_type_slot(layout, name);
	if (!slot->name) {
		slot->name = name;
		layout->count++;
	}
	if (is_alias && !slot->alias.addr)
		slot->alias = *die;
	else if (!is_alias && !slot->structure.addr)
		slot->structure = *die;
	return 0;
}

static int note_unit(struct struct_layout *layout, Dwarf_Die *unit)
{
	Dwarf_Die die;

	if (dwarf_child(unit, &die) != 0)
		return 0;
	for (;;) {
		Dwarf_Off previous = dwarf_dieoffset(&die);
		int error = note_type(layout, &die);

		if (error)
			return error;
		/* A hostile DW_AT_sibling may lead back. */
		if (++layout->entries_walked == ENTRIES_MAX)
			symbolizer_drop(layout->symbolizer);
		if (layout->entries_walked >= ENTRIES_MAX || dwarf_siblingof(&die, &die) != 0 ||
		    dwarf_dieoffset(&die) <= previous)
			return 0;
	}
}

static int note_dwarf(struct struct_layout *layout, Dwarf *dwarf)
{
	Dwarf_CU *unit = NULL, *next;
	Dwarf_Die die;

	while (dwarf_get_units(dwarf, unit, &next, NULL, NULL, &die, NULL) == 0) {
		int error = note_unit(layout, &die);

		if (error)
			return error;
		unit = next;
	}
	return 0;
}

/*
 * Opens the file that dwz moved common entries to. libdw would do so itself at
 * the first reference into it, and follow any path a hostile file names. 0 also when there is no
 * such file to open.
 */
static int open_shared_layout(struct struct_layout *layout)
{
	const void *expected;
	const char *path;
	const struct debug_search *search;
	int fd, error;
	ssize_t size = dwelf_dwarf_gnu_debugaltlink(layout->dwarf, &path, &expected);

	if (size == 0)
		return 0;
	if (size < 0 || strncmp(path, DWZ_FOLDER, strlen(DWZ_FOLDER)) != 0 || strstr(path, "/../"))
		return -ENODATA;
	search = symbolizer_search(layout->symbolizer);
	fd = file_opener_open(search ? &search->opener : NULL, ROOT_OWN, path, ROOT_LINK_FOLLOW);
	if (fd < 0)
		return -ENODATA;
	error = dwarf_shared_open(fd, expected, (size_t)size, &layout->shared);
	close(fd);
	if (error)
		return error == -E2BIG ? error : -ENODATA;
	dwarf_setalt(layout->dwarf, layout->shared.dwarf);
	return 0;
}

/* Opens the DWARF of an image, without any names yet. */
static int open_dwarf(struct struct_layout *layout, struct elf_image *image)
{
	struct elf_section section;
	char *bytes;
	int error;

	if (elf_image_section_find(image, ".debug_info", &section) != 0 ||
	    section.type == SHT_NOBITS || section.size == 0)
		return -ENODATA;
	if (elf_version(EV_CURRENT) == EV_NONE)
		return -ENODATA;
	error = elf_image_writable_bytes(image, &bytes);
	if (error)
		return error;
	layout->elf = elf_memory(bytes, image->size);
	if (!layout->elf)
		return -ENODATA;
	layout->dwarf = dwarf_begin_elf(layout->elf, DWARF_C_READ, NULL);
	if (layout->dwarf) {
		error = dwarf_units_take(layout->dwarf, &layout->units);
		return error ? error : open_shared_layout(layout);
	}
	elf_end(layout->elf);
	layout->elf = NULL;
	return -ENODATA;
}

static bool has_dwarf(const struct elf_image *image)
{
	struct elf_section section;

	return elf_image_section_find(image, ".debug_info", &section) == 0 &&
	       section.type != SHT_NOBITS && section.size > 0;
}

/* Which file will be asked; the debug file is found now, and is the one that is asked. */
static void find_source(struct struct_layout *layout)
{
	const struct elf_image *image = layout->module->image;

	if (layout->source_known || !image || !symbolizer_layouts(layout->symbolizer))
		return;
	layout->source_known = true;
	layout->source.module = image->identity;
	layout->source.has_debug = !has_dwarf(image);
	if (layout->source.has_debug &&
	    symbolizer_debug_file(layout->symbolizer, layout->module, &layout->debug_image) == 0)
		layout->source.debug = layout->debug_image->identity;
}

/*
 * Whether what is answered is what these files say: not the one that dwz made of several, nor what
 * was read of pages that are gone, nor what a damaged file leaves to another.
 */
static bool may_keep(const struct struct_layout *layout)
{
	const struct elf_image *image = layout->module->image;

	return layout->source_known && layout->names && !layout->shared.dwarf &&
	       layout->source.has_debug == (layout->debug_image != NULL) &&
	       !elf_image_has_lost(layout->debug_image ? layout->debug_image : image);
}

/* Opens and indexes the DWARF at the first call; afterwards says whether there is any. */
static int load_dwarf(struct struct_layout *layout)
{
	int error;

	if (layout->names)
		return 0;
	if (layout->dwarf_tried)
		return -ENODATA;
	layout->dwarf_tried = true;
	if (!layout->module->image)
		return -ENODATA;
	error = open_dwarf(layout, layout->module->image);
	if (!layout->dwarf &&
	    (layout->debug_image ||
	     symbolizer_debug_file(layout->symbolizer, layout->module, &layout->debug_image) == 0))
		error = open_dwarf(layout, layout->debug_image);
	if (error == -E2BIG)
		symbolizer_drop(layout->symbolizer);
	if (error)
		return error == -E2BIG ? -ENODATA : error;
	error = grow_type_names(layout);
	if (!error)
		error = note_dwarf(layout, layout->dwarf);
	if (!error && layout->shared.dwarf)
		error = note_dwarf(layout, layout->shared.dwarf);
	if (error) {
		free(layout->names);
		layout->names = NULL;
	}
	return error;
}

/* Follows typedefs and qualifiers from die to the type behind them, itself included. */
static int strip_type(Dwarf_Die *die)
{
	for (int i = 0; i < TYPE_CHAIN_MAX; i++) {
		Dwarf_Attribute attribute;

		switch (dwarf_tag(die)) {
		case DW_TAG_typedef:
		case DW_TAG_const_type:
		case DW_TAG_volatile_type:
		case DW_TAG_restrict_type:
		case DW_TAG_atomic_type:
			if (!dwarf_attr(die, DW_AT_type, &attribute) ||
			    !dwarf_formref_die(&attribute, die))
				return -ENOENT;
			break;
		default:
			return 0;
		}
	}
	return -ENOENT;
}

/*
 * Makes die, a type of any kind, the complete structure behind it. A
 * structure only declared in this unit is looked up by its tag.
 */
static int complete_structure(const struct struct_layout *layout, Dwarf_Die *die)
{
	const struct type_name *slot;
	const char *name;

	if (strip_type(die) != 0 || !is_structure(die))
		return -ENOENT;
	if (!is_declaration(die))
		return 0;
	name = die_name(die);
	if (!name)
		return -ENOENT;
	slot = find_type_slot(layout, name);
	if (!slot->name || !slot->structure.addr)
		return -ENOENT;
	*die = slot->structure;
	return 0;
}

static int find_structure(struct struct_layout *layout, const char *type, Dwarf_Die *ret_die)
{
	const struct type_name *slot;
	Dwarf_Die die;
	int error = load_dwarf(layout);

	if (error)
		return error;
	slot = find_type_slot(layout, type);
	if (!slot->name)
		return -ENOENT;
	if (slot->structure.addr) {
		*ret_die = slot->structure;
		return 0;
	}
	die = slot->alias;
	error = complete_structure(layout, &die);
	if (!error)
		*ret_die = die;
	return error;
}

static int member_position(Dwarf_Die *member, uint64_t *ret_offset)
{
	Dwarf_Attribute attribute;
	Dwarf_Word offset;

	if (dwarf_attr(member, DW_AT_data_member_location, &attribute)) {
		Dwarf_Op *operations;
		size_t count;

		if (dwarf_whatform(&attribute) != DW_FORM_exprloc &&
		    dwarf_formudata(&attribute, &offset) == 0) {
			*ret_offset = offset;
			return 0;
		}
		/* Old producers write the expression "add a constant". */
		if (dwarf_getlocation(&attribute, &operations, &count) != 0 || count != 1 ||
		    operations[0].atom != DW_OP_plus_uconst)
			return -ENOENT;
		*ret_offset = operations[0].number;
		return 0;
	}
	if (dwarf_attr(member, DW_AT_data_bit_offset, &attribute)) {
		if (dwarf_formudata(&attribute, &offset) != 0)
			return -ENOENT;
		*ret_offset = offset / 8;
		return 0;
	}
	/* A member of a union. */
	*ret_offset = 0;
	return 0;
}

/* Finds a member by its simple name, through anonymous ones; *ret_type is its type. */
static int find_member(struct struct_layout *layout, Dwarf_Die *structure, const char *name,
		       int nesting, uint64_t *ret_offset, Dwarf_Die *ret_type)
{
	Dwarf_Die member;

	if (nesting == NESTING_MAX || dwarf_child(structure, &member) != 0)
		return -ENOENT;
	while (layout->members_walked++ < MEMBERS_MAX) {
		Dwarf_Off previous = dwarf_dieoffset(&member);
		Dwarf_Attribute attribute;
		Dwarf_Die type;

		if (dwarf_tag(&member) == DW_TAG_member &&
		    dwarf_attr(&member, DW_AT_type, &attribute) &&
		    dwarf_formref_die(&attribute, &type)) {
			const char *member_name = die_name(&member);
			uint64_t offset, inner;

			if (member_name) {
				if (strcmp(member_name, name) == 0) {
					*ret_type = type;
					return member_position(&member, ret_offset);
				}
			} else if (member_position(&member, &offset) == 0 &&
				   complete_structure(layout, &type) == 0 &&
				   find_member(layout, &type, name, nesting + 1, &inner,
					       ret_type) == 0) {
				*ret_offset = offset + inner;
				return 0;
			}
		}
		if (dwarf_siblingof(&member, &member) != 0 || dwarf_dieoffset(&member) <= previous)
			break;
	}
	return -ENOENT;
}

static int find_offset(struct struct_layout *layout, const char *type, const char *member,
		       uint32_t *ret_offset)
{
	uint64_t total = 0;
	Dwarf_Die die;
	int error = find_structure(layout, type, &die);

	layout->members_walked = 0;
	while (!error) {
		size_t length = strcspn(member, ".");
		char name[MEMBER_NAME_MAX];
		uint64_t offset;

		if (length == 0 || length >= sizeof(name))
			return -ENOENT;
		memcpy(name, member, length);
		name[length] = '\0';
		error = find_member(layout, &die, name, 0, &offset, &die);
		if (error)
			return error;
		if (offset > UINT32_MAX || (total += offset) > UINT32_MAX)
			return -ENOENT;
		if (member[length] == '\0') {
			*ret_offset = (uint32_t)total;
			return 0;
		}
		member += length + 1;
		error = complete_structure(layout, &die);
	}
	return error;
}

static int find_size(struct struct_layout *layout, const char *type, uint32_t *ret_size)
{
	Dwarf_Die die;
	int size, error = find_structure(layout, type, &die);

	if (error)
		return error;
	size = dwarf_bytesize(&die);
	if (size < 0)
		return -ENOENT;
	*ret_size = (uint32_t)size;
	return 0;
}

/* As it was answered of the same files before, or of these now. */
static int answer(struct struct_layout *layout, const struct layout_question *question,
		  uint32_t *ret_value)
{
	struct layout_cache *cache = symbolizer_layouts(layout->symbolizer);
	struct layout_answer answer = { .error = 0 };

	find_source(layout);
	if (!layout_cache_find(cache, &layout->source, question, &answer)) {
		answer.error = question->member ? find_offset(layout, question->type,
							      question->member, &answer.value)
						: find_size(layout, question->type, &answer.value);
		/* What had no memory or no room may succeed another time. */
		if ((!answer.error || answer.error == -ENOENT) && may_keep(layout))
			layout_cache_keep(cache, &layout->source, question, &answer);
	}
	if (!answer.error)
		*ret_value = answer.value;
	return answer.error;
}

static int layout_member_offset(void *context, const char *type, const char *member,
				uint32_t *ret_offset)
{
	return answer(context, &(struct layout_question){ type, member }, ret_offset);
}

static int layout_type_size(void *context, const char *type, uint32_t *ret_size)
{
	return answer(context, &(struct layout_question){ type, NULL }, ret_size);
}

static int layout_symbol(void *context, const char *name, remote_addr *ret_address,
			 uint64_t *ret_size)
{
	struct struct_layout *layout = context;

	return symbolizer_find(layout->symbolizer, layout->module, name, ret_address, ret_size);
}

static int layout_section(void *context, const char *name, remote_addr *ret_address,
			  uint64_t *ret_size)
{
	const struct struct_layout *layout = context;
	struct elf_section section;

	if (!layout->module->image ||
	    elf_image_section_find(layout->module->image, name, &section) != 0 ||
	    !(section.flags & SHF_ALLOC))
		return -ENOENT;
	*ret_address = section.virtual_address + layout->module->bias;
	*ret_size = section.size;
	return 0;
}

struct debug_info struct_layout_debug_info(struct struct_layout *layout)
{
	return (struct debug_info){
		.symbol = layout_symbol,
		.section = layout_section,
		.member_offset = layout_member_offset,
		.type_size = layout_type_size,
		.context = layout,
	};
}
