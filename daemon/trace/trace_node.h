/* SPDX-License-Identifier: Apache-2.0 */
/* The machine on which a trace was recorded: processes of one have one clock. */
#ifndef PIEPROFD_DAEMON_TRACE_TRACE_NODE_H
#define PIEPROFD_DAEMON_TRACE_TRACE_NODE_H

#include <stdint.h>

struct trace_node {
	char boot[48];   /* the kernel's boot id: CLOCK_MONOTONIC is one per boot */
	char host[72];   /* for people */
	int64_t wall_ns; /* CLOCK_REALTIME less CLOCK_MONOTONIC: good to what NTP is good for */
};

/* This one, now. What cannot be told is empty. */
void trace_node_read(struct trace_node *ret_node);

#endif
