/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/top/filter.h"

#include "daemon/report/model/own_line.h"

#include <stdio.h>
#include <string.h>

/* In any case of letters; a name that is not known has nothing. */
static bool has(const char *text, const char *words)
{
	return text && strcasestr(text, words);
}

static bool is_own(const struct filter *filter, const struct profile *profile, size_t index)
{
	if (filter->view == TOP_LINES) {
		const struct profile_line *line = &profile->lines[index];

		return own_line_is_own(&(struct profile_frame){ .kind = FRAME_PYTHON,
								.file = line->file,
								.function = line->function,
								.line = line->line });
	}
	if (filter->view == TOP_FUNCTIONS) {
		const struct profile_function *function = &profile->functions[index];

		return own_line_is_own(&(struct profile_frame){ .kind = FRAME_PYTHON,
								.file = function->file,
								.function = function->function,
								.line = function->line });
	}
	return true;
}

static bool path_has(const struct profile_frame *frames, size_t count, const char *words)
{
	for (size_t i = 0; i < count; i++)
		if (has(frames[i].function, words) || has(frames[i].file, words))
			return true;
	return false;
}

static const char *source_of(const struct filter *filter, const struct profile_line *line)
{
	if (line->source || !filter->source || line->line <= 0)
		return line->source;
	return filter->source(filter->source_context, line->file, line->line);
}

static bool matches(const struct filter *filter, const struct profile *profile, size_t index)
{
	const char *words = filter->words;

	switch (filter->view) {
	case TOP_LINES: {
		const struct profile_line *line = &profile->lines[index];
		char place[512];

		/* Its end is what people type. */
		snprintf(place, sizeof(place), "%.*s:%d", 480,
			 strrchr(line->file, '/') ? strrchr(line->file, '/') + 1 : line->file,
			 line->line);
		return has(line->file, words) || has(place, words) || has(line->function, words) ||
		       has(source_of(filter, line), words);
	}
	case TOP_FUNCTIONS:
		return has(profile->functions[index].file, words) ||
		       has(profile->functions[index].function, words);
	case TOP_THREADS:
		return has(profile->facts.threads[index].name, words);
	case TOP_PAIRS:
		return path_has(profile->pairs[index].first, profile->pairs[index].first_count,
				words) ||
		       path_has(profile->pairs[index].second, profile->pairs[index].second_count,
				words);
	case TOP_VIEW_COUNT:
		break;
	}
	return true;
}

bool filter_wants(const struct filter *filter, const struct profile *profile, size_t index)
{
	return (!filter->own_only || is_own(filter, profile, index)) &&
	       (!filter->words[0] || matches(filter, profile, index));
}
