/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/births.h"

#include "attach/last_pid.h"

#include <stddef.h>
#include <string.h>
#include <unistd.h>

static const unsigned ages[] = { 2, 4, 8, BIRTHS_LOOKS };

#define AGES (sizeof(ages) / sizeof(ages[0]))

static void forget(struct births *births, pid_t last)
{
	for (size_t i = 0; i <= BIRTHS_LOOKS; i++)
		births->last[i] = last;
}

int births_open(struct births *births)
{
	pid_t last = 0;
	int error;

	births->fd = last_pid_open();
	error = births->fd < 0 ? births->fd : last_pid_read(births->fd, &last);
	forget(births, last);
	if (error)
		births_close(births);
	return error;
}

void births_close(struct births *births)
{
	if (births->fd > 0)
		close(births->fd);
	births->fd = -1;
}

void births_look(struct births *births, void (*born)(void *context, pid_t pid, unsigned looks),
		 void *context)
{
	size_t count = 0;
	pid_t last;

	if (births->fd <= 0 || last_pid_read(births->fd, &last))
		return;
	if (last < births->last[0]) {
		forget(births, last);
		return;
	}
	memmove(births->last + 1, births->last, BIRTHS_LOOKS * sizeof(births->last[0]));
	births->last[0] = last;
	for (size_t i = 0; i < AGES; i++)
		count += (size_t)(births->last[ages[i] - 1] - births->last[ages[i]]);
	for (size_t i = 0; i < AGES && count <= BIRTHS_MAX; i++)
		for (pid_t pid = births->last[ages[i]] + 1; pid <= births->last[ages[i] - 1]; pid++)
			born(context, pid, ages[i]);
}
