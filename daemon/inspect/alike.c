/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/inspect/alike.h"

#include "common/hash.h"
#include "daemon/cct/id_table.h"

#include <string.h>

static uint64_t alike_mix(uint64_t hash, const char *string)
{
	return hash_mix(hash_add_string(hash, string));
}

static uint64_t alike_hash(const struct alike *stack)
{
	uint64_t hash = hash_mix(stack->kind ^ stack->frame_count);

	for (size_t i = 0; i < stack->frame_count; i++) {
		const struct profile_frame *frame = &stack->frames[i];

		hash = alike_mix(alike_mix(hash, frame->function), frame->file);
		hash = hash_mix(hash ^ (uint64_t)frame->line ^ frame->address);
	}
	return hash;
}

static bool is_same_frame(const struct profile_frame *a, const struct profile_frame *b)
{
	return a->kind == b->kind && a->line == b->line && a->address == b->address &&
	       a->flags == b->flags && !strcmp(a->function, b->function) &&
	       !strcmp(a->file, b->file);
}

static bool is_same(const struct alike *a, const struct alike *b)
{
	if (a->hash != b->hash || a->kind != b->kind || a->alone || b->alone ||
	    a->frame_count != b->frame_count)
		return false;
	for (size_t i = 0; i < a->frame_count; i++)
		if (!is_same_frame(&a->frames[i], &b->frames[i]))
			return false;
	return true;
}

void alike_find(struct alike *stacks, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		size_t first = 0;

		stacks[i].hash = alike_hash(&stacks[i]);
		/* Only those that others are like. */
		while (first < i &&
		       (stacks[first].first != first || !is_same(&stacks[first], &stacks[i])))
			first++;
		stacks[i].first = first;
		stacks[i].members = 0;
		stacks[first].members++;
	}
}
