/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SARIF 2.1.0 (OASIS), the findings for code scanning: one run, a rule for each category, a result
 * for each finding where the program itself can be changed.
 *
 * A result is known again by partialFingerprints, which hold no line number: edits above it leave
 * it the same result.
 */
#include "daemon/report/format/sarif.h"
#include "daemon/report/encode/escape.h"
#include "daemon/report/encode/file_uri.h"
#include "daemon/report/encode/sha256.h"
#include "daemon/report/format/json_finding.h"
#include "daemon/report/format/json_value.h"
#include "daemon/report/format/writer.h"
#include "daemon/report/model/finding.h"
#include "daemon/report/model/line_mark.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SCHEMA                                                                                     \
	"https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/"                      \
	"sarif-schema-2.1.0.json"
#define SOURCE_ROOT   "%SRCROOT%"
#define MESSAGE_BYTES 4096

struct sarif {
	const struct sarif_result *results;
	size_t count;
	/* A finding of each that is a rule. */
	const struct finding *patterns[SARIF_RESULTS_MAX];
	size_t pattern_count;
	const char *root; /* NULL: none */
};

static const struct finding *sarif_finding(const struct sarif_result *result)
{
	return &result->findings[result->index];
}

/* The text, with a space in "](", which would begin a link. NULL: no memory. */
static char *without_links(const char *text)
{
	char *plain = malloc(2 * strlen(text) + 1), *to = plain;

	for (const char *at = text; plain && *at; at++) {
		*to++ = *at;
		if (at[0] == ']' && at[1] == '(')
			*to++ = ' ';
	}
	if (plain)
		*to = '\0';
	return plain;
}

static json_t *sarif_message(const char *text)
{
	char *printable = escape_printable(text, '\0');
	char *plain = printable ? without_links(printable) : NULL;
	json_t *object = plain ? json_with(json_object(), "text", json_text(plain)) : NULL;

	free(printable);
	free(plain);
	return object;
}

static json_t *sarif_rule(const char *id, const char *what, const char *advice)
{
	json_t *tags = json_appended(json_array(), json_text("performance"));
	json_t *rule = json_with(json_object(), "id", json_text(id));

	rule = json_with(rule, "shortDescription", sarif_message(what));
	rule = json_with(rule, "help", sarif_message(advice));
	rule = json_with(rule, "defaultConfiguration",
			 json_with(json_object(), "level", json_text("warning")));
	return json_with(rule, "properties", json_with(json_object(), "tags", tags));
}

/* The number of a finding's rule: behind the categories come the patterns that were found. */
static json_int_t rule_index(const struct sarif *sarif, const struct finding *finding)
{
	if (strcmp(finding_rule(finding), category_name(finding->category)) != 0)
		for (size_t i = 0; i < sarif->pattern_count; i++)
			if (sarif->patterns[i]->pattern == finding->pattern)
				return (json_int_t)(CATEGORY_COUNT + i);
	return finding->category;
}

static void find_patterns(struct sarif *sarif)
{
	for (size_t i = 0; i < sarif->count; i++) {
		const struct finding *finding = sarif_finding(&sarif->results[i]);

		if (strcmp(finding_rule(finding), category_name(finding->category)) != 0 &&
		    rule_index(sarif, finding) == (json_int_t)finding->category)
			sarif->patterns[sarif->pattern_count++] = finding;
	}
}

static json_t *sarif_rules(const struct sarif *sarif)
{
	json_t *rules = json_array();

	for (unsigned i = 0; i < CATEGORY_COUNT; i++) {
		const char *reason = category_reason((enum category)i);

		rules = json_appended(
			rules, sarif_rule(category_name((enum category)i),
					  reason ? reason : "the same values are moved again",
					  category_advice((enum category)i)));
	}
	for (size_t i = 0; i < sarif->pattern_count; i++)
		rules = json_appended(rules, sarif_rule(finding_rule(sarif->patterns[i]),
							sarif->patterns[i]->headline,
							sarif->patterns[i]->advice));
	return rules;
}

static json_t *sarif_driver(const struct sarif *sarif, const struct profile *profile)
{
	json_t *driver = json_with(json_object(), "name", json_text("pieprofd"));

	driver = json_with(driver, "version", json_text(profile->facts.version));
	return json_with(driver, "rules", sarif_rules(sarif));
}

static json_t *sarif_file(const struct sarif *sarif, const char *path)
{
	const char *below = path_below(path, sarif->root);
	char *uri = file_uri(below);
	json_t *object = uri ? json_with(json_object(), "uri", json_text(uri)) : NULL;

	free(uri);
	return below != path ? json_with(object, "uriBaseId", json_text(SOURCE_ROOT)) : object;
}

/* The whole line, without the white space around it. */
static json_t *sarif_line(const struct profile_line *line)
{
	json_t *region = json_with(json_object(), "startLine", json_integer(line->line));

	if (line->source && *line->source)
		region = json_with(region, "snippet",
				   json_with(json_object(), "text", json_text(line->source)));
	return region;
}

/* With the columns of the expression, where the finding is of one in this line. */
static json_t *sarif_region(const struct profile_line *line)
{
	json_t *region;
	size_t from, to;

	if (!line_mark_columns(line, &from, &to))
		return sarif_line(line);
	region = json_with(json_object(), "startLine", json_integer(line->line));
	region = json_with(region, "startColumn", json_integer((json_int_t)from));
	if (line->end_line > line->line)
		return json_with(region, "endLine", json_integer(line->end_line));
	return json_with(region, "endColumn", json_integer((json_int_t)to));
}

static json_t *sarif_location(const struct sarif *sarif, const struct profile_line *line)
{
	json_t *place = json_with(json_object(), "artifactLocation", sarif_file(sarif, line->file));
	json_t *function = json_with(json_object(), "name", json_text(line->function));

	/* A native function has no line. */
	if (line->line > 0) {
		place = json_with(place, "region", sarif_region(line));
		place = json_with(place, "contextRegion", sarif_line(line));
	}
	function = json_with(function, "kind", json_text("function"));
	return json_with(json_with(json_object(), "physicalLocation", place), "logicalLocations",
			 json_appended(json_array(), function));
}

/* With its end, so that no two texts together are like two others. */
static void put_hashed(FILE *file, const char *text)
{
	fwrite(text, 1, strlen(text) + 1, file);
}

/* What it is, where it is and what stands there; of several alike, which of them. */
static json_t *sarif_fingerprint(const struct sarif *sarif, const struct sarif_result *result)
{
	const struct finding *finding = sarif_finding(result);
	const struct profile_line *line = finding_place(finding);
	uint8_t digest[SHA256_BYTES];
	char hexadecimal[2 * SHA256_BYTES + 32], *text = NULL;
	size_t size = 0, alike = 1;
	FILE *file = open_memstream(&text, &size);

	if (!file)
		return NULL;
	for (size_t i = 0; i < result->index; i++) {
		const struct finding *before = &result->findings[i];
		const struct profile_line *other = finding_place(before);

		alike += !strcmp(finding_rule(before), finding_rule(finding)) &&
			 !strcmp(other->file, line->file) &&
			 !strcmp(other->function, line->function) &&
			 !strcmp(other->source ? other->source : "",
				 line->source ? line->source : "");
	}
	put_hashed(file, finding_rule(finding));
	put_hashed(file, path_below(line->file, sarif->root));
	put_hashed(file, line->function);
	put_hashed(file, line->source ? line->source : "");
	if (fclose(file) || !text) {
		free(text);
		return NULL;
	}
	sha256(text, size, digest);
	free(text);
	for (size_t i = 0; i < SHA256_BYTES; i++)
		snprintf(hexadecimal + 2 * i, 3, "%02x", digest[i]);
	snprintf(hexadecimal + 32, sizeof(hexadecimal) - 32, ":%zu", alike);
	return json_with(json_object(), "primaryLocationLineHash", json_text(hexadecimal));
}

static json_t *sarif_properties(const struct sarif_result *result)
{
	const struct finding *finding = sarif_finding(result);
	json_t *object = json_with_saving(json_object(), finding);

	object = json_with(object, "support", json_count(finding->support));
	object = json_with(object, "evidence", json_text(finding->evidence));
	if (!result->baseline_state)
		return object;
	object = json_with(object, "change", json_text(result->change));
	object = json_with(object, "by_chance", json_boolean(result->by_chance));
	object = json_with(object, "share_before", json_figure(result->share_before));
	return json_with(object, "share_now", json_figure(result->share_now));
}

static json_t *sarif_related(const struct sarif *sarif, const struct profile_line *line)
{
	json_t *location = sarif_location(sarif, line);

	location = json_with(location, "id", json_integer(1));
	location = json_with(location, "message", sarif_message("the time is spent here"));
	return json_appended(json_array(), location);
}

/* All of it, with what has changed first. */
static json_t *sarif_words(const struct sarif_result *source)
{
	char message[MESSAGE_BYTES];
	size_t used = 0;

	if (source->sentence)
		used = (size_t)snprintf(message, sizeof(message), "%.256s ", source->sentence);
	finding_message(sarif_finding(source), message + used, sizeof(message) - used);
	return sarif_message(message);
}

static json_t *sarif_result(const struct sarif *sarif, const struct sarif_result *source)
{
	const struct finding *finding = sarif_finding(source);
	const char *level = finding->certainty == FINDING_POSSIBLE ? "note" : "warning";
	json_t *result = json_object();

	result = json_with(result, "ruleId", json_text(finding_rule(finding)));
	result = json_with(result, "ruleIndex", json_integer(rule_index(sarif, finding)));
	result = json_with(result, "level", json_text(level));
	if (source->baseline_state)
		result = json_with(result, "baselineState", json_text(source->baseline_state));
	result = json_with(result, "message", sarif_words(source));
	result = json_with(
		result, "locations",
		json_appended(json_array(), sarif_location(sarif, finding_place(finding))));
	if (finding->own.line)
		result = json_with(result, "relatedLocations", sarif_related(sarif, finding->line));
	result = json_with(result, "partialFingerprints", sarif_fingerprint(sarif, source));
	return json_with(result, "properties", sarif_properties(source));
}

/* Where %SRCROOT% was. It ends with a slash: else relative paths would begin at its parent. */
static json_t *sarif_bases(const char *root)
{
	char *folder = NULL, *uri = NULL;
	json_t *base = NULL;

	if (asprintf(&folder, "%s%s", root, root[strlen(root) - 1] == '/' ? "" : "/") < 0)
		return NULL;
	uri = file_uri(folder);
	if (uri)
		base = json_with(json_object(), "uri", json_text(uri));
	free(uri);
	free(folder);
	return json_with(json_object(), SOURCE_ROOT, base);
}

/* Of what was profiled, and how well. */
static json_t *sarif_run_properties(const struct profile *profile)
{
	json_t *object = json_with(json_object(), "samples", json_count(profile->facts.samples));

	return json_with(object, "container", json_container(&profile->facts.target.container));
}

static json_t *sarif_log(const struct sarif *sarif, const struct profile *profile)
{
	json_t *results = json_array(), *run, *log;

	for (size_t i = 0; i < sarif->count; i++)
		results = json_appended(results, sarif_result(sarif, &sarif->results[i]));
	run = json_with(json_object(), "tool",
			json_with(json_object(), "driver", sarif_driver(sarif, profile)));
	/* A column is a character, not a unit of UTF-16. */
	run = json_with(run, "columnKind", json_text("unicodeCodePoints"));
	if (sarif->root)
		run = json_with(run, "originalUriBaseIds", sarif_bases(sarif->root));
	run = json_with(run, "results", results);
	run = json_with(run, "properties", sarif_run_properties(profile));
	log = json_with(json_object(), "$schema", json_text(SCHEMA));
	log = json_with(log, "version", json_text("2.1.0"));
	return json_with(log, "runs", json_appended(json_array(), run));
}

int sarif_write_results(const struct profile *profile, const struct sarif_result *results,
			size_t count, const struct writer_options *options, FILE *file)
{
	const char *root =
		options->source_root && options->source_root[0] == '/' && options->source_root[1]
			? options->source_root
			: NULL;
	struct sarif sarif = { .results = results, .count = count, .root = root };
	int result;

	find_patterns(&sarif);
	result = json_put(file, sarif_log(&sarif, profile));
	fputc('\n', file);
	return result ? result : ferror(file) ? -EIO : 0;
}

static int sarif_write(const struct profile *profile, const struct writer_options *options,
		       FILE *file)
{
	struct sarif_result results[FINDINGS_MAX];
	struct findings findings;
	int result = findings_of(profile, &findings);

	for (size_t i = 0; i < findings.count; i++)
		results[i] = (struct sarif_result){ .findings = findings.items, .index = i };
	if (!result)
		result = sarif_write_results(profile, results, findings.count, options, file);
	findings_deinit(&findings);
	return result;
}

const struct writer writer_sarif = { .name = "sarif", .extension = ".sarif", .write = sarif_write };
