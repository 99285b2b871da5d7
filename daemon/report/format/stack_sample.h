/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A profile as samples, for formats whose samples are a stack, values and labels: pprof's files
 * and OpenTelemetry's messages have the same ones.
 *
 * A sample for each thread and node of the tree with time of its own, and where
 * sleeping threads were looked at one for each thing it waited for; their labels
 * say whose: thread, tid, pid, container, and what is known of process_labels.h. For each pair,
 * where there are any, a sample that reads, from the root inwards: the path of the earlier access,
 * a frame "[read again by]" or "[written again by]", and the later access from where its path
 * leaves the earlier one, at least from its innermost Python frame.
 */
#ifndef PIEPROFD_DAEMON_REPORT_FORMAT_STACK_SAMPLE_H
#define PIEPROFD_DAEMON_REPORT_FORMAT_STACK_SAMPLE_H

#include "daemon/report/format/pprof_table.h"

/* Which of them. */
enum pprof_view {
	PPROF_ALL,        /* what the writer has */
	PPROF_CPU,        /* samples/count, cpu/nanoseconds: runtime/pprof's */
	PPROF_WALL,       /* samples/count, time/nanoseconds, CPU and asleep: fgprof's */
	PPROF_REDUNDANCY, /* redundant/count, avoidable/nanoseconds: the pairs */
};

enum sample_value {
	SAMPLE_VALUE_SAMPLES,
	SAMPLE_VALUE_CPU,
	SAMPLE_VALUE_WALL,
	SAMPLE_VALUE_PYTHON,
	SAMPLE_VALUE_NATIVE,
	SAMPLE_VALUE_SYSTEM,
	SAMPLE_VALUE_WAITING,   /* where it was looked for */
	SAMPLE_VALUE_REDUNDANT, /* these two where there are pairs */
	SAMPLE_VALUE_AVOIDABLE,
	SAMPLE_VALUE_COUNT
};

struct sample_value_type {
	const char *type, *unit;
};

extern const struct sample_value_type sample_value_types[SAMPLE_VALUE_COUNT];

/* Whether the view has such values of this profile. */
bool sample_view_has(const struct profile *profile, enum pprof_view view, enum sample_value value);

#define STACK_SAMPLE_LABELS_MAX 16

struct stack_sample {
	const uint64_t *stack; /* ids of locations, the leaf first */
	size_t depth;
	pid_t pid; /* whose; 0: of several, or not known */
	uint64_t values[SAMPLE_VALUE_COUNT];
	struct sample_label {
		const char *key, *text;
	} labels[STACK_SAMPLE_LABELS_MAX];
	size_t label_count;
};

/* Which processes' samples: those that takes() wants of the pids of stack_sample. */
struct stack_part {
	bool (*takes)(const void *context, pid_t pid);
	const void *context;
};

/* Takes the sample while it is called. 0, or a negative errno: no more are wanted. */
typedef int stack_sample_put(void *context, const struct stack_sample *sample);

/* Locations of these samples are added to the table. part: NULL: all. 0, -ENOMEM or what put
 * said. */
__attribute__((warn_unused_result)) int stack_samples_put(const struct profile *profile,
							  enum pprof_view view,
							  const struct stack_part *part,
							  struct pprof_table *table,
							  stack_sample_put *put, void *context);

#endif
