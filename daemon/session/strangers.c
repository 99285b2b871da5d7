/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/session/strangers.h"

#include "common/array.h"

#include <stdio.h>
#include <sys/stat.h>

static int compare_pids(const void *left, const void *right)
{
	const struct stranger *a = left, *b = right;

	return a->pid < b->pid ? -1 : a->pid > b->pid;
}

void strangers_deinit(struct strangers *strangers)
{
	free(strangers->met.items);
	free(strangers->before.items);
	*strangers = (struct strangers){ 0 };
}

void strangers_begin(struct strangers *strangers, uint64_t now_ns)
{
	struct stranger_list met = strangers->met;

	strangers->met = strangers->before;
	strangers->met.count = 0;
	strangers->before = met;
	/* In order already, as the kernel lists them. */
	if (met.count)
		qsort(met.items, met.count, sizeof(met.items[0]), compare_pids);
	strangers->now_ns = now_ns;
	strangers->looks = 0;
}

static void keep(struct strangers *strangers, const struct stranger *stranger)
{
	struct stranger_list *met = &strangers->met;

	if (met->count < STRANGERS_MAX && ARRAY_ROOM(met->items, met->count, met->capacity))
		met->items[met->count++] = *stranger;
}

/* When many are due, in turn. */
static bool may_look(struct strangers *strangers, pid_t pid)
{
	if (strangers->looks == STRANGERS_LOOKS_MAX || pid <= strangers->looked_until)
		return false;
	if (++strangers->looks == STRANGERS_LOOKS_MAX)
		strangers->looked_until = pid;
	return true;
}

bool strangers_pass(struct strangers *strangers, pid_t pid)
{
	struct stranger *asked = &strangers->asked, *known = NULL;
	struct stat program;
	char path[64];

	*asked = (struct stranger){ .pid = pid, .since_ns = strangers->now_ns };
	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	if (stat(path, &program))
		return false;
	asked->device = program.st_dev;
	asked->inode = program.st_ino;
	if (strangers->before.count)
		known = bsearch(asked, strangers->before.items, strangers->before.count,
				sizeof(*asked), compare_pids);
	if (!known || known->device != asked->device || known->inode != asked->inode)
		return false;
	asked->since_ns = known->since_ns;
	if (known->next_look_ns <= strangers->now_ns && may_look(strangers, pid))
		return false;
	keep(strangers, known);
	return true;
}

void strangers_add(struct strangers *strangers)
{
	struct stranger *asked = &strangers->asked;
	uint64_t pause_ns = strangers->now_ns - asked->since_ns;

	if (!asked->inode)
		return;
	asked->next_look_ns = strangers->now_ns +
			      (pause_ns < STRANGERS_PAUSE_MAX ? pause_ns : STRANGERS_PAUSE_MAX);
	keep(strangers, asked);
}

void strangers_end(struct strangers *strangers)
{
	if (strangers->looks < STRANGERS_LOOKS_MAX)
		strangers->looked_until = 0;
}
