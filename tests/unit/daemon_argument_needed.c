/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was computed before and is needed all the same, by the names in it, in code that every
 * interpreter found here has compiled.
 */
#include "compiled_python.h"
#include "daemon/report/model/argument_needed.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* Behind # whether the last call of the line is needed (n), or can be spared (-); o: needed of an
 * object. */
static const char program[] =
	/*  1 */ "def calls(x, m, json):\n"
		 /*  2 */ "    a = json.loads(m)\n"
		 /*  3 */ "    b = json.loads(m)  #-\n"
		 /*  4 */ "    c = next(x)\n"
		 /*  5 */ "    d = next(x)  #n\n"
		 /*  6 */ "    e = m.pop()\n"
		 /*  7 */ "    g = m.pop()  #n\n"
		 /*  8 */ "    h = x.random()\n"
		 /*  9 */ "    i = x.random()  #n\n"
		 /* 10 */ "    return a, b, c, d, e, g, h, i\n"
		 /* 11 */ "def between(f, v, w):\n"
		 /* 12 */ "    a = f(v)\n"
		 /* 13 */ "    b = w.pop()\n"
		 /* 14 */ "    c = f(v)  #-\n"
		 /* 15 */ "    d = v.pop()\n"
		 /* 16 */ "    e = f(v)  #n\n"
		 /* 17 */ "    return a, b, c, d, e\n"
		 /* 18 */ "def objects(q, k):\n"
		 /* 19 */ "    if q.token(k):\n"
		 /* 20 */ "        return q.token(k)  #o\n"
		 /* 21 */ "    if q.find_all(k):\n"
		 /* 22 */ "        return q.find_all(k)  #-\n";

#define MARKS 8

static const char *name_of(void *context, enum python_names kind, uint32_t index)
{
	const struct compiled_code *code = context;

	return index < COMPILED_NAMES_MAX ? code->names[kind][index] : NULL;
}

static int last_call(const struct compiled_code *code, int line)
{
	int offset = -1, next;

	for (unsigned nth = 0; (next = compiled_offset(code, line, "CALL", nth)) >= 0; nth++)
		offset = next;
	return offset;
}

static struct compiled_code *code_with_line(const struct compiled_python *compiled, int line)
{
	struct compiled_code *found = NULL;

	/* The innermost last: functions follow the module. */
	for (size_t i = 0; i < compiled->count; i++)
		if (last_call(&compiled->codes[i], line) >= 0)
			found = &compiled->codes[i];
	assert_non_null(found);
	return found;
}

/* Of an object of such a kind, and a text. */
static bool is_needed(struct compiled_code *code, int offset, enum content_kind kind)
{
	struct argument_site site = {
		.code = &code->code,
		.offset = offset,
		.kind = OPERATION_CALL,
		.operand_count = 2,
		.operands = { { .kind = (uint8_t)kind, .shape = "Thing" },
			      { .kind = CONTENT_STR } },
	};
	struct argument_words words = { .site = &site,
					.context = { .name_of = name_of, .context = code } };
	bool needed;

	assert_int_equal(bytecode_init(&words.bytecode, &code->code), 0);
	needed = argument_needed_common(&words);
	bytecode_deinit(&words.bytecode);
	return needed;
}

static void test_compiled(void **state)
{
	static const enum content_kind objects[] = { CONTENT_OTHER, CONTENT_OBJECT };
	const struct live_pythons *pythons = live_pythons();
	unsigned wrong = 0;

	(void)state;
	for (size_t i = 0; i < pythons->count; i++) {
		struct compiled_python compiled = compiled_python(&pythons->items[i], program);
		const char *start = program;
		unsigned checked = 0;

		for (int line = 1; *start; line++) {
			const char *end = strchr(start, '\n'), *mark = strchr(start, '#');

			for (size_t o = 0; mark && mark < end && o < 2; o++) {
				struct compiled_code *code = code_with_line(&compiled, line);
				int offset = last_call(code, line);
				/* What is known of a list is all that there is. */
				bool of_list = is_needed(code, offset, CONTENT_LIST);
				bool of_object = is_needed(code, offset, objects[o]);

				checked++;
				if (of_list != (mark[1] == 'n') || (mark[1] != '-' && !of_object) ||
				    (mark[1] == '-' && line > 18 && of_object)) {
					wrong++;
					print_error("%s: line %d: %d and %d, expected %c\n",
						    pythons->items[i].path, line, of_list,
						    of_object, mark[1]);
				}
			}
			start = end + 1;
		}
		assert_int_equal(checked, 2 * MARKS);
		compiled_python_free(&compiled);
	}
	assert_int_equal(wrong, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_compiled),
	};

	if (!live_pythons()->count) {
		print_message("skipped: no CPython 3.6 to 3.15 found\n");
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
