/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the arguments say of a line of a finished profile: its category, the
 * sentence, the expression and where it is. The code is compiled by real
 * interpreters, the samples are made by hand.
 */
#include "compiled_python.h"
#include "daemon/detect/argument_log.h"
#include "daemon/report/model/profile_build.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define MS    1000000ull
#define CALLS 40

static const char program[] = "def hoist(f, m, n):\n"
			      "    for i in range(n):\n"
			      "        a = 1 + f(m)\n"
			      "    return a\n";

static int no_source(void *context, const char *path)
{
	(void)context;
	(void)path;
	return -ENOENT;
}

/* f(m) in round after round; m has these contents. */
static void add_samples(struct argument_log *log, const struct python_code *code, int offset,
			uint32_t node, bool same)
{
	struct argument_sample sample = { .time_ns = 10 * MS, .node = node, .frame_count = 1 };
	struct argument_frame *frame = &sample.frames[0];
	struct argument_site *site = argument_log_site(log, code, offset, &frame->site);

	assert_non_null(site);
	site->kind = OPERATION_CALL;
	site->operand_count = 2;
	site->operands[0] = (struct argument_operand){ .role = OPERAND_CALLABLE,
						       .kind = CONTENT_CALLABLE,
						       .callable = true,
						       .shape = "builtin_function_or_method" };
	site->operands[1] = (struct argument_operand){ .kind = CONTENT_LIST,
						       .whole = true,
						       .shape = "list(9)" };
	frame->flags = ARGUMENT_JUDGED | ARGUMENT_DATA;
	frame->loop_count = 1;
	frame->operand_count = 2;
	frame->remaining[0] = ITERATOR_UNKNOWN;
	for (uint32_t i = 0; i < CALLS; i++) {
		sample.event_ns += 10 * MS;
		frame->rounds[0] = i;
		frame->contents = same ? 7 : 100 + i;
		assert_int_equal(argument_log_add(log, &sample), 0);
	}
}

static struct profile *made(const struct live_python *python, const struct compiled_code *code,
			    bool same)
{
	struct profile_facts facts = {
		.version = "1", .sampler = "clock", .period_ns = 10 * MS, .open_source = no_source
	};
	struct frame frame = { .kind = FRAME_PYTHON, .python = { .code = &code->code } };
	struct symbolizer *symbolizer = symbolizer_create();
	struct pair_table *pairs = pair_table_create(1000);
	struct cct *cct = cct_create(1000);
	struct argument_log log;
	struct profile *profile;
	struct cct_node *node;

	frame.python.instruction_offset =
		compiled_offset(code, 3, python->minor == 11 ? "PRECALL" : "CALL", 0);
	assert_true(frame.python.instruction_offset >= 0);
	node = cct_insert(cct, &frame, 1);
	assert_non_null(node);
	cct_node_charge(node, TIME_NATIVE, CALLS, CALLS * 10 * MS);
	argument_log_init(&log);
	add_samples(&log, &code->code, frame.python.instruction_offset, node->id, same);
	facts.arguments = &log;
	profile = profile_build(cct, pairs, symbolizer, &facts);
	assert_non_null(profile);
	/* The log was borrowed. */
	assert_null(profile->facts.arguments);
	argument_log_deinit(&log);
	cct_destroy(cct);
	pair_table_destroy(pairs);
	symbolizer_destroy(symbolizer);
	assert_int_equal(profile->line_count, 1);
	assert_int_equal(profile->lines[0].line, 3);
	return profile;
}

static void check_python(const struct live_python *python)
{
	struct compiled_python compiled = compiled_python(python, program);
	const struct compiled_code *code = compiled_function(&compiled, "hoist");
	struct profile *profile = made(python, code, true);
	const struct profile_line *line = &profile->lines[0];

	assert_int_equal(line->evidence.arguments.samples[ARGUMENT_INVARIANT], CALLS);
	assert_int_equal(line->category, CATEGORY_LOOP_INVARIANT);
	assert_non_null(line->finding);
	assert_non_null(strstr(line->finding, "40 of 40 samples"));
	assert_non_null(strstr(line->finding, "list(9)"));
	assert_int_equal(line->finding_ns, CALLS * 10 * MS);
	assert_int_equal(line->column, python->minor >= 11 ? 16 : -1);
	assert_int_equal(line->end_column, python->minor >= 11 ? 20 : -1);
	assert_int_equal(line->end_line, python->minor >= 11 ? 3 : 0);
	/* Nearly all of it, with its doubt, and not more than there is. */
	assert_in_range(line->avoidable_ns, CALLS * 9 * MS, CALLS * 10 * MS);
	assert_true(line->avoidable_low_ns < line->avoidable_ns);
	assert_in_range(line->avoidable_high_ns, line->avoidable_ns, CALLS * 10 * MS);
	profile_destroy(profile);

	profile = made(python, code, false);
	line = &profile->lines[0];
	assert_int_equal(line->evidence.arguments.samples[ARGUMENT_NEEDED], CALLS);
	assert_int_equal(line->category, CATEGORY_UNCLEAR);
	assert_null(line->finding);
	assert_null(line->expression);
	assert_int_equal(line->avoidable_high_ns, 0);
	profile_destroy(profile);
	compiled_python_free(&compiled);
}

static void test_line(void **state)
{
	const struct live_pythons *pythons = live_pythons();

	(void)state;
	for (size_t i = 0; i < pythons->count; i++)
		check_python(&pythons->items[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_line),
	};

	if (!live_pythons()->count) {
		print_message("skipped: no CPython 3.6 to 3.15 found\n");
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
