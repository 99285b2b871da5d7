/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/heap/heap_words.h"

#include "common/clock.h"
#include "daemon/heap/heap_holder.h"
#include "daemon/report/encode/figure.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define PATH_BYTES  700
#define SITES_SHOWN 2

struct teller {
	const struct heap_look *look;
	const struct heap_course *course;
	struct heap_words *words;
	char span[24]; /* "60 s" */
};

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

void heap_words_path(const struct heap_look *look, uint32_t path, char *words, size_t size)
{
	const char *type = heap_holder_type(&look->snapshot, path);
	size_t used;

	heap_holder_words(&look->snapshot, path, words, size);
	used = strlen(words);
	if (*type && used < size)
		snprintf(words + used, size - used, " (%s)", type);
}

/* "2.5", "140", "5,100" a second. */
static const char *rate_words(double rate, char words[24])
{
	double size = fabs(rate);

	if (size < 10)
		snprintf(words, 24, "%.2g", rate);
	else if (size < 1000)
		snprintf(words, 24, "%.0f", rate);
	else if (size < 1e6)
		snprintf(words, 24, "%.0f,%03.0f", trunc(rate / 1000), fmod(size, 1000));
	else
		snprintf(words, 24, "%.3g million", rate / 1e6);
	return words;
}

static struct figure byte_rate(double rate)
{
	return figure_bytes((uint64_t)fabs(rate));
}

/* ---- headlines */

static void path_of_verdict(const struct teller *teller, char words[PATH_BYTES])
{
	snprintf(words, PATH_BYTES, "what no variable leads to");
	if (teller->course->verdict.path)
		heap_words_path(teller->look, teller->course->verdict.path, words, PATH_BYTES);
}

static void say_leak(const struct teller *teller)
{
	const struct heap_course *course = teller->course;
	char path[PATH_BYTES], *headline = teller->words->headline;

	if (teller->look->snapshot.holders != HEAP_HOLDERS_KNOWN) {
		snprintf(headline, HEAP_SENTENCE_SIZE,
			 "memory leak, as far as %s can tell: objects become more and more; who "
			 "holds them is not known",
			 teller->span);
		return;
	}
	path_of_verdict(teller, path);
	if (!course->verdict.grower_decided)
		snprintf(headline, HEAP_SENTENCE_SIZE,
			 "memory leak, as far as %s can tell: more and more hangs on %s",
			 teller->span, path);
	else if (!course->growers[0].trend.falls)
		snprintf(headline, HEAP_SENTENCE_SIZE,
			 "memory leak, as far as %s can tell: %s never shrank in %" PRIu64 " looks",
			 teller->span, path, course->growth.taken);
	else
		snprintf(headline, HEAP_SENTENCE_SIZE,
			 "memory leak, as far as %s can tell: %s grew in %u of %u steps",
			 teller->span, path, course->growers[0].trend.rises,
			 course->growers[0].trend.steps);
}

static void say_warming(const struct teller *teller)
{
	char path[PATH_BYTES];

	path_of_verdict(teller, path);
	snprintf(teller->words->headline, HEAP_SENTENCE_SIZE,
		 "a cache that warms up, as far as %s can tell: %s %s", teller->span, path,
		 teller->course->verdict.stood_still ? "grew, and stands still by now"
						     : "grows more and more slowly");
}

static void say_headline(const struct teller *teller)
{
	const struct heap_verdict *verdict = &teller->course->verdict;
	char *headline = teller->words->headline;

	switch (verdict->kind) {
	case HEAP_VERDICT_TOO_FEW_LOOKS:
		snprintf(headline, HEAP_SENTENCE_SIZE,
			 "not enough looks to tell: %" PRIu64 " in %s, of at least %d",
			 teller->course->growth.taken, teller->span, HEAP_VERDICT_LOOKS_MIN);
		break;
	case HEAP_VERDICT_LEAK:
		say_leak(teller);
		break;
	case HEAP_VERDICT_WARMING:
		say_warming(teller);
		break;
	case HEAP_VERDICT_GARBAGE:
		snprintf(headline, HEAP_SENTENCE_SIZE,
			 "garbage that waits for the collector, as far as %s can tell: up to %s of "
			 "objects that no variable leads to",
			 teller->span, figure_bytes(verdict->garbage_peak).text);
		break;
	case HEAP_VERDICT_NATIVE:
		snprintf(headline, HEAP_SENTENCE_SIZE,
			 "memory of native code grows, as far as %s can tell: no Python object "
			 "holds it",
			 teller->span);
		break;
	case HEAP_VERDICT_FRAGMENTATION:
		snprintf(headline, HEAP_SENTENCE_SIZE,
			 "fragmentation, as far as %s can tell: %s in RAM is free, between what is "
			 "used",
			 teller->span,
			 figure_bytes(
				 teller->course->growth.figures[HEAP_FIGURE_FREE]
							       [teller->course->growth.looks - 1])
				 .text);
		break;
	case HEAP_VERDICT_STEADY:
		snprintf(headline, HEAP_SENTENCE_SIZE,
			 "steady, as far as %s can tell: %s in RAM, and nothing grows",
			 teller->span, figure_bytes(teller->look->snapshot.regions.rss_bytes).text);
		break;
	}
}

/* ---- sentences */

static void say_pace(const struct teller *teller)
{
	const struct heap_course *course = teller->course;
	const struct heap_verdict *verdict = &course->verdict;
	char entries[64] = "", rate[24], share[96] = "";

	if (verdict->bytes_per_s <= 0)
		return;
	if (verdict->grower_decided)
		snprintf(entries, sizeof(entries), "%s entries/s, ",
			 rate_words(course->growers[0].trend.per_s, rate));
	if (verdict->share_of_growth > 0)
		snprintf(share, sizeof(share), ": %.0f%% of the growth of what is in RAM",
			 100 * verdict->share_of_growth);
	add(teller->words, "grows by %s%s/s%s", entries, byte_rate(verdict->bytes_per_s).text,
	    share);
}

static const char *base_name(const char *file)
{
	const char *slash = strrchr(file, '/');

	return slash ? slash + 1 : file;
}

/* " through f (x.py:3)" and ", called by g (x.py:9) < ...". */
static void put_ways(const struct heap_site *site, char through[220], char callers[480])
{
	size_t used = 0;

	through[0] = callers[0] = '\0';
	for (unsigned i = 0; i < site->caller_count && used < 480; i++)
		used += (size_t)snprintf(callers + used, 480 - used, "%s%.60s (%.40s:%d)",
					 i ? " < " : ", called by ", site->callers[i].function,
					 base_name(site->callers[i].file), site->callers[i].line);
	if (site->through.line)
		snprintf(through, 220, " through %.60s (%.60s:%d)", site->through.function,
			 base_name(site->through.file), site->through.line);
}

static void say_site(const struct teller *teller, const struct heap_watched *watched,
		     const struct heap_watch_site *site)
{
	const struct heap_site_place *place = &site->site.place;
	char callers[480], through[220], what[160] = "insertions";

	put_ways(&site->site, through, callers);
	if (watched->made.type)
		snprintf(what, sizeof(what), "objects of %.120s", watched->made.name);
	else if (watched->end)
		snprintf(what, sizeof(what), "places that stayed, where the heap grew");
	add(teller->words, "%sat %s:%d in %s%s (%u of %u %s)%s",
	    watched->made.type ? "made "
	    : watched->end     ? "filled "
			       : "",
	    place->file, place->line, place->function, through, site->grown, watched->grown, what,
	    callers);
}

/* The places that insert most. */
static void say_sites(const struct teller *teller, const struct heap_watched *watched,
		      unsigned sites_shown)
{
	bool said[HEAP_WATCH_SITES_MAX] = { 0 };

	for (unsigned shown = 0; shown < sites_shown; shown++) {
		const struct heap_watch_site *best = NULL;

		for (unsigned i = 0; i < watched->site_count; i++)
			if (!said[i] && watched->sites[i].grown &&
			    (!best || watched->sites[i].grown > best->grown))
				best = &watched->sites[i];
		if (!best)
			return;
		said[best - watched->sites] = true;
		say_site(teller, watched, best);
	}
}

static void say_lines(const struct teller *teller)
{
	const struct heap_course *course = teller->course;
	const struct heap_watched *watched;

	if (course->verdict.kind != HEAP_VERDICT_LEAK || !course->verdict.grower_decided)
		return;
	switch (course->watch_state) {
	case HEAP_WATCH_UNWANTED:
		add(teller->words, "no line is named: --no-watch");
		return;
	case HEAP_WATCH_REFUSED:
		add(teller->words, "no line is named: %s", course->watch_error.cause);
		return;
	case HEAP_WATCH_NOT_NEEDED:
		add(teller->words, "no line is named: what grows was not known in time");
		return;
	case HEAP_WATCH_DONE:
		break;
	}
	watched = heap_course_watched(course, &teller->look->snapshot, &course->growers[0]);
	if (watched && watched->grown)
		say_sites(teller, watched, SITES_SHOWN);
	else
		add(teller->words, "no line is named: nothing was inserted while its length was "
				   "watched");
}

/* One place of each type: what is inserted where was said first. */
static void say_made(const struct teller *teller)
{
	const struct heap_watched *watched;

	for (size_t i = 0; (watched = heap_course_made(teller->course, i)); i++)
		say_sites(teller, watched, 1);
}

static void say_kept_site(const struct teller *teller, const struct heap_kept_result *result,
			  const struct heap_kept_site *kept, bool native)
{
	const struct heap_kept_sum all = native ? result->native : result->kept;
	const struct heap_kept_sum stays = heap_kept_stays(kept, native);
	const struct heap_site_place *place = &kept->site.place;
	char callers[480], through[220], where[440] = "by threads that ran no Python code";

	put_ways(&kept->site, through, callers);
	if (place->file[0])
		snprintf(where, sizeof(where), "at %s:%d in %s", place->file, place->line,
			 place->function);
	add(teller->words,
	    "allocated %s%s: %.0f%% of what stays (%u of %u sampled blocks; %u of the %u made "
	    "there "
	    "are in use %s later)%s",
	    where, through, 100 * (double)stays.bytes / (double)all.bytes, stays.blocks, all.blocks,
	    stays.blocks, kept->made.blocks,
	    heap_words_time((double)result->age_ns / NS_PER_SECOND).text, callers);
}

static void say_kept(const struct teller *teller, const struct heap_kept_result *result)
{
	bool native = heap_course_is_native(teller->course);
	double seconds = (double)result->observed_ns / NS_PER_SECOND;

	switch (result->doubt) {
	case HEAP_KEPT_NO_LOOKS:
		add(teller->words, "no line is named: there were too few looks since there were "
				   "probes at malloc()");
		break;
	case HEAP_KEPT_NOTHING:
		add(teller->words,
		    "no line is named: of %u blocks that were sampled at malloc() hardly any "
		    "has stayed",
		    result->made.blocks);
		break;
	case HEAP_KEPT_UNSEEN:
		add(teller->words,
		    "no line is named: of what is allocated too little was seen (%.2g s of it) to "
		    "tell what stays",
		    seconds);
		break;
	case HEAP_KEPT_CERTAIN:
		for (size_t i = 0; i < result->site_count && i < SITES_SHOWN; i++)
			say_kept_site(teller, result, result->sites[i], native);
		break;
	}
}

static void say_filled(const struct teller *teller, const struct heap_watched *filled)
{
	const struct heap_course *course = teller->course;

	if (filled) {
		say_sites(teller, filled, SITES_SHOWN);
		add(teller->words,
		    "--allocations names the lines that allocate it, by probes at malloc()");
		return;
	}
	add(teller->words,
	    "no line is named%s%s: --allocations names those that allocate it, by "
	    "probes at malloc()",
	    course->watch_state == HEAP_WATCH_REFUSED ? ", as " : "",
	    course->watch_state == HEAP_WATCH_REFUSED ? course->watch_error.cause : "");
}

/* Of memory of C nothing else names a line; of objects, the lines above may. */
static void say_probes(const struct teller *teller)
{
	const struct heap_course *course = teller->course;
	bool native = heap_course_is_native(course);

	if (!native &&
	    (course->verdict.kind != HEAP_VERDICT_LEAK || course->verdict.grower_decided))
		return;
	switch (course->probes_state) {
	case HEAP_WATCH_UNWANTED:
		if (native)
			say_filled(teller, heap_course_filled(course));
		break;
	case HEAP_WATCH_REFUSED:
		add(teller->words, "no line that allocates is named: %s",
		    course->probes_error.cause);
		break;
	case HEAP_WATCH_NOT_NEEDED:
		add(teller->words, "no line that allocates is named: what grows was not known in "
				   "time");
		break;
	case HEAP_WATCH_DONE:
		say_kept(teller, heap_course_kept(course));
		break;
	}
}

struct figure heap_words_time(double seconds)
{
	struct figure figure;

	if (seconds < 120)
		snprintf(figure.text, sizeof(figure.text), "%.0f s", seconds);
	else if (seconds < 120 * 60)
		snprintf(figure.text, sizeof(figure.text), "%.0f min", seconds / 60);
	else if (seconds < 48 * 3600)
		snprintf(figure.text, sizeof(figure.text), "%.0f h", seconds / 3600);
	else
		snprintf(figure.text, sizeof(figure.text), "%.0f days",
			 fmin(seconds / 86400, 9999));
	return figure;
}

static void say_limit(const struct teller *teller)
{
	const struct memory_limit *limit = &teller->course->limit;
	double seconds = heap_course_seconds_left(teller->course);
	bool grows = teller->course->verdict.bytes_per_s > 0;

	if (limit->known && grows && seconds > 0)
		add(teller->words,
		    "the control group may have %s, and has %s: at this pace the limit is reached "
		    "in about %s",
		    figure_bytes(limit->limit_bytes).text, figure_bytes(limit->used_bytes).text,
		    heap_words_time(seconds).text);
	if (limit->kills_known && limit->kills)
		add(teller->words, "%" PRIu64 " OOM kill%s in its control group so far",
		    limit->kills, figure_plural(limit->kills));
}

static void say_garbage(const struct teller *teller)
{
	const struct heap_growth *growth = &teller->course->growth;
	struct heap_trend trend = heap_growth_trend(growth, growth->figures[HEAP_FIGURE_GARBAGE]);

	if (teller->course->verdict.kind != HEAP_VERDICT_GARBAGE)
		return;
	if (trend.falls)
		add(teller->words, "it went down again in %u of %u steps: the collector comes",
		    trend.falls, trend.steps);
	else
		add(teller->words, "it was not collected meanwhile: circles of references need "
				   "gc.collect(), or gc is disabled");
}

void heap_words_say(const struct heap_look *look, struct heap_words *ret_words)
{
	struct teller teller = { .look = look, .course = look->course, .words = ret_words };
	double seconds = (double)heap_growth_elapsed_ns(&look->course->growth) / NS_PER_SECOND;

	snprintf(teller.span, sizeof(teller.span), seconds < 10 ? "%.1f s" : "%.0f s", seconds);
	ret_words->sentence_count = 0;
	ret_words->headline[0] = '\0';
	say_headline(&teller);
	say_pace(&teller);
	say_lines(&teller);
	say_made(&teller);
	say_probes(&teller);
	say_garbage(&teller);
	say_limit(&teller);
	if (look->course->ended)
		add(ret_words, "the process has ended meanwhile");
}
