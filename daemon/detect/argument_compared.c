/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/detect/argument_compared.h"

/* Of a list's first items, so many must be told apart. */
#define KEPT_ITEMS_MIN 6
/* More is shared than by the windows that signals are cut into. */
#define SHIFTED_PART 0.85

/* By chance one bit in eight is another item's, too. */
static bool has_most_items(uint64_t sketch, uint64_t before)
{
	int items = __builtin_popcountll(before);

	return items >= KEPT_ITEMS_MIN && __builtin_popcountll(sketch) >= KEPT_ITEMS_MIN &&
	       3 * __builtin_popcountll(sketch & before) >= 2 * items;
}

/* Two parts of one array that share most of their elements. */
static bool is_shifted(const struct argument_contents *now, const struct argument_contents *before)
{
	remote_addr begin = now->part > before->part ? now->part : before->part;
	remote_addr now_end = now->part + now->items, before_end = before->part + before->items;
	remote_addr end = now_end < before_end ? now_end : before_end;
	uint64_t larger = now->items > before->items ? now->items : before->items;

	if (!now->part || !before->part || end <= begin || larger > UINT32_MAX)
		return false;
	if (now->part == before->part && now->items == before->items)
		return false;
	return (double)(end - begin) > SHIFTED_PART * (double)larger;
}

void argument_site_compared(struct argument_site *site, struct argument_contents contents,
			    struct argument_contents before)
{
	site->compared++;
	site->repeated += contents.number == before.number;
	site->first_kept += contents.first && contents.first == before.first;
	site->grown += contents.items > before.items && before.items;
	site->shrunk += contents.items < before.items;
	if (contents.items > site->most_items) {
		site->most_items = contents.items;
		site->at_most = 0;
	}
	site->at_most += contents.items == site->most_items && contents.items == before.items;
	site->kept +=
		contents.number != before.number && has_most_items(contents.sketch, before.sketch);
	site->shifted += is_shifted(&contents, &before);
}
