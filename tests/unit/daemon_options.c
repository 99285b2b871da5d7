/* SPDX-License-Identifier: Apache-2.0 */
/* The command line: what is meant, and what is refused with which words. */
#include "daemon/cli/option_table.h"
#include "daemon/cli/options_help.h"
#include "daemon/cli/options_parse.h"
#include "daemon/report/html/html.h"
#include "daemon/report/recording/recording.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define WORDS_MAX 40

/*
 * Parses "pieprofd" and the words of line, which spaces part ("''" is an empty
 * one). Fills *ret_words with what was said about it. Output paths and the
 * command point into storage that the next call reuses.
 */
static int parse(const char *line, struct options *ret_options, char **ret_words)
{
	static char storage[512];
	static char name[] = "pieprofd";
	static char *argv[WORDS_MAX];
	int argc = 1, result;
	char *saved = NULL;
	size_t size;
	FILE *errors = open_memstream(ret_words, &size);

	assert_non_null(errors);
	assert_true(strlen(line) < sizeof(storage));
	strcpy(storage, line);
	memset(argv, 0, sizeof(argv));
	argv[0] = name;
	for (char *word = strtok_r(storage, " ", &saved); word;
	     word = strtok_r(NULL, " ", &saved)) {
		assert_true(argc < WORDS_MAX - 1);
		argv[argc++] = strcmp(word, "''") ? word : storage + strlen(line);
	}
	result = options_parse(argc, argv, ret_options, errors);
	fclose(errors);
	return result;
}

static struct options accepted(const char *line)
{
	struct options options;
	char *words = NULL;
	int result = parse(line, &options, &words);

	if (result != 0)
		print_error("%s: %s", line, words);
	assert_int_equal(result, 0);
	assert_string_equal(words, "");
	free(words);
	return options;
}

/* Refused with one line that has this in it; the options stay as they were. */
static void refused(const char *line, const char *expected)
{
	struct options options, before;
	char *words = NULL;
	int result;

	memset(&options, 0x5a, sizeof(options));
	before = options;
	result = parse(line, &options, &words);
	if (result != -1 || !strstr(words, expected))
		print_error("'%s' gave %d and: %s", line, result, words);
	assert_int_equal(result, -1);
	assert_non_null(strstr(words, expected));
	assert_int_equal(strncmp(words, "pieprofd: ", 10), 0);
	assert_ptr_equal(strchr(words, '\n'), words + strlen(words) - 1);
	assert_memory_equal(&options, &before, sizeof(options));
	free(words);
}

static void test_defaults(void **state)
{
	struct options options = accepted("--pid 1234");

	(void)state;
	assert_int_equal(options.action, OPTIONS_RECORD);
	assert_int_equal(options.pid, 1234);
	assert_int_equal(options.duration_ns, 10000000000);
	assert_true(options.rate_hz == 99);
	assert_true(options.loads && options.stores);
	assert_false(options.redundancy_required);
	assert_true(options.max_overhead == 0.02);
	assert_int_equal(options.stop_signal, 0);
	assert_false(options.quiet);
	assert_int_equal(options.verbosity, 0);
	assert_int_equal(options.colour, OPTIONS_COLOUR_AUTO);
	assert_int_equal(options.output_count, 0);
	assert_int_equal(options.lines_max, 0);
	assert_int_equal(options.pairs_max, 0);
}

static void test_record_is_the_command(void **state)
{
	(void)state;
	assert_int_equal(accepted("record --pid 7").pid, 7);
	assert_int_equal(accepted("--pid 7 record").pid, 7);
	assert_int_equal(accepted("record -p7").pid, 7);
	assert_int_equal(accepted("record --pid 7").action, OPTIONS_RECORD);
	refused("profile --pid 7", "'profile'");
	refused("record record --pid 7", "'record'");
	assert_int_equal(accepted("1234").pid, 1234);
	assert_int_equal(accepted("1234").action, OPTIONS_RECORD);
	assert_int_equal(accepted("-d 3 12,34").pid_count, 2);
	assert_int_equal(accepted("record 12 34").pid_count, 2);
	refused("0", "--pid '0'");
	refused("1234 x", "unexpected argument 'x'");
	refused("", "pieprofd PID");
	refused("record", "pieprofd PID");
}

static void test_meant(void **state)
{
	(void)state;
	refused("recrod 7", "did you mean record?");
	refused("dmup 7", "did you mean dump?");
	refused("repot x.pieprof", "did you mean report?");
	refused("tpo 7", "did you mean top?");
	refused("7 --duratoin 3", "did you mean --duration?");
	refused("7 --ouput=x.json", "did you mean --output?");
	refused("x.pieprof", "pieprofd report x.pieprof");
	refused("program.py", "pieprofd -- python3 PROGRAM");
	refused("7 --zzzzzzz", "there is no option --zzzzzzz");
}

static void test_top(void **state)
{
	(void)state;
	assert_int_equal(accepted("top --pid 7").action, OPTIONS_TOP);
	/* Until somebody leaves it, unless a time is given. */
	assert_int_equal(accepted("top --pid 7").duration_ns, 0);
	assert_int_equal(accepted("top --pid 7 -d 10").duration_ns, 10000000000);
	assert_true(accepted("top --pid 7").loads);
	assert_false(accepted("--pid 7 --mode time top").loads);
	assert_int_equal(accepted("top 7").pid, 7);
	assert_string_equal(accepted("top -- ls").command[0], "ls");
	refused("top", "pieprofd PID");
	refused("top 7 8", "top is of one");
	refused("top --pid 7 --json", "dump");
}

static void test_dump(void **state)
{
	(void)state;
	assert_int_equal(accepted("dump --pid 7").action, OPTIONS_DUMP);
	assert_false(accepted("dump --pid 7").json);
	assert_true(accepted("dump --json --pid 7").json);
	assert_true(accepted("--pid 7 --no-native dump").no_native);
	assert_false(accepted("dump --pid 7").locals);
	assert_true(accepted("dump --pid 7 --locals").locals);
	assert_int_equal(accepted("dump 7").pid, 7);
	refused("dump 7 8", "dump is of one");
	refused("dump", "pieprofd PID");
	refused("--pid 7 --json", "dump");
	refused("--pid 7 --no-native", "dump");
	refused("serve --pid 7 --locals", "dump");
}

static void test_report(void **state)
{
	struct options options = accepted("report x.pieprof --diff y.pieprof -o z.json -q");

	(void)state;
	assert_int_equal(options.action, OPTIONS_REPORT);
	assert_int_equal(options.output_count, 1);
	assert_ptr_equal(options.outputs[0].writer, &writer_json);
	assert_string_equal(accepted("report x.pieprof").recordings[0], "x.pieprof");
	assert_int_equal(accepted("report x.pieprof").recording_count, 1);
	assert_int_equal(accepted("report x y z").recording_count, 3);
	assert_string_equal(accepted("report x y z").recordings[2], "z");
	assert_null(accepted("report x.pieprof").base);
	assert_string_equal(accepted("--diff y report x").base, "y");
	assert_int_equal(accepted("report x").output_count, 0);
	assert_ptr_equal(accepted("report x --format html").outputs[0].writer, &writer_html);
	assert_ptr_equal(accepted("report x -o y.pieprof").outputs[0].writer, &writer_recording);
	assert_int_equal(
		accepted("report x --diff y --fail-if own+10% --fail-if total-5%").threshold_count,
		2);
	assert_string_equal(accepted("report x --source-root /app").source_root, "/app");
	refused("report x --fail-if own+10%", "goes with --diff");
	refused("report x --diff y --fail-if faster", "is not a figure");
	refused("report", "needs a recording");
	refused("report ''", "needs a recording");
	refused("report x -o y.z", "--format");
	refused("report x --pid 7", "--pid is an option of record");
	refused("report x --include f", "--include");
	refused("-d 3 report x", "--duration");
	refused("report x --no-source", "--no-source");
	refused("report x --diff y --format pprof -o z", "pprof");
	assert_ptr_equal(accepted("report x --diff y -o z.html").outputs[0].writer, &writer_html);
	assert_ptr_equal(accepted("report x --diff y -o z.sarif").outputs[0].writer, &writer_sarif);
	assert_int_equal(accepted("report x --diff y --format github").output_count, 1);
	assert_int_equal(accepted("report x --diff y --format markdown").output_count, 1);
	refused("--pid 7 --diff y", "--diff");
	refused("dump --pid 7 --diff y", "--diff");
}

static void test_links(void **state)
{
	struct options options;

	(void)state;
	assert_null(accepted("report x").editor_url);
	assert_string_equal(accepted("report x --editor vscode").editor_url,
			    "vscode://file{file}:{line}");
	assert_string_equal(accepted("--pid 7 --editor my:{file}#{line}").editor_url,
			    "my:{file}#{line}");
	refused("report x --editor ed", "pycharm");
	refused("report x --editor my:file", "{file}");
	refused("report x --editor JavaScript:alert({file})", "JavaScript");
	refused("report x --editor data:text/html,{file}", "data");
	refused("report x --editor {file}", "{file}");
	refused("report x --editor :{file}", "{file}");
	options = accepted("report x --source-url /srv/app=https://x/y/{path}#L{line}");
	assert_string_equal(options.source_url, "https://x/y/{path}#L{line}");
	assert_string_equal(options.link_root, "/srv/app");
	options = accepted("report x --source-url https://x/?a=b&p={path}");
	assert_string_equal(options.source_url, "https://x/?a=b&p={path}");
	assert_string_equal(options.link_root, "");
	refused("report x --source-url https://x/", "{path}");
	refused("report x --source-url /srv=javascript:{path}", "{path}");
	refused("dump --pid 7 --editor vscode", "--editor");
}

static void test_list_and_doctor(void **state)
{
	(void)state;
	assert_int_equal(accepted("list").action, OPTIONS_LIST);
	assert_true(accepted("list --json").json);
	refused("list --pid 7", "no --pid");
	refused("list list", "'list'");
	assert_int_equal(accepted("doctor").action, OPTIONS_DOCTOR);
	assert_int_equal(accepted("doctor").pid, 0);
	assert_int_equal(accepted("doctor --pid 7").pid, 7);
	assert_true(accepted("doctor --json").json);
	refused("doctor --no-native", "dump");
}

static void test_patterns(void **state)
{
	(void)state;
	assert_int_equal(accepted("--pid 7 --include a --include b").patterns.include_count, 2);
	assert_string_equal(accepted("--pid 7 --exclude lib*").patterns.exclude[0], "lib*");
	refused("--pid 7 --include ''", "--include");
}

static void test_pid(void **state)
{
	(void)state;
	assert_int_equal(accepted("--pid=2147483647").pid, 2147483647);
	assert_int_equal(accepted("--pid 5 --pid 5").pid, 5);
	assert_int_equal(accepted("--pid 5 --pid 5").pid_count, 1);
	assert_int_equal(accepted("--pid 5 --pid 6").pid_count, 2);
	assert_int_equal(accepted("--pid 5,6,7").pids[2], 7);
	assert_int_equal(accepted("--pid 5,6,7").pid, 5);
	refused("dump --pid 5,6", "dump is of one");
	refused("dump --pid 5 --follow", "--follow is an option of record");
	refused("--pid", "needs a value");
	for (size_t i = 0; i < 8; i++) {
		static const char *const wrong[] = {
			"x", "0", "-1", "2147483648", "1x", "''", "0x10", "99999999999999999999999"
		};
		char line[64];

		snprintf(line, sizeof(line), "--pid %s", wrong[i]);
		refused(line, "--pid '");
	}
}

static void test_no_source(void **state)
{
	(void)state;
	assert_false(accepted("-p 1").no_source);
	assert_true(accepted("-p 1 --no-source").no_source);
	refused("-p 1 --no-source=1", "--no-source");
}

static void test_duration(void **state)
{
	(void)state;
	assert_int_equal(accepted("-p 1 -d 0").duration_ns, 0);
	assert_int_equal(accepted("-p 1 -d 0.5").duration_ns, 500000000);
	assert_int_equal(accepted("-p 1 --duration .25").duration_ns, 250000000);
	assert_int_equal(accepted("-p 1 -d 2592000").duration_ns, 2592000000000000);
	/* Not "until ^C". */
	assert_int_equal(accepted("-p 1 -d 0.00000000001").duration_ns, 1);
	assert_true(accepted("heap 1 -d 3").duration_given);
	assert_int_equal(accepted("heap 1 -d 3 --interval 0.5").interval_ns, 500000000);
	assert_true(accepted("heap 1 -d 3 --no-watch --max-overhead 1%").no_watch);
	assert_true(accepted("heap 1 -d 3 --allocations").allocations);
	assert_true(accepted("heap 1 --at 80%").at.share == 0.8);
	assert_int_equal(accepted("heap 1 --at 2G").at.bytes, 2ull << 30);
	assert_true(accepted("heap --name x --wait --at 99.5%").wait);
	assert_string_equal(accepted("heap 1 --diff a.json").base, "a.json");
	assert_string_equal(accepted("heap --diff a.json b.json").recordings[0], "b.json");
	assert_int_equal(accepted("heap b.json --diff a.json -o -").recording_count, 1);
	assert_true(accepted("heap --name x --wait --diff a.json").wait);
	refused("heap b.json", "--diff BASE.json");
	refused("heap b.json c.json --diff a.json", "'c.json'");
	refused("heap 1 b.json --diff a.json", "not with both");
	refused("heap --diff a.json", "by its id or --name");
	refused("heap 1 --diff a.json -d 3", "does not go with -d");
	refused("heap b.json --diff a.json --at 2G", "b.json stays what it was made");
	refused("heap 1 --diff a.json -o x.pb.gz", "no difference as pprof");
	refused("heap 1 --allocations", "goes with -d");
	refused("heap 1 --at 0%", "--at '0%'");
	refused("heap 1 --at 101%", "80%");
	refused("heap 1 --at %", "--at '%'");
	refused("heap 1 --at 2X", "2G");
	refused("heap 1 --wait", "--wait goes with --name");
	refused("-p 1 --at 80%", "--at is an option of heap");
	refused("heap 1 --interval 2", "--interval goes with -d");
	refused("heap 1 -d 3 --interval 0.001", "--interval '0.001'");
	refused("-p 1 --interval 2", "--interval is an option of heap");
	refused("-p 1 -d -3", "--duration '-3'");
	refused("-p 1 -d 2592001", "--duration");
	refused("-p 1 -d 1e3", "--duration");
	refused("-p 1 -d nan", "--duration");
	refused("-p 1 -d inf", "--duration");
	refused("-p 1 -d 0x10", "--duration");
	refused("-p 1 -d 1.2.3", "--duration");
	refused("-p 1 -d .", "--duration");
	refused("-p 1 -d ''", "--duration");
	assert_int_equal(accepted("-p 1 -d 10s").duration_ns, 10000000000);
	assert_int_equal(accepted("-p 1 -d 10m").duration_ns, 600000000000);
	assert_int_equal(accepted("-p 1 -d 1.5h").duration_ns, 5400000000000);
	assert_int_equal(accepted("-p 1 -d 30d").duration_ns, 2592000000000000);
	refused("-p 1 -d 31d", "--duration");
	refused("-p 1 -d m", "--duration");
	refused("-p 1 -d 1mm", "--duration");
	refused("-p 1 -d 10M", "--duration");
}

static void test_trace(void **state)
{
	struct options options = accepted("trace 1,2 -p 3 -o x.prv -o x.perfetto-trace --json");

	(void)state;
	assert_int_equal(options.action, OPTIONS_TRACE);
	assert_int_equal(options.pid_count, 3);
	assert_int_equal(options.output_count, 2);
	assert_true(options.json);
	assert_int_equal(options.duration_ns, 10ull * 1000000000);
	assert_true(accepted("trace --name solve --all").all);
	/* A command is traced to its end, or for so long. */
	assert_int_equal(accepted("trace -- mpirun solve").duration_ns, 0);
	assert_int_equal(accepted("trace -d 2 -- mpirun solve").duration_ns, 2ull * 1000000000);
	refused("trace", "no process given");
	refused("trace 1 -- mpirun", "only one of");
	refused("trace 1 --all", "--all goes with --name");
	refused("trace 1 -o x.txt", ".html, .json, .perfetto-trace, .prv and .pietrace");
	refused("report a.pietrace b.pieprof", "b.pieprof is no trace");
	refused("report a.pietrace --diff b.pietrace", "traces take no --diff");
	refused("report a.pietrace -o b.pietrace", "--output b.pietrace");
	refused("trace 1 -o -", ".prv");
	refused("trace 1 --rate 5", "not of trace");
}

static void test_rate_and_overhead(void **state)
{
	(void)state;
	assert_true(accepted("-p 1 -r 997").rate_hz == 997);
	assert_true(accepted("-p 1 --rate 0.5").rate_hz == 0.5);
	refused("-p 1 -r 0", "--rate '0'");
	refused("-p 1 -r 10001", "--rate");
	refused("-p 1 -r fast", "--rate 'fast'");
	assert_true(accepted("-p 1 --mode time").max_overhead == 0.01);
	assert_true(accepted("-p 1 --mode time --max-overhead 5").max_overhead == 0.05);
	assert_true(accepted("-p 1 --max-overhead 5").max_overhead == 0.05);
	assert_true(accepted("-p 1 --max-overhead 5%").max_overhead == 0.05);
	assert_true(accepted("-p 1 --max-overhead 0.5%").max_overhead == 0.005);
	refused("-p 1 --max-overhead 0", "--max-overhead '0'");
	refused("-p 1 --max-overhead 101", "--max-overhead");
	refused("-p 1 --max-overhead %", "--max-overhead");
	refused("-p 1 --max-overhead 5%%", "--max-overhead");
	refused("-p 1 --max-overhead 1111111111111111111111111111111111111", "--max-overhead");
}

static void test_modes(void **state)
{
	struct options options = accepted("-p 1 --mode time");

	(void)state;
	assert_false(options.loads || options.stores || options.redundancy_required);
	options = accepted("-p 1 --mode redundancy");
	assert_true(options.loads && options.stores && options.redundancy_required);
	options = accepted("-p 1 --mode redundancy --stores");
	assert_true(!options.loads && options.stores && options.redundancy_required);
	options = accepted("-p 1 --loads");
	assert_true(options.loads && !options.stores && !options.redundancy_required);
	options = accepted("-p 1 --loads --stores --mode all");
	assert_true(options.loads && options.stores);
	refused("-p 1 --mode fast", "--mode 'fast'");
	refused("-p 1 --mode time --loads", "--mode time");
	refused("-p 1 --loads=yes", "takes no value");
}

static void test_outputs(void **state)
{
	struct options options = accepted("-p 1 -o a.json --output b.txt -o -");

	(void)state;
	assert_int_equal(options.output_count, 3);
	assert_string_equal(options.outputs[0].path, "a.json");
	assert_ptr_equal(options.outputs[0].writer, &writer_json);
	assert_string_equal(options.outputs[1].path, "b.txt");
	assert_ptr_equal(options.outputs[1].writer, &writer_text);
	assert_string_equal(options.outputs[2].path, "-");
	assert_ptr_equal(options.outputs[2].writer, &writer_text);

	/* --format is said once, before or after. */
	options = accepted("-p 1 -o report --format json -o other.txt");
	assert_ptr_equal(options.outputs[0].writer, &writer_json);
	assert_ptr_equal(options.outputs[1].writer, &writer_json);
	options = accepted("-p 1 --format json");
	assert_int_equal(options.output_count, 1);
	assert_string_equal(options.outputs[0].path, "-");
	assert_ptr_equal(options.outputs[0].writer, &writer_json);

	refused("-p 1 -o x.unknown", "x.unknown");
	refused("-p 1 -o .json", "--format");
	refused("-p 1 --format yaml", "text, json");
	refused("-p 1 -o a.json -o a.json", "twice");
	refused("-p 1 -o ''", "file name");
	refused("-p 1 -o 1.txt -o 2.txt -o 3.txt -o 4.txt -o 5.txt -o 6.txt -o 7.txt -o 8.txt "
		"-o 9.txt -o a.txt -o b.txt -o c.txt -o d.txt -o e.txt -o f.txt -o g.txt -o h.txt",
		"at most 16");
}

static void test_stop_signal(void **state)
{
	(void)state;
	assert_int_equal(accepted("-p 1 --stop-signal URG").stop_signal, SIGURG);
	assert_int_equal(accepted("-p 1 --stop-signal SIGWINCH").stop_signal, SIGWINCH);
	assert_int_equal(accepted("-p 1 --stop-signal sigchld").stop_signal, SIGCHLD);
	/* Whatever would end or stop the target when we die is refused. */
	refused("-p 1 --stop-signal USR1", "USR1");
	refused("-p 1 --stop-signal TRAP", "TRAP");
	refused("-p 1 --stop-signal SIG", "'SIG'");
	refused("-p 1 --stop-signal 23", "'23'");
}

static void test_the_rest(void **state)
{
	struct options options = accepted("-p 1 -qvv -v --color always --lines 20 --pairs 5");

	(void)state;
	assert_true(options.quiet);
	assert_int_equal(options.verbosity, 3);
	assert_int_equal(options.colour, OPTIONS_COLOUR_ALWAYS);
	assert_int_equal(options.lines_max, 20);
	assert_int_equal(options.pairs_max, 5);
	/* Pairs are in the long summary alone. */
	assert_true(options.details);
	assert_true(accepted("-p 1 --details").details);
	assert_false(accepted("-p 1 --lines 3").details);
	assert_true(accepted("report x --pairs 3").details);
	assert_int_equal(accepted("-p 1 --colour never").colour, OPTIONS_COLOUR_NEVER);
	refused("-p 1 --color blue", "'blue'");
	refused("-p 1 --lines 0", "--lines '0'");
	refused("-p 1 --pairs -1", "--pairs '-1'");
	refused("-p 1 --lines 1000000", "--lines");
}

static void test_command_and_name(void **state)
{
	struct options options = accepted("-q -- ls -l -- --pid 3");

	(void)state;
	assert_true(options.quiet);
	assert_string_equal(options.command[0], "ls");
	assert_string_equal(options.command[1], "-l");
	assert_string_equal(options.command[4], "3");
	assert_null(options.command[5]);
	assert_int_equal(options.pid, 0);
	/* To its end, unless something else is asked for. */
	assert_int_equal(options.duration_ns, 0);
	assert_int_equal(accepted("-d 3 -- ls").duration_ns, 3 * 1000000000ull);
	assert_true(accepted("record --follow -- ls").follow);
	assert_string_equal(accepted("--name worker").name, "worker");
	assert_true(accepted("--name worker --all").all);
	refused("--", "command");
	refused("-q --", "command");
	assert_string_equal(accepted("--cgroup nginx.service").cgroup, "nginx.service");
	assert_true(accepted("--cgroup /a/b --name c --wait").wait);
	assert_true(accepted("--pid 3 --strict").strict);
	refused("--name worker -- ls", "one of --pid");
	refused("--cgroup a -p 3", "one of --pid");
	refused("--cgroup ''", "--cgroup");
	refused("--pid 3 --wait", "--wait goes with --name");
	refused("--wait -- ls", "--wait goes with --name");
	refused("dump --cgroup a", "--cgroup is an option of record and serve, not of dump");
	refused("--name worker -p 3", "one of --pid");
	refused("--name a(", "--name 'a('");
	refused("--name p+++++++++++++++++++++++++++++++++++++++++++", "quantifier");
	refused("-p 3 --all", "--all goes with");
	refused("dump -- ls", "dump is of one");
	assert_int_equal(accepted("serve --listen unix:a -p 3,4 --follow").pid_count, 2);
	assert_true(accepted("serve --listen unix:a --name b --wait").wait);
	refused("serve --listen unix:a --wait -p 3", "--wait goes with --name");
	refused("serve --listen unix:a -- ls", "processes that run");
}

static void test_unknown(void **state)
{
	(void)state;
	refused("-p 1 --what", "--what");
	refused("-p 1 -x", "-x");
	refused("-p 1 --quiet -xq", "-x");
	refused("-p 1 -qx", "-x");
	refused("-p 1 --pi", "needs a value");
	refused("-p 1 --l 5", "--l");
	refused("-p 1 -- ls", "one of --pid");
}

static void test_help_and_version(void **state)
{
	static const char *const words[] = {
		"--pid",         "--duration",     "--rate",   "--output",  "--format",
		"--mode",        "--loads",        "--stores", "--lines",   "--pairs",
		"--quiet",       "--max-overhead", "--color",  "--verbose", "--version",
		"--stop-signal", "text, json",     "--follow", "--name",    "-- COMMAND"
	};
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	(void)state;
	/* Nothing else has to be right. */
	assert_int_equal(accepted("--help").action, OPTIONS_HELP);
	assert_int_equal(accepted("-h").action, OPTIONS_HELP);
	assert_int_equal(accepted("--version").action, OPTIONS_VERSION);
	assert_int_equal(accepted("-V").action, OPTIONS_VERSION);
	assert_int_equal(accepted("help").action, OPTIONS_HELP);
	assert_false(accepted("help").command_helped);
	assert_int_equal(accepted("help dump").help_command, OPTIONS_DUMP);
	assert_true(accepted("help record").command_helped);
	refused("help dmup", "did you mean dump?");
	assert_int_equal(accepted("-p 1 -d 3 --help --what").action, OPTIONS_HELP);
	assert_false(accepted("--help").command_helped);
	assert_true(accepted("dump --help").command_helped);
	assert_int_equal(accepted("dump --help").help_command, OPTIONS_DUMP);
	assert_int_equal(accepted("record -p 1 -h").help_command, OPTIONS_RECORD);
	assert_false(accepted("-o dump --help").command_helped);

	options_print_help(file);
	fclose(file);
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (!strstr(text, words[i]))
			print_error("--help does not mention %s\n", words[i]);
		assert_non_null(strstr(text, words[i]));
	}
	for (const char *line = text; *line; line = strchr(line, '\n') + 1)
		assert_true(strcspn(line, "\n") <= 80);
	free(text);
}

static void test_help_of_commands(void **state)
{
	static const enum options_action commands[] = { OPTIONS_RECORD, OPTIONS_TOP,
							OPTIONS_REPORT, OPTIONS_DUMP,
							OPTIONS_LIST,   OPTIONS_DOCTOR,
							OPTIONS_TRACE };
	char owners[128];

	(void)state;
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		char *text = NULL;
		size_t size;
		FILE *file = open_memstream(&text, &size);

		options_print_command_help(commands[i], file);
		fclose(file);
		assert_non_null(strstr(text, options_command_name(commands[i])));
		assert_int_equal(!!strstr(text, "--json"),
				 options_command_has(commands[i], "json"));
		for (const char *line = text; *line; line = strchr(line, '\n') + 1)
			assert_true(strcspn(line, "\n") <= 80);
		free(text);
	}
	options_owners("json", owners, sizeof(owners));
	assert_string_equal(owners, "dump, trace, list and doctor");
	options_owners("diff", owners, sizeof(owners));
	assert_string_equal(owners, "report and heap");
	assert_true(options_command_has(OPTIONS_TOP, "colour"));
	assert_false(options_command_has(OPTIONS_LIST, "pid"));
	/* Not a part of a name. */
	assert_false(options_command_has(OPTIONS_LIST, "colo"));
	options_owners("json", owners, 8);
	assert_string_equal(owners, "dump, t");
}

static void test_push(void **state)
{
	struct options options;

	(void)state;
	options = accepted("serve -p 7 --listen unix:a --push http://a:4318 --push-every 1m "
			   "--push-header X:y --push-header @f --push-service s --push-spool d");
	assert_string_equal(options.push, "http://a:4318");
	assert_int_equal(options.push_every_ns, 60000000000u);
	assert_int_equal(options.push_header_count, 2);
	assert_string_equal(options.push_headers[1], "@f");
	assert_string_equal(options.push_spool, "d");
	assert_null(accepted("-p 7").push);
	refused("-p 7 --push a:4318", "no http:// or https://");
	refused("-p 7 --push-spool d", "go with --push");
	refused("-p 7 --push http://a --push-every 2", "--push-every is an option of serve");
	refused("serve -p 7 --listen unix:a --push http://a --push-every 0.5", "1 to 86400");
	refused("-p 7 --push http://a --push-header token", "NAME: VALUE");
	refused("top -p 7 --push http://a", "--push is an option of record and serve");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_trace),
		cmocka_unit_test(test_push),
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_record_is_the_command),
		cmocka_unit_test(test_meant),
		cmocka_unit_test(test_dump),
		cmocka_unit_test(test_report),
		cmocka_unit_test(test_links),
		cmocka_unit_test(test_top),
		cmocka_unit_test(test_patterns),
		cmocka_unit_test(test_pid),
		cmocka_unit_test(test_duration),
		cmocka_unit_test(test_no_source),
		cmocka_unit_test(test_rate_and_overhead),
		cmocka_unit_test(test_modes),
		cmocka_unit_test(test_outputs),
		cmocka_unit_test(test_stop_signal),
		cmocka_unit_test(test_the_rest),
		cmocka_unit_test(test_command_and_name),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_help_and_version),
		cmocka_unit_test(test_help_of_commands),
		cmocka_unit_test(test_list_and_doctor),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
