/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where in the kernel the lines of a profile spend time: by line, by what the line entered the
 * kernel for, and by the function that ran there. Of samples whose place in the kernel is known
 * alone. Pure.
 */
#ifndef PIEPROFD_DAEMON_REPORT_MODEL_KERNEL_LINES_H
#define PIEPROFD_DAEMON_REPORT_MODEL_KERNEL_LINES_H

#include "daemon/report/model/profile.h"

#define KERNEL_CALL_BYTES 64

struct kernel_time {
	const char *function; /* the innermost: which ran */
	uint64_t time_ns;
	uint64_t samples;
};

/* Strings are the profile's. */
struct kernel_line {
	const struct profile_frame *frame; /* of Python, innermost; without any, the native one that
					      entered the kernel; NULL: none is known */
	const char *entry;                 /* the kernel's outermost function that tells anything */
	char call[KERNEL_CALL_BYTES];      /* the system call that this is; "": none, or unknown */
	uint64_t time_ns;
	uint64_t samples;
	const struct kernel_time *functions; /* most time first */
	size_t function_count;
};

struct kernel_lines {
	struct kernel_line *items; /* most time first */
	size_t count;
	uint64_t time_ns; /* of all */
	struct kernel_time *functions;
};

/* 0 or -ENOMEM; deinit in either case. */
__attribute__((warn_unused_result)) int kernel_lines_find(struct kernel_lines *lines,
							  const struct profile *profile);
void kernel_lines_deinit(struct kernel_lines *lines);

#endif
