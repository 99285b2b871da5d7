/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/dump_writer.h"

#include "daemon/report/json_value.h"
#include "daemon/report/text_layout.h"

#include <inttypes.h>
#include <string.h>

static const struct dumped_thread *find_holder(const struct thread_dump *dump)
{
	for (size_t i = 0; i < dump->thread_count; i++)
		if (dump->threads[i].holds_gil)
			return &dump->threads[i];
	return NULL;
}

static void put_frame(const struct text_layout *layout, const struct profile_frame *frame)
{
	unsigned location_columns = layout->columns * 2 / 5;
	char suffix[64];

	fputs("    ", layout->file);
	if (frame->kind == FRAME_PYTHON) {
		text_cell(layout, frame->function, layout->columns - location_columns - 5);
		snprintf(suffix, sizeof(suffix), ":%d", frame->line);
	} else {
		text_cell(layout, frame->function, layout->columns - location_columns - 5);
		snprintf(suffix, sizeof(suffix), " 0x%" PRIx64 "%s", frame->address,
			 frame->flags & FRAME_GUESSED ? " ?" : "");
	}
	fputc(' ', layout->file);
	text_path_cell(layout, frame->file, suffix, location_columns, false);
	fputc('\n', layout->file);
	if (frame->kind == FRAME_PYTHON && frame->source && *frame->source) {
		fputs("        ", layout->file);
		text_last_cell(layout, frame->source, layout->columns - 8);
	}
}

static void put_thread(const struct text_layout *layout, const struct dumped_thread *thread)
{
	char name[160];

	snprintf(name, sizeof(name), "THREAD %d", (int)thread->tid);
	text_heading(layout, name, "%s%s%s%s", thread_activity_name(thread->activity),
		     thread->holds_gil ? ", holds the GIL" : "",
		     thread->collecting ? ", collects garbage" : "",
		     thread->python ? "" : ", no Python");
	fputs("    ", layout->file);
	text_last_cell(layout, thread->name, layout->columns - 4);
	if (thread->moved)
		text_wrapped(layout, "    ",
			     "It ran on while it was looked at: no stack could be read.");
	for (size_t i = thread->frame_count; i > 0; i--)
		put_frame(layout, &thread->frames[i - 1]);
}

void dump_write_text(const struct thread_dump *dump, const struct writer_options *options,
		     FILE *file)
{
	struct text_layout layout = {
		.file = file,
		.columns = options->columns ? options->columns : TEXT_COLUMNS_DEFAULT,
		.colour = options->colour,
	};
	const struct dumped_thread *holder = find_holder(dump);
	char command[512], words[256];
	size_t used = 0;

	if (layout.columns < TEXT_COLUMNS_MIN)
		layout.columns = TEXT_COLUMNS_MIN;
	if (layout.columns > TEXT_COLUMNS_MAX)
		layout.columns = TEXT_COLUMNS_MAX;
	for (size_t i = 0; dump->command && dump->command[i] && used < sizeof(command); i++)
		used += (size_t)snprintf(command + used, sizeof(command) - used, "%s%s",
					 i ? " " : "", dump->command[i]);
	if (!used)
		command[0] = '\0';
	fprintf(file, "pid %d, ", (int)dump->pid);
	if (dump->python.major)
		fprintf(file, "Python %d.%d.%d\n  ", dump->python.major, dump->python.minor,
			dump->python.micro);
	else
		fputs("a Python that could not be read\n  ", file);
	text_last_cell(&layout, command, layout.columns - 2);
	if (!dump->gil_known)
		snprintf(words, sizeof(words), "%zu threads; who holds the GIL could not be read",
			 dump->thread_count);
	else if (holder)
		snprintf(words, sizeof(words), "%zu threads; thread %d holds the GIL",
			 dump->thread_count, (int)holder->tid);
	else
		snprintf(words, sizeof(words), "%zu threads; nobody holds the GIL",
			 dump->thread_count);
	text_wrapped(&layout, "  ", words);
	if (dump->python_refusal)
		text_wrapped(&layout, "  no Python frames: ", dump->python_refusal);
	for (size_t i = 0; i < dump->thread_count; i++)
		put_thread(&layout, &dump->threads[i]);
}

static json_t *json_thread(const struct thread_dump *dump, const struct dumped_thread *thread)
{
	json_t *object = json_object();

	object = json_with(object, "tid", json_integer(thread->tid));
	object = json_with(object, "name", json_text(thread->name));
	object = json_with(object, "state", json_text(thread_activity_name(thread->activity)));
	object = json_with(object, "python", json_boolean(thread->python));
	object = json_with(object, "gil",
			   dump->gil_known ? json_boolean(thread->holds_gil) : json_null());
	object = json_with(object, "collecting", json_boolean(thread->collecting));
	object = json_with(object, "native", json_boolean(thread->native_known));
	object = json_with(object, "moved", json_boolean(thread->moved));
	return json_with(object, "frames", json_frames(thread->frames, thread->frame_count));
}

int dump_write_json(const struct thread_dump *dump, FILE *file)
{
	json_t *object = json_object(), *threads = json_array();
	char version[48];
	int error;

	snprintf(version, sizeof(version), "%d.%d.%d", dump->python.major, dump->python.minor,
		 dump->python.micro);
	for (size_t i = 0; i < dump->thread_count; i++)
		threads = json_appended(threads, json_thread(dump, &dump->threads[i]));
	object = json_with(object, "pid", json_integer(dump->pid));
	object = json_with(object, "python", dump->python.major ? json_text(version) : json_null());
	error = json_put(file, json_with(object, "threads", threads));
	if (!error)
		fputc('\n', file);
	return error;
}
