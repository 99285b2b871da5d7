/* SPDX-License-Identifier: Apache-2.0 */
/* Which site of a sample is watched next, and where. */
#include "daemon/detect/argument_choice.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define SAMPLES 20

/* A stack of two own frames, the innermost first, and the sample of it. */
struct stack {
	struct argument_log log;
	struct python_code codes[2];
	struct python_frame frames[2];
	size_t own[2];
	struct argument_sample sample;
	uint32_t inner, outer;
};

static struct argument_site *site_of(struct stack *stack, uint32_t id)
{
	return &stack->log.sites[id];
}

static void set_up(struct stack *stack)
{
	*stack = (struct stack){ .own = { 0, 1 } };
	argument_log_init(&stack->log);
	for (size_t i = 0; i < 2; i++) {
		stack->codes[i].id = (uint32_t)i + 1;
		stack->frames[i].code = &stack->codes[i];
	}
	assert_non_null(argument_log_site(&stack->log, &stack->codes[0], 8, &stack->inner));
	assert_non_null(argument_log_site(&stack->log, &stack->codes[1], 16, &stack->outer));
	site_of(stack, stack->inner)->samples = site_of(stack, stack->outer)->samples = 1;
	stack->sample.frame_count = 2;
	stack->sample.frames[0].site = stack->inner;
	stack->sample.frames[1].site = stack->outer;
}

static struct argument_choice choose(struct stack *stack)
{
	return argument_choose(&stack->log, &stack->sample, stack->own, stack->frames, ID_NONE);
}

static void make_comparable(struct stack *stack, uint32_t id)
{
	struct argument_site *site = site_of(stack, id);

	site->comparable = true;
	site->kind = OPERATION_CALL;
	site->operand_count = 1;
	site->operands[0] = (struct argument_operand){ .kind = CONTENT_INT, .hashable = true };
}

/* What can be compared, and of these what has been compared least. */
static void test_least_known(void **state)
{
	struct stack stack;

	(void)state;
	set_up(&stack);
	assert_null(choose(&stack).frame);
	make_comparable(&stack, stack.outer);
	assert_ptr_equal(choose(&stack).frame, &stack.frames[1]);
	assert_int_equal(site_of(&stack, stack.outer)->watched, 1);
	make_comparable(&stack, stack.inner);
	assert_int_equal(choose(&stack).site, stack.inner);
	site_of(&stack, stack.inner)->compared = ARGUMENT_COMPARISONS;
	site_of(&stack, stack.outer)->compared = ARGUMENT_COMPARISONS;
	assert_null(choose(&stack).frame);
	argument_log_deinit(&stack.log);
}

/* Of two sites that are known as well, more is to be known of where the time is. */
static void test_most_time(void **state)
{
	struct stack stack;

	(void)state;
	set_up(&stack);
	make_comparable(&stack, stack.inner);
	make_comparable(&stack, stack.outer);
	site_of(&stack, stack.inner)->compared = site_of(&stack, stack.outer)->compared = 4;
	site_of(&stack, stack.outer)->samples = 3;
	assert_int_equal(choose(&stack).site, stack.outer);
	site_of(&stack, stack.inner)->samples = 4;
	assert_int_equal(choose(&stack).site, stack.inner);
	argument_log_deinit(&stack.log);
}

/* A hot site of which little is known, whatever else its samples could be used for. */
static void test_behind(void **state)
{
	struct stack stack;

	(void)state;
	set_up(&stack);
	make_comparable(&stack, stack.inner);
	assert_false(argument_is_behind(&stack.log, &stack.sample));
	site_of(&stack, stack.inner)->samples = SAMPLES;
	assert_true(argument_is_behind(&stack.log, &stack.sample));
	site_of(&stack, stack.inner)->compared = SAMPLES;
	assert_false(argument_is_behind(&stack.log, &stack.sample));
	argument_log_deinit(&stack.log);
}

/* A function in C that is given little: a row where it takes much of the time. */
static void test_row_in_c(void **state)
{
	struct stack stack;

	(void)state;
	set_up(&stack);
	make_comparable(&stack, stack.inner);
	site_of(&stack, stack.inner)->samples = SAMPLES;
	stack.log.seen = 100 * SAMPLES;
	assert_int_equal(choose(&stack).row, 0);
	stack.log.seen = 4 * SAMPLES;
	assert_int_equal(choose(&stack).row, ARGUMENT_ROW);
	argument_log_deinit(&stack.log);
}

static void test_row(void **state)
{
	struct argument_choice choice;
	struct stack stack;

	(void)state;
	set_up(&stack);
	make_comparable(&stack, stack.outer);
	site_of(&stack, stack.outer)->of_callee = true;
	site_of(&stack, stack.outer)->samples = SAMPLES;
	choice = choose(&stack);
	assert_int_equal(choice.row, ARGUMENT_ROW);
	assert_false(choice.at_entry);
	assert_ptr_equal(choice.frame, &stack.frames[1]);
	assert_int_equal(site_of(&stack, stack.outer)->rows, 1);
	assert_int_equal(choose(&stack).row, ARGUMENT_ROW);
	/* Nothing came back: it may do so later. */
	assert_int_equal(choose(&stack).row, ARGUMENT_ROW_MAX);
	site_of(&stack, stack.outer)->row_alike = 1;
	assert_int_equal(choose(&stack).row, ARGUMENT_ROW);
	argument_log_deinit(&stack.log);
}

/* await f(x): the call is no longer there; where f begins its arguments are. */
static void test_awaited(void **state)
{
	struct argument_choice choice;
	struct stack stack;

	(void)state;
	set_up(&stack);
	make_comparable(&stack, stack.outer);
	site_of(&stack, stack.outer)->of_callee = true;
	site_of(&stack, stack.outer)->awaits = true;
	/* Too few samples for a row, and an instruction that has no operands. */
	stack.codes[0].coroutine = true;
	assert_null(choose(&stack).frame);
	site_of(&stack, stack.outer)->samples = SAMPLES;
	choice = choose(&stack);
	assert_ptr_equal(choice.frame, &stack.frames[0]);
	assert_int_equal(choice.site, stack.outer);
	assert_int_equal(choice.row, ARGUMENT_ROW);
	assert_true(choice.at_entry);
	/* Something else runs below it in this sample. */
	stack.codes[0].coroutine = false;
	assert_null(choose(&stack).frame);
	/* Or nothing. */
	stack.codes[0].coroutine = true;
	stack.own[1] = 0;
	assert_null(choose(&stack).frame);
	argument_log_deinit(&stack.log);
}

/* What the function does not read is no matter where it begins. */
static void test_of_part(void **state)
{
	/* RESUME, NOP, RETURN_VALUE of 3.11 */
	static const uint8_t bytecode[] = { 151, 0, 9, 0, 83, 0 };
	struct argument_choice choice;
	struct stack stack;

	(void)state;
	set_up(&stack);
	make_comparable(&stack, stack.outer);
	site_of(&stack, stack.outer)->of_part = true;
	stack.codes[0].minor = 11;
	/* A function that begins nowhere: the call itself is watched. */
	choice = choose(&stack);
	assert_ptr_equal(choice.frame, &stack.frames[1]);
	assert_false(choice.at_entry);
	stack.codes[0].bytecode = bytecode;
	stack.codes[0].bytecode_size = sizeof(bytecode);
	choice = choose(&stack);
	assert_ptr_equal(choice.frame, &stack.frames[0]);
	assert_int_equal(choice.site, stack.outer);
	assert_true(choice.at_entry);
	argument_log_deinit(&stack.log);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_least_known), cmocka_unit_test(test_most_time),
		cmocka_unit_test(test_behind),      cmocka_unit_test(test_row_in_c),
		cmocka_unit_test(test_row),         cmocka_unit_test(test_awaited),
		cmocka_unit_test(test_of_part),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
