/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Part of mpi.bpf.c: Python functions, seen from the interpreter's handlers of the instructions
 * with which a call begins and ends.
 *
 *   thread --> stack of calls that were begun and not left, innermost last
 *
 *   RESUME                                 a call is put on it
 *   RETURN_VALUE, YIELD_VALUE              its call is taken off, and recorded
 *   an exception that may leave a frame    noted with its call: where no handler catches it,
 * nothing is run in the frame any more
 *
 * So a call from which an exception was raised has ended when something is seen that cannot happen
 * inside of it: an event of an evaluation loop further out on the C stack, or in the same one of a
 * frame that was not called from it. It ended when the exception left it.
 *
 * A generator into which an exception is thrown runs no RESUME: it is met where that is noted.
 *
 * ENTER_EXECUTOR                         only counted: calls in compiled code pass no handler
 *
 * The first time that a thread is met, its frames are put on the stack: they began before.
 *
 * To 3.10 the evaluation loop runs one call each time: see function_loop.h.
 *
 * A call is known by its frame. All that is read is the target's: frames are followed so many times
 * at most, and what a call cannot be taken for is passed over.
 */
#ifndef PIEPROFD_ATTACH_BPF_FUNCTION_H
#define PIEPROFD_ATTACH_BPF_FUNCTION_H

#include "attach/bpf/function_record.h"
#include "attach/bpf/function_register.h"

/* Frames that are not wanted between two that are, and calls that an exception left at a time. */
#define FUNCTION_LINKS_MAX 256
/* Frames of a thread that is met, innermost first: further ones are left out. */
#define FUNCTION_FRAMES_MAX 100

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, FUNCTION_THREADS_MAX);
	__type(key, __u32);
	__type(value, struct function_stack);
} function_stacks SEC(".maps");

/* What a new stack is made from: it does not fit the program's own. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct function_stack);
} function_no_stack SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, FUNCTION_CODES_MAX);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct function_code_key);
	__type(value, struct function_code);
} function_codes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, MPI_TARGETS_MAX);
	__type(key, __u32);
	__type(value, struct function_config);
} function_configs SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, MPI_TARGETS_MAX);
	__type(key, __u32);
	__type(value, struct function_counts);
} function_counters SEC(".maps");

/* What one event has to do with. */
struct function_event {
	struct function_config *config;
	struct function_counts *counts;
	struct function_stack *stack;
	__u64 now_ns;
	__u64 frame, sp;
	__u64 link; /* a frame, on the way out */
	__u64 sought;
	__u64 code, identity; /* of the frame that was looked at last */
	__u32 slot, span;
	__u32 found, left;
};

static __noinline struct function_call *call_at(struct function_stack *stack, __u32 at)
{
	if (!stack || at >= FUNCTION_DEPTH_MAX)
		return NULL;
	return &stack->calls[at];
}

/* ---- calls that are left ---- */

static __always_inline void record_call(struct function_event *event, struct function_call *call,
					__u64 end_ns, __u32 flags)
{
	struct function_counts *counts = event->counts;
	struct function_record *record;
	__u64 ns = end_ns - call->begin_ns;

	if (call->verdict == FUNCTION_UNWANTED)
		return;
	__sync_fetch_and_add(&counts->ended, 1);
	if (ns < event->config->least_ns) {
		__sync_fetch_and_add(&counts->short_ones, 1);
		__sync_fetch_and_add(&counts->short_ns, ns);
		return;
	}
	record = bpf_ringbuf_reserve(&ring, sizeof(*record), 0);
	if (!record) {
		__sync_fetch_and_add(&counts->over_limit, 1);
		__sync_fetch_and_add(&counts->over_ns, ns);
		return;
	}
	record->kind = MPI_RECORD_FUNCTION;
	record->slot = (__u16)event->slot;
	record->span = (__u16)event->span;
	record->tid = event->stack->tid;
	record->flags = flags | (__u32)call->flags;
	record->begin_ns = call->begin_ns;
	record->end_ns = end_ns;
	record->code = call->code;
	record->identity = call->identity;
	record->depth = call->depth;
	record->unused = 0;
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
}

/* Takes the innermost call off. */
static __always_inline void pop_call(struct function_event *event, struct function_call *call)
{
	struct function_stack *stack = event->stack;

	stack->count--;
	if (call->verdict != FUNCTION_UNWANTED)
		stack->wanted--;
	if (call->verdict == FUNCTION_UNDECIDED)
		stack->undecided--;
}

static long link_step(__u32 index, struct function_event *event)
{
	if (!event->link)
		return 1;
	if (event->link == event->sought) {
		event->found = 1;
		return 1;
	}
	event->link = user_word(event->link + event->config->frame_previous);
	return 0;
}

/* Whether the innermost call has ended meanwhile, with the frame of the event and those from which
 * it was called. */
static __always_inline int has_ended(struct function_event *event, struct function_call *call)
{
	if (call->sp < event->sp)
		return 1;
	/* Without an exception a frame is left by what is seen. */
	if (!call->raised_ns)
		return 0;
	event->found = 0;
	event->sought = call->frame;
	bpf_loop(FUNCTION_LINKS_MAX, link_step, event, 0);
	return !event->found;
}

static long ended_step(__u32 index, struct function_event *event)
{
	struct function_stack *stack = event->stack;
	struct function_call *call;
	__u64 start = event->link;

	if (!stack || !stack->count)
		return 1;
	call = call_at(stack, stack->count - 1);
	if (!call || !has_ended(event, call))
		return 1;
	record_call(event, call, call->raised_ns ? call->raised_ns : event->now_ns,
		    call->raised_ns ? FUNCTION_RAISED : FUNCTION_LOST);
	pop_call(event, call);
	event->link = start;
	return 0;
}

/* first: the innermost frame that is there now. */
static __always_inline void end_calls(struct function_event *event, __u64 first)
{
	event->link = first;
	bpf_loop(FUNCTION_DEPTH_MAX, ended_step, event, 0);
}

/* ---- calls that begin ---- */

/* What was not known of the calls that enclose this one. */
static long decide_step(__u32 index, struct function_event *event)
{
	struct function_call *call = call_at(event->stack, index);
	struct function_code_key key = { 0 };
	struct function_code *known;

	if (index >= event->stack->count || !event->stack->undecided || !call)
		return 1;
	if (call->verdict != FUNCTION_UNDECIDED)
		return 0;
	key.code = call->code;
	key.slot = event->slot;
	known = bpf_map_lookup_elem(&function_codes, &key);
	if (!known || known->identity != call->identity || known->verdict == FUNCTION_UNDECIDED)
		return 0;
	call->verdict = known->verdict;
	event->stack->undecided--;
	if (call->verdict == FUNCTION_UNWANTED)
		event->stack->wanted--;
	return 0;
}

static __noinline __u32 announce_code(__u32 slot, __u32 span, __u64 code, __u64 identity)
{
	struct function_code_key key = { code, slot };
	struct function_code known = { .identity = identity };
	struct function_counts *counts = bpf_map_lookup_elem(&function_counters, &slot);
	struct function_code_record *record = bpf_ringbuf_reserve(&ring, sizeof(*record), 0);

	if (!record) {
		if (counts)
			__sync_fetch_and_add(&counts->codes_left_out, 1);
		return FUNCTION_UNWANTED;
	}
	record->kind = MPI_RECORD_CODE;
	record->slot = (__u16)slot;
	record->span = (__u16)span;
	record->code = code;
	record->identity = identity;
	/* Known first: the daemon's answer must find it. */
	if (bpf_map_update_elem(&function_codes, &key, &known, BPF_ANY)) {
		bpf_ringbuf_discard(record, BPF_RB_NO_WAKEUP);
		if (counts)
			__sync_fetch_and_add(&counts->codes_left_out, 1);
		return FUNCTION_UNWANTED;
	}
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
	return FUNCTION_UNDECIDED;
}

/* Another code object may lie there later: not with all of the same names. */
static __always_inline __u64 identity_of_names(const __u64 *names, __u32 count)
{
	__u64 identity = 0;

	/* What lies behind them may change. */
	for (__u32 i = 0; i < FUNCTION_NAME_WORDS; i++)
		identity = (identity ^ (i < count ? names[i] : 0)) * 0x9e3779b97f4a7c15ull;
	return identity;
}

/* The code object of a frame, and whether its calls are wanted. */
static __noinline __u32 look_at_code(struct function_event *event, __u64 frame)
{
	struct function_code_key key = { 0 };
	struct function_code *known;
	__u64 code = 0, names[FUNCTION_NAME_WORDS];

	if (!event || !event->config)
		return FUNCTION_UNWANTED;
	(void)bpf_probe_read_user(&code, sizeof(code), (void *)(frame + event->config->frame_code));
	/* From 3.14 on the lowest bits say whose it is. */
	code &= ~7ull;
	event->code = code;
	if (bpf_probe_read_user(names, sizeof(names), (void *)(code + event->config->code_names))) {
		event->code = 0;
		return FUNCTION_UNWANTED;
	}
	event->identity = identity_of_names(names, event->config->name_words);
	key.code = code;
	key.slot = event->slot;
	known = bpf_map_lookup_elem(&function_codes, &key);
	if (known && known->identity == event->identity)
		return known->verdict;
	return announce_code(event->slot, event->span, code, event->identity);
}

/* ---- threads that are met ---- */

static long count_step(__u32 index, struct function_event *event)
{
	if (!event->link)
		return 1;
	if (look_at_code(event, event->link) != FUNCTION_UNWANTED)
		event->left++;
	event->link = user_word(event->link + event->config->frame_previous);
	return 0;
}

/* From the innermost on, which is the last one. */
static long seed_step(__u32 index, struct function_event *event)
{
	struct function_call *call;
	__u32 verdict;

	if (!event->link || !event->left || !event->stack)
		return 1;
	verdict = look_at_code(event, event->link);
	if (verdict != FUNCTION_UNWANTED) {
		event->left--;
		call = call_at(event->stack, event->left);
		if (call) {
			call->frame = event->link;
			call->code = event->code;
			call->identity = event->identity;
			call->begin_ns = event->config->begin_ns;
			call->raised_ns = 0;
			call->sp = FUNCTION_SP_UNKNOWN;
			call->flags = FUNCTION_BEFORE;
			call->depth = event->left;
			call->verdict = verdict;
			event->stack->undecided += verdict == FUNCTION_UNDECIDED;
		}
	}
	event->link = user_word(event->link + event->config->frame_previous);
	return 0;
}

static __always_inline void seed_stack(struct function_event *event)
{
	__u64 code = event->code, identity = event->identity;
	__u64 first = user_word(event->frame + event->config->frame_previous);
	__u32 count;

	event->left = 0;
	event->link = first;
	bpf_loop(FUNCTION_FRAMES_MAX, count_step, event, 0);
	count = event->left;
	if (event->stack && count) {
		event->link = first;
		bpf_loop(FUNCTION_FRAMES_MAX, seed_step, event, 0);
		event->stack->count = event->stack->wanted = count;
	}
	event->code = code;
	event->identity = identity;
}

static __always_inline struct function_stack *stack_of(struct function_event *event, __u64 id,
						       int make)
{
	__u32 key = (__u32)id, none = 0;
	struct function_stack *stack = bpf_map_lookup_elem(&function_stacks, &key);

	if (!stack && make) {
		struct function_stack *empty = bpf_map_lookup_elem(&function_no_stack, &none);

		if (!empty || bpf_map_update_elem(&function_stacks, &key, empty, BPF_NOEXIST))
			return NULL;
		stack = bpf_map_lookup_elem(&function_stacks, &key);
	}
	if (!stack)
		return NULL;
	if (stack->epoch != event->config->epoch || stack->slot != event->slot) {
		if (!make)
			return NULL;
		stack->count = stack->wanted = stack->undecided = 0;
		stack->epoch = event->config->epoch;
		stack->slot = (__u16)event->slot;
		stack->span = (__u16)event->span;
		stack->tid = own_number(id);
		stack->met_sp = event->sp;
		event->stack = stack;
		if (event->config->met_frames)
			seed_stack(event);
	}
	return stack;
}

static __always_inline void push_call(struct function_event *event, __u32 verdict, __u64 raised_ns)
{
	struct function_stack *stack = event->stack;
	struct function_call *call;

	if (stack->undecided)
		bpf_loop(FUNCTION_DEPTH_MAX, decide_step, event, 0);
	/* What is not decided may turn out to be unwanted: the daemon leaves out what is too deep
	 * then. */
	if (stack->wanted - stack->undecided >= event->config->depth_max) {
		__sync_fetch_and_add(&event->counts->too_deep, 1);
		return;
	}
	call = call_at(stack, stack->count);
	if (!call) {
		__sync_fetch_and_add(&event->counts->no_room, 1);
		return;
	}
	call->frame = event->frame;
	call->code = event->code;
	call->identity = event->identity;
	call->raised_ns = raised_ns;
	call->sp = event->sp;
	call->flags = 0;
	call->depth = stack->wanted;
	call->verdict = verdict;
	stack->count++;
	stack->wanted++;
	stack->undecided += verdict == FUNCTION_UNDECIDED;
	__sync_fetch_and_add(&event->counts->begun, 1);
	/* What was done here is not the function's. */
	call->begin_ns = raised_ns ? raised_ns : bpf_ktime_get_ns();
}

static __always_inline int enter_function(struct function_event *event, __u64 id)
{
	__u32 verdict = look_at_code(event, event->frame);
	struct function_call *call;

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
	call = event->stack->count ? call_at(event->stack, event->stack->count - 1) : NULL;
	/* Some interpreters run RESUME again once they have changed the code. */
	if (call && call->frame == event->frame && call->sp == event->sp && !call->raised_ns)
		return 0;
	end_calls(event, user_word(event->frame + event->config->frame_previous));
	push_call(event, verdict, 0);
	return 0;
}

static __always_inline int leave_function(struct function_event *event, __u64 id)
{
	struct function_call *call;

	event->stack = stack_of(event, id, 0);
	if (!event->stack || !event->stack->count)
		return 0;
	call = call_at(event->stack, event->stack->count - 1);
	/* Most leave what they had entered last. */
	if (call && (call->frame != event->frame || call->sp != event->sp)) {
		end_calls(event, event->frame);
		if (!event->stack->count)
			return 0;
		call = call_at(event->stack, event->stack->count - 1);
	}
	if (!call || call->frame != event->frame)
		return 0;
	record_call(event, call, event->now_ns, 0);
	pop_call(event, call);
	return 0;
}

/* A generator into which an exception is thrown goes on without an instruction of its own. */
static __always_inline int is_thrown_into(struct function_event *event)
{
	__u8 owner = 0;

	return !bpf_probe_read_user(&owner, sizeof(owner),
				    (void *)(event->frame + event->config->frame_owner)) &&
	       owner == FUNCTION_OWNER_GENERATOR;
}

static __always_inline int raise_in_function(struct function_event *event, __u64 id,
					     int by_traceback)
{
	struct function_call *call;
	__u32 verdict;

	event->stack = stack_of(event, id, 0);
	if (!event->stack)
		return 0;
	call = event->stack->count ? call_at(event->stack, event->stack->count - 1) : NULL;
	if (call && call->frame != event->frame) {
		end_calls(event, event->frame);
		call = event->stack->count ? call_at(event->stack, event->stack->count - 1) : NULL;
	}
	if (call && call->frame == event->frame) {
		call->raised_ns = event->now_ns;
		return 0;
	}
	if (!by_traceback || !is_thrown_into(event))
		return 0;
	verdict = look_at_code(event, event->frame);
	if (verdict == FUNCTION_UNWANTED)
		return 0;
	/* It is not known from here where the loop that runs it is on the C stack. */
	event->sp = FUNCTION_SP_UNKNOWN;
	push_call(event, verdict, event->now_ns);
	return 0;
}

/* Whether anything is to be recorded of the process; fills config. */
static __always_inline int is_recorded(struct function_event *event, __u64 cookie)
{
	struct mpi_target *target = bpf_map_lookup_elem(&targets, &event->slot);

	event->config = bpf_map_lookup_elem(&function_configs, &event->slot);
	if (!target || !event->config)
		return 0;
	if (cookie & FUNCTION_COOKIE_STEPPED)
		__sync_fetch_and_add(&event->counts->stepped, 1);
	return target->recording && event->config->epoch;
}

static __always_inline int see_function(struct function_event *event, struct pt_regs *context,
					__u64 cookie)
{
	__u64 id = bpf_get_current_pid_tgid();
	__u32 kind = FUNCTION_COOKIE_KIND(cookie);

	if (!is_recorded(event, cookie))
		return 0;
	if (kind == FUNCTION_PROBE_COMPILED) {
		__sync_fetch_and_add(&event->counts->compiled, 1);
		return 0;
	}
	if (kind == FUNCTION_PROBE_TRACEBACK) {
		event->frame = user_word(context->rdi + event->config->object_frame);
		/* It is called by the evaluation loop, or by what is called there. */
		event->sp = 0;
	} else {
		event->frame = kept_register(context, FUNCTION_COOKIE_REGISTER(cookie));
		event->sp = context->rsp;
	}
	if (kind == FUNCTION_PROBE_ENTER)
		return enter_function(event, id);
	if (kind == FUNCTION_PROBE_LEAVE)
		return leave_function(event, id);
	return raise_in_function(event, id, kind == FUNCTION_PROBE_TRACEBACK);
}

/* One in so many, by the clock's lowest bits: what comes in turns is not met in turns. */
static __always_inline int is_timed(__u64 now_ns)
{
	return (now_ns * 0x9e3779b97f4a7c15ull) >> 32 < (1ull << 32) / FUNCTION_TIMED_EACH;
}

/* Of all programs that probes of functions run: NULL where it is not known whose it is. */
static __always_inline struct function_counts *count_trap(struct function_event *event)
{
	event->counts = bpf_map_lookup_elem(&function_counters, &event->slot);
	if (event->counts)
		__sync_fetch_and_add(&event->counts->traps, 1);
	return event->counts;
}

static __always_inline void time_trap(struct function_event *event)
{
	__u64 ns;

	if (!is_timed(event->now_ns))
		return;
	ns = bpf_ktime_get_ns() - event->now_ns;
	if (ns <= FUNCTION_TIMED_MAX_NS) {
		__sync_fetch_and_add(&event->counts->timed, 1);
		__sync_fetch_and_add(&event->counts->timed_ns, ns);
	}
}

SEC("kprobe")
int on_function(struct pt_regs *context)
{
	__u64 cookie = bpf_get_attach_cookie(context);
	struct function_event event = {
		.now_ns = bpf_ktime_get_ns(),
		.slot = COOKIE_SLOT(cookie),
		.span = COOKIE_FUNCTION(cookie),
	};

	if (!count_trap(&event))
		return 0;
	(void)see_function(&event, context, cookie);
	time_trap(&event);
	return 0;
}

#endif
