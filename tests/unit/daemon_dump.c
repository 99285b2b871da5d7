/* SPDX-License-Identifier: Apache-2.0 */
/* What a dump says of what it lacks. */
#include "daemon/inspect/dump_writer.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char *written(const struct thread_dump *dump, bool json)
{
	struct writer_options options = { .columns = 200 };
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	assert_non_null(file);
	assert_int_equal(json ? dump_write_json(dump, file) : dump_write_text(dump, &options, file),
			 0);
	fclose(file);
	return text;
}

static void test_losses(void **state)
{
	static const struct {
		struct thread_dump dump;
		const char *name;
		enum loss loss;
	} cases[] = {
		{ { .lost_files = 3 }, "file_lost", LOSS_FILE_LOST },
		{ { .left_out = 3 }, "target_limit", LOSS_TARGET_LIMIT },
		{ { .sources.denied = 3 }, "source_denied", LOSS_SOURCE_DENIED },
	};
	const size_t count = sizeof(cases) / sizeof(cases[0]);

	(void)state;
	for (size_t i = 0; i < count; i++) {
		char *text = written(&cases[i].dump, false), *json = written(&cases[i].dump, true);
		json_t *object = json_loads(json, 0, NULL);

		for (size_t k = 0; k < count; k++) {
			assert_int_equal(strstr(text, loss_words(cases[k].loss)) != NULL, i == k);
			assert_int_equal(json_integer_value(json_object_get(object, cases[k].name)),
					 i == k ? 3 : 0);
		}
		json_decref(object);
		free(text);
		free(json);
	}
}

static void test_greenlets(void **state)
{
	struct dumped_greenlet greenlets[] = {
		{ .type = "\x1b[31mRunning", .tid = 5, .running = true },
		{ .type = "Waiting\xff", .main = true },
	};
	struct dumped_thread thread = { .tid = 5, .name = "t", .greenlet = &greenlets[0] };
	struct thread_dump dump = { .python = { 3, 11, 2 }, .threads = &thread, .thread_count = 1 };
	const char *unknown = "Its greenlets are not shown",
		   *incomplete = "Greenlets may be missing";
	char *text = written(&dump, false), *json = written(&dump, true);
	json_t *object = json_loads(json, 0, NULL), *array;

	(void)state;
	assert_non_null(strstr(text, unknown));
	assert_null(strstr(text, incomplete));
	assert_true(json_is_null(json_object_get(object, "greenlets")));
	json_decref(object);
	free(text);
	free(json);
	dump.greenlets = greenlets;
	dump.greenlet_count = 2;
	dump.greenlets_known = dump.greenlets_incomplete = true;
	text = written(&dump, false);
	json = written(&dump, true);
	object = json_loads(json, 0, NULL);
	array = json_object_get(object, "greenlets");
	assert_null(strstr(text, unknown));
	assert_non_null(strstr(text, incomplete));
	assert_null(strchr(text, '\x1b'));
	assert_non_null(strstr(text, "runs greenlet "));
	assert_non_null(strstr(text, "MAIN GREENLET  waiting, no Python frames\n    Waiting"));
	assert_null(strstr(text, "GREENLET of thread 5"));
	assert_true(json_is_true(json_object_get(object, "greenlets_incomplete")));
	assert_int_equal(json_array_size(array), 2);
	assert_int_equal(json_integer_value(json_object_get(json_array_get(array, 0), "tid")), 5);
	assert_true(json_is_null(json_object_get(json_array_get(array, 1), "tid")));
	assert_true(json_is_true(json_object_get(json_array_get(array, 1), "main")));
	array = json_array_get(json_object_get(object, "threads"), 0);
	assert_true(json_is_integer(json_object_get(array, "greenlet")));
	json_decref(object);
	free(text);
	free(json);
}

static void test_locals(void **state)
{
	static const struct dumped_local variables[] = {
		{ "\x1b[31mx", "int", "1" },
		{ "text", "str", "'\xe2\x80\xae\xff'" },
	};
	struct dumped_frame_locals locals[] = { { .known = false },
						{ .known = true, .items = variables, .count = 2 } };
	struct profile_frame frames[] = {
		{ .kind = FRAME_NATIVE, .function = "main", .file = "python" },
		{ .kind = FRAME_PYTHON, .function = "outer", .file = "o.py", .line = 1 },
		{ .kind = FRAME_PYTHON, .function = "inner", .file = "i.py", .line = 2 },
	};
	struct dumped_thread thread = {
		.tid = 5,
		.name = "t",
		.frames = frames,
		.frame_count = 3,
		.locals = { .frames = locals, .count = 2 },
	};
	struct thread_dump dump = { .threads = &thread, .thread_count = 1, .locals = true };
	char *text = written(&dump, false), *json = written(&dump, true);
	json_t *object = json_loads(json, 0, NULL), *array;

	(void)state;
	assert_null(strchr(text, '\x1b'));
	assert_null(strstr(text, "\xe2\x80\xae"));
	assert_non_null(strstr(text, "[31mx = 1\n            text = '"));
	array = json_object_get(json_array_get(json_object_get(object, "threads"), 0), "frames");
	assert_null(json_object_get(json_array_get(array, 0), "locals"));
	assert_true(json_is_null(json_object_get(json_array_get(array, 1), "locals")));
	array = json_object_get(json_array_get(array, 2), "locals");
	assert_int_equal(json_array_size(array), 2);
	assert_string_equal(json_string_value(json_object_get(json_array_get(array, 0), "value")),
			    "1");
	json_decref(object);
	free(text);
	free(json);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_losses),
		cmocka_unit_test(test_greenlets),
		cmocka_unit_test(test_locals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
