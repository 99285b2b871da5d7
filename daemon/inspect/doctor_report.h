/* SPDX-License-Identifier: Apache-2.0 */
/* What the doctor (doctor.h) has found: lines, and a verdict. */
#ifndef PIEPROFD_DAEMON_INSPECT_DOCTOR_REPORT_H
#define PIEPROFD_DAEMON_INSPECT_DOCTOR_REPORT_H

#include "common/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define DOCTOR_LINES_MAX 48

enum doctor_state {
	DOCTOR_OK,
	DOCTOR_LIMITED, /* a profile can do without, and lacks something */
	DOCTOR_MISSING, /* the main job cannot be done */
	DOCTOR_FACT,    /* neither good nor bad */
	DOCTOR_STATE_COUNT
};

struct doctor_line {
	const char *id; /* one word, stable */
	enum doctor_state state;
	bool of_process; /* else of the machine */
	char found[512];
	char meaning[384]; /* for profiling; "" where found says it */
	char cure[640];    /* "" when nothing is to be done, or can be */
};

struct doctor_report {
	pid_t pid; /* 0: none asked for */
	struct doctor_line lines[DOCTOR_LINES_MAX];
	size_t count;
	enum exit_code exit_code; /* what pieprofd --pid would end with */
	char verdict[384];
};

const char *doctor_state_name(enum doctor_state state); /* "OK", "limited", "missing", "fact" */

/* A new line at the end; the last one is written over when there is no room. */
__attribute__((format(printf, 4, 5))) struct doctor_line *doctor_add(struct doctor_report *report,
								     const char *id,
								     enum doctor_state state,
								     const char *found_format, ...);
__attribute__((format(printf, 2, 3))) void doctor_meaning(struct doctor_line *line,
							  const char *format, ...);
__attribute__((format(printf, 2, 3))) void doctor_cure(struct doctor_line *line, const char *format,
						       ...);

#endif
