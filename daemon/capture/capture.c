/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/capture/capture.h"

#include "common/clock.h"
#include "daemon/cct/greenlet_base.h"
#include "daemon/cct/stitch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* 32 KiB hold all stacks of Python 3.11+ seen; 3.10 and older nest C frames and need more. */
#define PAGE_BYTES        4096u
#define STACK_FIRST_BYTES (32u << 10)
#define STACK_MAX_BYTES   (512u << 10)
#define LIVE_INTERVAL_NS  NS_PER_SECOND
/* Of the outermost frame, as much as is looked at. */
#define TOP_FRAME_BYTES 256
/* No frame of a system call's caller is larger. */
#define FRAME_POINTER_REACH (64u << 10)
/* Pieces of generated code on one stack. */
#define GENERATED_PLACES_MAX 16
/* The first with a JIT of its own, and that enters its code through a function. */
#define JIT_MINOR_MIN     13
#define JIT_MINOR_ENTERED 15

int capture_init(struct capture *capture)
{
	*capture = (struct capture){ .stack_wanted = STACK_FIRST_BYTES };
	capture->stack_bytes = malloc(STACK_MAX_BYTES);
	if (!capture->stack_bytes)
		return -ENOMEM;
	capture->stack_capacity = STACK_MAX_BYTES;
	/* The pages are there then, and no stop has to wait for them. */
	memset(capture->stack_bytes, 0, STACK_FIRST_BYTES);
	return 0;
}

void capture_deinit(struct capture *capture)
{
	free(capture->stack_bytes);
	capture->stack_bytes = NULL;
}

static size_t stack_size(const struct capture *capture, pid_t tid, remote_addr start)
{
	const struct stack_top *top = &capture->tops[(unsigned)tid % CAPTURE_TOPS];

	/* Signal handlers have stacks of their own, elsewhere. */
	if (top->tid != tid || top->address <= start ||
	    top->address - start > capture->stack_capacity)
		return capture->stack_wanted;
	return top->address - start;
}

/*
 * Returns how many bytes it copied. Nothing may have been touched below the stack pointer
 * yet, and then the page there is not mapped: it counts as zeroes.
 */
static size_t copy_from(const struct capture *capture, struct target *target, remote_addr start,
			size_t size)
{
	size_t gap = PAGE_BYTES - start % PAGE_BYTES;
	ssize_t got =
		process_memory_read_prefix(&target->memory, start, capture->stack_bytes, size);

	if (got > 0)
		return (size_t)got;
	if (gap > STACK_RED_ZONE_BYTES || gap >= size)
		return 0;
	memset(capture->stack_bytes, 0, gap);
	got = process_memory_read_prefix(&target->memory, start + gap, capture->stack_bytes + gap,
					 size - gap);
	return got > 0 ? gap + (size_t)got : 0;
}

static void copy_stack(struct capture *capture, struct target *target, pid_t tid,
		       const struct registers *registers)
{
	remote_addr start = registers->general[REGISTER_RSP] - STACK_RED_ZONE_BYTES;

	capture->tid = tid;
	capture->registers = *registers;
	capture->stack = (struct stack_snapshot){
		.start = start,
		/* The stack ends before the wanted bytes do, often: what follows it is not mapped.
		 */
		.size = copy_from(capture, target, start, stack_size(capture, tid, start)),
		.bytes = capture->stack_bytes,
	};
	capture->native_count = 0;
	capture->frame_count = 0;
}

static void forget_python(struct capture *capture)
{
	capture->python_error = 0;
	capture->python.count = 0;
	capture->python.flags = 0;
	capture->python.gil = GIL_UNKNOWN;
	capture->python.collecting = false;
}

static void forget_failed_python(struct capture *capture)
{
	int error = capture->python_error;

	if (error)
		forget_python(capture);
	capture->python_error = error;
}

void capture_take(struct capture *capture, struct target *target, pid_t tid, pid_t inner_tid,
		  const struct registers *registers)
{
	copy_stack(capture, target, tid, registers);
	if (!target->runtime) {
		forget_python(capture);
		return;
	}
	capture->python_error =
		python_stack_read(target->runtime, inner_tid, &capture->stack, &capture->python);
	forget_failed_python(capture);
}

void capture_look(struct capture *capture, struct target *target, pid_t tid, pid_t inner_tid,
		  const struct registers *registers)
{
	copy_stack(capture, target, tid, registers);
	if (!target->runtime) {
		forget_python(capture);
		return;
	}
	capture->python_error =
		python_stack_read_running(target->runtime, inner_tid, &capture->python);
	forget_failed_python(capture);
}

_Static_assert(CLOCK_SAMPLE_STACK_BYTES <= STACK_MAX_BYTES, "a sample's stack fits");

void capture_load(struct capture *capture, struct target *target, const struct clock_sample *sample)
{
	capture->tid = sample->tid;
	capture->registers = sample->registers;
	capture->stack = clock_sample_stack(sample, capture->stack_bytes);
	capture->native_count = 0;
	capture->frame_count = 0;
	copied_memory_show(&target->copied, sample);
	if (!target->runtime) {
		forget_python(capture);
		return;
	}
	capture->python_error =
		sample->state
			? python_stack_read_copied(target->runtime, sample->inner_tid,
						   sample->state, &capture->stack, &capture->python)
			: -ESRCH;
	forget_failed_python(capture);
}

void capture_unload(struct target *target)
{
	copied_memory_show(&target->copied, NULL);
}

static bool unwinds(struct capture *capture, struct target *target)
{
	capture->native_end =
		unwinder_unwind(target->unwinder, &capture->registers, &capture->stack, NULL,
				capture->native, CAPTURE_NATIVE_MAX, &capture->native_count);
	if (capture->native_end != UNWIND_COMPLETE)
		return false;
	for (size_t i = 0; i < capture->native_count; i++)
		if (capture->native[i].flags & NATIVE_FRAME_GUESSED)
			return false;
	return true;
}

/*
 * Where rbp points there is the pointer of the caller's frame, and behind that
 * a return address: the innermost such place from which the whole stack unwinds
 * is it.
 */
void capture_find_frame_pointer(struct capture *capture, struct target *target, unsigned attempts)
{
	remote_addr sp = capture->registers.general[REGISTER_RSP];
	bool good = false;

	/* The map is new: where it has no file there is generated code, which is told apart by
	 * asking again. */
	for (unsigned i = 0; i <= GENERATED_PLACES_MAX; i++) {
		good = unwinds(capture, target);
		if (good || capture->native_end != UNWIND_NO_MODULE)
			break;
	}
	for (remote_addr at = sp; !good && attempts && at < sp + FRAME_POINTER_REACH; at += 8) {
		uint64_t caller[2]; /* its frame pointer, and where it goes on */

		if (stack_snapshot_read(&capture->stack, at, caller, sizeof(caller)))
			break;
		if (caller[0] <= at || caller[0] > at + FRAME_POINTER_REACH || caller[0] % 8 ||
		    !module_find(target->modules, caller[1]))
			continue;
		capture->registers.general[REGISTER_RBP] = at;
		good = unwinds(capture, target);
		attempts--;
	}
	if (!good)
		capture->registers.general[REGISTER_RBP] = 0;
}

/*
 * libunwind-ptrace on the stopped thread itself, where the copies did not lead
 * to the evaluation loop: it sees what they lack, but takes a millisecond or
 * more, so once a second at most. Not for addresses in no module: the map is
 * old then, and about to be read again.
 */
static void unwind_live(struct capture *capture, struct target *target)
{
	uint64_t now_ns = clock_now_ns();

	if (capture->native_end == UNWIND_NO_MODULE || capture->native_end == UNWIND_TOO_DEEP ||
	    now_ns - target->live_unwound_ns < LIVE_INTERVAL_NS)
		return;
	target->live_unwound_ns = now_ns;
	capture->native_end =
		unwinder_live_unwind(target->live_unwinder, capture->tid, &target->eval,
				     capture->native, CAPTURE_NATIVE_MAX, &capture->native_count);
}

int capture_unwind_call(struct capture *capture, struct target *target)
{
	if (!capture->python.count)
		return -ENOENT;
	capture->native_end = unwinder_unwind(target->unwinder, &capture->registers,
					      &capture->stack, &target->eval, capture->native,
					      CAPTURE_NATIVE_MAX, &capture->native_count);
	if (capture->native_end != UNWIND_STOPPED)
		unwind_live(capture, target);
	return capture->native_end == UNWIND_STOPPED ? 0 : -ENOENT;
}

static bool is_evaluation(const struct capture *capture, const struct target *target, size_t index)
{
	return index < capture->native_count &&
	       address_ranges_contain(&target->eval, native_frame_lookup_address(
							     &capture->native[index], index == 0));
}

/*
 * Generated code that the evaluation loop itself runs, in 3.15 through one function
 * more of the interpreter's: its JIT made it (3.13+). What libraries generate is
 * called by way of them.
 */
static bool is_own_jit(const struct capture *capture, const struct target *target, size_t index)
{
	int minor = python_runtime_version(target->runtime).minor;

	if (capture->native[index].module || minor < JIT_MINOR_MIN)
		return false;
	while (index < capture->native_count && !capture->native[index].module)
		index++;
	return is_evaluation(capture, target, index) ||
	       (minor >= JIT_MINOR_ENTERED && index < capture->native_count &&
		target_module_kind(target, capture->native[index].module) == MODULE_INTERPRETER &&
		is_evaluation(capture, target, index + 1));
}

bool capture_in_library(const struct capture *capture, const struct target *target)
{
	for (size_t i = 0; i < capture->native_count; i++) {
		const struct native_frame *frame = &capture->native[i];

		if (is_evaluation(capture, target, i) ||
		    (target->runtime && is_own_jit(capture, target, i)))
			return false;
		if (target_module_kind(target, frame->module) == MODULE_LIBRARY)
			return true;
	}
	return false;
}

static void count_python_losses(const struct capture *capture, struct losses *losses)
{
	if (capture->python_error == -ESRCH)
		losses->counts[LOSS_NO_PYTHON_THREAD]++;
	else if (capture->python_error)
		losses->counts[LOSS_PYTHON_UNREADABLE]++;
	if (capture->python.flags & PYTHON_STACK_TRUNCATED)
		losses->counts[LOSS_PYTHON_TRUNCATED]++;
	if (capture->python.flags & PYTHON_STACK_INVALID)
		losses->counts[LOSS_PYTHON_INVALID]++;
}

/* A handler and the loop that called it are one evaluation loop: the outer frame stays. */
static void join_handlers(struct capture *capture, const struct target *target)
{
	size_t kept = 0;

	for (size_t i = 0; i < capture->native_count; i++) {
		const struct native_frame *frame = &capture->native[i];
		bool handler = address_ranges_contain(&target->eval_handlers,
						      native_frame_lookup_address(frame, i == 0));

		if (!handler || i + 1 == capture->native_count)
			capture->native[kept++] = *frame;
	}
	capture->native_count = kept;
}

/* What lies further out is not the greenlet's, and may be what is left of another one. */
static void end_at_greenlet(struct capture *capture, const struct target *target)
{
	size_t count = greenlet_base_find(capture->native, capture->native_count, &capture->python,
					  &target->eval, &target->greenlet);

	if (count == capture->native_count)
		return;
	capture->native_count = count;
	capture->native_end = UNWIND_COMPLETE;
}

void capture_finish(struct capture *capture, struct target *target, struct losses *losses)
{
	capture->native_end =
		unwinder_unwind(target->unwinder, &capture->registers, &capture->stack, NULL,
				capture->native, CAPTURE_NATIVE_MAX, &capture->native_count);
	if (capture->native_end == UNWIND_COMPLETE && capture->native_count)
		capture->tops[(unsigned)capture->tid % CAPTURE_TOPS] = (struct stack_top){
			.tid = capture->tid,
			.address = capture->native[capture->native_count - 1].sp + TOP_FRAME_BYTES,
		};
	end_at_greenlet(capture, target);
	if (capture->native_end != UNWIND_COMPLETE) {
		losses->counts[LOSS_NATIVE_TRUNCATED]++;
		if (capture->native_end == UNWIND_STACK_MISSING &&
		    capture->stack.size == capture->stack_wanted &&
		    capture->stack_wanted < capture->stack_capacity)
			capture->stack_wanted *= 2;
	}
	if (target->eval_handlers.count)
		join_handlers(capture, target);
	count_python_losses(capture, losses);
	capture->stitch_flags = stitch(capture->native, capture->native_count, capture->native_end,
				       &capture->python, &target->eval, capture->frames,
				       CAPTURE_FRAMES_MAX, &capture->frame_count);
	if (capture->stitch_flags & STITCH_UNMATCHED)
		losses->counts[LOSS_MERGE_FAILED]++;
}
