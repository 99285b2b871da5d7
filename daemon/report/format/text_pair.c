/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One redundant pair, as figure 7 of the PieProf paper has it: the earlier
 * path, "read again by" or "written again by", the later path, each from its innermost frame
 * outwards.
 *
 * To keep a pair on a screen, what says nothing new is folded, in words: the
 * frames of the interpreter's start outside the outermost Python frame, runs
 * of functions without a name, the middle of a deep path, and what the later
 * path shares with the earlier.
 */
#include "daemon/report/format/text_layout.h"

#include <inttypes.h>
#include <string.h>

/* Frames of a path shown at its innermost and its outermost end. */
#define INNER_FRAMES_MAX 18
#define OUTER_FRAMES_MAX 6

static bool text_pair_same_frame(const struct profile_frame *a, const struct profile_frame *b)
{
	return a->kind == b->kind && a->line == b->line && a->address == b->address &&
	       strcmp(a->function, b->function) == 0 && strcmp(a->file, b->file) == 0;
}

/*
 * The library's path without the tag of the interpreter it is built for,
 * ".cpython-311-x86_64-linux-gnu", which is longer than most names.
 */
static const char *without_tag(const char *path, char *buffer, size_t size)
{
	const char *name = strrchr(path, '/') ? strrchr(path, '/') : path;
	const char *tag = strstr(name, ".cpython-");
	const char *end = tag ? strstr(tag, ".so") : NULL;

	if (!end)
		return path;
	snprintf(buffer, size, "%.*s%s", (int)(tag - path < 4096 ? tag - path : 4096), path, end);
	return buffer;
}

static void text_pair_put_frame(const struct text_layout *layout, const struct profile_frame *frame)
{
	unsigned location_columns = layout->columns * 2 / 5;
	unsigned name_columns = layout->columns - location_columns - 1;
	char suffix[48], path[4200];
	const char *file;

	if (frame->kind == FRAME_PYTHON) {
		text_cell(layout, frame->source && *frame->source ? frame->source : frame->function,
			  name_columns);
		snprintf(suffix, sizeof(suffix), ":%d", frame->line);
	} else if (frame->native_file) {
		text_cell(layout, frame->function, name_columns);
		snprintf(suffix, sizeof(suffix), ":%d%s", frame->line,
			 frame->inlined ? " (inlined)" : "");
	} else {
		text_cell(layout, frame->function, name_columns);
		snprintf(suffix, sizeof(suffix), " 0x%" PRIx64 "%s", frame->address,
			 frame->flags & FRAME_GUESSED ? " ?" : "");
	}
	fputc(' ', layout->file);
	if (frame->kind == FRAME_PYTHON)
		file = frame->file;
	else if (frame->native_file)
		file = frame->native_file;
	else
		file = without_tag(frame->file, path, sizeof(path));
	text_path_cell(layout, file, suffix, location_columns, false);
	fputc('\n', layout->file);
}

static bool nameless(const struct profile_frame *frame)
{
	return frame->kind == FRAME_NATIVE && strcmp(frame->function, "?") == 0;
}

/* How many frames from the last of these outwards have no name and lie in one library. */
static size_t nameless_run(const struct profile_frame *frames, size_t count)
{
	size_t run = 0;

	while (run < count && nameless(&frames[count - 1 - run]) &&
	       strcmp(frames[count - 1 - run].file, frames[count - 1].file) == 0)
		run++;
	return run;
}

/* The frames [begin, end) of a path (outermost first), innermost first, the middle folded. */
static void text_pair_put_frames(const struct text_layout *layout,
				 const struct profile_frame *frames, size_t begin, size_t end)
{
	size_t count = end - begin;
	bool fold = count > INNER_FRAMES_MAX + OUTER_FRAMES_MAX + 1;

	for (size_t i = 0; i < count; i++) {
		size_t left, run;

		if (fold && i == INNER_FRAMES_MAX) {
			size_t folded = count - INNER_FRAMES_MAX - OUTER_FRAMES_MAX;

			fprintf(layout->file, "    (%zu frames in between are not shown)\n",
				folded);
			i += folded;
		}
		text_pair_put_frame(layout, &frames[end - 1 - i]);
		/* The innermost of them says where it is; the words take a row too. */
		left = fold && i < INNER_FRAMES_MAX ? INNER_FRAMES_MAX - i : count - i;
		run = nameless_run(frames + end - i - left, left);
		if (run > 2) {
			fprintf(layout->file, "    (%zu more functions without a name)\n", run - 1);
			i += run - 1;
		}
	}
}

/* How many frames lie outside the outermost Python one; 0: there is none. */
static size_t interpreter_start(const struct profile_frame *frames, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (frames[i].kind == FRAME_PYTHON)
			return i;
	return 0;
}

static void put_first_path(const struct text_layout *layout, const struct profile_pair *pair)
{
	size_t outside = interpreter_start(pair->first, pair->first_count);

	if (outside < 3) /* the words would be as long */
		outside = 0;
	text_pair_put_frames(layout, pair->first, outside, pair->first_count);
	if (outside > 0)
		fprintf(layout->file,
			"    (%zu native frames of the interpreter's start are not shown)\n",
			outside);
}

static void put_second_path(const struct text_layout *layout, const struct profile_pair *pair)
{
	size_t common = 0, count = pair->second_count;
	size_t own; /* index of the outermost frame to show */

	while (common < count && common < pair->first_count &&
	       text_pair_same_frame(&pair->first[common], &pair->second[common]))
		common++;
	own = common;
	/* At least out to the innermost Python frame, even when both paths are the same. */
	for (size_t i = count; i-- > 0;)
		if (pair->second[i].kind == FRAME_PYTHON) {
			own = i < own ? i : own;
			break;
		}
	if (own == count && count > 0)
		own = count - 1;
	if (own < 3)
		own = 0;
	text_pair_put_frames(layout, pair->second, own, count);
	if (own > 0)
		fprintf(layout->file, "    (%s%zu outer frames as in the earlier path)\n",
			common == count && common == pair->first_count ? "the same path: " : "",
			own);
}

void text_pair(const struct text_layout *layout, const struct profile_pair *pair, size_t number,
	       size_t count)
{
	const char *kind = pair->kind == PAIR_LOAD ? "load" : "store";
	char heading[64], sentences[256];
	int used;

	snprintf(heading, sizeof(heading), "PAIR %zu of %zu", number, count);
	text_heading(layout, heading, "redundant %s, could save about %s", kind,
		     figure_ns(pair->avoidable_ns).text);
	used = snprintf(sentences, sizeof(sentences),
			"%" PRIu64 " of %" PRIu64 " watched %ss found the same value: %s "
			"(95%% interval %s to %s).",
			pair->redundant, pair->sampled, kind, figure_share(pair->share).text,
			figure_share(pair->share_low).text, figure_share(pair->share_high).text);
	if (pair->approximate > 0)
		snprintf(sentences + used, sizeof(sentences) - (size_t)used,
			 " Another %" PRIu64 " found one within 1%%.", pair->approximate);
	text_wrapped(layout, "  ", sentences);
	if (pair->category != CATEGORY_UNCLEAR)
		text_wrapped(layout, "  Kind: ", category_name(pair->category));
	if (pair->advice && *pair->advice)
		text_wrapped(layout, "  Advice: ", pair->advice);
	text_rule(layout, '-', NULL);
	put_first_path(layout, pair);
	text_rule(layout, '*', pair->kind == PAIR_LOAD ? " read again by " : " written again by ");
	put_second_path(layout, pair);
	text_rule(layout, '-', NULL);
}
