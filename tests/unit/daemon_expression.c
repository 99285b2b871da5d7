/* SPDX-License-Identifier: Apache-2.0 */
/* What expressions and operands are called, on code that every interpreter found here has compiled.
 */
#include "daemon/bytecode/expression.h"

#include "compiled_python.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/*
 * Each line says in a comment the expressions of its calls, operators and subscripts, in
 * the order of the instructions, with ; between them; behind ## those that bytecode and
 * names alone tell, where they are others.
 */
static const char program[] =
	"def work(a, b, i, n, m, x, self, np, s, f):\n"
	"    c = a + b  # a + b\n"
	"    c = a * (b - i) // n  # b - i; a * (b - i); a * (b - i) // n"
	"  ## b - i; a * (b - i); (a * (b - i)) // n\n"
	"    y = np.linalg.norm(m)  # np.linalg.norm(m)\n"
	"    x.dot(a, 1.5)  # x.dot(a, 1.5) ## x.dot(a, ...)\n"
	"    y = f(x[i], -n)['k']  # x[i]; -n; f(x[i], -n); f(x[i], -n)['k']"
	"  ## x[i]; -n; f(x[i], -n); f(x[i], -n)[...]\n"
	"    x[i, n] = m  # x[i, n]\n"
	"    y = x[i:n]  # x[i:n]\n"
	"    y = x[i:n:a, b]  # x[i:n:a, b]\n"
	"    s += m  # s += m\n"
	"    ok = a in b  # a in b\n"
	"    ok = a is not b  # a is not b\n"
	"    ok = not a  # not a\n"
	"    ok = a <= (b == n)  # b == n; a <= (b == n)\n"
	"    g(n, key=m)  # g(n, key=m) ## g(...)\n"
	"    self.weights.sum(axis) # self.weights.sum(axis)\n"
	"    y = '-'.join(x)  # '-'.join(x) ## (...).join(x)\n"
	"    y = [a, (b, n)].index(m)  # [a, (b, n)].index(m)\n"
	"    y = f(a)((b + n).T @ m)  # f(a); b + n; (b + n).T @ m; f(a)((b + n).T @ m)\n"
	"    x[i] += m  # x[i]; x[i] += m; x[i] ## -\n"
	"    y = x(a if b else n)  # x(a if b else n) ## -\n"
	"    y = 1.5 + f(); return g  # f(); 1.5 + f() ## f(); ... + f()\n"
	"def outer(m):\n"
	"    def inner(k):\n"
	"        return m ** k  # m ** k\n"
	"    return inner(m)  # inner(m)\n"
	"value = len(table[key])  # table[key]; len(table[key])\n"
	"import math\n"
	"def floor(a):\n"
	"    math.ceil(a, None)  # math.ceil(a, None) ## math.ceil(a, ...)\n"
	"    return math.floor(a)  # math.floor(a)\n";

static const char *source_line(int line, char *buffer, size_t size)
{
	const char *at = program;

	while (--line > 0 && at)
		at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL;
	if (!at || !*at)
		return NULL;
	snprintf(buffer, size, "%.*s", (int)strcspn(at, "\n"), at);
	return buffer;
}

static const char *line_of(void *context, int line)
{
	static char buffer[256];

	(void)context;
	return source_line(line, buffer, sizeof(buffer));
}

static const char *name_of(void *context, enum python_names names, uint32_t index)
{
	const struct compiled_code *code = context;

	assert_in_range(index, 0, COMPILED_NAMES_MAX - 1);
	assert_true(code->names[names][index][0]);
	return code->names[names][index];
}

static void for_each_python(const char *source,
			    void (*check)(const struct live_python *python,
					  const struct compiled_python *compiled))
{
	const struct live_pythons *pythons = live_pythons();

	for (size_t i = 0; i < pythons->count; i++) {
		struct compiled_python compiled = compiled_python(&pythons->items[i], source);

		check(&pythons->items[i], &compiled);
		compiled_python_free(&compiled);
	}
	if (!pythons->count)
		skip();
}

static bool computes(const char *name)
{
	static const char *const prefixes[] = { "CALL",  "BINARY_", "INPLACE_",     "COMPARE_OP",
						"IS_OP", "UNARY_",  "STORE_SUBSCR", "CONTAINS_OP" };

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
			return true;
	return false;
}

/* The line's comment, the part of it that is asked for; false: there is none. */
static bool expected_texts(int line, bool source, char *expected, size_t size)
{
	char text[256], *comment, *bytecode;

	if (!source_line(line, text, sizeof(text)) || !(comment = strchr(text, '#')))
		return false;
	bytecode = strstr(comment, "##");
	if (bytecode && !source)
		comment = bytecode + 1;
	else if (bytecode)
		*bytecode = '\0';
	comment += 2;
	while (*comment && comment[strlen(comment) - 1] == ' ')
		comment[strlen(comment) - 1] = '\0';
	snprintf(expected, size, "%s", strcmp(comment, "-") ? comment : "");
	return true;
}

static void check_line(const struct live_python *python, struct compiled_code *code,
		       const struct bytecode *bytecode, int line, bool source)
{
	const struct expression_context context = {
		.line_of = source ? line_of : NULL,
		.name_of = source ? NULL : name_of,
		.context = code,
	};
	char expected[256], found[512] = "", text[EXPRESSION_SIZE];

	assert_true(expected_texts(line, source, expected, sizeof(expected)));
	for (size_t i = 0; i < code->instruction_count; i++) {
		int offset = code->instructions[i].offset;

		if (!computes(code->instructions[i].name) ||
		    python_code_line(&code->code, offset) != line ||
		    !expression_text(bytecode, offset, &context, text))
			continue;
		if (found[0])
			strcat(found, "; ");
		strcat(found, text);
	}
	if (strcmp(found, expected))
		fail_msg("%s: line %d, from %s: %s, expected %s", python->path, line,
			 source ? "source" : "bytecode", found, expected);
}

static void check_texts(const struct live_python *python, const struct compiled_python *compiled)
{
	unsigned checked = 0;

	for (size_t c = 0; c < compiled->count; c++) {
		struct compiled_code *code = &compiled->codes[c];
		struct bytecode bytecode;
		char expected[256];
		int last = 0;

		assert_int_equal(bytecode_init(&bytecode, &code->code), 0);
		for (size_t i = 0; i < code->instruction_count; i++) {
			int line = python_code_line(&code->code, code->instructions[i].offset);

			if (line <= last ||
			    !expected_texts(line, false, expected, sizeof(expected)))
				continue;
			last = line;
			checked++;
			check_line(python, code, &bytecode, line, false);
			if (python->minor >= 11)
				check_line(python, code, &bytecode, line, true);
		}
		bytecode_deinit(&bytecode);
	}
	assert_int_equal(checked, 26);
}

static void test_texts(void **state)
{
	(void)state;
	for_each_python(program, check_texts);
}

/* Without names and source, nothing is told; of 3.11's PRECALL what the CALL behind it is. */
static void check_unknown(const struct live_python *python, const struct compiled_python *compiled)
{
	struct compiled_code *code =
		&compiled->codes[compiled_function(compiled, "work") - compiled->codes];
	const struct expression_context nothing = { 0 };
	const struct expression_context names = { .name_of = name_of, .context = code };
	int norm = compiled_offset(code, 4, python->minor == 11 ? "PRECALL" : "CALL", 0);
	char text[EXPRESSION_SIZE] = "before";
	struct bytecode bytecode;

	assert_int_equal(bytecode_init(&bytecode, &code->code), 0);
	assert_false(expression_text(&bytecode, norm, &nothing, text));
	assert_false(expression_operand_name(&bytecode, norm, 0, &nothing, text));
	assert_false(expression_text(&bytecode, -1, &names, text));
	assert_false(expression_text(&bytecode, 1 << 20, &names, text));
	assert_string_equal(text, "before");
	assert_true(expression_text(&bytecode, norm, &names, text));
	assert_string_equal(text, "np.linalg.norm(m)");
	bytecode_deinit(&bytecode);
}

static void test_unknown(void **state)
{
	(void)state;
	for_each_python(program, check_unknown);
}

struct operand_case {
	int line;
	const char *instruction;
	int operand;
	const char *name; /* NULL: none */
};

static const struct operand_case operand_cases[] = {
	{ 4, "CALL", 0, "m" },
	{ 4, "CALL", 1, NULL },
	{ 4, "CALL", EXPRESSION_CALLEE, "np.linalg.norm" },
	{ 4, "CALL", EXPRESSION_RECEIVER, "np.linalg" },
	{ 5, "CALL", 0, "a" },
	{ 5, "CALL", 1, NULL }, /* a constant */
	{ 5, "CALL", EXPRESSION_RECEIVER, "x" },
	{ 6, "CALL", 0, NULL }, /* computed */
	{ 6, "CALL", EXPRESSION_CALLEE, "f" },
	{ 6, "CALL", EXPRESSION_RECEIVER, NULL },
	{ 7, "STORE_SUBSCR", 0, "x" },
	{ 7, "STORE_SUBSCR", 1, NULL },
	{ 7, "STORE_SUBSCR", 2, "m" },
	{ 7, "STORE_SUBSCR", 3, NULL },
	{ 2, "BINARY_", 0, "a" },
	{ 2, "BINARY_", 1, "b" },
	{ 2, "BINARY_", 2, NULL },
	{ 2, "BINARY_", EXPRESSION_CALLEE, NULL },
	{ 15, "CALL", 0, "n" },
	{ 15, "CALL", 1, "m" },
	{ 15, "CALL", 2, NULL },
	{ 16, "CALL", 0, "axis" },
	{ 16, "CALL", EXPRESSION_RECEIVER, "self.weights" },
	{ 17, "CALL", EXPRESSION_CALLEE, NULL },
};

static void check_operand(const struct live_python *python, struct compiled_code *code,
			  const struct bytecode *bytecode, const struct operand_case *expected,
			  bool source)
{
	const struct expression_context context = {
		.line_of = source ? line_of : NULL,
		.name_of = source ? NULL : name_of,
		.context = code,
	};
	int offset = compiled_offset(code, expected->line, expected->instruction, 0);
	char name[EXPRESSION_SIZE] = "";
	bool found = expression_operand_name(bytecode, offset, expected->operand, &context, name);

	/* 3.13+: the position of a double load is that of one variable. */
	if (source && !found && python->minor >= 13)
		return;
	if (found != (expected->name != NULL) || (found && strcmp(name, expected->name)))
		fail_msg("%s: line %d, operand %d, from %s: %s, expected %s", python->path,
			 expected->line, expected->operand, source ? "source" : "names",
			 found ? name : "none", expected->name ? expected->name : "none");
}

static void check_operands(const struct live_python *python, const struct compiled_python *compiled)
{
	struct compiled_code *code =
		&compiled->codes[compiled_function(compiled, "work") - compiled->codes];
	struct bytecode bytecode;

	assert_int_equal(bytecode_init(&bytecode, &code->code), 0);
	for (size_t i = 0; i < sizeof(operand_cases) / sizeof(operand_cases[0]); i++) {
		check_operand(python, code, &bytecode, &operand_cases[i], false);
		if (python->minor >= 11)
			check_operand(python, code, &bytecode, &operand_cases[i], true);
	}
	bytecode_deinit(&bytecode);
}

static void test_operands(void **state)
{
	(void)state;
	for_each_python(program, check_operands);
}

static void in_line(int end_line, int column, int end_column, const char *line,
		    const char *expected)
{
	const struct code_position position = { 1, end_line, column, end_column };
	char text[EXPRESSION_SIZE] = "";

	assert_int_equal(expression_in_line(&position, line, text), expected != NULL);
	assert_string_equal(text, expected ? expected : "");
}

static void test_line(void **state)
{
	char line[400], expected[EXPRESSION_SIZE];

	(void)state;
	in_line(1, 4, 9, "    a + b", "a + b");
	in_line(1, 4, 10, "    a + b", NULL); /* another file */
	in_line(1, 9, 10, "    a + b", NULL);
	in_line(1, 4, 4, "    a + b", NULL);
	in_line(1, 6, 5, "    a + b", NULL);
	in_line(1, -1, -1, "    a + b", NULL);
	in_line(1, 0, 3, "norm(m)", NULL); /* not through a name */
	in_line(1, 1, 7, "norm(m)", NULL);
	in_line(1, 0, 1, "\xc3\xa4", NULL); /* nor a character */
	in_line(1, 4, 9, "x = \xc3\xa4(1)", "\xc3\xa4(1)");
	in_line(3, 4, 1, "y = norm(", "norm(...");
	in_line(3, 4, 1, "y = norm(a,   # of rows", "norm(a,...");
	in_line(3, 4, 1, "y = norm('#',", "norm('#',...");
	in_line(2, 4, 1, "y = a + \\", "a +...");
	in_line(2, 4, 1, "    # rows", NULL);
	/* A character of two bytes across the limit. */
	memset(line, 'x', sizeof(line));
	memcpy(line, "f('", 3);
	for (size_t i = 4; i + 2 < sizeof(line); i += 2)
		memcpy(line + i, "\xc3\xa4", 2);
	line[240] = '\0';
	snprintf(expected, sizeof(expected), "%.116s...", line);
	in_line(1, 0, 240, line, expected);
	in_line(1, 0, 239, line, NULL);
	in_line(1, 0, 5000, line, expected); /* the cache has cut the line */
	in_line(2, 0, 3, line, expected);
	line[116] = line[117] = '\'';
	line[118] = ')';
	line[119] = '\0';
	in_line(1, 0, 119, line, line);
	in_line(1, 0, 5000, line, NULL);
}

/* Arguments over several lines, and text that is not ASCII, where the compiler says they are. */
static const char wide_program[] = "def work(a, x):\n"
				   "    y = '\xc3\xa4\xe2\x82\xac' + a.f(x)\n"
				   "    z = a.norm(x,\n"
				   "               y)\n"
				   "    return z\n";

static const char *wide_line(void *context, int line)
{
	(void)context;
	return line == 2 ? "    y = '\xc3\xa4\xe2\x82\xac' + a.f(x)" : "    z = a.norm(x,";
}

static void test_wide(void **state)
{
	const struct live_pythons *pythons = live_pythons();
	const struct expression_context context = { .line_of = wide_line };
	unsigned checked = 0;

	(void)state;
	for (size_t i = 0; i < pythons->count; i++) {
		struct compiled_python compiled;
		const struct compiled_code *code;
		char text[EXPRESSION_SIZE];
		struct bytecode bytecode;

		if (pythons->items[i].minor < 11)
			continue;
		compiled = compiled_python(&pythons->items[i], wide_program);
		code = compiled_function(&compiled, "work");
		assert_int_equal(bytecode_init(&bytecode, &code->code), 0);
		assert_true(expression_text(&bytecode, compiled_offset(code, 2, "CALL", 0),
					    &context, text));
		assert_string_equal(text, "a.f(x)");
		assert_true(expression_text(&bytecode, compiled_offset(code, 2, "BINARY_OP", 0),
					    &context, text));
		assert_string_equal(text, "'\xc3\xa4\xe2\x82\xac' + a.f(x)");
		assert_true(expression_text(&bytecode, compiled_offset(code, 3, "CALL", 0),
					    &context, text));
		assert_string_equal(text, "a.norm(x,...");
		bytecode_deinit(&bytecode);
		compiled_python_free(&compiled);
		checked++;
	}
	if (!checked)
		skip();
}

static const char *any_name(void *context, enum python_names names, uint32_t index)
{
	static const char *const hostile[] = { "m", ".0", "", "a\x1b[2J", "\xc3\xa4", NULL };

	(void)context;
	return hostile[(index + names) % 6];
}

/* Any bytes: a text of bounded length without control characters, or none. */
static void test_any_bytes(void **state)
{
	const struct expression_context context = { .line_of = line_of, .name_of = any_name };
	unsigned told = 0;

	(void)state;
	srand(4);
	for (unsigned i = 0; i < 20000; i++) {
		uint8_t bytes[64], table[8];
		struct python_code code = {
			.function = "f",
			.file = "f.py",
			.first_line = 4,
			.bytecode = bytes,
			.bytecode_size = sizeof(bytes),
			.line_table = table,
			.line_table_size = sizeof(table),
			.minor = 6 + rand() % 10,
		};
		struct bytecode bytecode;

		for (size_t j = 0; j < sizeof(bytes); j++)
			bytes[j] = (uint8_t)rand();
		for (size_t j = 0; j < sizeof(table); j++)
			table[j] = (uint8_t)rand();
		assert_int_equal(bytecode_init(&bytecode, &code), 0);
		for (int offset = 0; offset < (int)sizeof(bytes); offset += 2) {
			char text[EXPRESSION_SIZE];

			if (expression_text(&bytecode, offset, &context, text)) {
				told++;
				assert_true(strlen(text) <= EXPRESSION_BYTES_MAX);
				assert_null(strchr(text, '\x1b'));
			}
			for (int operand = -3; operand < 4; operand++)
				if (expression_operand_name(&bytecode, offset, operand, &context,
							    text))
					assert_null(strpbrk(text, " ([\x1b"));
		}
		bytecode_deinit(&bytecode);
	}
	assert_true(told > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_texts),    cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_operands), cmocka_unit_test(test_line),
		cmocka_unit_test(test_wide),     cmocka_unit_test(test_any_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
