/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/session/snapshot.h"

#include <errno.h>

/* How much one step copies; each takes 0.1 ms or less, see docs/MEASURED.md. */
#define STEP_NODES   1024
#define STEP_PAIRS   1024
#define STEP_ORIGINS 64 /* with up to 4 KiB of durations each */

int snapshot_init(struct snapshot *snapshot, size_t node_limit, size_t pair_limit)
{
	*snapshot = (struct snapshot){
		.cct = cct_create(node_limit),
		.pairs = pair_table_create(pair_limit),
	};
	return snapshot->cct && snapshot->pairs ? 0 : -ENOMEM;
}

void snapshot_deinit(struct snapshot *snapshot)
{
	if (snapshot->pairs)
		pair_table_destroy(snapshot->pairs);
	if (snapshot->cct)
		cct_destroy(snapshot->cct);
	*snapshot = (struct snapshot){ 0 };
}

/* What was sampled since the last step: pairs may refer to it. */
static int copy_new_nodes(struct snapshot *snapshot, const struct cct *cct)
{
	size_t count = cct_node_count(snapshot->cct);

	return cct_copy_nodes(snapshot->cct, cct, count, cct_node_count(cct) - count);
}

/* One slice of a stage; *ret_end is where the stage ends. */
static int copy_slice(struct snapshot *snapshot, const struct cct *cct,
		      const struct pair_table *pairs, size_t *ret_slice, size_t *ret_end)
{
	int error;

	switch (snapshot->stage) {
	case SNAPSHOT_NODES:
		*ret_slice = STEP_NODES;
		*ret_end = cct_node_count(cct);
		return cct_copy_nodes(snapshot->cct, cct, snapshot->next, STEP_NODES);
	case SNAPSHOT_PAIRS:
		*ret_slice = STEP_PAIRS;
		*ret_end = pair_table_pair_count(pairs);
		error = copy_new_nodes(snapshot, cct);
		return error ? error
			     : pair_table_copy_pairs(snapshot->pairs, pairs, snapshot->cct,
						     snapshot->next, STEP_PAIRS);
	case SNAPSHOT_ORIGINS:
		break;
	}
	*ret_slice = STEP_ORIGINS;
	*ret_end = pair_table_origin_count(pairs);
	error = copy_new_nodes(snapshot, cct);
	return error ? error
		     : pair_table_copy_origins(snapshot->pairs, pairs, snapshot->cct,
					       snapshot->next, STEP_ORIGINS);
}

int snapshot_step(struct snapshot *snapshot, const struct cct *cct, const struct pair_table *pairs)
{
	size_t slice = 0, end = 0;
	int error = copy_slice(snapshot, cct, pairs, &slice, &end);

	if (error) {
		snapshot->stage = SNAPSHOT_NODES;
		snapshot->next = 0;
		return error;
	}
	snapshot->next += slice;
	if (snapshot->next < end)
		return -EAGAIN;
	snapshot->next = 0;
	if (snapshot->stage == SNAPSHOT_ORIGINS) {
		snapshot->stage = SNAPSHOT_NODES;
		return 0;
	}
	snapshot->stage++;
	return -EAGAIN;
}
