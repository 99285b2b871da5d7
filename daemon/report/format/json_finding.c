/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/format/json_finding.h"

#include "daemon/report/encode/figure.h"
#include "daemon/report/format/json_value.h"
#include "daemon/report/model/finding.h"
#include "daemon/report/model/verdict.h"

#include <errno.h>
#include <stdlib.h>

json_t *json_expression(const struct profile_line *line)
{
	json_t *object;

	if (!line->expression)
		return json_null();
	object = json_with(json_object(), "text", json_text(line->expression));
	object = json_with(object, "line", json_integer(line->line));
	object = json_with(object, "end_line",
			   line->end_line ? json_integer(line->end_line) : json_null());
	object = json_with(object, "column",
			   line->column >= 0 ? json_integer(line->column) : json_null());
	return json_with(object, "end_column",
			 line->column >= 0 ? json_integer(line->end_column) : json_null());
}

json_t *json_place(const struct profile_line *line)
{
	json_t *object;

	if (!line)
		return json_null();
	object = json_with(json_object(), "file", json_text(line->file));
	object = json_with(object, "line", json_integer(line->line));
	return json_with(object, "function", json_text(line->function));
}

static json_t *json_sentence(const char *text)
{
	return text[0] ? json_text(text) : json_null();
}

json_t *json_with_saving(json_t *object, const struct finding *finding)
{
	object = json_with(object, "certainty",
			   json_text(finding_certainty_name(finding->certainty)));
	object = json_with(object, "share", json_figure(finding->share));
	object = json_with(object, "saving", json_figure(finding->saving));
	object = json_with(object, "saving_low", json_figure(finding->saving_low));
	object = json_with(object, "saving_high", json_figure(finding->saving_high));
	return json_with(object, "saving_ns", json_count(finding->saving_ns));
}

static json_t *json_finding(const struct finding *finding)
{
	const struct profile_line *line = finding->line;
	json_t *object = json_place(line);

	object = json_with(object, "source", json_text_or_null(line->source));
	object = json_with(object, "expression", json_expression(line));
	object = json_with(object, "own_line", json_place(finding->own.line));
	object = json_with(object, "pattern",
			   finding->pattern ? json_text(finding->pattern->name) : json_null());
	object = json_with(object, "category", json_text(category_name(finding->category)));
	object = json_with_saving(object, finding);
	object = json_with(object, "saving_low_ns", json_count(finding->saving_low_ns));
	object = json_with(object, "saving_high_ns", json_count(finding->saving_high_ns));
	object = json_with(object, "support", json_count(finding->support));
	object = json_with(object, "headline", json_text(finding->headline));
	object = json_with(object, "what", json_sentence(finding->what));
	object = json_with(object, "gain", json_sentence(finding->gain));
	object = json_with(object, "evidence", json_sentence(finding->evidence));
	object = json_with(object, "caution", json_sentence(finding->caution));
	object = json_with(object, "advice", json_sentence(finding->advice));
	return json_with(object, "example", json_text_or_null(finding->example));
}

json_t *json_findings(const struct profile *profile)
{
	struct findings findings;
	json_t *array = findings_of(profile, &findings) ? NULL : json_array();

	for (size_t i = 0; i < findings.count; i++)
		array = json_appended(array, json_finding(&findings.items[i]));
	findings_deinit(&findings);
	return array;
}

json_t *json_verdict(const struct profile *profile)
{
	json_t *object, *sentences;
	struct verdict verdict;

	if (verdict_find(profile, &verdict))
		return NULL;
	object = json_object();
	sentences = json_array();
	object = json_with(object, "kind", json_text(verdict_kind_name(verdict.kind)));
	object = json_with(object, "headline", json_text(verdict.headline));
	for (size_t i = 0; i < verdict.sentence_count; i++)
		sentences = json_appended(sentences, json_text(verdict.sentences[i]));
	object = json_with(object, "sentences", sentences);
	object = json_with(object, "line", json_place(verdict.line));
	object = json_with(object, "own_line", json_place(verdict.own_line));
	return json_with(object, "few_samples", json_boolean(verdict.samples < FIGURE_SAMPLES_MIN));
}
