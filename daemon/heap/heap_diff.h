/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What has changed from one look at a heap to another one: what is in RAM, by type, by holder.
 *
 *   base  app.cache (dict) 1 -> {*} (app.Order)   1,000, 1 MB      app.log (list) 1, 8 KB
 *   now   app.cache (dict) 1 -> {*} (app.Order) 101,000, 101 MB
 *   row   app.cache{*} (app.Order) +100,000, +100 MB               app.log (list) -1, -8 KB, gone
 *
 * A type is the same by its name, whatever process it is of; a path by its steps and their types.
 * Both looks are of files (heap_file.h), which leave small holders out: such a one is not there.
 *
 * Pure; numbers are bounded by heap_file.h.
 */
#ifndef PIEPROFD_DAEMON_HEAP_HEAP_DIFF_H
#define PIEPROFD_DAEMON_HEAP_HEAP_DIFF_H

#include "daemon/heap/heap_file.h"
#include "daemon/heap/heap_holder.h"

enum heap_side {
	HEAP_BASE,
	HEAP_NOW,
	HEAP_SIDES
};

/* Objects of a type, or arrays of numpy of one type of element. */
struct heap_type_change {
	const char *name; /* borrowed, as all names */
	bool present[HEAP_SIDES];
	uint64_t count[HEAP_SIDES];
	uint64_t bytes[HEAP_SIDES];         /* with storage */
	uint64_t storage_bytes[HEAP_SIDES]; /* of arrays 0 */
};

struct heap_path_change {
	uint32_t parent; /* 0: a root */
	const char *step, *type;
	bool present[HEAP_SIDES];
	uint64_t count[HEAP_SIDES];      /* right there */
	uint64_t own_bytes[HEAP_SIDES];  /* of these */
	uint64_t bytes[HEAP_SIDES];      /* of all that it leads to */
	uint64_t held_count[HEAP_SIDES]; /* objects, likewise */
	/* Of rows: objects right there, or where these are as many as before, one step below it: of
	 * a dict that has more values, the values. */
	uint64_t entries[HEAP_SIDES];
};

/* What grew most, where anything grew to speak of. */
enum heap_diff_kind {
	HEAP_DIFF_SAME,
	HEAP_DIFF_OBJECTS, /* that are held, with their storage */
	HEAP_DIFF_GARBAGE, /* objects that no root leads to */
	HEAP_DIFF_NATIVE,  /* what C code has, and nobody known holds */
	HEAP_DIFF_FREE,    /* in RAM and in no use */
	HEAP_DIFF_FILES,   /* programs, libraries, files, stacks */
	HEAP_DIFF_LESS,    /* nothing grew, something shrank */
	HEAP_DIFF_KINDS
};

enum heap_sameness {
	HEAP_SAME_UNKNOWN,
	HEAP_SAME,
	HEAP_SAME_NOT,
};

struct heap_diff {
	const struct heap_file *files[HEAP_SIDES];
	/* What is of each kind; SAME: of RSS, LESS: unused. Where one look has no holders, what is
	 * held by nobody counts as held in both. */
	uint64_t parts[HEAP_DIFF_KINDS][HEAP_SIDES];
	enum heap_diff_kind kind;
	enum heap_diff_kind less; /* of LESS: what shrank most */
	enum heap_sameness process;
	bool program; /* the command lines are the same */
	bool holders; /* both looks have them */

	/* What grew most first, what shrank most last. */
	struct heap_type_change *types;
	size_t type_count;
	struct heap_type_change *arrays;
	size_t array_count;

	struct heap_path_change *paths; /* from 1 on; a parent is before its children */
	size_t path_count;
	/* Those worth a row (heap_diff_rows.h), sorted likewise; all have changed. */
	uint32_t *rows;
	size_t row_count;
};

/* What is in both, without rows and meaning. The files must outlive it. NULL: out of memory. */
struct heap_diff *heap_diff_join(const struct heap_file *base, const struct heap_file *now);
void heap_diff_destroy(struct heap_diff *diff);

/* Now minus before. */
int64_t heap_diff_change(const uint64_t figures[HEAP_SIDES]);

/* Neither bytes nor objects more or fewer: such types are among them all the same. */
bool heap_diff_is_unchanged(const struct heap_type_change *type);

/* "app.cache{*} (app.Order)": a path's steps and the type of the last one. Cut at size. */
void heap_diff_path_words(const struct heap_diff *diff, uint32_t path, char *words, size_t size);

/* From the root on, at most HEAP_HOLDER_STEPS_MAX. Returns how many. */
size_t heap_diff_steps(const struct heap_diff *diff, uint32_t path,
		       uint32_t ret_paths[HEAP_HOLDER_STEPS_MAX]);

#endif
