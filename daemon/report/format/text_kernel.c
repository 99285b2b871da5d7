/* SPDX-License-Identifier: Apache-2.0 */
/* The part of the text report on time in the kernel. */
#include "daemon/report/encode/escape.h"
#include "daemon/report/format/text_layout.h"
#include "daemon/report/model/frame_function.h"
#include "daemon/report/model/kernel_lines.h"

/* Of the CPU time, the part from which on it is worth a section. */
#define NOTEWORTHY      100
#define CALL_COLUMNS    20
#define FIXED_COLUMNS   (8 + CALL_COLUMNS + 2)
#define FUNCTIONS_SHOWN 4
#define FUNCTIONS_LABEL "        in "

/* "chacha_block_generic 71.2%, copy_to_iter 12.0%; 9 others", shares of the row. */
static void put_functions(const struct text_layout *layout, const struct kernel_line *line)
{
	size_t shown =
		line->function_count < FUNCTIONS_SHOWN ? line->function_count : FUNCTIONS_SHOWN;
	char words[1024];
	size_t used = 0;

	for (size_t i = 0; i < shown && used < sizeof(words); i++)
		used += (size_t)snprintf(
			words + used, sizeof(words) - used, "%s%s %s", i ? ", " : "",
			line->functions[i].function,
			figure_sampled(line->functions[i].time_ns, line->time_ns, line->samples)
				.text);
	if (shown < line->function_count && used < sizeof(words))
		(void)snprintf(words + used, sizeof(words) - used, "; %zu other%s",
			       line->function_count - shown,
			       figure_plural(line->function_count - shown));
	text_wrapped(layout, FUNCTIONS_LABEL, words);
}

static void text_kernel_put_line(const struct text_layout *layout, const struct profile *profile,
				 const struct kernel_line *line)
{
	unsigned where_columns = (layout->columns - FIXED_COLUMNS) / 2;
	const struct profile_frame *frame = line->frame;
	char suffix[32] = "", buffer[FRAME_FUNCTION_BYTES];
	const char *words = "";

	fprintf(layout->file, "%6s  ",
		figure_sampled(line->time_ns, time_sum(profile->time_ns), profile->facts.samples)
			.text);
	text_cell(layout, line->call[0] ? line->call : line->entry, CALL_COLUMNS);
	fputs("  ", layout->file);
	if (frame && frame->kind == FRAME_PYTHON && frame->line > 0)
		snprintf(suffix, sizeof(suffix), ":%d", frame->line);
	if (frame)
		words = frame->source && *frame->source
				? frame->source
				: frame_function(frame, false, buffer, sizeof(buffer));
	text_path_cell(layout, frame ? frame->file : "?", suffix, where_columns, true);
	fputs("  ", layout->file);
	text_last_cell(layout, words, layout->columns - FIXED_COLUMNS - where_columns - 2);
	put_functions(layout, line);
}

int text_kernel(const struct text_layout *layout, const struct profile *profile, size_t maximum)
{
	uint64_t total_ns = time_sum(profile->time_ns);
	struct kernel_lines lines;
	int result = kernel_lines_find(&lines, profile);
	size_t shown = 0;

	if (!result && lines.time_ns && lines.time_ns >= total_ns / NOTEWORTHY) {
		text_heading(layout, "SYSTEM",
			     "%s in the kernel, by what it was entered for; functions in it",
			     figure_ns(lines.time_ns).text);
		fputs("  self  call                  line\n", layout->file);
		for (; shown < lines.count && shown < maximum; shown++)
			text_kernel_put_line(layout, profile, &lines.items[shown]);
		if (shown < lines.count)
			fprintf(layout->file, "  (%zu more; --lines N shows more)\n",
				lines.count - shown);
	}
	kernel_lines_deinit(&lines);
	return result ? -1 : 0;
}

bool text_kernel_is_known(const struct profile *profile)
{
	for (size_t i = 0; i < profile->tree.frame_count; i++) {
		const struct profile_frame *frame = &profile->tree.frames[i];

		if (profile_frame_is_kernel(frame) && frame->function[0] != '[')
			return true;
	}
	return !profile->time_ns[TIME_SYSTEM];
}
