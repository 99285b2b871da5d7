/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/merge/merge_paths.h"

#include "common/array.h"
#include "common/hash.h"
#include "daemon/report/model/place.h"

#include <errno.h>
#include <string.h>

void merge_frames_deinit(struct merge_frames *frames)
{
	string_table_deinit(&frames->strings);
	free(frames->frames);
	id_table_deinit(&frames->ids);
	*frames = (struct merge_frames){ 0 };
}

int merge_string(struct merge_frames *frames, const char *text, const char **ret_text)
{
	uint32_t index;

	if (!text) {
		*ret_text = NULL;
		return 0;
	}
	if (string_table_find(&frames->strings, text, &index))
		return -ENOMEM;
	*ret_text = frames->strings.strings[index];
	return 0;
}

int merge_frame_copy(struct merge_frames *frames, const struct profile_frame *frame,
		     struct profile_frame *ret_frame)
{
	struct profile_frame copy = *frame;

	if (merge_string(frames, frame->function, &copy.function) ||
	    merge_string(frames, frame->file, &copy.file) ||
	    merge_string(frames, frame->native_file, &copy.native_file) ||
	    merge_string(frames, frame->opcode, &copy.opcode) ||
	    merge_string(frames, frame->source, &copy.source) ||
	    merge_string(frames, frame->build_id, &copy.build_id))
		return -ENOMEM;
	*ret_frame = copy;
	return 0;
}

/* Their strings are the table's. */
static bool same(const struct profile_frame *a, const struct profile_frame *b)
{
	return a->kind == b->kind && a->flags == b->flags && a->function == b->function &&
	       a->file == b->file && a->line == b->line && a->native_file == b->native_file &&
	       a->inlined == b->inlined && a->opcode == b->opcode && a->source == b->source &&
	       a->address == b->address && a->function_address == b->function_address &&
	       a->build_id == b->build_id;
}

static uint64_t merge_path_hash_of(const struct profile_frame *frame)
{
	uint64_t hash = hash_mix((uintptr_t)frame->function);

	hash = hash_mix(hash ^ (uintptr_t)frame->file);
	return hash_mix(hash ^ frame->address ^ (uint64_t)(uint32_t)frame->line << 32);
}

int merge_frame_find(struct merge_frames *frames, const struct profile_frame *frame,
		     uint32_t *ret_frame)
{
	struct profile_frame copy;
	size_t probe = 0;
	uint64_t hash;
	uint32_t id;

	if (merge_frame_copy(frames, frame, &copy))
		return -ENOMEM;
	hash = merge_path_hash_of(&copy);
	while ((id = id_table_next(&frames->ids, hash, &probe)) != ID_NONE)
		if (same(&frames->frames[id], &copy)) {
			*ret_frame = id;
			return 0;
		}
	if (!ARRAY_ROOM(frames->frames, frames->count, frames->capacity) ||
	    id_table_reserve(&frames->ids))
		return -ENOMEM;
	*ret_frame = (uint32_t)frames->count;
	id_table_add(&frames->ids, hash, *ret_frame);
	frames->frames[frames->count++] = copy;
	return 0;
}

struct profile_frame merge_frame_place(const struct profile_frame *frame)
{
	struct profile_frame place = {
		.kind = frame->kind,
		.function = frame->function,
		.file = frame->file,
		.inlined = frame->inlined,
	};

	if (frame->kind == FRAME_PYTHON)
		place.line = frame->line;
	else if (!strcmp(frame->function, "?"))
		place.address = frame->function_address ? frame->function_address : frame->address;
	return place;
}

static int merge_path_compare_texts(const char *a, const char *b)
{
	if (!a || !b)
		return a ? 1 : b ? -1 : 0;
	return strcmp(a, b);
}

/* What a reader does not see, so that equal input has but one order. */
static int compare_hidden(const struct profile_frame *a, const struct profile_frame *b)
{
	int order = merge_path_compare_texts(a->build_id, b->build_id);

	if (a->function_address != b->function_address)
		return a->function_address < b->function_address ? -1 : 1;
	if (!order)
		order = merge_path_compare_texts(a->native_file, b->native_file);
	if (!order)
		order = merge_path_compare_texts(a->source, b->source);
	if (!order)
		order = merge_path_compare_texts(a->opcode, b->opcode);
	if (!order && a->flags != b->flags)
		order = a->flags < b->flags ? -1 : 1;
	return order ? order : a->inlined - b->inlined;
}

static struct place merge_path_place_of(const struct profile_frame *frame)
{
	return (struct place){
		.kind = frame->kind,
		.function = frame->function,
		.file = frame->file,
		.line = frame->line,
		.address = frame->address,
	};
}

int merge_frame_compare(const struct profile_frame *a, const struct profile_frame *b)
{
	struct place place_a = merge_path_place_of(a), place_b = merge_path_place_of(b);
	int order = place_compare(&place_a, &place_b);

	return order ? order : compare_hidden(a, b);
}

int merge_paths_init(struct merge_paths *paths, size_t limit)
{
	*paths = (struct merge_paths){ .limit = limit };
	if (!ARRAY_ROOM(paths->paths, 0, paths->capacity))
		return -ENOMEM;
	paths->paths[paths->count++] = (struct merge_path){ 0 };
	return 0;
}

void merge_paths_deinit(struct merge_paths *paths)
{
	free(paths->paths);
	id_table_deinit(&paths->ids);
	*paths = (struct merge_paths){ 0 };
}

int merge_path_find(struct merge_paths *paths, uint32_t parent, uint32_t frame, uint32_t *ret_path)
{
	uint64_t hash = hash_mix((uint64_t)parent << 32 | frame);
	size_t probe = 0;
	uint32_t id;

	while ((id = id_table_next(&paths->ids, hash, &probe)) != ID_NONE)
		if (paths->paths[id].parent == parent && paths->paths[id].frame == frame) {
			*ret_path = id;
			return 0;
		}
	if (paths->count >= paths->limit)
		return -ENOSPC;
	if (!ARRAY_ROOM(paths->paths, paths->count, paths->capacity) ||
	    id_table_reserve(&paths->ids))
		return -ENOMEM;
	*ret_path = (uint32_t)paths->count;
	id_table_add(&paths->ids, hash, *ret_path);
	paths->paths[paths->count++] = (struct merge_path){
		.parent = parent,
		.frame = frame,
		.depth = paths->paths[parent].depth + 1,
	};
	return 0;
}

int merge_path_compare(const struct merge_paths *paths, const struct merge_frames *frames,
		       uint32_t a, uint32_t b)
{
	while (a != b) {
		const struct merge_path *path_a = &paths->paths[a], *path_b = &paths->paths[b];
		int order;

		if (!a || !b)
			return a ? 1 : -1;
		order = merge_frame_compare(&frames->frames[path_a->frame],
					    &frames->frames[path_b->frame]);
		if (order)
			return order;
		a = path_a->parent;
		b = path_b->parent;
	}
	return 0;
}
