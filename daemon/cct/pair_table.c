/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cct/pair_table.h"

#include "common/array.h"
#include "common/hash.h"
#include "daemon/cct/id_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct pair_table {
	size_t limit; /* of pairs, and of origins */
	struct pair *pairs;
	size_t pair_count, pair_capacity;
	struct id_table pair_ids;
	struct pair_origin *origins;
	size_t origin_count, origin_capacity;
	struct id_table origin_ids;
};

struct pair_table *pair_table_create(size_t limit)
{
	struct pair_table *table = calloc(1, sizeof(*table));

	if (table)
		table->limit = limit < INT32_MAX ? limit : INT32_MAX;
	return table;
}

void pair_table_destroy(struct pair_table *table)
{
	if (!table)
		return;
	for (size_t i = 0; i < table->origin_count; i++)
		free(table->origins[i].call_ns);
	free(table->pairs);
	free(table->origins);
	id_table_deinit(&table->pair_ids);
	id_table_deinit(&table->origin_ids);
	free(table);
}

static int reserve_origin(struct pair_table *table)
{

	if (table->origin_count >= table->limit)
		return -ENOSPC;
	if (!ARRAY_ROOM(table->origins, table->origin_count, table->origin_capacity))
		return -ENOMEM;
	return id_table_reserve(&table->origin_ids);
}

static int reserve_pair(struct pair_table *table)
{

	if (table->pair_count >= table->limit)
		return -ENOSPC;
	if (!ARRAY_ROOM(table->pairs, table->pair_count, table->pair_capacity))
		return -ENOMEM;
	return id_table_reserve(&table->pair_ids);
}

static uint64_t pair_hash(enum pair_kind kind, const struct cct_node *first,
			  const struct cct_node *second)
{
	uint64_t key = (uint64_t)kind << 63 | (uint64_t)first->id << 32;

	return hash_mix(second ? key | second->id : hash_mix(key));
}

/* *ret_id is ID_NONE when there is none yet; then room for it is made. 0, -ENOSPC, -ENOMEM. */
static int find_origin(struct pair_table *table, enum pair_kind kind, const struct cct_node *node,
		       uint64_t hash, uint32_t *ret_id)
{
	size_t probe = 0;
	uint32_t id;
	int error;

	while ((id = id_table_next(&table->origin_ids, hash, &probe)) != ID_NONE)
		if (table->origins[id].kind == kind && table->origins[id].node == node)
			break;
	error = id == ID_NONE ? reserve_origin(table) : 0;
	if (!error)
		*ret_id = id;
	return error;
}

/* The same for a pair. */
static int find_pair(struct pair_table *table, enum pair_kind kind, const struct cct_node *first,
		     const struct cct_node *second, uint64_t hash, uint32_t *ret_id)
{
	size_t probe = 0;
	uint32_t id;
	int error;

	while ((id = id_table_next(&table->pair_ids, hash, &probe)) != ID_NONE)
		if (table->pairs[id].kind == kind && table->pairs[id].first == first &&
		    table->pairs[id].second == second)
			break;
	error = id == ID_NONE ? reserve_pair(table) : 0;
	if (!error)
		*ret_id = id;
	return error;
}

static struct pair_origin *origin_at(struct pair_table *table, uint32_t id, enum pair_kind kind,
				     const struct cct_node *node, uint64_t hash)
{
	if (id == ID_NONE) {
		id = (uint32_t)table->origin_count++;
		table->origins[id] = (struct pair_origin){ .kind = kind, .node = node };
		id_table_add(&table->origin_ids, hash, id);
	}
	return &table->origins[id];
}

/*
 * Keeps a uniform choice of all durations seen: when the store is full, the
 * n-th replaces a random one with probability kept / n (algorithm R). The
 * generator is a function of n, so that equal runs give equal profiles.
 */
static void keep_call(struct pair_origin *origin, uint64_t call_ns)
{
	uint64_t at;

	if (!call_ns)
		return;
	origin->call_count++;
	origin->call_ns_sum += call_ns;
	if (origin->call_ns_kept < PAIR_ORIGIN_CALLS_MAX) {
		size_t kept = origin->call_ns_kept;

		/* Grown at each power of two from 8. Out of memory costs this one value. */
		if (kept == 0 || (kept >= 8 && !(kept & (kept - 1)))) {
			uint64_t *grown = reallocarray(origin->call_ns, kept ? kept * 2 : 8,
						       sizeof(origin->call_ns[0]));

			if (!grown)
				return;
			origin->call_ns = grown;
		}
		origin->call_ns[origin->call_ns_kept++] = call_ns;
		return;
	}
	at = hash_mix(origin->call_count) % origin->call_count;
	if (at < PAIR_ORIGIN_CALLS_MAX)
		origin->call_ns[at] = call_ns;
}

static void count_sample(struct pair_origin *origin, const struct pair_evidence *evidence)
{
	origin->sampled++;
	origin->by_memory[evidence->memory]++;
	keep_call(origin, evidence->call_ns);
}

int pair_table_add(struct pair_table *table, enum pair_kind kind, const struct cct_node *first,
		   const struct cct_node *second, enum access_verdict verdict,
		   const struct pair_evidence *evidence)
{
	uint64_t origin_key = pair_hash(kind, first, NULL);
	uint64_t pair_key = pair_hash(kind, first, second);
	uint32_t origin_id = ID_NONE, pair_id = ID_NONE;
	struct pair_origin *origin;
	struct pair *pair;
	int error;

	/* Room for both is made first, so that the counts of either agree whatever fails. */
	error = find_origin(table, kind, first, origin_key, &origin_id);
	if (!error)
		error = find_pair(table, kind, first, second, pair_key, &pair_id);
	if (error)
		return error;
	origin = origin_at(table, origin_id, kind, first, origin_key);
	if (pair_id == ID_NONE) {
		pair_id = (uint32_t)table->pair_count++;
		table->pairs[pair_id] =
			(struct pair){ .kind = kind, .first = first, .second = second };
		id_table_add(&table->pair_ids, pair_key, pair_id);
	}
	pair = &table->pairs[pair_id];

	count_sample(origin, evidence);
	origin->verdicts[verdict]++;
	pair->verdicts[verdict]++;
	pair->same_instruction += evidence->same_instruction;
	pair->distance_ns_sum += evidence->distance_ns;
	if (verdict == VERDICT_NEW && evidence->settled) {
		pair->settled++;
		pair->settled_same += evidence->settled_same;
	}
	if (verdict == VERDICT_REDUNDANT)
		pair->bytes += evidence->bytes;
	if (verdict != VERDICT_NEW)
		origin->redundant_by_memory[evidence->memory]++;
	return 0;
}

int pair_table_add_never(struct pair_table *table, enum pair_kind kind,
			 const struct cct_node *first, const struct pair_evidence *evidence)
{
	uint64_t hash = pair_hash(kind, first, NULL);
	uint32_t id = ID_NONE;
	struct pair_origin *origin;
	int error = find_origin(table, kind, first, hash, &id);

	if (error)
		return error;
	origin = origin_at(table, id, kind, first, hash);
	count_sample(origin, evidence);
	origin->never++;
	return 0;
}

int pair_table_copy_pairs(struct pair_table *copy, const struct pair_table *table,
			  const struct cct *tree, size_t first, size_t count)
{
	size_t end = count < table->pair_count - first ? first + count : table->pair_count;

	for (size_t i = first; i < end; i++) {
		if (!ARRAY_ROOM(copy->pairs, i, copy->pair_capacity))
			return -ENOMEM;
		copy->pairs[i] = table->pairs[i];
		copy->pairs[i].first = cct_node(tree, table->pairs[i].first->id);
		copy->pairs[i].second = cct_node(tree, table->pairs[i].second->id);
		if (i == copy->pair_count)
			copy->pair_count++;
	}
	return 0;
}

/* Durations are copied where there are new ones. */
static int copy_origin(struct pair_origin *copy, const struct pair_origin *origin,
		       const struct cct *tree)
{
	uint64_t *call_ns = copy->call_ns;

	if (copy->call_count != origin->call_count && origin->call_ns_kept) {
		call_ns = reallocarray(call_ns, origin->call_ns_kept, sizeof(call_ns[0]));
		if (!call_ns)
			return -ENOMEM;
		memcpy(call_ns, origin->call_ns, origin->call_ns_kept * sizeof(call_ns[0]));
	}
	*copy = *origin;
	copy->node = cct_node(tree, origin->node->id);
	copy->call_ns = call_ns;
	return 0;
}

int pair_table_copy_origins(struct pair_table *copy, const struct pair_table *table,
			    const struct cct *tree, size_t first, size_t count)
{
	size_t end = count < table->origin_count - first ? first + count : table->origin_count;

	for (size_t i = first; i < end; i++) {
		if (!ARRAY_ROOM(copy->origins, i, copy->origin_capacity))
			return -ENOMEM;
		if (i == copy->origin_count)
			copy->origins[copy->origin_count++] = (struct pair_origin){ 0 };
		if (copy_origin(&copy->origins[i], &table->origins[i], tree))
			return -ENOMEM;
	}
	return 0;
}

static const struct window_field pair_fields[] = {
	WINDOW_FIELD(pair, kind, WINDOW_SAME),
	WINDOW_FIELD(pair, first, WINDOW_SAME),
	WINDOW_FIELD(pair, second, WINDOW_SAME),
	WINDOW_FIELD(pair, verdicts, WINDOW_SUBTRACT),
	WINDOW_FIELD(pair, same_instruction, WINDOW_SUBTRACT),
	WINDOW_FIELD(pair, distance_ns_sum, WINDOW_SUBTRACT),
	WINDOW_FIELD(pair, bytes, WINDOW_SUBTRACT),
	WINDOW_FIELD(pair, settled, WINDOW_SUBTRACT),
	WINDOW_FIELD(pair, settled_same, WINDOW_SUBTRACT),
};

static const struct window_field origin_fields[] = {
	WINDOW_FIELD(pair_origin, kind, WINDOW_SAME),
	WINDOW_FIELD(pair_origin, node, WINDOW_SAME),
	WINDOW_FIELD(pair_origin, sampled, WINDOW_BY_HAND), /* what its pairs and `never` have */
	WINDOW_FIELD(pair_origin, never, WINDOW_SUBTRACT),
	WINDOW_FIELD(pair_origin, verdicts, WINDOW_BY_HAND), /* what its pairs have */
	WINDOW_FIELD(pair_origin, by_memory, WINDOW_SUBTRACT),
	WINDOW_FIELD(pair_origin, redundant_by_memory, WINDOW_SUBTRACT),
	WINDOW_FIELD(pair_origin, call_count, WINDOW_SUBTRACT),
	WINDOW_FIELD(pair_origin, call_ns_sum, WINDOW_SUBTRACT),
	WINDOW_FIELD(pair_origin, call_ns, WINDOW_SAME), /* of the whole run */
	WINDOW_FIELD(pair_origin, call_ns_kept,
		     WINDOW_BY_HAND), /* none without calls in the window */
};

const struct window_table window_pair = WINDOW_TABLE(pair, pair_fields);
const struct window_table window_pair_origin = WINDOW_TABLE(pair_origin, origin_fields);

static void subtract_origin(struct pair_origin *origin, const struct pair_origin *before)
{
	window_subtract(&window_pair_origin, origin, before);
	/* With another call_count than the original's, the next copy brings them back. */
	if (!origin->call_count)
		origin->call_ns_kept = 0;
}

struct verdict_sums {
	uint64_t verdicts[PAIR_KIND_COUNT][VERDICT_COUNT];
};

int pair_table_subtract(struct pair_table *copy, const struct pair *pairs, size_t pair_count,
			const struct pair_origin *origins, size_t origin_count, size_t node_count)
{
	struct verdict_sums *sums = calloc(node_count + 1, sizeof(*sums));

	if (!sums)
		return -ENOMEM;
	for (size_t i = 0; i < copy->pair_count; i++) {
		struct pair *pair = &copy->pairs[i];

		if (i < pair_count)
			window_subtract(&window_pair, pair, &pairs[i]);
		for (size_t v = 0; v < VERDICT_COUNT && pair->first->id < node_count; v++)
			sums[pair->first->id].verdicts[pair->kind][v] += pair->verdicts[v];
	}
	for (size_t i = 0; i < copy->origin_count; i++) {
		struct pair_origin *origin = &copy->origins[i];

		if (i < origin_count)
			subtract_origin(origin, &origins[i]);
		origin->sampled = origin->never;
		for (size_t v = 0; v < VERDICT_COUNT && origin->node->id < node_count; v++) {
			origin->verdicts[v] = sums[origin->node->id].verdicts[origin->kind][v];
			origin->sampled += origin->verdicts[v];
		}
	}
	free(sums);
	return 0;
}

size_t pair_table_pair_count(const struct pair_table *table)
{
	return table->pair_count;
}

const struct pair *pair_table_pair(const struct pair_table *table, size_t index)
{
	return index < table->pair_count ? &table->pairs[index] : NULL;
}

size_t pair_table_origin_count(const struct pair_table *table)
{
	return table->origin_count;
}

const struct pair_origin *pair_table_origin(const struct pair_table *table, size_t index)
{
	return index < table->origin_count ? &table->origins[index] : NULL;
}
