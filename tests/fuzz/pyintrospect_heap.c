/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A look at the heap of a process whose memory is the input. An interpreter is laid out in it, so
 * that a look has something to find: types, a dict of modules, a pool of objects that refer to
 * each other. Then the input changes words of it, wherever it says:
 *
 *   u8 minor, or more by as many minors as there are, once or more: see enum variant
 *   { u16 word, u64 value }...     value: small ones lead into the memory; with its highest bit, it
 *                                  is written when so many pieces were read as the next 7 bits say
 */
#include "pyintrospect/code_cache.h"
#include "pyintrospect/heap/heap_layout.h"
#include "pyintrospect/heap/heap_segment.h"
#include "pyintrospect/heap/heap_snapshot.h"
#include "pyintrospect/runtime_internal.h"
#include "tests/fuzz/fuzz.h"

#include <errno.h>

#define BASE       0x7f0000000000ull
#define AREA_BYTES 0x20000ull
#define AREAS      4
#define WORDS      (AREAS * AREA_BYTES / 8)
#define ASKED      64
#define LATER_MAX  64
#define LATER      (1ull << 63)

/* Where things lie, as offsets: the first area is data, the second one pools, then a heap, a
 * mapping. */
enum {
	RUNTIME = 0x100,
	INTERPRETER = 0x1000,
	TYPES = 0x8000, /* type, dict, str, list, module */
	TYPE_BYTES = 0x400,
	NAMES = 0xf000,
	POOLS = 0x20000,
	HEAP = 0x40000,
	MAPPED = 0x60000,
	FOREIGN = 0x70000,
	FOREIGN_BYTES = 0x80,
	FOREIGN_OBJECTS = 12,
	/* Of a segment of mimalloc's, which the last area is the start of. */
	SEGMENT = MAPPED,
	SEGMENT_BLOCK = 256,
	SEGMENT_BLOCKS = 255,
};

/* Where such a segment may be. */
#define SEGMENT_AT (BASE + HEAP_SEGMENT_BYTES)

/* What allocates objects. */
enum variant {
	PYMALLOC,
	OTHER,         /* the last area is another allocator's */
	MIMALLOC,      /* there is a segment of mimalloc's, too */
	FREE_THREADED, /* there is no other memory */
	VARIANTS,
};

struct process {
	uint64_t words[WORDS];
	uint64_t reads_left;
	bool segment; /* there is one */
	/* It goes on while it is looked at. */
	uint64_t reads;
	size_t later_count;
	struct {
		uint64_t word, value, at;
	} later[LATER_MAX];
};

static struct process *process;

/* Where a word of the memory is. */
static remote_addr address_of(uint64_t offset)
{
	return process->segment && offset >= SEGMENT ? SEGMENT_AT + offset - SEGMENT
						     : BASE + offset;
}

static uint64_t offset_of(remote_addr address)
{
	uint64_t inside = address - SEGMENT_AT;

	if (process->segment && inside < HEAP_SEGMENT_BYTES)
		return SEGMENT + inside;
	return process->segment && address - BASE >= SEGMENT ? UINT64_MAX : address - BASE;
}

static void go_on(void)
{
	process->reads++;
	for (size_t i = 0; i < process->later_count; i++)
		if (process->later[i].at == process->reads)
			process->words[process->later[i].word] = process->later[i].value;
}

static int read_memory(void *context, struct memory_range *ranges, size_t count)
{
	(void)context;
	for (size_t i = 0; i < count; i++) {
		uint64_t offset = offset_of(ranges[i].address);

		if (!process->reads_left)
			return -ESRCH;
		process->reads_left--;
		go_on();
		ranges[i].error = offset > sizeof(process->words) ||
						  ranges[i].size > sizeof(process->words) - offset
					  ? -EFAULT
					  : 0;
		if (!ranges[i].error)
			memcpy(ranges[i].buffer, (uint8_t *)process->words + offset,
			       ranges[i].size);
	}
	return 0;
}

static int read_pages(void *context, remote_addr start, size_t count, uint8_t *ret_states)
{
	(void)context;
	for (size_t i = 0; i < count; i++)
		ret_states[i] = offset_of(start + i * PAGE_BYTES) < sizeof(process->words)
					? PAGE_PRESENT | PAGE_EXCLUSIVE
					: 0;
	return 0;
}

static void put(uint64_t offset, uint64_t value)
{
	process->words[offset / 8 % WORDS] = value;
}

/* Its counts, and its type. Where the rest of it begins. */
static uint64_t put_head(const struct heap_layout *layout, uint64_t at, unsigned type)
{
	put(at, 1);
	if (layout->free_threaded)
		put(at + OBJECT_LOCAL_COUNT - 4, 1ull << 32);
	put(at + layout->head_extra + OBJECT_TYPE, BASE + TYPES + (uint64_t)type * TYPE_BYTES);
	return at + layout->head_extra;
}

static void make_type(const struct heap_layout *layout, unsigned number, const char *name,
		      uint64_t flags, uint64_t basic, uint64_t item)
{
	uint64_t at = TYPES + (uint64_t)number * TYPE_BYTES;
	uint64_t text = NAMES + (uint64_t)number * 64;

	at = put_head(layout, at, 0);
	put(at + TYPE_NAME, BASE + text);
	put(at + TYPE_BASIC, basic);
	put(at + TYPE_ITEM, item);
	put(at + TYPE_FLAGS_AT, flags | FLAG_READY);
	memcpy((uint8_t *)process->words + text, name, strlen(name) + 1);
}

/* Pools of one size class, all blocks in use: head, then objects of each type in turn. */
static void make_pools(const struct heap_layout *layout, uint32_t block)
{
	for (uint64_t pool = POOLS; pool < HEAP; pool += layout->pool_bytes) {
		uint64_t count = (layout->pool_bytes - POOL_HEAD) / block;

		put(pool, count);
		put(pool + 32, (uint64_t)(block / 16 - 1) << 32);
		put(pool + 40, (POOL_HEAD + count * block) | (uint64_t)(layout->pool_bytes - block)
								     << 32);
		for (uint64_t i = 0; i < count; i++) {
			uint64_t at = pool + POOL_HEAD + i * block + layout->collector_bytes;

			put(at, 1);
			put(at + OBJECT_TYPE, BASE + TYPES + (1 + i % 5) * TYPE_BYTES);
			for (uint64_t word = 16; word + layout->collector_bytes < block; word += 8)
				put(at + word, BASE + pool + POOL_HEAD +
						       (i + word) % count * block +
						       layout->collector_bytes);
		}
	}
}

/* One page, and free slices behind it: where its entry is. */
static uint64_t make_older_table(const struct heap_layout *layout)
{
	const uint64_t entry_bytes =
		layout->free_threaded ? HEAP_SLICE_ENTRY_THREADS : HEAP_SLICE_ENTRY;
	uint64_t entry = SEGMENT + HEAP_SEGMENT_HEAD + entry_bytes;

	put(SEGMENT + 208, 1);
	put(SEGMENT + 224, HEAP_SEGMENT_SLICES_MAX);
	put(SEGMENT + 232, 1);
	put(SEGMENT + 248, HEAP_SEGMENT_SLICES_MAX);
	put(entry - entry_bytes, 1);
	put(entry + 24, (SEGMENT_BLOCKS - 2) | (uint64_t)SEGMENT_BLOCK << 32);
	put(entry + entry_bytes, HEAP_SEGMENT_SLICES_MAX - 2);
	return entry;
}

static uint64_t make_newer_table(void)
{
	uint64_t entry = SEGMENT + HEAP_SEGMENT_HEAD_NEWER + HEAP_SLICE_ENTRY_NEWER;

	put(SEGMENT + 216, 1);
	put(SEGMENT + 248, HEAP_SEGMENT_SLICES_MAX);
	put(SEGMENT + 256, 1);
	put(SEGMENT + 272, HEAP_SEGMENT_SLICES_MAX);
	put(entry - HEAP_SLICE_ENTRY_NEWER, 1);
	put(entry + 32, SEGMENT_BLOCKS - 2);
	put(entry + 40, SEGMENT_BLOCK);
	put(entry + 48, address_of(SEGMENT + HEAP_SEGMENT_SLICE + SEGMENT_BLOCK));
	put(entry + HEAP_SLICE_ENTRY_NEWER, HEAP_SEGMENT_SLICES_MAX - 2);
	return entry;
}

/* A page of objects as in the pools, three of which are free, and what there is behind it. */
static void make_segment(const struct heap_layout *layout)
{
	bool newer = !layout->free_threaded && layout->minor >= 14;
	uint64_t blocks = SEGMENT + HEAP_SEGMENT_SLICE + SEGMENT_BLOCK, entry;

	memset((uint8_t *)process->words + SEGMENT, 0, AREA_BYTES);
	put(SEGMENT + 32, HEAP_SEGMENT_BYTES);
	entry = newer ? make_newer_table() : make_older_table(layout);
	put(entry, 1);
	put(entry + 8,
	    HEAP_PAGE_COLLECTED << 3 | SEGMENT_BLOCKS << 16 | (uint64_t)SEGMENT_BLOCKS << 32);
	/* What its heap has waiting would be in the first area. */
	put(entry + (newer ? 64 : 48), BASE + INTERPRETER);
	for (uint64_t i = 0; i < SEGMENT_BLOCKS; i++) {
		uint64_t at = blocks + i * SEGMENT_BLOCK + layout->collector_bytes;
		uint64_t fields = put_head(layout, at, 1 + i % 5);

		for (uint64_t word = fields + 16; word < blocks + (i + 1) * SEGMENT_BLOCK;
		     word += 8)
			put(word,
			    address_of(blocks + (i + word / 8) % SEGMENT_BLOCKS * SEGMENT_BLOCK +
				       layout->collector_bytes));
	}
	put(entry + 16, address_of(blocks + 20 * SEGMENT_BLOCK));
	put(blocks + 20 * SEGMENT_BLOCK, 0);
	put(entry + (newer ? 24 : 32), address_of(blocks + 30 * SEGMENT_BLOCK));
	put(blocks + 30 * SEGMENT_BLOCK, 0);
	put(entry + (newer ? 56 : 40), address_of(blocks + 40 * SEGMENT_BLOCK));
	put(blocks + 40 * SEGMENT_BLOCK, 0);
}

static void make_process(const struct heap_layout *layout)
{
	const struct python_offsets *offsets = layout->offsets;
	uint64_t modules =
		process->segment ? SEGMENT + HEAP_SEGMENT_SLICE + SEGMENT_BLOCK : POOLS + POOL_HEAD;

	put(RUNTIME, BASE + INTERPRETER);
	if (offsets->interpreter_modules != OFFSET_ABSENT)
		put(INTERPRETER + (uint64_t)offsets->interpreter_modules,
		    address_of(modules + layout->collector_bytes));
	make_type(layout, 0, "type", FLAG_TYPE | FLAG_COLLECTED, 400, 40);
	make_type(layout, 1, "dict", FLAG_DICT | FLAG_COLLECTED, 48, 0);
	make_type(layout, 2, "list", FLAG_LIST | FLAG_COLLECTED, 40, 0);
	make_type(layout, 3, "tuple", FLAG_TUPLE | FLAG_COLLECTED, 24, 8);
	make_type(layout, 4, "set", FLAG_COLLECTED, 200, 0);
	make_type(layout, 5, "module", FLAG_COLLECTED, 56, 0);
	make_pools(layout, 256);
	/* A row of chunks of malloc's, the last one reaching the end. */
	for (uint64_t at = HEAP; at < HEAP + AREA_BYTES; at += 0x100) {
		put(at + 8, at + 0x100 == HEAP + AREA_BYTES ? 0x101 : 0x101);
		put(at + 16, 1);
		put(at + 24, BASE + TYPES + 3 * TYPE_BYTES);
	}
	put(MAPPED + 8, 0x8002);
}

/* Lists, tuples and their storage in memory of nobody known, in a ring, which the first pool leads
 * to. */
static void make_foreign(const struct heap_layout *layout)
{
	for (uint64_t i = 0; i < FOREIGN_OBJECTS; i++) {
		uint64_t at = FOREIGN + i * FOREIGN_BYTES + layout->collector_bytes;
		uint64_t next = FOREIGN + (i + 1) % FOREIGN_OBJECTS * FOREIGN_BYTES;

		put(at, 1);
		put(at + OBJECT_TYPE, BASE + TYPES + (2 + i % 2) * TYPE_BYTES);
		put(at + OBJECT_SIZE, 2);
		put(at + LIST_ITEMS, BASE + next + layout->collector_bytes);
		put(at + 32, i % 2 ? BASE + at : 2);
		put(POOLS + POOL_HEAD + i * 256 + layout->collector_bytes + 24, BASE + at);
	}
}

static void look(struct python_runtime *runtime, const struct memory_reader *reader,
		 const struct mapping_list *mappings, bool no_holders)
{
	struct page_reader pages = { read_pages, NULL };
	const remote_addr stack = BASE + MAPPED + 0x1f000;
	remote_addr asked[ASKED];
	struct heap_source source = { .runtime = runtime,
				      .reader = reader,
				      .pages = &pages,
				      .mappings = mappings,
				      .stacks = &stack,
				      .asked = asked,
				      .asked_count = ASKED };
	struct heap_limits limits = { .no_holders = no_holders, .memory_bytes = 64u << 20 };
	struct heap_snapshot snapshot;
	struct error error = { 0 };

	process->reads_left = 200000;
	/* Also such as no block begins at. */
	for (unsigned i = 0; i < ASKED; i++)
		asked[i] = BASE + i * (sizeof(process->words) / ASKED) + 16 * (i % 2);
	if (heap_snapshot_take(&source, &limits, &snapshot, &error)) {
		fuzz_must(error.cause[0]);
		return;
	}
	fuzz_must(snapshot.regions.rss_bytes <= sizeof(process->words));
	for (size_t i = 0; i < snapshot.type_count; i++)
		fuzz_read_string(snapshot.types[i].name);
	for (uint32_t i = 1; !no_holders && i < snapshot.paths.count; i++) {
		uint32_t steps[8];

		fuzz_must(heap_snapshot_steps(&snapshot, i, steps, 8) > 0);
		fuzz_read_string(snapshot.paths.strings + snapshot.paths.items[i].step);
		fuzz_must(snapshot.held_bytes[i] >= snapshot.paths.items[i].bytes);
	}
	fuzz_must(no_holders || snapshot.answers || snapshot.holders != HEAP_HOLDERS_KNOWN);
	for (unsigned i = 0; snapshot.answers && i < ASKED; i++)
		fuzz_must(snapshot.answers[i].state <= HEAP_ANSWER_HELD &&
			  (snapshot.answers[i].state > HEAP_ANSWER_GONE ||
			   !snapshot.answers[i].size));
	heap_snapshot_deinit(&snapshot);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const paths[2] = { "/usr/lib/libpython.so",
					      "/usr/lib/libjemalloc.so.2" };
	struct fuzz_input input = { data, size };
	struct mapping items[AREAS];
	struct mapping_list mappings = { .mappings = items, .count = AREAS };
	struct memory_reader reader = { read_memory, NULL };
	struct python_runtime *runtime = calloc(1, sizeof(*runtime));
	const unsigned minors = PYTHON_MINOR_MAX - PYTHON_MINOR_MIN + 1;
	uint64_t kind = fuzz_number(&input, 1);
	int minor = PYTHON_MINOR_MIN + (int)(kind % minors);
	enum variant variant = kind / minors % VARIANTS;
	bool foreign = variant == OTHER;
	struct heap_layout layout;

	process = calloc(1, sizeof(*process));
	fuzz_must(process && runtime);
	fuzz_must(!thread_table_init(&runtime->threads) &&
		  !remote_copy_init(&runtime->copy, &reader) &&
		  (runtime->codes = code_cache_create()));
	runtime->sizes = (struct python_block_sizes){ 1024, 1024, 1024, 64 };
	runtime->reader = &reader;
	process->segment = variant >= MIMALLOC;
	runtime->layout = *python_layout_builtin(minor);
	runtime->layout.free_threaded = variant == FREE_THREADED;
	runtime->version.minor = minor;
	runtime->interpreters = BASE + RUNTIME;
	runtime->type_type = BASE + TYPES;
	layout = heap_layout_of(&runtime->layout);
	for (unsigned i = 0; i < AREAS; i++)
		items[i] = (struct mapping){
			.start = BASE + i * AREA_BYTES,
			.end = BASE + (i + 1) * AREA_BYTES,
			.inode = i == 0,
			.protection = 3,
			.path = i == 0   ? paths[foreign]
				: i == 2 ? "[heap]"
					 : "",
		};
	if (process->segment) {
		items[AREAS - 1].start = SEGMENT_AT;
		items[AREAS - 1].end = SEGMENT_AT + HEAP_SEGMENT_BYTES;
	}
	make_process(&layout);
	if (process->segment)
		make_segment(&layout);
	if (foreign)
		make_foreign(&layout);
	while (input.left) {
		uint64_t word = fuzz_number(&input, 2), value = fuzz_number(&input, 8);
		uint64_t at = value & LATER ? value >> 56 & 0x7f : 0;

		if (value & LATER)
			value &= (1ull << 56) - 1;
		if (value < sizeof(process->words))
			value = address_of(value);
		if (!at)
			put(word * 8, value);
		else if (process->later_count < LATER_MAX) {
			process->later[process->later_count].word = word % WORDS;
			process->later[process->later_count].value = value;
			process->later[process->later_count++].at = at;
		}
	}
	look(runtime, &reader, &mappings, false);
	look(runtime, &reader, &mappings, true);
	python_runtime_destroy(runtime);
	free(process);
	return 0;
}
