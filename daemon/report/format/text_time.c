/* SPDX-License-Identifier: Apache-2.0 */
/* The part of the text report on CPU time, by line. */
#include "daemon/report/format/text_layout.h"

/* Of the CPU time, the part from which on it is told what the interpreter did with it. */
#define NOTEWORTHY 200

#define FIXED_COLUMNS 38
#define FRESH_COLUMNS 9

void text_interpreter(const struct text_layout *layout, const struct profile *profile)
{
	uint64_t total_ns = time_sum(profile->time_ns);
	const struct side_time *side = &profile->side;
	bool collects = side->collecting_ns * NOTEWORTHY > total_ns;
	bool contends = side->contending_ns * NOTEWORTHY > total_ns;
	char words[256];
	int used = 0;

	if (collects)
		used += snprintf(
			words, sizeof(words), "%s of it in the garbage collector; ",
			figure_sampled(side->collecting_ns, total_ns, profile->facts.samples).text);
	if (contends)
		used += snprintf(
			words + used, sizeof(words) - (size_t)used, "%s of it asking for the GIL; ",
			figure_sampled(side->contending_ns, total_ns, profile->facts.samples).text);
	if (profile->facts.gil_known && profile->facts.thread_count > 1)
		used += snprintf(words + used, sizeof(words) - (size_t)used,
				 "code with the GIL ran for %s of the time watched; ",
				 figure_part(profile->gil_ns, profile->facts.duration_ns).text);
	if (!used)
		return;
	words[used - 2] = '\0';
	text_wrapped(layout, "  ", words);
}

void text_classes(const struct text_layout *layout, const struct profile_facts *facts,
		  const uint64_t time_ns[TIME_CLASS_COUNT], uint64_t total_ns)
{
	for (size_t c = 0; c < TIME_CLASS_COUNT; c++)
		if (c != TIME_NATIVE || !facts->native_unknown)
			fprintf(layout->file, "%6s ",
				figure_sampled(facts->native_unknown && c == TIME_PYTHON
						       ? time_user(time_ns)
						       : time_ns[c],
					       total_ns, facts->samples)
					.text);
}

const char *text_class_heads(const struct profile_facts *facts)
{
	return facts->native_unknown ? "  user system " : "python native system ";
}

/* Of the whole: "TIME  9.80 s of CPU: 30.6% Python, 61.2% native, 8.2% system". */
static void put_heading(const struct text_layout *layout, const struct profile *profile)
{
	uint64_t total_ns = time_sum(profile->time_ns);
	uint64_t samples = profile->facts.samples;
	struct figure kernel = figure_sampled(profile->time_ns[TIME_SYSTEM], total_ns, samples);

	if (profile->facts.native_unknown)
		text_heading(layout, "TIME",
			     "%s of CPU: %s user (Python and native are not told apart), %s system",
			     figure_ns(total_ns).text,
			     figure_sampled(time_user(profile->time_ns), total_ns, samples).text,
			     kernel.text);
	else
		text_heading(layout, "TIME", "%s of CPU: %s Python, %s native, %s system",
			     figure_ns(total_ns).text,
			     figure_sampled(profile->time_ns[TIME_PYTHON], total_ns, samples).text,
			     figure_sampled(profile->time_ns[TIME_NATIVE], total_ns, samples).text,
			     kernel.text);
}

static void put_row(const struct text_layout *layout, const struct profile *profile,
		    const struct profile_line *line)
{
	uint64_t total_ns = time_sum(profile->time_ns);
	uint64_t samples = profile->facts.samples;
	unsigned fixed = FIXED_COLUMNS + (profile->facts.memory ? FRESH_COLUMNS : 0);
	unsigned where_columns = (layout->columns - fixed) / 2;
	char suffix[32];

	fprintf(layout->file, "%6s ",
		figure_sampled(time_sum(line->self_ns), total_ns, samples).text);
	text_classes(layout, &profile->facts, line->self_ns, total_ns);
	fprintf(layout->file, "%6s  ", figure_sampled(line->total_ns, total_ns, samples).text);
	if (profile->facts.memory)
		fprintf(layout->file, "%7s  ",
			side_time_fresh_bytes(&line->side)
				? figure_bytes(side_time_fresh_bytes(&line->side)).text
				: "-");
	text_line_suffix(line, suffix, sizeof(suffix));
	text_path_cell(layout, line->file, suffix, where_columns, true);
	fputs("  ", layout->file);
	text_last_cell(layout, line->source && *line->source ? line->source : line->function,
		       layout->columns - fixed - where_columns);
}

size_t text_time(const struct text_layout *layout, const struct profile *profile,
		 const struct profile_line *const *lines, size_t count, uint64_t least_ns)
{
	uint64_t total_ns = time_sum(profile->time_ns);
	size_t shown = 0;

	put_heading(layout, profile);
	if (total_ns == 0)
		return 0;
	fprintf(layout->file, "  self %s total  %sline (self = %s)\n",
		text_class_heads(&profile->facts), profile->facts.memory ? "  fresh  " : "",
		profile->facts.native_unknown ? "user + system" : "python + native + system");
	for (; shown < count && time_sum(lines[shown]->self_ns) >= least_ns; shown++)
		put_row(layout, profile, lines[shown]);
	return shown;
}
