/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/trace/counter_text.h"

#include "common/clock.h"
#include "daemon/report/encode/figure.h"
#include "daemon/report/format/json_value.h"

#include <inttypes.h>

#define ROWS_MAX     10000
#define AMOUNT_BYTES 32
#define AMOUNT_MAX   1e18 /* a merged trace may say anything */

/* CPU time is a time. */
static const char *amount(enum counter_kind kind, double sum, bool rate,
			  char words[static AMOUNT_BYTES])
{
	if (sum > AMOUNT_MAX)
		sum = AMOUNT_MAX;
	if (kind == COUNTER_CPU)
		snprintf(words, AMOUNT_BYTES, "%s", figure_ns((uint64_t)sum).text);
	else
		snprintf(words, AMOUNT_BYTES, "%.*f", rate && sum < 10, sum);
	return words;
}

static void put_row(const struct text_layout *layout, const char *name, enum counter_kind kind,
		    uint64_t sum, uint64_t run_ns, const char *where)
{
	double rate = run_ns ? (double)sum / ((double)run_ns / NS_PER_SECOND) : 0;
	char words[AMOUNT_BYTES], rate_words[AMOUNT_BYTES];

	text_line(layout, "  %-18s %16s %16s%s", name, amount(kind, (double)sum, false, words),
		  amount(kind, rate, true, rate_words), where);
}

void counter_text_put(const struct text_layout *layout, const struct trace_analysis *analysis,
		      size_t rows)
{
	const struct counter_analysis *counters = &analysis->counters;
	const struct trace *trace = analysis->trace;
	uint64_t run_ns = trace->end_ns - trace->begin_ns;

	if (!counters->kinds)
		return;
	text_heading(layout, "COUNTERS", "of all threads, in %s", figure_ns(run_ns).text);
	text_line(layout, "  %-18s %16s %16s", "", "in all", "a second");
	for (int kind = 0; kind < COUNTER_KINDS; kind++) {
		size_t shown = 0;

		if (!(counters->kinds >> kind & 1))
			continue;
		put_row(layout, counter_name((enum counter_kind)kind), (enum counter_kind)kind,
			counters->sums[kind], run_ns, "");
		for (size_t i = 0; i < counters->count && shown < rows; i++) {
			const struct counter_row *row = &counters->rows[i];
			char where[64];

			if ((int)row->kind != kind)
				continue;
			snprintf(where, sizeof(where), "  thread %u of pid %d", row->thread,
				 (int)trace->processes[row->process]->pid);
			put_row(layout, "", row->kind, row->sum, run_ns, where);
			shown++;
		}
	}
	if (counters->threads_left_out)
		text_line(layout, "  and at a time %" PRIu64 " thread%s without counters",
			  counters->threads_left_out, figure_plural(counters->threads_left_out));
}

json_t *counter_json(const struct trace_analysis *analysis)
{
	const struct counter_analysis *counters = &analysis->counters;
	json_t *list = json_array(), *object;

	if (!counters->kinds) {
		json_decref(list);
		return json_null();
	}
	for (int kind = 0; kind < COUNTER_KINDS; kind++) {
		json_t *threads = json_array();

		for (size_t i = 0; i < counters->count && i < ROWS_MAX; i++) {
			const struct counter_row *row = &counters->rows[i];
			const struct trace_process *process =
				analysis->trace->processes[row->process];
			json_t *item;

			if ((int)row->kind != kind)
				continue;
			item = json_with(json_object(), "pid", json_integer(process->pid));
			item = json_with(item, "rank", json_integer(process->rank));
			item = json_with(item, "thread", json_count(row->thread));
			item = json_with(item, "sum", json_count(row->sum));
			item = json_with(item, "events", json_count(row->events));
			threads = json_appended(threads, item);
		}
		if (!(counters->kinds >> kind & 1)) {
			json_decref(threads);
			continue;
		}
		object = json_with(json_object(), "name",
				   json_text(counter_name((enum counter_kind)kind)));
		object = json_with(object, "unit", json_text(kind == COUNTER_CPU ? "ns" : "count"));
		object = json_with(object, "sum", json_count(counters->sums[kind]));
		list = json_appended(list, json_with(object, "threads", threads));
	}
	object = json_with(json_object(), "threads_left_out",
			   json_count(counters->threads_left_out));
	return json_with(object, "counters", list);
}
