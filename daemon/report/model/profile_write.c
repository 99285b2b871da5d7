/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/model/profile_write.h"

#include "daemon/detect/interval.h"
#include "daemon/report/model/category_choice.h"
#include "daemon/report/model/reasons.h"

#include <string.h>

_Static_assert(REASONS_MAX == sizeof(((struct profile_line *)0)->reasons) / sizeof(const char *),
	       "profile_line has room for all reasons");

static struct line_evidence evidence_of(const struct line_entry *entry)
{
	struct line_evidence evidence = {
		.call_samples = entry->call_samples,
		.call_log_sum = entry->call_log_sum,
		.repeated = entry->repeated,
		.site_loads = entry->site[PAIR_LOAD],
		.site_loads_redundant = entry->site_redundant[PAIR_LOAD],
		.site_stores = entry->site[PAIR_STORE],
		.site_stores_redundant = entry->site_redundant[PAIR_STORE],
		.again = entry->again,
		.again_redundant = entry->again_redundant,
		.again_loads = entry->again_loads,
		.again_loads_redundant = entry->again_loads_redundant,
		.stores = entry->stores,
		.again_stores = entry->again_stores,
		.arguments = entry->arguments,
	};

	memcpy(evidence.redundant_by_memory, entry->redundant_by_memory,
	       sizeof(evidence.redundant_by_memory));
	memcpy(evidence.charged_ns, entry->charged_ns, sizeof(evidence.charged_ns));
	memcpy(evidence.support, entry->support, sizeof(evidence.support));
	return evidence;
}

void profile_line_write(struct arena *arena, const struct line_entry *entry,
			struct profile_line *line)
{
	line->file = entry->file;
	line->line = entry->line;
	line->function = entry->function;
	memcpy(line->self_ns, entry->self_ns, sizeof(line->self_ns));
	line->side = entry->side;
	line->total_ns = entry->total_ns;
	memcpy(line->accesses, entry->accesses, sizeof(line->accesses));
	line->charged_ns = time_sum(entry->charged_ns);
	line->avoidable_ns = entry->avoidable.time_ns;
	line->avoidable_low_ns = entry->avoidable.low_ns;
	line->avoidable_high_ns = entry->avoidable.high_ns;
	line->call_ns = entry->call_ns;
	line->evidence = evidence_of(entry);
	line->category = category_of_line(entry->support, &line->evidence);
	line->finding = entry->finding;
	line->finding_ns = entry->finding_ns;
	line->expression = entry->expression;
	line->example = entry->example;
	line->column = entry->column;
	line->end_column = entry->end_column;
	line->end_line = entry->end_line;
	line->reason_count = reasons_write(arena, entry, line->category, line->reasons);
}

void profile_pair_judge(struct profile_pair *pair)
{
	struct interval interval = interval_wilson(pair->redundant, pair->sampled);

	pair->share = pair->sampled ? (double)pair->redundant / (double)pair->sampled : 0;
	pair->share_low = interval.low;
	pair->share_high = interval.high;
	pair->category = category_choose(pair->support);
	pair->advice = category_advice(pair->category);
}
