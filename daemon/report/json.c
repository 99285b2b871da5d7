/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report for programs, as pieprofd-formats(5) lays it down.
 *
 * The document is written piece by piece, one line of the file for each
 * profiled line and each pair: a whole tree of jansson values would take many
 * times the profile's own memory.
 */
#include "daemon/report/interval.h"
#include "daemon/report/printable.h"
#include "daemon/report/writer.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * Nine digits are enough for every figure that is computed and keep 0.9 from
 * becoming 0.90000000000000002. ASCII alone, so that no name reaches a
 * terminal that the file is shown on.
 */
#define DUMP_FLAGS (JSON_ENCODE_ANY | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(9))

/*
 * Values are built first and checked once: every function below returns NULL
 * when memory ran out, and jansson's own take NULL for a failed part.
 */
static json_t *json_count(uint64_t value)
{
	return json_integer(value < INT64_MAX ? (json_int_t)value : INT64_MAX);
}

static json_t *json_figure(double value)
{
	return json_real(isfinite(value) ? value : 0);
}

/* Bytes that are not UTF-8 become U+FFFD: JSON has no way to say them. */
static json_t *json_text(const char *text)
{
	static const char replacement[] = "\xef\xbf\xbd";
	size_t size = strlen(text), used = 0;
	uint32_t code_point;
	json_t *value;
	char *valid;

	/* jansson checks, and refuses what is not valid. */
	value = json_stringn(text, size);
	if (value)
		return value;
	if (size > SIZE_MAX / 3 - 1)
		return NULL;
	valid = malloc(size * 3 + 1);
	if (!valid)
		return NULL;
	for (size_t i = 0; i < size;) {
		size_t length = utf8_decode(text + i, size - i, &code_point);

		memcpy(valid + used, length ? text + i : replacement, length ? length : 3);
		used += length ? length : 3;
		i += length ? length : 1;
	}
	value = json_stringn_nocheck(valid, used);
	free(valid);
	return value;
}

static json_t *json_text_or_null(const char *text)
{
	return text ? json_text(text) : json_null();
}

/* Takes over value; destroys object and returns NULL when either is missing. */
static json_t *with(json_t *object, const char *key, json_t *value)
{
	if (!object) {
		json_decref(value);
		return NULL;
	}
	if (!value || json_object_set_new_nocheck(object, key, value) < 0) {
		json_decref(object);
		return NULL;
	}
	return object;
}

static json_t *appended(json_t *array, json_t *value)
{
	if (!array) {
		json_decref(value);
		return NULL;
	}
	if (!value || json_array_append_new(array, value) < 0) {
		json_decref(array);
		return NULL;
	}
	return array;
}

static json_t *json_target(const struct profile_target *target)
{
	json_t *object = json_object(), *command = json_array();
	char text[64];

	snprintf(text, sizeof(text), "%d.%d.%d", target->python.major, target->python.minor,
		 target->python.micro);
	object = with(object, "pid", json_integer(target->pid));
	object = with(object, "python", json_text(text));
	snprintf(text, sizeof(text), "%.*s", (int)sizeof(target->comm), target->comm);
	object = with(object, "comm", json_text(text));
	for (size_t i = 0; target->command && target->command[i]; i++)
		command = appended(command, json_text(target->command[i]));
	return with(object, "command", command);
}

static json_t *json_losses(const struct losses *losses)
{
	json_t *object = json_object();

	for (size_t i = 0; i < LOSS_COUNT; i++)
		if (losses->counts[i] > 0)
			object = with(object, loss_name((enum loss)i),
				      json_count(losses->counts[i]));
	return object;
}

static json_t *json_stops(const struct stop_times *stops)
{
	json_t *object = json_object();

	object = with(object, "count", json_count(stops->count));
	object = with(object, "p50", json_count(stops->p50_ns));
	object = with(object, "p99", json_count(stops->p99_ns));
	return with(object, "max", json_count(stops->max_ns));
}

static json_t *json_times(const uint64_t time_ns[TIME_CLASS_COUNT])
{
	json_t *object = json_object();

	object = with(object, "python", json_count(time_ns[TIME_PYTHON]));
	object = with(object, "native", json_count(time_ns[TIME_NATIVE]));
	return with(object, "system", json_count(time_ns[TIME_SYSTEM]));
}

/* [share, low, high] with the 95% interval; null: nothing to divide by. */
static json_t *json_share(uint64_t part, uint64_t whole)
{
	struct interval interval = interval_wilson(part, whole);
	json_t *array;

	if (!whole)
		return json_null();
	array = appended(json_array(), json_figure((double)part / (double)whole));
	array = appended(array, json_figure(interval.low));
	return appended(array, json_figure(interval.high));
}

static json_t *json_accesses(const struct access_counts *counts)
{
	json_t *object = json_object();

	object = with(object, "sampled", json_count(counts->sampled));
	object = with(object, "reaccessed", json_count(counts->reaccessed));
	object = with(object, "redundant", json_count(counts->redundant));
	object = with(object, "approximate", json_count(counts->approximate));
	object = with(object, "new",
		      json_count(counts->reaccessed - counts->redundant - counts->approximate));
	object = with(object, "never", json_count(counts->sampled - counts->reaccessed));
	object = with(object, "share_of_sampled", json_share(counts->redundant, counts->sampled));
	return with(object, "share_of_reaccessed",
		    json_share(counts->redundant, counts->reaccessed));
}

static json_t *json_line(const struct profile_line *line)
{
	json_t *object = json_object(), *reasons = json_array();

	object = with(object, "file", json_text(line->file));
	object = with(object, "line", json_integer(line->line));
	object = with(object, "function", json_text(line->function));
	object = with(object, "source", json_text_or_null(line->source));
	object = with(object, "python_ns", json_count(line->self_ns[TIME_PYTHON]));
	object = with(object, "native_ns", json_count(line->self_ns[TIME_NATIVE]));
	object = with(object, "system_ns", json_count(line->self_ns[TIME_SYSTEM]));
	object = with(object, "total_ns", json_count(line->total_ns));
	object = with(object, "loads", json_accesses(&line->accesses[PAIR_LOAD]));
	object = with(object, "stores", json_accesses(&line->accesses[PAIR_STORE]));
	object = with(object, "avoidable_ns", json_count(line->avoidable_ns));
	object = with(object, "call_ns", json_count(line->call_ns));
	object = with(object, "category", json_text(category_name(line->category)));
	for (size_t i = 0; i < line->reason_count; i++)
		reasons = appended(reasons, json_text(line->reasons[i]));
	return with(object, "reasons", reasons);
}

static json_t *json_function(const struct profile_function *function)
{
	json_t *object = json_object();

	object = with(object, "file", json_text(function->file));
	object = with(object, "function", json_text(function->function));
	object = with(object, "line", json_integer(function->line));
	object = with(object, "python_ns", json_count(function->self_ns[TIME_PYTHON]));
	object = with(object, "native_ns", json_count(function->self_ns[TIME_NATIVE]));
	object = with(object, "system_ns", json_count(function->self_ns[TIME_SYSTEM]));
	object = with(object, "total_ns", json_count(function->total_ns));
	object = with(object, "loads", json_accesses(&function->accesses[PAIR_LOAD]));
	object = with(object, "stores", json_accesses(&function->accesses[PAIR_STORE]));
	return with(object, "avoidable_ns", json_count(function->avoidable_ns));
}

static json_t *json_frame(const struct profile_frame *frame)
{
	json_t *object = json_object();
	char address[24];

	if (frame->kind == FRAME_PYTHON) {
		object = with(object, "kind", json_text("python"));
		object = with(object, "function", json_text(frame->function));
		object = with(object, "file", json_text(frame->file));
		object = with(object, "line", json_integer(frame->line));
		object = with(object, "opcode", json_text_or_null(frame->opcode));
		object = with(object, "source", json_text_or_null(frame->source));
	} else {
		snprintf(address, sizeof(address), "0x%llx", (unsigned long long)frame->address);
		object = with(object, "kind", json_text("native"));
		object = with(object, "function", json_text(frame->function));
		object = with(object, "library", json_text(frame->file));
		object = with(object, "address", json_text(address));
		if (frame->native_file) {
			object = with(object, "file", json_text(frame->native_file));
			object = with(object, "line", json_integer(frame->line));
		}
		if (frame->inlined)
			object = with(object, "inlined", json_true());
	}
	if (frame->flags & FRAME_GUESSED)
		object = with(object, "guessed", json_true());
	if (frame->flags & FRAME_UNMATCHED)
		object = with(object, "unmatched", json_true());
	if (frame->flags & FRAME_TRUNCATED_ABOVE)
		object = with(object, "truncated", json_true());
	return object;
}

static json_t *json_frames(const struct profile_frame *frames, size_t count)
{
	json_t *array = json_array();

	for (size_t i = 0; i < count; i++)
		array = appended(array, json_frame(&frames[i]));
	return array;
}

static json_t *json_pair(const struct profile_pair *pair)
{
	json_t *object = json_object();

	object = with(object, "kind", json_text(pair->kind == PAIR_LOAD ? "load" : "store"));
	object = with(object, "watched", json_count(pair->watched));
	object = with(object, "sampled", json_count(pair->sampled));
	object = with(object, "redundant", json_count(pair->redundant));
	object = with(object, "approximate", json_count(pair->approximate));
	object = with(object, "share", json_figure(pair->share));
	object = with(object, "share_low", json_figure(pair->share_low));
	object = with(object, "share_high", json_figure(pair->share_high));
	object = with(object, "share_of_watched", json_share(pair->redundant, pair->watched));
	object = with(object, "avoidable_ns", json_count(pair->avoidable_ns));
	object = with(object, "category", json_text(category_name(pair->category)));
	object = with(object, "advice", json_text_or_null(pair->advice));
	object = with(object, "first", json_frames(pair->first, pair->first_count));
	return with(object, "second", json_frames(pair->second, pair->second_count));
}

/* Writes a value, which is taken over. 0, -ENOMEM or -EIO. */
static int put_value(FILE *file, json_t *value)
{
	int result = 0;

	if (!value)
		return -ENOMEM;
	if (json_dumpf(value, file, DUMP_FLAGS) < 0)
		result = ferror(file) ? -EIO : -ENOMEM;
	json_decref(value);
	return result;
}

/* A member of the outermost object on a line of its own. */
static int put_member(FILE *file, const char *key, json_t *value)
{
	fprintf(file, ",\n\"%s\": ", key);
	return put_value(file, value);
}

static int put_facts(FILE *file, const struct profile *profile)
{
	const struct profile_facts *facts = &profile->facts;
	const struct {
		const char *key;
		json_t *value;
	} members[] = {
		{ "target", json_target(&facts->target) },
		{ "sampler", json_text(facts->sampler) },
		{ "period_ns", json_count(facts->period_ns) },
		{ "duration_ns", json_count(facts->duration_ns) },
		{ "samples", json_count(facts->samples) },
		{ "losses", json_losses(&facts->losses) },
		{ "stop_ns", json_stops(&facts->stops) },
		{ "overhead", json_figure(facts->overhead) },
		{ "overhead_limit", json_figure(facts->overhead_limit) },
		{ "target_exited", json_boolean(facts->target_exited) },
		{ "kernel_time_refused", json_boolean(facts->kernel_time_refused) },
		{ "time_ns", json_times(profile->time_ns) },
		{ "loads", json_accesses(&profile->accesses[PAIR_LOAD]) },
		{ "stores", json_accesses(&profile->accesses[PAIR_STORE]) },
		{ "pairs_omitted", json_count(profile->pairs_omitted) },
	};
	int result;

	fputs("{\"pieprofd\": ", file);
	result = put_value(file, json_text(facts->version));
	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
		if (result == 0)
			result = put_member(file, members[i].key, members[i].value);
		else
			json_decref(members[i].value);
	}
	return result;
}

static int json_write(const struct profile *profile, const struct writer_options *options,
		      FILE *file)
{
	int result = put_facts(file, profile);

	(void)options;
	fputs(",\n\"lines\": [", file);
	for (size_t i = 0; i < profile->line_count && result == 0; i++) {
		fputs(i ? ",\n" : "\n", file);
		result = put_value(file, json_line(&profile->lines[i]));
	}
	fputs("],\n\"functions\": [", file);
	for (size_t i = 0; i < profile->function_count && result == 0; i++) {
		fputs(i ? ",\n" : "\n", file);
		result = put_value(file, json_function(&profile->functions[i]));
	}
	fputs("],\n\"pairs\": [", file);
	for (size_t i = 0; i < profile->pair_count && result == 0; i++) {
		fputs(i ? ",\n" : "\n", file);
		result = put_value(file, json_pair(&profile->pairs[i]));
	}
	fputs("]}\n", file);
	if (result == 0 && ferror(file))
		result = -EIO;
	return result;
}

const struct writer writer_json = { .name = "json", .extension = ".json", .write = json_write };
