/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The built-in offsets against the DWARF of every interpreter found, and
 * _Py_DebugOffsets against both.
 */
#include "pyintrospect/offsets.h"

#include "tests/unit/support_live.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static unsigned differences(const struct python_layout *a, const struct python_layout *b,
			    const char *what)
{
	unsigned count = 0;
	size_t position;
	const char *name;

	for (size_t i = 0; (name = python_offset_field(i, &position)); i++) {
		int32_t x, y;

		memcpy(&x, (const char *)&a->offsets + position, sizeof(x));
		memcpy(&y, (const char *)&b->offsets + position, sizeof(y));
		if (x == y)
			continue;
		print_error("3.%d %s: built-in %d, %s %d\n", a->minor, name, x, what, y);
		count++;
	}
	return count;
}

static void test_table_equals_dwarf(void **state)
{
	const struct live_pythons *pythons = live_pythons();
	unsigned compared = 0, wrong = 0;

	(void)state;
	for (size_t i = 0; i < pythons->count; i++) {
		struct live_target target;
		struct live_binary binary;
		struct debug_info info;
		struct python_layout found;
		char line[64];
		int error;

		assert_true(live_target_start(
			&target, pythons->items[i].path,
			"\nimport sys\nprint(1)\nsys.stdout.flush()\nsys.stdin.read()\n"));
		assert_true(live_target_line(&target, line, sizeof(line)));
		assert_true(live_binary_find(&binary, target.pid));
		info = live_debug_info(&binary);
		found = *python_layout_builtin(pythons->items[i].minor);
		error = python_layout_from_dwarf(&info, &found);
		if (error == -ENODATA) {
			print_message("3.%d.%d %s: no DWARF\n", pythons->items[i].minor,
				      pythons->items[i].micro, binary.path);
		} else {
			if (error)
				print_error("3.%d: %s\n", pythons->items[i].minor,
					    strerror(-error));
			wrong += error != 0;
			if (!error)
				wrong += differences(python_layout_builtin(found.minor), &found,
						     "DWARF");
			compared++;
		}
		live_binary_close(&binary);
		live_target_end(&target);
	}
	print_message("%u of %zu interpreters compared\n", compared, pythons->count);
	assert_int_equal(wrong, 0);
	if (!compared)
		skip();
}

static void test_debug_offsets_equal_table(void **state)
{
	const struct live_pythons *pythons = live_pythons();
	unsigned compared = 0;

	(void)state;
	for (size_t i = 0; i < pythons->count; i++) {
		struct live_target target;
		struct live_binary binary;
		struct live_memory memory = { 0 };
		struct memory_reader reader = { live_memory_read, &memory };
		struct python_layout found;
		remote_addr runtime;
		uint64_t size;
		char line[64];

		if (pythons->items[i].minor < 13 || pythons->items[i].minor > 14)
			continue;
		assert_true(live_target_start(
			&target, pythons->items[i].path,
			"\nimport sys\nprint(1)\nsys.stdout.flush()\nsys.stdin.read()\n"));
		assert_true(live_target_line(&target, line, sizeof(line)));
		memory.pid = target.pid;
		assert_true(live_binary_find(&binary, target.pid));
		assert_int_equal(live_symbol(&binary, "_PyRuntime", &runtime, &size), 0);
		found = *python_layout_builtin(pythons->items[i].minor);
		memset(&found.offsets.code_name, 0, sizeof(found.offsets.code_name));
		assert_int_equal(python_layout_from_debug_offsets(&reader, runtime, &found), 0);
		assert_int_equal(
			differences(python_layout_builtin(found.minor), &found, "debug offsets"),
			0);
		compared++;
		live_binary_close(&binary);
		live_target_end(&target);
	}
	if (!compared)
		skip();
}

/* Every minor has a row, with the fields its kind of walk needs. */
static void test_rows(void **state)
{
	(void)state;
	assert_null(python_layout_builtin(PYTHON_MINOR_MIN - 1));
	assert_null(python_layout_builtin(PYTHON_MINOR_MAX + 1));
	for (int minor = PYTHON_MINOR_MIN; minor <= PYTHON_MINOR_MAX; minor++) {
		const struct python_layout *layout = python_layout_builtin(minor);
		const struct python_offsets *o = &layout->offsets;

		assert_int_equal(layout->minor, minor);
		assert_int_equal(layout->walk, minor < 11    ? PYTHON_WALK_FRAME_OBJECTS
					       : minor == 11 ? PYTHON_WALK_CFRAMES
							     : PYTHON_WALK_SHIMS);
		assert_int_equal(o->thread_cframe != OFFSET_ABSENT, minor == 11 || minor == 12);
		assert_int_equal(o->thread_frame == OFFSET_ABSENT, minor == 11 || minor == 12);
		assert_int_equal(o->frame_owner != OFFSET_ABSENT, minor >= 11);
		assert_int_equal(o->thread_native_id != OFFSET_ABSENT, minor >= 11);
		assert_int_equal(layout->shim_owner != 0, minor >= 12);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_table_equals_dwarf),
		cmocka_unit_test(test_debug_offsets_equal_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
