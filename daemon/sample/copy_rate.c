/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/sample/copy_rate.h"

#include "common/clock.h"

#include <emmintrin.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define SIZE_FIRST   64u
#define SIZE_FACTOR  4u
#define BUFFER_BYTES (4u << 20) /* the last size */
#define PIECE_BYTES  (1u << 20) /* is copied for each figure, at least */
#define ATTEMPTS     3          /* of which the fastest counts: others use the machine, too */
#define LINE_BYTES   64u
/*
 * What a large copy writes goes back to RAM while it goes on, which one of a few megabytes does
 * not wait for: of 32 MB each the rate was a bit more than half.
 */
#define WRITTEN_BACK 0.5

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct copy_rates own;
static bool own_known;

/* By a pointer, so that the library's own is called, with a size that it must look at. */
static void *(*volatile copy_bytes)(void *, const void *, size_t) = memcpy;

static void evict(uint8_t *bytes, size_t size)
{
	for (size_t at = 0; at < size; at += LINE_BYTES)
		_mm_clflush(bytes + at);
	_mm_mfence();
}

/* One copy after another of so many bytes; again: all of the same place. Bytes a nanosecond. */
static double rate_of(uint8_t *to, const uint8_t *from, size_t size, bool again)
{
	size_t count = (size > PIECE_BYTES ? size : PIECE_BYTES) / size;
	uint64_t began_ns = clock_thread_cpu_ns(), took_ns;

	for (size_t i = 0; i < count; i++)
		copy_bytes(to + (again ? 0 : i * size), from + (again ? 0 : i * size), size);
	took_ns = clock_thread_cpu_ns() - began_ns;
	return took_ns ? (double)(count * size) / (double)took_ns : 0;
}

static struct copy_rate measure(uint8_t *to, uint8_t *from, size_t size)
{
	double cold = 0, warm = 0;

	for (unsigned i = 0; i < ATTEMPTS; i++) {
		double rate;

		evict(from, BUFFER_BYTES);
		evict(to, BUFFER_BYTES);
		rate = rate_of(to, from, size, false);
		if (rate > cold)
			cold = rate;
		copy_bytes(to, from, size);
		rate = rate_of(to, from, size, true);
		if (rate > warm)
			warm = rate;
	}
	return (struct copy_rate){ WRITTEN_BACK * cold, warm > cold ? warm : cold };
}

bool copy_rates_measure(struct copy_rates *ret_rates)
{
	uint8_t *from = malloc(BUFFER_BYTES), *to = malloc(BUFFER_BYTES);
	bool known = from && to;
	size_t size = SIZE_FIRST;

	if (known) {
		/* So that the pages are there. */
		memset(from, 1, BUFFER_BYTES);
		memset(to, 2, BUFFER_BYTES);
	}
	for (unsigned i = 0; known && i < COPY_RATE_SIZES; i++, size *= SIZE_FACTOR) {
		ret_rates->items[i] = measure(to, from, size);
		known = ret_rates->items[i].low > 0;
	}
	free(from);
	free(to);
	return known;
}

static void measure_own(void)
{
	own_known = copy_rates_measure(&own);
}

const struct copy_rates *copy_rates_own(void)
{
	(void)pthread_once(&once, measure_own);
	return own_known ? &own : NULL;
}

struct copy_rate copy_rates_of(const struct copy_rates *rates, uint64_t bytes)
{
	unsigned index = 0;

	for (uint64_t size = SIZE_FIRST * SIZE_FACTOR; index + 1 < COPY_RATE_SIZES && size <= bytes;
	     size *= SIZE_FACTOR)
		index++;
	return rates->items[index];
}
