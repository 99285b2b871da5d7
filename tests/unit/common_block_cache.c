/* SPDX-License-Identifier: Apache-2.0 */
/* Reading in blocks: the same bytes as without, fewer reads, and nothing stale or made up. */
#include "common/block_cache.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define BASE  0x7000ull
#define BYTES 16384u
#define HOLE  (BASE + 4096) /* a page that is not there */
#define PAGE  4096u
/* As in docs/SECURITY.md. */
#define BLOCKS      32
#define BLOCK_BYTES 256u

/* Memory that counts how often it is asked. */
struct memory {
	uint8_t bytes[BYTES];
	unsigned reads;
};

static int read_memory(void *context, struct memory_range *ranges, size_t count)
{
	struct memory *memory = context;

	for (size_t i = 0; i < count; i++) {
		remote_addr start = ranges[i].address, end = start + ranges[i].size;

		memory->reads++;
		ranges[i].error = start < BASE || end > BASE + BYTES || end < start ||
						  (start < HOLE + PAGE && end > HOLE)
					  ? -EFAULT
					  : 0;
		if (!ranges[i].error)
			memcpy(ranges[i].buffer, memory->bytes + (start - BASE), ranges[i].size);
	}
	return 0;
}

struct fixture {
	struct memory memory;
	struct memory_reader source;
	struct block_cache cache;
	struct memory_reader reader;
};

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	assert_non_null(fixture);
	srand(1);
	for (size_t i = 0; i < BYTES; i++)
		fixture->memory.bytes[i] = (uint8_t)rand();
	fixture->source = (struct memory_reader){ read_memory, &fixture->memory };
	block_cache_init(&fixture->cache, &fixture->source);
	fixture->reader = block_cache_reader(&fixture->cache);
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	free(*state);
	return 0;
}

static void reads_what_is_there(void **state)
{
	struct fixture *fixture = *state;
	uint8_t cached[700], direct[700];

	for (unsigned i = 0; i < 20000; i++) {
		remote_addr address = BASE - 300 + (unsigned)rand() % (BYTES + 600);
		size_t size = 1 + (unsigned)rand() % (i % 8 ? 16 : sizeof(cached));
		int expected = memory_read(&fixture->source, address, direct, size);

		assert_int_equal(memory_read(&fixture->reader, address, cached, size), expected);
		if (!expected)
			assert_memory_equal(cached, direct, size);
	}
	/* The end of the address space. */
	assert_int_equal(memory_read(&fixture->reader, UINT64_MAX - 3, cached, 8), -EFAULT);
}

static void reads_once(void **state)
{
	struct fixture *fixture = *state;
	uint64_t value;

	for (remote_addr address = BASE; address < BASE + BLOCK_CACHE_BLOCK_BYTES; address += 8)
		assert_int_equal(memory_read_u64(&fixture->reader, address, &value), 0);
	assert_int_equal(fixture->memory.reads, 1);
}

/* It grows with nothing that is read. */
static void keeps_so_many(void **state)
{
	const struct fixture *fixture = *state;

	assert_int_equal(sizeof(fixture->cache.blocks), BLOCKS * BLOCK_BYTES);
	assert_int_equal(sizeof(fixture->cache.blocks[0]), BLOCK_BYTES);
}

static void forgets(void **state)
{
	struct fixture *fixture = *state;
	uint64_t before, same, after;

	assert_int_equal(memory_read_u64(&fixture->reader, BASE + 64, &before), 0);
	fixture->memory.bytes[64] ^= 0xff;
	assert_int_equal(memory_read_u64(&fixture->reader, BASE + 64, &same), 0);
	assert_int_equal(same, before);
	block_cache_forget(&fixture->cache);
	assert_int_equal(memory_read_u64(&fixture->reader, BASE + 64, &after), 0);
	assert_int_equal(after, before ^ 0xff);
}

/* A failure is none of the block's that was there before, nor kept for good. */
static void survives_failures(void **state)
{
	struct fixture *fixture = *state;
	uint64_t value = 7;

	for (remote_addr address = HOLE; address < HOLE + PAGE; address += 8) {
		assert_int_equal(memory_read_u64(&fixture->reader, address, &value), -EFAULT);
		assert_int_equal(value, 7);
	}
	reads_what_is_there(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(reads_what_is_there, set_up, tear_down),
		cmocka_unit_test_setup_teardown(reads_once, set_up, tear_down),
		cmocka_unit_test_setup_teardown(keeps_so_many, set_up, tear_down),
		cmocka_unit_test_setup_teardown(forgets, set_up, tear_down),
		cmocka_unit_test_setup_teardown(survives_failures, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
