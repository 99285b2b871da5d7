/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/detect/verdict.h"

#include <math.h>
#include <string.h>

static double float_at(const uint8_t *bytes, unsigned element_size)
{
	double wide;
	float narrow;

	if (element_size == 8) {
		memcpy(&wide, bytes, sizeof(wide));
		return wide;
	}
	memcpy(&narrow, bytes, sizeof(narrow));
	return (double)narrow;
}

enum access_verdict verdict_compare(const uint8_t *before, const uint8_t *after, size_t size,
				    unsigned element_size)
{
	if (!memcmp(before, after, size))
		return VERDICT_REDUNDANT;
	if ((element_size != 4 && element_size != 8) || size % element_size || !size)
		return VERDICT_NEW;
	for (size_t at = 0; at < size; at += element_size) {
		double a = float_at(before + at, element_size),
		       b = float_at(after + at, element_size);

		/* Infinity is within 1% of everything by the formula; NaN of nothing. */
		if (!isfinite(a) || !isfinite(b) ||
		    !(fabs(a - b) <= VERDICT_EPSILON * fmax(fabs(a), fabs(b))))
			return VERDICT_NEW;
	}
	return VERDICT_APPROXIMATE;
}

struct address_range verdict_watch_range(remote_addr address, uint32_t size)
{
	for (uint32_t length = 8; length > 1; length /= 2) {
		remote_addr start = (address + length - 1) & ~(remote_addr)(length - 1);

		if (size >= length && start - address <= size - length)
			return (struct address_range){ .start = start, .end = start + length };
	}
	return (struct address_range){ .start = address, .end = address + 1 };
}
