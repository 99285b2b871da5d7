/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/hint.h"

#include "attach/children.h"

#define CHILDREN_COUNTED 64
/* Of the time watched: who used the CPU for longer is worth a profile itself. */
#define IDLE_SHARE_MAX 0.1

void hint_children(FILE *file, const struct profile_facts *facts)
{
	pid_t children[CHILDREN_COUNTED];
	size_t count = 0;

	if (facts->target_exited ||
	    (double)facts->cpu_ns > IDLE_SHARE_MAX * (double)facts->duration_ns ||
	    children_read(facts->target.pid, children, CHILDREN_COUNTED, &count) || !count)
		return;
	fprintf(file,
		"pieprofd: process %d has %s%zu child process%s, not profiled: is it they that do "
		"the work? --follow profiles them, too\n",
		(int)facts->target.pid, count == CHILDREN_COUNTED ? "at least " : "", count,
		count == 1 ? "" : "es");
}
