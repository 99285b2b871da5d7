/* SPDX-License-Identifier: Apache-2.0 */
/* Loops that look for something, in code that every interpreter found here has compiled. */
#include "compiled_python.h"
#include "daemon/bytecode/search_loop.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const char program[] =
	/*  1 */ "def joined(people, entries, out):\n"
		 /*  2 */ "    for person in people:\n"
		 /*  3 */ "        for entry in entries:\n"
		 /*  4 */ "            if entry.name == person:\n"
		 /*  5 */ "                out(entry)\n"
		 /*  6 */ "def find(rows, key):\n"
		 /*  7 */ "    for row in rows:\n"
		 /*  8 */ "        if key == row['key'] and row['open']:\n"
		 /*  9 */ "            return row\n"
		 /* 10 */ "def others(bodies, out):\n"
		 /* 11 */ "    for one in bodies:\n"
		 /* 12 */ "        for other in bodies:\n"
		 /* 13 */ "            if other == one:\n"
		 /* 14 */ "                continue\n"
		 /* 15 */ "            out(one, other)\n"
		 /* 16 */ "def words(texts, mark, out):\n"
		 /* 17 */ "    for text in texts:\n"
		 /* 18 */ "        for word in text:\n"
		 /* 19 */ "            if word == mark:\n"
		 /* 20 */ "                out(word)\n"
		 /* 21 */ "def ranks(rows, low, out):\n"
		 /* 22 */ "    for row in rows:\n"
		 /* 23 */ "        if row.rank > low:\n"
		 /* 24 */ "            out(row)\n"
		 /* 25 */ "def fixed(rows, out):\n"
		 /* 26 */ "    for row in rows:\n"
		 /* 27 */ "        if row.kind == 'x':\n"
		 /* 28 */ "            out(row)\n"
		 /* 29 */ "def split(people, book, out):\n"
		 /* 30 */ "    for person in people:\n"
		 /* 31 */ "        out(book[book['who'] == person])\n"
		 /* 32 */ "def inlined(people, entries, out):\n"
		 /* 33 */ "    for person in people:\n"
		 /* 34 */ "        out([entry for entry in entries if entry.name == person])\n";

struct found {
	bool search, same;
	int compare;
};

/* Of the loop around the comparison on a line. */
static struct found search_at(const struct compiled_code *code, int line)
{
	struct found found = { .compare = compiled_offset(code, line, "COMPARE_OP", 0) };
	struct bytecode bytecode;
	struct loop loop, around;
	int begin, compare = -1;

	assert_true(found.compare >= 0);
	assert_int_equal(bytecode_init(&bytecode, &code->code), 0);
	assert_true(loop_find(&bytecode, found.compare, &loop));
	found.search = search_loop_find(&bytecode, &loop, &compare);
	if (found.search)
		assert_int_equal(compare, found.compare);
	begin = search_loop_begin(&bytecode, &loop);
	assert_true(begin >= 0);
	found.same = loop_find(&bytecode, begin, &around) &&
		     search_loop_keeps(&bytecode, begin, &around);
	bytecode_deinit(&bytecode);
	return found;
}

static bool compares(const struct compiled_code *code, int line, unsigned *ret_kept)
{
	struct bytecode bytecode;
	struct loop loop;
	int offset = compiled_offset(code, line, "COMPARE_OP", 0);
	bool result;

	assert_int_equal(bytecode_init(&bytecode, &code->code), 0);
	assert_true(loop_find(&bytecode, offset, &loop));
	result = search_loop_compares(&bytecode, offset, &loop, ret_kept);
	bytecode_deinit(&bytecode);
	return result;
}

static void test_loops(void **state)
{
	const struct live_pythons *pythons = live_pythons();

	(void)state;
	if (!pythons->count)
		skip();
	for (size_t i = 0; i < pythons->count; i++) {
		struct compiled_python compiled = compiled_python(&pythons->items[i], program);
		unsigned kept = 9;
		struct found found = search_at(compiled_function(&compiled, "joined"), 4);

		print_message("3.%d.%d\n", pythons->items[i].minor, pythons->items[i].micro);
		assert_true(found.search && found.same);
		found = search_at(compiled_function(&compiled, "find"), 8);
		/* Whether it is called with the same rows is its caller's to say. */
		assert_true(found.search && !found.same);
		/* All pairs but one are worked on. */
		assert_false(search_at(compiled_function(&compiled, "others"), 13).search);
		found = search_at(compiled_function(&compiled, "words"), 19);
		assert_true(found.search && !found.same);
		assert_false(search_at(compiled_function(&compiled, "ranks"), 23).search);
		assert_false(search_at(compiled_function(&compiled, "fixed"), 27).search);
		assert_true(compares(compiled_function(&compiled, "split"), 31, &kept));
		assert_int_equal(kept, 0);
		assert_true(compares(compiled_function(&compiled, "find"), 8, &kept));
		assert_int_equal(kept, 0);
		assert_true(compares(compiled_function(&compiled, "joined"), 4, &kept));
		assert_int_equal(kept, 1);
		assert_false(compares(compiled_function(&compiled, "ranks"), 23, &kept));
		if (pythons->items[i].minor >= 12) {
			found = search_at(compiled_function(&compiled, "inlined"), 34);
			assert_true(found.search && found.same);
		}
		compiled_python_free(&compiled);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_loops) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
