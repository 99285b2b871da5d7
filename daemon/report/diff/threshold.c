/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/diff/threshold.h"

#include "common/printable.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PERCENT_MAX      1e6
#define NUMBER_BYTES     16
#define PATH_COLUMNS     200
#define FUNCTION_COLUMNS 100

static const struct {
	const char *name, *words;
} metrics[] = {
	[THRESHOLD_OWN] = { "own", "own time" },
	[THRESHOLD_TOTAL] = { "total", "total time" },
	[THRESHOLD_COULD_SAVE] = { "could-save", "time that it could save" },
};

#define METRIC_COUNT (sizeof(metrics) / sizeof(metrics[0]))

/* "10%", "0.5%": nothing else that strtod would take. */
static bool parse_percent(const char *text, double *ret_percent)
{
	size_t length = strlen(text);

	if (length < 2 || length > NUMBER_BYTES || text[length - 1] != '%' ||
	    strspn(text, "0123456789.") != length - 1 || strchr(text, '.') != strrchr(text, '.') ||
	    strspn(text, ".") == length - 1)
		return false;
	*ret_percent = strtod(text, NULL);
	return *ret_percent <= PERCENT_MAX;
}

bool threshold_parse(const char *text, struct threshold *ret_threshold)
{
	for (size_t i = 0; i < METRIC_COUNT; i++) {
		size_t length = strlen(metrics[i].name);

		if (strncmp(text, metrics[i].name, length) != 0 ||
		    (text[length] != '+' && text[length] != '-'))
			continue;
		ret_threshold->metric = (enum threshold_metric)i;
		ret_threshold->falls = text[length] == '-';
		/* Nothing becomes less than nothing. */
		return parse_percent(text + length + 1, &ret_threshold->percent) &&
		       (!ret_threshold->falls || ret_threshold->percent <= 100);
	}
	return false;
}

static const struct diff_figure *figure_of_metric(const struct threshold *threshold,
						  const struct diff_entry *entry)
{
	switch (threshold->metric) {
	case THRESHOLD_OWN:
		return &entry->time;
	case THRESHOLD_TOTAL:
		return &entry->total;
	case THRESHOLD_COULD_SAVE:
		break;
	}
	return &entry->avoidable;
}

static bool passes(const struct threshold *threshold, const double values[DIFF_SIDES])
{
	double part = threshold->percent / 100;

	return threshold->falls ? values[DIFF_NOW] < values[DIFF_BASE] * (1 - part)
				: values[DIFF_NOW] > values[DIFF_BASE] * (1 + part);
}

static bool is_broken(const struct threshold *threshold, const struct diff_entry *entry)
{
	const struct diff_figure *figure = figure_of_metric(threshold, entry);

	return !figure->noise && passes(threshold, figure->share) &&
	       passes(threshold, figure->rate);
}

size_t threshold_broken(const struct threshold *threshold, const struct diff *diff,
			const struct diff_entry **ret_worst)
{
	double most = -1;
	size_t count = 0;

	for (size_t i = 0; i < diff->line_count; i++) {
		const struct diff_entry *entry = &diff->lines[i];
		const struct diff_figure *figure = figure_of_metric(threshold, entry);
		double change = fabs(figure->rate[DIFF_NOW] - figure->rate[DIFF_BASE]);

		if (!is_broken(threshold, entry))
			continue;
		count++;
		if (change > most) {
			most = change;
			*ret_worst = entry;
		}
	}
	return count;
}

void threshold_describe(const struct threshold *threshold, const struct diff_entry *entry,
			char *text, size_t size)
{
	const struct diff_figure *figure = figure_of_metric(threshold, entry);
	int line = entry->line[entry->present[DIFF_NOW] ? DIFF_NOW : DIFF_BASE];
	char file[PRINTABLE_BYTES(PATH_COLUMNS)], function[PRINTABLE_BYTES(FUNCTION_COLUMNS)];
	char number[16] = "";

	printable_fit(file, sizeof(file), entry->file, PATH_COLUMNS, true);
	printable_fit(function, sizeof(function), entry->function, FUNCTION_COLUMNS, false);
	/* A native function has none. */
	if (line)
		snprintf(number, sizeof(number), ":%d", line);
	snprintf(text, size,
		 "%s%s in %s: %s %.1f%% (%.1f ms a second) before, %.1f%% (%.1f ms a second) now",
		 file, number, function, metrics[threshold->metric].words,
		 100 * figure->share[DIFF_BASE], figure->rate[DIFF_BASE],
		 100 * figure->share[DIFF_NOW], figure->rate[DIFF_NOW]);
}
