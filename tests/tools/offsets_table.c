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
	struct python_layout layouts[OFFSETS_MINORS];
	int micros[OFFSETS_MINORS];
	int failures = 0;

	for (size_t i = 0; i < OFFSETS_MINORS; i++) {
		layouts[i] = *python_layout_builtin(PYTHON_MINOR_MIN + (int)i);
		micros[i] = -1;
	}
	for (size_t i = 0; i < pythons->count; i++) {
		const struct live_python *python = &pythons->items[i];
		size_t row = (size_t)(python->minor - PYTHON_MINOR_MIN);
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
	for (size_t i = 0; i < OFFSETS_MINORS; i++) {
		if (micros[i] >= 0)
			fprintf(stderr, "3.%zu: from 3.%zu.%d\n", i + PYTHON_MINOR_MIN,
				i + PYTHON_MINOR_MIN, micros[i]);
		else
			fprintf(stderr, "3.%zu: kept, no interpreter with DWARF found\n",
				i + PYTHON_MINOR_MIN);
	}
	return failures || fflush(stdout) ? 1 : 0;
}
