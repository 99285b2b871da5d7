/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which pages of a live process are in memory: /proc/PID/pagemap. It may be read by
 * whoever may read the memory; frame numbers, which others are not shown, are not used.
 */
#ifndef PIEPROFD_ATTACH_PAGE_MAP_H
#define PIEPROFD_ATTACH_PAGE_MAP_H

#include "common/page_state.h"

#include <sys/types.h>

struct page_map {
	int file;
};

/* 0, -ESRCH, -EACCES or another negative errno. */
__attribute__((warn_unused_result)) int page_map_open_states(struct page_map *map, pid_t pid);
void page_map_close_states(struct page_map *map);

/* Valid as long as the map is open. */
struct page_reader page_map_reader(struct page_map *map);

#endif
