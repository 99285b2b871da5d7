/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The commands and the options: a row each, from which the command line is
 * parsed (options_parse.h) and --help is printed (options_help.h). An option that a
 * command's help does not show is refused.
 */
#ifndef PIEPROFD_DAEMON_CLI_OPTION_TABLE_H
#define PIEPROFD_DAEMON_CLI_OPTION_TABLE_H

#include "daemon/cli/option_values.h"

#define OPTION_TABLE_MAX 72
#define OPTION_HELPS_MAX 4

/* A command as a bit of a set. */
#define OPTION_OF(action) (1u << (action))

struct option_command {
	const char *name;
	enum options_action action;
	const char *usage; /* lines, without the program's name */
	const char *words; /* what it is for */
};

/* In the order in which they are shown. */
extern const struct option_command option_commands[];
extern const size_t option_command_count;

/* An option as some of the commands have it. */
struct option_help {
	unsigned commands;    /* OPTION_OF(...) of those */
	const char *argument; /* its value's name; NULL: it takes none */
	const char *text;     /* lines; NULL: another option's speak of it, too */
};

struct option_row {
	const char *name; /* without its dashes */
	const char *alias;
	char letter;          /* 0: none */
	const char *together; /* the option that is shown in the same line */
	option_parse *parse;
	size_t to;                      /* offset in struct option_parser, for parse; 0: none */
	void (*put_values)(FILE *file); /* what it may be, shown in a line below; NULL: nothing */
	struct option_help help[OPTION_HELPS_MAX];
};

/* Likewise. */
extern const struct option_row option_table[];
extern const size_t option_table_count;

/* name: without its dashes. */
bool options_command_has(enum options_action command, const char *name);

/* Which commands have it: "dump, list and doctor". */
void options_owners(const char *name, char *ret_text, size_t size);

/* The command of that name; false: there is none. */
bool options_command_by_name(const char *name, enum options_action *ret_command);

/* The first one for what is no command. */
const struct option_command *option_command_of(enum options_action action);
const char *options_command_name(enum options_action command);

/* The command, or the option without its dashes, that a misspelt word comes near; NULL: none. */
const char *options_nearest_command(const char *word);
const char *options_nearest_option(const char *word);

/* The names of all commands: "record, report and top". */
void options_command_names(char *ret_text, size_t size);

#endif
