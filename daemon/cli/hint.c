/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cli/hint.h"

#include "attach/children.h"

/* Of the time watched: who used the CPU for longer is worth a profile itself. */
#define IDLE_SHARE_MAX 0.1

void hint_children(FILE *file, const struct profile_facts *facts)
{
	struct pid_list children = { 0 };

	if (facts->target_exited ||
	    (double)facts->cpu_ns > IDLE_SHARE_MAX * (double)facts->duration_ns)
		return;
	if (!children_read(facts->target.pid, &children) && children.count)
		fprintf(file,
			"pieprofd: process %d has %zu child process%s, not profiled; if the work "
			"is "
			"done there, --follow profiles them, too\n",
			(int)facts->target.pid, children.count, children.count == 1 ? "" : "es");
	pid_list_deinit(&children);
}
