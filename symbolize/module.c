/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An update walks the mapping list twice. The first pass looks at executable
 * mappings only and finds or creates their modules: a module is a file
 * (device and inode) loaded at a bias. The second gives every mapping of such
 * a file to the module whose bias fits, and joins neighbours into spans:
 *
 *   mappings  | libfoo r-- | libfoo r-x | hole | libfoo rw- | libbar r-- | ...
 *   spans     |                 libfoo                      |   libbar ...
 *
 * Between the two, all modules that are not new are compared with memory, in one
 * system call; those that differ are dead for good, and the first pass runs
 * again to put others in their place.
 *
 * Spans follow the list's order and so are sorted and disjoint, even when one
 * file is mapped into another's hole. module_find bisects them.
 */
#include "symbolize/module.h"

#include "common/array.h"
#include "symbolize/elf_image.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE_BYTES      4096ull
#define VDSO_MAX_BYTES  (1u << 20)
#define ELF_HEADER_SIZE sizeof(Elf64_Ehdr)
#define CHECKS_MAX      512 /* modules compared with memory in one call */

struct module_span {
	remote_addr start;
	remote_addr end;
	struct module *module;
};

struct module_entry {
	struct module module; /* first, so that a module is also its entry */
	uint64_t device;
	uint64_t inode;
	bool is_live;    /* in the newest mapping list */
	bool was_live;   /* in the one before */
	bool is_stale;   /* memory showed that its file is another one now: never used again */
	bool is_checked; /* compared with memory in this update */
	bool owns_image; /* others borrow it from an entry before them */
	char *path;
};

struct module_table {
	const struct mapping_opener *opener;
	const struct memory_reader *reader;
	struct module_entry **entries;
	size_t count;
	size_t capacity;
	size_t image_count; /* opened here, and open until the table is destroyed */
	struct module_span *spans;
	size_t span_count;
	uint64_t dropped;
};

struct module_table *module_table_create(const struct mapping_opener *opener,
					 const struct memory_reader *reader)
{
	struct module_table *table = calloc(1, sizeof(*table));

	if (table) {
		table->opener = opener;
		table->reader = reader;
	}
	return table;
}

static void module_entry_destroy(struct module_entry *entry)
{
	if (!entry)
		return;
	if (entry->owns_image)
		elf_image_close(entry->module.image);
	free(entry->path);
	free(entry);
}

void module_table_destroy(struct module_table *table)
{
	if (!table)
		return;
	for (size_t i = 0; i < table->count; i++)
		module_entry_destroy(table->entries[i]);
	free(table->entries);
	free(table->spans);
	free(table);
}

static bool is_vdso(const struct mapping *mapping)
{
	return strcmp(mapping->path, "[vdso]") == 0;
}

/* Whether a mapping can belong to a module: a file or the vdso, not [vsyscall], not anonymous. */
static bool has_file(const struct mapping *mapping)
{
	return mapping->path[0] == '/' || is_vdso(mapping);
}

static bool is_same_file(const struct module_entry *entry, const struct mapping *mapping)
{
	if (entry->is_stale || entry->device != mapping->device || entry->inode != mapping->inode)
		return false;
	/* A file renamed while it is mapped shows its new path: the inode decides. */
	return mapping->inode != 0 || strcmp(entry->path, mapping->path) == 0;
}

/*
 * The bias at which one segment of image lies in mapping, or false when the
 * mapping does not start inside that segment's pages.
 */
static bool segment_bias(const struct elf_segment *segment, const struct mapping *mapping,
			 uint64_t *ret_bias)
{
	uint64_t first_page = segment->file_offset & ~(PAGE_BYTES - 1);
	uint64_t bias;

	if (segment->file_size == 0 || mapping->file_offset < first_page ||
	    mapping->file_offset >= segment->file_offset + segment->file_size)
		return false;
	bias = mapping->start - mapping->file_offset + segment->file_offset -
	       segment->virtual_address;
	if (bias % PAGE_BYTES)
		return false;
	*ret_bias = bias;
	return true;
}

/* Whether the mapping is where the file's segments place it when loaded at bias. */
static bool mapping_fits(const struct elf_image *image, const struct mapping *mapping,
			 uint64_t expected_bias)
{
	uint64_t bias;

	if (!image)
		return mapping->start - mapping->file_offset == expected_bias;
	for (size_t i = 0; i < image->segment_count; i++)
		if (segment_bias(&image->segments[i], mapping, &bias) && bias == expected_bias)
			return true;
	return false;
}

/* The bias an executable mapping tells of; false when no segment explains it. */
static bool executable_bias(const struct elf_image *image, const struct mapping *mapping,
			    uint64_t *ret_bias)
{
	for (size_t i = 0; i < image->segment_count; i++)
		if (image->segments[i].flags & PF_X &&
		    segment_bias(&image->segments[i], mapping, ret_bias))
			return true;
	for (size_t i = 0; i < image->segment_count; i++)
		if (segment_bias(&image->segments[i], mapping, ret_bias))
			return true;
	return false;
}

/* What memory must hold when an image is loaded, and where. */
struct image_mark {
	const uint8_t *bytes; /* NULL: the image has nothing to tell it by */
	size_t size;
	uint64_t address; /* ELF virtual address */
};

static struct image_mark mark_of(const struct elf_image *image)
{
	if (image->build_id_address)
		return (struct image_mark){ .bytes = image->build_id,
					    .size = image->build_id_size,
					    .address = image->build_id_address };
	for (size_t i = 0; i < image->segment_count; i++) {
		const struct elf_segment *segment = &image->segments[i];

		if (segment->file_offset == 0 && segment->file_size >= ELF_HEADER_SIZE)
			return (struct image_mark){ .bytes = image->bytes,
						    .size = ELF_HEADER_SIZE,
						    .address = segment->virtual_address };
	}
	return (struct image_mark){ 0 };
}

/*
 * Whether the target's memory may hold this image loaded at bias. What cannot
 * be read (a reader without rights, a page that is not mapped) is believed.
 */
static bool image_matches_memory(const struct module_table *table, const struct elf_image *image,
				 uint64_t bias)
{
	struct image_mark mark = mark_of(image);
	uint8_t memory[ELF_HEADER_SIZE];

	if (!table->reader || !mark.bytes ||
	    memory_read(table->reader, bias + mark.address, memory, mark.size) != 0)
		return true;
	return memcmp(memory, mark.bytes, mark.size) == 0;
}

/* Copies the vdso out of the target. NULL when that fails. */
static struct elf_image *open_vdso(const struct module_table *table, const struct mapping *mapping)
{
	uint64_t size = mapping->end - mapping->start;
	struct elf_image *image;
	void *bytes;

	if (!table->reader || size > VDSO_MAX_BYTES)
		return NULL;
	bytes = malloc(size);
	if (!bytes)
		return NULL;
	if (memory_read(table->reader, mapping->start, bytes, size) != 0 ||
	    elf_image_open_memory(bytes, size, &image) != 0) {
		free(bytes);
		return NULL;
	}
	return image;
}

/* Takes an image over when it is what is mapped; else closes it and says why. */
static int check_image(const struct module_table *table, const struct mapping *mapping,
		       struct elf_image *image, struct elf_image **ret_image)
{
	uint64_t bias;

	if (!executable_bias(image, mapping, &bias) || !image_matches_memory(table, image, bias)) {
		elf_image_close(image);
		return -ESTALE;
	}
	*ret_image = image;
	return 0;
}

static int open_mapped_image(const struct module_table *table, const struct mapping *mapping,
			     struct elf_image **ret_image)
{
	struct elf_image *image;
	int fd, error;

	/* Opening a device can have effects of its own, and none holds an ELF file. */
	if (strncmp(mapping->path, "/dev/", 5) == 0 && strncmp(mapping->path, "/dev/shm/", 9) != 0)
		return -ENOEXEC;
	fd = table->opener->open(table->opener->context, mapping);
	if (fd < 0)
		return fd;
	error = elf_image_open(fd, &image);
	close(fd);
	return error ? error : check_image(table, mapping, image, ret_image);
}

/* The image of an earlier module of the same file, or NULL. */
static struct elf_image *known_image(const struct module_table *table,
				     const struct mapping *mapping)
{
	for (size_t i = table->count; i-- > 0;) {
		const struct module_entry *entry = table->entries[i];
		uint64_t bias;

		/* Inode numbers are used again: the path too must be the same. */
		if (!entry->module.image || !is_same_file(entry, mapping) ||
		    strcmp(entry->path, mapping->path) != 0)
			continue;
		if (executable_bias(entry->module.image, mapping, &bias) &&
		    image_matches_memory(table, entry->module.image, bias))
			return entry->module.image;
		break;
	}
	return NULL;
}

/* The image of a new module: one that is known, or the file opened anew. */
static int find_image(struct module_table *table, const struct mapping *mapping,
		      struct elf_image **ret_image, bool *ret_owns)
{
	struct elf_image *image = NULL;
	int error;

	if (is_vdso(mapping)) {
		image = open_vdso(table, mapping);
		error = image ? check_image(table, mapping, image, ret_image) : -EFAULT;
	} else {
		image = known_image(table, mapping);
		if (image) {
			*ret_image = image;
			return 0;
		}
		error = table->image_count < MODULE_IMAGES_MAX
				? open_mapped_image(table, mapping, ret_image)
				: -EMFILE;
	}
	table->dropped += error == -EMFILE;
	table->image_count += !error;
	*ret_owns = !error;
	return error;
}

static int add_module(struct module_table *table, const struct mapping *mapping)
{
	struct module_entry *entry;
	struct module *module;
	const char *slash;

	if (table->count == MODULES_MAX) {
		table->dropped++;
		return 0;
	}
	if (!ARRAY_ROOM(table->entries, table->count, table->capacity))
		return -ENOMEM;
	entry = calloc(1, sizeof(*entry));
	if (!entry)
		return -ENOMEM;
	entry->path = strdup(mapping->path);
	if (!entry->path) {
		free(entry);
		return -ENOMEM;
	}
	entry->device = mapping->device;
	entry->inode = mapping->inode;
	entry->is_live = true;
	entry->is_checked = true;
	module = &entry->module;
	module->index = (uint32_t)table->count;
	module->path = entry->path;
	slash = strrchr(entry->path, '/');
	module->name = slash ? slash + 1 : entry->path;
	module->range.start = mapping->start;
	module->range.end = mapping->end;
	module->image_error = find_image(table, mapping, &module->image, &entry->owns_image);
	module->bias = mapping->start - mapping->file_offset;
	if (module->image) {
		/* find_image has seen that this succeeds. */
		(void)executable_bias(module->image, mapping, &module->bias);
		memcpy(module->build_id, module->image->build_id, sizeof(module->build_id));
		module->build_id_size = module->image->build_id_size;
	}
	table->entries[table->count++] = entry;
	return 0;
}

static bool entry_fits(const struct module_entry *entry, const struct mapping *mapping)
{
	return is_same_file(entry, mapping) &&
	       mapping_fits(entry->module.image, mapping, entry->module.bias);
}

/* First pass for one executable mapping: marks its module live, creating it if it is new. */
static int take_executable(struct module_table *table, const struct mapping *mapping)
{
	const struct module *known = module_find(table, mapping->start);

	/* By far the most were there before: the old spans know them. */
	if (known) {
		struct module_entry *entry = table->entries[known->index];

		if (entry_fits(entry, mapping)) {
			entry->is_live = true;
			return 0;
		}
	}
	for (size_t i = table->count; i-- > 0;) {
		struct module_entry *entry = table->entries[i];

		if (!entry_fits(entry, mapping))
			continue;
		/* It was gone, and another file may have got its inode since. */
		if (!entry->is_live && !entry->was_live && entry->module.image &&
		    !image_matches_memory(table, entry->module.image, entry->module.bias))
			continue;
		entry->is_live = true;
		return 0;
	}
	return add_module(table, mapping);
}

/* The live module a mapping belongs to, or NULL; guess is tried first. */
static struct module_entry *owner_of(const struct module_table *table,
				     const struct mapping *mapping, struct module_entry *guess)
{
	if (guess && entry_fits(guess, mapping))
		return guess;
	for (size_t i = table->count; i-- > 0;) {
		struct module_entry *entry = table->entries[i];

		if (entry->is_live && entry_fits(entry, mapping))
			return entry;
	}
	return NULL;
}

/* Second pass: spans of all live modules. spans has room for one per mapping. */
static size_t fill_spans(const struct module_table *table, const struct mapping_list *mappings,
			 struct module_span *spans)
{
	struct module_entry *entry = NULL;
	size_t count = 0;

	for (size_t i = 0; i < mappings->count; i++) {
		const struct mapping *mapping = &mappings->mappings[i];
		struct module_entry *owner;

		if (!has_file(mapping))
			continue;
		owner = owner_of(table, mapping, entry);
		if (!owner) {
			/* Ends the span before it, which must not cover this mapping. */
			entry = NULL;
			continue;
		}
		if (owner == entry) {
			spans[count - 1].end = mapping->end;
		} else {
			spans[count++] = (struct module_span){ .start = mapping->start,
							       .end = mapping->end,
							       .module = &owner->module };
		}
		entry = owner;
	}
	return count;
}

static void set_ranges(const struct module_span *spans, size_t count)
{
	for (size_t i = 0; i < count; i++)
		spans[i].module->range = (struct address_range){ 0 };
	for (size_t i = 0; i < count; i++) {
		struct address_range *range = &spans[i].module->range;

		if (range->end == 0)
			range->start = spans[i].start;
		range->end = spans[i].end;
	}
}

/* First pass. */
static int take_executables(struct module_table *table, const struct mapping_list *mappings)
{
	int error = 0;

	for (size_t i = 0; i < mappings->count; i++) {
		const struct mapping *mapping = &mappings->mappings[i];

		/* Out of memory for one leaves the others usable. */
		if (mapping->protection & PROT_EXEC && has_file(mapping) &&
		    take_executable(table, mapping) != 0)
			error = -ENOMEM;
	}
	return error;
}

/* Compares a few live modules with memory, and marks those stale that differ. */
static size_t check_module_batch(struct module_table *table, struct module_entry *const *entries,
				 size_t count)
{
	static const size_t mark_room = ELF_HEADER_SIZE;
	uint8_t(*memory)[ELF_HEADER_SIZE] = calloc(count, mark_room);
	struct memory_range *ranges = calloc(count, sizeof(*ranges));
	size_t stale = 0;

	for (size_t i = 0; memory && ranges && i < count; i++) {
		struct image_mark mark = mark_of(entries[i]->module.image);

		ranges[i] = (struct memory_range){
			.address = entries[i]->module.bias + mark.address,
			.buffer = memory[i],
			.size = mark.size,
		};
	}
	/* What cannot be read is believed. */
	if (memory && ranges && memory_read_ranges(table->reader, ranges, count) == 0) {
		for (size_t i = 0; i < count; i++) {
			struct image_mark mark = mark_of(entries[i]->module.image);

			if (ranges[i].error || memcmp(memory[i], mark.bytes, mark.size) == 0)
				continue;
			entries[i]->is_stale = true;
			entries[i]->is_live = false;
			stale++;
		}
	}
	free(memory);
	free(ranges);
	return stale;
}

/* How many of the live modules are no longer what they were. */
static size_t check_modules(struct module_table *table)
{
	struct module_entry *batch[CHECKS_MAX];
	size_t count = 0, stale = 0;

	if (!table->reader)
		return 0;
	for (size_t i = 0; i < table->count; i++) {
		struct module_entry *entry = table->entries[i];

		if (!entry->is_live || entry->is_checked || !entry->module.image ||
		    !mark_of(entry->module.image).bytes)
			continue;
		entry->is_checked = true;
		batch[count++] = entry;
		if (count == CHECKS_MAX) {
			stale += check_module_batch(table, batch, count);
			count = 0;
		}
	}
	return stale + (count ? check_module_batch(table, batch, count) : 0);
}

int module_table_update(struct module_table *table, const struct mapping_list *mappings)
{
	struct module_span *spans = calloc(mappings->count + 1, sizeof(*spans));
	size_t count;
	int error;

	if (!spans)
		return -ENOMEM;
	for (size_t i = 0; i < table->count; i++) {
		table->entries[i]->was_live = table->entries[i]->is_live;
		table->entries[i]->is_live = false;
		table->entries[i]->is_checked = false;
	}
	error = take_executables(table, mappings);
	if (check_modules(table) > 0 && take_executables(table, mappings) != 0)
		error = -ENOMEM;
	count = fill_spans(table, mappings, spans);
	free(table->spans);
	table->spans = spans;
	table->span_count = count;
	set_ranges(spans, count);
	return error;
}

const char *module_image_problem(const struct module *module)
{
	if (module->image)
		return NULL;
	switch (module->image_error) {
	case -ESTALE:
		return "the file has been replaced since it was loaded";
	case -ENOEXEC:
		return "no ELF file of this machine";
	case -EACCES:
	case -EPERM:
		return "no permission to read the file";
	case -ENOENT:
		return "the file is gone";
	case -EMFILE:
		return "too many files are open";
	default:
		return "the file cannot be read";
	}
}

const struct module *module_find(const struct module_table *table, remote_addr address)
{
	size_t low = 0, high = table->span_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct module_span *span = &table->spans[middle];

		if (address < span->start)
			high = middle;
		else if (address >= span->end)
			low = middle + 1;
		else
			return span->module;
	}
	return NULL;
}

uint64_t module_table_dropped(const struct module_table *table)
{
	return table->dropped;
}

size_t module_table_count(const struct module_table *table)
{
	return table->count;
}

const struct module *module_table_get(const struct module_table *table, size_t index)
{
	return index < table->count ? &table->entries[index]->module : NULL;
}
