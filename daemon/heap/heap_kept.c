/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/heap/heap_kept.h"

#include "common/clock.h"
#include "common/hash.h"

#include <stdlib.h>

#define SLOTS (2 * HEAP_KEPT_BLOCKS_MAX)
/* Of the time: what was made in the last part is too young. */
#define YOUNG_PART 3
/* A line is named for so many blocks, and for so much of what stays. */
#define BLOCKS_LEAST 3
#define SHARE_LEAST  0.1
/* So many times what the memory grows by. */
#define SEEMS_MOST 3

static struct heap_kept_block *find(struct heap_kept *kept, uint32_t number, size_t *ret_slot)
{
	size_t slot = hash_word(number) % SLOTS;

	while (kept->by_number[slot] && kept->blocks[kept->by_number[slot] - 1].number != number)
		slot = (slot + 1) % SLOTS;
	*ret_slot = slot;
	return kept->by_number[slot] ? &kept->blocks[kept->by_number[slot] - 1] : NULL;
}

/* Its number; HEAP_KEPT_SITES_MAX: there are more than are told apart. */
static size_t take_site(struct heap_kept *kept, const struct heap_site *site)
{
	for (size_t i = 0; i < kept->site_count; i++)
		if (heap_site_same(&kept->sites[i].site, site))
			return i;
	if (kept->site_count == HEAP_KEPT_SITES_MAX)
		return HEAP_KEPT_SITES_MAX;
	kept->sites[kept->site_count] = (struct heap_kept_site){ .site = *site };
	return kept->site_count++;
}

bool heap_kept_note(struct heap_kept *kept, uint32_t number, uint64_t bytes, uint64_t stands_for,
		    const struct python_stack *stack)
{
	struct heap_site site = { .caller_count = 0 };
	size_t slot, taken;

	if (kept->block_count == HEAP_KEPT_BLOCKS_MAX) {
		kept->beyond_blocks++;
		return false;
	}
	if (find(kept, number, &slot))
		return true;
	if (stack && stack->count)
		heap_site_find(stack, &site);
	else
		kept->without_python++;
	taken = take_site(kept, &site);
	if (taken == HEAP_KEPT_SITES_MAX) {
		kept->beyond_sites++;
		return true;
	}
	kept->blocks[kept->block_count] = (struct heap_kept_block){
		.number = number,
		.site = (uint16_t)taken,
		.looks = (uint16_t)kept->look_count,
		.bytes = bytes,
		.stands_for = stands_for,
	};
	kept->by_number[slot] = (uint32_t)++kept->block_count;
	return kept->block_count < HEAP_KEPT_BLOCKS_MAX;
}

void heap_kept_mark(struct heap_kept *kept, remote_addr address, uint32_t number)
{
	size_t slot;
	struct heap_kept_block *block = find(kept, number, &slot);

	if (!block)
		return;
	block->marked = true;
	block->address = address;
}

void heap_kept_ask(struct heap_kept *kept)
{
	kept->asked_count = 0;
	for (size_t i = 0; i < kept->block_count; i++) {
		struct heap_kept_block *block = &kept->blocks[i];

		if (!block->marked)
			block->state = HEAP_ANSWER_GONE;
		block->marked = false;
		if (block->state == HEAP_ANSWER_GONE)
			continue;
		kept->asked[kept->asked_count] = block->address;
		kept->asked_blocks[kept->asked_count++] = (uint32_t)i;
	}
}

void heap_kept_answer(struct heap_kept *kept, const struct heap_answer *answers, uint64_t time_ns,
		      uint64_t observed_ns)
{
	size_t look = kept->look_count < HEAP_KEPT_LOOKS_MAX ? kept->look_count++
							     : HEAP_KEPT_LOOKS_MAX - 1;

	kept->looks[look] = (struct heap_kept_look){ time_ns, observed_ns };
	for (size_t i = 0; i < kept->asked_count; i++) {
		struct heap_kept_block *block = &kept->blocks[kept->asked_blocks[i]];

		if (answers[i].state == HEAP_ANSWER_UNKNOWN)
			continue;
		block->state = answers[i].state;
		/* A smaller one: it is another, or was made smaller. */
		if (block->state != HEAP_ANSWER_GONE && answers[i].size < block->bytes)
			block->state = HEAP_ANSWER_GONE;
	}
	kept->asked_count = 0;
}

static void add(struct heap_kept_sum *sum, const struct heap_kept_block *block)
{
	sum->blocks++;
	sum->bytes += block->stands_for;
}

static void add_block(struct heap_kept_sum *made, struct heap_kept_sum *stayed,
		      struct heap_kept_sum *native, const struct heap_kept_block *block)
{
	add(made, block);
	if (block->state == HEAP_ANSWER_GONE)
		return;
	add(stayed, block);
	if (block->state != HEAP_ANSWER_HELD)
		add(native, block);
}

static int compare_kept(const void *left, const void *right)
{
	const struct heap_kept_site *a = *(const struct heap_kept_site *const *)left;
	const struct heap_kept_site *b = *(const struct heap_kept_site *const *)right;

	return a->kept.bytes < b->kept.bytes ? 1 : a->kept.bytes > b->kept.bytes ? -1 : 0;
}

static int compare_native(const void *left, const void *right)
{
	const struct heap_kept_site *a = *(const struct heap_kept_site *const *)left;
	const struct heap_kept_site *b = *(const struct heap_kept_site *const *)right;

	return a->native.bytes < b->native.bytes ? 1 : a->native.bytes > b->native.bytes ? -1 : 0;
}

/* The last look before which what was made is old enough; -1: there is none. */
static int last_old(const struct heap_kept *kept, uint64_t began_ns, uint64_t *ret_age_ns)
{
	uint64_t end_ns = kept->look_count ? kept->looks[kept->look_count - 1].time_ns : 0;
	int found = -1;

	if (end_ns <= began_ns)
		return -1;
	for (size_t i = 0; i < kept->look_count; i++)
		if (kept->looks[i].time_ns <= end_ns - (end_ns - began_ns) / YOUNG_PART)
			found = (int)i;
	if (found >= 0)
		*ret_age_ns = end_ns - kept->looks[found].time_ns;
	return found;
}

/* Of sites that are in order, those that are worth a name; why there are none. */
static enum heap_kept_doubt choose(struct heap_kept_result *result, bool native, double bytes_per_s)
{
	const struct heap_kept_sum all = native ? result->native : result->kept;
	double seems_per_s = result->observed_ns ? (double)all.bytes * NS_PER_SECOND /
							   (double)result->observed_ns
						 : 0;
	size_t named = 0;

	while (named < result->site_count) {
		struct heap_kept_sum stays = heap_kept_stays(result->sites[named], native);

		if (stays.blocks < BLOCKS_LEAST ||
		    (double)stays.bytes < SHARE_LEAST * (double)all.bytes)
			break;
		named++;
	}
	result->site_count = 0;
	if (!named)
		return HEAP_KEPT_NOTHING;
	if (seems_per_s > SEEMS_MOST * bytes_per_s)
		return HEAP_KEPT_UNSEEN;
	result->site_count = named;
	return HEAP_KEPT_CERTAIN;
}

void heap_kept_sites(struct heap_kept *kept, uint64_t began_ns, bool native, double bytes_per_s,
		     struct heap_kept_result *ret_result)
{
	int last;

	*ret_result = (struct heap_kept_result){ .doubt = HEAP_KEPT_NO_LOOKS };
	for (size_t i = 0; i < kept->site_count; i++) {
		struct heap_kept_site *site = &kept->sites[i];

		site->made = site->kept = site->native = (struct heap_kept_sum){ 0 };
	}
	last = last_old(kept, began_ns, &ret_result->age_ns);
	if (last < 0)
		return;
	ret_result->observed_ns = kept->looks[last].observed_ns;
	for (size_t i = 0; i < kept->block_count; i++) {
		const struct heap_kept_block *block = &kept->blocks[i];
		struct heap_kept_site *site = &kept->sites[block->site];

		if (block->looks > last)
			continue;
		add_block(&site->made, &site->kept, &site->native, block);
		add_block(&ret_result->made, &ret_result->kept, &ret_result->native, block);
	}
	for (size_t i = 0; i < kept->site_count; i++)
		if (kept->sites[i].made.blocks)
			ret_result->sites[ret_result->site_count++] = &kept->sites[i];
	if (ret_result->site_count)
		qsort(ret_result->sites, ret_result->site_count, sizeof(ret_result->sites[0]),
		      native ? compare_native : compare_kept);
	ret_result->doubt = choose(ret_result, native, bytes_per_s);
}
