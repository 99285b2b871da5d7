/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints pyintrospect/offsets_values.h: for each minor version what the DWARF
 * of an interpreter found on this machine says, its own or its separate debug
 * file's. A minor without one keeps the values that this program was built
 * with. tests/tools/tables runs it.
 */
#include "tests/unit/offsets_values.h"

int main(void)
{
	const struct live_pythons *pythons = live_pythons();
	struct python_layout layouts[OFFSETS_ROWS];
	int micros[OFFSETS_ROWS];
	int failures = 0;

	for (size_t i = 0; i < OFFSETS_ROWS; i++) {
		layouts[i] = *offsets_row(i);
		micros[i] = -1;
	}
	for (size_t i = 0; i < pythons->count; i++) {
		const struct live_python *python = &pythons->items[i];
		size_t row = offsets_row_of(python);
		struct python_layout layout;
		int error;

		/* Of one minor, the last patch release. */
		if (python->micro <= micros[row])
			continue;
		error = offsets_from_interpreter(python, &layout);
		if (error && error != -ENODATA) {
			fprintf(stderr, "%s: %s\n", python->path, strerror(-error));
			failures++;
		}
		if (error)
			continue;
		layouts[row] = layout;
		micros[row] = python->micro;
	}
	printf("/* SPDX-License-Identifier: Apache-2.0 */\n"
	       "/*\n"
	       " * Offsets of every field in every minor version, in bytes; -1: not there.\n"
	       " * Printed by tests/tools/offsets_table.c, not written by hand.\n"
	       " */\n"
	       "#ifndef PIEPROFD_PYINTROSPECT_OFFSETS_VALUES_H\n"
	       "#define PIEPROFD_PYINTROSPECT_OFFSETS_VALUES_H\n"
	       "\n"
	       "/* clang-format off */\n");
	offsets_values_print_table(stdout, layouts);
	printf("/* clang-format on */\n"
	       "\n"
	       "#endif\n");
	for (size_t i = 0; i < OFFSETS_ROWS; i++) {
		const char *build = layouts[i].free_threaded ? "t" : "";
		int minor = layouts[i].minor;

		if (micros[i] >= 0)
			fprintf(stderr, "3.%d%s: from 3.%d.%d\n", minor, build, minor, micros[i]);
		else
			fprintf(stderr, "3.%d%s: kept, no interpreter with DWARF found\n", minor,
				build);
	}
	return failures || fflush(stdout) ? 1 : 0;
}
