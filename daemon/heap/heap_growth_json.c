/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/heap/heap_growth_json.h"

#include "common/clock.h"
#include "daemon/heap/heap_words.h"

#include <math.h>
#include <stdlib.h>

static const char *const states[] = { [HEAP_WATCH_DONE] = "done",
				      [HEAP_WATCH_NOT_NEEDED] = "not_needed",
				      [HEAP_WATCH_UNWANTED] = "unwanted",
				      [HEAP_WATCH_REFUSED] = "refused" };

static double seconds_of(uint64_t ns)
{
	return (double)ns / (double)NS_PER_SECOND;
}

/* Objects and bytes a second, and bytes gained. */
static json_t *with_rates(json_t *object, const struct heap_growth *growth,
			  const struct heap_row *row)
{
	struct heap_trend bytes = { 0 }, counts = { 0 };

	if (row) {
		bytes = heap_growth_trend(growth, row->bytes);
		counts = heap_growth_trend(growth, row->counts);
	}
	object = json_with(object, "per_s", row ? json_figure(counts.per_s) : json_null());
	return json_with(object, "bytes_per_s", row ? json_figure(bytes.per_s) : json_null());
}

json_t *heap_json_with_type(json_t *object, const struct heap_look *look,
			    const struct heap_type_count *type)
{
	const struct heap_growth *growth = &look->course->growth;

	return with_rates(object, growth, heap_growth_type(growth, type));
}

json_t *heap_json_with_path(json_t *object, const struct heap_look *look, uint32_t path)
{
	const struct heap_growth *growth = &look->course->growth;

	return with_rates(object, growth, heap_growth_path(growth, path));
}

/* ---- lines */

static json_t *json_place(const struct heap_site_place *place)
{
	json_t *object = json_object();

	object = json_with(object, "file", json_text(place->file));
	object = json_with(object, "line", json_integer(place->line));
	return json_with(object, "function", json_text(place->function));
}

/* Behind what was counted there. */
static json_t *with_ways(json_t *object, const struct heap_site *site)
{
	json_t *callers = json_array();

	for (unsigned i = 0; i < site->caller_count; i++)
		callers = json_appended(callers, json_place(&site->callers[i]));
	object = json_with(object, "through",
			   site->through.line ? json_place(&site->through) : json_null());
	return json_with(object, "callers", callers);
}

static json_t *json_site(const struct heap_watch_site *site)
{
	json_t *object = json_place(&site->site.place);

	object = json_with(object, "grown", json_count(site->grown));
	object = json_with(object, "shrunk", json_count(site->shrunk));
	return with_ways(object, &site->site);
}

static json_t *json_lines(const struct heap_watched *watched)
{
	json_t *lines = json_array();

	/* What was made there may have gone again. */
	for (unsigned i = 0; watched && i < watched->site_count; i++)
		if (watched->sites[i].grown || watched->sites[i].shrunk)
			lines = json_appended(lines, json_site(&watched->sites[i]));
	return lines;
}

/* ---- containers */

/* Since it was seen first. */
static json_t *json_lengths(const struct heap_growth *growth, const struct heap_row *row)
{
	json_t *lengths = json_array();

	for (size_t i = 0; i < growth->looks; i++)
		if (row->seen >> i & 1)
			lengths = json_appended(lengths, json_count(row->counts[i]));
	return lengths;
}

static json_t *json_grower(const struct heap_look *look, const struct heap_grower *grower)
{
	const struct heap_snapshot *snapshot = &look->snapshot;
	const struct heap_container *container = &snapshot->containers.items[grower->container];
	const struct heap_watched *watched = heap_course_watched(look->course, snapshot, grower);
	json_t *object = json_object();

	object = json_with(object, "path", heap_json_path(snapshot, grower->path));
	object = json_with(object, "type",
			   container->type_number < snapshot->type_name_count
				   ? json_text(snapshot->type_names[container->type_number])
				   : json_null());
	object = json_with(object, "address", json_count(container->address));
	object = json_with(object, "length", json_count(container->length));
	object = json_with(object, "lengths", json_lengths(&look->course->growth, grower->row));
	object = json_with(object, "per_s", json_figure(grower->trend.per_s));
	object = json_with(object, "gained_bytes", json_count((uint64_t)fmax(0, grower->bytes)));
	object = json_with(object, "watched", json_boolean(watched != NULL));
	object = json_with(object, "insertions", json_count(watched ? watched->grown : 0));
	return json_with(object, "lines", json_lines(watched));
}

static json_t *json_growing(const struct heap_look *look)
{
	json_t *growing = json_array();

	for (size_t i = 0; i < look->course->grower_count; i++)
		growing = json_appended(growing, json_grower(look, &look->course->growers[i]));
	return growing;
}

/* ---- types */

static json_t *json_made(const struct heap_look *look)
{
	json_t *made = json_array();
	const struct heap_watched *watched;

	for (size_t i = 0; (watched = heap_course_made(look->course, i)); i++) {
		json_t *object = json_object();

		object = json_with(object, "type", json_text(watched->made.name));
		object = json_with(object, "seen", json_count(watched->grown));
		object = json_with(object, "other_stops", json_count(watched->others));
		object = json_with(object, "lines", json_lines(watched));
		made = json_appended(made, object);
	}
	return made;
}

/* null: too little was seen, or nothing was to be seen. */
static json_t *json_filled(const struct heap_look *look)
{
	const struct heap_watched *filled = heap_course_filled(look->course);
	json_t *object = filled ? json_object() : json_null();

	if (!filled)
		return object;
	object = json_with(object, "tried", json_count(filled->tried));
	object = json_with(object, "stayed", json_count(filled->stayed));
	return json_with(object, "lines", json_lines(filled));
}

/* ---- what stays */

static json_t *with_sum(json_t *object, const char *blocks, const char *bytes,
			struct heap_kept_sum sum)
{
	object = json_with(object, blocks, json_count(sum.blocks));
	return json_with(object, bytes, json_count(sum.bytes));
}

static json_t *with_sums(json_t *object, struct heap_kept_sum made, struct heap_kept_sum kept,
			 struct heap_kept_sum native)
{
	object = with_sum(object, "made", "made_bytes", made);
	object = with_sum(object, "kept", "kept_bytes", kept);
	return with_sum(object, "unheld", "unheld_bytes", native);
}

static json_t *json_kept_site(const struct heap_kept_site *site)
{
	json_t *object = site->site.place.file[0] ? json_place(&site->site.place) : json_object();

	object = with_sums(object, site->made, site->kept, site->native);
	return with_ways(object, &site->site);
}

static json_t *with_kept(json_t *object, const struct heap_course *course)
{
	static const char *const doubts[] = { [HEAP_KEPT_CERTAIN] = NULL,
					      [HEAP_KEPT_NO_LOOKS] = "too_few_looks",
					      [HEAP_KEPT_NOTHING] = "nothing_stayed",
					      [HEAP_KEPT_UNSEEN] = "too_little_seen" };
	const struct heap_kept_result *result = heap_course_kept(course);
	const struct heap_kept *kept = result ? heap_probes_kept(course->probes) : NULL;
	json_t *lines = json_array();

	if (!result)
		return json_with(object, "lines", lines);
	for (size_t i = 0; i < result->site_count; i++)
		lines = json_appended(lines, json_kept_site(result->sites[i]));
	object = with_sums(object, result->made, result->kept, result->native);
	object = json_with(object, "age_s", json_figure(seconds_of(result->age_ns)));
	object = json_with(object, "observed_s", json_figure(seconds_of(result->observed_ns)));
	object = json_with(object, "doubt",
			   doubts[result->doubt] ? json_text(doubts[result->doubt]) : json_null());
	object = json_with(object, "without_python", json_count(kept->without_python));
	object =
		json_with(object, "left_out", json_count(kept->beyond_blocks + kept->beyond_sites));
	return json_with(object, "lines", lines);
}

static json_t *json_probes(const struct heap_course *course)
{
	struct allocation_counts_sum counts = { 0 };
	json_t *object = json_object();

	if (course->probes)
		counts = heap_probes_figures(course->probes).counts;
	object = json_with(object, "state", json_text(states[course->probes_state]));
	object = json_with(object, "refusal",
			   course->probes_state == HEAP_WATCH_REFUSED
				   ? json_text(course->probes_error.cause)
				   : json_null());
	object = json_with(object, "windows", json_count(counts.windows));
	object = json_with(object, "probed_s", json_figure(seconds_of(counts.probed_ns)));
	object = json_with(object, "cost_s", json_figure(seconds_of(counts.cost_ns)));
	object = json_with(object, "hits", json_count(counts.hits));
	return with_kept(object, course);
}

/* ---- all */

static json_t *json_verdict(const struct heap_look *look)
{
	const struct heap_verdict *verdict = &look->course->verdict;
	struct heap_words *words = calloc(1, sizeof(*words));
	json_t *object = json_object(), *sentences = json_array();

	if (!words) {
		json_decref(object);
		json_decref(sentences);
		return NULL;
	}
	heap_words_say(look, words);
	for (size_t i = 0; i < words->sentence_count; i++)
		sentences = json_appended(sentences, json_text(words->sentences[i]));
	object = json_with(object, "kind", json_text(heap_verdict_name(verdict->kind)));
	object = json_with(object, "share_of_growth", json_figure(verdict->share_of_growth));
	object = json_with(object, "looks", json_count(look->course->growth.taken));
	object = json_with(object, "seconds",
			   json_figure(seconds_of(heap_growth_elapsed_ns(&look->course->growth))));
	object = json_with(object, "bytes_per_s", json_figure(verdict->bytes_per_s));
	object = json_with(object, "rss_bytes_per_s", json_figure(verdict->rss_per_s));
	object = json_with(object, "path",
			   verdict->path ? heap_json_path(&look->snapshot, verdict->path)
					 : json_null());
	object = json_with(object, "text", json_text(words->headline));
	free(words);
	return json_with(object, "sentences", sentences);
}

static json_t *json_limit(const struct heap_course *course)
{
	const struct memory_limit *limit = &course->limit;
	double seconds = heap_course_seconds_left(course);
	json_t *object = json_object();

	object = json_with(object, "limit_bytes",
			   limit->known ? json_count(limit->limit_bytes) : json_null());
	object = json_with(object, "used_bytes",
			   limit->known ? json_count(limit->used_bytes) : json_null());
	object =
		json_with(object, "seconds_left", seconds > 0 ? json_figure(seconds) : json_null());
	return json_with(object, "oom_kills",
			 limit->kills_known ? json_count(limit->kills) : json_null());
}

static json_t *json_looks(const struct heap_growth *growth)
{
	json_t *looks = json_array();

	for (size_t i = 0; i < growth->looks; i++) {
		uint64_t since_ns = growth->times_ns[i] - growth->times_ns[0];
		json_t *object = json_object();

		object = json_with(object, "s", json_figure(seconds_of(since_ns)));
		object = json_with(object, "rss_bytes",
				   json_count(growth->figures[HEAP_FIGURE_RSS][i]));
		object = json_with(object, "held_bytes",
				   json_count(growth->figures[HEAP_FIGURE_HELD][i]));
		object = json_with(object, "garbage_bytes",
				   json_count(growth->figures[HEAP_FIGURE_GARBAGE][i]));
		object = json_with(object, "native_bytes",
				   json_count(growth->figures[HEAP_FIGURE_NATIVE][i]));
		object = json_with(object, "free_bytes",
				   json_count(growth->figures[HEAP_FIGURE_FREE][i]));
		looks = json_appended(looks, object);
	}
	return looks;
}

static json_t *json_watch(const struct heap_course *course)
{
	json_t *object = json_object();

	object = json_with(object, "state", json_text(states[course->watch_state]));
	object = json_with(object, "refusal",
			   course->watch_state == HEAP_WATCH_REFUSED
				   ? json_text(course->watch_error.cause)
				   : json_null());
	object = json_with(object, "stops",
			   json_count(course->watch ? heap_watch_stops(course->watch) : 0));
	return json_with(
		object, "stopped_s",
		json_figure(course->watch ? seconds_of(heap_watch_stopped_ns(course->watch)) : 0));
}

json_t *heap_json_with_course(json_t *object, const struct heap_look *look)
{
	const struct heap_growth *growth = &look->course->growth;
	json_t *left_out = json_object();

	left_out = json_with(left_out, "types", json_count(growth->types.left_out));
	left_out = json_with(left_out, "paths", json_count(growth->paths.left_out));
	left_out = json_with(left_out, "containers", json_count(growth->containers.left_out));
	left_out = json_with(left_out, "torn_looks", json_count(growth->torn));
	object = json_with(object, "verdict", json_verdict(look));
	object = json_with(object, "growing", json_growing(look));
	object = json_with(object, "made", json_made(look));
	object = json_with(object, "filled", json_filled(look));
	object = json_with(object, "watch", json_watch(look->course));
	object = json_with(object, "stays", json_probes(look->course));
	object = json_with(object, "limit", json_limit(look->course));
	object = json_with(object, "looks", json_looks(growth));
	return json_with(object, "not_followed", left_out);
}
