/* SPDX-License-Identifier: Apache-2.0 */
/* Strings of the target on their way into a file, and what nameless functions are called. */
#include "daemon/report/encode/escape.h"

#include "common/printable.h"
#include "daemon/report/model/frame_function.h"
#include "unit_random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

static void check_printable(const char *text, char also, const char *expected)
{
	char *escaped = escape_printable(text, also);

	assert_non_null(escaped);
	assert_string_equal(escaped, expected);
	free(escaped);
}

static void test_printable(void **state)
{
	(void)state;
	check_printable("", ';', "");
	check_printable("plain name", ';', "plain name");
	check_printable("caf\xc3\xa9", '\0', "caf\xc3\xa9");
	check_printable("a;b;;", ';', "a\\x3bb\\x3b\\x3b");
	check_printable("a;b", '\0', "a;b");
	check_printable("\x1b[2J\n\r", ';', "\\u001b[2J\\n\\u000d");
	check_printable("\xff\xc3(", ';', "\\xff\\xc3(");
	/* Right-to-left override, a tag character. */
	check_printable("\xe2\x80\xae\xf3\xa0\x80\x81", ';', "\\u202e\\ue0001");
}

/* Not cut, however long. */
static void test_long(void **state)
{
	size_t size = 100000;
	char *text = malloc(size + 1), *escaped;

	(void)state;
	memset(text, '\x01', size);
	text[size] = '\0';
	escaped = escape_printable(text, ';');
	assert_non_null(escaped);
	assert_int_equal(strlen(escaped), size * strlen("\\u0001"));
	free(escaped);
	free(text);
}

static char *as_json(const char *text)
{
	char *json = NULL;
	size_t size;
	FILE *file = open_memstream(&json, &size);

	escape_json(file, text);
	fclose(file);
	return json;
}

static void check_json(const char *text, const char *expected)
{
	char *json = as_json(text);

	assert_string_equal(json, expected);
	free(json);
}

static void test_json(void **state)
{
	(void)state;
	check_json("", "\"\"");
	check_json("a\"b\\c/", "\"a\\\"b\\\\c/\"");
	check_json("\n\x1b\x7f", "\"\\u000a\\u001b\\u007f\"");
	check_json("</script>", "\"</script>\"");
	check_json("\xc3\xa9\xf0\x9f\x90\x8d", "\"\\u00e9\\ud83d\\udc0d\"");
	check_json("\xed\xa0\x80"
		   "a",
		   "\"\\ufffd\\ufffd\\ufffda\"");
}

/* Whatever the bytes, a parser takes the string and finds what is valid of it. */
static void test_any_bytes(void **state)
{
	struct unit_random random = { 7 };

	(void)state;
	for (unsigned round = 0; round < 2000; round++) {
		char text[24], *json;
		size_t length = unit_random_below(&random, sizeof(text));
		json_t *value;

		for (size_t i = 0; i < length; i++)
			text[i] = (char)(1 + unit_random_below(&random, 255));
		text[length] = '\0';
		json = as_json(text);
		for (const char *at = json; *at; at++)
			assert_in_range(*at, 0x20, 0x7e);
		value = json_loads(json, JSON_DECODE_ANY, NULL);
		assert_non_null(value);
		json_decref(value);
		free(json);
		json = escape_printable(text, ';');
		assert_null(strchr(json, ';'));
		for (size_t i = 0, step; json[i]; i += step) {
			uint32_t code_point;

			step = utf8_decode(json + i, strlen(json + i), &code_point);
			assert_true(step > 0 && code_point_printable(code_point));
		}
		free(json);
	}
}

static void test_function(void **state)
{
	struct profile_frame frame = {
		.kind = FRAME_NATIVE,
		.function = "?",
		.file = "/x/_umath.cpython-311-x86_64-linux-gnu.so",
		.address = 0x2b72,
	};
	char buffer[FRAME_FUNCTION_BYTES], file[2000];

	(void)state;
	assert_string_equal(frame_function(&frame, true, buffer, sizeof(buffer)),
			    "_umath.so+0x2b72");
	assert_string_equal(frame_function(&frame, false, buffer, sizeof(buffer)), "0x2b72");
	frame.function_address = 0x2b00;
	assert_string_equal(frame_function(&frame, true, buffer, sizeof(buffer)),
			    "_umath.so+0x2b00");
	frame.file = "?";
	assert_string_equal(frame_function(&frame, true, buffer, sizeof(buffer)), "0x2b00");
	memset(file, 'l', sizeof(file));
	file[sizeof(file) - 1] = '\0';
	frame.file = file;
	assert_int_equal(strlen(frame_function(&frame, true, buffer, sizeof(buffer))),
			 250 + strlen("+0x2b00"));
	frame.address = frame.function_address = 0;
	assert_string_equal(frame_function(&frame, true, buffer, sizeof(buffer)), "?");
	frame.function = "malloc";
	assert_string_equal(frame_function(&frame, true, buffer, sizeof(buffer)), "malloc");
	frame = (struct profile_frame){ .kind = FRAME_PYTHON, .function = "?", .file = "?" };
	assert_string_equal(frame_function(&frame, true, buffer, sizeof(buffer)), "?");
}

static void test_library_name(void **state)
{
	char buffer[LIBRARY_NAME_BYTES], small[8];

	(void)state;
	assert_string_equal(library_name("/usr/lib/libm.so.6", buffer, sizeof(buffer)),
			    "libm.so.6");
	assert_string_equal(library_name("[vdso]", buffer, sizeof(buffer)), "[vdso]");
	assert_string_equal(library_name("/x/", buffer, sizeof(buffer)), "/x/");
	assert_string_equal(
		library_name("/x/a.cpython-313t-x86_64-linux-gnu.so", buffer, sizeof(buffer)),
		"a.so");
	assert_string_equal(library_name("/x/a.cpython-313", buffer, sizeof(buffer)),
			    "a.cpython-313");
	/* What does not fit stays as it is. */
	assert_string_equal(library_name("/x/longer.cpython-3.so", small, sizeof(small)),
			    "longer.cpython-3.so");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_printable), cmocka_unit_test(test_long),
		cmocka_unit_test(test_json),      cmocka_unit_test(test_any_bytes),
		cmocka_unit_test(test_function),  cmocka_unit_test(test_library_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
