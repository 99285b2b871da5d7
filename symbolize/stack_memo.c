/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolize/stack_memo.h"

#include "common/hash.h"

#include <errno.h>
#include <stdlib.h>

#define CACHE_LINE_BYTES 64

int stack_memo_init(struct stack_memo *memo)
{
	size_t size = STACK_MEMO_THREADS * sizeof(*memo->threads);

	size = (size + CACHE_LINE_BYTES - 1) / CACHE_LINE_BYTES * CACHE_LINE_BYTES;
	memo->current = NULL;
	memo->threads = aligned_alloc(CACHE_LINE_BYTES, size);
	if (!memo->threads)
		return -ENOMEM;
	for (size_t i = 0; i < STACK_MEMO_THREADS; i++)
		memo->threads[i].thread = 0;
	stack_memo_flush(memo);
	return 0;
}

void stack_memo_deinit(struct stack_memo *memo)
{
	free(memo->threads);
	memo->threads = NULL;
	memo->current = NULL;
}

void stack_memo_flush(struct stack_memo *memo)
{
	for (size_t i = 0; i < STACK_MEMO_THREADS; i++)
		memo->threads[i].count = 0;
}

void stack_memo_begin(struct stack_memo *memo, remote_addr thread)
{
	struct stack_memo_thread *current = &memo->threads[hash_word(thread) % STACK_MEMO_THREADS];

	if (current->thread != thread) {
		current->thread = thread;
		current->count = 0;
	}
	memo->current = current;
	memo->position = current->count;
	memo->in_run = false;
	memo->added_count = 0;
}

static void append_step(struct stack_memo *memo, const struct stack_step *step)
{
	if (memo->added_count < STACK_MEMO_STEPS_MAX)
		memo->added[memo->added_count++] = *step;
}

void stack_memo_add(struct stack_memo *memo, const struct stack_step *step)
{
	if (!memo->current)
		return;
	/* The steps before this one were known, but will not be in their place. */
	if (memo->in_run)
		for (size_t i = memo->run_start + 1; i > memo->position; i--)
			append_step(memo, &memo->current->steps[i - 1]);
	memo->in_run = false;
	append_step(memo, step);
}

void stack_memo_end(struct stack_memo *memo)
{
	struct stack_memo_thread *current = memo->current;
	size_t count;

	if (!current)
		return;
	memo->current = NULL;
	count = memo->in_run ? memo->run_start + 1 : memo->position;
	if (!memo->in_run && memo->added_count > 0)
		while (count > 0 &&
		       current->steps[count - 1].sp <= memo->added[memo->added_count - 1].sp)
			count--;
	for (size_t i = memo->added_count; i > 0 && count < STACK_MEMO_STEPS_MAX; i--)
		current->steps[count++] = memo->added[i - 1];
	current->count = count;
}
