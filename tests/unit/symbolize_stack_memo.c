/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory of past walks against a walk without: random call trees, whose
 * frames keep their places or change, in several threads.
 */
#include "symbolize/stack_memo.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define DEPTH_MAX 300

/* What a walk would find out by rules: the step is a function of pc, sp and perhaps rbp. */
static struct stack_step step_from(remote_addr pc, remote_addr sp, remote_addr rbp)
{
	struct stack_step step = {
		.pc = pc,
		.sp = sp,
		.rbp = rbp,
		.function = pc & ~(remote_addr)0xff,
		.uses_rbp = pc & 1,
	};

	step.cfa = sp + 16 + (pc & 0x70) + (step.uses_rbp ? rbp & 0x30 : 0);
	step.rbp_slot = pc & 2 ? step.cfa - 16 : 0;
	return step;
}

struct frame {
	remote_addr pc, rbp;
};

/* Frames innermost last; the stack pointers follow from the outermost's place. */
struct thread {
	struct frame frames[DEPTH_MAX];
	size_t depth;
};

static struct frame random_frame(void)
{
	return (struct frame){ .pc = 0x400000 + (remote_addr)(rand() % 64) * 0x1f,
			       .rbp = 0x7000 + (remote_addr)(rand() % 3) * 16 };
}

/* Returns from some calls and makes others; or changes a frame far outside, as nothing would. */
static void thread_goes_on(struct thread *thread)
{
	size_t returns = (size_t)rand() % (rand() % 4 ? 5 : 60);

	thread->depth -= returns < thread->depth ? returns : thread->depth;
	for (size_t calls = (size_t)rand() % (rand() % 4 ? 6 : 60);
	     calls > 0 && thread->depth < DEPTH_MAX; calls--)
		thread->frames[thread->depth++] = random_frame();
	if (rand() % 8 == 0 && thread->depth > 0)
		thread->frames[(size_t)rand() % thread->depth] = random_frame();
}

/* Walks as far as wanted. Each step must be what the rules say; returns how many were known. */
static size_t walk(struct stack_memo *memo, const struct thread *thread, remote_addr name,
		   remote_addr sp, size_t wanted)
{
	size_t known = 0;

	stack_memo_begin(memo, name);
	for (size_t i = thread->depth; i > 0 && thread->depth - i < wanted; i--) {
		const struct frame *frame = &thread->frames[i - 1];
		struct stack_step expected = step_from(frame->pc, sp, frame->rbp);
		const struct stack_step *step = stack_memo_find(memo, frame->pc, sp, frame->rbp);

		if (step) {
			assert_true(step->cfa == expected.cfa);
			assert_true(step->rbp_slot == expected.rbp_slot);
			assert_true(step->function == expected.function);
			known++;
		} else if (rand() % 16) {
			stack_memo_add(memo, &expected);
		}
		sp = expected.cfa;
	}
	stack_memo_end(memo);
	return known;
}

/* The innermost frame's stack pointer, if the outermost one's frame ends at a fixed place. */
static remote_addr innermost_sp(const struct thread *thread)
{
	remote_addr total = 0;

	for (size_t i = 0; i < thread->depth; i++)
		total += step_from(thread->frames[i].pc, 0, thread->frames[i].rbp).cfa;
	return 0x7fff00000000 - total;
}

static void test_steps_are_those_of_the_rules(void **state)
{
	/* More threads than there is room for. */
	static struct thread threads[STACK_MEMO_THREADS + 5];
	const size_t count = sizeof(threads) / sizeof(threads[0]);
	struct stack_memo memo;
	size_t frames = 0, known = 0;

	(void)state;
	assert_int_equal(stack_memo_init(&memo), 0);
	srand(6);
	for (unsigned int round = 0; round < 40000; round++) {
		size_t index = (size_t)rand() % (rand() % 2 ? 2 : count);
		size_t wanted = rand() % 3 ? DEPTH_MAX : (size_t)rand() % 20;
		struct thread *thread = &threads[index];

		thread_goes_on(thread);
		known += walk(&memo, thread, 0x7f0000000000 + index * 0x801000,
			      innermost_sp(thread), wanted);
		frames += wanted < thread->depth ? wanted : thread->depth;
		for (size_t t = 0; t < STACK_MEMO_THREADS; t++) {
			const struct stack_memo_thread *kept = &memo.threads[t];

			assert_in_range(kept->count, 0, STACK_MEMO_STEPS_MAX);
			for (size_t i = 1; i < kept->count; i++)
				assert_true(kept->steps[i - 1].sp > kept->steps[i].sp);
		}
		if (rand() % 5000 == 0)
			stack_memo_flush(&memo);
	}
	print_message("%zu of %zu frames known\n", known, frames);
	stack_memo_deinit(&memo);
	/* Else nothing was tested. */
	assert_true(known * 4 > frames);
}

/* The same stack again: all of it is known, from the outermost frames that there is room for. */
static void test_same_stack(void **state)
{
	static struct thread thread;
	struct stack_memo memo;
	remote_addr sp = 0x7ffe00000000;

	(void)state;
	assert_int_equal(stack_memo_init(&memo), 0);
	for (thread.depth = 0; thread.depth < 100; thread.depth++)
		thread.frames[thread.depth] =
			(struct frame){ .pc = 0x400000 + thread.depth * 0x20, .rbp = 0 };
	/* Until every step has been added: the walk leaves some out. */
	for (unsigned int i = 0; i < 40; i++)
		(void)walk(&memo, &thread, 1, sp, DEPTH_MAX);
	assert_int_equal(walk(&memo, &thread, 1, sp, DEPTH_MAX), 100);
	/* As far as a function asked for; the rest is not forgotten. */
	assert_int_equal(walk(&memo, &thread, 1, sp, 10), 10);
	assert_int_equal(walk(&memo, &thread, 1, sp, DEPTH_MAX), 100);
	/* Another thread, or all forgotten. */
	assert_int_equal(walk(&memo, &thread, 2, sp, DEPTH_MAX), 0);
	stack_memo_flush(&memo);
	assert_int_equal(walk(&memo, &thread, 1, sp, DEPTH_MAX), 0);
	stack_memo_deinit(&memo);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_steps_are_those_of_the_rules),
		cmocka_unit_test(test_same_stack),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
