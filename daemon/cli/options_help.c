/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cli/options_help.h"

#include "daemon/cli/option_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where what is said of an option begins. */
#define TEXT_COLUMN   26
#define VALUES_COLUMN 12
#define COLUMNS       78

/* Each line with the program's name before it, which the first of all has its own word for. */
static void put_usage(const struct option_command *command, bool first, FILE *file)
{
	for (const char *line = command->usage; *line; first = false) {
		size_t length = strcspn(line, "\n");

		fprintf(file, "%s pieprofd %.*s\n", first ? "usage:" : "      ", (int)length, line);
		line += length + 1;
	}
}

/* "  -p, --pid N": what it is on the command line. */
static void help_put_label(const struct option_row *row, const struct option_help *help, FILE *file)
{
	int used = row->letter ? fprintf(file, "  -%c, --%s", row->letter, row->name)
			       : fprintf(file, "      --%s", row->name);

	if (row->together)
		used += fprintf(file, ", --%s", row->together);
	if (help->argument)
		used += fprintf(file, " %s", help->argument);
	fprintf(file, "%*s", used < TEXT_COLUMN ? TEXT_COLUMN - used : 0, "");
}

/* "a, b, ...", on as many lines as they take. */
static void help_put_values(const struct option_row *row, FILE *file)
{
	char *values = NULL, *saved = NULL;
	size_t size, column = 0;
	FILE *list = open_memstream(&values, &size);

	if (!list)
		return;
	row->put_values(list);
	if (!fclose(list))
		for (char *word = strtok_r(values, ", ", &saved); word;
		     word = strtok_r(NULL, ", ", &saved)) {
			const char *between = !column                               ? ""
					      : column + strlen(word) + 2 < COLUMNS ? ", "
										    : ",\n";

			if (!column || between[1] == '\n') {
				fprintf(file, "%s%*s%s", between, VALUES_COLUMN, "", word);
				column = VALUES_COLUMN + strlen(word);
			} else {
				column += (size_t)fprintf(file, "%s%s", between, word);
			}
		}
	fputc('\n', file);
	free(values);
}

static void help_put_row(const struct option_row *row, const struct option_help *help, FILE *file)
{
	help_put_label(row, help, file);
	for (const char *line = help->text; line;) {
		size_t length = strcspn(line, "\n");

		fprintf(file, "%.*s\n", (int)length, line);
		line = line[length] ? line + length + 1 : NULL;
		if (line)
			fprintf(file, "%*s", TEXT_COLUMN, "");
	}
	if (row->put_values)
		help_put_values(row, file);
}

static void help_put_rows(enum options_action command, FILE *file)
{
	for (size_t i = 0; i < option_table_count; i++)
		for (size_t k = 0; k < OPTION_HELPS_MAX; k++) {
			const struct option_help *help = &option_table[i].help[k];

			if ((help->commands & OPTION_OF(command)) && help->text)
				help_put_row(&option_table[i], help, file);
		}
}

void options_print_command_help(enum options_action command, FILE *file)
{
	const struct option_command *chosen = option_command_of(command);

	put_usage(chosen, true, file);
	fprintf(file, "\n%s\n", chosen->words);
	help_put_rows(command, file);
	if (command == OPTIONS_RECORD)
		fputs("\npieprofd(8) and pieprofd-record(8) say more.\n", file);
	else
		fprintf(file, "\npieprofd-%s(8) says more.\n", chosen->name);
}

void options_print_help(FILE *file)
{
	for (size_t i = 0; i < option_command_count; i++)
		put_usage(&option_commands[i], i == 0, file);
	fprintf(file, "\n%s\n", option_commands[0].words);
	fputs("top shows the same live, in the terminal, until q. dump shows what every\n"
	      "thread does now, and who holds the GIL. list shows the Python processes. doctor\n"
	      "says what works here, and how to get what does not. report shows a recording,\n"
	      "which record -o FILE.pieprof has made, in any format, or with --diff what has\n"
	      "changed since another one. serve answers over HTTP, mcp language models.\n"
	      "pieprofd COMMAND --help shows the options of each; those of record, the default:\n"
	      "\n",
	      file);
	help_put_rows(OPTIONS_RECORD, file);
	/* What goes without a command. */
	help_put_rows(OPTIONS_HELP, file);
	fputs("\n"
	      "Exit codes: 0 done, 1 internal error, 2 wrong usage, 3 no such process or not\n"
	      "Python, 4 not permitted, 5 Python version not supported, 6 no samples,\n"
	      "7 degraded (--strict), 130 given up; with a command, the command's own.\n"
	      "pieprofd(8) says more.\n",
	      file);
}
