/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is traced beside calls of MPI: functions that the user names, the interpreter's garbage
 * collection, and its waits for the GIL. Each is a span: it begins and ends in one thread. A number
 * of this list is what trace events call it.
 */
#ifndef PIEPROFD_DAEMON_TRACE_SPAN_H
#define PIEPROFD_DAEMON_TRACE_SPAN_H

#include "attach/bpf/span_record.h"

#include <stdbool.h>
#include <stdint.h>

#define SPAN_NAME_BYTES 128

enum span_kind {
	SPAN_FUNCTION,
	SPAN_COLLECTION,
	SPAN_GIL,
};

struct span {
	enum span_kind kind;
	char library[SPAN_NAME_BYTES]; /* SPAN_FUNCTION: as the user names it */
	char function[SPAN_NAME_BYTES];
	char name[2 * SPAN_NAME_BYTES + 1]; /* for people */
	uint64_t least_ns;                  /* shorter ones are counted alone */
};

struct span_list { /* all zeros: empty */
	struct span items[SPANS_MAX];
	unsigned count;
};

/* Waits for the GIL that are shorter are no waits: the probes themselves take some of that. */
#define SPAN_GIL_LEAST_NS 20000

/* "LIBRARY:FUNCTION". 0, -EINVAL: it is none, -E2BIG: one too many, -EEXIST: it is there already.
 */
__attribute__((warn_unused_result)) int span_list_add_function(struct span_list *list,
							       const char *text);
/* One of the interpreter's. Likewise. */
__attribute__((warn_unused_result)) int span_list_add(struct span_list *list, enum span_kind kind);

/* Is a file of that path what the user calls library? "libm" and "libm.so.6" are libm.so.6. */
bool span_library_is(const char *library, const char *path);

/* "function", "gc" and "gil", for programs. */
const char *span_kind_name(enum span_kind kind);

#endif
