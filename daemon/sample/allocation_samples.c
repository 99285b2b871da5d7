/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/sample/allocation_samples.h"

#include "common/hash.h"

static void charge(const struct allocation_kept *kept, const struct side_time *more)
{
	if (kept->node)
		side_time_add(kept->node, more);
	if (kept->thread)
		side_time_add(kept->thread, more);
}

void allocation_samples_charge(struct allocation_samples *samples,
			       const struct clock_sample *sample, struct side_time *node,
			       struct side_time *thread)
{
	struct allocation_kept *kept =
		&samples->kept[hash_word(sample->allocation) % ALLOCATION_SAMPLES_KEPT];
	uint64_t own = sample->allocated_bytes ? sample->allocated_bytes : 1;
	struct side_time made = { .allocation_samples = 1 };

	/* One in so many bytes is sampled: of small objects it stands for several. */
	*kept = (struct allocation_kept){
		.number = sample->allocation,
		.bytes = sample->allocation_bytes,
		.objects = (sample->allocation_bytes + own / 2) / own,
		.node = node,
		.thread = thread,
	};
	made.allocated_bytes = kept->bytes;
	made.allocated_objects = kept->objects;
	charge(kept, &made);
}

bool allocation_samples_release(struct allocation_samples *samples, uint32_t number)
{
	struct allocation_kept *kept = &samples->kept[hash_word(number) % ALLOCATION_SAMPLES_KEPT];
	struct side_time released = { .released_bytes = kept->bytes,
				      .released_objects = kept->objects };

	if (!number || kept->number != number)
		return false;
	charge(kept, &released);
	kept->number = 0;
	return true;
}
