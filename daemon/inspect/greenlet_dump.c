/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/inspect/greenlet_dump.h"

#include "attach/procfs.h"
#include "daemon/capture/target.h"
#include "daemon/inspect/suspended_frames.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * Of a thread that is not the first, glibc puts what pthread_self() says above
 * the stack, into the same mapping.
 */
static pid_t find_thread(const struct target *target, const struct python_thread_list *threads,
			 pid_t first, remote_addr stack)
{
	const struct mapping *mapping = stack ? mapping_find(&target->mappings, stack) : NULL;
	const struct python_thread *nearest = NULL;

	if (!mapping)
		return 0;
	if (!strcmp(mapping->path, "[stack]"))
		return first;
	for (size_t i = 0; i < threads->count; i++) {
		const struct python_thread *thread = &threads->items[i];

		if (thread->ident >= stack && thread->ident < mapping->end &&
		    (!nearest || thread->ident < nearest->ident))
			nearest = thread;
	}
	return nearest ? nearest->tid : 0;
}

/*
 * One without frames runs, or waits in native code: it runs where it is the
 * only one of its thread, and the thread's main one waits.
 */
static bool runs(const struct greenlet_dump *greenlets, size_t index)
{
	const pid_t tid = greenlets->shown[index].tid;
	bool main_waits = false;

	if (!tid || greenlets->list.items[index].frame_count)
		return false;
	for (size_t i = 0; i < greenlets->count; i++) {
		if (i == index || greenlets->shown[i].tid != tid)
			continue;
		if (!greenlets->list.items[i].frame_count)
			return false;
		main_waits |= greenlets->shown[i].main;
	}
	return main_waits;
}

int greenlet_dump_read(struct greenlet_dump *greenlets, struct target *target,
		       const struct python_thread_list *threads, struct local_dump *locals)
{
	struct process_status status;
	int error = greenlet_list_read(target->runtime, threads, &greenlets->list);
	pid_t first = procfs_read_status(target->pid, 0, &status) ? 0 : status.inner_pid;

	if (error) {
		greenlets->list.flags = GREENLETS_UNKNOWN;
		return error == -ENOMEM ? -ENOMEM : 0;
	}
	greenlets->shown = calloc(greenlets->list.count + 1, sizeof(greenlets->shown[0]));
	if (!greenlets->shown)
		return -ENOMEM;
	greenlets->count = greenlets->list.count;
	for (size_t i = 0; i < greenlets->count; i++) {
		const struct greenlet *greenlet = &greenlets->list.items[i];

		greenlets->shown[i].type = greenlet->type;
		greenlets->shown[i].main = greenlet->main;
		greenlets->shown[i].tid = find_thread(target, threads, first, greenlet->stack);
		if (locals && local_dump_suspended(locals, greenlet->frames, greenlet->frame_count,
						   &greenlets->shown[i].locals))
			return -ENOMEM;
	}
	for (size_t i = 0; i < greenlets->count; i++)
		greenlets->shown[i].running = runs(greenlets, i);
	return 0;
}

static void turn_frames_round(struct profile_frame *frames, size_t count)
{
	for (size_t i = 0; i < count / 2; i++) {
		struct profile_frame frame = frames[i];

		frames[i] = frames[count - 1 - i];
		frames[count - 1 - i] = frame;
	}
}

int greenlet_dump_show(struct greenlet_dump *greenlets, struct source_cache *sources)
{
	for (size_t i = 0; i < greenlets->count; i++) {
		const struct greenlet *greenlet = &greenlets->list.items[i];
		struct dumped_greenlet *shown = &greenlets->shown[i];

		shown->frames =
			suspended_frames_show(greenlet->frames, greenlet->frame_count, sources);
		if (!shown->frames)
			return -ENOMEM;
		shown->frame_count = greenlet->frame_count;
		turn_frames_round(shown->frames, shown->frame_count);
	}
	return 0;
}

void greenlet_dump_deinit(struct greenlet_dump *greenlets)
{
	for (size_t i = 0; i < greenlets->count; i++) {
		free(greenlets->shown[i].frames);
		dumped_locals_deinit(&greenlets->shown[i].locals);
	}
	free(greenlets->shown);
	greenlet_list_deinit(&greenlets->list);
	*greenlets = (struct greenlet_dump){ 0 };
}
