/* SPDX-License-Identifier: Apache-2.0 */
/* What a trace says, for programs. Members are added, never renamed. */
#include "daemon/report/format/json_value.h"
#include "daemon/trace/clock_text.h"
#include "daemon/trace/counter_text.h"
#include "daemon/trace/detail_text.h"
#include "daemon/trace/function_text.h"
#include "daemon/trace/mpi_function.h"
#include "daemon/trace/span_text.h"
#include "daemon/trace/trace_writer.h"

#include <errno.h>

#define WAITS_MAX 10000
#define PATHS_MAX 10000

static int32_t rank_at(const struct trace_analysis *analysis, size_t place)
{
	return analysis->trace->processes[place]->rank;
}

struct count_member {
	const char *name;
	uint64_t count;
};

/* A name in front, and counts behind it. */
static json_t *json_with_counts(json_t *object, const struct count_member *members, size_t count)
{
	for (size_t i = 0; i < count; i++)
		object = json_with(object, members[i].name, json_count(members[i].count));
	return object;
}

#define WITH_COUNTS(object, ...)                                                                   \
	json_with_counts(object, (const struct count_member[]){ __VA_ARGS__ },                     \
			 sizeof((const struct count_member[]){ __VA_ARGS__ }) /                    \
				 sizeof(struct count_member))

/* The frames of a path, the innermost first; empty: it is not known. */
static json_t *json_call_frames(const struct call_paths *paths, uint32_t path)
{
	const struct call_frame *frame = paths ? call_paths_frame(paths, path) : NULL;
	json_t *array = json_array();

	for (; frame; frame = call_paths_frame(paths, frame->caller)) {
		json_t *object = json_object();

		object = json_with(object, "function", json_text(frame->function));
		object = json_with(object, "file", json_text(frame->file));
		object = json_with(object, "line", json_integer(frame->line));
		array = json_appended(array, object);
	}
	return array;
}

static json_t *json_path(const struct trace_analysis *analysis, uint32_t path)
{
	return json_call_frames(analysis->trace->paths, path);
}

static json_t *json_ranks(const struct trace_analysis *analysis)
{
	json_t *array = json_array();

	for (size_t i = 0; i < analysis->trace->count; i++) {
		const struct trace_process *process = analysis->trace->processes[i];
		const struct rank_figures *rank = &analysis->ranks[i];
		json_t *object = json_object();

		object = json_with(object, "rank", json_integer(process->rank));
		object = json_with(object, "pid", json_integer(process->pid));
		object = json_with(object, "command", json_text(process->name));
		object = json_with(object, "called_mpi", json_boolean(rank->called));
		object = json_with(object, "from_beginning", json_boolean(process->from_beginning));
		object = WITH_COUNTS(
			object, { "threads", rank->threads }, { "useful_ns", rank->useful_ns },
			{ "mpi_ns", rank->mpi_ns }, { "calls", rank->calls },
			{ "waits_ns", rank->waits_ns }, { "waited_for_ns", rank->waited_for_ns },
			{ "holds_up_ns", rank->holds_up_ns }, { "messages_sent", rank->sent },
			{ "bytes_sent", rank->sent_bytes },
			{ "messages_received", rank->received });
		array = json_appended(array, object);
	}
	return array;
}

static json_t *json_with_sums(json_t *object, const struct call_sums *sums)
{
	return WITH_COUNTS(object, { "calls", sums->calls }, { "ns", sums->ns },
			   { "longest_ns", sums->longest_ns }, { "bytes", sums->bytes },
			   { "waits_ns", sums->waits_ns });
}

static json_t *json_functions(const struct trace_analysis *analysis)
{
	json_t *array = json_array();

	for (size_t i = 0; i < analysis->function_count; i++) {
		const struct function_figures *function = &analysis->functions[i];
		json_t *object = json_object();

		object = json_with(object, "function",
				   json_text(mpi_function_name(function->function)));
		object = json_with_sums(object, &function->sums);
		array = json_appended(array, object);
	}
	return array;
}

static json_t *json_call_paths(const struct trace_analysis *analysis)
{
	json_t *array = json_array();

	for (size_t i = 0; i < analysis->path_count && i < PATHS_MAX; i++) {
		const struct path_figures *path = &analysis->paths[i];
		json_t *object = json_object();

		object =
			json_with(object, "function", json_text(mpi_function_name(path->function)));
		object = json_with(object, "path", json_path(analysis, path->path));
		object = json_with_sums(object, &path->sums);
		array = json_appended(array, object);
	}
	return array;
}

static json_t *json_regions(const struct trace_analysis *analysis)
{
	const struct trace_regions *regions = &analysis->regions;
	json_t *array = json_array();

	for (size_t i = 0; i < regions->count && i < PATHS_MAX; i++) {
		const struct trace_region *region = &regions->items[i];
		json_t *object = json_object();
		char name[TRACE_REGION_NAME_BYTES];

		trace_region_name(regions, region, name);
		object = json_with(object, "name", json_text(name));
		object = json_with(object, "path", json_call_frames(&regions->own, region->frame));
		object = json_with(object, "parallel_efficiency",
				   json_figure(region->parallel_efficiency));
		object = json_with(object, "load_balance", json_figure(region->load_balance));
		object = json_with(object, "communication_efficiency",
				   json_figure(region->communication_efficiency));
		object = json_with(object, "busiest_rank",
				   json_integer(rank_at(analysis, region->busiest)));
		object = WITH_COUNTS(object, { "elapsed_ns", region->elapsed_ns },
				     { "lost_ns", trace_region_lost(region, analysis->judged) },
				     { "useful_ns", region->useful_ns },
				     { "mpi_ns", region->mpi_ns }, { "calls", region->calls });
		array = json_appended(array, object);
	}
	return array;
}

static json_t *json_waits(const struct trace_analysis *analysis)
{
	json_t *array = json_array();

	for (size_t i = 0; i < analysis->wait_count && i < WAITS_MAX; i++) {
		const struct wait_figures *wait = &analysis->waits[i];
		json_t *object = json_object();

		object = json_with(object, "rank", json_integer(rank_at(analysis, wait->who)));
		object = json_with(object, "for_rank", json_integer(rank_at(analysis, wait->whom)));
		object =
			json_with(object, "function", json_text(mpi_function_name(wait->function)));
		object = json_with(object, "path", json_path(analysis, wait->path));
		object = json_with(object, "late_path", json_path(analysis, wait->late_path));
		object = WITH_COUNTS(object, { "times", wait->count }, { "ns", wait->ns });
		array = json_appended(array, object);
	}
	return array;
}

static json_t *json_messages(const struct trace_analysis *analysis)
{
	const struct messages *messages = &analysis->messages;
	json_t *object = json_object(), *sizes = json_array();
	uint64_t least = 0;

	for (unsigned i = 0; i < TRACE_SIZES_MAX; i++) {
		json_t *size = json_object();

		size = json_with(size, "from_bytes", json_count(least));
		size = json_with(size, "messages", json_count(analysis->sizes[i].messages));
		size = json_with(size, "bytes", json_count(analysis->sizes[i].bytes));
		if (analysis->sizes[i].messages)
			sizes = json_appended(sizes, size);
		else
			json_decref(size);
		least = least ? least * 10 : 1;
	}
	object = json_with(object, "matched", json_count(messages->count));
	object = json_with(object, "unmatched_sends", json_count(messages->unmatched_sends));
	object = json_with(object, "unmatched_receives", json_count(messages->unmatched_receives));
	object = json_with(object, "received_from_anybody", json_count(messages->of_anybody));
	object = json_with(object, "uncertain", json_count(messages->uncertain));
	object = json_with(object, "in_unknown_communicators", json_count(messages->elsewhere));
	return json_with(object, "sizes", sizes);
}

static json_t *json_missing(const struct trace_analysis *analysis)
{
	json_t *object = json_object();

	return WITH_COUNTS(object, { "calls", analysis->unrecorded_calls },
			   { "events", analysis->left_out_events },
			   { "requests", analysis->left_out_requests },
			   { "collective_calls", analysis->collectives.passed_over });
}

/* By which nothing was written to the processes, where only what the kernel notes is traced. */
static const char *method_of(const struct trace_analysis *analysis)
{
	const struct trace *trace = analysis->trace;

	if (trace_library(trace) || !trace->spans || span_list_has_probes(trace->spans))
		return "uprobes";
	return analysis->switches.span >= 0 ? "tracepoints" : "counters";
}

/* null where it is not known, and why. */
static json_t *json_with_split(json_t *object, const struct trace_analysis *analysis)
{
	bool known = analysis->ideal.state == IDEAL_KNOWN;
	char reason[200];

	ideal_run_reason(&analysis->ideal, reason, sizeof(reason));
	object = json_with(object, "serialisation_efficiency",
			   known ? json_figure(analysis->serialisation_efficiency) : json_null());
	object = json_with(object, "transfer_efficiency",
			   known ? json_figure(analysis->transfer_efficiency) : json_null());
	object = json_with(object, "ideal_run_ns",
			   known ? json_count(analysis->ideal.ns) : json_null());
	return json_with(object, "split_not_known_as", json_text_or_null(known ? NULL : reason));
}

int trace_json_write(const struct trace_analysis *analysis, FILE *file)
{
	const struct trace *trace = analysis->trace;
	const struct mpi_library *library = trace_library(trace);
	size_t latest = trace_analysis_latest(analysis);
	json_t *object = json_object();

	object = json_with(object, "tool", json_text("pieprofd " PIEPROFD_VERSION));
	object = json_with(object, "kind", json_text("trace"));
	object = json_with(object, "method", json_text(method_of(analysis)));
	object = json_with(object, "library", json_text_or_null(library ? library->path : NULL));
	object = json_with(object, "mpi",
			   json_text_or_null(library ? mpi_library_kind_name(library) : NULL));
	object = json_with(object, "ranks_known", json_boolean(trace->ranks_known));
	object = json_with(object, "from_beginning", json_boolean(analysis->from_beginning));
	object = json_with(object, "run_ns", json_count(analysis->end_ns - analysis->begin_ns));
	object = json_with(object, "calls", json_count(analysis->calls));
	object = json_with(object, "mpi_ns", json_count(analysis->mpi_ns));
	object = json_with(object, "parallel_efficiency",
			   json_figure(analysis->parallel_efficiency));
	object = json_with(object, "load_balance", json_figure(analysis->load_balance));
	object = json_with(object, "communication_efficiency",
			   json_figure(analysis->communication_efficiency));
	object = json_with_split(object, analysis);
	object = json_with(object, "held_up_by_rank",
			   latest == SIZE_MAX ? json_null()
					      : json_integer(rank_at(analysis, latest)));
	object = json_with(object, "collective_operations",
			   json_count(analysis->collectives.operations));
	object = json_with(object, "calls_without_path", json_count(analysis->unknown_paths));
	object = json_with(object, "regions", json_regions(analysis));
	object = json_with(object, "ranks", json_ranks(analysis));
	object = json_with(object, "functions", json_functions(analysis));
	object = json_with(object, "call_paths", json_call_paths(analysis));
	object = json_with(object, "waits", json_waits(analysis));
	object = json_with(object, "messages", json_messages(analysis));
	object = json_with(object, "spans", span_json(analysis, json_path));
	object = json_with(object, "python_functions", function_json(analysis));
	object = json_with(object, "off_processor",
			   detail_json(analysis, &analysis->switches, json_path));
	object = json_with(object, "page_faults",
			   detail_json(analysis, &analysis->faults, json_path));
	object = json_with(object, "counters", counter_json(analysis));
	object = json_with(object, "nodes", clock_json(trace));
	object = json_with(object, "missing", json_missing(analysis));
	return json_put(file, object);
}
