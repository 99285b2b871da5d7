/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/inspect/dump_writer.h"

#include "common/hash.h"
#include "daemon/inspect/alike.h"
#include "daemon/report/format/json_value.h"
#include "daemon/report/format/text_layout.h"
#include "daemon/report/model/container_text.h"
#include "daemon/report/model/start_frame.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Of threads, or tasks, that are alike, so many are named. */
#define NAMED_MAX 12

static const struct dumped_thread *find_holder(const struct thread_dump *dump)
{
	for (size_t i = 0; i < dump->thread_count; i++)
		if (dump->threads[i].holds_gil)
			return &dump->threads[i];
	return NULL;
}

static void dump_put_frame(const struct text_layout *layout, const struct profile_frame *frame)
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

static void put_locals(const struct text_layout *layout, const struct dumped_frame_locals *locals)
{
	char text[512];

	for (size_t i = 0; i < locals->count; i++) {
		snprintf(text, sizeof(text), "%s = %s", locals->items[i].name,
			 locals->items[i].value);
		fputs("            ", layout->file);
		text_last_cell(layout, text, layout->columns - 12);
	}
}

/* Innermost first, without so many of the outermost. */
static void put_frames(const struct text_layout *layout, const struct profile_frame *frames,
		       size_t count, size_t left_out, const struct dumped_locals *locals)
{
	for (size_t i = count; i-- > left_out;) {
		const struct dumped_frame_locals *own = dumped_locals_of(locals, frames, i);

		dump_put_frame(layout, &frames[i]);
		if (own)
			put_locals(layout, own);
	}
}

/* "waiting for a lock"; "": nothing worth telling. */
static const char *waiting_words(const struct dumped_thread *thread)
{
	static const char *const words[WAIT_KIND_COUNT] = {
		[WAIT_LOCK] = "waiting for a lock",           [WAIT_GIL] = "",
		[WAIT_IO] = "waiting for input or output",    [WAIT_SLEEP] = "waiting for a time",
		[WAIT_CHILD] = "waiting for another process", [WAIT_OTHER] = "",
	};

	return thread->activity == THREAD_SLEEPING && thread->waits_known ? words[thread->waits_for]
									  : "";
}

static void put_task_name(const struct text_layout *layout, const char *label,
			  const struct dumped_task *task)
{
	char text[256];

	if (task->name[0])
		snprintf(text, sizeof(text), "%stask \"%s\"", label, task->name);
	else
		snprintf(text, sizeof(text), "%sa task without a name", label);
	fputs("    ", layout->file);
	text_last_cell(layout, text, layout->columns - 4);
}

static void put_more(const struct text_layout *layout, size_t members)
{
	if (members > NAMED_MAX)
		fprintf(layout->file, "    (%zu more)\n", members - NAMED_MAX);
}

/* With those like it: the one at index and later ones. */
static void put_task(const struct text_layout *layout, const struct thread_dump *dump,
		     const struct alike *alike, size_t index)
{
	const struct dumped_task *task = &dump->tasks[index];
	char heading[64], of_thread[32] = "";

	if (task->tid)
		snprintf(of_thread, sizeof(of_thread), " of thread %d", (int)task->tid);
	if (alike[index].members > 1)
		snprintf(heading, sizeof(heading), "%zu TASKS%s", alike[index].members, of_thread);
	else
		snprintf(heading, sizeof(heading), "TASK%s", of_thread);
	text_heading(layout, heading, "%s%s", task->running ? "running" : "waiting",
		     alike[index].members > 1 ? ", all alike" : "");
	for (size_t i = index, named = 0; i < dump->task_count && named < NAMED_MAX; i++)
		if (alike[i].first == index && ++named)
			put_task_name(layout, "", &dump->tasks[i]);
	put_more(layout, alike[index].members);
	put_frames(layout, task->frames, task->frame_count, 0, &task->locals);
	if (task->awaited)
		put_task_name(layout, "waits for ", task->awaited);
}

static void put_greenlet_type(const struct text_layout *layout, const char *label,
			      const struct dumped_greenlet *greenlet)
{
	char text[256];

	snprintf(text, sizeof(text), "%s%s", label, greenlet->type);
	fputs("    ", layout->file);
	text_last_cell(layout, text, layout->columns - 4);
}

/* With those like it: the one at index and later ones. */
static void put_greenlet(const struct text_layout *layout, const struct dumped_greenlet *greenlet,
			 size_t members)
{
	const char *main = greenlet->main ? "MAIN " : "";
	char heading[64], of_thread[32] = "";

	if (greenlet->tid)
		snprintf(of_thread, sizeof(of_thread), " of thread %d", (int)greenlet->tid);
	if (members > 1)
		snprintf(heading, sizeof(heading), "%zu %sGREENLETS%s", members, main, of_thread);
	else
		snprintf(heading, sizeof(heading), "%sGREENLET%s", main, of_thread);
	text_heading(layout, heading, "waiting%s%s",
		     greenlet->frame_count ? "" : ", no Python frames",
		     members > 1 ? ", all alike" : "");
	put_greenlet_type(layout, "", greenlet);
	put_frames(layout, greenlet->frames, greenlet->frame_count, 0, &greenlet->locals);
}

static void put_thread_names(const struct text_layout *layout, const struct thread_dump *dump,
			     const struct alike *alike, size_t index)
{
	size_t named = 0;

	for (size_t i = index; i < dump->thread_count && named < NAMED_MAX; i++) {
		const struct dumped_thread *thread = &dump->threads[i];

		if (alike[i].first != index)
			continue;
		named++;
		fputs("    ", layout->file);
		if (alike[index].members > 1)
			fprintf(layout->file, "%-8d", (int)thread->tid);
		text_last_cell(layout, thread->name,
			       layout->columns - (alike[index].members > 1 ? 12 : 4));
	}
	put_more(layout, alike[index].members);
}

/* With those like it: the one at index and later ones. */
static void dump_put_thread(const struct text_layout *layout, const struct thread_dump *dump,
			    const struct alike *alike, size_t index)
{
	const struct dumped_thread *thread = &dump->threads[index];
	const char *waiting = waiting_words(thread);
	size_t left_out;
	char name[160];

	if (alike[index].members > 1)
		snprintf(name, sizeof(name), "%zu THREADS", alike[index].members);
	else
		snprintf(name, sizeof(name), "THREAD %d", (int)thread->tid);
	text_heading(layout, name, "%s%s%s%s%s%s%s", thread_activity_name(thread->activity),
		     waiting[0] ? ", " : "", waiting, thread->holds_gil ? ", holds the GIL" : "",
		     thread->collecting ? ", collects garbage" : "",
		     thread->python ? "" : ", no Python",
		     alike[index].members > 1 ? ", all alike" : "");
	put_thread_names(layout, dump, alike, index);
	if (thread->task)
		put_task_name(layout, "asyncio: ", thread->task);
	if (thread->greenlet)
		put_greenlet_type(layout, "runs greenlet ", thread->greenlet);
	if (thread->moved)
		text_wrapped(layout, "    ",
			     "The thread ran on while it was read: no stack is known.");
	left_out = dump->start_frames ? 0 : start_frames_count(thread->frames, thread->frame_count);
	put_frames(layout, thread->frames, thread->frame_count, left_out, &thread->locals);
}

static int dump_put_threads(const struct text_layout *layout, const struct thread_dump *dump)
{
	struct alike *alike = calloc(dump->thread_count + 1, sizeof(*alike));

	if (!alike)
		return -ENOMEM;
	for (size_t i = 0; i < dump->thread_count; i++) {
		const struct dumped_thread *thread = &dump->threads[i];

		alike[i].frames = thread->frames;
		alike[i].frame_count = thread->frame_count;
		alike[i].kind = (uint64_t)thread->activity << 32 |
				(uint64_t)thread->waits_for << 8 | thread->waits_known << 1 |
				thread->python;
		alike[i].alone = dump->locals || thread->holds_gil || thread->collecting ||
				 thread->task || thread->greenlet || thread->moved ||
				 thread->activity == THREAD_RUNNING;
	}
	alike_find(alike, dump->thread_count);
	for (size_t i = 0; i < dump->thread_count; i++)
		if (alike[i].first == i)
			dump_put_thread(layout, dump, alike, i);
	free(alike);
	return 0;
}

static int put_tasks(const struct text_layout *layout, const struct thread_dump *dump)
{
	struct alike *alike = calloc(dump->task_count + 1, sizeof(*alike));

	if (!alike)
		return -ENOMEM;
	for (size_t i = 0; i < dump->task_count; i++) {
		const struct dumped_task *task = &dump->tasks[i];

		alike[i].frames = task->frames;
		alike[i].frame_count = task->frame_count;
		alike[i].kind = (uint64_t)task->tid;
		alike[i].alone = dump->locals || task->running || task->awaited;
	}
	alike_find(alike, dump->task_count);
	for (size_t i = 0; i < dump->task_count; i++)
		if (alike[i].first == i)
			put_task(layout, dump, alike, i);
	free(alike);
	return 0;
}

/* One that runs is told with its thread. */
static int put_greenlets(const struct text_layout *layout, const struct thread_dump *dump)
{
	struct alike *alike = calloc(dump->greenlet_count + 1, sizeof(*alike));

	if (!alike)
		return -ENOMEM;
	for (size_t i = 0; i < dump->greenlet_count; i++) {
		const struct dumped_greenlet *greenlet = &dump->greenlets[i];

		alike[i].frames = greenlet->frames;
		alike[i].frame_count = greenlet->frame_count;
		alike[i].kind = hash_combine(hash_add_string(HASH_BASIS, greenlet->type),
					     (uint64_t)greenlet->tid << 1 | greenlet->main);
		alike[i].alone = dump->locals || greenlet->running;
	}
	alike_find(alike, dump->greenlet_count);
	for (size_t i = 0; i < dump->greenlet_count; i++)
		if (alike[i].first == i && !dump->greenlets[i].running)
			put_greenlet(layout, &dump->greenlets[i], alike[i].members);
	free(alike);
	return 0;
}

static const char *name_of(const struct thread_dump *dump, pid_t tid)
{
	for (size_t i = 0; i < dump->thread_count; i++)
		if (dump->threads[i].tid == tid)
			return dump->threads[i].name;
	return "?";
}

static void put_wait(const struct text_layout *layout, const struct thread_dump *dump,
		     const struct dumped_wait *wait)
{
	char words[512];

	if (wait->lock)
		snprintf(words, sizeof(words), "Thread %d (%s) waits for the %s at 0x%" PRIx64 ":",
			 (int)wait->tid, name_of(dump, wait->tid),
			 wait->recursive ? "RLock" : "lock", wait->lock);
	else
		snprintf(words, sizeof(words),
			 "Thread %d (%s) waits for thread %d (%s) to end:", (int)wait->tid,
			 name_of(dump, wait->tid), (int)wait->holder, name_of(dump, wait->holder));
	text_wrapped(layout, "  ", words);
	dump_put_frame(layout, &wait->waits_at);
	if (!wait->lock)
		return;
	snprintf(words, sizeof(words), "Thread %d (%s) has that lock%s", (int)wait->holder,
		 name_of(dump, wait->holder),
		 wait->held_known ? ", since here:" : "; where it took it is not known.");
	text_wrapped(layout, "  ", words);
	if (wait->held_known)
		dump_put_frame(layout, &wait->held_at);
}

/* A circle at a time, before everything else. */
static void put_deadlocks(const struct text_layout *layout, const struct thread_dump *dump)
{
	const struct dumped_deadlocks *deadlocks = &dump->deadlocks;

	for (size_t i = 0; i < deadlocks->count; i++) {
		const struct dumped_wait *wait = &deadlocks->waits[i];

		if (!i || wait->circle != wait[-1].circle)
			text_heading(layout, "PROBABLE DEADLOCK", "%s",
				     wait->tid == wait->holder
					     ? "a thread waits for itself"
					     : "threads wait for each other in a circle");
		put_wait(layout, dump, wait);
	}
}

static void put_losses(const struct text_layout *layout, const struct thread_dump *dump)
{
	const struct source_refusals *sources = &dump->sources;

	if (dump->left_out)
		text_wrapped(layout, "  not shown: ", loss_words(LOSS_TARGET_LIMIT));
	if (dump->lost_files)
		text_wrapped(layout, "  ", loss_words(LOSS_FILE_LOST));
	if (dump->python.major && !dump->python.free_threaded && !dump->greenlets_known)
		text_wrapped(layout, "  ",
			     "Its greenlets are not shown: this version of Python or of greenlet "
			     "is not known.");
	if (dump->greenlets_incomplete)
		text_wrapped(layout, "  ",
			     "Greenlets may be missing: they changed while they were read.");
	if (sources->denied)
		text_wrapped(layout, "  ", loss_words(LOSS_SOURCE_DENIED));
	if (sources->refused)
		text_wrapped(layout, "  ", loss_words(LOSS_SOURCE_REFUSED));
	if (sources->unanswered)
		text_wrapped(layout, "  ", loss_words(LOSS_SOURCE_UNANSWERED));
}

int dump_write_text(const struct thread_dump *dump, const struct writer_options *options,
		    FILE *file)
{
	struct text_layout layout = {
		.file = file,
		.columns = options->columns ? options->columns : TEXT_COLUMNS_DEFAULT,
		.colour = options->colour,
	};
	const struct dumped_thread *holder = find_holder(dump);
	struct container_text container = container_words(&dump->container);
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
		fprintf(file, "Python %d.%d.%d%s\n", dump->python.major, dump->python.minor,
			dump->python.micro, python_version_build(&dump->python));
	else
		fputs("a Python that could not be read\n", file);
	if (container.text[0]) {
		fputs("  in container ", file);
		text_last_cell(&layout, container.text, layout.columns - 15);
	}
	fputs("  ", file);
	text_last_cell(&layout, command, layout.columns - 2);
	snprintf(words, sizeof(words), "%zu thread%s; %s", dump->thread_count,
		 figure_plural(dump->thread_count),
		 dump->gil_absent   ? "there is no GIL"
		 : !dump->gil_known ? "who holds the GIL could not be read"
				    : "nobody holds the GIL");
	if (holder && dump->gil_known && !dump->gil_absent)
		snprintf(words, sizeof(words), "%zu thread%s; thread %d holds the GIL",
			 dump->thread_count, figure_plural(dump->thread_count), (int)holder->tid);
	text_wrapped(&layout, "  ", words);
	if (dump->python_refusal)
		text_wrapped(&layout, "  no Python frames: ", dump->python_refusal);
	if (dump->python.free_threaded)
		text_wrapped(&layout, "  not read: ",
			     "asyncio's tasks, greenlets, and who holds a lock: a free-threaded "
			     "build");
	put_losses(&layout, dump);
	put_deadlocks(&layout, dump);
	return dump_put_threads(&layout, dump) || put_tasks(&layout, dump) ||
			       put_greenlets(&layout, dump)
		       ? -ENOMEM
		       : 0;
}

/* null: they are not known. */
static json_t *json_locals(const struct dumped_frame_locals *locals)
{
	json_t *array;

	if (!locals)
		return json_null();
	array = json_array();
	for (size_t i = 0; i < locals->count; i++) {
		json_t *object = json_object();

		object = json_with(object, "name", json_text(locals->items[i].name));
		object = json_with(object, "type", json_text(locals->items[i].type));
		object = json_with(object, "value", json_text(locals->items[i].value));
		array = json_appended(array, object);
	}
	return array;
}

/* Python's with their variables, where these were asked for. */
static json_t *json_frames_with(const struct thread_dump *dump, const struct profile_frame *frames,
				size_t count, const struct dumped_locals *locals)
{
	json_t *array = json_frames(frames, count);

	for (size_t i = 0; array && dump->locals && i < count; i++) {
		json_t *variables;

		if (frames[i].kind != FRAME_PYTHON)
			continue;
		variables = json_locals(dumped_locals_of(locals, frames, i));
		if (!variables || json_object_set_new_nocheck(json_array_get(array, i), "locals",
							      variables) < 0) {
			json_decref(array);
			return NULL;
		}
	}
	return array;
}

static json_t *json_task_name(const struct dumped_task *task)
{
	return json_text_or_null(task->name[0] ? task->name : NULL);
}

static json_t *json_task(const struct thread_dump *dump, const struct dumped_task *task)
{
	json_t *object = json_object();

	object = json_with(object, "name", json_task_name(task));
	object = json_with(object, "tid", task->tid ? json_integer(task->tid) : json_null());
	object = json_with(object, "running", json_boolean(task->running));
	object = json_with(object, "awaits",
			   task->awaited ? json_integer(task->awaited - dump->tasks) : json_null());
	return json_with(object, "frames",
			 json_frames_with(dump, task->frames, task->frame_count, &task->locals));
}

/* An array of circles, each an array of waits. */
static json_t *json_deadlocks(const struct dumped_deadlocks *deadlocks)
{
	json_t *circles = json_array(), *circle = NULL;

	for (size_t i = 0; i < deadlocks->count; i++) {
		const struct dumped_wait *wait = &deadlocks->waits[i];
		json_t *object = json_object();
		char lock[32];

		snprintf(lock, sizeof(lock), "0x%" PRIx64, wait->lock);
		object = json_with(object, "tid", json_integer(wait->tid));
		object = json_with(object, "holder", json_integer(wait->holder));
		object = json_with(object, "lock", wait->lock ? json_text(lock) : json_null());
		object = json_with(object, "recursive", json_boolean(wait->recursive));
		object = json_with(object, "waits_at", json_frames(&wait->waits_at, 1));
		object =
			json_with(object, "held_at", json_frames(&wait->held_at, wait->held_known));
		if (!circle)
			circle = json_array();
		circle = json_appended(circle, object);
		if (i + 1 == deadlocks->count || wait[1].circle != wait->circle) {
			circles = json_appended(circles, circle);
			circle = NULL;
		}
	}
	return circles;
}

/* null: this version of Python does not tell. */
static json_t *json_tasks(const struct thread_dump *dump)
{
	json_t *array;

	if (!dump->tasks_known)
		return json_null();
	array = json_array();
	for (size_t i = 0; i < dump->task_count; i++)
		array = json_appended(array, json_task(dump, &dump->tasks[i]));
	return array;
}

static json_t *json_greenlet(const struct thread_dump *dump, const struct dumped_greenlet *greenlet)
{
	json_t *object = json_object();

	object = json_with(object, "type", json_text(greenlet->type));
	object =
		json_with(object, "tid", greenlet->tid ? json_integer(greenlet->tid) : json_null());
	object = json_with(object, "main", json_boolean(greenlet->main));
	object = json_with(object, "running", json_boolean(greenlet->running));
	return json_with(
		object, "frames",
		json_frames_with(dump, greenlet->frames, greenlet->frame_count, &greenlet->locals));
}

/* null: this version of Python or of greenlet is not read. */
static json_t *json_greenlets(const struct thread_dump *dump)
{
	json_t *array;

	if (!dump->greenlets_known)
		return json_null();
	array = json_array();
	for (size_t i = 0; i < dump->greenlet_count; i++)
		array = json_appended(array, json_greenlet(dump, &dump->greenlets[i]));
	return array;
}

static json_t *dump_json_thread(const struct thread_dump *dump, const struct dumped_thread *thread)
{
	json_t *object = json_object();

	object = json_with(object, "tid", json_integer(thread->tid));
	object = json_with(object, "name", json_text(thread->name));
	object = json_with(object, "state", json_text(thread_activity_name(thread->activity)));
	object = json_with(object, "python", json_boolean(thread->python));
	object = json_with(object, "gil",
			   dump->gil_known ? json_boolean(thread->holds_gil) : json_null());
	object = json_with(object, "waiting_for",
			   thread->activity != THREAD_RUNNING && thread->waits_known
				   ? json_text(wait_kind_name(thread->waits_for))
				   : json_null());
	object = json_with(object, "task",
			   thread->task ? json_integer(thread->task - dump->tasks) : json_null());
	object = json_with(object, "greenlet",
			   thread->greenlet ? json_integer(thread->greenlet - dump->greenlets)
					    : json_null());
	object = json_with(object, "collecting", json_boolean(thread->collecting));
	object = json_with(object, "native", json_boolean(thread->native_known));
	object = json_with(object, "start_frames",
			   json_count(start_frames_count(thread->frames, thread->frame_count)));
	object = json_with(object, "moved", json_boolean(thread->moved));
	return json_with(
		object, "frames",
		json_frames_with(dump, thread->frames, thread->frame_count, &thread->locals));
}

int dump_write_json(const struct thread_dump *dump, FILE *file)
{
	json_t *object = json_object(), *threads = json_array();
	char version[48];
	int error;

	snprintf(version, sizeof(version), "%d.%d.%d", dump->python.major, dump->python.minor,
		 dump->python.micro);
	for (size_t i = 0; i < dump->thread_count; i++)
		threads = json_appended(threads, dump_json_thread(dump, &dump->threads[i]));
	object = json_with(object, "pid", json_integer(dump->pid));
	object = json_with(object, "container", json_container(&dump->container));
	object = json_with(object, "python", dump->python.major ? json_text(version) : json_null());
	object = json_with(object, "free_threaded", json_boolean(dump->python.free_threaded));
	object = json_with(object, "tasks", json_tasks(dump));
	object = json_with(object, "greenlets", json_greenlets(dump));
	object =
		json_with(object, "greenlets_incomplete", json_boolean(dump->greenlets_incomplete));
	object = json_with(object, "deadlocks", json_deadlocks(&dump->deadlocks));
	object = json_with(object, "source_denied", json_count(dump->sources.denied));
	object = json_with(object, "source_refused", json_count(dump->sources.refused));
	object = json_with(object, "source_unanswered", json_count(dump->sources.unanswered));
	object = json_with(object, loss_name(LOSS_FILE_LOST), json_count(dump->lost_files));
	object = json_with(object, loss_name(LOSS_TARGET_LIMIT), json_count(dump->left_out));
	error = json_put(file, json_with(object, "threads", threads));
	if (!error)
		fputc('\n', file);
	return error;
}
