/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From which Python lines calls were made: a tree of frames, callers nearer to the root, in which a
 * path is its innermost frame's number.
 *
 *   1 <module> solve.py:40 --> 2 step solve.py:31 --> 3 exchange grid.py:12
 *                         `--> 4 step solve.py:33
 *
 * One for all processes of a trace, so that what ranks do at one line is one row. Names are copies:
 * the process that had them may end. What there is no room for is counted, and is no path.
 */
#ifndef PIEPROFD_DAEMON_TRACE_CALL_PATH_H
#define PIEPROFD_DAEMON_TRACE_CALL_PATH_H

#include <stddef.h>
#include <stdint.h>

#define CALL_PATH_NONE  0
#define CALL_PATHS_MAX  (1u << 18)
#define CALL_TEXT_BYTES 1024 /* of a name, what is kept */

struct call_frame {
	const char *function, *file;
	int line;        /* 0: not known */
	uint32_t caller; /* the path from which it was called */
};

struct call_paths { /* all zeros: empty */
	struct call_frame *frames;
	uint32_t count; /* frames[0] is none */
	size_t capacity;
	uint32_t *slots; /* numbers of frames, by hash */
	size_t slot_count;
	char **texts; /* by hash */
	size_t text_slots, text_count;
	uint64_t left_out;
};

void call_paths_deinit(struct call_paths *paths);

/* That frame called from there. CALL_PATH_NONE: there is no room. */
uint32_t call_paths_add(struct call_paths *paths, uint32_t caller, const char *function,
			const char *file, int line);

/* NULL: there is none of that number. */
const struct call_frame *call_paths_frame(const struct call_paths *paths, uint32_t path);

/*
 * The frame to name in a line: the innermost one of the program's own, as a library's line tells
 * nobody what to change; where all are a library's, the innermost. NULL: the path is none.
 */
const struct call_frame *call_paths_own(const struct call_paths *paths, uint32_t path);

/*
 * "solve.py:31 in step, from solve.py:40 in <module>": the own frame, and who called it, if that is
 * the program's, too; cut to size. Empty: the path is none. Names are the target's.
 */
void call_paths_words(const struct call_paths *paths, uint32_t path, char *ret_words, size_t size);

#endif
