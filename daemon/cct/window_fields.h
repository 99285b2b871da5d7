/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What of a struct is taken out of a later copy of it, for a window: one row a
 * member, so that none is forgotten. Each struct's table stands with what subtracts
 * it; a test compares the tables with the structs as the compiler knows them. Pure.
 */
#ifndef PIEPROFD_DAEMON_CCT_WINDOW_FIELDS_H
#define PIEPROFD_DAEMON_CCT_WINDOW_FIELDS_H

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

#define WINDOW_FIELD(type, member, rule)                                                           \
	{                                                                                          \
#member, offsetof(struct type, member), sizeof(((struct type *)0)->member), rule   \
	}

#define WINDOW_TABLE(type, fields)                                                                 \
	{                                                                                          \
#type, sizeof(struct type), fields, sizeof(fields) / sizeof((fields)[0])           \
	}

/* Of two readings that need not be of one moment: what would be negative is 0. */
void window_subtract(const struct window_table *table, void *now, const void *before);

#endif
