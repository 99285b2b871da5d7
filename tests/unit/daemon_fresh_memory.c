/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes of pages that are sampled while the kernel is still filling them. */
#include "daemon/sample/fresh_memory.h"

#include "attach/resident_memory.h"
#include "common/clock.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#define FAULTS 4

/* Memory of our own, of which nothing was touched. */
static char *new_memory(size_t bytes, size_t align)
{
	char *memory = mmap(NULL, bytes + align, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(memory, MAP_FAILED);
	return memory + (align - (uintptr_t)memory % align) % align;
}

static struct fresh_memory *begin(void)
{
	struct fresh_memory *memory = calloc(1, sizeof(*memory));

	assert_non_null(memory);
	fresh_memory_init(memory, getpid());
	fresh_memory_begin(memory, clock_now_ns());
	return memory;
}

static void end(struct fresh_memory *memory)
{
	fresh_memory_deinit(memory);
	free(memory);
}

static void test_small(void **state)
{
	struct fresh_memory *memory = begin();
	struct side_time node = { 0 }, thread = { 0 };
	uint64_t before_ns = clock_now_ns();
	char *page = new_memory(4096, 4096);

	(void)state;
	(void)madvise(page, 4096, MADV_NOHUGEPAGE);
	fresh_memory_charge(memory, (uintptr_t)page, FAULTS, FRESH_NATIVE, &node, &thread);
	assert_int_equal(memory->awaited_count, 1);
	/* Whoever looks has read the clock before the sample was taken. */
	fresh_memory_look(memory, before_ns);
	assert_int_equal(memory->awaited_count, 1);
	*(volatile char *)page = 1;
	fresh_memory_look(memory, clock_now_ns());
	assert_int_equal(memory->awaited_count, 0);
	assert_int_equal(node.fresh_bytes[FRESH_NATIVE], FAULTS * 4096);
	assert_int_equal(thread.fresh_bytes[FRESH_NATIVE], FAULTS * 4096);
	assert_int_equal(node.fresh_samples, 1);
	assert_int_equal(memory->counts.huge_samples + memory->counts.unknown_samples, 0);
	end(memory);
}

static void test_huge(void **state)
{
	struct fresh_memory *memory = begin();
	struct side_time node = { 0 };
	char *page = new_memory(2 * PAGE_HUGE_BYTES, PAGE_HUGE_BYTES);
	uint64_t page_bytes = 0;

	(void)state;
	(void)madvise(page, PAGE_HUGE_BYTES, MADV_HUGEPAGE);
	fresh_memory_charge(memory, (uintptr_t)page + 5 * 4096, FAULTS, FRESH_PYTHON, &node, NULL);
	assert_int_equal(memory->awaited_count, 1);
	assert_int_equal(node.fresh_bytes[FRESH_PYTHON], FAULTS * 4096);
	((volatile char *)page)[5 * 4096] = 1;
	fresh_memory_look(memory, clock_now_ns());
	assert_int_equal(memory->awaited_count, 0);
	/* Where the kernel has one, and tells. */
	if (page_map_size(memory->page_map, (uintptr_t)page, &page_bytes) ||
	    page_bytes != PAGE_HUGE_BYTES)
		print_message("no huge page was to be had\n");
	else
		assert_int_equal(node.fresh_bytes[FRESH_PYTHON],
				 (uint64_t)FAULTS * PAGE_HUGE_BYTES);
	assert_int_equal(memory->counts.huge_samples, page_bytes == PAGE_HUGE_BYTES);
	assert_int_equal(node.fresh_samples, 1);
	end(memory);
}

/* More than are awaited, and what never comes: small, and counted as of unknown size. */
static void test_given_back(void **state)
{
	struct fresh_memory *memory = begin();
	struct side_time node = { 0 };
	char *page = new_memory(4096, 4096);
	const unsigned more = 3;

	(void)state;
	for (unsigned i = 0; i < FRESH_AWAITED_MAX + more; i++)
		fresh_memory_charge(memory, (uintptr_t)page, 1, FRESH_PYTHON, &node, NULL);
	assert_int_equal(memory->awaited_count, FRESH_AWAITED_MAX);
	assert_int_equal(memory->counts.unknown_samples, more);
	fresh_memory_look(memory, clock_now_ns() + NS_PER_SECOND);
	assert_int_equal(memory->awaited_count, 0);
	fresh_memory_charge(memory, (uintptr_t)page, 1, FRESH_PYTHON, &node, NULL);
	fresh_memory_end(memory, clock_now_ns());
	assert_int_equal(memory->awaited_count, 0);
	assert_int_equal(node.fresh_bytes[FRESH_PYTHON], (FRESH_AWAITED_MAX + more + 1) * 4096);
	assert_int_equal(memory->counts.huge_samples, 0);
	end(memory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_small),
		cmocka_unit_test(test_huge),
		cmocka_unit_test(test_given_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
