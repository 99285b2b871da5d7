/* SPDX-License-Identifier: Apache-2.0 */
/* What became of the findings, for code scanning and pull requests. */
#include "daemon/report/diff/diff_writers.h"
#include "daemon/report/diff/finding_change.h"
#include "daemon/report/format/github.h"
#include "daemon/report/format/sarif.h"

#include <errno.h>

#define SENTENCE_BYTES 256

/* ---- SARIF ---- */

static const char *baseline_state(enum finding_change_kind kind)
{
	switch (kind) {
	case FINDING_NEW:
		return "new";
	case FINDING_GROWN:
	case FINDING_SHRUNK:
		return "updated";
	case FINDING_GONE:
		return "absent";
	case FINDING_SAME:
	case FINDING_CHANGE_KIND_COUNT:
		break;
	}
	return "unchanged";
}

static struct sarif_result sarif_of(const struct finding_changes *changes,
				    const struct finding_change *change, const char *sentence)
{
	const struct finding *list = changes->findings[finding_change_side(change)].items;

	return (struct sarif_result){
		.findings = list,
		.index = (size_t)(finding_change_shown(change) - list),
		.baseline_state = baseline_state(change->kind),
		.change = finding_change_name(change->kind),
		.sentence = sentence,
		.by_chance = change->chance,
		.share_before = change->share[DIFF_BASE],
		.share_now = change->share[DIFF_NOW],
	};
}

int diff_write_sarif(const struct diff *diff, const struct writer_options *options, FILE *file)
{
	struct finding_changes *changes = finding_changes_find(diff);
	char sentences[SARIF_RESULTS_MAX][SENTENCE_BYTES];
	struct sarif_result results[SARIF_RESULTS_MAX];
	int result;

	if (!changes)
		return -ENOMEM;
	for (size_t i = 0; i < changes->count; i++) {
		finding_change_sentence(&changes->items[i], sentences[i], SENTENCE_BYTES);
		results[i] = sarif_of(changes, &changes->items[i], sentences[i]);
	}
	result = sarif_write_results(diff->profiles[DIFF_NOW], results, changes->count, options,
				     file);
	finding_changes_destroy(changes);
	return result;
}

/* ---- annotations ---- */

/* That it was compared, in one line. */
static int put_none(FILE *file, const size_t counts[FINDING_CHANGE_KIND_COUNT])
{
	char words[160];

	snprintf(words, sizeof(words),
		 "no finding is new or has grown since the base: %zu unchanged, %zu shrunk, %zu "
		 "gone",
		 counts[FINDING_SAME], counts[FINDING_SHRUNK], counts[FINDING_GONE]);
	return github_put_notice(file, words);
}

int diff_write_github(const struct diff *diff, const struct writer_options *options, FILE *file)
{
	struct finding_changes *changes = finding_changes_find(diff);
	size_t counts[FINDING_CHANGE_KIND_COUNT] = { 0 };
	int result;

	if (!changes)
		return -ENOMEM;
	result = github_put_roughness(file, diff->profiles[DIFF_NOW]);
	for (size_t i = 0; i < changes->count && !result; i++) {
		const struct finding_change *change = &changes->items[i];
		char sentence[SENTENCE_BYTES];
		const struct github_note note = { sentence, change->chance };

		counts[change->kind]++;
		if (change->kind != FINDING_NEW && change->kind != FINDING_GROWN)
			continue;
		finding_change_sentence(change, sentence, sizeof(sentence));
		result = github_put_finding(file, finding_change_shown(change), &note,
					    options->source_root);
	}
	if (!result && !counts[FINDING_NEW] && !counts[FINDING_GROWN])
		result = put_none(file, counts);
	finding_changes_destroy(changes);
	return result ? result : ferror(file) ? -EIO : 0;
}
