/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/trace/wait_blame.h"

#include "common/array.h"

#include <errno.h>
#include <stdlib.h>

struct blame {
	const struct wait_list *list;
	size_t ranks;
	uint64_t *blamed_ns;
};

void wait_list_deinit(struct wait_list *list)
{
	free(list->items);
	*list = (struct wait_list){ 0 };
}

int wait_list_add(struct wait_list *list, const struct collective_wait *wait)
{
	if (!ARRAY_ROOM(list->items, list->count, list->capacity))
		return -ENOMEM;
	list->items[list->count++] = *wait;
	return 0;
}

static int compare_waits(const void *left, const void *right)
{
	const struct collective_wait *a = left, *b = right;

	if (a->who != b->who)
		return a->who < b->who ? -1 : 1;
	if (a->begin_ns != b->begin_ns)
		return a->begin_ns < b->begin_ns ? -1 : 1;
	return a->whom < b->whom ? -1 : a->whom > b->whom;
}

/* Of the rank's own waits the first that ends behind that. */
static size_t first_behind(const struct wait_list *list, uint32_t who, uint64_t ns)
{
	size_t low = 0, high = list->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct collective_wait *wait = &list->items[middle];

		if (wait->who < who || (wait->who == who && wait->begin_ns + wait->ns <= ns))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* For this time somebody has waited for that rank: who is behind it? */
static void charge(const struct blame *blame, uint32_t rank, uint64_t begin_ns, uint64_t end_ns,
		   unsigned depth)
{
	const struct wait_list *list = blame->list;
	uint64_t at_ns = begin_ns;

	if (rank >= blame->ranks)
		return;
	for (size_t i = depth < WAIT_CHAIN_MAX ? first_behind(list, rank, begin_ns) : list->count;
	     i < list->count && at_ns < end_ns; i++) {
		const struct collective_wait *wait = &list->items[i];
		uint64_t from_ns = wait->begin_ns > at_ns ? wait->begin_ns : at_ns;
		uint64_t to_ns = wait->begin_ns + wait->ns;

		if (wait->who != rank || from_ns >= end_ns)
			break;
		if (to_ns > end_ns)
			to_ns = end_ns;
		if (to_ns <= from_ns)
			continue;
		blame->blamed_ns[rank] += from_ns - at_ns;
		charge(blame, wait->whom, from_ns, to_ns, depth + 1);
		at_ns = to_ns;
	}
	blame->blamed_ns[rank] += end_ns > at_ns ? end_ns - at_ns : 0;
}

void wait_list_blame(struct wait_list *list, size_t ranks, uint64_t *blamed_ns)
{
	const struct blame blame = { list, ranks, blamed_ns };

	if (list->count)
		qsort(list->items, list->count, sizeof(list->items[0]), compare_waits);
	for (size_t i = 0; i < list->count; i++)
		charge(&blame, list->items[i].whom, list->items[i].begin_ns,
		       list->items[i].begin_ns + list->items[i].ns, 0);
}
