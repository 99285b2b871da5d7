/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs of several profiles: the same where a reader takes their paths for the same. */
#include "common/array.h"
#include "common/hash.h"
#include "daemon/report/merge/profile_merge.h"
#include "daemon/report/merge/profile_merge_parts.h"

#include <errno.h>
#include <stdlib.h>

static void free_frames(const struct profile_frame *frames)
{
	free((void *)(uintptr_t)frames);
}

void merge_pairs_free(struct profile_merge *merge)
{
	for (size_t i = 0; i < merge->pair_count; i++) {
		free_frames(merge->pairs[i].pair.first);
		free_frames(merge->pairs[i].pair.second);
	}
	free(merge->pairs);
}

static int find_pair_path(struct profile_merge *merge, const struct profile_frame *frames,
			  size_t count, uint32_t *ret_path)
{
	uint32_t path = 0;

	for (size_t i = 0; i < count; i++) {
		struct profile_frame place = merge_frame_place(&frames[i]);
		uint32_t id;
		int result = merge_frame_find(&merge->frames, &place, &id);

		if (!result)
			result = merge_path_find(&merge->pair_paths, path, id, &path);
		if (result)
			return result;
	}
	*ret_path = path;
	return 0;
}

static int copy_frames(struct profile_merge *merge, const struct profile_frame *frames,
		       size_t count, const struct profile_frame **ret_frames)
{
	struct profile_frame *copy = calloc(count + 1, sizeof(*copy));

	for (size_t i = 0; copy && i < count; i++)
		if (merge_frame_copy(&merge->frames, &frames[i], &copy[i])) {
			free(copy);
			return -ENOMEM;
		}
	if (!copy)
		return -ENOMEM;
	*ret_frames = copy;
	return 0;
}

static int compare_frames(const struct profile_pair *a, const struct profile_pair *b)
{
	int order = 0;

	/* Of one pair of paths: they are equally long. */
	for (size_t i = 0; i < a->first_count && !order; i++)
		order = merge_frame_compare(&a->first[i], &b->first[i]);
	for (size_t i = 0; i < a->second_count && !order; i++)
		order = merge_frame_compare(&a->second[i], &b->second[i]);
	return order;
}

static int show_pair(struct profile_merge *merge, struct merged_pair *entry,
		     const struct profile_pair *pair)
{
	const struct profile_frame *first, *second;

	if (copy_frames(merge, pair->first, pair->first_count, &first))
		return -ENOMEM;
	if (copy_frames(merge, pair->second, pair->second_count, &second)) {
		free_frames(first);
		return -ENOMEM;
	}
	free_frames(entry->pair.first);
	free_frames(entry->pair.second);
	entry->pair.first = first;
	entry->pair.first_count = pair->first_count;
	entry->pair.second = second;
	entry->pair.second_count = pair->second_count;
	return 0;
}

/* It may have been over a limit in one of the profiles. */
static int find_pair_line(struct profile_merge *merge, const struct profile_pair *pair,
			  struct merged_pair *entry)
{
	const char *file, *function;
	uint64_t hash;

	if (!pair->line || entry->line != MERGE_NONE)
		return 0;
	return merge_line_find(merge, pair->line, &hash, &file, &function, &entry->line);
}

static int new_pair(struct profile_merge *merge, const struct profile_pair *pair,
		    const struct merged_pair *keys, uint64_t hash)
{
	struct merged_pair entry = *keys;

	if (!ARRAY_ROOM(merge->pairs, merge->pair_count, merge->pair_capacity))
		return -ENOMEM;
	entry.line = MERGE_NONE;
	if (find_pair_line(merge, pair, &entry))
		return -ENOMEM;
	entry.pair = *pair;
	entry.pair.line = NULL;
	entry.pair.first = entry.pair.second = NULL;
	if (show_pair(merge, &entry, pair))
		return -ENOMEM;
	merge->pairs[merge->pair_count++] = entry; /* its frames are freed with the rest */
	if (id_table_reserve(&merge->pair_ids))
		return -ENOMEM;
	id_table_add(&merge->pair_ids, hash, (uint32_t)merge->pair_count - 1);
	return 0;
}

int merge_pair_add(struct profile_merge *merge, const struct profile_pair *pair)
{
	struct merged_pair keys = { 0 };
	size_t probe = 0;
	uint64_t hash;
	uint32_t id;
	int result = find_pair_path(merge, pair->first, pair->first_count, &keys.first);

	if (!result)
		result = find_pair_path(merge, pair->second, pair->second_count, &keys.second);
	if (result == -ENOSPC) {
		merge->pairs_omitted++;
		return 0;
	}
	if (result)
		return result;
	hash = hash_mix(hash_mix((uint64_t)keys.first << 32 | keys.second) + pair->kind);
	while ((id = id_table_next(&merge->pair_ids, hash, &probe)) != ID_NONE) {
		struct merged_pair *known = &merge->pairs[id];

		if (known->pair.kind != pair->kind || known->first != keys.first ||
		    known->second != keys.second)
			continue;
		merge_fields(MERGE_PAIR, &known->pair, pair);
		if (find_pair_line(merge, pair, known))
			return -ENOMEM;
		/* A reader takes their frames for the same; some must be shown. */
		return compare_frames(pair, &known->pair) < 0 ? show_pair(merge, known, pair) : 0;
	}
	if (merge->pair_count >= MERGE_PAIRS_MAX) {
		merge->pairs_omitted++;
		return 0;
	}
	return new_pair(merge, pair, &keys, hash);
}
