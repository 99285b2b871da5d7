/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cli/options_parse.h"

#include "common/clock.h"
#include "daemon/cli/option_table.h"
#include "daemon/cli/options_settle.h"

#include <getopt.h>
#include <limits.h>
#include <string.h>

#define DURATION_DEFAULT_S 10
#define RATE_DEFAULT_HZ    99
#define ROTATE_DEFAULT_S   3600

/* Behind all letters. */
#define NUMBER_FIRST 256

struct line {
	struct option_parser parser;
	bool given[OPTION_TABLE_MAX]; /* by row */
	/* For getopt; a row may have an alias. */
	struct option names[2 * OPTION_TABLE_MAX + 1];
	char letters[2 * OPTION_TABLE_MAX + 2];
};

/* An option that getopt has found, by its letter or number. */
static int parse_option(struct line *line, int number, const char *text)
{
	for (size_t i = 0; i < option_table_count; i++) {
		const struct option_row *row = &option_table[i];
		const struct option_use use = {
			.name = row->name,
			.text = text,
			.to = (char *)&line->parser + row->to,
		};

		if (number != (row->letter ? row->letter : NUMBER_FIRST + (int)i))
			continue;
		line->given[i] = true;
		return row->parse(&line->parser, &use);
	}
	return -1;
}

/* What the command does not have is refused rather than passed over. */
static int refuse_strangers(const struct line *line)
{
	enum options_action command = line->parser.options.action;
	char names[128];

	if (command == OPTIONS_LIST && line->parser.options.pid)
		return options_refuse(&line->parser, "list shows all processes: it takes no --pid");
	for (size_t i = 0; i < option_table_count; i++) {
		const char *name = option_table[i].name;

		if (!line->given[i] || options_command_has(command, name))
			continue;
		options_owners(name, names, sizeof(names));
		/* Only how a recording is shown can be chosen. */
		return options_refuse(
			&line->parser, "--%s is an option of %s, not of %s%s", name, names,
			options_command_name(command),
			command == OPTIONS_REPORT ? ": a recording stays what it was made" : "");
	}
	return 0;
}

/* getopt has met something that it does not know: say what, in our own words. */
static int refuse_word(const struct line *line, int result, const char *word)
{
	const struct option_parser *parser = &line->parser;
	const char *meant;

	if (result == ':')
		return options_refuse(parser, "%s needs a value", word);
	/* An unknown letter; the word may be another one when it came in a bundle, such as -xq. */
	if (optopt > 0 && optopt < 256 && !strchr(line->letters + 1, optopt))
		return options_refuse(parser, "there is no option -%c", optopt);
	if (optopt > 0)
		return options_refuse(parser, "%s: this option takes no value", word);
	meant = options_nearest_option(word);
	if (meant)
		return options_refuse(parser, "there is no option %s; did you mean --%s?", word,
				      meant);
	return options_refuse(parser, "there is no option %s, or it is short for several", word);
}

static int parse_report_words(struct option_parser *parser, int count, char *const *words)
{
	struct options *options = &parser->options;

	if (count < 1 || !words[0][0])
		return options_refuse(parser,
				      "report needs a recording, which -o FILE.pieprof writes");
	options->recordings = words;
	options->recording_count = (unsigned)count;
	return 0;
}

/* A look that is over, in place of a process. */
static int parse_heap_file(struct option_parser *parser, int count, char *const *words)
{
	struct options *options = &parser->options;

	if (!options->base)
		return options_refuse(parser,
				      "unexpected argument '%s'; a look's file is compared with "
				      "another one: --diff BASE.json",
				      words[0]);
	if (count > 1)
		return options_refuse(parser,
				      "unexpected argument '%s': heap --diff compares one "
				      "file, or process, with BASE",
				      words[1]);
	options->recordings = words;
	options->recording_count = 1;
	return 0;
}

/* "1234" or "12,34" for --pid of the same. */
static bool is_pid_list(const char *word)
{
	return *word >= '0' && *word <= '9' && word[strspn(word, "0123456789,")] == '\0';
}

static int parse_pids(struct option_parser *parser, const char *word)
{
	const struct option_use use = { .name = "pid", .text = word };

	return option_pid(parser, &use);
}

static bool ends_with(const char *word, const char *end)
{
	size_t length = strlen(word), wanted = strlen(end);

	return length > wanted && !strcmp(word + length - wanted, end);
}

static int refuse_command(const struct option_parser *parser, const char *word)
{
	const char *meant = options_nearest_command(word);
	char names[128];

	if (meant)
		return options_refuse(parser, "'%s' is not a command; did you mean %s?", word,
				      meant);
	if (ends_with(word, ".pieprof"))
		return options_refuse(parser,
				      "'%s' is not a command; a recording is shown by "
				      "pieprofd report %s",
				      word, word);
	if (ends_with(word, ".py") || !strncmp(word, "python", 6))
		return options_refuse(parser,
				      "'%s' is not a command; a program is profiled from "
				      "its start by pieprofd -- python3 PROGRAM",
				      word);
	options_command_names(names, sizeof(names));
	return options_refuse(parser, "'%s' is not a command; there are %s", word, names);
}

/* help, or help COMMAND. */
static int parse_help_words(struct option_parser *parser, int count, char *const *words)
{
	struct options *options = &parser->options;

	options->action = OPTIONS_HELP;
	options->command_helped = count > 0;
	if (count > 0 && !options_command_by_name(words[0], &options->help_command))
		return refuse_command(parser, words[0]);
	return 0;
}

/* What is left when the options are taken out: a command, and what belongs to it. */
static int parse_command(struct option_parser *parser, int count, char *const *words)
{
	enum options_action *action = &parser->options.action;

	if (!strcmp(words[0], "help"))
		return parse_help_words(parser, count - 1, words + 1);
	if (options_command_by_name(words[0], action)) {
		count--;
		words++;
	} else if (!is_pid_list(words[0])) {
		return refuse_command(parser, words[0]);
	}
	if (*action == OPTIONS_REPORT)
		return parse_report_words(parser, count, words);
	while (*action != OPTIONS_LIST && *action != OPTIONS_MCP && count > 0 &&
	       is_pid_list(words[0])) {
		if (parse_pids(parser, words[0]) < 0)
			return -1;
		count--;
		words++;
	}
	if (count > 0 && *action == OPTIONS_HEAP)
		return parse_heap_file(parser, count, words);
	if (count > 0)
		return options_refuse(
			parser, "unexpected argument '%s'%s", words[0],
			*action == OPTIONS_RECORD ? "; a program to start goes behind --" : "");
	return 0;
}

/* Of "pieprofd dump --help", dump; nothing else has to be right. */
static int note_helped(struct option_parser *parser, int argc, char *const *argv)
{
	struct options *options = &parser->options;

	if (options->action == OPTIONS_HELP && argc > 1)
		options->command_helped = options_command_by_name(argv[1], &options->help_command);
	return 0;
}

static int parse_words(struct line *line, int argc, char *const *argv)
{
	struct option_parser *parser = &line->parser;

	/* 0 rather than 1: glibc starts anew, also after an earlier call that ended half-way. */
	optind = 0;
	opterr = 0;
	for (;;) {
		int result = getopt_long(argc, argv, line->letters, line->names, NULL);

		if (result == -1)
			break;
		if (result == '?' || result == ':')
			return refuse_word(line, result, argv[optind - 1]);
		if (parse_option(line, result, optarg) < 0)
			return -1;
		if (parser->options.action != OPTIONS_RECORD)
			return note_helped(parser, argc, argv);
	}
	return optind < argc ? parse_command(parser, argc - optind, argv + optind) : 0;
}

/* What getopt is to know, from the table. A row without a letter has its place as a number. */
static void read_table(struct line *line)
{
	struct option *name = line->names;
	char *letter = line->letters;

	*letter++ = ':';
	for (size_t i = 0; i < option_table_count; i++) {
		const struct option_row *row = &option_table[i];
		int value = row->help[0].argument ? required_argument : no_argument;
		int number = row->letter ? row->letter : NUMBER_FIRST + (int)i;

		*name++ = (struct option){ row->name, value, NULL, number };
		if (row->alias)
			*name++ = (struct option){ row->alias, value, NULL, number };
		if (!row->letter)
			continue;
		*letter++ = row->letter;
		if (value == required_argument)
			*letter++ = ':';
	}
}

int options_parse(int argc, char *const *argv, struct options *ret_options, FILE *errors)
{
	struct line line = {
		.parser = {
			.errors = errors,
			.options = {
				.action = OPTIONS_RECORD,
				.duration_ns = DURATION_DEFAULT_S * NS_PER_SECOND,
				.rate_hz = RATE_DEFAULT_HZ,
				.rotate_ns = ROTATE_DEFAULT_S * NS_PER_SECOND,
			},
		},
	};
	struct options *options = &line.parser.options;

	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--"))
			continue;
		options->command = argv + i + 1;
		argc = i;
	}
	if (options->command && !options->command[0])
		return options_refuse(&line.parser, "-- is followed by a command to run");
	read_table(&line);
	if (parse_words(&line, argc, argv) < 0)
		return -1;
	if (options->action != OPTIONS_HELP && options->action != OPTIONS_VERSION &&
	    (refuse_strangers(&line) < 0 || options_settle(&line.parser) < 0))
		return -1;
	*ret_options = *options;
	return 0;
}
