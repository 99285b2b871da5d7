/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Words of the target's memory: two values that are compared, what a heap says of
 * itself where an access hit it, and an interpreter's tables of allocators.
 */
#include "daemon/capture/allocator_places.h"
#include "daemon/detect/object_head.h"
#include "daemon/detect/verdict.h"
#include "tests/fuzz/fuzz.h"

#include <errno.h>

#define HEAP_START 0x10000u
#define READS_MAX  64

struct heap {
	const uint8_t *bytes;
	size_t size;
	unsigned reads;
};

static int read_heap(void *context, struct memory_range *ranges, size_t count)
{
	struct heap *heap = context;

	for (size_t i = 0; i < count; i++) {
		uint64_t offset = ranges[i].address - HEAP_START;
		bool there = offset <= heap->size && ranges[i].size <= heap->size - offset;

		heap->reads++;
		ranges[i].error = there ? 0 : -EFAULT;
		if (there)
			memcpy(ranges[i].buffer, heap->bytes + offset, ranges[i].size);
	}
	return 0;
}

/* Data and code of an interpreter: tables of allocators, and who refers to their functions. */
static void search_allocators(const uint8_t *bytes, size_t size)
{
	const struct address_range code = { 0x400000, 0x500000 };
	size_t count = size / sizeof(uint64_t);
	uint64_t *words = malloc(count * sizeof(uint64_t) + 1);
	struct allocator_row memory, objects;

	fuzz_must(words);
	memcpy(words, bytes, count * sizeof(uint64_t));
	if (allocator_rows_find(words, count, code, &memory, &objects))
		fuzz_must(address_range_contains(code, memory.make) &&
			  address_range_contains(code, objects.release));
	if (count)
		fuzz_must(allocator_references(bytes, size, code.start, words[0]) <= size);
	free(words);
}

static int open_nothing(void *context, const struct mapping *mapping)
{
	(void)context;
	(void)mapping;
	return -ENOENT;
}

static void compare(struct fuzz_input *input)
{
	static const unsigned elements[] = { 0, 4, 8 };
	uint8_t values[2][8] = { { 0 } };
	uint64_t first = fuzz_number(input, 8), second = fuzz_number(input, 8);

	memcpy(values[0], &first, 8);
	memcpy(values[1], &second, 8);
	for (size_t size = 1; size <= 8; size *= 2)
		for (size_t i = 0; i < 3; i++) {
			enum access_verdict verdict =
				verdict_compare(values[0], values[1], size, elements[i]);

			fuzz_must(verdict < VERDICT_COUNT);
			fuzz_must(verdict_compare(values[1], values[0], size, elements[i]) ==
				  verdict);
			fuzz_must(verdict_compare(values[0], values[0], size, elements[i]) ==
				  VERDICT_REDUNDANT);
			fuzz_must((verdict == VERDICT_REDUNDANT) ==
				  !memcmp(values[0], values[1], size));
		}
}

static void watch(remote_addr address, uint32_t size)
{
	struct address_range range = verdict_watch_range(address, size);
	uint64_t width = range.end - range.start;

	/* An access that wraps around the address space has none to fit. */
	if (!size || address > UINT64_MAX - size)
		return;
	fuzz_must(width == 1 || width == 2 || width == 4 || width == 8);
	fuzz_must(range.start % width == 0);
	fuzz_must(range.start >= address && range.end <= address + size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input input = { data, size };
	struct mapping_opener opener = { open_nothing, NULL };
	struct object_types types = { 0 };
	struct heap heap = { 0 };
	struct target target = { .reader = { .read = read_heap, .context = &heap } };

	compare(&input);
	target.type_type = HEAP_START + fuzz_number(&input, 2);
	watch(fuzz_number(&input, 8), (uint32_t)fuzz_number(&input, 1));
	target.modules = module_table_create(&opener, NULL);
	fuzz_must(target.modules);
	heap.bytes = input.at;
	heap.size = input.left;
	for (remote_addr at = HEAP_START; at < HEAP_START + 512; at += 4) {
		heap.reads = 0;
		(void)object_head_at(&types, &target, at, 8);
		fuzz_must(object_memory_class(&types, &target, at) < MEMORY_CLASS_COUNT);
		fuzz_must(heap.reads <= READS_MAX);
	}
	module_table_destroy(target.modules);
	search_allocators(input.at, input.left);
	return 0;
}
