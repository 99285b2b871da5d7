/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the samples of a pprof profile refer to, each thing once:
 *
 *   sample -> location -> mapping  -> strings
 *                      `> function -> strings
 *
 * Ids of all but strings are positions plus one, 0 being none; strings are
 * referred to by position, and the first is the empty one. Failure is
 * remembered: a writer checks once.
 */
#ifndef PIEPROFD_DAEMON_REPORT_FORMAT_PPROF_TABLE_H
#define PIEPROFD_DAEMON_REPORT_FORMAT_PPROF_TABLE_H

#include "daemon/report/encode/string_table.h"
#include "daemon/report/model/profile.h"

struct pprof_mapping {
	uint32_t file;     /* string */
	uint32_t build_id; /* string; 0: none */
	uint64_t limit;    /* behind the highest address seen */
	bool has_lines;    /* of some function */
};

struct pprof_function {
	uint32_t name, file; /* strings */
};

struct pprof_location {
	uint32_t function; /* id */
	uint32_t mapping;  /* id; 0: none */
	int line;
	uint64_t address;
	enum frame_kind kind;
};

struct pprof_table {
	struct string_table strings;
	struct pprof_mapping *mappings;
	size_t mapping_count, mapping_capacity;
	uint32_t *mapping_of_string; /* id by string; 0: none */
	size_t mapping_of_string_size;
	struct pprof_function *functions;
	size_t function_count, function_capacity;
	struct id_table function_ids;
	struct pprof_location *locations;
	size_t location_count, location_capacity;
	struct id_table location_ids;
	bool failed; /* no memory: some id is 0 that should not be */
};

void pprof_table_init(struct pprof_table *table);
void pprof_table_deinit(struct pprof_table *table);

/* Escaped as printable.h shows it: readers print names to a terminal as they are. */
uint32_t pprof_table_string(struct pprof_table *table, const char *text);
uint32_t pprof_table_location(struct pprof_table *table, const struct profile_frame *frame);

#endif
