/* SPDX-License-Identifier: Apache-2.0 */
/* What the requests and messages of one process stand for until they are completed, by handle. */
#ifndef PIEPROFD_DAEMON_TRACE_REQUEST_TABLE_H
#define PIEPROFD_DAEMON_TRACE_REQUEST_TABLE_H

#include "daemon/trace/trace_event.h"

#include <stdbool.h>
#include <stddef.h>

#define REQUESTS_MAX 65536

struct request {
	uint64_t handle;
	bool used;
	bool persistent;          /* stays when it is completed */
	bool active;              /* of a persistent one: it was started */
	struct trace_event event; /* TRACE_SEND or TRACE_RECEIVE */
};

struct request_table { /* all zeros: empty */
	struct request *slots;
	size_t capacity; /* a power of two */
	size_t count;
	uint64_t left_out;
};

void request_table_deinit(struct request_table *table);

/* In place of one with the same handle: that one has ended unseen. */
void request_table_put(struct request_table *table, const struct request *request);

/* NULL: there is none. Until the next call for the table. */
struct request *request_table_find(const struct request_table *table, uint64_t handle);
void request_table_remove(struct request_table *table, struct request *request);

#endif
