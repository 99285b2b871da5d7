/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The steps that the last walks up each thread's stack have taken, so that the
 * next one need not look up again what has not changed: two stops in a row
 * share most of their outer frames.
 *
 * A step is a fact: in code at pc, with this stack pointer (and this frame
 * pointer where the rule asks for it), the caller's frame begins at cfa and
 * its frame pointer lies at rbp_slot. It holds whatever is on the stack; the
 * return address and the frame pointer are read from the stack each time. So
 * nothing here can be out of date but by a change of the modules, see flush.
 *
 *   thread's steps:  | outermost ... | ... innermost |      stack pointers fall
 *                                     ^ position: everything right of it is passed
 *
 * A walk goes from the right to the left; at its end the steps it took that
 * are new take the place of those it passed. In memory the steps lie side by
 * side, unlike the rules, whose cache lines and pages are all over the place.
 */
#ifndef PIEPROFD_SYMBOLIZE_STACK_MEMO_H
#define PIEPROFD_SYMBOLIZE_STACK_MEMO_H

#include "common/address.h"
#include "symbolize/module.h"

#define STACK_MEMO_THREADS   16
#define STACK_MEMO_STEPS_MAX 126

enum stack_step_kind {
	STACK_STEP_CALLER, /* there is a caller */
	STACK_STEP_END,    /* the outermost frame */
};

struct stack_step {
	remote_addr pc; /* a return address */
	remote_addr sp;
	remote_addr rbp; /* when uses_rbp */
	remote_addr cfa;
	remote_addr rbp_slot; /* 0: the caller has the same rbp */
	remote_addr function; /* 0: unknown */
	const struct module *module;
	uint8_t kind;
	bool uses_rbp;
};
_Static_assert(sizeof(struct stack_step) == 64, "a step is one cache line");

struct stack_memo_thread {
	struct stack_step steps[STACK_MEMO_STEPS_MAX]; /* outermost first */
	remote_addr thread;                            /* its fs_base */
	size_t count;
};

struct stack_memo {
	struct stack_memo_thread *threads;
	/* Of the walk under way: */
	struct stack_memo_thread *current; /* NULL: none */
	size_t position;
	size_t run_start; /* the step that the run of steps known began with */
	bool in_run;      /* the last frame's step was known */
	size_t added_count;
	struct stack_step added[STACK_MEMO_STEPS_MAX]; /* innermost first */
};

__attribute__((warn_unused_result)) int stack_memo_init(struct stack_memo *memo);
void stack_memo_deinit(struct stack_memo *memo);
void stack_memo_flush(struct stack_memo *memo);

/* thread: any number that tells threads apart. */
void stack_memo_begin(struct stack_memo *memo, remote_addr thread);

/* Remembers the steps of the walk; without a walk under way does nothing. */
void stack_memo_end(struct stack_memo *memo);

/* A step that stack_memo_find() has just been asked for and did not know. */
void stack_memo_add(struct stack_memo *memo, const struct stack_step *step);

/* The step from this frame, or NULL. Stack pointers must rise from call to call. */
static inline const struct stack_step *stack_memo_find(struct stack_memo *memo, remote_addr pc,
						       remote_addr sp, remote_addr rbp)
{
	const struct stack_step *step;

	if (!memo->current)
		return NULL;
	while (memo->position > 0 && memo->current->steps[memo->position - 1].sp < sp)
		memo->position--;
	if (memo->position == 0)
		return NULL;
	step = &memo->current->steps[memo->position - 1];
	if (step->pc != pc || step->sp != sp || (step->uses_rbp && step->rbp != rbp))
		return NULL;
	if (!memo->in_run)
		memo->run_start = memo->position - 1;
	memo->in_run = true;
	return step;
}

#endif
