/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which function in C a call is made to, as far as slow_call.h and outside_names.h have a word
 * to say of it. The name is read once for each function, from where CPython defines it.
 */
#ifndef PIEPROFD_DAEMON_DETECT_BUILTIN_CALL_H
#define PIEPROFD_DAEMON_DETECT_BUILTIN_CALL_H

#include "daemon/contents/content_kind.h"
#include "daemon/detect/database_query.h"

#define BUILTIN_CALLS_KNOWN 256

struct builtin_call {
	remote_addr definition;
	uint8_t slow; /* slow_call_get()'s number; 0: none of these, or it cannot be told */
	bool asks;    /* outside_names.h */
	bool appends; /* list.append() and its like */
	bool queries; /* a database, by its first argument: DB API's execute() and executemany() */
};

struct builtin_calls {
	int minor;
	struct builtin_call known[BUILTIN_CALLS_KNOWN]; /* by address, modulo this */
};

/* callable: one that has a definition. Reads the target's memory. Valid until the next call. */
const struct builtin_call *builtin_call_find(struct builtin_calls *calls,
					     const struct memory_reader *reader,
					     const struct fingerprint *callable);

/*
 * What execute() is given: a str's object. False: its text cannot be read. A text of other
 * characters than ASCII says nothing.
 */
bool builtin_call_read_query(const struct builtin_calls *calls, const struct memory_reader *reader,
			     remote_addr text, struct database_query *ret);

#endif
