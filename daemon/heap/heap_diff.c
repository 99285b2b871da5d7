/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/heap/heap_diff.h"

#include "common/array.h"
#include "common/hash.h"
#include "daemon/cct/id_table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int64_t heap_diff_change(const uint64_t figures[HEAP_SIDES])
{
	return (int64_t)figures[HEAP_NOW] - (int64_t)figures[HEAP_BASE];
}

bool heap_diff_is_unchanged(const struct heap_type_change *type)
{
	return !heap_diff_change(type->bytes) && !heap_diff_change(type->count);
}

/* ---- types */

static int compare_types(const void *left, const void *right)
{
	const struct heap_type_change *a = left, *b = right;
	int64_t x = heap_diff_change(a->bytes), y = heap_diff_change(b->bytes);

	if (x != y)
		return x < y ? 1 : -1;
	x = heap_diff_change(a->count);
	y = heap_diff_change(b->count);
	if (x != y)
		return x < y ? 1 : -1;
	return strcmp(a->name, b->name);
}

static int compare_names(const void *left, const void *right)
{
	const struct heap_type_change *a = left, *b = right;

	return strcmp(a->name, b->name);
}

static struct heap_type_change type_change(enum heap_side side, const struct heap_type_count *type)
{
	struct heap_type_change change = { .name = type->name };

	change.present[side] = true;
	change.count[side] = type->count;
	change.bytes[side] = type->bytes + type->storage_bytes;
	change.storage_bytes[side] = type->storage_bytes;
	return change;
}

/* Those of one name become one. */
static size_t join_names(struct heap_type_change *changes, size_t count)
{
	size_t kept = 0;

	qsort(changes, count, sizeof(*changes), compare_names);
	for (size_t i = 0; i < count; i++) {
		struct heap_type_change *into;

		if (!kept || strcmp(changes[kept - 1].name, changes[i].name) != 0) {
			changes[kept++] = changes[i];
			continue;
		}
		into = &changes[kept - 1];
		for (size_t side = 0; side < HEAP_SIDES; side++) {
			into->present[side] |= changes[i].present[side];
			into->count[side] += changes[i].count[side];
			into->bytes[side] += changes[i].bytes[side];
			into->storage_bytes[side] += changes[i].storage_bytes[side];
		}
	}
	qsort(changes, kept, sizeof(*changes), compare_types);
	return kept;
}

static int find_types(struct heap_diff *diff)
{
	size_t room = 1;

	for (size_t side = 0; side < HEAP_SIDES; side++)
		room += diff->files[side]->look.snapshot.type_count;
	diff->types = calloc(room, sizeof(*diff->types));
	if (!diff->types)
		return -ENOMEM;
	for (enum heap_side side = 0; side < HEAP_SIDES; side++) {
		const struct heap_snapshot *snapshot = &diff->files[side]->look.snapshot;

		for (size_t i = 0; i < snapshot->type_count; i++)
			diff->types[diff->type_count++] = type_change(side, &snapshot->types[i]);
	}
	diff->type_count = join_names(diff->types, diff->type_count);
	return 0;
}

static int find_arrays(struct heap_diff *diff)
{
	size_t room = 1;

	for (size_t side = 0; side < HEAP_SIDES; side++)
		room += diff->files[side]->look.snapshot.array_count;
	diff->arrays = calloc(room, sizeof(*diff->arrays));
	if (!diff->arrays)
		return -ENOMEM;
	for (enum heap_side side = 0; side < HEAP_SIDES; side++) {
		const struct heap_snapshot *snapshot = &diff->files[side]->look.snapshot;

		for (size_t i = 0; i < snapshot->array_count; i++) {
			struct heap_type_change *change = &diff->arrays[diff->array_count++];

			change->name = snapshot->arrays[i].name;
			change->present[side] = true;
			change->count[side] = snapshot->arrays[i].count;
			change->bytes[side] = snapshot->arrays[i].bytes;
		}
	}
	diff->array_count = join_names(diff->arrays, diff->array_count);
	return 0;
}

/* ---- paths */

struct joining {
	struct heap_diff *diff;
	struct id_table ids;
	size_t capacity;
};

/* The path of both, made where there is none yet. 0 or -ENOMEM. */
static int join_path(struct joining *joining, uint32_t parent, const char *step, const char *type,
		     uint32_t *ret_path)
{
	struct heap_diff *diff = joining->diff;
	uint64_t hash = hash_combine(hash_add_string(HASH_BASIS, step), parent);
	uint32_t path;
	size_t probe = 0;

	hash = hash_combine(hash, hash_add_string(HASH_BASIS, type));
	while ((path = id_table_next(&joining->ids, hash, &probe)) != ID_NONE) {
		const struct heap_path_change *found = &diff->paths[path];

		if (found->parent == parent && !strcmp(found->step, step) &&
		    !strcmp(found->type, type)) {
			*ret_path = path;
			return 0;
		}
	}
	if (id_table_reserve(&joining->ids) ||
	    !ARRAY_ROOM(diff->paths, diff->path_count, joining->capacity))
		return -ENOMEM;
	*ret_path = (uint32_t)diff->path_count++;
	diff->paths[*ret_path] =
		(struct heap_path_change){ .parent = parent, .step = step, .type = type };
	id_table_add(&joining->ids, hash, *ret_path);
	return 0;
}

static int join_side(struct joining *joining, enum heap_side side)
{
	const struct heap_snapshot *snapshot = &joining->diff->files[side]->look.snapshot;
	uint32_t *joined = calloc(snapshot->paths.count + 1, sizeof(*joined));
	int error = joined ? 0 : -ENOMEM;

	for (size_t i = 1; !error && i < snapshot->paths.count; i++) {
		const struct heap_path *path = &snapshot->paths.items[i];
		struct heap_path_change *change;

		error = join_path(joining, joined[path->parent],
				  snapshot->paths.strings + path->step,
				  heap_holder_type(snapshot, (uint32_t)i), &joined[i]);
		if (error)
			break;
		change = &joining->diff->paths[joined[i]];
		change->present[side] = true;
		change->count[side] += path->count;
		change->own_bytes[side] += path->bytes;
		change->bytes[side] += snapshot->held_bytes[i];
		change->held_count[side] += snapshot->held_counts[i];
	}
	free(joined);
	return error;
}

static int find_paths(struct heap_diff *diff)
{
	struct joining joining = { .diff = diff };
	int error = 0;

	if (!ARRAY_ROOM(diff->paths, diff->path_count, joining.capacity))
		return -ENOMEM;
	diff->paths[diff->path_count++] = (struct heap_path_change){ .step = "", .type = "" };
	for (enum heap_side side = 0; !error && diff->holders && side < HEAP_SIDES; side++)
		error = join_side(&joining, side);
	id_table_deinit(&joining.ids);
	return error;
}

struct heap_diff *heap_diff_join(const struct heap_file *base, const struct heap_file *now)
{
	struct heap_diff *diff = calloc(1, sizeof(*diff));

	if (!diff)
		return NULL;
	diff->files[HEAP_BASE] = base;
	diff->files[HEAP_NOW] = now;
	diff->holders = base->look.snapshot.holders == HEAP_HOLDERS_KNOWN &&
			now->look.snapshot.holders == HEAP_HOLDERS_KNOWN;
	if (find_types(diff) || find_arrays(diff) || find_paths(diff)) {
		heap_diff_destroy(diff);
		return NULL;
	}
	return diff;
}

void heap_diff_destroy(struct heap_diff *diff)
{
	if (!diff)
		return;
	free(diff->types);
	free(diff->arrays);
	free(diff->paths);
	free(diff->rows);
	free(diff);
}

size_t heap_diff_steps(const struct heap_diff *diff, uint32_t path,
		       uint32_t ret_paths[HEAP_HOLDER_STEPS_MAX])
{
	size_t count = 0;

	for (uint32_t at = path; at && count < HEAP_HOLDER_STEPS_MAX; at = diff->paths[at].parent)
		count++;
	for (size_t i = count; i-- > 0; path = diff->paths[path].parent)
		ret_paths[i] = path;
	return count;
}

void heap_diff_path_words(const struct heap_diff *diff, uint32_t path, char *words, size_t size)
{
	uint32_t steps[HEAP_HOLDER_STEPS_MAX];
	size_t count = heap_diff_steps(diff, path, steps), used = 0;

	words[0] = '\0';
	for (size_t i = 0; i < count && used < size; i++)
		used += (size_t)snprintf(words + used, size - used, "%s",
					 diff->paths[steps[i]].step);
	if (*diff->paths[path].type && used < size)
		snprintf(words + used, size - used, " (%s)", diff->paths[path].type);
}
