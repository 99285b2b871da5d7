/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolize/fde_table.h"

#include "common/array.h"
#include "common/clock.h"
#include "symbolize/eh_frame_hdr.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

/* 2 MB of index; libtorch_cpu, which needs none, has 350,000 FDEs. */
#define INDEXED_FDES_MAX (1u << 18)
/* FDEs that cannot be read are passed over, but not forever. */
#define VISITED_ENTRIES_MAX (1u << 20)
/* All indexes together: 8 MB. */
#define INDEXED_FDES_TOTAL_MAX (1u << 20)

#define PAGE_BYTES       4096
#define READ_AHEAD_BYTES (128u << 10)

/* Blocks noted down in search tables, all together: 4 MB, for 4 GB of code. */
#define BLOCKS_TOTAL_MAX (1u << 20)

/* Offsets from the image's lowest address and from .eh_frame: 8 bytes an FDE. */
struct index_entry {
	uint32_t start;
	uint32_t fde;
};

struct fde_index {
	struct eh_frame_hdr search_table;
	struct index_entry *entries; /* where there is none, sorted by start; NULL: none either */
	size_t count;
};

struct fde_table {
	const struct module_table *modules;
	struct fde_index *indexes; /* by module->index, for the modules prepared so far */
	size_t prepared_count;
	size_t indexed_fdes;
	size_t noted_blocks;
};

static int compare_fdes(const void *left, const void *right)
{
	const struct index_entry *a = left, *b = right;

	return a->start < b->start ? -1 : a->start > b->start;
}

static uint64_t image_base(const struct elf_image *image)
{
	return image->segment_count ? image->segments[0].virtual_address : 0;
}

/* Reads all of .eh_frame. At most maximum FDEs; -ENOMEM, -E2BIG. */
static int fde_index_build(const struct elf_image *image, size_t maximum,
			   struct fde_index *ret_index)
{
	uint64_t end = image->eh_frame_address + image->eh_frame_size;
	uint64_t base = image_base(image);
	uint64_t address = image->eh_frame_address;
	struct index_entry *entries = NULL, *grown;
	size_t count = 0, capacity = 0;
	int error = 0;

	for (size_t visited = 0; address < end && visited < VISITED_ENTRIES_MAX; visited++) {
		uint64_t fde_address = address;
		struct eh_frame_fde fde;
		int fde_error = eh_frame_fde_at(image, fde_address, &address, &fde);

		if (!fde_error && fde.start - base <= UINT32_MAX &&
		    fde_address - image->eh_frame_address <= UINT32_MAX) {
			if (count == maximum) {
				error = -E2BIG;
				break;
			}
			grown = array_reserve(entries, count, &capacity, sizeof(*entries));
			if (!grown) {
				error = -ENOMEM;
				break;
			}
			entries = grown;
			entries[count++] = (struct index_entry){
				.start = (uint32_t)(fde.start - base),
				.fde = (uint32_t)(fde_address - image->eh_frame_address),
			};
		}
		if (address <= fde_address)
			break;
	}
	if (error) {
		free(entries);
		return error;
	}
	if (count)
		qsort(entries, count, sizeof(*entries), compare_fdes);
	ret_index->entries = entries;
	ret_index->count = count;
	return 0;
}

static int fde_index_find(const struct fde_index *index, const struct elf_image *image,
			  uint64_t address, uint64_t *ret_fde)
{
	uint64_t wanted = address - image_base(image);
	size_t low = 0, high = index->count;

	if (index->count == 0 || wanted < index->entries[0].start)
		return -ENOENT;
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (index->entries[middle].start <= wanted)
			low = middle;
		else
			high = middle;
	}
	*ret_fde = image->eh_frame_address + index->entries[low].fde;
	return 0;
}

/*
 * Has the kernel read a table from disk if it must, so that no thread of the
 * target waits for that later. In pieces: of one request the kernel reads no more than the
 * device's limit (128 KiB by default) and forgets the rest, as of libtorch_cpu's 18 MB.
 * Failing means nothing.
 */
static void read_ahead(const struct elf_image *image, uint64_t address, uint64_t size)
{
	size_t available;
	const uint8_t *bytes = elf_image_at(image, address, &available);
	uintptr_t start, end;

	if (!bytes || !image->mapping.bytes)
		return;
	start = (uintptr_t)bytes & ~(uintptr_t)(PAGE_BYTES - 1);
	end = (uintptr_t)bytes + (size < available ? size : available);
	for (; start < end; start += READ_AHEAD_BYTES)
		(void)madvise((void *)start,
			      end - start < READ_AHEAD_BYTES ? end - start : READ_AHEAD_BYTES,
			      MADV_WILLNEED);
}

/*
 * Gives back the pages that were looked at once: with torch's 300 files they
 * are 40 MB. They stay in the kernel's cache, and are mapped again, 16 at a
 * time, where they are needed.
 */
static void give_back(const struct elf_image *image)
{
	if (image->mapping.bytes)
		(void)madvise((void *)(uintptr_t)image->bytes, image->size, MADV_DONTNEED);
}

/* What is found out once about a module. */
static void prepare_module(struct fde_table *table, const struct elf_image *image,
			   struct fde_index *index)
{
	size_t maximum = INDEXED_FDES_TOTAL_MAX - table->indexed_fdes;

	read_ahead(image, image->eh_frame_address, image->eh_frame_size);
	if (eh_frame_hdr_open(image, &index->search_table) == 0) {
		eh_frame_hdr_note_blocks(&index->search_table,
					 BLOCKS_TOTAL_MAX - table->noted_blocks);
		table->noted_blocks += index->search_table.block_count;
		return;
	}
	if (!image->eh_frame_address)
		return;
	/* What cannot be indexed stays without; see the header. */
	(void)fde_index_build(image, maximum < INDEXED_FDES_MAX ? maximum : INDEXED_FDES_MAX,
			      index);
	table->indexed_fdes += index->count;
}

struct fde_table *fde_table_create(const struct module_table *modules)
{
	struct fde_table *table = calloc(1, sizeof(*table));

	if (!table)
		return NULL;
	table->modules = modules;
	fde_table_prepare(table);
	return table;
}

void fde_table_destroy(struct fde_table *table)
{
	if (!table)
		return;
	for (size_t i = 0; i < table->prepared_count; i++) {
		eh_frame_hdr_deinit(&table->indexes[i].search_table);
		free(table->indexes[i].entries);
	}
	free(table->indexes);
	free(table);
}

void fde_table_prepare(struct fde_table *table)
{
	size_t count = module_table_count(table->modules);
	struct fde_index *indexes;

	if (count <= table->prepared_count)
		return;
	indexes = reallocarray(table->indexes, count, sizeof(*indexes));
	if (!indexes)
		return; /* tried again next time */
	table->indexes = indexes;
	for (size_t i = table->prepared_count; i < count; i++) {
		const struct module *module = module_table_get(table->modules, i);

		indexes[i] = (struct fde_index){ 0 };
		if (module && module->image) {
			prepare_module(table, module->image, &indexes[i]);
			give_back(module->image);
		}
	}
	table->prepared_count = count;
}

/* Touches each page; false: the time is over. */
static bool await_pages(const struct elf_image *image, uint64_t address, uint64_t size,
			uint64_t end_ns)
{
	size_t available;
	const volatile uint8_t *bytes = elf_image_at(image, address, &available);

	if (!bytes || !image->mapping.bytes)
		return true;
	if (size < available)
		available = size;
	for (size_t at = 0; at < available; at += PAGE_BYTES) {
		(void)bytes[at];
		if (at % READ_AHEAD_BYTES == 0 && clock_now_ns() > end_ns)
			return false;
	}
	return true;
}

void fde_table_await(const struct fde_table *table, uint64_t limit_ns)
{
	uint64_t end_ns = clock_now_ns() + limit_ns;
	bool in_time = true;

	for (size_t i = 0; i < table->prepared_count && in_time; i++) {
		const struct module *module = module_table_get(table->modules, i);
		const struct elf_image *image = module ? module->image : NULL;

		if (!image)
			continue;
		in_time = await_pages(image, image->eh_frame_hdr_address, image->eh_frame_hdr_size,
				      end_ns) &&
			  await_pages(image, image->eh_frame_address, image->eh_frame_size, end_ns);
		give_back(image);
	}
}

int fde_table_find(const struct fde_table *table, const struct module *module, remote_addr address,
		   struct eh_frame_fde *ret_fde)
{
	const struct elf_image *image = module->image;
	uint64_t elf_address = address - module->bias;
	const struct fde_index *index;
	struct eh_frame_fde fde;
	uint64_t fde_address;
	int error;

	if (!image || module->index >= table->prepared_count)
		return -ENOENT;
	index = &table->indexes[module->index];
	error = index->search_table.entries
			? eh_frame_hdr_find(&index->search_table, elf_address, &fde_address)
			: fde_index_find(index, image, elf_address, &fde_address);
	if (error || eh_frame_fde_at(image, fde_address, NULL, &fde) || elf_address < fde.start ||
	    elf_address >= fde.end || !fde_is_in_module(&fde, module))
		return -ENOENT;
	*ret_fde = fde;
	return 0;
}
