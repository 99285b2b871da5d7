/* SPDX-License-Identifier: Apache-2.0 */
#include "common/mapping.h"

#include <stdlib.h>

const struct mapping *mapping_find(const struct mapping_list *list, remote_addr address)
{
	size_t low = 0, high = list->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct mapping *mapping = &list->mappings[middle];

		if (address < mapping->start)
			high = middle;
		else if (address >= mapping->end)
			low = middle + 1;
		else
			return mapping;
	}
	return NULL;
}

void mapping_list_deinit(struct mapping_list *list)
{
	free(list->mappings);
	free(list->paths);
	*list = (struct mapping_list){ 0 };
}
