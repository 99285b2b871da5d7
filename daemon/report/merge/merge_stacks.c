/* SPDX-License-Identifier: Apache-2.0 */
/* Which threads were where, of several profiles: by thread and path, both the merge's. */
#include "common/array.h"
#include "common/hash.h"
#include "daemon/report/merge/profile_merge.h"
#include "daemon/report/merge/profile_merge_parts.h"

#include <errno.h>

static int merge_stack_find(struct profile_merge *merge, uint32_t thread, uint32_t node,
			    uint32_t *ret_stack)
{
	uint64_t hash = hash_mix((uint64_t)thread << 32 | node);
	size_t probe = 0;
	uint32_t id;

	while ((id = id_table_next(&merge->stack_ids, hash, &probe)) != ID_NONE)
		if (merge->stacks[id].thread == thread && merge->stacks[id].node == node)
			break;
	if (id == ID_NONE && merge->stack_count < MERGE_STACKS_MAX) {
		if (id_table_reserve(&merge->stack_ids) ||
		    !ARRAY_ROOM(merge->stacks, merge->stack_count, merge->stack_capacity))
			return -ENOMEM;
		id = (uint32_t)merge->stack_count++;
		id_table_add(&merge->stack_ids, hash, id);
		merge->stacks[id] = (struct profile_stack){ .thread = thread, .node = node };
	}
	*ret_stack = id;
	return 0;
}

int merge_stacks_add(struct profile_merge *merge, const struct profile_facts *facts,
		     const struct merge_owners *owners, uint32_t *ret_stacks)
{
	for (size_t i = 0; i < facts->stack_count; i++) {
		const struct profile_stack *stack = &facts->stacks[i];

		ret_stacks[i] = MERGE_NONE;
		if (stack->thread >= owners->thread_count || stack->node >= owners->node_count)
			continue;
		if (merge_stack_find(merge, owners->threads[stack->thread],
				     owners->nodes[stack->node], &ret_stacks[i]))
			return -ENOMEM;
		if (ret_stacks[i] != MERGE_NONE)
			merge_fields(MERGE_STACK, &merge->stacks[ret_stacks[i]], stack);
	}
	return 0;
}
