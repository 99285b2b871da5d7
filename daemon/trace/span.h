/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is traced beside calls of MPI: functions that the user names, the interpreter's garbage
 * collection, its waits for the GIL, threads off the processor, and page faults. Each is a span: it
 * begins and ends in one thread. A number of this list is what trace events call it.
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
	SPAN_SWITCH,
	SPAN_FAULT,
	SPAN_PYTHON, /* functions, all together; each event has its own in path and tag */
};

#define FUNCTION_PATTERNS_MAX 16

/* Which Python functions are traced. */
struct function_choice {
	const char *patterns[FUNCTION_PATTERNS_MAX]; /* borrowed; of name, file or file's name */
	unsigned pattern_count;
	unsigned depth_max;  /* in each other; 0: as deep as can be */
	uint64_t least_ns;   /* shorter calls are counted alone */
	double max_overhead; /* of the time of the process, for its probes; 0: FUNCTION_OVERHEAD */
};

#define FUNCTION_OVERHEAD 0.02

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
	struct function_choice functions;
	unsigned counters; /* a bit for each enum counter_kind: no spans, but asked for likewise */
};

/* Waits for the GIL that are shorter are no waits: the probes themselves take some of that. */
#define SPAN_GIL_LEAST_NS 20000
/* A thread that is off the processor for less has lost little. */
#define SPAN_SWITCH_LEAST_NS 10000

/* Nothing beside MPI is asked for. */
bool span_list_is_empty(const struct span_list *list);

/* "LIBRARY:FUNCTION". 0, -EINVAL: it is none, -E2BIG: one too many, -EEXIST: it is there already.
 */
__attribute__((warn_unused_result)) int span_list_add_function(struct span_list *list,
							       const char *text);
/* One of the interpreter's. Likewise. */
__attribute__((warn_unused_result)) int span_list_add(struct span_list *list, enum span_kind kind);

/* Is a file of that path what the user calls library? "libm" and "libm.so.6" are libm.so.6. */
bool span_library_is(const char *library, const char *path);

/* Calls of Python functions that the pattern fits. 0, -E2BIG. */
__attribute__((warn_unused_result)) int span_list_add_pattern(struct span_list *list,
							      const char *pattern);
/* Is a function of that name, from that file, asked for? */
bool function_choice_fits(const struct function_choice *choice, const char *function,
			  const char *file);

/* "function", "gc", "gil", "sched", "faults" and "python", for programs. */
const char *span_kind_name(enum span_kind kind);

/* The first of that kind in the list; -1: none is. */
int span_list_find(const struct span_list *list, enum span_kind kind);

/* Whether the kernel itself notes such ones, in a process to which nothing is written, and tells
 * them apart by a detail (span_record.h). */
bool span_kind_is_kernel(enum span_kind kind);

/* Whether any of the list has probes, which are written into a process. */
bool span_list_has_probes(const struct span_list *list);

/* What the detail says: "waiting in futex", "minor page fault". */
void span_detail_words(enum span_kind kind, int32_t detail, char ret_words[static SPAN_NAME_BYTES]);

#endif
