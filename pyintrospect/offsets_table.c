/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The built-in offsets, one layout a minor version (x86-64), and one more for
 * its free-threaded build.
 *
 * The offsets themselves are in offsets_values.h, which tests/tools/tables
 * prints from the DWARF of real interpreters: pyenv's 3.6 to 3.13, and
 * Debian's 3.13 to 3.15 with their separate debug files. Patch releases of one
 * minor agree in every field used here: tests/unit/pyintrospect_offsets.c
 * compares the values with the DWARF and with the _Py_DebugOffsets of every
 * interpreter it finds.
 */
#include "pyintrospect/offsets.h"

#include "pyintrospect/offsets_values.h"

/* clang-format off */
#define VALUE_OF_6(name, a, ...)                                 .name = a,
#define VALUE_OF_7(name, a, b, ...)                              .name = b,
#define VALUE_OF_8(name, a, b, c, ...)                           .name = c,
#define VALUE_OF_9(name, a, b, c, d, ...)                        .name = d,
#define VALUE_OF_10(name, a, b, c, d, e, ...)                    .name = e,
#define VALUE_OF_11(name, a, b, c, d, e, f, ...)                 .name = f,
#define VALUE_OF_12(name, a, b, c, d, e, f, g, ...)              .name = g,
#define VALUE_OF_13(name, a, b, c, d, e, f, g, h, ...)           .name = h,
#define VALUE_OF_14(name, a, b, c, d, e, f, g, h, i, ...)        .name = i,
#define VALUE_OF_15(name, a, b, c, d, e, f, g, h, i, j, ...)     .name = j,
#define VALUE_OF_13T(name, a, b, c, d, e, f, g, h, i, j, k, l, m) .name = k,
#define VALUE_OF_14T(name, a, b, c, d, e, f, g, h, i, j, k, l, m) .name = l,
#define VALUE_OF_15T(name, a, b, c, d, e, f, g, h, i, j, k, l, m) .name = m,

#define ONE_EACH(...) + 1
/* NOLINTBEGIN(misc-redundant-expression): they are equal as long as nothing is forgotten */
_Static_assert(0 PYTHON_OFFSET_VALUES(ONE_EACH) == 0 PYTHON_OFFSET_FIELDS(ONE_EACH),
	       "every field has its values: run tests/tools/tables");
_Static_assert(OFFSET_ABSENT == -1, "as printed");
/* NOLINTEND(misc-redundant-expression) */

static const struct python_layout layouts[] = {
	{
		.minor = 6,
		.walk = PYTHON_WALK_FRAME_OBJECTS,
		.instruction_unit = 1,
		.offsets = { PYTHON_OFFSET_VALUES(VALUE_OF_6) },
	},
	{
		.minor = 7,
		.walk = PYTHON_WALK_FRAME_OBJECTS,
		.instruction_unit = 1,
		.offsets = { PYTHON_OFFSET_VALUES(VALUE_OF_7) },
	},
	{
		.minor = 8,
		.walk = PYTHON_WALK_FRAME_OBJECTS,
		.instruction_unit = 1,
		.offsets = { PYTHON_OFFSET_VALUES(VALUE_OF_8) },
	},
	{
		.minor = 9,
		.walk = PYTHON_WALK_FRAME_OBJECTS,
		.instruction_unit = 1,
		.offsets = { PYTHON_OFFSET_VALUES(VALUE_OF_9) },
	},
	{
		.minor = 10,
		.walk = PYTHON_WALK_FRAME_OBJECTS,
		.instruction_unit = 2,
		.offsets = { PYTHON_OFFSET_VALUES(VALUE_OF_10) },
	},
	{
		.minor = 11,
		.walk = PYTHON_WALK_CFRAMES,
		.offsets = { PYTHON_OFFSET_VALUES(VALUE_OF_11) },
	},
	{
		.minor = 12,
		.walk = PYTHON_WALK_SHIMS,
		.shim_owner = 3,
		.offsets = { PYTHON_OFFSET_VALUES(VALUE_OF_12) },
	},
	{
		.minor = 13,
		.walk = PYTHON_WALK_SHIMS,
		.shim_owner = 3,
		.offsets = { PYTHON_OFFSET_VALUES(VALUE_OF_13) },
	},
	{
		.minor = 14,
		.walk = PYTHON_WALK_SHIMS,
		.shim_owner = 3,
		.offsets = { PYTHON_OFFSET_VALUES(VALUE_OF_14) },
	},
	{
		.minor = 15,
		.walk = PYTHON_WALK_SHIMS,
		.shim_owner = 3,
		.offsets = { PYTHON_OFFSET_VALUES(VALUE_OF_15) },
	},
};

static const struct python_layout free_threaded[] = {
	{
		.minor = 13,
		.free_threaded = true,
		.walk = PYTHON_WALK_SHIMS,
		.shim_owner = 3,
		.offsets = { PYTHON_OFFSET_VALUES(VALUE_OF_13T) },
	},
	{
		.minor = 14,
		.free_threaded = true,
		.walk = PYTHON_WALK_SHIMS,
		.shim_owner = 3,
		.offsets = { PYTHON_OFFSET_VALUES(VALUE_OF_14T) },
	},
	{
		.minor = 15,
		.free_threaded = true,
		.walk = PYTHON_WALK_SHIMS,
		.shim_owner = 3,
		.offsets = { PYTHON_OFFSET_VALUES(VALUE_OF_15T) },
	},
};
/* clang-format on */

const struct python_layout *python_layout_builtin(int minor)
{
	if (minor < PYTHON_MINOR_MIN || minor > PYTHON_MINOR_MAX)
		return NULL;
	return &layouts[minor - PYTHON_MINOR_MIN];
}

const struct python_layout *python_layout_free_threaded(int minor)
{
	if (minor < PYTHON_FREE_THREADED_MINOR_MIN || minor > PYTHON_MINOR_MAX)
		return NULL;
	return &free_threaded[minor - PYTHON_FREE_THREADED_MINOR_MIN];
}

_Static_assert(sizeof(free_threaded) / sizeof(free_threaded[0]) ==
		       PYTHON_MINOR_MAX - PYTHON_FREE_THREADED_MINOR_MIN + 1,
	       "one row a minor");
_Static_assert(sizeof(layouts) / sizeof(layouts[0]) == PYTHON_MINOR_MAX - PYTHON_MINOR_MIN + 1,
	       "one row a minor");
