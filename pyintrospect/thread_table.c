/* SPDX-License-Identifier: Apache-2.0 */
#include "pyintrospect/thread_table.h"

#include <errno.h>
#include <stdlib.h>

#define THREAD_TABLE_SLOTS (2 * THREAD_TABLE_MAX)

int thread_table_init(struct thread_table *table)
{
	*table = (struct thread_table){ 0 };
	table->states = calloc(THREAD_TABLE_SLOTS, sizeof(*table->states));
	table->walked = malloc((THREAD_WALK_MAX + 1) * sizeof(*table->walked));
	if (table->states && table->walked)
		return 0;
	thread_table_deinit(table);
	return -ENOMEM;
}

void thread_table_forget(struct thread_table *table)
{
	for (size_t i = 0; table->states && i < THREAD_TABLE_SLOTS; i++) {
		if (!table->states[i])
			continue;
		remote_recent_deinit(&table->states[i]->recent);
		free(table->states[i]);
		table->states[i] = NULL;
	}
	table->count = 0;
	table->head_count = 0;
	table->complete = false;
}

void thread_table_deinit(struct thread_table *table)
{
	thread_table_forget(table);
	free(table->states);
	free(table->walked);
	table->states = NULL;
	table->walked = NULL;
}

struct thread_state **thread_table_slot(const struct thread_table *table, pid_t tid)
{
	size_t slot = ((uint32_t)tid * 2654435769u) % THREAD_TABLE_SLOTS;

	while (table->states[slot] && table->states[slot]->tid != tid)
		slot = (slot + 1) % THREAD_TABLE_SLOTS;
	return &table->states[slot];
}

struct thread_state *thread_table_next(struct thread_table *table, size_t *position)
{
	while (*position < THREAD_TABLE_SLOTS) {
		struct thread_state *thread = table->states[(*position)++];

		if (thread)
			return thread;
	}
	return NULL;
}

int thread_table_add(struct thread_table *table, const struct thread_state *found)
{
	struct thread_state **slot = thread_table_slot(table, found->tid);

	if (*slot) {
		/* The newest state of a tid comes first in the list: an older one is left over. */
		if ((*slot)->walk == found->walk)
			return 0;
		(*slot)->walk = found->walk;
		(*slot)->address = found->address;
		(*slot)->interpreter = found->interpreter;
		(*slot)->pthread = found->pthread;
		return 0;
	}
	if (table->count == THREAD_TABLE_MAX)
		return -ENOSPC;
	*slot = malloc(sizeof(**slot));
	if (!*slot)
		return -ENOMEM;
	**slot = *found;
	table->count++;
	return 0;
}
