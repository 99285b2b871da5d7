/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables of a Firefox profile, built from the profile's tree:
 *
 *   stacks -> frames -> functions -> names, sources, libraries
 *
 * A node of the tree is a stack, its category by the kind of its frame. Time
 * of another class that ended in it has a further stack beside it, whose frame
 * differs in the category alone, so that the categories' times are those of the
 * classes and a function's time is not split.
 */
#ifndef PIEPROFD_DAEMON_REPORT_FORMAT_FIREFOX_TABLE_H
#define PIEPROFD_DAEMON_REPORT_FORMAT_FIREFOX_TABLE_H

#include "daemon/report/encode/string_table.h"
#include "daemon/report/model/profile.h"

struct firefox_function {
	uint32_t name; /* string */
	bool is_python;
	int64_t source, library; /* rows; -1: none */
};

struct firefox_frame {
	uint32_t frame; /* of the tree */
	enum time_class category;
};

struct firefox_stack {
	uint32_t frame;  /* row */
	uint32_t offset; /* of the parent's row before this; 0: outermost */
};

struct firefox_table {
	const struct profile_tree *tree; /* borrowed */
	struct string_table strings;     /* names of functions */
	struct string_table sources;     /* paths */
	struct string_table libraries;   /* paths */
	const char **build_ids;          /* by library; NULL: none */
	size_t build_id_capacity;
	struct firefox_function *functions;
	size_t function_count, function_capacity;
	struct id_table function_ids;
	uint32_t *function_of_frame; /* rows, by frame of the tree */
	struct firefox_frame *frames;
	size_t frame_count, frame_capacity;
	uint32_t *frame_rows; /* by frame of the tree and class: row + 1 */
	struct firefox_stack *stacks;
	size_t stack_count, stack_capacity;
	uint32_t (*stack_of_node)[TIME_CLASS_COUNT]; /* rows, by the class of the time */
};

/* The tree must outlive the table. 0 or -ENOMEM; deinit in either case. */
__attribute__((warn_unused_result)) int firefox_table_init(struct firefox_table *table,
							   const struct profile_tree *tree);
void firefox_table_deinit(struct firefox_table *table);

#endif
