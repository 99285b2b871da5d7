/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text of pyintrospect/offsets_values.h: printed by tests/tools/offsets_table.c,
 * compared by tests/unit/pyintrospect_offsets.c.
 */
#ifndef PIEPROFD_TESTS_UNIT_OFFSETS_VALUES_H
#define PIEPROFD_TESTS_UNIT_OFFSETS_VALUES_H

#include "pyintrospect/offsets.h"

#include "tests/unit/support_live.h"

#define OFFSETS_MINORS (PYTHON_MINOR_MAX - PYTHON_MINOR_MIN + 1)
/* Those of free-threaded builds follow. */
#define OFFSETS_ROWS (OFFSETS_MINORS + PYTHON_MINOR_MAX - PYTHON_FREE_THREADED_MINOR_MIN + 1)

LIVE_UNUSED const struct python_layout *offsets_row(size_t row)
{
	return row < OFFSETS_MINORS ? python_layout_builtin(PYTHON_MINOR_MIN + (int)row)
				    : python_layout_free_threaded(PYTHON_FREE_THREADED_MINOR_MIN +
								  (int)(row - OFFSETS_MINORS));
}

LIVE_UNUSED size_t offsets_row_of(const struct live_python *python)
{
	return python->free_threaded
		       ? OFFSETS_MINORS + (size_t)(python->minor - PYTHON_FREE_THREADED_MINOR_MIN)
		       : (size_t)(python->minor - PYTHON_MINOR_MIN);
}

/* What an interpreter's DWARF says; -ENODATA: it has none. */
LIVE_UNUSED int offsets_from_interpreter(const struct live_python *python,
					 struct python_layout *ret_layout)
{
	struct python_layout layout = *offsets_row(offsets_row_of(python));
	struct live_target target;
	struct live_binary binary;
	struct debug_info info;
	int error = -ESRCH;
	char line[64];

	if (!live_target_start(&target, python->path,
			       "\nimport sys\nprint(1)\nsys.stdout.flush()\nsys.stdin.read()\n"))
		return -ECHILD;
	if (live_target_line(&target, line, sizeof(line)) &&
	    live_binary_find(&binary, target.pid)) {
		info = live_debug_info(&binary);
		error = python_layout_from_dwarf(&info, &layout);
		live_binary_close(&binary);
	}
	live_target_end(&target);
	if (!error)
		*ret_layout = layout;
	return error;
}

/* One line of the table: a field, and its offset in every minor. */
LIVE_UNUSED void offsets_values_print_field(FILE *output, size_t field,
					    const struct python_layout layouts[OFFSETS_ROWS],
					    bool last)
{
	size_t position;
	const char *name = python_offset_field(field, &position);

	fprintf(output, "\tX(%s,%*s", name, (int)(24 - strlen(name)), "");
	for (size_t i = 0; i < OFFSETS_ROWS; i++) {
		int32_t value;

		memcpy(&value, (const char *)&layouts[i].offsets + position, sizeof(value));
		fprintf(output, "%6d%s", value, i + 1 < OFFSETS_ROWS ? "," : "");
	}
	fprintf(output, ")%s\n", last ? "" : " \\");
}

LIVE_UNUSED void offsets_values_print_table(FILE *output,
					    const struct python_layout layouts[OFFSETS_ROWS])
{
	size_t position;

	fprintf(output, "#define PYTHON_OFFSET_VALUES(X) \\\n\t/*%26s", "");
	for (int minor = PYTHON_MINOR_MIN; minor <= PYTHON_MINOR_MAX; minor++)
		fprintf(output, "%*s3.%d ", minor < 10 ? 3 : 2, "", minor);
	for (int minor = PYTHON_FREE_THREADED_MINOR_MIN; minor <= PYTHON_MINOR_MAX; minor++)
		fprintf(output, " 3.%dt ", minor);
	fprintf(output, "*/ \\\n");
	for (size_t i = 0; python_offset_field(i, &position); i++)
		offsets_values_print_field(output, i, layouts,
					   !python_offset_field(i + 1, &position));
}

#endif
