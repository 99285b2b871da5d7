/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/model/call_time.h"

#include "common/array.h"

#include <errno.h>
#include <stdbool.h>

void call_times_deinit(struct call_times *times)
{
	free(times->residuals);
	*times = (struct call_times){ 0 };
}

int call_times_add(struct call_times *times, uint32_t line, uint64_t left_ns, double weight)
{
	if (!ARRAY_ROOM(times->residuals, times->count, times->capacity))
		return -ENOMEM;
	times->residuals[times->count++] =
		(struct call_residual){ .line = line, .left_ns = left_ns, .weight = weight };
	return 0;
}

static int by_line_and_time(const void *left, const void *right)
{
	const struct call_residual *a = left, *b = right;

	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	if (a->left_ns != b->left_ns)
		return a->left_ns < b->left_ns ? -1 : 1;
	return a->weight < b->weight ? -1 : a->weight > b->weight;
}

/* Weighted median; half of the weight exactly below it: the mean of the two in the middle. */
static uint64_t median(const struct call_residual *residuals, size_t count)
{
	double half = 0, below = 0;

	for (size_t i = 0; i < count; i++)
		half += residuals[i].weight / 2;
	for (size_t i = 0; i < count; i++) {
		below += residuals[i].weight;
		if (below > half)
			return residuals[i].left_ns;
		if (below == half && i + 1 < count)
			return residuals[i].left_ns / 2 + residuals[i + 1].left_ns / 2 +
			       (residuals[i].left_ns & residuals[i + 1].left_ns & 1);
	}
	return residuals[count - 1].left_ns;
}

/* Where the residuals of the line at start end; they are sorted. */
static size_t line_end(const struct call_times *times, size_t start)
{
	size_t end = start;

	while (end < times->count && times->residuals[end].line == times->residuals[start].line)
		end++;
	return end;
}

/* What every residual includes besides the call. */
static uint64_t common_base(const struct call_times *times)
{
	uint64_t base = CALL_TIME_BASE_MAX_NS;
	bool known = false;
	size_t end;

	for (size_t start = 0; start < times->count; start = end) {
		uint64_t left_ns;

		end = line_end(times, start);
		if (end - start < CALL_TIME_BASE_COUNT)
			continue;
		left_ns = median(&times->residuals[start], end - start);
		base = left_ns < base ? left_ns : base;
		known = true;
	}
	return known ? base : 0;
}

void call_times_estimate(struct call_times *times,
			 void (*found)(void *context, uint32_t line, uint64_t call_ns,
				       size_t count),
			 void *context)
{
	uint64_t base;
	size_t end;

	if (times->count)
		qsort(times->residuals, times->count, sizeof(times->residuals[0]),
		      by_line_and_time);
	base = common_base(times);
	for (size_t start = 0; start < times->count; start = end) {
		uint64_t left_ns;

		end = line_end(times, start);
		left_ns = median(&times->residuals[start], end - start);
		left_ns = left_ns > base ? left_ns - base : 0;
		left_ns = left_ns > UINT64_MAX / 2 ? UINT64_MAX : 2 * left_ns;
		found(context, times->residuals[start].line,
		      left_ns > CALL_TIME_FLOOR_NS ? left_ns : CALL_TIME_FLOOR_NS, end - start);
	}
}
