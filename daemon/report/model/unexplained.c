/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/model/unexplained.h"

#include "daemon/report/model/finding.h"
#include "daemon/report/model/own_line.h"

/* Far below what a finding has to save, however much of the run the line takes. */
#define WEIGHT 0.02
/* What goes with it: the loop's head, memory given back elsewhere. */
#define BEYOND_LINE 1.15

/* By watched memory or by compared arguments. */
static bool was_looked_at(const struct profile_line *line)
{
	for (unsigned kind = 0; kind < PAIR_KIND_COUNT; kind++)
		if (line->accesses[kind].sampled)
			return true;
	for (unsigned v = 0; v < ARGUMENT_VERDICT_COUNT; v++)
		if (line->evidence.arguments.samples[v])
			return true;
	return false;
}

struct unexplained unexplained_find(const struct profile *profile)
{
	struct unexplained none = { 0 };
	uint64_t total_ns = time_sum(profile->time_ns);
	struct own_line own;
	bool looked = false;
	double most_ns;

	for (size_t i = 0; i < profile->line_count; i++) {
		if (finding_is_worth(profile->lines[i].avoidable_ns, total_ns))
			return none;
		looked |= was_looked_at(&profile->lines[i]);
	}
	if (!looked || !own_line_find(profile, NULL, &own))
		return none;
	most_ns = BEYOND_LINE * (double)own.time_ns;
	return (struct unexplained){
		.line = own.line,
		.time_ns = own.time_ns,
		.most_ns = most_ns < (double)total_ns ? (uint64_t)most_ns : total_ns,
		.weight_ns = (uint64_t)(WEIGHT * (double)own.time_ns),
	};
}
