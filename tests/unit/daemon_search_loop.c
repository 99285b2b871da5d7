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
		 /* 34 */ "        out([entry for entry in entries if entry.name == person])\n"
		 /* 35 */ "def pairs(values, out):\n"
		 /* 36 */ "    for i in range(len(values)):\n"
		 /* 37 */ "        for j in range(i + 1, len(values)):\n"
		 /* 38 */ "            if values[i] == values[j]:\n"
		 /* 39 */ "                out(i, j)\n"
		 /* 40 */ "def between(spans, times, out):\n"
		 /* 41 */ "    for time in times:\n"
		 /* 42 */ "        for span in spans:\n"
		 /* 43 */ "            if span.begin <= time < span.end:\n"
		 /* 44 */ "                out(span)\n"
		 /* 45 */ "def near(bodies, reach, out):\n"
		 /* 46 */ "    for one in bodies:\n"
		 /* 47 */ "        for other in bodies:\n"
		 /* 48 */ "            if abs(other.x - one.x) < reach:\n"
		 /* 49 */ "                out(other)\n"
		 /* 50 */ "def least(rows, out):\n"
		 /* 51 */ "    best = rows[0]\n"
		 /* 52 */ "    for row in rows:\n"
		 /* 53 */ "        if row < best:\n"
		 /* 54 */ "            best = row\n"
		 /* 55 */ "    out(best)\n"
		 /* 56 */ "def rows_of(table, key, out):\n"
		 /* 57 */ "    for group in table:\n"
		 /* 58 */ "        for j in range(9):\n"
		 /* 59 */ "            if group[j] == key:\n"
		 /* 60 */ "                out(j)\n"
		 /* 61 */ "def below(values, out):\n"
		 /* 62 */ "    for value in values:\n"
		 /* 63 */ "        for other in values:\n"
		 /* 64 */ "            if value > other:\n"
		 /* 65 */ "                out(other)\n"
		 /* 66 */ "def due(jobs, times):\n"
		 /* 67 */ "    for time in times:\n"
		 /* 68 */ "        for job in jobs:\n"
		 /* 69 */ "            if job[0] <= time:\n"
		 /* 70 */ "                job[0] += 5\n"
		 /* 71 */ "def within(events, lows, out):\n"
		 /* 72 */ "    for low in lows:\n"
		 /* 73 */ "        out(sum(event['v'] for event in events if low <= event['t'] < "
		 "low + 60))\n";

struct found {
	bool search, ordered, same;
	int compare;
};

/* Of the loop around the comparison on a line. */
static struct found search_at(const struct compiled_code *code, int line)
{
	struct found found = { .compare = compiled_offset(code, line, "COMPARE_OP", 0) };
	struct bytecode bytecode;
	struct loop loop, around;
	struct search_loop search = { .compare = -1 };
	bool nested;
	int begin;

	assert_true(found.compare >= 0);
	assert_int_equal(bytecode_init(&bytecode, &code->code), 0);
	assert_true(loop_find(&bytecode, found.compare, &loop));
	begin = search_loop_begin(&bytecode, &loop);
	assert_true(begin >= 0);
	nested = loop_find(&bytecode, begin, &around);
	found.search = search_loop_find(&bytecode, &loop, nested ? &around : NULL, &search);
	if (found.search)
		assert_int_equal(search.compare, found.compare);
	found.ordered = search.ordered;
	found.same =
		search.indexed_same || (nested && search_loop_keeps(&bytecode, begin, &around));
	bytecode_deinit(&bytecode);
	return found;
}

/* Of a generator expression, which is given what it goes over. */
static bool filters_by_order(const struct compiled_code *code, int line)
{
	int offset = compiled_offset(code, line, "COMPARE_OP", 0);
	struct search_loop search = { .ordered = false };
	struct bytecode bytecode;
	struct loop loop;
	bool found;

	assert_int_equal(bytecode_init(&bytecode, &code->code), 0);
	assert_true(loop_find(&bytecode, offset, &loop));
	found = search_loop_find(&bytecode, &loop, NULL, &search);
	bytecode_deinit(&bytecode);
	return found && search.ordered && search.compare == offset;
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
		assert_true(found.search && found.same && !found.ordered);
		found = search_at(compiled_function(&compiled, "find"), 8);
		/* Whether it is called with the same rows is its caller's to say. */
		assert_true(found.search && !found.same);
		/* All pairs but one are worked on. */
		assert_false(search_at(compiled_function(&compiled, "others"), 13).search);
		found = search_at(compiled_function(&compiled, "words"), 19);
		assert_true(found.search && !found.same);
		found = search_at(compiled_function(&compiled, "ranks"), 23);
		assert_true(found.search && found.ordered && !found.same);
		found = search_at(compiled_function(&compiled, "pairs"), 38);
		assert_true(found.search && !found.ordered && found.same);
		found = search_at(compiled_function(&compiled, "between"), 43);
		assert_true(found.search && found.ordered && found.same);
		/* What it is compared by is another one for each value. */
		assert_false(search_at(compiled_function(&compiled, "near"), 48).search);
		assert_false(search_at(compiled_function(&compiled, "least"), 53).search);
		assert_true(filters_by_order(
			compiled_function(&compiled, pythons->items[i].minor >= 11
							     ? "within.<locals>.<genexpr>"
							     : "<genexpr>"),
			73));
		/* The items change what they are compared by. */
		assert_false(search_at(compiled_function(&compiled, "due"), 69).search);
		found = search_at(compiled_function(&compiled, "rows_of"), 59);
		assert_true(found.search && !found.same);
		found = search_at(compiled_function(&compiled, "below"), 64);
		assert_true(found.search && found.ordered && found.same);
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
