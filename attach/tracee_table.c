/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/tracee_table.h"

static unsigned tid_bucket(pid_t tid)
{
	return (unsigned)tid % TRACEE_BUCKETS;
}

struct tracee *tracee_table_find(const struct tracee_table *table, pid_t tid)
{
	struct tracee *tracee = table->buckets[tid_bucket(tid)];

	while (tracee && tracee->id.tid != tid)
		tracee = tracee->next;
	return tracee;
}

void tracee_table_add(struct tracee_table *table, struct tracee *tracee)
{
	struct tracee **bucket = &table->buckets[tid_bucket(tracee->id.tid)];

	tracee->next = *bucket;
	*bucket = tracee;
	table->count++;
}

void tracee_table_remove(struct tracee_table *table, struct tracee *tracee)
{
	struct tracee **link = &table->buckets[tid_bucket(tracee->id.tid)];

	while (*link != tracee)
		link = &(*link)->next;
	*link = tracee->next;
	table->count--;
}

struct tracee *tracee_table_next(const struct tracee_table *table, const struct tracee *tracee)
{
	unsigned bucket = tracee ? tid_bucket(tracee->id.tid) + 1 : 0;

	if (tracee && tracee->next)
		return tracee->next;
	while (bucket < TRACEE_BUCKETS && !table->buckets[bucket])
		bucket++;
	return bucket < TRACEE_BUCKETS ? table->buckets[bucket] : NULL;
}
