/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text report on one screen: what ran, what to change, the lines with most
 * time, the threads in a line, and what was written. What the verdict leaves is
 * the table's.
 */
#include "daemon/report/format/text_part.h"
#include "daemon/report/model/profile_sources.h"
#include "daemon/report/model/verdict.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define VERDICT_LINES_MAX 12
#define TABLE_LINES_MIN   2
#define TABLE_LINES_MAX   8
/* Lines with less than this part of the time are not worth a row. */
#define ROW_PART 200
#define SHOWN    4 /* threads, or processes */
/* A thread's name is as long as the target wants. */
#define WORDS_BYTES                                                                                \
	(64 + SHOWN * (sizeof(((struct profile_thread *)0)->name) + sizeof(struct figure) + 4))

/* "MainThread 80.1%, worker 12.0%, 3 more" */
static void put_threads(const struct text_layout *layout, const struct profile *profile)
{
	const struct profile_facts *facts = &profile->facts;
	uint64_t total_ns = time_sum(profile->time_ns);
	size_t shown = facts->thread_count < SHOWN ? facts->thread_count : SHOWN;
	char words[WORDS_BYTES];
	int used = snprintf(words, sizeof(words), "%zu: ", facts->thread_count);

	if (facts->thread_count < 2 || profile->process_count > 1)
		return;
	for (size_t i = 0; i < shown; i++)
		used += snprintf(words + used, sizeof(words) - (size_t)used, "%s%.*s %s",
				 i ? ", " : "", (int)sizeof(facts->threads[i].name),
				 facts->threads[i].name,
				 figure_sampled(time_sum(facts->threads[i].time_ns), total_ns,
						facts->samples)
					 .text);
	if (shown < facts->thread_count)
		snprintf(words + used, sizeof(words) - (size_t)used, ", %zu more",
			 facts->thread_count - shown);
	text_label(layout, "THREADS");
	text_last_cell(layout, words, layout->columns - 9);
}

static void put_processes(const struct text_layout *layout, const struct profile *profile)
{
	uint64_t total_ns = time_sum(profile->time_ns);
	size_t shown = profile->process_count < SHOWN ? profile->process_count : SHOWN;
	char words[WORDS_BYTES];
	int used = snprintf(words, sizeof(words), "%zu: ", profile->process_count);

	if (profile->process_count < 2)
		return;
	for (size_t i = 0; i < shown; i++)
		used += snprintf(words + used, sizeof(words) - (size_t)used, "%spid %d %s",
				 i ? ", " : "", (int)profile->processes[i].pid,
				 figure_sampled(time_sum(profile->processes[i].time_ns), total_ns,
						profile->facts.samples)
					 .text);
	if (shown < profile->process_count)
		snprintf(words + used, sizeof(words) - (size_t)used, ", %zu more",
			 profile->process_count - shown);
	text_label(layout, "PROCESSES");
	text_last_cell(layout, words, layout->columns - 11);
}

/* Lines shown may be others than what ran. */
static void put_warning(const struct text_layout *layout, char *sentence)
{
	if (sentence)
		text_wrapped(layout, "  ", sentence);
	free(sentence);
}

static int put_end(const struct text_layout *layout, const struct profile *profile,
		   const char *notes)
{
	size_t pairs = profile->pair_count + profile->pairs_omitted;
	char words[128];

	put_processes(layout, profile);
	put_threads(layout, profile);
	if (text_memory_brief(layout, profile) || text_copies_brief(layout, profile) ||
	    text_allocations_brief(layout, profile))
		return -ENOMEM;
	text_target_end(layout, profile);
	put_warning(layout, profile_sources_newer(profile));
	put_warning(layout, profile_sources_differing(profile));
	snprintf(words, sizeof(words), "--details shows more lines, %s%sand how far to trust this.",
		 pairs ? "pairs of accesses, " : "", profile->facts.waits ? "waiting, " : "");
	text_wrapped(layout, "  ", words);
	if (notes)
		text_wrapped(layout, "", notes);
	return 0;
}

static size_t table_lines(const struct writer_options *options, unsigned others)
{
	unsigned left = others < TEXT_BRIEF_LINES ? TEXT_BRIEF_LINES - others : 0;

	if (options->lines_max)
		return options->lines_max;
	return left < TABLE_LINES_MIN   ? TABLE_LINES_MIN
	       : left > TABLE_LINES_MAX ? TABLE_LINES_MAX
					: left;
}

static void put_table(const struct text_layout *layout, const struct profile *profile,
		      const struct profile_line *const *lines, size_t count, bool all)
{
	uint64_t least_ns = all ? 1 : time_sum(profile->time_ns) / ROW_PART;

	text_time(layout, profile, lines, count < profile->line_count ? count : profile->line_count,
		  least_ns ? least_ns : 1);
}

enum part_name {
	PART_HEAD,
	PART_VERDICT,
	PART_END,
	PART_COUNT
};

static int make_part(struct text_part *part, const struct text_layout *layout,
		     const struct profile *profile, const struct writer_options *options,
		     const struct verdict *verdict, enum part_name name)
{
	struct text_layout inside;
	int result = text_part_begin(part, layout, &inside), end;

	if (result)
		return result;
	if (name == PART_HEAD)
		text_target(&inside, profile, true);
	else if (name == PART_VERDICT)
		text_verdict(&inside, verdict);
	else
		result = put_end(&inside, profile, options->notes);
	end = text_part_end(part, &inside);
	return result ? result : end;
}

/* A place is for the sentence after it, or for the one before, which ends with a colon then. */
static void drop_sentence(struct verdict *verdict)
{
	size_t left = --verdict->sentence_count;
	size_t length = strlen(verdict->sentences[left - 1]);
	bool announced = length && verdict->sentences[left - 1][length - 1] == ':';
	while (verdict->place_count) {
		size_t position = verdict->places[verdict->place_count - 1].position;

		if (position < left || (position == left && announced))
			break;
		verdict->place_count--;
	}
}

/* As many of its sentences as there is room for beside the others: those that matter most come
 * first. */
static int make_verdict(struct text_part *part, const struct text_layout *layout,
			const struct profile *profile, const struct writer_options *options,
			unsigned others)
{
	unsigned room = TEXT_BRIEF_LINES > others + TABLE_LINES_MIN
				? TEXT_BRIEF_LINES - others - TABLE_LINES_MIN
				: 0;
	struct verdict verdict;
	int result = verdict_find(profile, &verdict);

	if (result)
		return result;
	for (;;) {
		result = make_part(part, layout, profile, options, &verdict, PART_VERDICT);
		if (result || verdict.sentence_count < 2 ||
		    (part->lines <= VERDICT_LINES_MAX && part->lines <= room))
			return result;
		text_part_deinit(part);
		drop_sentence(&verdict);
	}
}

int text_brief(const struct text_layout *layout, const struct profile *profile,
	       const struct writer_options *options)
{
	struct text_part parts[PART_COUNT] = { 0 };
	const struct profile_line **lines = calloc(profile->line_count + 1, sizeof(*lines));
	unsigned others = 3; /* a blank line and the table's heads */
	int result = lines ? 0 : -ENOMEM;

	for (enum part_name name = 0; name < PART_COUNT && !result; name++) {
		if (name != PART_VERDICT)
			result = make_part(&parts[name], layout, profile, options, NULL, name);
		others += parts[name].lines;
	}
	if (!result)
		result = make_verdict(&parts[PART_VERDICT], layout, profile, options, others);
	if (!result) {
		others += parts[PART_VERDICT].lines;
		for (size_t i = 0; i < profile->line_count; i++)
			lines[i] = &profile->lines[i];
		qsort(lines, profile->line_count, sizeof(*lines), profile_line_by_self);
		text_part_put(layout, &parts[PART_HEAD]);
		if (!options->verdict_last)
			text_part_put(layout, &parts[PART_VERDICT]);
		put_table(layout, profile, lines, table_lines(options, others),
			  options->lines_max > 0);
		text_part_put(layout, &parts[PART_END]);
		if (options->verdict_last)
			text_part_put(layout, &parts[PART_VERDICT]);
	}
	for (enum part_name name = 0; name < PART_COUNT; name++)
		text_part_deinit(&parts[name]);
	free(lines);
	return result;
}
