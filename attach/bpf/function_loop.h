/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Part of mpi.bpf.c: Python functions of interpreters whose evaluation loop is called for each call
 * of one (3.6 to 3.10).
 *
 *   the loop is entered    its call is put on the thread's stack (function.h), with the stack
 *                          pointer
 *   the loop is left       the call that was entered with the same stack pointer is taken off, be
 *                          it by a return, a yield or an exception
 *
 * What lies further down the C stack than an event has been left: where that was not seen, it is
 * said. Calls that began before the thread was met have a stack pointer that nobody knows: such a
 * one has ended when the loop is left and its frame is not among the thread's any more.
 */
#ifndef PIEPROFD_ATTACH_BPF_FUNCTION_LOOP_H
#define PIEPROFD_ATTACH_BPF_FUNCTION_LOOP_H

#include "attach/bpf/function.h"

/* The innermost call, if it was entered further down than event->sought. */
static long past_step(__u32 index, struct function_event *event)
{
	struct function_stack *stack = event->stack;
	struct function_call *call;

	if (!stack || !stack->count)
		return 1;
	call = call_at(stack, stack->count - 1);
	/* FUNCTION_SP_UNKNOWN is above all. */
	if (!call || call->sp >= event->sought)
		return 1;
	record_call(event, call, event->now_ns, FUNCTION_LOST);
	pop_call(event, call);
	return 0;
}

static __always_inline void end_below(struct function_event *event, __u64 sp)
{
	event->sought = sp;
	bpf_loop(FUNCTION_DEPTH_MAX, past_step, event, 0);
}

static __always_inline int enter_loop(struct function_event *event, __u64 id)
{
	__u32 verdict = look_at_code(event, event->frame);

	if (verdict == FUNCTION_UNWANTED) {
		__sync_fetch_and_add(
			event->code ? &event->counts->passed_over : &event->counts->unreadable, 1);
		return 0;
	}
	event->stack = stack_of(event, id, 1);
	if (!event->stack) {
		__sync_fetch_and_add(&event->counts->no_room, 1);
		return 0;
	}
	end_below(event, event->sp + 1);
	push_call(event, verdict, 0);
	return 0;
}

/* Whether that is the end of a call that had begun before: the thread's frames, as they are now,
 * have it no more. */
static __always_inline int has_left(struct function_event *event, struct function_call *call)
{
	__u64 thread;

	if (event->sp <= event->stack->met_sp)
		return 0;
	thread = user_word(event->config->current_thread);
	if (!thread)
		return 0;
	event->found = 0;
	event->sought = call->frame;
	event->link = user_word(thread + event->config->thread_frame);
	bpf_loop(FUNCTION_LINKS_MAX, link_step, event, 0);
	/* Beyond so many frames nobody knows. */
	return !event->found && !event->link;
}

static __always_inline int leave_loop(struct function_event *event, __u64 id, __u64 result)
{
	struct function_call *call;

	event->stack = stack_of(event, id, 0);
	if (!event->stack || !event->stack->count)
		return 0;
	end_below(event, event->sp);
	if (!event->stack->count)
		return 0;
	call = call_at(event->stack, event->stack->count - 1);
	if (!call ||
	    (call->sp == FUNCTION_SP_UNKNOWN ? !has_left(event, call) : call->sp != event->sp))
		return 0;
	record_call(event, call, event->now_ns, result ? 0 : FUNCTION_RAISED);
	pop_call(event, call);
	return 0;
}

static __always_inline int see_loop(struct function_event *event, struct pt_regs *context,
				    __u64 cookie)
{
	__u64 id = bpf_get_current_pid_tgid();
	__u64 value;

	if (!is_recorded(event, cookie))
		return 0;
	value = passed_register(context, FUNCTION_COOKIE_REGISTER(cookie));
	event->sp = context->rsp + FUNCTION_COOKIE_ABOVE(cookie);
	if (FUNCTION_COOKIE_KIND(cookie) == FUNCTION_PROBE_RETURN)
		return leave_loop(event, id, value);
	event->frame = value;
	return enter_loop(event, id);
}

SEC("kprobe")
int on_loop(struct pt_regs *context)
{
	__u64 cookie = bpf_get_attach_cookie(context);
	struct function_event event = {
		.now_ns = bpf_ktime_get_ns(),
		.slot = COOKIE_SLOT(cookie),
		.span = COOKIE_FUNCTION(cookie),
	};

	if (!count_trap(&event))
		return 0;
	(void)see_loop(&event, context, cookie);
	time_trap(&event);
	return 0;
}

#endif
