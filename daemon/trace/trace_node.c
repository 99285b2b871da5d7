/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/trace/trace_node.h"

#include "common/whole_file.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

void trace_node_read(struct trace_node *ret_node)
{
	struct timespec wall = { 0 }, monotonic = { 0 };
	struct utsname names;
	char *boot;
	size_t size;

	*ret_node = (struct trace_node){ 0 };
	if (!whole_file_read("/proc/sys/kernel/random/boot_id", sizeof(ret_node->boot), &boot,
			     &size)) {
		snprintf(ret_node->boot, sizeof(ret_node->boot), "%.*s", (int)strcspn(boot, "\n"),
			 boot);
		free(boot);
	}
	if (!uname(&names))
		snprintf(ret_node->host, sizeof(ret_node->host), "%.*s",
			 (int)sizeof(ret_node->host) - 1, names.nodename);
	(void)clock_gettime(CLOCK_MONOTONIC, &monotonic);
	(void)clock_gettime(CLOCK_REALTIME, &wall);
	ret_node->wall_ns = (int64_t)(wall.tv_sec - monotonic.tv_sec) * 1000000000 +
			    (wall.tv_nsec - monotonic.tv_nsec);
}
