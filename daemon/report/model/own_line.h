/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program's own lines among those of libraries. The hottest line of a
 * program is often a library's, which tells its reader little: each sample
 * belongs also to the innermost frame on its stack that is neither a library's
 * nor the interpreter's. The line that most of them belong to is the one to go
 * to; the times of all of them add up to no more than the profile's.
 *
 * A module's own code in a folder "bin" starts a program and does nothing else,
 * and generated functions ("__init__" in "<string>") have no text: neither is
 * the program's own. A program that is itself installed like a library has none.
 */
#ifndef PIEPROFD_DAEMON_REPORT_MODEL_OWN_LINE_H
#define PIEPROFD_DAEMON_REPORT_MODEL_OWN_LINE_H

#include "daemon/report/model/profile.h"

/* Of a smaller share than this the own line is not worth naming. */
#define OWN_LINE_SHARE_MIN 0.1

struct own_line {
	const struct profile_line *line;
	uint64_t time_ns; /* of the samples that belong to it */
	uint64_t of_ns;   /* of all samples looked at */
};

/* Is the frame at a line of the program itself? */
bool own_line_is_own(const struct profile_frame *frame);

/* Is the line a library's or the interpreter's own, or a native function? */
bool own_line_is_foreign(const struct profile_line *line);

/*
 * The own line with most time; through: in samples with that line on their
 * stack, NULL: in all. False: there is none with a share that is worth naming, or
 * no memory to find it.
 */
bool own_line_find(const struct profile *profile, const struct profile_line *through,
		   struct own_line *ret_own);

#endif
