/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which memory accesses count, by the functions that made them: neither the
 * garbage collector's nor the allocator's own, nor those of libraries and
 * functions that the user left out. Applied when the profile is made, as names
 * are known only then.
 */
#ifndef PIEPROFD_DAEMON_REPORT_MODEL_ACCESS_FILTER_H
#define PIEPROFD_DAEMON_REPORT_MODEL_ACCESS_FILTER_H

#include "daemon/capture/loss.h"
#include "daemon/report/model/place.h"

#define ACCESS_PATTERNS_MAX 32

/*
 * The user's choice: patterns as of a shell, each held against a function's
 * name, a library's file name and path, a Python file. Strings are borrowed.
 */
struct access_patterns {
	const char *include[ACCESS_PATTERNS_MAX]; /* none: everything */
	size_t include_count;
	const char *exclude[ACCESS_PATTERNS_MAX];
	size_t exclude_count;
};

/*
 * What is known of a path so far: of its innermost Python frame and the native
 * ones inside it. All false at a Python frame.
 */
struct access_filter {
	bool collector;
	bool allocator;
	bool included;
	bool excluded;
};

/* Goes on by one frame, whose place is given. patterns NULL: none. */
struct access_filter access_filter_step(struct access_filter outer, const struct frame *frame,
					const struct place *place,
					const struct access_patterns *patterns);

/* Why an access made there does not count; LOSS_COUNT: it does. */
enum loss access_filter_reason(struct access_filter filter, const struct access_patterns *patterns);

#endif
