/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/top/holder_rows.h"

#include "common/clock.h"

#include <inttypes.h>
#include <stdio.h>

#define WORDS_COLUMN 23

unsigned holder_rows_count(const struct top_growth *growth)
{
	return 1 + (unsigned)growth->count;
}

static double seconds_between(uint64_t from_ns, uint64_t to_ns)
{
	return to_ns > from_ns ? (double)(to_ns - from_ns) / (double)NS_PER_SECOND : 0;
}

static void put_heading(const struct top_growth *growth, uint64_t now_ns, struct screen *screen,
			unsigned row)
{
	char words[TOP_REFUSAL_BYTES + 160], age[96];

	snprintf(age, sizeof(age), "look %" PRIu64 ", %.0f s old, took %.1f s", growth->looks,
		 seconds_between(growth->end_ns, now_ns), (double)growth->took_ns / 1e9);
	if (growth->refusal[0])
		snprintf(words, sizeof(words), "HEAP  no more looks: %s", growth->refusal);
	else if (!growth->looks)
		snprintf(words, sizeof(words), "HEAP  the first look is under way");
	else if (growth->looks < TOP_LOOKS_LEAST)
		snprintf(words, sizeof(words), "HEAP  %d looks tell what grows; %s",
			 TOP_LOOKS_LEAST, age);
	else if (!growth->count)
		snprintf(words, sizeof(words), "HEAP  no container grows; %s", age);
	else
		snprintf(words, sizeof(words), "ENTRIES/s   ENTRIES  GROWS; %s", age);
	screen_put(screen, row, 1, screen->columns > 2 ? screen->columns - 2 : 1, SCREEN_FAINT,
		   words);
}

void holder_rows_put(const struct top_growth *growth, uint64_t now_ns, struct screen *screen,
		     unsigned row)
{
	put_heading(growth, now_ns, screen, row++);
	for (size_t i = 0; i < growth->count; i++, row++) {
		const struct top_holder *holder = &growth->items[i];

		screen_print(screen, row, 1, WORDS_COLUMN - 2, SCREEN_PLAIN, "%+9.*f %9" PRIu64,
			     holder->per_s < 10 ? 1 : 0, holder->per_s, holder->length);
		if (screen->columns > WORDS_COLUMN)
			screen_put(screen, row, WORDS_COLUMN - 1, screen->columns - WORDS_COLUMN,
				   SCREEN_PLAIN, holder->words);
	}
}
