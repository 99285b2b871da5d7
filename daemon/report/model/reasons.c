/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/model/reasons.h"

#include "daemon/detect/interval.h"
#include "daemon/report/model/category.h"

#include <inttypes.h>
#include <stdio.h>

struct reasons {
	struct arena *arena;
	const char **items;
	size_t count;
};

static void reason_add(struct reasons *reasons, const char *reason)
{
	if (reason && reasons->count < REASONS_MAX)
		reasons->items[reasons->count++] = reason;
}

static void add_accesses(struct reasons *reasons, const struct access_counts *counts,
			 const char *one, const char *many, const char *outcome)
{
	uint64_t redundant = access_counts_redundant(counts);
	struct interval interval = interval_wilson(redundant, counts->sampled);

	if (counts->sampled)
		reason_add(reasons, arena_format(reasons->arena,
						 "%" PRIu64 " of %" PRIu64
						 " sampled %s %s (95%% interval %.0f to %.0f%%)",
						 redundant, counts->sampled,
						 counts->sampled == 1 ? one : many, outcome,
						 100 * interval.low, 100 * interval.high));
}

static void format_duration(uint64_t time_ns, char *text, size_t size)
{
	if (time_ns < 1000)
		snprintf(text, size, "%" PRIu64 " ns", time_ns);
	else if (time_ns < 1000000)
		snprintf(text, size, "%.*f us", time_ns < 10000 ? 1 : 0, (double)time_ns / 1e3);
	else
		snprintf(text, size, "%.*f ms", time_ns < 10000000 ? 1 : 0, (double)time_ns / 1e6);
}

static void add_duration(struct reasons *reasons, const struct line_entry *line)
{
	bool is_short = line->call_ns <= AVOIDABLE_SHORT_CALL_NS;
	const char *meaning;
	char duration[32];

	if (!line->call_ns)
		return;
	if (is_short)
		meaning = " or less: the cost of calling prevails";
	else if (line->call_ns < AVOIDABLE_LONG_CALL_NS)
		meaning = ", so that the cost of calling counts";
	else
		meaning = ": bulk work, to which the cost of calling adds little";
	format_duration(is_short ? AVOIDABLE_SHORT_CALL_NS : line->call_ns, duration,
			sizeof(duration));
	reason_add(reasons, arena_format(reasons->arena, "its native calls last %s%s%s",
					 is_short ? "" : "about ", duration, meaning));
}

static void add_memory(struct reasons *reasons, const struct line_entry *line)
{
	uint64_t data =
		line->redundant_by_memory[MEMORY_HEAP] + line->redundant_by_memory[MEMORY_OBJECT];
	uint64_t tables =
		line->redundant_by_memory[MEMORY_STATIC] + line->redundant_by_memory[MEMORY_OTHER];

	if (data + tables == 0)
		return;
	if (data >= tables)
		reason_add(reasons, "the unchanged values are mostly data: arrays and objects");
	else
		reason_add(reasons,
			   "the unchanged values are mostly the libraries' own tables, which "
			   "every call reads");
}

/* What makes bulk work avoidable. */
static void add_invariance(struct reasons *reasons, const struct line_entry *line)
{
	if (line->avoidable.by_invariance)
		reason_add(
			reasons,
			arena_format(reasons->arena,
				     "%" PRIu64 " of %" PRIu64
				     " words that the same call wrote again were left as they had "
				     "been: its arguments seem to be the same",
				     line->again_redundant + line->again_loads_redundant,
				     line->again + line->again_loads));
}

size_t reasons_write(struct arena *arena, const struct line_entry *line, enum category category,
		     const char *reasons[REASONS_MAX])
{
	const struct access_counts *loads = &line->accesses[PAIR_LOAD],
				   *stores = &line->accesses[PAIR_STORE];
	uint64_t redundant = access_counts_redundant(loads) + access_counts_redundant(stores);
	struct reasons written = { .arena = arena, .items = reasons };

	reason_add(&written, line->finding);
	add_accesses(&written, loads, "load", "loads", "found the value unchanged");
	add_accesses(&written, stores, "store", "stores",
		     "stored the value that was there already");
	if (!written.count)
		return 0;
	add_duration(&written, line);
	add_invariance(&written, line);
	if (!redundant)
		return written.count;
	add_memory(&written, line);
	if (line->repeated)
		reason_add(&written,
			   arena_format(
				   arena,
				   "%.0f%% of the redundant accesses were made again by this same "
				   "line, or by work on the same operands, in a loop",
				   100.0 * (double)line->repeated / (double)redundant));
	reason_add(&written, category_reason(category));
	return written.count;
}
