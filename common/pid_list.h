/* SPDX-License-Identifier: Apache-2.0 */
/* Process ids, as many as there are. An empty list is all zeros. */
#ifndef PIEPROFD_COMMON_PID_LIST_H
#define PIEPROFD_COMMON_PID_LIST_H

#include "common/array.h"

#include <errno.h>
#include <sys/types.h>

struct pid_list {
	pid_t *items;
	size_t count, capacity;
};

static inline void pid_list_deinit(struct pid_list *list)
{
	free(list->items);
	*list = (struct pid_list){ 0 };
}

/* 0 or -ENOMEM. */
__attribute__((warn_unused_result)) static inline int pid_list_add(struct pid_list *list, pid_t pid)
{
	pid_t *grown = array_reserve(list->items, list->count, &list->capacity, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	list->items = grown;
	grown[list->count++] = pid;
	return 0;
}

#endif
