/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How each field of a profile is merged with the same field of another: one
 * row a field, so that none is forgotten. A test compares the tables with the
 * structs as the compiler knows them. Pure.
 */
#ifndef PIEPROFD_DAEMON_REPORT_MERGE_MERGE_FIELDS_H
#define PIEPROFD_DAEMON_REPORT_MERGE_MERGE_FIELDS_H

#include "daemon/report/model/profile.h"

enum merge_rule {
	MERGE_SUM,     /* a uint64_t, or an array or struct of nothing else */
	MERGE_MAX,     /* a uint64_t */
	MERGE_EITHER,  /* a bool: true when one of them is */
	MERGE_BOTH,    /* a bool: true when both are */
	MERGE_KEY,     /* the same in both: what is merged agrees in it */
	MERGE_DERIVED, /* computed anew from the others, once all is merged */
	MERGE_BY_HAND, /* profile_merge.c has code for it */
};

struct merge_field {
	const char *name;
	size_t offset, size;
	enum merge_rule rule;
};

struct merge_table {
	const char *struct_name; /* without "struct" */
	size_t struct_size;
	const struct merge_field *fields;
	size_t count;
};

enum merge_table_id {
	MERGE_LINE,
	MERGE_FUNCTION,
	MERGE_PAIR,
	MERGE_FRAME,
	MERGE_NODE,
	MERGE_TREE,
	MERGE_THREAD,
	MERGE_STACK,
	MERGE_PROCESS,
	MERGE_HISTOGRAM,
	MERGE_FACTS,
	MERGE_PROFILE,
	MERGE_TABLE_COUNT
};

const struct merge_table *merge_table(enum merge_table_id id);

/* Merges those of the struct's fields that have a rule for it. */
void merge_fields(enum merge_table_id id, void *into, const void *from);

#endif
