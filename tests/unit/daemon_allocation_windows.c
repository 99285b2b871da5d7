/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is allocated: tables of allocators among an interpreter's data, whether one lies in its
 * callers, how samples are charged and given back, and the arithmetic of windows.
 */
#include "daemon/sample/allocation_windows.h"

#include "daemon/capture/allocator_places.h"
#include "daemon/sample/allocation_samples.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MS    1000000ull
#define WORDS 64

/* ---- tables ---- */

static const struct address_range code = { 0x400000, 0x500000 };

static void put_row(uint64_t *words, char letter, uint64_t first)
{
	words[0] = (uint64_t)letter;
	words[1] = 0;
	for (unsigned i = 0; i < 4; i++)
		words[2 + i] = first + 0x100 * i;
}

static void put_table(uint64_t *words)
{
	put_row(words, 'r', 0x401000);
	put_row(words + 6, 'm', 0x402000);
	put_row(words + 12, 'o', 0x403000);
}

static void test_tables(void **state)
{
	uint64_t words[WORDS] = { 0 };
	struct allocator_row memory, objects;

	(void)state;
	assert_false(allocator_rows_find(words, WORDS, code, &memory, &objects));
	assert_false(allocator_rows_find(words, 0, code, &memory, &objects));
	/* Half of one, and whole ones: also at the very end. */
	put_row(words + 3, 'r', 0x401000);
	for (size_t at = 20; at + 18 <= WORDS; at += 13) {
		put_table(words + at);
		assert_true(allocator_rows_find(words, WORDS, code, &memory, &objects));
		assert_int_equal(memory.make, 0x402000);
		assert_int_equal(objects.make, 0x403000);
		assert_int_equal(objects.release, 0x403300);
		assert_false(allocator_rows_find(words, at + 17, code, &memory, &objects));
		memset(words + at, 0, 18 * sizeof(words[0]));
	}
	/* A function that lies elsewhere, a context, another letter. */
	put_table(words + 20);
	words[24] = code.end;
	assert_false(allocator_rows_find(words, WORDS, code, &memory, &objects));
	put_table(words + 20);
	words[27] = 1;
	assert_false(allocator_rows_find(words, WORDS, code, &memory, &objects));
	put_table(words + 20);
	words[32] = 'p';
	assert_false(allocator_rows_find(words, WORDS, code, &memory, &objects));
}

static void test_references(void **state)
{
	/* lea 0x10(%rip),%rax; call; cmp $0x401000,%rax; jmp */
	uint8_t bytes[] = { 0x90, 0x48, 0x8d, 0x05, 0x10, 0,    0,    0,    0xe8, 0x0b, 0,
			    0,    0,    0x48, 0x3d, 0x00, 0x10, 0x40, 0x00, 0xe9, 0x05, 0 };

	(void)state;
	/* The lea's, from an address where it leads there; not the call's. */
	assert_int_equal(allocator_references(bytes, sizeof(bytes), 0x7f0000000000, 0x7f0000000018),
			 1);
	assert_int_equal(allocator_references(bytes, sizeof(bytes), 0x400000, 0x401000), 1);
	assert_int_equal(allocator_references(bytes, sizeof(bytes), 0x400000, 0x401001), 0);
	assert_int_equal(allocator_references(bytes, 3, 0x400000, 0x401000), 0);
	assert_int_equal(allocator_references(bytes, 0, 0x400000, 0x401000), 0);
}

/* ---- samples ---- */

static void test_samples(void **state)
{
	struct allocation_samples *samples = calloc(1, sizeof(*samples));
	struct side_time node = { 0 }, thread = { 0 };
	struct clock_sample sample = { .allocation = 1025,
				       .allocated_bytes = 100,
				       .allocation_bytes = 6400 };

	(void)state;
	assert_non_null(samples);
	assert_false(allocation_samples_release(samples, 0));
	assert_false(allocation_samples_release(samples, 1025));
	allocation_samples_charge(samples, &sample, &node, &thread);
	assert_int_equal(node.allocated_bytes, 6400);
	assert_int_equal(node.allocated_objects, 64);
	assert_int_equal(node.allocation_samples, 1);
	assert_int_equal(thread.allocated_bytes, 6400);
	/* Once. */
	assert_true(allocation_samples_release(samples, 1025));
	assert_false(allocation_samples_release(samples, 1025));
	assert_int_equal(node.released_bytes, 6400);
	assert_int_equal(node.released_objects, 64);
	/* A large one stands for itself; one without a place is counted for its thread alone. */
	sample = (struct clock_sample){ .allocation = 2049,
					.allocated_bytes = 1 << 20,
					.allocation_bytes = 1 << 20 };
	allocation_samples_charge(samples, &sample, NULL, &thread);
	assert_int_equal(thread.allocated_objects, 65);
	assert_true(allocation_samples_release(samples, 2049));
	/* Of more than are kept, the youngest are: no number is taken for another. */
	for (uint32_t number = 1; number <= 3 * ALLOCATION_SAMPLES_KEPT; number++) {
		sample.allocation = number << 10;
		allocation_samples_charge(samples, &sample, &node, NULL);
	}
	assert_true(allocation_samples_release(samples, 3 * ALLOCATION_SAMPLES_KEPT << 10));
	assert_true(node.released_objects <= node.allocated_objects);
	free(samples);
}

static void test_records(void **state)
{
	struct clock_record record = { .tid = 7,
				       .inner_tid = 7,
				       .since_ns = 9,
				       .fault = 100,
				       .faults = 5000,
				       .flags = CLOCK_ALLOCATION };
	struct clock_sample *sample = calloc(1, sizeof(*sample));

	(void)state;
	assert_non_null(sample);
	assert_int_equal(clock_sample_parse(&record, sizeof(record), sample), 0);
	assert_int_equal(sample->allocation, 9);
	assert_int_equal(sample->allocated_bytes, 100);
	assert_int_equal(sample->allocation_bytes, 5000);
	assert_false(sample->released || sample->faults);
	record = (struct clock_record){ .since_ns = 9, .flags = CLOCK_RELEASE };
	assert_int_equal(clock_sample_parse(&record, sizeof(record), sample), 0);
	assert_true(sample->released && sample->allocation == 9);
	record.since_ns = 0;
	assert_int_equal(clock_sample_parse(&record, sizeof(record), sample), -EBADMSG);
	record = (struct clock_record){ .tid = 7, .since_ns = 9 };
	assert_int_equal(clock_sample_parse(&record, sizeof(record), sample), 0);
	assert_true(!sample->allocation && !sample->released);
	free(sample);
}

/* ---- windows ---- */

static uint64_t observed(uint64_t wall, uint64_t cpu, uint64_t queued, uint64_t cost)
{
	const struct allocation_times times = { wall * MS, cpu * MS, queued * MS, cost * MS };

	return allocation_observed_ns(&times) / MS;
}

static void test_observed(void **state)
{
	(void)state;
	/* It works all the time; it waits; it gets half of a processor; four threads. */
	assert_int_equal(observed(100, 100, 0, 40), 60);
	assert_int_equal(observed(100, 50, 0, 40), 60);
	assert_int_equal(observed(100, 50, 50, 40), 20);
	assert_int_equal(observed(100, 400, 0, 40), 90);
	/* More than there is; times that are not known. */
	assert_int_equal(observed(100, 100, 0, 500), 5);
	assert_int_equal(observed(100, 0, 0, 40), 60);
	assert_int_equal(observed(0, 0, 0, 40), 0);
}

static void test_pauses(void **state)
{
	(void)state;
	assert_int_equal(allocation_pause_ns(2 * MS, 2 * MS, 0.01), 198 * MS);
	/* Hardly a cost: soon again. None allowed: long. */
	assert_int_equal(allocation_pause_ns(200 * MS, MS / 10, 0.01), 50 * MS);
	assert_int_equal(allocation_pause_ns(2 * MS, 2 * MS, 0), 5000 * MS);
}

static void test_sampling(void **state)
{
	struct allocation_sampling sampling = { 16384, 256 };

	(void)state;
	/* It comes to where a window has 48 samples, half of them by bytes. */
	for (unsigned i = 0; i < 40; i++)
		sampling = allocation_next_sampling(&sampling, 480000, 1000);
	assert_in_range(sampling.interval_bytes, 19900, 20100);
	assert_in_range(sampling.object_bytes, 478, 481);
	for (unsigned i = 0; i < 80; i++)
		sampling = allocation_next_sampling(&sampling, 0, 0);
	assert_int_equal(sampling.interval_bytes, 64);
	for (unsigned i = 0; i < 80; i++)
		sampling = allocation_next_sampling(&sampling, UINT64_MAX / 4, 1);
	assert_int_equal(sampling.interval_bytes, 64 << 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tables),   cmocka_unit_test(test_references),
		cmocka_unit_test(test_samples),  cmocka_unit_test(test_records),
		cmocka_unit_test(test_observed), cmocka_unit_test(test_pauses),
		cmocka_unit_test(test_sampling),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
