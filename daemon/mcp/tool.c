/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/mcp/tool.h"

#include "common/clock.h"
#include "common/printable.h"
#include "daemon/report/format/json_value.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define PID_MAX          4194304 /* of the kernel, on 64 bits */
#define SECONDS_MIN      0.1
#define SECONDS_MAX      300
#define SECONDS_DEFAULT  10
#define TEXT_BYTES_MAX   1024
#define SHOWN_COLUMNS    120
#define RECORD_LIMIT_NS  (120 * NS_PER_SECOND)
#define EXAMINE_LIMIT_NS (60 * NS_PER_SECOND)

static const struct tool tools[] = {
	{ .name = "list",
	  .title = "List Python processes",
	  .words = "Lists the Python processes of this machine: pid, user, version, container, how "
		   "much of a processor they use now, command line. Nothing is stopped.",
	  .command = { "list" },
	  .limit_ns = EXAMINE_LIMIT_NS },
	{ .name = "dump",
	  .title = "Stacks of a Python process",
	  .words = "What every thread of a running Python process does now: its stack through "
		   "Python and native code, who holds the GIL, what waits for which lock, probable "
		   "deadlocks, asyncio's tasks, greenlets. The process is held for milliseconds "
		   "and is not changed.",
	  .command = { "dump" },
	  .limit_ns = EXAMINE_LIMIT_NS,
	  .arguments = { { .name = "pid",
			   .kind = TOOL_PID,
			   .required = true,
			   .option = "--pid",
			   .words = "The process, as the tool list has it." },
			 { .name = "python_only",
			   .kind = TOOL_SWITCH,
			   .option = "--no-native",
			   .words = "Leave the frames of native code out." },
			 { .name = "locals",
			   .kind = TOOL_SWITCH,
			   .option = "--locals",
			   .words = "Also the variables of Python frames, which may hold "
				    "secrets." } } },
	{ .name = "record",
	  .title = "Profile a Python process",
	  .words = "Attaches to a running, unmodified Python process, profiles it for a while and "
		   "lets it go: where its CPU time goes by line, through Python and native code, "
		   "which lines repeat work needlessly, what each could save, and what to do. The "
		   "process is neither changed nor restarted, and loses about 2% of its time "
		   "meanwhile. It must be at work: who sleeps gives no samples.",
	  .writes = true,
	  .either = "pid",
	  .or = "name",
	  .command = { "record", "--quiet" },
	  .limit_ns = RECORD_LIMIT_NS,
	  .arguments = { { .name = "pid",
			   .kind = TOOL_PID,
			   .option = "--pid",
			   .words = "The process, as the tool list has it. Either this or name." },
			 { .name = "name",
			   .kind = TOOL_TEXT,
			   .option = "--name",
			   .words = "A regular expression that the command line of one Python "
				    "process matches." },
			 { .name = "duration",
			   .kind = TOOL_SECONDS,
			   .option = "--duration",
			   .words = "For so many seconds." },
			 { .name = "mode",
			   .kind = TOOL_CHOICE,
			   .option = "--mode",
			   .choices = { "all", "time" },
			   .words = "all, the default, also looks for repeated work; time is "
				    "cheaper." },
			 { .name = "idle",
			   .kind = TOOL_SWITCH,
			   .option = "--idle",
			   .words = "Also what sleeping threads wait for: locks, the GIL, input "
				    "and output, time." },
			 { .name = "follow",
			   .kind = TOOL_SWITCH,
			   .option = "--follow",
			   .words = "Child processes, too, present and future." },
			 { .name = "output",
			   .kind = TOOL_NEW_FILE,
			   .option = "--output",
			   .extension = ".pieprof",
			   .words = "Keep a recording in this new file, whose name ends with "
				    ".pieprof; the tool findings reads it." } } },
	{ .name = "findings",
	  .title = "Findings of a recording",
	  .words = "The verdict, the findings and the lines with most time of a profile that was "
		   "kept: a recording (FILE.pieprof), or a report of pieprofd as JSON (FILE.json).",
	  .command = { "report" },
	  .limit_ns = EXAMINE_LIMIT_NS,
	  .arguments = { { .name = "path",
			   .kind = TOOL_FILE,
			   .required = true,
			   .words = "The file." },
			 { .name = "base",
			   .kind = TOOL_FILE,
			   .option = "--diff",
			   .words = "Another recording: then what has changed since that one is "
				    "told, and what is no more than chance." } } },
};

#define TOOL_COUNT (sizeof(tools) / sizeof(tools[0]))

const struct tool *tool_by_name(const char *name)
{
	for (size_t i = 0; i < TOOL_COUNT; i++)
		if (!strcmp(tools[i].name, name))
			return &tools[i];
	return NULL;
}

/* ---- what clients are told ---- */

static json_t *argument_schema(const struct tool_argument *argument)
{
	json_t *schema = json_with(json_object(), "description", json_text(argument->words));
	json_t *choices;

	switch (argument->kind) {
	case TOOL_PID:
		schema = json_with(schema, "type", json_text("integer"));
		schema = json_with(schema, "minimum", json_integer(1));
		return json_with(schema, "maximum", json_integer(PID_MAX));
	case TOOL_SECONDS:
		schema = json_with(schema, "type", json_text("number"));
		schema = json_with(schema, "minimum", json_real(SECONDS_MIN));
		schema = json_with(schema, "maximum", json_integer(SECONDS_MAX));
		return json_with(schema, "default", json_integer(SECONDS_DEFAULT));
	case TOOL_SWITCH:
		schema = json_with(schema, "type", json_text("boolean"));
		return json_with(schema, "default", json_false());
	case TOOL_CHOICE:
		choices = json_array();
		for (size_t i = 0; argument->choices[i]; i++)
			choices = json_appended(choices, json_text(argument->choices[i]));
		schema = json_with(schema, "enum", choices);
		break;
	case TOOL_FILE:
	case TOOL_NEW_FILE:
		schema = json_with(schema, "maxLength", json_integer(PATH_MAX - 1));
		schema = json_with(schema, "minLength", json_integer(1));
		break;
	case TOOL_TEXT:
		schema = json_with(schema, "maxLength", json_integer(TEXT_BYTES_MAX));
		schema = json_with(schema, "minLength", json_integer(1));
		break;
	}
	return json_with(schema, "type", json_text("string"));
}

static json_t *tool_schema(const struct tool *tool)
{
	json_t *schema = json_with(json_object(), "type", json_text("object"));
	json_t *properties = json_object(), *required = json_array();

	for (const struct tool_argument *argument = tool->arguments; argument->name; argument++) {
		properties = json_with(properties, argument->name, argument_schema(argument));
		if (argument->required)
			required = json_appended(required, json_text(argument->name));
	}
	schema = json_with(schema, "properties", properties);
	schema = json_with(schema, "required", required);
	return json_with(schema, "additionalProperties", json_false());
}

static json_t *tool_annotations(const struct tool *tool)
{
	json_t *object = json_with(json_object(), "readOnlyHint", json_boolean(!tool->writes));

	/* A file that is there is not written over. */
	object = json_with(object, "destructiveHint", json_false());
	object = json_with(object, "idempotentHint", json_boolean(!tool->writes));
	return json_with(object, "openWorldHint", json_false());
}

json_t *tool_descriptions(void)
{
	json_t *array = json_array();

	for (size_t i = 0; i < TOOL_COUNT; i++) {
		const struct tool *tool = &tools[i];
		json_t *object = json_with(json_object(), "name", json_text(tool->name));

		object = json_with(object, "title", json_text(tool->title));
		object = json_with(object, "description", json_text(tool->words));
		object = json_with(object, "inputSchema", tool_schema(tool));
		object = json_with(object, "annotations", tool_annotations(tool));
		array = json_appended(array, object);
	}
	return array;
}

/* ---- a call ---- */

void tool_line_deinit(struct tool_line *line)
{
	for (size_t i = 0; i < line->count; i++)
		free(line->words[i]);
	*line = (struct tool_line){ 0 };
}

static int add_word(struct tool_line *line, const char *word)
{
	char *copy = line->count < TOOL_WORDS_MAX - 1 ? strdup(word) : NULL;

	if (!copy)
		return -ENOMEM;
	line->words[line->count++] = copy;
	return 0;
}

/* "--option=value", so that no value is taken for an option. */
static int add_value(struct tool_line *line, const char *option, const char *value)
{
	char *word = NULL;
	int result;

	if (asprintf(&word, "%s=%s", option, value) < 0)
		return -ENOMEM;
	result = add_word(line, word);
	free(word);
	return result;
}

__attribute__((format(printf, 3, 4))) static int refuse(struct error *error,
							const struct tool_argument *argument,
							const char *format, ...)
{
	char words[256];
	va_list values;

	va_start(values, format);
	vsnprintf(words, sizeof(words), format, values);
	va_end(values);
	error_set(error, EXIT_USAGE, "%s must be %s", argument->name, words);
	return -EINVAL;
}

static int add_number(struct tool_line *line, const struct tool_argument *argument,
		      const json_t *value, struct error *error)
{
	double seconds = json_number_value(value);
	char text[32];

	if (argument->kind == TOOL_PID) {
		json_int_t pid = json_integer_value(value);

		if (!json_is_integer(value) || pid < 1 || pid > PID_MAX)
			return refuse(error, argument, "a process's id, a whole number from 1");
		snprintf(text, sizeof(text), "%lld", (long long)pid);
		return add_value(line, argument->option, text);
	}
	if (!json_is_number(value) || !(seconds >= SECONDS_MIN && seconds <= SECONDS_MAX))
		return refuse(error, argument, "a number of seconds from %g to %d", SECONDS_MIN,
			      SECONDS_MAX);
	line->duration_ns = (uint64_t)(seconds * 1e9);
	/* Milliseconds, and never with an exponent. */
	snprintf(text, sizeof(text), "%.3f", seconds);
	return add_value(line, argument->option, text);
}

static bool has_extension(const char *path, const char *extension)
{
	size_t length = strlen(path), wanted = strlen(extension);

	return length > wanted && !strcmp(path + length - wanted, extension);
}

static int check_new_file(const struct tool_argument *argument, const char *path,
			  struct error *error)
{
	char shown[PRINTABLE_BYTES(SHOWN_COLUMNS)];
	struct stat status;

	printable_fit(shown, sizeof(shown), path, SHOWN_COLUMNS, true);
	if (!has_extension(path, argument->extension))
		return refuse(error, argument, "a path whose name ends with %s, which %s does not",
			      argument->extension, shown);
	/* A caller that makes names up must not lose anybody a file. */
	if (lstat(path, &status) && errno == ENOENT)
		return 0;
	return refuse(error, argument, "a new file: %s is there, or cannot be looked at", shown);
}

static int add_path(struct tool_line *line, const struct tool_argument *argument, const char *text,
		    struct error *error)
{
	int result = 0;
	char *word = NULL;

	if (argument->kind == TOOL_NEW_FILE)
		result = check_new_file(argument, text, error);
	if (result)
		return result;
	if (argument->option)
		return add_value(line, argument->option, text);
	/* A word of its own must not look like an option. */
	if (asprintf(&word, "%s%s", *text == '-' ? "./" : "", text) < 0)
		return -ENOMEM;
	result = add_word(line, word);
	free(word);
	return result;
}

static int add_choice(struct tool_line *line, const struct tool_argument *argument,
		      const char *text, struct error *error)
{
	for (size_t i = 0; argument->choices[i]; i++)
		if (!strcmp(argument->choices[i], text))
			return add_value(line, argument->option, text);
	return refuse(error, argument, "%s or %s", argument->choices[0], argument->choices[1]);
}

static int add_text(struct tool_line *line, const struct tool_argument *argument,
		    const json_t *value, struct error *error)
{
	size_t longest = argument->kind == TOOL_TEXT ? TEXT_BYTES_MAX : PATH_MAX - 1;

	if (!json_is_string(value) || !json_string_length(value) ||
	    json_string_length(value) > longest)
		return refuse(error, argument, "a string of 1 to %zu bytes", longest);
	if (argument->kind == TOOL_CHOICE)
		return add_choice(line, argument, json_string_value(value), error);
	if (argument->kind == TOOL_TEXT)
		return add_value(line, argument->option, json_string_value(value));
	return add_path(line, argument, json_string_value(value), error);
}

static int add_argument(struct tool_line *line, const struct tool_argument *argument,
			const json_t *value, struct error *error)
{
	switch (argument->kind) {
	case TOOL_PID:
	case TOOL_SECONDS:
		return add_number(line, argument, value, error);
	case TOOL_SWITCH:
		if (!json_is_boolean(value))
			return refuse(error, argument, "true or false");
		return json_is_true(value) ? add_word(line, argument->option) : 0;
	case TOOL_TEXT:
	case TOOL_FILE:
	case TOOL_NEW_FILE:
	case TOOL_CHOICE:
		break;
	}
	return add_text(line, argument, value, error);
}

static const struct tool_argument *argument_named(const struct tool *tool, const char *name)
{
	for (const struct tool_argument *argument = tool->arguments; argument->name; argument++)
		if (!strcmp(argument->name, name))
			return argument;
	return NULL;
}

/* A null is as good as nothing: clients fill in what their model left out. */
static const json_t *given(const json_t *arguments, const char *name)
{
	const json_t *value = json_object_get(arguments, name);

	return json_is_null(value) ? NULL : value;
}

static int check_names(const struct tool *tool, const json_t *arguments, struct error *error)
{
	char shown[PRINTABLE_BYTES(SHOWN_COLUMNS)];
	const char *name;
	json_t *value;

	/* The iterators of jansson take no const object, and change nothing. */
	json_object_foreach((json_t *)(uintptr_t)arguments, name, value)
	{
		if (argument_named(tool, name))
			continue;
		printable_fit(shown, sizeof(shown), name, SHOWN_COLUMNS, false);
		error_set(error, EXIT_USAGE, "%s has no argument %s", tool->name, shown);
		error_set_cure(error, "tools/list tells what arguments there are.");
		return -EINVAL;
	}
	for (const struct tool_argument *argument = tool->arguments; argument->name; argument++)
		if (argument->required && !given(arguments, argument->name)) {
			error_set(error, EXIT_USAGE, "%s needs %s", tool->name, argument->name);
			return -EINVAL;
		}
	if (tool->either && !given(arguments, tool->either) == !given(arguments, tool->or)) {
		error_set(error, EXIT_USAGE, "%s needs %s or %s, and not both", tool->name,
			  tool->either, tool->or);
		error_set_cure(error, "The tool list shows the processes.");
		return -EINVAL;
	}
	return 0;
}

int tool_line_make(const struct tool *tool, const json_t *arguments, struct tool_line *ret_line,
		   struct error *error)
{
	struct tool_line line = { 0 };
	int result = check_names(tool, arguments, error);

	if (!result)
		result = add_word(&line, "pieprofd");
	for (size_t i = 0; tool->command[i] && !result; i++)
		result = add_word(&line, tool->command[i]);
	if (tool->writes)
		line.duration_ns = SECONDS_DEFAULT * NS_PER_SECOND;
	for (const struct tool_argument *argument = tool->arguments; argument->name && !result;
	     argument++) {
		const json_t *value = given(arguments, argument->name);

		if (value)
			result = add_argument(&line, argument, value, error);
	}
	if (result) {
		tool_line_deinit(&line);
		return result;
	}
	line.limit_ns = line.duration_ns + tool->limit_ns;
	*ret_line = line;
	return 0;
}
