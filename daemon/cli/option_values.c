/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cli/option_values.h"

#include "common/clock.h"
#include "daemon/cli/fleet_label.h"
#include "daemon/report/writer_table.h"
#include "daemon/session/name_pattern.h"

#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define DURATION_MAX_S (30.0 * 24 * 3600)
#define RATE_MAX_HZ    10000
#define ROWS_MAX       10000
/* Of a size before its unit: with the largest one it is within 64 bits. */
#define SIZE_NUMBER_MAX (1 << 20)

int options_refuse(const struct option_parser *parser, const char *format, ...)
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

bool option_whole(const char *text, long minimum, long maximum, long *ret_value)
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

static int add_pid(struct option_parser *parser, pid_t pid)
{
	struct options *options = &parser->options;

	for (unsigned i = 0; i < options->pid_count; i++)
		if (options->pids[i] == pid)
			return 0;
	if (options->pid_count == OPTIONS_PIDS_MAX)
		return options_refuse(parser, "--pid %d: at most %d processes", (int)pid,
				      OPTIONS_PIDS_MAX);
	options->pids[options->pid_count++] = pid;
	options->pid = options->pids[0];
	return 0;
}

int option_pid(struct option_parser *parser, const struct option_use *use)
{
	const char *text = use->text;
	const char *at = text;

	for (;;) {
		size_t length = strcspn(at, ",");
		char word[16];
		long value;

		snprintf(word, sizeof(word), "%.*s", length < sizeof(word) ? (int)length : 0, at);
		if (!option_whole(word, 1, INT_MAX, &value))
			return options_refuse(
				parser, "--pid '%s': expected a process id, such as 1234", text);
		if (add_pid(parser, (pid_t)value) < 0)
			return -1;
		if (!at[length])
			return 0;
		at += length + 1;
	}
}

int option_name(struct option_parser *parser, const struct option_use *use)
{
	const char *pattern = use->text;
	struct name_pattern *compiled;
	char problem[128];

	if (name_pattern_new(pattern, &compiled, problem, sizeof(problem)))
		return options_refuse(parser, "--name '%s': %s", pattern, problem);
	name_pattern_free(compiled);
	parser->options.name = pattern;
	return 0;
}

int option_cgroup(struct option_parser *parser, const struct option_use *use)
{
	const char *cgroup = use->text;

	if (!*cgroup)
		return options_refuse(parser,
				      "--cgroup: expected a path below /sys/fs/cgroup or a name, "
				      "such as nginx.service");
	parser->options.cgroup = cgroup;
	return 0;
}

bool option_seconds(const char *text, double *ret_seconds)
{
	static const struct {
		char unit;
		double seconds;
	} units[] = { { 's', 1 }, { 'm', 60 }, { 'h', 3600 }, { 'd', 86400 } };
	size_t length = strlen(text);
	double scale = 1;
	char number[48];

	for (size_t i = 0; length && i < sizeof(units) / sizeof(units[0]); i++)
		if (text[length - 1] == units[i].unit) {
			scale = units[i].seconds;
			length--;
			break;
		}
	if (length >= sizeof(number))
		return false;
	memcpy(number, text, length);
	number[length] = '\0';
	if (!parse_decimal(number, ret_seconds))
		return false;
	*ret_seconds *= scale;
	return *ret_seconds <= DURATION_MAX_S;
}

int option_duration(struct option_parser *parser, const struct option_use *use)
{
	const char *text = use->text;
	double seconds;

	if (!option_seconds(text, &seconds))
		return options_refuse(parser,
				      "--duration '%s': expected seconds, such as 10 or 0.5, or "
				      "10m, 1h (0: until "
				      "^C; at most 30d)",
				      text);
	parser->options.duration_given = true;
	parser->options.duration_ns = (uint64_t)(seconds * (double)NS_PER_SECOND);
	/* 0 has a meaning of its own, which 1e-12 must not take on. */
	if (seconds > 0 && parser->options.duration_ns == 0)
		parser->options.duration_ns = 1;
	return 0;
}

int option_interval(struct option_parser *parser, const struct option_use *use)
{
	double seconds;

	if (!option_seconds(use->text, &seconds) || seconds < 0.02)
		return options_refuse(parser,
				      "--interval '%s': expected seconds, such as 5 or 0.5, or 10m "
				      "(at least 0.02)",
				      use->text);
	parser->options.interval_ns = (uint64_t)(seconds * (double)NS_PER_SECOND);
	return 0;
}

int option_rate(struct option_parser *parser, const struct option_use *use)
{
	const char *text = use->text;
	double hz;

	if (!parse_decimal(text, &hz) || hz < 0.1 || hz > RATE_MAX_HZ)
		return options_refuse(parser,
				      "--rate '%s': expected samples a second from 0.1 to %d", text,
				      RATE_MAX_HZ);
	parser->options.rate_hz = hz;
	return 0;
}

int option_rotate(struct option_parser *parser, const struct option_use *use)
{
	const char *text = use->text;
	double seconds;

	if (!option_seconds(text, &seconds) || (seconds > 0 && seconds < 1))
		return options_refuse(
			parser,
			"--rotate '%s': expected seconds, such as 3600 or 1h (0: only when full)",
			text);
	parser->options.rotate_ns = (uint64_t)(seconds * (double)NS_PER_SECOND);
	return 0;
}

int option_output(struct option_parser *parser, const struct option_use *use)
{
	const char *path = use->text;
	struct options *options = &parser->options;

	if (!*path)
		return options_refuse(parser, "--output: expected a file name, or - for stdout");
	if (options->output_count == OPTIONS_OUTPUTS_MAX)
		return options_refuse(parser, "--output %s: at most %d files", path,
				      OPTIONS_OUTPUTS_MAX);
	for (unsigned i = 0; i < options->output_count; i++)
		if (strcmp(options->outputs[i].path, path) == 0)
			return options_refuse(parser, "--output %s is given twice", path);
	options->outputs[options->output_count++].path = path;
	return 0;
}

static int add_pattern(struct option_parser *parser, const struct option_use *use,
		       const char **patterns, size_t *count)
{
	if (!*use->text)
		return options_refuse(parser,
				      "--%s: expected a function or library, such as 'lib*blas*'",
				      use->name);
	if (*count == ACCESS_PATTERNS_MAX)
		return options_refuse(parser, "--%s %s: at most %d patterns", use->name, use->text,
				      ACCESS_PATTERNS_MAX);
	patterns[(*count)++] = use->text;
	return 0;
}

int option_include(struct option_parser *parser, const struct option_use *use)
{
	struct access_patterns *patterns = &parser->options.patterns;

	return add_pattern(parser, use, patterns->include, &patterns->include_count);
}

int option_exclude(struct option_parser *parser, const struct option_use *use)
{
	struct access_patterns *patterns = &parser->options.patterns;

	return add_pattern(parser, use, patterns->exclude, &patterns->exclude_count);
}

int option_by(struct option_parser *parser, const struct option_use *use)
{
	const struct fleet_label *label = fleet_label_by_name(use->text);

	if (!label) {
		fprintf(parser->errors, "pieprofd: --by '%s' is not known; there are ", use->text);
		fleet_label_names(parser->errors);
		fputc('\n', parser->errors);
		return -1;
	}
	parser->options.by = label;
	return 0;
}

int option_format(struct option_parser *parser, const struct option_use *use)
{
	const char *name = use->text;
	const struct writer *writer = writer_by_name(name);

	if (!writer) {
		fprintf(parser->errors, "pieprofd: --format '%s' is not known; there are ", name);
		writer_names(parser->errors);
		if (strcmp(name, "parquet") == 0)
			fputs("; Parquet files are made of jsonl by "
			      ".packaging/fleet/parquet_rows.py",
			      parser->errors);
		fputc('\n', parser->errors);
		return -1;
	}
	parser->format = writer;
	return 0;
}

int option_mode(struct option_parser *parser, const struct option_use *use)
{
	const char *name = use->text;
	static const char *const names[] = { [OPTION_MODE_ALL] = "all",
					     [OPTION_MODE_TIME] = "time",
					     [OPTION_MODE_REDUNDANCY] = "redundancy" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(name, names[i]) == 0) {
			parser->mode = (enum option_mode)i;
			return 0;
		}
	return options_refuse(parser, "--mode '%s': expected all, time or redundancy", name);
}

int option_engine(struct option_parser *parser, const struct option_use *use)
{
	static const char *const names[] = {
		[ENGINE_AUTO] = "auto", [ENGINE_PTRACE] = "ptrace", [ENGINE_KERNEL] = "kernel"
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(use->text, names[i]) == 0) {
			parser->options.engine = (enum session_engine)i;
			return 0;
		}
	return options_refuse(parser, "--engine '%s': expected auto, ptrace or kernel", use->text);
}

/* "2%", "0.5": percent of something, 0.01 to 100, as a share. */
static int parse_overhead(const struct option_parser *parser, const struct option_use *use,
			  const char *of, double *ret_share)
{
	const char *text = use->text;
	size_t length = strlen(text);
	char number[32];
	double percent;

	if (length > 0 && text[length - 1] == '%')
		length--;
	snprintf(number, sizeof(number), "%.*s", length < sizeof(number) ? (int)length : 0, text);
	if (!parse_decimal(number, &percent) || percent < 0.01 || percent > 100)
		return options_refuse(parser, "--%s '%s': expected percent of %s, 0.01 to 100",
				      use->name, text, of);
	*ret_share = percent / 100;
	return 0;
}

int option_max_overhead(struct option_parser *parser, const struct option_use *use)
{
	return parse_overhead(parser, use, "the target's time", &parser->options.max_overhead);
}

int option_node_overhead(struct option_parser *parser, const struct option_use *use)
{
	return parse_overhead(parser, use, "the machine's time", &parser->options.node_overhead);
}

int option_stop_signal(struct option_parser *parser, const struct option_use *use)
{
	const char *text = use->text;
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
	return options_refuse(
		parser,
		"--stop-signal '%s': expected URG, WINCH or CHLD, which do nothing by default",
		text);
}

int option_colour(struct option_parser *parser, const struct option_use *use)
{
	const char *text = use->text;

	if (strcmp(text, "auto") == 0)
		parser->options.colour = OPTIONS_COLOUR_AUTO;
	else if (strcmp(text, "always") == 0)
		parser->options.colour = OPTIONS_COLOUR_ALWAYS;
	else if (strcmp(text, "never") == 0)
		parser->options.colour = OPTIONS_COLOUR_NEVER;
	else
		return options_refuse(parser, "--color '%s': expected auto, always or never", text);
	return 0;
}

int option_rows(struct option_parser *parser, const struct option_use *use)
{
	unsigned *rows = use->to;
	long value;

	if (!option_whole(use->text, 1, ROWS_MAX, &value))
		return options_refuse(parser, "--%s '%s': expected a number from 1 to %d",
				      use->name, use->text, ROWS_MAX);
	*rows = (unsigned)value;
	return 0;
}

/* Bytes, or with a unit of 1024: "500M", "2G". */
static bool parse_size(const char *text, uint64_t *ret_bytes)
{
	static const char units[] = "KMGT";
	size_t length = strlen(text);
	const char *unit = length ? strchr(units, text[length - 1]) : NULL;
	char number[24];
	long value;

	if (unit)
		length--;
	snprintf(number, sizeof(number), "%.*s", length < sizeof(number) ? (int)length : 0, text);
	if (!option_whole(number, 1, unit ? SIZE_NUMBER_MAX : LONG_MAX, &value))
		return false;
	*ret_bytes = (uint64_t)value << (unit ? 10 * (unit - units + 1) : 0);
	return true;
}

int option_size(struct option_parser *parser, const struct option_use *use)
{
	if (parse_size(use->text, use->to))
		return 0;
	return options_refuse(parser, "--%s '%s': expected bytes, such as 500M or 2G", use->name,
			      use->text);
}

/* "80%" */
static bool parse_share(const char *text, double *ret_share)
{
	size_t length = strlen(text);
	char number[24];
	double percent;

	if (!length || length > sizeof(number) || text[length - 1] != '%')
		return false;
	snprintf(number, sizeof(number), "%.*s", (int)length - 1, text);
	if (!parse_decimal(number, &percent) || !(percent > 0 && percent <= 100))
		return false;
	*ret_share = percent / 100;
	return true;
}

int option_at(struct option_parser *parser, const struct option_use *use)
{
	struct heap_threshold *at = &parser->options.at;

	*at = (struct heap_threshold){ 0 };
	if (parse_share(use->text, &at->share) || parse_size(use->text, &at->bytes))
		return 0;
	return options_refuse(
		parser,
		"--at '%s': expected a share of the limit, such as 80%%, or bytes, such as 2G",
		use->text);
}

int option_fail_if(struct option_parser *parser, const struct option_use *use)
{
	struct options *options = &parser->options;
	struct options_threshold *next = &options->thresholds[options->threshold_count];

	if (options->threshold_count == OPTIONS_THRESHOLDS_MAX)
		return options_refuse(parser, "--fail-if: at most %d of them",
				      OPTIONS_THRESHOLDS_MAX);
	if (!threshold_parse(use->text, &next->threshold))
		return options_refuse(parser,
				      "--fail-if %s is not a figure, a sign and a percentage, such "
				      "as own+10%%, total+5%% or could-save+20%%",
				      use->text);
	next->text = use->text;
	options->threshold_count++;
	return 0;
}

int option_flag(struct option_parser *parser, const struct option_use *use)
{
	bool *flag = use->to;

	(void)parser;
	*flag = true;
	return 0;
}

int option_more(struct option_parser *parser, const struct option_use *use)
{
	unsigned *count = use->to;

	(void)parser;
	++*count;
	return 0;
}

int option_text(struct option_parser *parser, const struct option_use *use)
{
	const char **text = use->to;

	(void)parser;
	*text = use->text;
	return 0;
}

int option_help(struct option_parser *parser, const struct option_use *use)
{
	(void)use;
	parser->options.action = OPTIONS_HELP;
	return 0;
}

int option_version(struct option_parser *parser, const struct option_use *use)
{
	(void)use;
	parser->options.action = OPTIONS_VERSION;
	return 0;
}
