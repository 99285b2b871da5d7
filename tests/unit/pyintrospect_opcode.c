/* SPDX-License-Identifier: Apache-2.0 */
/* Opcode tables and names against every interpreter found. */
#include "pyintrospect/opcode.h"

#include "tests/unit/support_live.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void test_tables(void **state)
{
	const struct live_pythons *pythons = live_pythons();
	unsigned compared = 0;

	(void)state;
	for (size_t i = 0; i < pythons->count; i++) {
		const struct opcode_info *table = opcode_table(pythons->items[i].minor);
		char command[PATH_MAX + 64], line[256], name[64];
		unsigned rows = 0, known = 0, number, base, caches;
		FILE *pipe;

		snprintf(command, sizeof(command), "'%s' tests/tools/opcode_table.py",
			 pythons->items[i].path);
		pipe = popen(command, "r");
		assert_non_null(pipe);
		while (fgets(line, sizeof(line), pipe)) {
			if (sscanf(line, " [%u] = { \"%63[^\"]\", %u, %u }", &number, name, &base,
				   &caches) != 4)
				continue;
			rows++;
			assert_true(number < 256 && table[number].name);
			assert_string_equal(table[number].name, name);
			assert_int_equal(table[number].base, base);
			assert_int_equal(table[number].caches, caches);
		}
		pclose(pipe);
		for (number = 0; number < 256; number++)
			known += table[number].name != NULL;
		assert_true(rows > 100);
		assert_int_equal(known, rows);
		compared++;
	}
	print_message("%u interpreters compared\n", compared);
	if (!compared)
		skip();
}

/*
 * Prints code as it is in memory after it ran hot, and each instruction's
 * offset and name as dis has them of the unspecialised code.
 */
static const char dump[] =
	"\n"
	"import dis, sys\n"
	"class A:\n"
	"    x = 1\n"
	"    def m(self): return self.x\n"
	"def hot(n, a, d, l, s):\n"
	"    t = 0\n"
	"    for i in range(n):\n"
	"        t += a.x + a.m() + d['k'] + l[1] + len(l) + i * 2 - 1\n"
	"        if t > 10 and i != 3: l[0] = t; d['k'] = 1\n"
	"        p, q = i, t\n"
	"        f = 1.0 + 2.0 * i; g = s + 'x'; u = f < 3.0; v = s == 'x'\n"
	"        isinstance(t, int); str(i); tuple(l); max(p, q); l.append(1); l.pop()\n"
	"        w = [y for y in l]; z = {**d}; a.x = 1; del a.x\n"
	"        try: l.index('no')\n"
	"        except ValueError: pass\n"
	"    return lambda: t\n"
	"for i in range(40): hot(40, A(), {'k': 1}, [1, 2], 's')\n"
	"c = hot.__code__\n"
	"code = getattr(c, '_co_code_adaptive', c.co_code)\n"
	"rows = [(i.offset, i.opname) for i in dis.get_instructions(c)]\n"
	"print('CODE %d %d %s' % (code != c.co_code, len(rows), code.hex()))\n"
	"for row in rows: print('%d %s' % row)\n";

static void test_specialised_code(void **state)
{
	const struct live_pythons *pythons = live_pythons();

	(void)state;
	for (size_t i = 0; i < pythons->count; i++) {
		static char line[1 << 16], hex[1 << 16];
		static uint8_t code[1 << 15], plain[1 << 15];
		int minor = pythons->items[i].minor, offset, specialised;
		struct live_target target;
		size_t count, size = 0;
		unsigned value;

		assert_true(live_target_start(&target, pythons->items[i].path, dump));
		assert_true(live_target_line(&target, line, sizeof(line)));
		assert_int_equal(sscanf(line, "CODE %d %zu %s", &specialised, &count, hex), 3);
		assert_int_equal(specialised, minor >= 11);
		while (sscanf(hex + 2 * size, "%2x", &value) == 1)
			code[size++] = (uint8_t)value;
		memcpy(plain, code, size);
		opcode_normalise(minor, plain, size, NULL);
		for (size_t j = 0; j < count; j++) {
			char name[64];

			assert_true(live_target_line(&target, line, sizeof(line)));
			assert_int_equal(sscanf(line, "%d %63s", &offset, name), 2);
			assert_string_equal(opcode_name(minor, code, size, offset), name);
			assert_string_equal(opcode_name(minor, plain, size, offset), name);
		}
		assert_null(opcode_name(minor, code, size, (int)size));
		assert_null(opcode_name(minor, code, size, -2));
		live_target_end(&target);
	}
	if (!pythons->count)
		skip();
}

/* 3.11: BINARY_OP_ADD_INT and its cache, then RETURN_VALUE. */
static void test_caches(void **state)
{
	uint8_t code[] = { 5, 0, 0x34, 0x12, 83, 0 };
	const uint8_t plain[] = { 122, 0, 0, 0, 83, 0 };

	(void)state;
	assert_string_equal(opcode_name(11, code, sizeof(code), 0), "BINARY_OP");
	assert_string_equal(opcode_name(11, code, sizeof(code), 2), "BINARY_OP");
	assert_string_equal(opcode_name(11, code, sizeof(code), 4), "RETURN_VALUE");
	opcode_normalise(11, code, sizeof(code), NULL);
	assert_memory_equal(code, plain, sizeof(code));
}

/* 3.12: what INSTRUMENTED_LINE hides is in a side table, and may be INSTRUMENTED_INSTRUCTION. */
static void test_instrumented(void **state)
{
	uint8_t code[] = { 254, 0, 0, 0, 254, 0 }, blind[sizeof(code)];
	const uint8_t lines[] = { 122, 0, 0, 0, 253, 0 };
	const uint8_t instructions[] = { 0, 0, 83 };
	const struct opcode_originals originals = { lines, instructions };

	(void)state;
	memcpy(blind, code, sizeof(code));
	opcode_normalise(12, blind, sizeof(blind), NULL);
	assert_memory_equal(blind, code, sizeof(code));
	assert_null(opcode_name(12, blind, sizeof(blind), 0));
	assert_null(opcode_name(12, blind, sizeof(blind), 4));
	opcode_normalise(12, code, sizeof(code), &originals);
	assert_string_equal(opcode_name(12, code, sizeof(code), 0), "BINARY_OP");
	assert_string_equal(opcode_name(12, code, sizeof(code), 4), "RETURN_VALUE");
}

static void test_any_bytes(void **state)
{
	(void)state;
	srand(3);
	for (unsigned i = 0; i < 100000; i++) {
		size_t size = (size_t)rand() % 64;
		uint8_t *exact = malloc(size + 1), *lines = malloc(size + 1),
			*instructions = malloc(size / 2 + 1);
		const struct opcode_originals originals = { lines, instructions };
		int minor = 5 + rand() % 12;

		for (size_t j = 0; j < size; j++)
			exact[j] = lines[j] = (uint8_t)rand();
		for (size_t j = 0; j < size / 2; j++)
			instructions[j] = (uint8_t)rand();
		(void)opcode_name(minor, exact, size, rand() % 70 - 3);
		opcode_normalise(minor, exact, size, rand() % 2 ? &originals : NULL);
		(void)opcode_name(minor, exact, size, rand() % 70 - 3);
		free(exact);
		free(lines);
		free(instructions);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_caches),           cmocka_unit_test(test_instrumented),
		cmocka_unit_test(test_any_bytes),        cmocka_unit_test(test_tables),
		cmocka_unit_test(test_specialised_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
