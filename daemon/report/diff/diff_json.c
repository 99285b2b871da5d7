/* SPDX-License-Identifier: Apache-2.0 */
/* The difference of two profiles for programs, as pieprofd-formats(5) lays it down. */
#include "daemon/report/diff/diff_writers.h"
#include "daemon/report/diff/finding_change.h"

#include "daemon/report/format/json_finding.h"
#include "daemon/report/format/json_value.h"

#include <errno.h>

static json_t *json_two(json_t *base, json_t *now)
{
	return json_appended(json_appended(json_array(), base), now);
}

static json_t *json_counts(const uint64_t counts[DIFF_SIDES])
{
	return json_two(json_count(counts[DIFF_BASE]), json_count(counts[DIFF_NOW]));
}

static json_t *json_figures(const double figures[DIFF_SIDES])
{
	return json_two(json_figure(figures[DIFF_BASE]), json_figure(figures[DIFF_NOW]));
}

static json_t *json_interval(struct interval interval)
{
	return json_two(json_figure(interval.low), json_figure(interval.high));
}

static json_t *json_presence(const bool present[DIFF_SIDES])
{
	return json_text(!present[DIFF_BASE] ? "new" : !present[DIFF_NOW] ? "gone" : "both");
}

static json_t *diff_json_side(const struct diff *diff, enum diff_side side)
{
	const struct profile_facts *facts = &diff->profiles[side]->facts;
	json_t *object = json_object(), *command = json_array();

	for (size_t i = 0; facts->target.command && facts->target.command[i]; i++)
		command = json_appended(command, json_text(facts->target.command[i]));
	object = json_with(object, "pieprofd", json_text(facts->version));
	object = json_with(object, "pid", json_integer(facts->target.pid));
	object = json_with(object, "command", command);
	object = json_with(object, "container", json_container(&facts->target.container));
	object = json_with(object, "duration_ns", json_count(facts->duration_ns));
	object = json_with(object, "samples", json_count(facts->samples));
	object = json_with(object, "cpu_ms_per_s", json_figure(diff->cpu_rate[side]));
	object = json_with(object, "avoidable_ms_per_s", json_figure(diff->avoidable_rate[side]));
	return json_with(object, "avoidable_ms_per_s_interval",
			 json_interval(diff->avoidable[side]));
}

static json_t *json_entry(const struct diff_entry *entry, bool is_line)
{
	const struct diff_figure *time = &entry->time;
	json_t *object = json_object(), *lines[DIFF_SIDES];

	for (size_t s = 0; s < DIFF_SIDES; s++)
		lines[s] = entry->present[s] ? json_integer(entry->line[s]) : json_null();
	object = json_with(object, "file", json_text(entry->file));
	object = json_with(object, "line", json_two(lines[DIFF_BASE], lines[DIFF_NOW]));
	object = json_with(object, "function", json_text(entry->function));
	if (is_line)
		object = json_with(object, "source", json_text_or_null(entry->source));
	object = json_with(object, "presence", json_presence(entry->present));
	object = json_with(object, "self_ns", json_counts(entry->self_ns));
	object = json_with(object, "samples", json_counts(time->samples));
	object = json_with(object, "share", json_figures(time->share));
	object = json_with(object, "share_change_interval", json_interval(time->share_change));
	object = json_with(object, "ms_per_s", json_figures(time->rate));
	object = json_with(object, "ms_per_s_change_interval", json_interval(time->rate_change));
	object = json_with(object, "avoidable_ns", json_counts(entry->avoidable_ns));
	return json_with(object, "noise", json_boolean(time->noise));
}

static json_t *json_side_place(const struct diff_place *place)
{
	json_t *object = json_object();

	object = json_with(object, "file", json_text(place->file));
	object = json_with(object, "line", json_integer(place->line));
	object = json_with(object, "function", json_text(place->function));
	return json_with(object, "source", json_text_or_null(place->source));
}

static json_t *diff_json_pair(const struct diff_pair *pair)
{
	json_t *object = json_object();

	object = json_with(object, "kind", json_text(pair->kind == PAIR_LOAD ? "load" : "store"));
	object = json_with(object, "presence", json_presence(pair->present));
	object = json_with(object, "first", json_side_place(&pair->first));
	object = json_with(object, "second", json_side_place(&pair->second));
	object = json_with(object, "sampled", json_counts(pair->sampled));
	object = json_with(object, "redundant", json_counts(pair->redundant));
	object = json_with(object, "share", json_figures(pair->accesses.share));
	object = json_with(object, "share_change_interval",
			   json_interval(pair->accesses.share_change));
	object = json_with(object, "avoidable_ns", json_counts(pair->avoidable_ns));
	return json_with(object, "noise", json_boolean(pair->accesses.noise));
}

static json_t *json_change(const struct finding_change *change)
{
	const struct finding *finding = finding_change_shown(change);
	json_t *object = json_place(finding_place(finding));

	object = json_with(object, "change", json_text(finding_change_name(change->kind)));
	object = json_with(object, "by_chance", json_boolean(change->chance));
	object = json_with(object, "rule", json_text(finding_rule(finding)));
	object = json_with(object, "headline", json_text(finding->headline));
	object = json_with(object, "source", json_text_or_null(finding->line->source));
	object = json_with(object, "share", json_figures(change->share));
	return json_with(object, "of", json_text(change->pattern_alone ? "time" : "saving"));
}

static int put_changes(FILE *file, const struct diff *diff)
{
	struct finding_changes *changes = finding_changes_find(diff);
	json_t *array = changes ? json_array() : NULL;

	for (size_t i = 0; changes && i < changes->count; i++)
		array = json_appended(array, json_change(&changes->items[i]));
	finding_changes_destroy(changes);
	fputs(",\n\"findings\": ", file);
	return json_put(file, array);
}

static int diff_json_put_entries(FILE *file, const char *key, const struct diff_entry *entries,
				 size_t count, bool are_lines)
{
	int result = 0;

	fprintf(file, ",\n\"%s\": [", key);
	for (size_t i = 0; i < count && result == 0; i++) {
		fputs(i ? ",\n" : "\n", file);
		result = json_put(file, json_entry(&entries[i], are_lines));
	}
	fputc(']', file);
	return result;
}

int diff_write_json(const struct diff *diff, FILE *file)
{
	int result;

	fputs("{\"diff\": \"" PIEPROFD_VERSION "\",\n\"base\": ", file);
	result = json_put(file, diff_json_side(diff, DIFF_BASE));
	fputs(",\n\"now\": ", file);
	if (!result)
		result = json_put(file, diff_json_side(diff, DIFF_NOW));
	fprintf(file, ",\n\"avoidable_noise\": %s", diff->avoidable_noise ? "true" : "false");
	if (!result)
		result = put_changes(file, diff);
	if (!result)
		result = diff_json_put_entries(file, "lines", diff->lines, diff->line_count, true);
	if (!result)
		result = diff_json_put_entries(file, "functions", diff->functions,
					       diff->function_count, false);
	fputs(",\n\"pairs\": [", file);
	for (size_t i = 0; i < diff->pair_count && result == 0; i++) {
		fputs(i ? ",\n" : "\n", file);
		result = json_put(file, diff_json_pair(&diff->pairs[i]));
	}
	fputs("]}\n", file);
	if (result == 0 && ferror(file))
		result = -EIO;
	return result;
}
