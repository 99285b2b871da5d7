/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/heap/heap_watched.h"

struct heap_watch_site *heap_watched_site(struct heap_watched *watched,
					  const struct python_stack *stack)
{
	struct heap_watch_site site = { .grown = 0 };

	heap_site_find(stack, &site.site);
	for (unsigned i = 0; i < watched->site_count; i++)
		if (heap_site_same(&watched->sites[i].site, &site.site))
			return &watched->sites[i];
	if (watched->site_count == HEAP_WATCH_SITES_MAX)
		return NULL;
	watched->sites[watched->site_count] = site;
	return &watched->sites[watched->site_count++];
}

void heap_watched_keep_tried(struct heap_watched *watched, const struct heap_trials *trials)
{
	watched->tried = heap_trials_done(trials);
	watched->stayed = watched->grown = heap_trials_stayed(trials, -1);
	for (unsigned i = 0; i < watched->site_count; i++)
		watched->sites[i].grown = heap_trials_stayed(trials, (int)i);
}

void heap_watched_keep_filled(struct heap_watched *watched, const struct heap_fills *fills,
			      const struct memory_reader *reader)
{
	watched->tried = heap_fills_kept(fills);
	watched->stayed = watched->grown = heap_fills_stayed(fills, reader, -1);
	for (unsigned i = 0; i < watched->site_count; i++)
		watched->sites[i].grown = heap_fills_stayed(fills, reader, (int)i);
}
