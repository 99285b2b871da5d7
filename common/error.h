/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a person is told when something is refused: the cause, and the cure.
 *
 * Functions whose failure a person sees take a struct error * and fill it;
 * all others return a negative errno alone.
 */
#ifndef PIEPROFD_COMMON_ERROR_H
#define PIEPROFD_COMMON_ERROR_H

/* Exit codes of pieprofd; each refusal carries the one it ends with. */
enum exit_code {
	EXIT_OK = 0,
	EXIT_INTERNAL = 1,
	EXIT_USAGE = 2,
	EXIT_NO_TARGET = 3, /* no such process, or not a Python */
	EXIT_PERMISSION = 4,
	EXIT_UNSUPPORTED_PYTHON = 5,
	EXIT_NO_SAMPLES = 6,
	EXIT_DEGRADED = 7, /* under --strict only */
	EXIT_CHANGED = 8,  /* report --fail-if */
	EXIT_GIVEN_UP = 130,
};

struct error {
	enum exit_code exit_code;
	/* Both are one line, and may be sent to a terminal: control characters in them are escaped.
	 */
	char cause[384]; /* one sentence */
	char cure[512];  /* what to do about it; "" when nothing can be done */
};

__attribute__((format(printf, 3, 4))) void error_set(struct error *error, enum exit_code exit_code,
						     const char *cause_format, ...);
__attribute__((format(printf, 2, 3))) void error_set_cure(struct error *error,
							  const char *cure_format, ...);

#endif
