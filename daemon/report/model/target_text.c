/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/model/target_text.h"

#include <stdio.h>

void target_command_text(const struct profile_target *target, char *text, size_t size)
{
	const char *const *words = target->command;
	size_t used = 0;

	*text = '\0';
	for (size_t i = 0; words && words[i] && used < size; i++)
		used += (size_t)snprintf(text + used, size - used, "%s%s", i ? " " : "", words[i]);
}

void target_python_text(const struct profile_target *target, char *text, size_t size)
{
	const struct python_version *python = &target->python;

	*text = '\0';
	if (python->major)
		snprintf(text, size, "%d.%d.%d", python->major, python->minor, python->micro);
}
