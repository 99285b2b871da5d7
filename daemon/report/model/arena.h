/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that is freed all at once: the arrays and strings of a profile.
 * Failure is remembered, so that a builder may check once at its end.
 */
#ifndef PIEPROFD_DAEMON_REPORT_MODEL_ARENA_H
#define PIEPROFD_DAEMON_REPORT_MODEL_ARENA_H

#include <stdbool.h>
#include <stddef.h>

struct arena_chunk;

struct arena {
	struct arena_chunk *chunks; /* newest first */
	size_t bytes, limit;        /* taken from the heap, and how much may be */
	bool failed;                /* something was refused */
};

void arena_init(struct arena *arena, size_t limit);
void arena_deinit(struct arena *arena);

/* Zeroed and aligned for anything. NULL: the limit is reached or no memory is left. */
void *arena_array(struct arena *arena, size_t count, size_t item_size);
/* NULL for NULL. */
const char *arena_copy_string(struct arena *arena, const char *string);
__attribute__((format(printf, 2, 3))) const char *arena_format(struct arena *arena,
							       const char *format, ...);

#endif
