/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The built-in offsets, generated anew from the DWARF of every interpreter
 * found, and _Py_DebugOffsets against both.
 */
#include "pyintrospect/offsets.h"

#include "tests/unit/offsets_values.h"

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
		print_error("3.%d%s %s: built-in %d, %s %d\n", a->minor,
			    a->free_threaded ? "t" : "", name, x, what, y);
		count++;
	}
	return count;
}

/* What the tool would print now is what is checked in, minor by minor as far as there is DWARF. */
static void compare_with_file(const struct python_layout *layouts)
{
	char *printed = NULL, *file = NULL;
	size_t printed_size, file_size = 0;
	FILE *output = open_memstream(&printed, &printed_size);
	FILE *input = fopen("pyintrospect/offsets_values.h", "r");

	assert_non_null(output);
	assert_non_null(input); /* tests run in the repository's root */
	offsets_values_print_table(output, layouts);
	fclose(output);
	assert_true(getdelim(&file, &file_size, '\0', input) > 0);
	fclose(input);
	assert_non_null(strstr(file, printed));
	free(printed);
	free(file);
}

/* Puts what DWARF says into its rows; how many interpreters had it, and fields that differ. */
static void read_rows(const struct live_pythons *pythons, struct python_layout *layouts,
		      unsigned *compared, unsigned *wrong)
{
	for (size_t i = 0; i < pythons->count; i++) {
		const struct live_python *python = &pythons->items[i];
		struct python_layout found;
		int error = offsets_from_interpreter(python, &found);

		if (error == -ENODATA) {
			print_message("3.%d.%d %s: no DWARF\n", python->minor, python->micro,
				      python->path);
			continue;
		}
		(*compared)++;
		if (error) {
			print_error("3.%d.%d %s: %s\n", python->minor, python->micro, python->path,
				    strerror(-error));
			(*wrong)++;
			continue;
		}
		*wrong += differences(offsets_row(offsets_row_of(python)), &found, "DWARF");
		layouts[offsets_row_of(python)] = found;
	}
}

static void test_table_equals_dwarf(void **state)
{
	struct python_layout layouts[OFFSETS_ROWS];
	unsigned compared = 0, wrong = 0;

	(void)state;
	for (size_t i = 0; i < OFFSETS_ROWS; i++)
		layouts[i] = *offsets_row(i);
	read_rows(live_pythons(), layouts, &compared, &wrong);
	read_rows(live_free_threaded(), layouts, &compared, &wrong);
	print_message("%u of %zu interpreters compared\n", compared,
		      live_pythons()->count + live_free_threaded()->count);
	assert_int_equal(wrong, 0);
	compare_with_file(layouts);
	if (!compared)
		skip();
}

/* Takes from *from what *to has not; the number of fields that *to had. */
static unsigned fill_absent(struct python_layout *to, const struct python_layout *from)
{
	unsigned count = 0;
	size_t position;

	for (size_t i = 0; python_offset_field(i, &position); i++) {
		int32_t *value = (int32_t *)((char *)&to->offsets + position);

		if (*value != OFFSET_ABSENT)
			count++;
		else
			memcpy(value, (const char *)&from->offsets + position, sizeof(*value));
	}
	return count;
}

static unsigned compare_debug_offsets(const struct live_pythons *pythons)
{
	unsigned compared = 0;

	for (size_t i = 0; i < pythons->count; i++) {
		struct live_target target;
		struct live_binary binary;
		struct live_memory memory = { 0 };
		struct memory_reader reader = { live_memory_read, &memory };
		const struct python_layout *row;
		struct python_layout found;
		remote_addr runtime;
		uint64_t size;
		char line[64];

		if (pythons->items[i].minor < 13)
			continue;
		assert_true(live_target_start(
			&target, pythons->items[i].path,
			"\nimport sys\nprint(1)\nsys.stdout.flush()\nsys.stdin.read()\n"));
		assert_true(live_target_line(&target, line, sizeof(line)));
		memory.pid = target.pid;
		assert_true(live_binary_find(&binary, target.pid));
		assert_int_equal(live_symbol(&binary, "_PyRuntime", &runtime, &size), 0);
		row = offsets_row(offsets_row_of(&pythons->items[i]));
		assert_int_equal(python_debug_offsets_free_threaded(&reader, runtime, row->minor),
				 row->free_threaded);
		found = *row;
		found.free_threaded = !row->free_threaded;
		assert_int_equal(python_layout_from_debug_offsets(&reader, runtime, &found),
				 -ENODATA);
		found.free_threaded = row->free_threaded;
		memset(&found.offsets, 0xff, sizeof(found.offsets));
		assert_int_equal(python_layout_from_debug_offsets(&reader, runtime, &found), 0);
		/* It lacks fields, but not many. */
		assert_true(fill_absent(&found, row) > 20);
		assert_int_equal(differences(row, &found, "debug offsets"), 0);
		compared++;
		live_binary_close(&binary);
		live_target_end(&target);
	}
	return compared;
}

static void test_debug_offsets_equal_table(void **state)
{
	unsigned compared =
		compare_debug_offsets(live_pythons()) + compare_debug_offsets(live_free_threaded());

	(void)state;
	print_message("%u interpreters with debug offsets compared\n", compared);
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
	assert_null(python_layout_free_threaded(PYTHON_FREE_THREADED_MINOR_MIN - 1));
	assert_null(python_layout_free_threaded(PYTHON_MINOR_MAX + 1));
	for (int minor = PYTHON_FREE_THREADED_MINOR_MIN; minor <= PYTHON_MINOR_MAX; minor++) {
		const struct python_layout *layout = python_layout_free_threaded(minor);

		assert_int_equal(layout->minor, minor);
		assert_true(layout->free_threaded);
		assert_int_equal(layout->offsets.variable_size, 32);
		assert_int_equal(layout->offsets.frame_tlbc != OFFSET_ABSENT, minor >= 14);
		assert_int_equal(layout->offsets.code_tlbc != OFFSET_ABSENT, minor >= 14);
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
