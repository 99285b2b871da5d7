/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Places: what frames are called in a report. Frames of the tree that differ
 * by instruction, by code object or by the module's instance are one place
 * when a reader could not tell them apart: the same function, file and line,
 * or the same native function of the same library.
 */
#ifndef PIEPROFD_DAEMON_REPORT_MODEL_PLACE_H
#define PIEPROFD_DAEMON_REPORT_MODEL_PLACE_H

#include "daemon/cct/frame.h"
#include "daemon/cct/id_table.h"
#include "daemon/report/model/source.h"
#include "symbolize/symbol.h"

struct place {
	enum frame_kind kind;
	const char *function; /* never NULL; "?" when unknown */
	const char *file;     /* never NULL; "?" when unknown */
	int line;             /* Python */
	uint64_t address;     /* native without name: ELF address of the function, else 0 */
};

/* By kind, function, file, line, address: 0 only for the same place. */
int place_compare(const struct place *a, const struct place *b);

/* One known frame: a cache in front of names and line tables. */
struct placed_frame {
	const struct frame *frame;
	uint32_t place;
};

struct place_table {
	struct symbolizer *symbolizer; /* NULL: native functions have no names */
	/* Names of code that has no file; NULL: names are as the target has them. Borrowed. */
	const struct source_cache *sources;
	struct place *places;
	size_t count, capacity;
	struct id_table place_ids;
	struct placed_frame *frames;
	size_t frame_count, frame_capacity;
	struct id_table frame_ids;
};

void place_table_init(struct place_table *table, struct symbolizer *symbolizer);
void place_table_deinit(struct place_table *table);

/* The frame must stay where it is as long as the table. 0 or -ENOMEM. */
__attribute__((warn_unused_result)) int place_table_find(struct place_table *table,
							 const struct frame *frame,
							 uint32_t *ret_place);

/* Line of a Python frame: the instruction's, or the function's first when it has none. */
int place_line(const struct frame *frame);

#endif
