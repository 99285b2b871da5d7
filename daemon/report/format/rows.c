/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows for tables: a JSON object in each line of the file (JSON Lines), one for each line of source
 * that had CPU time, with what is known of the process that it ran in. All rows have the same
 * members in the same order, so that ClickHouse, DuckDB, Spark, Ray and Dask load files of any
 * number of recordings, one behind the other, as one table: pieprofd-formats(5) has its types.
 *
 * What is not known is "", or 0, and never null: a column of a table without nulls is smaller and
 * faster. self_ns of all rows of a recording add up to its CPU time.
 */
#include "daemon/report/format/json_value.h"
#include "daemon/report/format/writer.h"
#include "daemon/report/model/target_text.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROW_FLAGS     (JSON_ENSURE_ASCII | JSON_COMPACT)
#define COMMAND_BYTES 512

struct rows {
	FILE *file;
	char *head; /* what all rows begin with */
	uint64_t time_ns, samples;
	size_t written;
};

static json_t *word(const char *text)
{
	return json_text(text ? text : "");
}

/* Of several processes, only what they have in common (profile_merge.h). */
static json_t *make_head(const struct profile *profile)
{
	const struct profile_facts *facts = &profile->facts;
	const struct profile_target *target = &facts->target;
	bool several = profile->process_count > 0;
	const struct process_labels *labels = &target->labels;
	char command[COMMAND_BYTES] = "", python[32] = "";
	json_t *head = json_object();

	if (!several)
		target_command_text(target, command, sizeof(command));
	target_python_text(target, python, sizeof(python));
	head = json_with(head, "started_unix_ns", json_count(facts->started_unix_ns));
	head = json_with(head, "duration_ns", json_count(facts->duration_ns));
	head = json_with(head, "host", word(target->host));
	head = json_with(head, "namespace", word(labels->namespace));
	head = json_with(head, "pod", word(labels->pod));
	head = json_with(head, "pod_uid", word(labels->pod_uid));
	head = json_with(head, "container",
			 word(several                     ? ""
			      : target->container.name[0] ? target->container.name
							  : target->container.id));
	head = json_with(head, "service", word(labels->service));
	head = json_with(head, "version", word(labels->version));
	head = json_with(head, "revision", word(labels->revision));
	head = json_with(head, "pid", json_integer(several ? 0 : target->pid));
	head = json_with(head, "processes", json_count(several ? profile->process_count : 1));
	head = json_with(head, "command", word(command));
	head = json_with(head, "python", word(python));
	return json_with(head, "recording_samples", json_count(facts->samples));
}

static uint64_t waited_ns(const struct side_time *side)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < WAIT_KIND_COUNT; i++)
		sum += side->waiting_ns[i];
	return sum;
}

/* All samples stand for the same time, nearly. */
static uint64_t samples_of(const struct rows *rows, uint64_t ns)
{
	return rows->time_ns ? (uint64_t)llround((double)ns / (double)rows->time_ns *
						 (double)rows->samples)
			     : 0;
}

static json_t *make_row(const struct rows *rows, const struct profile_line *line)
{
	uint64_t self_ns = time_sum(line->self_ns);
	json_t *row = json_object();

	row = json_with(row, "file", word(line->file));
	row = json_with(row, "line", json_integer(line->line));
	row = json_with(row, "function", word(line->function));
	row = json_with(row, "source", word(line->source));
	row = json_with(row, "self_ns", json_count(self_ns));
	row = json_with(row, "python_ns", json_count(line->self_ns[TIME_PYTHON]));
	row = json_with(row, "native_ns", json_count(line->self_ns[TIME_NATIVE]));
	row = json_with(row, "system_ns", json_count(line->self_ns[TIME_SYSTEM]));
	row = json_with(row, "total_ns", json_count(line->total_ns));
	row = json_with(row, "charged_ns", json_count(line->charged_ns));
	row = json_with(row, "waiting_ns", json_count(waited_ns(&line->side)));
	row = json_with(row, "self_samples", json_count(samples_of(rows, self_ns)));
	row = json_with(row, "avoidable_ns", json_count(line->avoidable_ns));
	row = json_with(row, "avoidable_low_ns", json_count(line->avoidable_low_ns));
	row = json_with(row, "avoidable_high_ns", json_count(line->avoidable_high_ns));
	row = json_with(row, "category", word(category_name(line->category)));
	row = json_with(row, "expression", word(line->expression));
	return json_with(row, "finding", word(line->finding));
}

/* "{" row "}": the head's members and a comma go behind the brace. */
static int put_row(struct rows *rows, json_t *row)
{
	char *text = row ? json_dumps(row, ROW_FLAGS) : NULL;

	json_decref(row);
	if (!text)
		return -ENOMEM;
	fprintf(rows->file, "%s,%s\n", rows->head, text + 1);
	free(text);
	rows->written++;
	return ferror(rows->file) ? -EIO : 0;
}

/* Time of no line, which is in no function of the profile's. */
static int put_rest(struct rows *rows, uint64_t self_ns)
{
	const struct profile_line none = { .file = "?",
					   .function = "?",
					   .self_ns = { [TIME_SYSTEM] = 0 } };
	struct profile_line rest = none;

	rest.self_ns[TIME_NATIVE] = self_ns;
	rest.total_ns = self_ns;
	return put_row(rows, make_row(rows, &rest));
}

static int rows_write(const struct profile *profile, const struct writer_options *options,
		      FILE *file)
{
	struct rows rows = {
		.file = file,
		.time_ns = time_sum(profile->time_ns),
		.samples = profile->facts.samples,
	};
	json_t *head = make_head(profile);
	uint64_t seen_ns = 0;
	int result = 0;

	(void)options;
	rows.head = head ? json_dumps(head, ROW_FLAGS) : NULL;
	json_decref(head);
	if (!rows.head)
		return -ENOMEM;
	rows.head[strlen(rows.head) - 1] = '\0'; /* its brace */
	for (size_t i = 0; i < profile->line_count && !result; i++) {
		seen_ns += time_sum(profile->lines[i].self_ns);
		result = put_row(&rows, make_row(&rows, &profile->lines[i]));
	}
	/* A process that did nothing is seen to be there. */
	if (!result && (seen_ns < rows.time_ns || !rows.written))
		result = put_rest(&rows, rows.time_ns - seen_ns);
	free(rows.head);
	return result;
}

const struct writer writer_rows = { .name = "jsonl", .extension = ".jsonl", .write = rows_write };
