/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/heap/heap_diff_words.h"

#include "common/clock.h"
#include "daemon/heap/heap_comparison.h"
#include "daemon/heap/heap_growth_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define PATH_BYTES 700
/* A holder is named when so much of the change hangs on it. */
#define NAMED_SHARE 0.1
/* More than all of it: elsewhere it went the other way. */
#define ALONE_SHARE 1.05

bool heap_diff_seconds(const struct heap_diff *diff, double *ret_seconds)
{
	uint64_t base_ns = diff->files[HEAP_BASE]->look.unix_ns;
	uint64_t now_ns = diff->files[HEAP_NOW]->look.unix_ns;

	if (!base_ns || !now_ns)
		return false;
	*ret_seconds = ((double)now_ns - (double)base_ns) / NS_PER_SECOND;
	return true;
}

__attribute__((format(printf, 2, 3))) static void add(struct heap_words *words, const char *format,
						      ...)
{
	va_list arguments;

	if (words->sentence_count == HEAP_SENTENCES_MAX)
		return;
	va_start(arguments, format);
	vsnprintf(words->sentences[words->sentence_count++], HEAP_SENTENCE_SIZE, format, arguments);
	va_end(arguments);
}

/* ---- headline */

/* What most of a change in objects is about: ": 97% of it hangs on app.cache, +1000 objects". */
static void name_holder(const struct heap_diff *diff, enum heap_diff_kind kind, char words[900])
{
	uint32_t row = heap_comparison_first_row(diff);
	const struct heap_path_change *path = &diff->paths[row];
	double change = (double)heap_diff_change(path->bytes);
	double share = change / (double)heap_diff_change(diff->parts[kind]);
	char name[PATH_BYTES], how[64];

	if (!row || share < NAMED_SHARE)
		return;
	heap_diff_path_words(diff, row, name, sizeof(name));
	snprintf(how, sizeof(how), "%.0f%% of it %s", 100 * fmin(share, 1),
		 diff->kind == HEAP_DIFF_LESS ? "hung on" : "hangs on");
	if (share > ALONE_SHARE)
		snprintf(how, sizeof(how), "%s alone on", heap_text_signed(change).text);
	snprintf(words, 900, ": %s %s, %+" PRId64 " object%s%s", how, name,
		 heap_diff_change(path->entries),
		 figure_plural((uint64_t)llabs(heap_diff_change(path->entries))),
		 path->present[HEAP_NOW] ? "" : ", gone");
}

/* Where holders are not known. */
static void name_type(const struct heap_diff *diff, char words[900])
{
	size_t last = diff->type_count ? diff->type_count - 1 : 0;
	const struct heap_type_change *type = &diff->types[diff->kind == HEAP_DIFF_LESS ? last : 0];

	if (diff->type_count)
		snprintf(words, 900, ": most of it %.200s, %+" PRId64 " object%s", type->name,
			 heap_diff_change(type->count),
			 figure_plural((uint64_t)llabs(heap_diff_change(type->count))));
}

static const char *part_words(enum heap_diff_kind kind)
{
	static const char *const words[] = {
		[HEAP_DIFF_SAME] = "in RAM",
		[HEAP_DIFF_OBJECTS] = "in Python objects",
		[HEAP_DIFF_GARBAGE] = "in objects that no variable leads to",
		[HEAP_DIFF_NATIVE] = "in memory of native code, which no Python object holds",
		[HEAP_DIFF_FREE] = "in RAM and in no use, free between what is used",
		[HEAP_DIFF_FILES] = "in programs, libraries, files and stacks",
		[HEAP_DIFF_LESS] = "",
	};

	return words[kind];
}

static void say_headline(const struct heap_diff *diff, struct heap_words *words)
{
	enum heap_diff_kind part = diff->kind == HEAP_DIFF_LESS ? diff->less : diff->kind;
	double change = (double)heap_diff_change(diff->parts[part]), seconds;
	char span[48] = "before", about[900] = "";

	if (heap_diff_seconds(diff, &seconds))
		snprintf(span, sizeof(span), "%s %s", heap_words_time(fabs(seconds)).text,
			 seconds < 0 ? "later" : "before");
	if (part == HEAP_DIFF_OBJECTS && diff->holders)
		name_holder(diff, part, about);
	else if (part == HEAP_DIFF_OBJECTS)
		name_type(diff, about);
	if (diff->kind == HEAP_DIFF_SAME)
		snprintf(words->headline, sizeof(words->headline), "much as %s: %s in RAM%s", span,
			 figure_bytes(diff->parts[HEAP_DIFF_SAME][HEAP_NOW]).text,
			 heap_comparison_hidden_row(diff) ? "" : ", and nothing grew to speak of");
	else
		snprintf(words->headline, sizeof(words->headline), "%s %s %s than %s%s",
			 figure_bytes((uint64_t)fabs(change)).text, change < 0 ? "less" : "more",
			 part_words(part), span, about);
}

/* ---- sentences */

static void say_hidden(const struct heap_diff *diff, struct heap_words *words)
{
	uint32_t row = heap_comparison_hidden_row(diff);
	const struct heap_path_change *path = &diff->paths[row];
	char name[PATH_BYTES];

	if (!row)
		return;
	heap_diff_path_words(diff, row, name, sizeof(name));
	add(words, "but %s more on %s, %+" PRId64 " object%s, in place of other things",
	    figure_bytes((uint64_t)heap_diff_change(path->bytes)).text, name,
	    heap_diff_change(path->entries),
	    figure_plural((uint64_t)llabs(heap_diff_change(path->entries))));
}

static void say_next(const struct heap_diff *diff, struct heap_words *words)
{
	bool tells = diff->kind == HEAP_DIFF_OBJECTS || diff->kind == HEAP_DIFF_GARBAGE ||
		     diff->kind == HEAP_DIFF_NATIVE;

	if (tells && diff->process != HEAP_SAME_NOT)
		add(words,
		    "a leak, or a cache that fills? Two looks cannot tell: pieprofd heap %d -d 60",
		    (int)diff->files[HEAP_NOW]->look.pid);
}

static bool is_cut(const struct heap_file *file)
{
	const struct heap_quality *quality = &file->look.snapshot.quality;

	return quality->cut_types || quality->cut_paths || quality->cut_blocks ||
	       quality->skipped_bytes || quality->broken_heaps || file->types_omitted;
}

static void say_doubts(const struct heap_diff *diff, struct heap_words *words)
{
	const struct heap_file *base = diff->files[HEAP_BASE], *now = diff->files[HEAP_NOW];
	const struct python_version *before = &base->look.python, *after = &now->look.python;

	if (before->major != after->major || before->minor != after->minor)
		add(words, "of Python %d.%d and %d.%d: the same objects have other sizes in them",
		    before->major, before->minor, after->major, after->minor);
	if (!diff->program)
		add(words, "of two command lines: base and now may be two programs");
	if (!diff->holders)
		add(words, "%s: who holds what grew is not known",
		    base->look.snapshot.holders == now->look.snapshot.holders
			    ? "both looks are without holders"
			    : "one of the looks is without holders");
	if (is_cut(base) || is_cut(now))
		add(words, "there was more than was looked at: not all of it is counted");
}

void heap_diff_words_say(const struct heap_diff *diff, struct heap_words *ret_words)
{
	ret_words->sentence_count = 0;
	ret_words->headline[0] = '\0';
	say_headline(diff, ret_words);
	say_hidden(diff, ret_words);
	say_next(diff, ret_words);
	say_doubts(diff, ret_words);
}
