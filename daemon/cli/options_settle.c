/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cli/options_settle.h"

#include "daemon/cli/fleet_diff.h"
#include "daemon/cli/fleet_table.h"
#include "daemon/heap/heap_diff_writers.h"
#include "daemon/heap/heap_formats.h"
#include "daemon/report/diff/diff_writers.h"
#include "daemon/report/html/html.h"
#include "daemon/report/writer_table.h"
#include "daemon/trace/trace_recording.h"
#include "daemon/trace/trace_writer.h"

#include <limits.h>
#include <string.h>

#define OVERHEAD_DEFAULT 0.02
/* Time alone takes no more than the clock's stops. */
#define OVERHEAD_DEFAULT_TIME 0.01
#define NODE_OVERHEAD_DEFAULT 0.01

/* Which writer each output has. */
static int settle_outputs(struct option_parser *parser)
{
	struct options *options = &parser->options;

	/* A format without a file is for stdout. */
	if (parser->format && options->output_count == 0)
		options->outputs[options->output_count++].path = "-";
	for (unsigned i = 0; i < options->output_count; i++) {
		struct options_output *output = &options->outputs[i];

		output->writer = parser->format ? parser->format : writer_by_path(output->path);
		if (!output->writer)
			return options_refuse(
				parser,
				"--output %s: the format cannot be told from the name: add "
				"--format",
				output->path);
	}
	return 0;
}

static bool is_trace(const char *path)
{
	const char *extension = strrchr(path, '.');

	return extension && !strcmp(extension, TRACE_RECORDING_EXTENSION);
}

/* report of traces: what goes for their merging alone. */
static int settle_traces(struct option_parser *parser)
{
	struct options *options = &parser->options;

	for (unsigned i = 0; i < options->recording_count; i++)
		if (!is_trace(options->recordings[i]))
			return options_refuse(parser,
					      "%s is no trace: traces are merged with traces alone",
					      options->recordings[i]);
	if (options->base || options->by || options->threshold_count)
		return options_refuse(parser, "traces take no --diff, --by and --fail-if");
	if (parser->format && parser->format != &writer_json && parser->format != &writer_text)
		return options_refuse(parser, "traces are told as text or json; other formats are "
					      "told by the name of -o");
	options->json |= parser->format == &writer_json;
	for (unsigned i = 0; i < options->output_count; i++) {
		const char *path = options->outputs[i].path;

		if (!trace_writer_by_path(path) || is_trace(path))
			return options_refuse(parser,
					      "--output %s: of traces, its name ends with .html, "
					      ".json, .perfetto-trace or .prv",
					      path);
	}
	return 0;
}

static int settle_report(struct option_parser *parser)
{
	struct options *options = &parser->options;

	for (unsigned i = 0; i < options->recording_count; i++)
		options->of_traces |= is_trace(options->recordings[i]);
	if (options->of_traces)
		return settle_traces(parser);
	if (settle_outputs(parser) < 0)
		return -1;
	if (options->threshold_count && !options->base)
		return options_refuse(parser, "--fail-if goes with --diff");
	if (options->pairs_max)
		options->details = true;
	for (unsigned i = 0; options->by && i < options->output_count; i++)
		if (options->base ? !fleet_diff_writes(options->outputs[i].writer)
				  : !fleet_table_writes(options->outputs[i].writer))
			return options_refuse(
				parser, "--output %s: --by writes %s, there is no such table as %s",
				options->outputs[i].path,
				options->base ? "text and json with --diff"
					      : "text, json and jsonl",
				options->outputs[i].writer->name);
	for (unsigned i = 0; options->base && !options->by && i < options->output_count; i++) {
		const struct writer *writer = options->outputs[i].writer;

		if (!diff_write_of(writer) && writer != &writer_html)
			return options_refuse(
				parser,
				"--output %s: --diff writes text, json, html, sarif, github and "
				"markdown, there is no difference as %s",
				options->outputs[i].path, writer->name);
	}
	return 0;
}

/* Of a difference: what is for looks at a process. */
static int settle_heap_difference(const struct option_parser *parser)
{
	const struct options *options = &parser->options;
	bool of_look = options->wait || options->at.share > 0 || options->at.bytes ||
		       options->no_holders || options->max_memory;

	if (!options->base)
		return 0;
	if (options->duration_given || options->no_watch)
		return options_refuse(parser,
				      "--diff is of two looks: it does not go with -d, which "
				      "looks again and again");
	if (options->recording_count && (options->pid_count || options->name))
		return options_refuse(parser, "--diff compares BASE with a process or with a file, "
					      "not with both");
	if (options->recording_count && of_look)
		return options_refuse(parser,
				      "--wait, --at, --no-holders and --max-memory are for "
				      "looks at a process, %s stays what it was made",
				      options->recordings[0]);
	for (unsigned i = 0; i < options->output_count; i++)
		if (!heap_diff_write_of(options->outputs[i].writer))
			return options_refuse(
				parser,
				"--output %s: heap --diff writes text, json and html, there "
				"is no difference as %s",
				options->outputs[i].path, options->outputs[i].writer->name);
	return 0;
}

static int settle_heap(struct option_parser *parser)
{
	struct options *options = &parser->options;

	if (!options->max_overhead)
		options->max_overhead = OVERHEAD_DEFAULT;
	if (options->interval_ns && !options->duration_given)
		return options_refuse(parser, "--interval goes with -d: one look has none");
	if (options->allocations && !options->duration_given)
		return options_refuse(parser, "--allocations goes with -d: of one look nothing is "
					      "known to stay");
	if (options->command ||
	    (!options->recording_count && options->pid_count + (options->name != NULL) != 1))
		return options_refuse(parser, "heap is of one process, given by its id or --name");
	if (options->wait && !options->name)
		return options_refuse(parser, "--wait goes with --name: a process given by its id "
					      "does not come again");
	if (settle_outputs(parser) < 0)
		return -1;
	for (unsigned i = 0; i < options->output_count; i++)
		if (!heap_write_of(options->outputs[i].writer))
			return options_refuse(parser,
					      "--output %s: heap writes text, json, html, "
					      "collapsed and pprof, it "
					      "has no %s",
					      options->outputs[i].path,
					      options->outputs[i].writer->name);
	return settle_heap_difference(parser);
}

static int settle_trace(struct option_parser *parser)
{
	struct options *options = &parser->options;
	unsigned ways = (options->pid != 0) + (options->name != NULL) + (options->command != NULL);

	if (ways != 1)
		return options_refuse(parser, ways ? "only one of --pid, --name and -- COMMAND is "
						     "allowed"
						   : "no process given: pieprofd trace PID, or "
						     "pieprofd trace -- mpirun ...");
	if (options->all && !options->name)
		return options_refuse(parser, "--all goes with --name");
	if (!options->spans.functions.pattern_count &&
	    (options->spans.functions.depth_max || options->spans.functions.least_ns ||
	     options->max_overhead > 0))
		return options_refuse(parser,
				      "--depth, --least and --max-overhead of trace go with "
				      "--functions");
	options->spans.functions.max_overhead = options->max_overhead;
	/* A command is traced to its end. */
	if (options->command && !options->duration_given)
		options->duration_ns = 0;
	for (unsigned i = 0; i < options->output_count; i++)
		if (!trace_writer_by_path(options->outputs[i].path))
			return options_refuse(parser,
					      "--output %s: the name of a trace ends with one of "
					      "%s; what it says goes to stdout",
					      options->outputs[i].path, trace_writer_extensions());
	return 0;
}

static int settle_push(const struct option_parser *parser)
{
	const struct options *options = &parser->options;

	if (!options->push &&
	    (options->push_header_count || options->push_spool || options->push_service ||
	     options->push_every_ns || options->push_ca || options->push_protocol != PUSH_OTLP))
		return options_refuse(parser, "--push-ca, --push-every, --push-header, "
					      "--push-protocol, --push-service and --push-spool go "
					      "with --push");
	return 0;
}

/* A request chooses the format, not the command line. */
static int settle_serve(struct option_parser *parser)
{
	struct options *options = &parser->options;

	if (options->all_python && (options->name || options->cgroup))
		return options_refuse(parser,
				      "--all-python is of all processes: it takes no --name and no "
				      "--cgroup");
	if (options->node_overhead && !options->all_python)
		return options_refuse(parser, "--node-overhead goes with --all-python");
	if (options->all_python) {
		options->wait = true;
		if (!options->node_overhead)
			options->node_overhead = NODE_OVERHEAD_DEFAULT;
		/* Half for stops, of all processes together, and half for the daemon's own work. */
		if (!options->max_overhead || options->max_overhead > options->node_overhead / 2)
			options->max_overhead = options->node_overhead / 2;
	}
	if (!options->listen)
		return options_refuse(parser,
				      "serve needs --listen 127.0.0.1:6061 or --listen unix:PATH");
	if (options->command)
		return options_refuse(parser,
				      "serve is of processes that run, given by --pid, --name or "
				      "--cgroup");
	return 0;
}

int options_settle(struct option_parser *parser)
{
	struct options *options = &parser->options;
	bool either = parser->loads_asked || parser->stores_asked;
	bool searched = options->name || options->cgroup || options->all_python;

	if (options->action == OPTIONS_REPORT)
		return settle_report(parser);
	if (options->action == OPTIONS_LIST || options->action == OPTIONS_DOCTOR ||
	    options->action == OPTIONS_MCP)
		return 0;
	if (options->action == OPTIONS_HEAP)
		return settle_heap(parser);
	if (options->action == OPTIONS_TRACE)
		return settle_trace(parser);
	if ((options->pid != 0) + searched + (options->command != NULL) > 1)
		return options_refuse(
			parser, "only one of --pid, --name, --cgroup and -- COMMAND is allowed");
	if (!options->pid && !searched && !options->command)
		return options_refuse(parser,
				      "no process given: pieprofd PID; pieprofd list shows some");
	if (options->all && !options->name)
		return options_refuse(parser, "--all goes with --name");
	if (options->wait && !searched)
		return options_refuse(parser,
				      "--wait goes with --name and --cgroup: a process that is "
				      "started again has another id");
	if ((options->action == OPTIONS_DUMP || options->action == OPTIONS_TOP) &&
	    (options->pid_count + (options->action == OPTIONS_TOP && options->command) != 1 ||
	     options->follow))
		return options_refuse(parser,
				      options->action == OPTIONS_DUMP
					      ? "dump is of one process, given by its id"
					      : "top is of one process, given by its id, or of "
						"-- COMMAND");
	if (options->action == OPTIONS_SERVE && settle_serve(parser) < 0)
		return -1;
	if (settle_push(parser) < 0)
		return -1;
	options->memory = options->memory || options->allocations;
	/* They are in the long summary alone. */
	if (options->pairs_max)
		options->details = true;
	/* A command is profiled to its end. */
	if (options->command && !options->duration_given)
		options->duration_ns = 0;
	if (options->action == OPTIONS_DUMP)
		return 0;
	/* It is left by a key. */
	if (options->action == OPTIONS_TOP && !options->duration_given)
		options->duration_ns = 0;
	if (parser->mode == OPTION_MODE_TIME && either)
		return options_refuse(parser, "--mode time does not go with --loads and --stores");
	if (parser->mode != OPTION_MODE_TIME) {
		options->loads = parser->loads_asked || !either;
		options->stores = parser->stores_asked || !either;
	}
	if (options->engine == ENGINE_KERNEL && parser->mode != OPTION_MODE_TIME)
		return options_refuse(parser, "--engine kernel takes samples of time alone: add "
					      "--mode time");
	if (options->engine == ENGINE_KERNEL && (options->waits || options->follow))
		return options_refuse(parser, "--engine kernel does not go with --idle and "
					      "--follow, which need ptrace");
	options->redundancy_required = parser->mode == OPTION_MODE_REDUNDANCY;
	if (!options->max_overhead)
		options->max_overhead =
			parser->mode == OPTION_MODE_TIME ? OVERHEAD_DEFAULT_TIME : OVERHEAD_DEFAULT;
	return settle_outputs(parser);
}
