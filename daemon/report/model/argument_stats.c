/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/model/argument_stats.h"

#include "daemon/detect/argument_rule.h"
#include "daemon/detect/slow_call.h"
#include "daemon/report/model/argument_example.h"
#include "daemon/report/model/argument_needed.h"
#include "daemon/report/model/sorted_end.h"
#include "pyintrospect/line_table.h"
#include "pyintrospect/position_table.h"

#include <errno.h>
#include <stdlib.h>

/* The site that speaks for a line: the one whose votes stand for most time. */
struct spokesman {
	uint32_t site;
	uint8_t verdict;
	uint64_t time_ns;
};

struct charging {
	const struct argument_stats_input *input;
	struct argument_findings findings;
	struct line_stats *lines;
	struct arena *arena;
	struct spokesman *spokesmen; /* of each line */
	bool *needed;                /* of each site: never to be kept */
	uint32_t *lines_of_sites;    /* LINE_NONE: not known */
};

/* ---- lines ---- */

/* The line of a site, by the frame of the sample's stack that is at it. LINE_NONE: the tree was
 * full.
 */
static uint32_t line_of_site(const struct charging *charging, const struct argument_sample *sample,
			     uint32_t site_id)
{
	const struct argument_site *site = &charging->input->log->sites[site_id];
	const struct cct_node *node = cct_node(charging->input->cct, sample->node);

	for (; node && node->parent; node = node->parent)
		if (node->frame.kind == FRAME_PYTHON && node->frame.python.code == site->code &&
		    node->frame.python.instruction_offset == site->offset)
			return charging->lines->of_node[node->id];
	return LINE_NONE;
}

/* What a vote is worth that rests on arguments alone. */
static enum argument_verdict believed(const struct charging *charging,
				      const struct argument_vote *vote)
{
	bool by_arguments = vote->verdict == ARGUMENT_INVARIANT ||
			    vote->verdict == ARGUMENT_REPEATED || vote->verdict == ARGUMENT_FEW ||
			    vote->verdict == ARGUMENT_FEW_HELD ||
			    vote->verdict == ARGUMENT_IN_TURN || vote->verdict == ARGUMENT_END ||
			    vote->verdict == ARGUMENT_GROWING || vote->verdict == ARGUMENT_COMMON;

	return by_arguments && charging->needed[vote->site] ? ARGUMENT_UNKNOWN : vote->verdict;
}

/* Of the sites that votes are for: a joined vote's sample is elsewhere. */
static void find_lines(struct charging *charging)
{
	const struct argument_log *log = charging->input->log;

	for (uint32_t id = 0; id < log->site_count; id++)
		charging->lines_of_sites[id] = LINE_NONE;
	for (size_t i = 0; i < log->sample_count; i++) {
		const struct argument_vote *vote = &charging->findings.votes[i];
		const struct argument_sample *sample = &log->samples[i];

		if (!vote->joined && charging->lines_of_sites[vote->site] == LINE_NONE)
			charging->lines_of_sites[vote->site] =
				line_of_site(charging, sample, sample->frames[vote->frame].site);
	}
}

static void charge_vote(struct charging *charging, size_t index)
{
	const struct argument_sample *sample = &charging->input->log->samples[index];
	const struct argument_vote *vote = &charging->findings.votes[index];
	const struct argument_summary *summary = &charging->findings.summaries[vote->site];
	uint32_t line = vote->joined
				? charging->lines_of_sites[vote->site]
				: line_of_site(charging, sample, sample->frames[vote->frame].site);
	enum argument_verdict verdict = believed(charging, vote);
	struct spokesman *spokesman;

	if (line == LINE_NONE)
		return;
	argument_evidence_add(&charging->lines->lines[line].arguments, verdict, sample->time_ns,
			      argument_summary_part(summary, verdict));
	spokesman = &charging->spokesmen[line];
	if (verdict > ARGUMENT_NEEDED && summary->votes_ns[verdict] > spokesman->time_ns)
		*spokesman = (struct spokesman){ vote->site, verdict, summary->votes_ns[verdict] };
}

static int init_words(const struct charging *charging, uint32_t site,
		      struct argument_words *ret_words)
{
	return argument_words_init(ret_words, charging->input->log, charging->findings.summaries,
				   charging->input->sources, site);
}

static int describe(struct charging *charging, const struct spokesman *spokesman,
		    struct line_entry *line)
{
	const struct argument_site *site = &charging->input->log->sites[spokesman->site];
	const struct python_code *code = site->code;
	struct argument_words words;
	struct code_position position;
	char text[EXPRESSION_SIZE];

	if (init_words(charging, spokesman->site, &words))
		return -ENOMEM;
	line->column = line->end_column = -1;
	line->end_line = 0;
	if (!position_table_find(code->minor, code->line_table, code->line_table_size,
				 code->first_line, site->offset, &position)) {
		line->column = position.column;
		line->end_column = position.end_column;
		line->end_line = position.end_line;
	}
	if (expression_text(&words.bytecode, site->offset, &words.context, text))
		line->expression = arena_copy_string(charging->arena, text);
	line->finding_ns = spokesman->time_ns;
	line->finding = argument_words_finding(charging->arena, &words,
					       &charging->findings.summaries[spokesman->site],
					       spokesman->verdict, line->expression);
	line->example =
		argument_example(charging->arena, site, spokesman->verdict, line->expression);
	argument_words_deinit(&words);
	return charging->arena->failed ? -ENOMEM : 0;
}

static bool takes_end(const struct charging *charging, const struct argument_site *site)
{
	const struct python_code *code = site->code;

	return sorted_end_is_taken(source_cache_columns(
		charging->input->sources, code->file,
		line_table_find(code->minor, code->line_table, code->line_table_size,
				code->first_line, site->offset)));
}

/* Its function does the same each time, and somebody outside takes part. */
static int find_acts(struct charging *charging, uint32_t id)
{
	struct argument_words words;

	if (init_words(charging, charging->findings.summaries[id].work_site, &words))
		return -ENOMEM;
	charging->needed[id] = argument_needed_acts(&words);
	argument_words_deinit(&words);
	return 0;
}

static int find_needed(struct charging *charging)
{
	const struct argument_log *log = charging->input->log;

	for (uint32_t id = 0; id < log->site_count; id++) {
		const struct argument_summary *summary = &charging->findings.summaries[id];
		struct argument_words words;
		struct call_site site = { 0 };

		if (summary->votes[ARGUMENT_END])
			charging->needed[id] = !takes_end(charging, &log->sites[id]);

		/* np.append() is not a list's. */
		if (log->sites[id].slow && !slow_call_is_builtin(log->sites[id].slow))
			continue;
		if (!summary->votes[ARGUMENT_INVARIANT] && !summary->votes[ARGUMENT_REPEATED] &&
		    !summary->votes[ARGUMENT_FEW] && !summary->votes[ARGUMENT_FEW_HELD] &&
		    !summary->votes[ARGUMENT_IN_TURN] && !summary->votes[ARGUMENT_GROWING] &&
		    !summary->votes[ARGUMENT_COMMON])
			continue;
		if (init_words(charging, id, &words))
			return -ENOMEM;
		if (log->sites[id].offset != ARGUMENT_ENTRY &&
		    call_site_find(charging->input->sites, log->sites[id].code,
				   log->sites[id].offset, &site)) {
			argument_words_deinit(&words);
			return -ENOMEM;
		}
		charging->needed[id] = argument_needed_call(&words, summary->entry != ID_NONE,
							    site.does.names_constant);
		if (summary->votes[ARGUMENT_COMMON])
			charging->needed[id] |= argument_needed_common(&words);
		argument_words_deinit(&words);
		if (!charging->needed[id] && summary->work_pairs && find_acts(charging, id))
			return -ENOMEM;
	}
	return 0;
}

int argument_stats_charge(const struct argument_stats_input *input, struct arena *arena,
			  struct line_stats *lines)
{
	struct charging charging = { .input = input, .lines = lines, .arena = arena };
	int error =
		argument_findings_make(&charging.findings, input->log, input->cct, input->sites);

	if (error)
		return error;
	charging.spokesmen = calloc(lines->count + 1, sizeof(*charging.spokesmen));
	charging.needed = calloc(input->log->site_count + 1, sizeof(*charging.needed));
	charging.lines_of_sites =
		calloc(input->log->site_count + 1, sizeof(*charging.lines_of_sites));
	error = charging.spokesmen && charging.needed && charging.lines_of_sites
			? find_needed(&charging)
			: -ENOMEM;
	if (!error)
		find_lines(&charging);
	for (size_t i = 0; !error && i < input->log->sample_count; i++)
		charge_vote(&charging, i);
	for (size_t i = 0; !error && i < lines->count; i++)
		if (charging.spokesmen[i].time_ns)
			error = describe(&charging, &charging.spokesmen[i], &lines->lines[i]);
	free(charging.spokesmen);
	free(charging.needed);
	free(charging.lines_of_sites);
	argument_findings_deinit(&charging.findings);
	return error;
}
