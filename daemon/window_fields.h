/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What of each struct is taken out of a later copy of it, for a window: one row
 * a member, so that none is forgotten. A test compares the tables with the
 * structs as the compiler knows them. Pure.
 */
#ifndef PIEPROFD_DAEMON_WINDOW_FIELDS_H
#define PIEPROFD_DAEMON_WINDOW_FIELDS_H

#include <stddef.h>

enum window_rule {
	WINDOW_SUBTRACT, /* a uint64_t, or an array or struct of nothing else; it only grows */
	WINDOW_SAME,     /* tells which thing it is, or how things are at the end of the window */
	WINDOW_BY_HAND,  /* computed by code, for the reason that the row gives */
};

struct window_field {
	const char *name;
	size_t offset, size;
	enum window_rule rule;
};

struct window_table {
	const char *struct_name; /* without "struct" */
	size_t struct_size;
	const struct window_field *fields;
	size_t count;
};

enum window_table_id {
	WINDOW_PAIR,
	WINDOW_ORIGIN,
	WINDOW_SIDE_TIME,
	WINDOW_THREAD,
	WINDOW_FACTS,
	WINDOW_TABLE_COUNT
};

const struct window_table *window_table(enum window_table_id id);

/* Of two readings that need not be of one moment: what would be negative is 0. */
void window_subtract(enum window_table_id id, void *now, const void *before);

#endif
