/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cct/side_time.h"

const char *wait_kind_name(enum wait_kind kind)
{
	static const char *const names[WAIT_KIND_COUNT] = {
		[WAIT_LOCK] = "lock",   [WAIT_GIL] = "gil",     [WAIT_IO] = "io",
		[WAIT_SLEEP] = "sleep", [WAIT_CHILD] = "child", [WAIT_OTHER] = "other",
	};

	return names[kind];
}

uint64_t side_time_waiting_ns(const struct side_time *side)
{
	uint64_t sum_ns = 0;

	for (unsigned i = 0; i < WAIT_KIND_COUNT; i++)
		sum_ns += side->waiting_ns[i];
	return sum_ns;
}

uint64_t side_time_fresh_bytes(const struct side_time *side)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < FRESH_OWNER_COUNT; i++)
		sum += side->fresh_bytes[i];
	return sum;
}

bool side_time_any(const struct side_time *side)
{
	return side_time_waiting_ns(side) > 0 || side_time_fresh_bytes(side) > 0 ||
	       side->allocation_samples > 0;
}

void side_time_add(struct side_time *to, const struct side_time *more)
{
	for (unsigned i = 0; i < WAIT_KIND_COUNT; i++)
		to->waiting_ns[i] += more->waiting_ns[i];
	to->collecting_ns += more->collecting_ns;
	to->contending_ns += more->contending_ns;
	for (unsigned i = 0; i < FRESH_OWNER_COUNT; i++)
		to->fresh_bytes[i] += more->fresh_bytes[i];
	to->fresh_samples += more->fresh_samples;
	to->copying_ns += more->copying_ns;
	to->copied_low_bytes += more->copied_low_bytes;
	to->copied_high_bytes += more->copied_high_bytes;
	to->allocated_bytes += more->allocated_bytes;
	to->allocated_objects += more->allocated_objects;
	to->released_bytes += more->released_bytes;
	to->released_objects += more->released_objects;
	to->allocation_samples += more->allocation_samples;
}

static const struct window_field side_fields[] = {
	WINDOW_FIELD(side_time, waiting_ns, WINDOW_SUBTRACT),
	WINDOW_FIELD(side_time, collecting_ns, WINDOW_SUBTRACT),
	WINDOW_FIELD(side_time, contending_ns, WINDOW_SUBTRACT),
	WINDOW_FIELD(side_time, fresh_bytes, WINDOW_SUBTRACT),
	WINDOW_FIELD(side_time, fresh_samples, WINDOW_SUBTRACT),
	WINDOW_FIELD(side_time, copying_ns, WINDOW_SUBTRACT),
	WINDOW_FIELD(side_time, copied_low_bytes, WINDOW_SUBTRACT),
	WINDOW_FIELD(side_time, copied_high_bytes, WINDOW_SUBTRACT),
	WINDOW_FIELD(side_time, allocated_bytes, WINDOW_SUBTRACT),
	WINDOW_FIELD(side_time, allocated_objects, WINDOW_SUBTRACT),
	WINDOW_FIELD(side_time, released_bytes, WINDOW_SUBTRACT),
	WINDOW_FIELD(side_time, released_objects, WINDOW_SUBTRACT),
	WINDOW_FIELD(side_time, allocation_samples, WINDOW_SUBTRACT),
};

const struct window_table window_side_time = WINDOW_TABLE(side_time, side_fields);

void side_time_subtract(struct side_time *from, const struct side_time *less)
{
	window_subtract(&window_side_time, from, less);
}
