/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cli/options.h"

#include "common/clock.h"
#include "daemon/cli/options_help.h"
#include "daemon/sample/name_pattern.h"

#include <getopt.h>
#include <limits.h>
#include <regex.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define DURATION_DEFAULT_S 10
#define DURATION_MAX_S     (30.0 * 24 * 3600)
#define RATE_DEFAULT_HZ    99
#define RATE_MAX_HZ        10000
#define OVERHEAD_DEFAULT   0.02
/* Time alone takes no more than the clock's stops. */
#define OVERHEAD_DEFAULT_TIME 0.01
#define ROWS_MAX              10000
#define ROTATE_DEFAULT_S      3600

enum option_id {
	/* Options with a letter are named by it. */
	OPTION_FORMAT = 256,
	OPTION_MODE,
	OPTION_IDLE,
	OPTION_LOADS,
	OPTION_STORES,
	OPTION_MAX_OVERHEAD,
	OPTION_STOP_SIGNAL,
	OPTION_COLOUR,
	OPTION_LINES,
	OPTION_PAIRS,
	OPTION_JSON,
	OPTION_NO_NATIVE,
	OPTION_INCLUDE,
	OPTION_EXCLUDE,
	OPTION_NATIVE_LINES,
	OPTION_NO_SOURCE,
	OPTION_DEBUGINFOD,
	OPTION_DIFF,
	OPTION_FOLLOW,
	OPTION_NAME,
	OPTION_ALL,
	OPTION_CGROUP,
	OPTION_WAIT,
	OPTION_STRICT,
	OPTION_LISTEN,
	OPTION_ALLOW_REMOTE,
	OPTION_TOKEN_FILE,
	OPTION_ROTATE,
	OPTION_VERSION,
};

static const struct option long_options[] = {
	{ "pid", required_argument, NULL, 'p' },
	{ "name", required_argument, NULL, OPTION_NAME },
	{ "all", no_argument, NULL, OPTION_ALL },
	{ "cgroup", required_argument, NULL, OPTION_CGROUP },
	{ "wait", no_argument, NULL, OPTION_WAIT },
	{ "follow", no_argument, NULL, OPTION_FOLLOW },
	{ "duration", required_argument, NULL, 'd' },
	{ "rate", required_argument, NULL, 'r' },
	{ "output", required_argument, NULL, 'o' },
	{ "format", required_argument, NULL, OPTION_FORMAT },
	{ "mode", required_argument, NULL, OPTION_MODE },
	{ "idle", no_argument, NULL, OPTION_IDLE },
	{ "loads", no_argument, NULL, OPTION_LOADS },
	{ "stores", no_argument, NULL, OPTION_STORES },
	{ "strict", no_argument, NULL, OPTION_STRICT },
	{ "max-overhead", required_argument, NULL, OPTION_MAX_OVERHEAD },
	{ "stop-signal", required_argument, NULL, OPTION_STOP_SIGNAL },
	{ "quiet", no_argument, NULL, 'q' },
	{ "verbose", no_argument, NULL, 'v' },
	{ "color", required_argument, NULL, OPTION_COLOUR },
	{ "colour", required_argument, NULL, OPTION_COLOUR },
	{ "lines", required_argument, NULL, OPTION_LINES },
	{ "pairs", required_argument, NULL, OPTION_PAIRS },
	{ "json", no_argument, NULL, OPTION_JSON },
	{ "no-native", no_argument, NULL, OPTION_NO_NATIVE },
	{ "include", required_argument, NULL, OPTION_INCLUDE },
	{ "exclude", required_argument, NULL, OPTION_EXCLUDE },
	{ "native-lines", no_argument, NULL, OPTION_NATIVE_LINES },
	{ "no-source", no_argument, NULL, OPTION_NO_SOURCE },
	{ "debuginfod", no_argument, NULL, OPTION_DEBUGINFOD },
	{ "diff", required_argument, NULL, OPTION_DIFF },
	{ "listen", required_argument, NULL, OPTION_LISTEN },
	{ "allow-remote", no_argument, NULL, OPTION_ALLOW_REMOTE },
	{ "token-file", required_argument, NULL, OPTION_TOKEN_FILE },
	{ "rotate", required_argument, NULL, OPTION_ROTATE },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, OPTION_VERSION },
	{ NULL, 0, NULL, 0 },
};

enum mode {
	MODE_ALL,
	MODE_TIME,
	MODE_REDUNDANCY,
};

struct parser {
	struct options options;
	FILE *errors;
	enum mode mode;
	const struct writer *format; /* --format; NULL: by extension */
	bool loads_asked, stores_asked;
	bool given[sizeof(long_options) / sizeof(long_options[0])];
};

__attribute__((format(printf, 2, 3))) static int refuse(const struct parser *parser,
							const char *format, ...)
{
	va_list arguments;

	fputs("pieprofd: ", parser->errors);
	va_start(arguments, format);
	vfprintf(parser->errors, format, arguments);
	va_end(arguments);
	fputs("; see pieprofd --help\n", parser->errors);
	return -1;
}

/* A decimal number such as "10" or "0.5", and nothing else that strtod would take. */
static bool parse_decimal(const char *text, double *ret_value)
{
	size_t digits = 0, points = 0;

	for (const char *at = text; *at; at++) {
		if (*at >= '0' && *at <= '9')
			digits++;
		else if (*at == '.')
			points++;
		else
			return false;
	}
	if (digits == 0 || digits > 30 || points > 1)
		return false;
	*ret_value = strtod(text, NULL);
	return true;
}

static bool parse_whole(const char *text, long minimum, long maximum, long *ret_value)
{
	long value = 0;

	if (!*text)
		return false;
	for (; *text; text++) {
		if (*text < '0' || *text > '9' || value > maximum)
			return false;
		value = value * 10 + (*text - '0');
	}
	if (value < minimum || value > maximum)
		return false;
	*ret_value = value;
	return true;
}

static int add_pid(struct parser *parser, pid_t pid)
{
	struct options *options = &parser->options;

	for (unsigned i = 0; i < options->pid_count; i++)
		if (options->pids[i] == pid)
			return 0;
	if (options->pid_count == OPTIONS_PIDS_MAX)
		return refuse(parser, "--pid %d: at most %d processes", (int)pid, OPTIONS_PIDS_MAX);
	options->pids[options->pid_count++] = pid;
	options->pid = options->pids[0];
	return 0;
}

static int parse_pid(struct parser *parser, const char *text)
{
	const char *at = text;

	for (;;) {
		size_t length = strcspn(at, ",");
		char word[16];
		long value;

		snprintf(word, sizeof(word), "%.*s", length < sizeof(word) ? (int)length : 0, at);
		if (!parse_whole(word, 1, INT_MAX, &value))
			return refuse(parser, "--pid '%s': a process id, such as 1234, is wanted",
				      text);
		if (add_pid(parser, (pid_t)value) < 0)
			return -1;
		if (!at[length])
			return 0;
		at += length + 1;
	}
}

static int parse_name(struct parser *parser, const char *pattern)
{
	regex_t compiled;
	char problem[128];
	int failure;

	if (!name_pattern_fits(pattern))
		return refuse(parser,
			      "--name: this pattern is longer, its repetitions written "
			      "out, than %d characters",
			      NAME_PATTERN_MAX);
	failure = regcomp(&compiled, pattern, REG_EXTENDED | REG_NOSUB);
	if (failure) {
		regerror(failure, &compiled, problem, sizeof(problem));
		return refuse(parser, "--name '%s': %s", pattern, problem);
	}
	regfree(&compiled);
	parser->options.name = pattern;
	return 0;
}

static int parse_cgroup(struct parser *parser, const char *cgroup)
{
	if (!*cgroup)
		return refuse(parser, "--cgroup: a path below /sys/fs/cgroup or a name, such as "
				      "nginx.service, is wanted");
	parser->options.cgroup = cgroup;
	return 0;
}

static int parse_duration(struct parser *parser, const char *text)
{
	double seconds;

	if (!parse_decimal(text, &seconds) || seconds > DURATION_MAX_S)
		return refuse(
			parser,
			"--duration '%s': seconds, such as 10 or 0.5, are wanted (0: until ^C)",
			text);
	parser->options.duration_given = true;
	parser->options.duration_ns = (uint64_t)(seconds * (double)NS_PER_SECOND);
	/* 0 has a meaning of its own, which 1e-12 must not take on. */
	if (seconds > 0 && parser->options.duration_ns == 0)
		parser->options.duration_ns = 1;
	return 0;
}

static int parse_rate(struct parser *parser, const char *text)
{
	double hz;

	if (!parse_decimal(text, &hz) || hz < 0.1 || hz > RATE_MAX_HZ)
		return refuse(parser, "--rate '%s': samples a second from 0.1 to %d are wanted",
			      text, RATE_MAX_HZ);
	parser->options.rate_hz = hz;
	return 0;
}

static int parse_rotate(struct parser *parser, const char *text)
{
	double seconds;

	if (!parse_decimal(text, &seconds) || seconds > DURATION_MAX_S ||
	    (seconds > 0 && seconds < 1))
		return refuse(
			parser,
			"--rotate '%s': seconds, such as 3600, are wanted (0: only when full)",
			text);
	parser->options.rotate_ns = (uint64_t)(seconds * (double)NS_PER_SECOND);
	return 0;
}

static int parse_output(struct parser *parser, const char *path)
{
	struct options *options = &parser->options;

	if (!*path)
		return refuse(parser, "--output: a file name, or - for stdout, is wanted");
	if (options->output_count == OPTIONS_OUTPUTS_MAX)
		return refuse(parser, "--output %s: at most %d files", path, OPTIONS_OUTPUTS_MAX);
	for (unsigned i = 0; i < options->output_count; i++)
		if (strcmp(options->outputs[i].path, path) == 0)
			return refuse(parser, "--output %s is given twice", path);
	options->outputs[options->output_count++].path = path;
	return 0;
}

static int parse_pattern(struct parser *parser, const char *option, const char *pattern,
			 const char **patterns, size_t *count)
{
	if (!*pattern)
		return refuse(parser, "--%s: a function or library, such as 'lib*blas*', is wanted",
			      option);
	if (*count == ACCESS_PATTERNS_MAX)
		return refuse(parser, "--%s %s: at most %d patterns", option, pattern,
			      ACCESS_PATTERNS_MAX);
	patterns[(*count)++] = pattern;
	return 0;
}

static int parse_format(struct parser *parser, const char *name)
{
	const struct writer *writer = writer_by_name(name);

	if (!writer) {
		fprintf(parser->errors, "pieprofd: --format '%s' is not known; there are ", name);
		writer_names(parser->errors);
		fputc('\n', parser->errors);
		return -1;
	}
	parser->format = writer;
	return 0;
}

static int parse_mode(struct parser *parser, const char *name)
{
	static const char *const names[] = {
		[MODE_ALL] = "all", [MODE_TIME] = "time", [MODE_REDUNDANCY] = "redundancy"
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(name, names[i]) == 0) {
			parser->mode = (enum mode)i;
			return 0;
		}
	return refuse(parser, "--mode '%s': all, time or redundancy is wanted", name);
}

static int parse_max_overhead(struct parser *parser, const char *text)
{
	size_t length = strlen(text);
	char number[32];
	double percent;

	if (length > 0 && text[length - 1] == '%')
		length--;
	snprintf(number, sizeof(number), "%.*s", length < sizeof(number) ? (int)length : 0, text);
	if (!parse_decimal(number, &percent) || percent < 0.01 || percent > 100)
		return refuse(parser,
			      "--max-overhead '%s': percent of the target's time from 0.01 to 100 "
			      "are wanted",
			      text);
	parser->options.max_overhead = percent / 100;
	return 0;
}

static int parse_stop_signal(struct parser *parser, const char *text)
{
	/* Ignored by default: the target survives one that comes after our end. */
	static const struct {
		const char *name;
		int number;
	} signals[] = { { "URG", SIGURG }, { "WINCH", SIGWINCH }, { "CHLD", SIGCHLD } };
	const char *name = strncasecmp(text, "SIG", 3) == 0 ? text + 3 : text;

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		if (strcasecmp(name, signals[i].name) == 0) {
			parser->options.stop_signal = signals[i].number;
			return 0;
		}
	return refuse(
		parser,
		"--stop-signal '%s': URG, WINCH or CHLD is wanted, which do nothing by default",
		text);
}

static int parse_colour(struct parser *parser, const char *text)
{
	if (strcmp(text, "auto") == 0)
		parser->options.colour = OPTIONS_COLOUR_AUTO;
	else if (strcmp(text, "always") == 0)
		parser->options.colour = OPTIONS_COLOUR_ALWAYS;
	else if (strcmp(text, "never") == 0)
		parser->options.colour = OPTIONS_COLOUR_NEVER;
	else
		return refuse(parser, "--color '%s': auto, always or never is wanted", text);
	return 0;
}

static int parse_rows(struct parser *parser, const char *name, const char *text, unsigned *ret_rows)
{
	long value;

	if (!parse_whole(text, 1, ROWS_MAX, &value))
		return refuse(parser, "--%s '%s': a number from 1 to %d is wanted", name, text,
			      ROWS_MAX);
	*ret_rows = (unsigned)value;
	return 0;
}

static int parse_option(struct parser *parser, int id, const char *argument)
{
	struct options *options = &parser->options;

	switch (id) {
	case 'p':
		return parse_pid(parser, argument);
	case 'd':
		return parse_duration(parser, argument);
	case 'r':
		return parse_rate(parser, argument);
	case 'o':
		return parse_output(parser, argument);
	case 'q':
		options->quiet = true;
		return 0;
	case 'v':
		options->verbosity++;
		return 0;
	case 'h':
		options->action = OPTIONS_HELP;
		return 0;
	case OPTION_VERSION:
		options->action = OPTIONS_VERSION;
		return 0;
	case OPTION_FORMAT:
		return parse_format(parser, argument);
	case OPTION_MODE:
		return parse_mode(parser, argument);
	case OPTION_IDLE:
		options->waits = true;
		return 0;
	case OPTION_LOADS:
		parser->loads_asked = true;
		return 0;
	case OPTION_STORES:
		parser->stores_asked = true;
		return 0;
	case OPTION_MAX_OVERHEAD:
		return parse_max_overhead(parser, argument);
	case OPTION_STOP_SIGNAL:
		return parse_stop_signal(parser, argument);
	case OPTION_COLOUR:
		return parse_colour(parser, argument);
	case OPTION_LINES:
		return parse_rows(parser, "lines", argument, &options->lines_max);
	case OPTION_PAIRS:
		return parse_rows(parser, "pairs", argument, &options->pairs_max);
	case OPTION_JSON:
		options->json = true;
		return 0;
	case OPTION_NO_NATIVE:
		options->no_native = true;
		return 0;
	case OPTION_INCLUDE:
		return parse_pattern(parser, "include", argument, options->patterns.include,
				     &options->patterns.include_count);
	case OPTION_EXCLUDE:
		return parse_pattern(parser, "exclude", argument, options->patterns.exclude,
				     &options->patterns.exclude_count);
	case OPTION_NATIVE_LINES:
		options->native_lines = true;
		return 0;
	case OPTION_NO_SOURCE:
		options->no_source = true;
		return 0;
	case OPTION_FOLLOW:
		options->follow = true;
		return 0;
	case OPTION_NAME:
		return parse_name(parser, argument);
	case OPTION_ALL:
		options->all = true;
		return 0;
	case OPTION_CGROUP:
		return parse_cgroup(parser, argument);
	case OPTION_WAIT:
		options->wait = true;
		return 0;
	case OPTION_STRICT:
		options->strict = true;
		return 0;
	case OPTION_DEBUGINFOD:
		options->debuginfod = true;
		return 0;
	case OPTION_DIFF:
		options->base = argument;
		return 0;
	case OPTION_LISTEN:
		options->listen = argument;
		return 0;
	case OPTION_ALLOW_REMOTE:
		options->allow_remote = true;
		return 0;
	case OPTION_TOKEN_FILE:
		options->token_file = argument;
		return 0;
	case OPTION_ROTATE:
		return parse_rotate(parser, argument);
	default:
		return -1;
	}
}

static void note_option(struct parser *parser, int id)
{
	for (size_t i = 0; long_options[i].name; i++)
		if (long_options[i].val == id)
			parser->given[i] = true;
}

/* What the command does not have is refused rather than passed over. */
static int refuse_strangers(const struct parser *parser)
{
	enum options_action command = parser->options.action;
	char names[128];

	for (size_t i = 0; long_options[i].name; i++) {
		const char *name = long_options[i].name;

		if (!parser->given[i] || options_command_has(command, name))
			continue;
		options_owners(name, names, sizeof(names));
		/* Only how a recording is shown can be chosen. */
		return refuse(parser, "--%s is an option of %s, not of %s%s", name, names,
			      options_command_name(command),
			      command == OPTIONS_REPORT ? ": a recording stays what it was made"
							: "");
	}
	return 0;
}

#define SHORT_OPTIONS "p:d:r:o:qvh"

/* getopt has met something that it does not know: say what, in our own words. */
static int refuse_word(const struct parser *parser, int result, const char *word)
{
	if (result == ':')
		return refuse(parser, "%s needs a value", word);
	/* An unknown letter; the word may be another one when it came in a bundle, such as -xq. */
	if (optopt > 0 && optopt < 256 && !strchr(SHORT_OPTIONS, optopt))
		return refuse(parser, "there is no option -%c", optopt);
	if (optopt > 0)
		return refuse(parser, "%s: this option takes no value", word);
	return refuse(parser, "there is no option %s, or it is short for several", word);
}

static int parse_report_words(struct parser *parser, int count, char *const *words)
{
	if (count < 1 || !words[0][0])
		return refuse(parser, "report needs a recording, which -o FILE.pieprof writes");
	if (count > 1)
		return refuse(parser, "'%s' is one word too many", words[1]);
	parser->options.recording = words[0];
	return 0;
}

static int refuse_command(const struct parser *parser, const char *word)
{
	char names[128];
	long pid;

	if (!parser->options.pid && parse_whole(word, 1, INT_MAX, &pid))
		return refuse(parser, "'%s' is not a command; --pid %ld is how to profile it", word,
			      pid);
	options_command_names(names, sizeof(names));
	return refuse(parser, "'%s' is not a command; there are %s", word, names);
}

/* What is left when the options are taken out: a command, and what belongs to it. */
static int parse_command(struct parser *parser, int count, char *const *words)
{
	if (!options_command_by_name(words[0], &parser->options.action))
		return refuse_command(parser, words[0]);
	if (parser->options.action == OPTIONS_REPORT)
		return parse_report_words(parser, count - 1, words + 1);
	if (count > 1)
		return refuse(parser, "'%s' is one word too many", words[1]);
	return 0;
}

/* Of "pieprofd dump --help", dump; nothing else has to be right. */
static int note_helped(struct parser *parser, int argc, char *const *argv)
{
	struct options *options = &parser->options;

	if (options->action == OPTIONS_HELP && argc > 1)
		options->command_helped = options_command_by_name(argv[1], &options->help_command);
	return 0;
}

static int parse_words(struct parser *parser, int argc, char *const *argv)
{
	/* 0 rather than 1: glibc starts anew, also after an earlier call that ended half-way. */
	optind = 0;
	opterr = 0;
	for (;;) {
		int result = getopt_long(argc, argv, ":" SHORT_OPTIONS, long_options, NULL);

		if (result == -1)
			break;
		if (result == '?' || result == ':')
			return refuse_word(parser, result, argv[optind - 1]);
		if (parse_option(parser, result, optarg) < 0)
			return -1;
		note_option(parser, result);
		if (parser->options.action != OPTIONS_RECORD)
			return note_helped(parser, argc, argv);
	}
	return optind < argc ? parse_command(parser, argc - optind, argv + optind) : 0;
}

/* Which writer each output has. */
static int settle_outputs(struct parser *parser)
{
	struct options *options = &parser->options;

	/* A format without a file is for stdout. */
	if (parser->format && options->output_count == 0)
		options->outputs[options->output_count++].path = "-";
	for (unsigned i = 0; i < options->output_count; i++) {
		struct options_output *output = &options->outputs[i];

		output->writer = parser->format ? parser->format : writer_by_path(output->path);
		if (!output->writer)
			return refuse(parser,
				      "--output %s: the format cannot be told from the name: add "
				      "--format",
				      output->path);
	}
	return 0;
}

static int settle_report(struct parser *parser)
{
	const struct options *options = &parser->options;

	if (settle_outputs(parser) < 0)
		return -1;
	for (unsigned i = 0; options->base && i < options->output_count; i++) {
		const struct writer *writer = options->outputs[i].writer;

		if (writer != &writer_text && writer != &writer_json)
			return refuse(parser,
				      "--output %s: --diff writes text and json, there is no "
				      "difference as %s",
				      options->outputs[i].path, writer->name);
	}
	return 0;
}

/* What is asked for is chosen by whoever asks. */
static int settle_serve(struct parser *parser)
{
	const struct options *options = &parser->options;

	if (!options->listen)
		return refuse(parser, "serve: --listen 127.0.0.1:6061 or --listen unix:PATH is "
				      "wanted");
	if (options->command)
		return refuse(parser, "serve is of processes that run, given by --pid, --name or "
				      "--cgroup");
	return 0;
}

/* What the options mean together. */
static int settle(struct parser *parser)
{
	struct options *options = &parser->options;
	bool either = parser->loads_asked || parser->stores_asked;
	bool searched = options->name || options->cgroup;

	if (options->action == OPTIONS_LIST && options->pid)
		return refuse(parser, "list shows all processes: it takes no --pid");
	if (refuse_strangers(parser) < 0)
		return -1;
	if (options->action == OPTIONS_REPORT)
		return settle_report(parser);
	if (options->action == OPTIONS_LIST || options->action == OPTIONS_DOCTOR)
		return 0;
	if ((options->pid != 0) + searched + (options->command != NULL) > 1)
		return refuse(parser, "one of --pid, --name, --cgroup and -- COMMAND is wanted");
	if (!options->pid && !searched && !options->command)
		return refuse(parser, "no process given: --pid N; pieprofd list shows some");
	if (options->all && !options->name)
		return refuse(parser, "--all goes with --name");
	if (options->wait && !searched)
		return refuse(parser, "--wait goes with --name and --cgroup: a process that is "
				      "started again has another id");
	if ((options->action == OPTIONS_DUMP || options->action == OPTIONS_TOP) &&
	    (options->pid_count != 1 || options->follow))
		return refuse(parser, "%s is of one process, given by --pid",
			      options->action == OPTIONS_DUMP ? "dump" : "top");
	if (options->action == OPTIONS_SERVE && settle_serve(parser) < 0)
		return -1;
	/* A command is profiled to its end. */
	if (options->command && !options->duration_given)
		options->duration_ns = 0;
	if (options->action == OPTIONS_DUMP)
		return 0;
	/* It is left by a key. */
	if (options->action == OPTIONS_TOP && !options->duration_given)
		options->duration_ns = 0;
	if (parser->mode == MODE_TIME && either)
		return refuse(parser, "--mode time does not go with --loads and --stores");
	if (parser->mode != MODE_TIME) {
		options->loads = parser->loads_asked || !either;
		options->stores = parser->stores_asked || !either;
	}
	options->redundancy_required = parser->mode == MODE_REDUNDANCY;
	if (!options->max_overhead)
		options->max_overhead =
			parser->mode == MODE_TIME ? OVERHEAD_DEFAULT_TIME : OVERHEAD_DEFAULT;
	return settle_outputs(parser);
}

int options_parse(int argc, char *const *argv, struct options *ret_options, FILE *errors)
{
	struct parser parser = {
		.errors = errors,
		.options = {
			.action = OPTIONS_RECORD,
			.duration_ns = DURATION_DEFAULT_S * NS_PER_SECOND,
			.rate_hz = RATE_DEFAULT_HZ,
			.rotate_ns = ROTATE_DEFAULT_S * NS_PER_SECOND,
		},
	};

	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--"))
			continue;
		parser.options.command = argv + i + 1;
		argc = i;
	}
	if (parser.options.command && !parser.options.command[0])
		return refuse(&parser, "-- is followed by a command to run");
	if (parse_words(&parser, argc, argv) < 0)
		return -1;
	if (parser.options.action != OPTIONS_HELP && parser.options.action != OPTIONS_VERSION &&
	    settle(&parser) < 0)
		return -1;
	*ret_options = parser.options;
	return 0;
}
