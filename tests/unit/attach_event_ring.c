/* SPDX-License-Identifier: Apache-2.0 */
/* The ring of perf records, written by hand: what wraps, and what no kernel writes. */
#include "attach/event_ring.h"

#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define PAGE_BYTES 4096u

struct ring {
	struct event_ring ring;
	struct perf_event_mmap_page *page;
	uint8_t *data;
};

static struct ring ring_at(uint64_t position)
{
	uint8_t *pages = calloc(2, PAGE_BYTES);

	assert_non_null(pages);
	((struct perf_event_mmap_page *)(void *)pages)->data_head = position;
	return (struct ring){
		.ring = { .pages = pages, .tail = position },
		.page = (struct perf_event_mmap_page *)(void *)pages,
		.data = pages + PAGE_BYTES,
	};
}

static void put_bytes(struct ring *ring, const void *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		ring->data[(ring->page->data_head + i) % PAGE_BYTES] = ((const uint8_t *)bytes)[i];
	ring->page->data_head += size;
}

/* A record that says it has `said` bytes, of which `size` are there. */
static void put_record(struct ring *ring, uint16_t said, size_t size)
{
	uint8_t bytes[512] = { 0 };
	const struct perf_event_header header = { .type = PERF_RECORD_SAMPLE, .size = said };

	memcpy(bytes, &header, sizeof(header));
	for (size_t i = sizeof(header); i < size; i++)
		bytes[i] = (uint8_t)i;
	put_bytes(ring, bytes, size);
}

static void test_records_in_order(void **state)
{
	struct ring ring = ring_at(2 * PAGE_BYTES - 20);
	struct event_ring_record record;

	(void)state;
	assert_false(event_ring_next(&ring.ring, &record));
	put_record(&ring, 48, 48); /* wraps */
	put_record(&ring, 200, 200);
	put_record(&ring, 16, 16);
	assert_true(event_ring_pending(&ring.ring));
	assert_true(event_ring_next(&ring.ring, &record));
	assert_int_equal(record.size, 48);
	for (size_t i = sizeof(struct perf_event_header); i < 48; i++)
		assert_int_equal(record.bytes[i], i);
	/* The longer one is passed over. */
	assert_true(event_ring_next(&ring.ring, &record));
	assert_int_equal(record.size, 16);
	assert_false(event_ring_pending(&ring.ring));
	assert_true(ring.page->data_tail == ring.page->data_head);
	free(ring.ring.pages);
}

/* Whatever a record says of its size, what comes after it is read from where the kernel begins. */
static void test_sizes_that_lie(void **state)
{
	static const uint16_t lies[] = { 0, 7, 25, 128, 300, UINT16_MAX };

	(void)state;
	for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		struct ring ring = ring_at(PAGE_BYTES);
		struct event_ring_record record;

		put_record(&ring, lies[i], 24);
		assert_false(event_ring_next(&ring.ring, &record));
		assert_false(event_ring_pending(&ring.ring));
		put_record(&ring, 32, 32);
		assert_true(event_ring_next(&ring.ring, &record));
		assert_int_equal(record.size, 32);
		assert_int_equal(record.bytes[31], 31);
		assert_false(event_ring_pending(&ring.ring));
		free(ring.ring.pages);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_records_in_order),
		cmocka_unit_test(test_sizes_that_lie),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
