/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cli/options_help.h"

#include <string.h>

#define ON(action) (1u << (action))

#define RECORD ON(OPTIONS_RECORD)
#define TOP    ON(OPTIONS_TOP)
#define REPORT ON(OPTIONS_REPORT)
#define DUMP   ON(OPTIONS_DUMP)
#define LIST   ON(OPTIONS_LIST)
#define DOCTOR ON(OPTIONS_DOCTOR)
#define SERVE  ON(OPTIONS_SERVE)
#define EVERY  (RECORD | TOP | SERVE | REPORT | DUMP | LIST | DOCTOR)

static const struct command {
	const char *name;
	enum options_action action;
	const char *usage;
	const char *words;
} commands[] = {
	{ "record", OPTIONS_RECORD,
	  "[record] --pid N[,M...] [options]\n"
	  "[record] --name REGEX | --cgroup NAME [--wait] [options]\n"
	  "[record] [options] -- COMMAND [ARGUMENT...]\n",
	  "Attaches to a running Python process, profiles it for a while, lets it go, and\n"
	  "shows where its time went and which lines repeat memory accesses needlessly.\n" },
	{ "top", OPTIONS_TOP, "top --pid N [options]\n",
	  "Shows live, in the terminal, where the time goes and which lines repeat work,\n"
	  "until q; then prints the summary of the whole run.\n" },
	{ "serve", OPTIONS_SERVE,
	  "serve --pid N[,M...] --listen WHERE [--follow] [options]\n"
	  "serve --name REGEX | --cgroup NAME --listen WHERE [options]\n",
	  "Answers over HTTP what processes do: profiles for go tool pprof, /metrics, the\n"
	  "report at /, for as long as they live; with --wait, whenever they do.\n" },
	{ "report", OPTIONS_REPORT, "report RECORDING [-o FILE] [--diff BASE] [options]\n",
	  "Shows a recording, which record -o FILE.pieprof has made, in any format.\n" },
	{ "dump", OPTIONS_DUMP, "dump --pid N [--json] [--no-native]\n",
	  "Says what every thread does now, who holds the GIL, and what waits for what.\n" },
	{ "list", OPTIONS_LIST, "list [--json]\n", "Lists the Python processes.\n" },
	{ "doctor", OPTIONS_DOCTOR, "doctor [--pid N] [--json]\n",
	  "Says what works here, or with one process, and how to get what does not.\n" },
};

#define COMMAND_COUNT (sizeof(commands) / sizeof(commands[0]))

/* In the order in which they are shown. */
static const struct row {
	unsigned commands; /* ON(...) of those that have them */
	const char *names; /* of the options, with spaces between them */
	const char *text;
} rows[] = {
	{ RECORD | SERVE, "pid", "  -p, --pid N[,M...]      the process, or several as one\n" },
	{ TOP | DUMP | DOCTOR, "pid", "  -p, --pid N             the process\n" },
	{ RECORD | SERVE, "name all",
	  "      --name REGEX        the Python process with such a command line; every one\n"
	  "                          of them with --all or --follow\n" },
	{ RECORD | SERVE, "cgroup",
	  "      --cgroup PATH|NAME  the Python processes of a control group, such as\n"
	  "                          nginx.service, or of a container, by its id\n" },
	{ RECORD | SERVE, "wait",
	  "      --wait              for a process of that name or cgroup, and again\n"
	  "                          whenever it restarts\n" },
	{ RECORD | SERVE, "follow",
	  "      --follow            child processes, too, present and future\n" },
	{ SERVE, "listen", "      --listen WHERE      127.0.0.1:6061, [::1]:6061 or unix:PATH\n" },
	{ SERVE, "allow-remote", "      --allow-remote      listen on another address\n" },
	{ SERVE, "token-file", "      --token-file FILE   the token that clients must send\n" },
	{ SERVE, "rotate", "      --rotate SECONDS    begin a new profile so often (3600)\n" },
	{ RECORD, "duration",
	  "  -d, --duration SECONDS  how long (10), such as 0.5; 0: until ^C.\n"
	  "                          Without it, a command is profiled to its end\n" },
	{ TOP, "duration", "  -d, --duration SECONDS  how long (until q), such as 0.5\n" },
	{ RECORD | TOP | SERVE, "rate",
	  "  -r, --rate HZ           samples a second of CPU time and thread (99)\n" },
	{ RECORD | TOP | REPORT, "output",
	  "  -o, --output FILE       write a report here too, - is stdout; may be repeated\n" },
	{ RECORD | TOP | REPORT, "format",
	  "      --format NAME       of -o, where its extension does not say:\n"
	  "            " },
	{ REPORT, "diff",
	  "      --diff BASE         what has changed since BASE, another recording\n" },
	{ RECORD | TOP | SERVE, "mode",
	  "      --mode MODE         all (default), time, or redundancy: refuse to run\n"
	  "                          where memory cannot be watched\n" },
	{ RECORD | TOP | SERVE, "idle",
	  "      --idle              also what sleeping threads wait for: locks, the GIL,\n"
	  "                          input and output, time\n" },
	{ RECORD | TOP | SERVE, "loads stores",
	  "      --loads, --stores   watch loads alone, or stores alone\n" },
	{ RECORD, "strict",
	  "      --strict            exit with 7 when less could be measured than asked for\n" },
	{ RECORD | TOP | SERVE, "max-overhead",
	  "      --max-overhead P%   most of the target's time that may go into stops (2%;\n"
	  "                          1% with --mode time)\n" },
	{ RECORD | TOP | SERVE, "stop-signal",
	  "      --stop-signal NAME  URG, WINCH or CHLD, which stops the threads to sample\n"
	  "                          them (one that the target does not use)\n" },
	{ RECORD | TOP | SERVE, "include",
	  "      --include PATTERN   count accesses of such functions and libraries alone\n" },
	{ RECORD | TOP | SERVE, "exclude",
	  "      --exclude PATTERN   count none of those, such as 'lib*blas*'\n" },
	{ RECORD | TOP | SERVE, "native-lines",
	  "      --native-lines      source lines of native frames, and inlined functions,\n"
	  "                          where there is debugging information\n" },
	{ RECORD | TOP | SERVE, "no-source",
	  "      --no-source         no text of source lines in any report\n" },
	{ RECORD | TOP | SERVE, "debuginfod",
	  "      --debuginfod        ask the servers of DEBUGINFOD_URLS for debug files\n" },
	{ DUMP | LIST | DOCTOR, "json", "      --json              for programs\n" },
	{ DUMP, "no-native", "      --no-native         Python frames alone\n" },
	{ RECORD | TOP | REPORT, "lines", "      --lines N           lines in the summary\n" },
	{ RECORD | TOP | REPORT, "pairs", "      --pairs N           pairs in the summary\n" },
	{ EVERY & ~SERVE, "color colour",
	  "      --color WHEN        auto (default), always or never\n" },
	{ RECORD | TOP | SERVE, "quiet",
	  "  -q, --quiet             no summary on stdout, no progress\n" },
	{ REPORT, "quiet", "  -q, --quiet             no summary on stdout\n" },
	{ RECORD | TOP | SERVE, "verbose", "  -v, --verbose           say more on stderr\n" },
	{ EVERY, "help", "  -h, --help              this text\n" },
};

#define ROW_COUNT (sizeof(rows) / sizeof(rows[0]))

static bool row_has(const struct row *row, const char *name)
{
	size_t length = strlen(name);

	for (const char *at = row->names; *at; at += strspn(at, " ")) {
		size_t word = strcspn(at, " ");

		if (word == length && !strncmp(at, name, length))
			return true;
		at += word;
	}
	return false;
}

/* Of all commands that have it, as bits. */
static unsigned owners(const char *name)
{
	unsigned bits = 0;

	for (size_t i = 0; i < ROW_COUNT; i++)
		if (row_has(&rows[i], name))
			bits |= rows[i].commands;
	return bits ? bits : RECORD | TOP;
}

bool options_command_has(enum options_action command, const char *name)
{
	return owners(name) & ON(command);
}

/* "a, b and c", cut at size. */
static void put_names(unsigned bits, char *text, size_t size)
{
	size_t used = 0;

	text[0] = '\0';
	for (size_t i = 0; i < COMMAND_COUNT && used < size; i++) {
		unsigned later = 0;

		if (!(bits & ON(commands[i].action)))
			continue;
		for (size_t k = i + 1; k < COMMAND_COUNT; k++)
			later |= bits & ON(commands[k].action);
		used += (size_t)snprintf(text + used, size - used, "%s%s",
					 !used   ? ""
					 : later ? ", "
						 : " and ",
					 commands[i].name);
	}
}

void options_owners(const char *name, char *ret_text, size_t size)
{
	put_names(owners(name), ret_text, size);
}

void options_command_names(char *ret_text, size_t size)
{
	put_names(~0u, ret_text, size);
}

bool options_command_by_name(const char *name, enum options_action *ret_command)
{
	for (size_t i = 0; i < COMMAND_COUNT; i++)
		if (!strcmp(commands[i].name, name)) {
			*ret_command = commands[i].action;
			return true;
		}
	return false;
}

static const struct command *command_of(enum options_action action)
{
	for (size_t i = 0; i < COMMAND_COUNT; i++)
		if (commands[i].action == action)
			return &commands[i];
	return &commands[0];
}

const char *options_command_name(enum options_action command)
{
	return command_of(command)->name;
}

/* Each line with the program's name before it, which the first of all has its own word for. */
static void put_usage(const struct command *command, bool first, FILE *file)
{
	for (const char *line = command->usage; *line; first = false) {
		size_t length = strcspn(line, "\n");

		fprintf(file, "%s pieprofd %.*s\n", first ? "usage:" : "      ", (int)length, line);
		line += length + 1;
	}
}

static void put_rows(enum options_action command, FILE *file)
{
	for (size_t i = 0; i < ROW_COUNT; i++) {
		if (!(rows[i].commands & ON(command)))
			continue;
		fputs(rows[i].text, file);
		if (row_has(&rows[i], "format")) {
			writer_names(file);
			fputc('\n', file);
		}
	}
}

void options_print_command_help(enum options_action command, FILE *file)
{
	const struct command *chosen = command_of(command);

	put_usage(chosen, true, file);
	fprintf(file, "\n%s\n", chosen->words);
	put_rows(command, file);
	if (command == OPTIONS_RECORD)
		fputs("\npieprofd(8) and pieprofd-record(8) say more.\n", file);
	else
		fprintf(file, "\npieprofd-%s(8) says more.\n", chosen->name);
}

void options_print_help(FILE *file)
{
	for (size_t i = 0; i < COMMAND_COUNT; i++)
		put_usage(&commands[i], i == 0, file);
	fprintf(file, "\n%s\n", commands[0].words);
	fputs("top shows the same live, in the terminal, until q. dump shows what every\n"
	      "thread does now, and who holds the GIL. list shows the Python processes. doctor\n"
	      "says what works here, and how to get what does not. report shows a recording,\n"
	      "which record -o FILE.pieprof has made, in any format, or with --diff what has\n"
	      "changed since another one. serve answers over HTTP. pieprofd COMMAND --help\n"
	      "shows the options of each; those of record, the default:\n"
	      "\n",
	      file);
	put_rows(OPTIONS_RECORD, file);
	fputs("      --version           the version\n"
	      "\n"
	      "Exit codes: 0 done, 1 internal error, 2 wrong usage, 3 no such process or not\n"
	      "Python, 4 not permitted, 5 Python version not supported, 6 no samples,\n"
	      "7 degraded (--strict), 130 given up; with a command, the command's own.\n"
	      "pieprofd(8) says more.\n",
	      file);
}
