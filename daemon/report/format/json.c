/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report for programs, as pieprofd-formats(5) lays it down.
 *
 * The document is written piece by piece, one line of the file for each
 * profiled line and each pair: a whole tree of jansson values would take many
 * times the profile's own memory.
 */
#include "daemon/detect/interval.h"
#include "daemon/report/format/json_finding.h"
#include "daemon/report/format/json_kernel.h"
#include "daemon/report/format/json_memory.h"
#include "daemon/report/format/json_timeline.h"
#include "daemon/report/format/json_value.h"
#include "daemon/report/format/writer.h"
#include "daemon/report/model/unexplained.h"

#include <errno.h>
#include <string.h>

static json_t *json_waiting(const struct side_time *side)
{
	json_t *object = json_object();

	for (unsigned i = 0; i < WAIT_KIND_COUNT; i++)
		object = json_with(object, wait_kind_name((enum wait_kind)i),
				   json_count(side->waiting_ns[i]));
	return object;
}

/* What an object says beside its time classes. */
static json_t *json_side(json_t *object, const struct profile_facts *facts,
			 const struct side_time *side)
{
	object = json_with(object, "gc_ns", json_count(side->collecting_ns));
	object = json_with(object, "take_gil_ns", json_count(side->contending_ns));
	if (facts->memory)
		object = json_with_memory(object, facts, side);
	return facts->waits ? json_with(object, "waiting_ns", json_waiting(side)) : object;
}

static json_t *json_gil(const struct profile_facts *facts, uint64_t gil_ns)
{
	return facts->gil_known ? json_count(gil_ns) : json_null();
}

static json_t *json_threads(const struct profile_facts *facts)
{
	json_t *array = json_array();

	for (size_t i = 0; i < facts->thread_count; i++) {
		const struct profile_thread *thread = &facts->threads[i];
		json_t *object = json_object();

		if (thread->pid)
			object = json_with(object, "pid", json_integer(thread->pid));
		object = json_with(object, "tid", json_integer(thread->tid));
		object = json_with(object, "name", json_text(thread->name));
		object = json_with(object, "python_ns", json_count(thread->time_ns[TIME_PYTHON]));
		object = json_with(object, "native_ns", json_count(thread->time_ns[TIME_NATIVE]));
		object = json_with(object, "system_ns", json_count(thread->time_ns[TIME_SYSTEM]));
		object = json_with(object, "unstopped_ns", json_count(thread->unstopped_ns));
		object = json_with(object, "gil_ns", json_gil(facts, thread->gil_ns));
		if (facts->waits) {
			object = json_with(object, "waiting_ns", json_waiting(&thread->side));
			object = json_with(object, "gil_asleep_ns",
					   json_gil(facts, thread->gil_asleep_ns));
		}
		if (facts->memory)
			object = json_with_memory(object, facts, &thread->side);
		array = json_appended(array, object);
	}
	return array;
}

static json_t *json_sources(const struct profile *profile)
{
	json_t *array = json_array();

	for (size_t i = 0; i < profile->source_count; i++) {
		const struct profile_source *source = &profile->sources[i];
		json_t *object = json_object();

		object = json_with(object, "file", json_text(source->file));
		object = json_with(object, "sha256",
				   source->sha256[0] ? json_text(source->sha256) : json_null());
		object =
			json_with(object, "modified_unix_ns", json_count(source->modified_unix_ns));
		object = json_with(object, "newer_than_process",
				   json_boolean(source->newer_than_process));
		object = json_with(object, "differs_now", json_boolean(source->differs_now));
		array = json_appended(array, object);
	}
	return array;
}

/* null: it goes on, or nobody saw its end. */
static json_t *json_end(const struct profile_process *process)
{
	switch (process->end) {
	case PROCESS_EXITED:
		return json_with(json_object(), "status", json_integer(process->end_status));
	case PROCESS_KILLED:
		return json_with(json_object(), "signal", json_integer(process->end_status));
	case PROCESS_REPLACED:
		return json_with(json_object(), "exec", json_true());
	case PROCESS_RUNNING:
		break;
	}
	return json_null();
}

static json_t *json_processes(const struct profile *profile)
{
	json_t *array = json_array();

	for (size_t i = 0; i < profile->process_count; i++) {
		const struct profile_process *process = &profile->processes[i];
		json_t *object = json_object();

		object = json_with(object, "pid", json_integer(process->pid));
		object = json_with(object, "parent", json_integer(process->parent));
		object = json_with(object, "command", json_text(process->command));
		object = json_with(object, "container", json_container(&process->container));
		object = json_with(object, "labels", json_labels(&process->labels));
		object = json_with(object, "python_ns", json_count(process->time_ns[TIME_PYTHON]));
		object = json_with(object, "native_ns", json_count(process->time_ns[TIME_NATIVE]));
		object = json_with(object, "system_ns", json_count(process->time_ns[TIME_SYSTEM]));
		object = json_with(object, "samples", json_count(process->samples));
		object = json_with(object, "end", json_end(process));
		array = json_appended(array, object);
	}
	return array;
}

static json_t *json_losses(const struct losses *losses)
{
	json_t *object = json_object();

	for (size_t i = 0; i < LOSS_COUNT; i++)
		if (losses->counts[i] > 0)
			object = json_with(object, loss_name((enum loss)i),
					   json_count(losses->counts[i]));
	return object;
}

static json_t *json_stops(const struct stop_times *stops)
{
	json_t *object = json_object();

	object = json_with(object, "count", json_count(stops->count));
	object = json_with(object, "p50", json_count(stops->p50_ns));
	object = json_with(object, "p99", json_count(stops->p99_ns));
	return json_with(object, "max", json_count(stops->max_ns));
}

static json_t *json_all_stops(const struct profile_facts *facts)
{
	json_t *object = json_stops(&facts->stops);

	object = json_with(object, "sample", json_stops(&facts->sample_stops));
	return json_with(object, "breakpoint", json_stops(&facts->breakpoint_stops));
}

static json_t *json_peeks(const struct profile_facts *facts)
{
	json_t *object = json_object();

	object = json_with(object, "begun", json_count(facts->peeks));
	object = json_with(object, "seen", json_count(facts->peeks_seen));
	return json_with(object, "waited", json_count(facts->peeks_waited));
}

static json_t *json_times(const uint64_t time_ns[TIME_CLASS_COUNT])
{
	json_t *object = json_object();

	object = json_with(object, "python", json_count(time_ns[TIME_PYTHON]));
	object = json_with(object, "native", json_count(time_ns[TIME_NATIVE]));
	return json_with(object, "system", json_count(time_ns[TIME_SYSTEM]));
}

/* [share, low, high] with the 95% interval; null: nothing to divide by. */
static json_t *json_share(uint64_t part, uint64_t whole)
{
	struct interval interval = interval_wilson(part, whole);
	json_t *array;

	if (!whole)
		return json_null();
	array = json_appended(json_array(), json_figure((double)part / (double)whole));
	array = json_appended(array, json_figure(interval.low));
	return json_appended(array, json_figure(interval.high));
}

static json_t *json_accesses(const struct access_counts *counts)
{
	json_t *object = json_object();

	object = json_with(object, "sampled", json_count(counts->sampled));
	object = json_with(object, "reaccessed", json_count(counts->reaccessed));
	object = json_with(object, "redundant", json_count(counts->redundant));
	object = json_with(object, "approximate", json_count(counts->approximate));
	object =
		json_with(object, "new",
			  json_count(counts->reaccessed - counts->redundant - counts->approximate));
	object = json_with(object, "never", json_count(counts->sampled - counts->reaccessed));
	object = json_with(object, "share_of_sampled",
			   json_share(counts->redundant, counts->sampled));
	return json_with(object, "share_of_reaccessed",
			 json_share(counts->redundant, counts->reaccessed));
}

static json_t *json_arguments(const struct argument_evidence *evidence)
{
	json_t *object = json_object();

	for (unsigned v = 0; v < ARGUMENT_VERDICT_COUNT; v++)
		object = json_with(object, argument_verdict_name(v),
				   json_count(evidence->samples[v]));
	return object;
}

static json_t *json_evidence(const struct line_evidence *evidence)
{
	const uint64_t *memory = evidence->redundant_by_memory;
	json_t *object = json_object();

	object = json_with(object, "heap", json_count(memory[MEMORY_HEAP]));
	object = json_with(object, "object", json_count(memory[MEMORY_OBJECT]));
	object = json_with(object, "static", json_count(memory[MEMORY_STATIC]));
	object = json_with(object, "other", json_count(memory[MEMORY_OTHER]));
	object = json_with(object, "repeated", json_count(evidence->repeated));
	object = json_with(object, "call_samples", json_count(evidence->call_samples));
	object = json_with(object, "site_loads", json_count(evidence->site_loads));
	object = json_with(object, "site_loads_redundant",
			   json_count(evidence->site_loads_redundant));
	object = json_with(object, "site_stores", json_count(evidence->site_stores));
	object = json_with(object, "site_stores_redundant",
			   json_count(evidence->site_stores_redundant));
	object = json_with(object, "again", json_count(evidence->again));
	object = json_with(object, "again_redundant", json_count(evidence->again_redundant));
	object = json_with(object, "again_loads", json_count(evidence->again_loads));
	object = json_with(object, "again_loads_redundant",
			   json_count(evidence->again_loads_redundant));
	object = json_with(object, "stores", json_count(evidence->stores));
	object = json_with(object, "again_stores", json_count(evidence->again_stores));
	return json_with(object, "arguments", json_arguments(&evidence->arguments));
}

static json_t *json_line(const struct profile_facts *facts, const struct profile_line *line,
			 const struct unexplained *unexplained)
{
	json_t *object = json_object(), *reasons = json_array();
	uint64_t avoidable_ns = line->avoidable_ns, high_ns = line->avoidable_high_ns;

	if (line == unexplained->line) {
		avoidable_ns += unexplained->weight_ns;
		high_ns = high_ns > unexplained->most_ns ? high_ns : unexplained->most_ns;
	}

	object = json_with(object, "file", json_text(line->file));
	object = json_with(object, "line", json_integer(line->line));
	object = json_with(object, "function", json_text(line->function));
	object = json_with(object, "source", json_text_or_null(line->source));
	object = json_with(object, "python_ns", json_count(line->self_ns[TIME_PYTHON]));
	object = json_with(object, "native_ns", json_count(line->self_ns[TIME_NATIVE]));
	object = json_with(object, "system_ns", json_count(line->self_ns[TIME_SYSTEM]));
	object = json_side(object, facts, &line->side);
	object = json_with(object, "total_ns", json_count(line->total_ns));
	object = json_with(object, "charged_ns", json_count(line->charged_ns));
	object = json_with(object, "loads", json_accesses(&line->accesses[PAIR_LOAD]));
	object = json_with(object, "stores", json_accesses(&line->accesses[PAIR_STORE]));
	object = json_with(object, "avoidable_ns", json_count(avoidable_ns));
	object = json_with(object, "avoidable_low_ns", json_count(line->avoidable_low_ns));
	object = json_with(object, "avoidable_high_ns", json_count(high_ns));
	object = json_with(object, "evidence", json_evidence(&line->evidence));
	object = json_with(object, "call_ns", json_count(line->call_ns));
	object = json_with(object, "category", json_text(category_name(line->category)));
	object = json_with(object, "finding", json_text_or_null(line->finding));
	object = json_with(object, "expression", json_expression(line));
	for (size_t i = 0; i < line->reason_count; i++)
		reasons = json_appended(reasons, json_text(line->reasons[i]));
	return json_with(object, "reasons", reasons);
}

static json_t *json_function(const struct profile_facts *facts,
			     const struct profile_function *function)
{
	json_t *object = json_object();

	object = json_with(object, "file", json_text(function->file));
	object = json_with(object, "function", json_text(function->function));
	object = json_with(object, "line", json_integer(function->line));
	object = json_with(object, "python_ns", json_count(function->self_ns[TIME_PYTHON]));
	object = json_with(object, "native_ns", json_count(function->self_ns[TIME_NATIVE]));
	object = json_with(object, "system_ns", json_count(function->self_ns[TIME_SYSTEM]));
	object = json_side(object, facts, &function->side);
	object = json_with(object, "total_ns", json_count(function->total_ns));
	object = json_with(object, "loads", json_accesses(&function->accesses[PAIR_LOAD]));
	object = json_with(object, "stores", json_accesses(&function->accesses[PAIR_STORE]));
	return json_with(object, "avoidable_ns", json_count(function->avoidable_ns));
}

static json_t *json_pair(const struct profile_pair *pair)
{
	json_t *object = json_object();

	object = json_with(object, "kind", json_text(pair->kind == PAIR_LOAD ? "load" : "store"));
	object = json_with(object, "watched", json_count(pair->watched));
	object = json_with(object, "sampled", json_count(pair->sampled));
	object = json_with(object, "redundant", json_count(pair->redundant));
	object = json_with(object, "approximate", json_count(pair->approximate));
	object = json_with(object, "share", json_figure(pair->share));
	object = json_with(object, "share_low", json_figure(pair->share_low));
	object = json_with(object, "share_high", json_figure(pair->share_high));
	object = json_with(object, "share_of_watched", json_share(pair->redundant, pair->watched));
	object = json_with(object, "avoidable_ns", json_count(pair->avoidable_ns));
	object = json_with(object, "category", json_text(category_name(pair->category)));
	object = json_with(object, "advice", json_text_or_null(pair->advice));
	object = json_with(object, "first", json_frames(pair->first, pair->first_count));
	return json_with(object, "second", json_frames(pair->second, pair->second_count));
}

/* A member of the outermost object on a line of its own. */
static int put_member(FILE *file, const char *key, json_t *value)
{
	fprintf(file, ",\n\"%s\": ", key);
	return json_put(file, value);
}

static int json_put_facts(FILE *file, const struct profile *profile)
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
		{ "cpu_ns", json_count(facts->cpu_ns) },
		{ "queued_ns", facts->queued_known ? json_count(facts->queued_ns) : json_null() },
		{ "throttled_ns", json_count(facts->throttled_ns) },
		{ "machine_idle", facts->machine_ns
					  ? json_share(facts->machine_idle_ns, facts->machine_ns)
					  : json_null() },
		{ "samples", json_count(facts->samples) },
		{ "losses", json_losses(&facts->losses) },
		{ "stop_ns", json_all_stops(facts) },
		{ "peeks", json_peeks(facts) },
		{ "overhead", json_figure(facts->overhead) },
		{ "overhead_limit", json_figure(facts->overhead_limit) },
		{ "target_exited", json_boolean(facts->target_exited) },
		{ "kernel_time_refused", json_boolean(facts->kernel_time_refused) },
		{ "native_known", json_boolean(!facts->native_unknown) },
		{ "verdict", json_verdict(profile) },
		{ "findings", json_findings(profile) },
		{ "time_ns", json_times(profile->time_ns) },
		{ "gc_ns", json_count(profile->side.collecting_ns) },
		{ "take_gil_ns", json_count(profile->side.contending_ns) },
		{ "gil_ns", json_gil(facts, profile->gil_ns) },
		{ "kernel", json_kernel(profile) },
		{ "threads", json_threads(facts) },
		{ "sources", json_sources(profile) },
		{ "loads", json_accesses(&profile->accesses[PAIR_LOAD]) },
		{ "stores", json_accesses(&profile->accesses[PAIR_STORE]) },
		{ "pairs_omitted", json_count(profile->pairs_omitted) },
		{ "nodes_folded", json_count(profile->tree.nodes_folded) },
	};
	int result;

	fputs("{\"pieprofd\": ", file);
	result = json_put(file, json_text(facts->version));
	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
		if (result == 0)
			result = put_member(file, members[i].key, members[i].value);
		else
			json_decref(members[i].value);
	}
	if (result == 0 && facts->waits)
		result = put_member(file, "waiting_ns", json_waiting(&profile->side));
	if (result == 0 && facts->memory)
		result = put_member(file, "memory", json_memory(profile));
	if (result == 0 && profile->process_count)
		result = put_member(file, "processes", json_processes(profile));
	return result;
}

static int json_write(const struct profile *profile, const struct writer_options *options,
		      FILE *file)
{
	const struct unexplained unexplained = unexplained_find(profile);
	int result = json_put_facts(file, profile);

	(void)options;
	fputs(",\n\"timeline\": ", file);
	if (result == 0)
		result = json_put_timeline(file, &profile->facts);
	fputs(",\n\"lines\": [", file);
	for (size_t i = 0; i < profile->line_count && result == 0; i++) {
		fputs(i ? ",\n" : "\n", file);
		result = json_put(file,
				  json_line(&profile->facts, &profile->lines[i], &unexplained));
	}
	fputs("],\n\"functions\": [", file);
	for (size_t i = 0; i < profile->function_count && result == 0; i++) {
		fputs(i ? ",\n" : "\n", file);
		result = json_put(file, json_function(&profile->facts, &profile->functions[i]));
	}
	fputs("],\n\"pairs\": [", file);
	for (size_t i = 0; i < profile->pair_count && result == 0; i++) {
		fputs(i ? ",\n" : "\n", file);
		result = json_put(file, json_pair(&profile->pairs[i]));
	}
	fputs("]}\n", file);
	if (result == 0 && ferror(file))
		result = -EIO;
	return result;
}

const struct writer writer_json = { .name = "json", .extension = ".json", .write = json_write };
