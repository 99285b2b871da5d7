/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What --help prints, and by the same table which command has which option: an
 * option that a command's help does not show is refused.
 */
#ifndef PIEPROFD_DAEMON_CLI_OPTIONS_HELP_H
#define PIEPROFD_DAEMON_CLI_OPTIONS_HELP_H

#include "daemon/cli/options.h"

/* name: without its dashes. An option that the table does not know belongs to record and top. */
bool options_command_has(enum options_action command, const char *name);

/* Which commands have it: "dump, list and doctor". */
void options_owners(const char *name, char *ret_text, size_t size);

/* The command of that name; false: there is none. */
bool options_command_by_name(const char *name, enum options_action *ret_command);

const char *options_command_name(enum options_action command);

/* The names of all commands: "record, report and top". */
void options_command_names(char *ret_text, size_t size);

void options_print_command_help(enum options_action command, FILE *file);

#endif
