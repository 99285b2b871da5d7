/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records of perf events, in a ring that the kernel is to have written: the
 * input is its head and what is in it; every reader of one takes it apart.
 */
#include "attach/fork_counter.h"
#include "attach/kernel_clock.h"
#include "attach/thread_events.h"
#include "tests/fuzz/fuzz.h"

#include <linux/perf_event.h>

#define PAGE_BYTES    4096u
#define RECORDS_MAX   8
#define CLOCK_ID      1
#define SLOT_ID       2
#define MEMORY_ID     3
#define READINGS_MAX  (PAGE_BYTES / sizeof(struct perf_event_header) + 1)
#define RING_POSITION (1ull << 40) /* as after long use; the tail is there */

static struct event_ring make_ring(const struct fuzz_input *input, uint64_t head)
{
	/* Of the exact size, so that one byte too far is seen. */
	uint8_t *pages = calloc(2, PAGE_BYTES);
	size_t size = input->left < PAGE_BYTES ? input->left : PAGE_BYTES;

	fuzz_must(pages);
	if (size)
		memcpy(pages + PAGE_BYTES, input->at, size);
	((struct perf_event_mmap_page *)(void *)pages)->data_head = RING_POSITION + head;
	return (struct event_ring){ .pages = pages, .tail = RING_POSITION };
}

static void drain(const struct fuzz_input *input, uint64_t head)
{
	static const struct memory_event event = { .name = "ibs_op", .kinds = 3 };
	struct event_record records[RECORDS_MAX];
	struct thread_events events = {
		.tid = 1,
		.clock_fd = -1,
		.clock_id = CLOCK_ID,
		.ring = make_ring(input, head),
		.slots = { { .fd = -1 }, { .fd = 0, .id = SLOT_ID }, { .fd = -1 }, { .fd = -1 } },
		.memory = { { .fd = -1, .id = MEMORY_ID, .event = &event } },
		.memory_count = 1,
	};
	size_t count, readings = 0;

	sampling_interval_start(&events.interval, 1000000, 1);
	do {
		count = thread_events_drain(&events, records, RECORDS_MAX);
		fuzz_must(count <= RECORDS_MAX && ++readings <= READINGS_MAX);
		for (size_t i = 0; i < count; i++)
			fuzz_must(records[i].source <= EVENT_MEMORY && records[i].kinds <= 3);
	} while (count);
	fuzz_must(!thread_events_pending(&events));
	free(events.ring.pages);
}

static void read_clock(const struct fuzz_input *input, uint64_t head)
{
	struct kernel_clock clock = { .fd = -1, .ring = make_ring(input, head) };
	struct kernel_sample sample;
	size_t readings = 0;

	sampling_interval_start(&clock.interval, 1000000, 1);
	while (kernel_clock_next(&clock, &sample))
		fuzz_must(sample.stands_for_ns && ++readings <= READINGS_MAX);
	free(clock.ring.pages);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input input = { data, size };
	/* The kernel never lets more than the ring holds be unread. */
	uint64_t head = fuzz_number(&input, 2) % (PAGE_BYTES + 1);
	struct fork_counter counter = { .fd = 0 };

	drain(&input, head);
	read_clock(&input, head);
	counter.ring = make_ring(&input, head);
	(void)fork_counter_take(&counter);
	fuzz_must(!event_ring_pending(&counter.ring));
	free(counter.ring.pages);
	return 0;
}
