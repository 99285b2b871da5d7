/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Children of the test that bring themselves into a situation and stay there,
 * to be unwound. Being forks, their functions have the addresses they have here.
 */
#ifndef PIEPROFD_TESTS_UNIT_UNWIND_CHILDREN_H
#define PIEPROFD_TESTS_UNIT_UNWIND_CHILDREN_H

#include "tests/unit/under_valgrind.h"
#include "tests/unit/unwind_subject.h"

#include <setjmp.h>
#include <stdarg.h>
#include <time.h>

#include <cmocka.h>

#define ADDRESS(function) ((remote_addr)(uintptr_t)(function))

/* Not a tail call: the frames are what is tested. */
#define CALL(statement)                                                                            \
	do {                                                                                       \
		statement;                                                                         \
		__asm__ volatile("" ::: "memory");                                                 \
	} while (0)

static void say_ready(void)
{
	live_must(write(STDOUT_FILENO, "\n", 1) == 1);
}

/* Never returns; the compiler is not to know. */
static __attribute__((noinline)) void stay(void)
{
	volatile bool forever = true;

	say_ready();
	while (forever)
		__asm__ volatile("pause");
}

static void child_in_vdso(void *context)
{
	struct timespec now;

	(void)context;
	say_ready();
	for (;;)
		clock_gettime(CLOCK_MONOTONIC, &now);
}

static __attribute__((noinline)) void recurse(unsigned int depth)
{
	volatile uint8_t room[1000];

	room[depth % sizeof(room)] = 0;
	if (depth == 0)
		CALL(stay());
	else
		CALL(recurse(depth - 1));
}

static void child_in_recursion(void *context)
{
	CALL(recurse(*(unsigned int *)context));
}

static inline struct subject open_stopped(void (*body)(void *), void *context, size_t stack_bytes)
{
	struct live_process *process = live_process_start(NULL, body, context);
	struct subject subject;

	assert_non_null(process);
	assert_true(live_process_wait_line(process));
	subject = subject_open(process);
	assert_true(live_process_seize(process));
	assert_true(live_process_stop(process));
	/* It may not have come from the line to the loop yet. */
	if (body != child_in_vdso)
		assert_true(live_process_settle(process));
	assert_true(live_process_copy(process, stack_bytes));
	return subject;
}

static inline size_t frame_of(const struct stack *stack, remote_addr function)
{
	size_t i = 0;

	while (i < stack->count && stack->frames[i].function != function)
		i++;
	assert_true(i < stack->count);
	return i;
}

/* Each child's frames are those of translated code. */
static inline void test_nothing_under_valgrind(void **state)
{
	(void)state;
	skip();
}

#endif
