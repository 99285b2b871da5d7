/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/inspect/list_writer.h"

#include "common/clock.h"
#include "daemon/report/format/json_value.h"
#include "daemon/report/format/text_layout.h"
#include "daemon/report/model/container_text.h"

#include <inttypes.h>
#include <string.h>

#define USER_COLUMNS      10
#define VERSION_COLUMNS   8
#define CONTAINER_COLUMNS 19
/* As docker ps has it. */
#define SHORT_ID_DIGITS 12

struct short_text {
	char text[CONTAINER_NAME_BYTES];
};

static struct short_text version_text(struct python_version version)
{
	struct short_text text = { "?" };

	if (version.major && version.micro >= 0)
		snprintf(text.text, sizeof(text.text), "%d.%d.%d", version.major, version.minor,
			 version.micro);
	else if (version.major)
		snprintf(text.text, sizeof(text.text), "%d.%d", version.major, version.minor);
	return text;
}

/* "45s", "12m", "3h05m", "9d04h" */
static struct short_text age_text(uint64_t ns)
{
	unsigned long long s = ns / NS_PER_SECOND;
	struct short_text text;

	if (s < 60)
		snprintf(text.text, sizeof(text.text), "%llus", s);
	else if (s < 3600)
		snprintf(text.text, sizeof(text.text), "%llum%02llus", s / 60, s % 60);
	else if (s < 24 * 3600)
		snprintf(text.text, sizeof(text.text), "%lluh%02llum", s / 3600, s / 60 % 60);
	else
		snprintf(text.text, sizeof(text.text), "%llud%02lluh", s / (24 * 3600),
			 s / 3600 % 24);
	return text;
}

static struct short_text container_text(const struct listed_process *process)
{
	struct short_text text = { "-" };

	if (process->contained && process->container.name[0])
		snprintf(text.text, sizeof(text.text), "%s", process->container.name);
	else if (process->contained)
		snprintf(text.text, sizeof(text.text), "%.6s:%.*s", process->container.runtime,
			 SHORT_ID_DIGITS, process->container.id);
	else if (process->inner_pid != process->pid)
		snprintf(text.text, sizeof(text.text), "pid %d inside", (int)process->inner_pid);
	return text;
}

static void put_command(const struct text_layout *layout, const struct listed_process *process,
			unsigned width)
{
	char words[1024];
	size_t used = 0;

	for (size_t i = 0; process->command && process->command[i] && used < sizeof(words); i++) {
		const char *word = process->command[i];
		/* The script matters more than where its interpreter lies. */
		const char *slash = i ? NULL : strrchr(word, '/');

		used += (size_t)snprintf(words + used, sizeof(words) - used, "%s%s", i ? " " : "",
					 slash ? slash + 1 : word);
	}
	text_last_cell(layout, used ? words : process->name, width);
}

static void list_put_process(const struct text_layout *layout, const struct listed_process *process,
			     unsigned container_columns)
{
	unsigned used = 8 + USER_COLUMNS + 1 + VERSION_COLUMNS + 1 + 6 + 8 + 1 + container_columns;

	fprintf(layout->file, "%7d ", (int)process->pid);
	text_cell(layout, process->user, USER_COLUMNS);
	fputc(' ', layout->file);
	text_cell(layout, version_text(process->version).text, VERSION_COLUMNS);
	fprintf(layout->file, " %4.0f%% %8s ", process->cpu * 100,
		age_text(process->running_ns).text);
	if (container_columns) {
		text_cell(layout, container_text(process).text, container_columns - 1);
		fputc(' ', layout->file);
	}
	put_command(layout, process, layout->columns - used);
}

static void put_denied(const struct text_layout *layout, const struct process_list *list)
{
	char words[1024];
	size_t used;

	if (!list->denied && !list->unreadable)
		return;
	fputc('\n', layout->file);
	if (list->denied) {
		used = (size_t)snprintf(words, sizeof(words),
					"%zu of %zu processes could not be looked at: they belong "
					"to another user, or have more privileges. Run as root, or "
					"with CAP_SYS_PTRACE, to see them.",
					list->denied, list->seen);
		for (size_t i = 0; i < list->denied_python_count && used < sizeof(words); i++)
			used += (size_t)snprintf(
				words + used, sizeof(words) - used, "%s %d",
				i ? "," : " Python by name:", (int)list->denied_pythons[i]);
		text_wrapped(layout, "", words);
	}
	if (list->unreadable) {
		snprintf(words, sizeof(words),
			 list->unreadable == 1 ? "%zu process runs programs or libraries whose "
						 "files could not be opened."
					       : "%zu processes run programs or libraries whose "
						 "files could not be opened.",
			 list->unreadable);
		text_wrapped(layout, "", words);
	}
}

void list_write_text(const struct process_list *list, const struct writer_options *options,
		     FILE *file)
{
	struct text_layout layout = {
		.file = file,
		.columns = options->columns ? options->columns : TEXT_COLUMNS_DEFAULT,
		.colour = options->colour,
	};
	unsigned container_columns = 0;

	/* On most machines nothing would stand in that column. */
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i].contained || list->items[i].inner_pid != list->items[i].pid)
			container_columns = CONTAINER_COLUMNS + 1;
	if (layout.columns < TEXT_COLUMNS_MIN)
		layout.columns = TEXT_COLUMNS_MIN;
	if (layout.columns > TEXT_COLUMNS_MAX)
		layout.columns = TEXT_COLUMNS_MAX;
	if (!list->count)
		fprintf(file, "no Python process found among %zu\n", list->seen);
	else
		fprintf(file, "%7s %-*s %-*s %5s %8s %-*sCOMMAND\n", "PID", USER_COLUMNS, "USER",
			VERSION_COLUMNS, "PYTHON", "CPU", "RUNNING", (int)container_columns,
			container_columns ? "CONTAINER" : "");
	for (size_t i = 0; i < list->count; i++)
		list_put_process(&layout, &list->items[i], container_columns);
	if (list->cut)
		fputs("... and maybe more: there are more processes, or files, than are looked "
		      "at\n",
		      file);
	put_denied(&layout, list);
}

static json_t *json_listed_container(const struct listed_process *process)
{
	struct profile_container container =
		profile_container_of(process->contained ? &process->container : NULL);

	return json_container(&container);
}

static json_t *json_process(const struct listed_process *process)
{
	json_t *object = json_object(), *command = json_array();

	for (size_t i = 0; process->command && process->command[i]; i++)
		command = json_appended(command, json_text(process->command[i]));
	object = json_with(object, "pid", json_integer(process->pid));
	object = json_with(object, "inner_pid", json_integer(process->inner_pid));
	object = json_with(object, "uid", json_integer(process->uid));
	object = json_with(object, "user", json_text(process->user));
	object = json_with(object, "python",
			   process->version.major ? json_text(version_text(process->version).text)
						  : json_null());
	object = json_with(object, "interpreter", json_text(process->interpreter));
	object = json_with(object, "container", json_listed_container(process));
	object = json_with(object, "cpu", json_figure(process->cpu));
	object = json_with(object, "cpu_ns", json_count(process->cpu_ns));
	object = json_with(object, "running_ns", json_count(process->running_ns));
	object = json_with(object, "name", json_text(process->name));
	return json_with(object, "command", command);
}

int list_write_json(const struct process_list *list, FILE *file)
{
	json_t *object = json_object(), *processes = json_array(), *denied = json_array();
	int error;

	for (size_t i = 0; i < list->count; i++)
		processes = json_appended(processes, json_process(&list->items[i]));
	for (size_t i = 0; i < list->denied_python_count; i++)
		denied = json_appended(denied, json_integer(list->denied_pythons[i]));
	object = json_with(object, "processes", processes);
	object = json_with(object, "seen", json_count(list->seen));
	object = json_with(object, "cut", json_boolean(list->cut));
	object = json_with(object, "denied", json_count(list->denied));
	object = json_with(object, "denied_pythons", denied);
	object = json_with(object, "unreadable", json_count(list->unreadable));
	error = json_put(file, object);
	if (!error)
		fputc('\n', file);
	return error;
}
