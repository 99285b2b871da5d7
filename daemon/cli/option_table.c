/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cli/option_table.h"

#include "daemon/cli/fleet_label.h"
#include "daemon/report/writer_table.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define RECORD OPTION_OF(OPTIONS_RECORD)
#define TOP    OPTION_OF(OPTIONS_TOP)
#define REPORT OPTION_OF(OPTIONS_REPORT)
#define DUMP   OPTION_OF(OPTIONS_DUMP)
#define HEAP   OPTION_OF(OPTIONS_HEAP)
#define LIST   OPTION_OF(OPTIONS_LIST)
#define DOCTOR OPTION_OF(OPTIONS_DOCTOR)
#define SERVE  OPTION_OF(OPTIONS_SERVE)
#define MCP    OPTION_OF(OPTIONS_MCP)
#define TRACE  OPTION_OF(OPTIONS_TRACE)
#define EVERY  (RECORD | TOP | SERVE | REPORT | DUMP | HEAP | LIST | DOCTOR | MCP | TRACE)
/* Without a command. */
#define ALONE OPTION_OF(OPTIONS_HELP)

/* Of a word that may be a misspelt name. */
#define NAME_MAX_LENGTH 32

#define TO(member) offsetof(struct option_parser, member)

const struct option_command option_commands[] = {
	{ "record", OPTIONS_RECORD,
	  "[record] PID[,PID...] [options]\n"
	  "[record] --name REGEX | --cgroup NAME [--wait] [options]\n"
	  "[record] [options] -- COMMAND [ARGUMENT...]\n",
	  "Attaches to a running Python process, profiles it for a while, lets it go, and\n"
	  "says which line to change, what to do about it, and where its time went.\n" },
	{ "top", OPTIONS_TOP, "top PID [options]\ntop [options] -- COMMAND [ARGUMENT...]\n",
	  "Shows live, in the terminal, where the time goes and which lines repeat work,\n"
	  "until q; then prints the summary of the whole run.\n" },
	{ "serve", OPTIONS_SERVE,
	  "serve PID[,PID...] --listen WHERE [--follow] [options]\n"
	  "serve --name REGEX | --cgroup NAME | --all-python --listen WHERE\n",
	  "Answers over HTTP what processes do: profiles for go tool pprof, /metrics, the\n"
	  "report at /, for as long as they live; with --wait, whenever they do.\n" },
	{ "report", OPTIONS_REPORT,
	  "report RECORDING... [--diff BASE] [--by LABEL] [options]\n"
	  "report @FILE [options]\n",
	  "Shows a recording, which record -o FILE.pieprof has made, in any format; any\n"
	  "number of them together, also those that a file names, one a line (@-: standard\n"
	  "input). Traces of several nodes, of trace -o FILE.pietrace, are merged likewise.\n" },
	{ "dump", OPTIONS_DUMP, "dump PID [--json] [--no-native] [--locals]\n",
	  "Says what every thread does now, who holds the GIL, and what waits for what.\n" },
	{ "mcp", OPTIONS_MCP, "mcp\n",
	  "Speaks the Model Context Protocol on standard input and output: the commands list,\n"
	  "dump, record and report as tools, for language models and what they work in.\n" },
	{ "heap", OPTIONS_HEAP,
	  "heap PID [-d SECONDS] [--details] [-o FILE] [options]\nheap --name REGEX [options]\n"
	  "heap PID|NOW.json --diff BASE.json [options]\n",
	  "Says where a process's memory is, which objects take it, and who holds them,\n"
	  "without stopping anything; with -d also what grows, and what that means.\n" },
	{ "trace", OPTIONS_TRACE,
	  "trace PID[,PID...] [-d SECONDS] [-o FILE] [options]\ntrace --name REGEX [--all] "
	  "[options]\n"
	  "trace [options] -- mpirun -n 4 python3 PROGRAM\n",
	  "Records every MPI call of the ranks of a job, and says how well they work\n"
	  "together, who holds up whom, and which messages came late; of any Python\n"
	  "process, functions that are named, garbage collection, and waits for the GIL.\n"
	  "Breakpoints (uprobes) are in their libraries meanwhile.\n" },
	{ "list", OPTIONS_LIST, "list [--json]\n", "Lists the Python processes.\n" },
	{ "doctor", OPTIONS_DOCTOR, "doctor [PID] [--json]\n",
	  "Says what works here, or with one process, and how to get what does not.\n" },
};

const size_t option_command_count = sizeof(option_commands) / sizeof(option_commands[0]);

const struct option_row option_table[] = {
	{ .name = "pid",
	  .letter = 'p',
	  .parse = option_pid,
	  .help = { { RECORD | SERVE | TRACE, "N[,M...]", "the process, or several as one" },
		    { TOP | DUMP | HEAP | DOCTOR, "N", "the process" } } },
	{ .name = "name",
	  .parse = option_name,
	  .help = { { RECORD | SERVE, "REGEX",
		      "the Python process with such a command line; every one\n"
		      "of them with --all or --follow" },
		    { TRACE, "REGEX",
		      "the Python process with such a command line; every one\n"
		      "of them with --all" },
		    { HEAP, "REGEX", "the Python process with such a command line" } } },
	{ .name = "all",
	  .parse = option_flag,
	  .to = TO(options.all),
	  .help = { { RECORD | SERVE | TRACE, NULL, NULL } } },
	{ .name = "all-python",
	  .parse = option_flag,
	  .to = TO(options.all_python),
	  .help = { { SERVE, NULL,
		      "every Python process of the machine, by turns where\n"
		      "they are many" } } },
	{ .name = "node-overhead",
	  .parse = option_node_overhead,
	  .help = { { SERVE, "P%", "with it, most of all CPU time of the machine (1%)" } } },
	{ .name = "cgroup",
	  .parse = option_cgroup,
	  .help = { { RECORD | SERVE, "PATH|NAME",
		      "the Python processes of a control group, such as\n"
		      "nginx.service, or of a container, by its id" } } },
	{ .name = "wait",
	  .parse = option_flag,
	  .to = TO(options.wait),
	  .help = { { RECORD | SERVE, NULL,
		      "wait for a matching process, and attach again\n"
		      "after each restart" },
		    { HEAP, NULL, "wait for a matching process" } } },
	{ .name = "follow",
	  .parse = option_flag,
	  .to = TO(options.follow),
	  .help = { { RECORD | SERVE, NULL, "child processes, too, present and future" } } },
	{ .name = "listen",
	  .parse = option_text,
	  .to = TO(options.listen),
	  .help = { { SERVE, "WHERE", "127.0.0.1:6061, [::1]:6061 or unix:PATH" } } },
	{ .name = "allow-remote",
	  .parse = option_flag,
	  .to = TO(options.allow_remote),
	  .help = { { SERVE, NULL, "listen on another address" } } },
	{ .name = "token-file",
	  .parse = option_text,
	  .to = TO(options.token_file),
	  .help = { { SERVE, "FILE", "the token that clients must send" } } },
	{ .name = "push",
	  .parse = option_push,
	  .help = { { SERVE, "URL",
		      "send profiles there, such as http://127.0.0.1:4318,\n"
		      "while it samples" },
		    { RECORD, "URL",
		      "send the profile there too, such as\n"
		      "http://127.0.0.1:4318" } } },
	{ .name = "push-protocol",
	  .parse = option_push_protocol,
	  .help = { { SERVE | RECORD, "NAME",
		      "otlp: OpenTelemetry's by HTTP (default), grpc: by\n"
		      "gRPC, pyroscope" } } },
	{ .name = "push-ca",
	  .parse = option_text,
	  .to = TO(options.push_ca),
	  .help = { { SERVE | RECORD, "FILE",
		      "certificates of authorities to trust instead of the\n"
		      "system's (PEM)" } } },
	{ .name = "push-every",
	  .parse = option_push_every,
	  .help = { { SERVE, "SECONDS", "how often (15), such as 30 or 1m" } } },
	{ .name = "push-header",
	  .parse = option_push_header,
	  .help = { { SERVE | RECORD, "TEXT",
		      "a header, such as 'Authorization: Bearer X', or @FILE\n"
		      "with a line each; may be repeated" } } },
	{ .name = "push-service",
	  .parse = option_text,
	  .to = TO(options.push_service),
	  .help = { { SERVE | RECORD, "NAME",
		      "as service.name (the container's name, or the\n"
		      "program's)" } } },
	{ .name = "push-spool",
	  .parse = option_text,
	  .to = TO(options.push_spool),
	  .help = { { SERVE | RECORD, "DIR",
		      "where what is not taken waits, also for the next run\n"
		      "(a temporary folder)" } } },
	{ .name = "rotate",
	  .parse = option_rotate,
	  .help = { { SERVE, "SECONDS", "begin a new profile so often (3600), such as 30m" } } },
	{ .name = "duration",
	  .letter = 'd',
	  .parse = option_duration,
	  .help = { { RECORD, "SECONDS",
		      "how long (10), such as 0.5 or 10m; 0: until ^C.\n"
		      "Without it, a command is profiled to its end" },
		    { TRACE, "SECONDS",
		      "how long (10), such as 0.5 or 10m; 0: until ^C.\n"
		      "Without it, a command is traced to its end" },
		    { TOP, "SECONDS", "how long (until q), such as 0.5 or 10m" },
		    { HEAP, "SECONDS",
		      "look again and again for so long: what grows, and\n"
		      "which line makes it grow; 0: until ^C" } } },
	{ .name = "interval",
	  .parse = option_interval,
	  .help = { { HEAP, "SECONDS", "between two looks (as long as keeps them cheap)" } } },
	{ .name = "at",
	  .parse = option_at,
	  .help = { { HEAP, "P%|SIZE",
		      "wait until the control group uses so much of its limit,\n"
		      "or the process has so much resident, such as 2G" } } },
	{ .name = "no-watch",
	  .parse = option_flag,
	  .to = TO(options.no_watch),
	  .help = { { HEAP, NULL,
		      "stop no thread to see which line makes a container\n"
		      "grow" } } },
	{ .name = "rate",
	  .letter = 'r',
	  .parse = option_rate,
	  .help = { { RECORD | TOP | SERVE, "HZ",
		      "samples a second of CPU time and thread (99)" } } },
	{ .name = "output",
	  .letter = 'o',
	  .parse = option_output,
	  .help = { { RECORD | TOP | REPORT | HEAP, "FILE",
		      "write a report here too, - is stdout; may be repeated" },
		    { TRACE, "FILE",
		      "write the trace here: .html (a page for a browser),\n"
		      ".json (Chrome's, for Perfetto), .perfetto-trace, .prv\n"
		      "(Paraver's, with .pcf and .row beside it), .pietrace\n"
		      "(for report, which merges them); may be repeated" } } },
	{ .name = "probe",
	  .parse = option_probe,
	  .help = { { TRACE, "LIB:FUNCTION",
		      "calls of that function of a library, too, such as\n"
		      "libc.so.6:fsync; may be repeated" } } },
	{ .name = "functions",
	  .parse = option_functions,
	  .help = { { TRACE, "PATTERN",
		      "calls of Python functions (3.6 to 3.15), by name or\n"
		      "file: 'Solver.*', solve.py or '*'; may be repeated" } } },
	{ .name = "depth",
	  .parse = option_depth,
	  .help = { { TRACE, "N", "of these, so many in each other" } } },
	{ .name = "least",
	  .parse = option_least,
	  .help = { { TRACE, "SECONDS",
		      "of these, shorter ones are counted alone: 0.001, 50us" } } },
	{ .name = "events",
	  .parse = option_events,
	  .help = { { TRACE, "LIST",
		      "also gc (garbage collection), gil (waits for the GIL),\n"
		      "sched (threads off the processor, and why), faults (of\n"
		      "pages): gc,sched" } } },
	{ .name = "counters",
	  .parse = option_counters,
	  .help = { { TRACE, "LIST",
		      "of threads, over time: cpu, context-switches,\n"
		      "cpu-migrations, page-faults, major-faults; of a PMU\n"
		      "instructions, cycles, cache-misses: cpu,cycles" } } },
	{ .name = "format",
	  .parse = option_format,
	  .put_values = writer_names,
	  .help = { { RECORD | TOP | REPORT, "NAME", "of -o, where its extension does not say:" },
		    { HEAP, "NAME", "of -o: text or json; there are" } } },
	{ .name = "diff",
	  .parse = option_text,
	  .to = TO(options.base),
	  .help = { { REPORT, "BASE",
		      "what has changed since BASE, another recording, or\n"
		      "those of a list: @FILE" },
		    { HEAP, "BASE",
		      "what has grown since BASE, a look that -o BASE.json\n"
		      "wrote; NOW.json in place of PID: between two of these" } } },
	{ .name = "by",
	  .parse = option_by,
	  .put_values = fleet_label_names,
	  .help = { { REPORT, "LABEL", "a row for each of its values, most time first:" } } },
	{ .name = "editor",
	  .parse = option_editor,
	  .help = { { RECORD | TOP | REPORT, "NAME|URL",
		      "html: lines are links to an editor, such as vscode or\n"
		      "pycharm, or an address with {file} and {line}" } } },
	{ .name = "source-url",
	  .parse = option_source_url,
	  .help = { { RECORD | TOP | REPORT, "[ROOT=]URL",
		      "html: and to a repository, of what is below ROOT" } } },
	{ .name = "fail-if",
	  .parse = option_fail_if,
	  .help = { { REPORT, "CHANGE",
		      "exit with 8 when a line changed so, by more than\n"
		      "chance: own+10%, total+5%, could-save+20%" } } },
	{ .name = "source-root",
	  .parse = option_text,
	  .to = TO(options.source_root),
	  .help = { { RECORD | REPORT, "DIR",
		      "sarif, github and markdown name files below it (the\n"
		      "working directory)" } } },
	{ .name = "mode",
	  .parse = option_mode,
	  .help = { { RECORD | TOP | SERVE, "MODE",
		      "all (default), time, or redundancy: refuse to run\n"
		      "where memory cannot be watched" } } },
	{ .name = "engine",
	  .parse = option_engine,
	  .help = { { RECORD | TOP | SERVE, "NAME",
		      "who takes samples: ptrace, by short stops;\n"
		      "kernel, of time alone, without any; auto (default)\n"
		      "chooses" } } },
	{ .name = "idle",
	  .parse = option_flag,
	  .to = TO(options.waits),
	  .help = { { RECORD | TOP | SERVE, NULL,
		      "also what sleeping threads wait for: locks, the GIL,\n"
		      "input and output, time" } } },
	{ .name = "memory",
	  .parse = option_flag,
	  .to = TO(options.memory),
	  .help = { { RECORD | TOP, NULL,
		      "also which lines make resident memory grow, what was\n"
		      "resident over time, and which lines copy memory" } } },
	{ .name = "allocations",
	  .parse = option_flag,
	  .to = TO(options.allocations),
	  .help = { { RECORD, NULL,
		      "with --memory: also what each line allocates a second,\n"
		      "and what of it is temporary: by breakpoints in the\n"
		      "program's copy of its allocators, for moments" },
		    { HEAP, NULL,
		      "with -d: also which lines allocate what stays, where\n"
		      "no container tells (memory of C): by breakpoints in\n"
		      "the program's copy of malloc(), for moments" } } },
	{ .name = "loads",
	  .together = "stores",
	  .parse = option_flag,
	  .to = TO(loads_asked),
	  .help = { { RECORD | TOP | SERVE, NULL, "watch loads alone, or stores alone" } } },
	{ .name = "stores",
	  .parse = option_flag,
	  .to = TO(stores_asked),
	  .help = { { RECORD | TOP | SERVE, NULL, NULL } } },
	{ .name = "strict",
	  .parse = option_flag,
	  .to = TO(options.strict),
	  .help = { { RECORD, NULL, "exit with 7 when less could be measured than asked for" } } },
	{ .name = "max-overhead",
	  .parse = option_max_overhead,
	  .help = { { RECORD | TOP | SERVE, "P%",
		      "most of the target's time that may go into stops (2%;\n"
		      "1% with --mode time)" },
		    { HEAP, "P%", "most of the target's time that may go into stops (2%)" },
		    { TRACE, "P%",
		      "of the time that probes of --functions may take (2%):\n"
		      "beyond it, they are seen now and then; 100%: always" } } },
	{ .name = "stop-signal",
	  .parse = option_stop_signal,
	  .help = { { RECORD | TOP | SERVE | HEAP, "NAME",
		      "URG, WINCH or CHLD, which stops the threads to sample\n"
		      "them (one that the target does not use)" } } },
	{ .name = "include",
	  .parse = option_include,
	  .help = { { RECORD | TOP | SERVE, "PATTERN",
		      "count accesses of such functions and libraries alone" } } },
	{ .name = "exclude",
	  .parse = option_exclude,
	  .help = { { RECORD | TOP | SERVE, "PATTERN",
		      "count none of those, such as 'lib*blas*'" } } },
	{ .name = "native-lines",
	  .parse = option_flag,
	  .to = TO(options.native_lines),
	  .help = { { RECORD | TOP | SERVE, NULL,
		      "source lines of native frames, and inlined functions,\n"
		      "where there is debugging information" } } },
	{ .name = "heap",
	  .parse = option_flag,
	  .to = TO(options.heap),
	  .help = { { TOP, NULL,
		      "also which containers grow, and who holds them; each\n"
		      "look takes as much memory as the process has" } } },
	{ .name = "start-frames",
	  .parse = option_flag,
	  .to = TO(options.start_frames),
	  .help = { { RECORD | TOP | SERVE | DUMP, NULL,
		      "also the native frames by which the interpreter begins" } } },
	{ .name = "no-kernel-frames",
	  .parse = option_flag,
	  .to = TO(options.no_kernel_frames),
	  .help = { { RECORD | TOP | SERVE, NULL,
		      "nothing of where in the kernel time is spent" } } },
	{ .name = "no-source",
	  .parse = option_flag,
	  .to = TO(options.no_source),
	  .help = { { RECORD | TOP | SERVE, NULL, "no text of source lines in any report" } } },
	{ .name = "debuginfod",
	  .parse = option_flag,
	  .to = TO(options.debuginfod),
	  .help = { { RECORD | TOP | SERVE, NULL,
		      "ask the servers of DEBUGINFOD_URLS for debug files" } } },
	{ .name = "json",
	  .parse = option_flag,
	  .to = TO(options.json),
	  .help = { { DUMP | LIST | DOCTOR | TRACE, NULL, "for programs" } } },
	{ .name = "no-native",
	  .parse = option_flag,
	  .to = TO(options.no_native),
	  .help = { { DUMP, NULL, "Python frames alone" } } },
	{ .name = "locals",
	  .parse = option_flag,
	  .to = TO(options.locals),
	  .help = { { DUMP, NULL, "variables of Python frames, which may be secret" } } },
	{ .name = "no-holders",
	  .parse = option_flag,
	  .to = TO(options.no_holders),
	  .help = { { HEAP, NULL, "types alone, in less time and memory" } } },
	{ .name = "max-memory",
	  .parse = option_size,
	  .to = TO(options.max_memory),
	  .help = { { HEAP, "SIZE",
		      "what the look may take itself, such as 500M or 2G\n"
		      "(half of what is available)" },
		    { SERVE, "SIZE",
		      "what a look at the heap may take (512M, or half of\n"
		      "what is available)" } } },
	{ .name = "details",
	  .parse = option_flag,
	  .to = TO(options.details),
	  .help = { { RECORD | TOP | REPORT, NULL,
		      "all of the summary: pairs, waiting, data quality" },
		    { HEAP, NULL, "all of it: more rows, arrays, data quality" },
		    { TRACE, NULL, "all of it: every rank, call and wait" } } },
	{ .name = "lines",
	  .parse = option_rows,
	  .to = TO(options.lines_max),
	  .help = { { RECORD | TOP | REPORT, "N", "lines in the summary" },
		    { HEAP | TRACE, "N", "rows of each table" } } },
	{ .name = "pairs",
	  .parse = option_rows,
	  .to = TO(options.pairs_max),
	  .help = { { RECORD | TOP | REPORT, "N", "pairs in the summary; with --details" } } },
	{ .name = "color",
	  .alias = "colour",
	  .parse = option_colour,
	  .help = { { EVERY & ~SERVE & ~MCP, "WHEN", "auto (default), always or never" } } },
	{ .name = "quiet",
	  .letter = 'q',
	  .parse = option_flag,
	  .to = TO(options.quiet),
	  .help = { { RECORD | TOP | SERVE, NULL, "no summary on stdout, no progress" },
		    { TRACE, NULL, "nothing on stdout, no progress" },
		    { REPORT | HEAP, NULL, "no summary on stdout" } } },
	{ .name = "verbose",
	  .letter = 'v',
	  .parse = option_more,
	  .to = TO(options.verbosity),
	  .help = { { RECORD | TOP | SERVE, NULL, "say more on stderr" } } },
	{ .name = "help",
	  .letter = 'h',
	  .parse = option_help,
	  .help = { { EVERY, NULL, "this text" } } },
	{ .name = "version",
	  .letter = 'V',
	  .parse = option_version,
	  .help = { { ALONE, NULL, "the version" } } },
};

const size_t option_table_count = sizeof(option_table) / sizeof(option_table[0]);

_Static_assert(sizeof(option_table) / sizeof(option_table[0]) <= OPTION_TABLE_MAX,
	       "what is made from the table has no room for all rows");

/* Those that have it, as bits. */
static unsigned owner_bits(const char *name)
{
	unsigned bits = 0;

	for (size_t i = 0; i < option_table_count; i++) {
		const struct option_row *row = &option_table[i];

		if (strcmp(row->name, name) && (!row->alias || strcmp(row->alias, name)))
			continue;
		for (size_t k = 0; k < OPTION_HELPS_MAX; k++)
			bits |= row->help[k].commands;
	}
	return bits;
}

bool options_command_has(enum options_action command, const char *name)
{
	return owner_bits(name) & OPTION_OF(command);
}

/* "a, b and c", cut at size. */
static void put_names(unsigned bits, char *text, size_t size)
{
	size_t used = 0;

	text[0] = '\0';
	for (size_t i = 0; i < option_command_count && used < size; i++) {
		unsigned later = 0;

		if (!(bits & OPTION_OF(option_commands[i].action)))
			continue;
		for (size_t k = i + 1; k < option_command_count; k++)
			later |= bits & OPTION_OF(option_commands[k].action);
		used += (size_t)snprintf(text + used, size - used, "%s%s",
					 !used   ? ""
					 : later ? ", "
						 : " and ",
					 option_commands[i].name);
	}
}

void options_owners(const char *name, char *ret_text, size_t size)
{
	put_names(owner_bits(name), ret_text, size);
}

void options_command_names(char *ret_text, size_t size)
{
	put_names(~0u, ret_text, size);
}

/* A word is so far from a name: letters left out, put in, changed, or swapped. */
static size_t distance(const char *word, const char *name)
{
	size_t length = strlen(word), rows[3][NAME_MAX_LENGTH + 1], columns = strlen(name);
	size_t *last = rows[0], *row = rows[1], *next = rows[2];

	if (length > NAME_MAX_LENGTH || columns > NAME_MAX_LENGTH)
		return SIZE_MAX;
	for (size_t k = 0; k <= columns; k++)
		row[k] = last[k] = k;
	for (size_t i = 1; i <= length; i++) {
		size_t *spare = last;

		next[0] = i;
		for (size_t k = 1; k <= columns; k++) {
			size_t best = row[k - 1] + (word[i - 1] != name[k - 1]);

			if (row[k] + 1 < best)
				best = row[k] + 1;
			if (next[k - 1] + 1 < best)
				best = next[k - 1] + 1;
			if (i > 1 && k > 1 && word[i - 1] == name[k - 2] &&
			    word[i - 2] == name[k - 1] && last[k - 2] + 1 < best)
				best = last[k - 2] + 1;
			next[k] = best;
		}
		last = row;
		row = next;
		next = spare;
	}
	return row[columns];
}

struct nearest {
	const char *name;
	size_t distance;
};

/* Of a short word one letter may be wrong. */
static void come_near(struct nearest *nearest, const char *word, const char *name)
{
	size_t apart = distance(word, name);

	if (apart <= (strlen(word) < 5 ? 1 : 2) && (!nearest->name || apart < nearest->distance))
		*nearest = (struct nearest){ name, apart };
}

const char *options_nearest_command(const char *word)
{
	struct nearest nearest = { 0 };

	for (size_t i = 0; i < option_command_count; i++)
		come_near(&nearest, word, option_commands[i].name);
	return nearest.name;
}

const char *options_nearest_option(const char *word)
{
	struct nearest nearest = { 0 };
	char name[NAME_MAX_LENGTH + 1];

	word += strspn(word, "-");
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(word, "="), word);
	for (size_t i = 0; i < option_table_count; i++)
		come_near(&nearest, name, option_table[i].name);
	return nearest.name;
}

bool options_command_by_name(const char *name, enum options_action *ret_command)
{
	for (size_t i = 0; i < option_command_count; i++)
		if (!strcmp(option_commands[i].name, name)) {
			*ret_command = option_commands[i].action;
			return true;
		}
	return false;
}

const struct option_command *option_command_of(enum options_action action)
{
	for (size_t i = 0; i < option_command_count; i++)
		if (option_commands[i].action == action)
			return &option_commands[i];
	return &option_commands[0];
}

const char *options_command_name(enum options_action command)
{
	return option_command_of(command)->name;
}
