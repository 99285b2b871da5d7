/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/model/pair_stats.h"

#include "common/array.h"
#include "common/hash.h"
#include "daemon/report/model/line_estimate.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* A call that is made again within that much CPU time is in a loop, whoever's it is. */
#define ROUND_NS_MAX 100000

void pair_stats_init(struct pair_stats *stats, const struct pair_table *pairs,
		     const struct cct *cct, struct call_site_table *sites, struct path_table *paths,
		     struct line_stats *lines, struct line_stats *functions)
{
	*stats = (struct pair_stats){
		.pairs = pairs,
		.cct = cct,
		.sites = sites,
		.paths = paths,
		.lines = lines,
		.functions = functions,
	};
}

void pair_stats_deinit(struct pair_stats *stats)
{
	for (size_t kind = 0; kind < PAIR_KIND_COUNT; kind++)
		free(stats->watched[kind]);
	free(stats->entries);
	id_table_deinit(&stats->ids);
	free(stats->sites_of_lines);
	id_table_deinit(&stats->site_ids);
	call_times_deinit(&stats->calls);
}

static uint64_t sum_verdicts(const uint64_t verdicts[VERDICT_COUNT])
{
	return verdicts[VERDICT_REDUNDANT] + verdicts[VERDICT_APPROXIMATE] + verdicts[VERDICT_NEW];
}

uint64_t pair_stats_watched(const struct pair_stats *stats, const struct pair_entry *entry)
{
	return stats->watched[entry->kind][entry->first];
}

uint64_t pair_entry_sampled(const struct pair_entry *entry)
{
	return sum_verdicts(entry->verdicts);
}

uint64_t pair_entry_redundant(const struct pair_entry *entry)
{
	return entry->verdicts[VERDICT_REDUNDANT] + entry->verdicts[VERDICT_APPROXIMATE];
}

static void pair_stats_count_accesses(struct access_counts *counts, uint64_t sampled,
				      const uint64_t verdicts[VERDICT_COUNT])
{
	counts->sampled += sampled;
	counts->reaccessed += sum_verdicts(verdicts);
	counts->redundant += verdicts[VERDICT_REDUNDANT];
	counts->approximate += verdicts[VERDICT_APPROXIMATE];
}

static void uncount_accesses(struct access_counts *counts, const uint64_t verdicts[VERDICT_COUNT])
{
	counts->sampled -= sum_verdicts(verdicts);
	counts->reaccessed -= sum_verdicts(verdicts);
	counts->redundant -= verdicts[VERDICT_REDUNDANT];
	counts->approximate -= verdicts[VERDICT_APPROXIMATE];
}

static int add_origin(struct pair_stats *stats, const struct pair_origin *origin)
{
	struct line_entry *line = line_stats_of_node(stats->lines, origin->node), *function;
	enum loss reason;
	uint32_t path;

	if (path_table_find(stats->paths, origin->node, &path))
		return -ENOMEM;
	reason = path_filter_reason(stats->paths, path);
	if (reason != LOSS_COUNT) {
		stats->filtered.counts[reason] += origin->sampled;
		return 0;
	}
	pair_stats_count_accesses(&stats->accesses[origin->kind], origin->sampled,
				  origin->verdicts);
	if (!line)
		return 0;
	pair_stats_count_accesses(&line->accesses[origin->kind], origin->sampled, origin->verdicts);
	function = line_stats_of_node(stats->functions, origin->node);
	pair_stats_count_accesses(&function->accesses[origin->kind], origin->sampled,
				  origin->verdicts);
	for (size_t i = 0; i < MEMORY_CLASS_COUNT; i++)
		line->redundant_by_memory[i] += origin->redundant_by_memory[i];
	for (size_t i = 0; i < origin->call_ns_kept; i++)
		if (call_times_add(&stats->calls, (uint32_t)(line - stats->lines->lines),
				   origin->call_ns[i],
				   (double)origin->call_count / (double)origin->call_ns_kept))
			return -ENOMEM;
	return 0;
}

/* Of several pairs merged into one, the one that says most; the first seen of equals. */
static bool says_more(const struct pair *a, const struct pair *b)
{
	uint64_t redundant_a = a->verdicts[VERDICT_REDUNDANT] + a->verdicts[VERDICT_APPROXIMATE];
	uint64_t redundant_b = b->verdicts[VERDICT_REDUNDANT] + b->verdicts[VERDICT_APPROXIMATE];

	if (redundant_a != redundant_b)
		return redundant_a > redundant_b;
	return sum_verdicts(a->verdicts) > sum_verdicts(b->verdicts);
}

static int pair_stats_find_entry(struct pair_stats *stats, const struct pair *pair, uint32_t first,
				 uint32_t second, struct pair_entry **ret_entry)
{
	uint64_t hash = hash_mix(hash_mix((uint64_t)first << 32 | second) + pair->kind);
	size_t probe = 0;
	uint32_t id;

	while ((id = id_table_next(&stats->ids, hash, &probe)) != ID_NONE) {
		struct pair_entry *entry = &stats->entries[id];

		if (entry->kind == pair->kind && entry->first == first && entry->second == second) {
			*ret_entry = entry;
			return 0;
		}
	}
	if (!ARRAY_ROOM(stats->entries, stats->count, stats->capacity) ||
	    id_table_reserve(&stats->ids))
		return -ENOMEM;
	id_table_add(&stats->ids, hash, (uint32_t)stats->count);
	stats->entries[stats->count] = (struct pair_entry){
		.kind = pair->kind,
		.first = first,
		.second = second,
		.shown = pair,
		.line = line_stats_charged(stats->lines, pair->first),
	};
	*ret_entry = &stats->entries[stats->count++];
	return 0;
}

/* The Python frame charged for what was done at a node; NULL: none. */
static const struct cct_node *charged_python(const struct pair_stats *stats,
					     const struct cct_node *node)
{
	uint32_t charged = stats->lines->charged[node->id];

	return charged ? cct_node(stats->cct, charged) : NULL;
}

/* Does the function of a charged frame get the same each time from a loop that calls it? */
static int called_with_same(struct pair_stats *stats, const struct cct_node *node,
			    const struct call_site *site, bool *ret_same)
{
	const struct cct_node *caller = node->parent;
	struct call_site caller_site;

	*ret_same = false;
	/* The root has no parent, and no frame. */
	while (caller->parent && caller->frame.kind != FRAME_PYTHON)
		caller = caller->parent;
	if (!caller->parent || site->in_loop)
		return 0;
	if (call_site_find(stats->sites, caller->frame.python.code,
			   caller->frame.python.instruction_offset, &caller_site))
		return -ENOMEM;
	return call_site_is_constant(stats->sites, site, &caller_site, ret_same);
}

static int find_evidence(struct pair_stats *stats, const struct pair *pair,
			 const struct pair_entry *entry, struct category_evidence *ret)
{
	const struct cct_node *first = charged_python(stats, pair->first);
	const struct cct_node *second = charged_python(stats, pair->second);
	const struct place *first_place, *second_place;
	uint32_t first_id, second_id;
	bool first_same, second_same;

	*ret = (struct category_evidence){ .kind = pair->kind };
	if (!first || !second)
		return 0;
	if (call_site_find(stats->sites, first->frame.python.code,
			   first->frame.python.instruction_offset, &ret->first) ||
	    call_site_find(stats->sites, second->frame.python.code,
			   second->frame.python.instruction_offset, &ret->second) ||
	    place_table_find(stats->paths->places, &first->frame, &first_id) ||
	    place_table_find(stats->paths->places, &second->frame, &second_id) ||
	    called_with_same(stats, first, &ret->first, &first_same) ||
	    called_with_same(stats, second, &ret->second, &second_same))
		return -ENOMEM;
	first_place = &stats->paths->places->places[first_id];
	second_place = &stats->paths->places->places[second_id];
	ret->known = true;
	ret->same_function = !strcmp(first_place->function, second_place->function) &&
			     !strcmp(first_place->file, second_place->file);
	ret->called_with_same = ret->same_function && first_same && second_same;
	ret->first_operands_same =
		ret->first.in_loop ? ret->first.does.operands_constant : first_same;
	ret->first_line = first_place->line;
	ret->second_line = second_place->line;
	ret->first_native_subscript = stats->paths->paths[entry->first].subscript;
	ret->second_native_subscript = stats->paths->paths[entry->second].subscript;
	if (entry->line != LINE_NONE)
		ret->call_ns = stats->lines->lines[entry->line].call_ns;
	return 0;
}

static bool same_site(const struct category_evidence *evidence)
{
	return evidence->known && evidence->first.code == evidence->second.code &&
	       evidence->first.offset == evidence->second.offset;
}

static int pair_stats_find_site(struct pair_stats *stats, uint32_t line, const struct call_site *of,
				struct line_site **ret_site)
{
	uint64_t hash = hash_mix(hash_mix((uintptr_t)of->code) ^
				 ((uint64_t)line << 32 | (uint32_t)of->offset));
	size_t probe = 0;
	uint32_t id;

	while ((id = id_table_next(&stats->site_ids, hash, &probe)) != ID_NONE) {
		struct line_site *site = &stats->sites_of_lines[id];

		if (site->line == line && site->code == of->code && site->offset == of->offset) {
			*ret_site = site;
			return 0;
		}
	}
	if (!ARRAY_ROOM(stats->sites_of_lines, stats->site_count, stats->site_capacity) ||
	    id_table_reserve(&stats->site_ids))
		return -ENOMEM;
	id_table_add(&stats->site_ids, hash, (uint32_t)stats->site_count);
	stats->sites_of_lines[stats->site_count] =
		(struct line_site){ .line = line, .code = of->code, .offset = of->offset };
	*ret_site = &stats->sites_of_lines[stats->site_count++];
	return 0;
}

/* How much of each line's work is that of the calls that were made again. */
static void share_sites(struct pair_stats *stats)
{
	for (size_t i = 0; i < stats->site_count; i++) {
		const struct line_site *site = &stats->sites_of_lines[i];
		struct line_entry *line = &stats->lines->lines[site->line];

		line->stores += site->stores;
		line->again_stores += site->again ? site->stores : 0;
	}
}

/*
 * What a line did again from the very same instruction, whatever it found.
 * Approximate values are new ones for a call that was made again: what converges
 * is not done yet.
 */
static int count_site(struct pair_stats *stats, uint32_t line_id, const struct pair *pair,
		      const struct category_evidence *evidence, uint64_t redundant)
{
	struct line_entry *line = &stats->lines->lines[line_id];
	uint64_t all = sum_verdicts(pair->verdicts);
	struct line_site *site;

	if (!evidence->known)
		return 0;
	if (pair_stats_find_site(stats, line_id, &evidence->first, &site))
		return -ENOMEM;
	if (pair->kind == PAIR_STORE)
		site->stores += all;
	if (!same_site(evidence))
		return 0;
	line->site[pair->kind] += all;
	line->site_redundant[pair->kind] += redundant + pair->settled_same;
	if (evidence->first.in_loop && !evidence->first.does.names_constant)
		return 0;
	site->again |= pair->kind == PAIR_STORE || pair->settled;
	if (pair->kind == PAIR_STORE) {
		line->again += all;
		line->again_redundant += pair->verdicts[VERDICT_REDUNDANT] + pair->settled_same;
	} else {
		line->again_loads += pair->settled;
		line->again_loads_redundant += pair->settled_same;
	}
	return 0;
}

/* The mean time between the end of the earlier call and the later access. */
static uint64_t mean_distance_ns(const struct pair *pair)
{
	uint64_t count = sum_verdicts(pair->verdicts);

	return count ? pair->distance_ns_sum / count : UINT64_MAX;
}

/*
 * Do both ends belong to a line that goes round and round? It is in a loop of
 * its function; or its function is called in one, which shows in the same call
 * being made again at once.
 */
static bool goes_round(const struct pair *pair, const struct category_evidence *evidence)
{
	return evidence->known && ((evidence->first.in_loop && evidence->second.in_loop) ||
				   (same_site(evidence) && mean_distance_ns(pair) <= ROUND_NS_MAX));
}

static int pair_stats_judge(struct pair_stats *stats, const struct pair *pair,
			    struct pair_entry *entry)
{
	uint64_t redundant =
		pair->verdicts[VERDICT_REDUNDANT] + pair->verdicts[VERDICT_APPROXIMATE];
	uint64_t repeated = redundant + pair->settled_same;
	struct category_evidence evidence;
	enum category category;
	struct line_entry *line;

	if (find_evidence(stats, pair, entry, &evidence))
		return -ENOMEM;
	line = entry->line == LINE_NONE ? NULL : &stats->lines->lines[entry->line];
	if (line && count_site(stats, entry->line, pair, &evidence, redundant))
		return -ENOMEM;
	if (!repeated)
		return 0;
	category = category_of(&evidence);
	entry->support[category] += repeated;
	if (!line)
		return 0;
	line->support[category] += repeated;
	if (entry->line == line_stats_charged(stats->lines, pair->second) &&
	    goes_round(pair, &evidence))
		line->repeated += redundant;
	else if (evidence.first_operands_same)
		line->same_operands += redundant;
	return 0;
}

static int add_pair(struct pair_stats *stats, const struct pair *pair)
{
	struct line_entry *line = line_stats_of_node(stats->lines, pair->first), *function;
	struct pair_entry *entry;
	uint32_t first, second;
	enum loss reason;

	if (path_table_find(stats->paths, pair->first, &first) ||
	    path_table_find(stats->paths, pair->second, &second))
		return -ENOMEM;
	if (path_filter_reason(stats->paths, first) != LOSS_COUNT)
		return 0; /* taken out with its origin */
	reason = path_filter_reason(stats->paths, second);
	if (reason != LOSS_COUNT) {
		/* Those touched it first: nothing is known of what would have come after. */
		stats->filtered.counts[reason] += sum_verdicts(pair->verdicts);
		uncount_accesses(&stats->accesses[pair->kind], pair->verdicts);
		if (!line)
			return 0;
		uncount_accesses(&line->accesses[pair->kind], pair->verdicts);
		function = line_stats_of_node(stats->functions, pair->first);
		uncount_accesses(&function->accesses[pair->kind], pair->verdicts);
		return 0;
	}
	if (pair_stats_find_entry(stats, pair, first, second, &entry))
		return -ENOMEM;
	for (size_t v = 0; v < VERDICT_COUNT; v++)
		entry->verdicts[v] += pair->verdicts[v];
	if (says_more(pair, entry->shown))
		entry->shown = pair;
	return pair_stats_judge(stats, pair, entry);
}

/*
 * Work on the same operands in every round is repeated whoever comes next to
 * what it touched, if what the line stores does not say otherwise: a name that
 * is not assigned may stand for an object that changes.
 */
static void count_same_operands(struct line_stats *lines)
{
	for (size_t i = 0; i < lines->count; i++) {
		struct line_entry *line = &lines->lines[i];

		if (!category_stores_refute(line->site[PAIR_STORE],
					    line->site_redundant[PAIR_STORE]))
			line->repeated += line->same_operands;
	}
}

static void take_call_time(void *context, uint32_t line, uint64_t call_ns, size_t count)
{
	struct line_entry *entry = &((struct line_stats *)context)->lines[line];

	entry->call_ns = call_ns;
	entry->call_samples = count;
}

/* From the residuals and the interpreter's share; 0 for lines whose calls were never sampled. */
static void estimate_calls(struct pair_stats *stats)
{
	call_times_estimate(&stats->calls, take_call_time, stats->lines);
	for (size_t i = 0; i < stats->lines->count; i++)
		line_entry_estimate_call(&stats->lines->lines[i], stats->period_ns);
}

/* Once all paths are known. */
static int count_watched(struct pair_stats *stats)
{
	for (size_t kind = 0; kind < PAIR_KIND_COUNT; kind++) {
		stats->watched[kind] = calloc(stats->paths->count, sizeof(stats->watched[kind][0]));
		if (!stats->watched[kind])
			return -ENOMEM;
	}
	for (size_t i = 0; i < pair_table_origin_count(stats->pairs); i++) {
		const struct pair_origin *origin = pair_table_origin(stats->pairs, i);
		uint32_t path;

		if (path_table_find(stats->paths, origin->node, &path))
			return -ENOMEM;
		stats->watched[origin->kind][path] += origin->sampled;
	}
	return 0;
}

int pair_stats_build(struct pair_stats *stats, uint64_t period_ns)
{
	stats->period_ns = period_ns;
	for (size_t i = 0; i < pair_table_origin_count(stats->pairs); i++)
		if (add_origin(stats, pair_table_origin(stats->pairs, i)))
			return -ENOMEM;
	/* The categories ask for it. */
	estimate_calls(stats);
	for (size_t i = 0; i < pair_table_pair_count(stats->pairs); i++)
		if (add_pair(stats, pair_table_pair(stats->pairs, i)))
			return -ENOMEM;
	share_sites(stats);
	count_same_operands(stats->lines);
	return count_watched(stats);
}

static int pair_stats_descending(uint64_t a, uint64_t b)
{
	return a > b ? -1 : a < b;
}

int pair_entry_compare(const struct path_table *paths, const struct pair_entry *a,
		       const struct pair_entry *b)
{
	int order = pair_stats_descending(a->avoidable_ns, b->avoidable_ns);

	if (!order)
		order = pair_stats_descending(a->verdicts[VERDICT_REDUNDANT],
					      b->verdicts[VERDICT_REDUNDANT]);
	if (!order)
		order = pair_stats_descending(a->verdicts[VERDICT_APPROXIMATE],
					      b->verdicts[VERDICT_APPROXIMATE]);
	if (!order)
		order = pair_stats_descending(pair_entry_sampled(a), pair_entry_sampled(b));
	if (!order && a->kind != b->kind)
		order = a->kind < b->kind ? -1 : 1;
	if (!order)
		order = path_compare(paths, a->first, b->first);
	return order ? order : path_compare(paths, a->second, b->second);
}
