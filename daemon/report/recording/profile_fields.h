/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a recording carries of a profile, as tables of fields: one line in
 * profile_fields.c for each member of struct profile and of what it points to.
 *
 * A field is known in the file by its member's name, so that fields may be
 * added, and left out, without harm to older files and older readers: what a
 * file lacks is zero, what it has besides is passed over. Renaming or changing
 * a member's meaning takes a new version of the file.
 *
 * tests/unit/daemon_recording.c holds this against the structs themselves (by
 * DWARF): a member that is not here fails the test.
 */
#ifndef PIEPROFD_DAEMON_REPORT_RECORDING_PROFILE_FIELDS_H
#define PIEPROFD_DAEMON_REPORT_RECORDING_PROFILE_FIELDS_H

#include "daemon/report/model/profile.h"

enum field_kind {
	FIELD_WORDS = 1,      /* 64-bit numbers, one or an array or struct of such */
	FIELD_NUMBER,         /* a smaller one, an enum, a bool */
	FIELD_REAL,           /* double: neither negative nor infinite */
	FIELD_TEXT,           /* char[], ends with NUL */
	FIELD_STRING,         /* never NULL */
	FIELD_STRING_OR_NULL, /* or an array of such */
	FIELD_ROWS,           /* an array of structs and its count */
	FIELD_LINE,           /* points to one of the profile's lines, or NULL */
};

struct table;

struct field {
	const char *name;
	enum field_kind kind;
	size_t offset, size;       /* in the struct */
	uint64_t limit;            /* FIELD_NUMBER: less than this; 0: any */
	size_t count_offset;       /* FIELD_ROWS: the size_t */
	const struct table *table; /* FIELD_ROWS: what its rows are */
};

struct table {
	const char *name; /* different from all others' */
	size_t row_size;
	size_t rows_max; /* of all arrays of the kind together */
	const struct field *fields;
	size_t field_count;
};

/* The outermost row: a profile, and what of it is an array in another form. */
struct recorded_loss {
	const char *name;
	uint64_t count;
};

struct recorded_word {
	const char *text;
};

struct recorded_profile {
	struct profile profile;
	const struct recorded_loss *losses; /* facts.losses by name: their order may change */
	size_t loss_count;
	const struct recorded_word *command; /* facts.target.command */
	size_t command_count;
};

extern const struct table profile_table; /* of one struct recorded_profile */

#endif
