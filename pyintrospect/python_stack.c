/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading one thread's frames, in steps that each cost at most one system
 * call, and none when the last readings foretold what is needed:
 *
 *   thread state, data stack, recent pieces  ->  links of the frames
 *   heads of their code objects              ->  checks, recovery
 *   line tables to compare (to 3.11)         ->  interned code objects
 */
#include "pyintrospect/python_stack.h"

#include "common/hash.h"
#include "pyintrospect/bytecode_copy.h"
#include "pyintrospect/code_cache.h"
#include "pyintrospect/code_reader.h"
#include "pyintrospect/field.h"
#include "pyintrospect/frame_walk.h"
#include "pyintrospect/gil.h"
#include "pyintrospect/prologue.h"
#include "pyintrospect/runtime_internal.h"
#include "pyintrospect/thread_state.h"

#include <errno.h>
#include <string.h>

#define INSTRUCTION_BYTES  2
#define FRAME_OWNER_MAX    2 /* thread, generator, frame object */
#define INSTRUCTION_BEFORE (-2)

/* 3.6 to 3.10 */
#define OPCODE_LOAD_CONST 100
#define OPCODE_YIELD_FROM 72

/*
 * Of a thread that runs: looks at most, and how many in a row have to agree.
 * To 3.10 what is left of frames that ended looks like frames, whatever agrees.
 */
#define RUNNING_LOOKS_MAX   16
#define RUNNING_AGREED      2
#define RUNNING_IDENTICAL   5
#define RUNNING_FIRST_MINOR 11
#define PASSING_LOOKS_MAX   10

static bool has_cframes(const struct python_runtime *runtime)
{
	return runtime->layout.offsets.thread_cframe != OFFSET_ABSENT;
}

static const uint8_t *code_head(struct python_runtime *runtime, const struct raw_frame *raw)
{
	return remote_copy_get(&runtime->copy, raw->code, runtime->sizes.code);
}

/* What can be said of a frame by the head of its code object. */
static bool frame_plausible(struct python_runtime *runtime, const struct raw_frame *raw)
{
	const struct python_layout *layout = &runtime->layout;
	const uint8_t *head = code_head(runtime, raw);
	uint64_t size;

	if (!head || field_u64(head, layout->offsets.object_type) != runtime->code_type)
		return false;
	if (layout->walk == PYTHON_WALK_FRAME_OBJECTS)
		return raw->instruction >= INSTRUCTION_BEFORE;
	size = code_head_bytecode_size(layout, head);
	return raw->owner <= FRAME_OWNER_MAX && raw->instruction >= INSTRUCTION_BEFORE &&
	       raw->instruction % INSTRUCTION_BYTES == 0 &&
	       (raw->instruction < 0 || (uint64_t)raw->instruction < size);
}

/* A code object without any traceable instruction is the interpreter's own, such as a trampoline.
 */
static bool frame_hidden(const struct python_runtime *runtime, const uint8_t *head)
{
	const struct python_layout *layout = &runtime->layout;
	int64_t first;

	if (layout->offsets.code_first_traceable == OFFSET_ABSENT)
		return false;
	first = field_i32(head, layout->offsets.code_first_traceable);
	return first >= 0 &&
	       (uint64_t)first * INSTRUCTION_BYTES >= code_head_bytecode_size(layout, head);
}

/* The heads of a walk's code objects; *ret_valid frames passed their checks. */
static int read_code_heads(struct python_runtime *runtime, const struct frame_walk *walk,
			   size_t *ret_valid)
{
	size_t count = walk->end == FRAME_WALK_BROKEN ? walk->valid : runtime->raw_count;
	size_t valid;
	int error;

	for (size_t i = 0; i < count; i++)
		if (remote_copy_want(&runtime->copy, runtime->raw_frames[i].code,
				     runtime->sizes.code))
			break; /* no room: frames from here on fail their checks */
	error = remote_copy_fetch(&runtime->copy);
	if (!error)
		error = bytecode_copies_find(runtime, count);
	if (error)
		return error;
	for (valid = 0; valid < count; valid++)
		if (!frame_plausible(runtime, &runtime->raw_frames[valid]))
			break;
	*ret_valid = valid;
	return 0;
}

/* The walk's links and the heads of its code objects. */
static int read_links(struct python_runtime *runtime, const struct frame_walk_start *start,
		      struct frame_walk *ret_walk, size_t *ret_valid)
{
	*ret_walk = frame_walk(runtime, start);
	return read_code_heads(runtime, ret_walk, ret_valid);
}

/* Did the innermost group fail, links or frames? */
static bool top_is_wrong(const struct python_runtime *runtime, const struct frame_walk *walk,
			 size_t valid)
{
	if (walk->end == FRAME_WALK_BROKEN && walk->valid == 0)
		return true;
	if (valid == runtime->raw_count && !walk->error)
		return false;
	for (size_t i = 0; i < valid; i++)
		if (runtime->raw_frames[i].entry)
			return false;
	return true;
}

/* Passes what a hidden entry frame marked on to the frame that is now the outermost of its group.
 */
static void keep_entry(struct python_stack *stack, size_t group_start, const struct raw_frame *raw)
{
	if (stack->count == group_start)
		return; /* nothing of this group is shown */
	stack->frames[stack->count - 1].entry = true;
	stack->frames[stack->count - 1].anchor = raw->anchor;
}

/*
 * To 3.10: a generator or coroutine that waits for the one it delegates to,
 * while throw() goes on to that one without an evaluation loop for the outer.
 * A frame that made a call is at YIELD_FROM itself, not before it.
 */
static bool delegation_suspended(const struct python_runtime *runtime,
				 const struct python_code *code, int64_t instruction)
{
	return runtime->layout.walk == PYTHON_WALK_FRAME_OBJECTS && instruction >= 0 &&
	       instruction + INSTRUCTION_BYTES < code->bytecode_size &&
	       code->bytecode[instruction] == OPCODE_LOAD_CONST &&
	       code->bytecode[instruction + INSTRUCTION_BYTES] == OPCODE_YIELD_FROM;
}

static bool fits(const struct python_code *code, int64_t instruction)
{
	return !code->line_table || instruction < 0 || instruction < code->bytecode_size ||
	       code->bytecode_size == CODE_TABLE_BYTES_MAX;
}

/* A frame's code object; -EBADMSG: the frame is not one of its. Else as code_cache_resolve(). */
static int resolve_frame_code(struct python_runtime *runtime, const struct raw_frame *raw,
			      const uint8_t *head, const struct python_code **ret_code)
{
	const struct python_code *code;

	for (unsigned attempt = 0; attempt < 2; attempt++) {
		int error = code_cache_resolve(runtime->codes, &runtime->layout, raw->code, head,
					       &runtime->copy, &code);

		if (error)
			return error;
		if (fits(code, raw->instruction)) {
			*ret_code = code;
			return 0;
		}
		code_cache_doubt(runtime->codes, raw->code);
	}
	return -EBADMSG;
}

/* Turns the first count raw frames into runtime->result. */
static int resolve_frames(struct python_runtime *runtime, size_t count)
{
	struct python_stack *stack = &runtime->result;
	const struct python_layout *layout = &runtime->layout;
	size_t group_start = 0;
	int error;

	for (size_t i = 0; i < count; i++) {
		const struct raw_frame *raw = &runtime->raw_frames[i];

		code_cache_want(runtime->codes, layout, raw->code, code_head(runtime, raw),
				&runtime->copy);
	}
	error = remote_copy_fetch(&runtime->copy);
	if (error)
		return error;
	for (size_t i = 0; i < count; i++) {
		const struct raw_frame *raw = &runtime->raw_frames[i];
		const uint8_t *head = code_head(runtime, raw);
		const struct python_code *code;

		if (!frame_hidden(runtime, head)) {
			if (stack->count == PYTHON_STACK_FRAMES_MAX) {
				stack->flags |= PYTHON_STACK_TRUNCATED;
				return 0;
			}
			error = resolve_frame_code(runtime, raw, head, &code);
			if (error && error != -EFAULT && error != -EBADMSG)
				return error;
			if (error) {
				stack->flags |= PYTHON_STACK_INVALID;
				return 0;
			}
			stack->frames[stack->count++] = (struct python_frame){
				.code = code,
				.instruction_offset = (int)raw->instruction,
				.entry = raw->entry,
				.address = raw->address,
				.anchor = raw->entry ? raw->anchor : 0,
			};
			if (i > 0 && delegation_suspended(runtime, code, raw->instruction)) {
				/* 3.9 does not link it to its caller: the rest is not to be had. */
				if (i + 1 == runtime->raw_count)
					stack->flags |= PYTHON_STACK_TRUNCATED;
				else
					stack->frames[stack->count - 1].entry = false;
			}
		} else if (raw->entry) {
			keep_entry(stack, group_start, raw);
		}
		if (raw->entry)
			group_start = stack->count;
	}
	return 0;
}

/* What a walk found becomes runtime->result. */
static int take_frames(struct python_runtime *runtime, const struct frame_walk *walk, size_t valid)
{
	struct python_stack *result = &runtime->result;

	if (walk->error && walk->error != -EFAULT && walk->error != -ELOOP &&
	    walk->error != -ENOSPC)
		return walk->error;
	if (walk->end == FRAME_WALK_TRUNCATED)
		result->flags |= PYTHON_STACK_TRUNCATED;
	if (walk->end == FRAME_WALK_BROKEN || valid < runtime->raw_count)
		result->flags |= PYTHON_STACK_INVALID;
	return resolve_frames(runtime, valid);
}

static int read_frames(struct python_runtime *runtime, const struct stack_snapshot *stack,
		       struct frame_walk_start *start)
{
	struct python_stack *result = &runtime->result;
	struct frame_walk walk;
	size_t valid;
	int error;

	result->count = 0;
	result->flags = 0;
	error = read_links(runtime, start, &walk, &valid);
	if (!error && has_cframes(runtime) && top_is_wrong(runtime, &walk, valid)) {
		/* What looks right in a wrong group may be left over from another: drop it. */
		if (prologue_recover(runtime, stack, start)) {
			result->flags = PYTHON_STACK_INVALID;
			return 0;
		}
		result->flags |= PYTHON_STACK_RECOVERED;
		error = read_links(runtime, start, &walk, &valid);
	}
	return error ? error : take_frames(runtime, &walk, valid);
}

/* One reading. Who holds the GIL costs no system call once it was asked for. */
static int look_at_frames(struct python_runtime *runtime, struct thread_state *thread,
			  const struct stack_snapshot *stack)
{
	struct python_stack *result = &runtime->result;
	struct remote_copy *copy = &runtime->copy;
	struct frame_walk_start start;
	const uint8_t *bytes;
	int error;

	remote_copy_begin(copy, stack);
	(void)remote_copy_want(copy, thread->address, runtime->sizes.thread);
	remote_copy_want_recent(copy, &thread->recent);
	error = remote_copy_fetch(copy);
	if (error)
		return error;
	bytes = remote_copy_get(copy, thread->address, runtime->sizes.thread);
	if (!bytes || !thread_state_is_current(runtime, thread, bytes))
		return -ESTALE;
	frame_walk_start_parse(runtime, thread->address, bytes, &start);
	frame_walk_want_chunk(runtime, &start);
	error = remote_copy_fetch(copy);
	if (!error)
		error = read_frames(runtime, stack, &start);
	if (error)
		return error;
	result->gil = gil_tenure_of(runtime, thread->address, thread->interpreter, bytes);
	runtime->gil_off = gil_is_off(runtime, thread->interpreter);
	result->collecting =
		gil_is_collecting(runtime, thread->interpreter) && result->gil == GIL_HELD;
	remote_copy_remember(copy, &thread->recent);
	return 0;
}

static void take_result(const struct python_runtime *runtime, struct python_stack *ret_stack)
{
	ret_stack->count = runtime->result.count;
	ret_stack->flags = runtime->result.flags;
	ret_stack->gil = runtime->gil_off ? GIL_UNKNOWN : runtime->result.gil;
	ret_stack->collecting = runtime->result.collecting;
	memcpy(ret_stack->frames, runtime->result.frames,
	       runtime->result.count * sizeof(ret_stack->frames[0]));
}

int python_stack_read_thread(struct python_runtime *runtime, struct thread_state *thread,
			     const struct stack_snapshot *stack, struct python_stack *ret_stack)
{
	int error = look_at_frames(runtime, thread, stack);

	if (!error)
		take_result(runtime, ret_stack);
	return error;
}

/* What a look saw of the frames, callers' instructions included. */
static uint64_t hash_frames(const struct python_runtime *runtime)
{
	uint64_t hash = hash_combine(runtime->raw_count, runtime->result.flags);

	for (size_t i = 0; i < runtime->raw_count; i++) {
		const struct raw_frame *raw = &runtime->raw_frames[i];

		hash = hash_combine(hash, raw->address);
		hash = hash_combine(hash, raw->code);
		hash = hash_combine(hash, raw->anchor);
		hash = hash_combine(hash, (uint64_t)raw->instruction);
		hash = hash_combine(hash, raw->owner * 2u + raw->entry);
	}
	return hash;
}

/*
 * Looks until enough in a row agree. A thread without the GIL cannot run
 * Python: there the frames have to agree. One that has it may come back to the
 * same frames between two looks: there every byte has to that was looked at,
 * the data stack's with all local variables.
 */
static int read_running(struct python_runtime *runtime, struct thread_state *thread,
			struct python_stack *ret_stack)
{
	uint64_t last_frames = 0, last_bytes = 0;
	unsigned agreed = 0, identical = 0;

	for (unsigned looks = 0; looks < RUNNING_LOOKS_MAX; looks++) {
		uint64_t frames, bytes;
		int error = look_at_frames(runtime, thread, NULL);

		if (error)
			return error;
		frames = hash_frames(runtime);
		bytes = remote_copy_hash(&runtime->copy);
		if (runtime->result.flags & PYTHON_STACK_INVALID) {
			agreed = identical = 0;
		} else {
			agreed = runtime->result.gil != GIL_NOT_HELD ? 0
				 : agreed && frames == last_frames   ? agreed + 1
								     : 1;
			identical = identical && frames == last_frames && bytes == last_bytes
					    ? identical + 1
					    : 1;
		}
		if (agreed == RUNNING_AGREED || (runtime->layout.minor >= RUNNING_FIRST_MINOR &&
						 identical == RUNNING_IDENTICAL)) {
			take_result(runtime, ret_stack);
			return 0;
		}
		last_frames = frames;
		last_bytes = bytes;
	}
	ret_stack->count = 0;
	ret_stack->flags = PYTHON_STACK_TORN;
	ret_stack->gil = GIL_UNKNOWN;
	ret_stack->collecting = false;
	return 0;
}

/* How many frames two stacks share, counted from the outermost. */
static size_t count_shared_frames(const struct python_stack *a, const struct python_stack *b)
{
	size_t shortest = a->count < b->count ? a->count : b->count;

	for (size_t i = 0; i < shortest; i++) {
		const struct python_frame *x = &a->frames[a->count - 1 - i];
		const struct python_frame *y = &b->frames[b->count - 1 - i];

		if (x->code != y->code || x->anchor != y->anchor || x->entry != y->entry)
			return i;
		/* The innermost that they share may have gone on: it is still the same one. */
		if (x->instruction_offset != y->instruction_offset)
			return i + 1;
	}
	return shortest;
}

/* Leaves the outermost count frames. */
static void cut_stack(struct python_stack *stack, size_t count)
{
	size_t left_out = stack->count - count;

	if (!left_out)
		return;
	stack->flags |= PYTHON_STACK_MOVED;
	stack->count = count;
	memmove(stack->frames, stack->frames + left_out, count * sizeof(stack->frames[0]));
}

/*
 * Looks until some in a row share their outermost frames; where all is the same,
 * goes on, to tell a thread that stays in one call from one that was met twice
 * at the same place.
 */
static int read_passing(struct python_runtime *runtime, struct thread_state *thread,
			struct python_stack *ret_stack)
{
	/* To 3.10, what was read at two moments fits together more often. */
	unsigned wanted = runtime->layout.minor >= RUNNING_FIRST_MINOR ? 2 : 5;
	uint64_t last_frames = 0, last_bytes = 0;
	unsigned identical = 0, agreed = 0;

	for (unsigned looks = 0; looks < PASSING_LOOKS_MAX; looks++) {
		uint64_t frames, bytes;
		enum gil_tenure tenure;
		size_t shared;
		int error = look_at_frames(runtime, thread, NULL);

		if (error)
			return error;
		tenure = runtime->result.gil;
		frames = hash_frames(runtime);
		bytes = remote_copy_hash(&runtime->copy);
		if (runtime->result.flags & PYTHON_STACK_INVALID) {
			identical = agreed = 0;
			continue;
		}
		identical = identical && frames == last_frames &&
					    (tenure == GIL_NOT_HELD || bytes == last_bytes)
				    ? identical + 1
				    : 1;
		shared = agreed ? count_shared_frames(&runtime->earlier, &runtime->result) : 0;
		if (shared) {
			cut_stack(&runtime->earlier, shared);
			agreed++;
		} else {
			take_result(runtime, &runtime->earlier);
			agreed = 1;
		}
		if (identical == RUNNING_IDENTICAL ||
		    (identical == RUNNING_AGREED && tenure == GIL_NOT_HELD)) {
			take_result(runtime, ret_stack);
			ret_stack->flags |= PYTHON_STACK_STILL;
			if (tenure == GIL_NOT_HELD)
				ret_stack->flags |= PYTHON_STACK_UNLOCKED;
			return 0;
		}
		if (identical < RUNNING_AGREED && agreed >= wanted)
			break;
		last_frames = frames;
		last_bytes = bytes;
	}
	ret_stack->count = 0;
	ret_stack->flags = PYTHON_STACK_TORN;
	ret_stack->gil = GIL_UNKNOWN;
	ret_stack->collecting = false;
	if (agreed >= wanted) {
		ret_stack->count = runtime->earlier.count;
		ret_stack->flags = runtime->earlier.flags;
		ret_stack->gil = runtime->earlier.gil;
		ret_stack->collecting = runtime->earlier.collecting;
		memcpy(ret_stack->frames, runtime->earlier.frames,
		       ret_stack->count * sizeof(ret_stack->frames[0]));
	}
	return 0;
}

enum reading {
	READING_STOPPED,
	READING_RUNNING,
	READING_PASSING,
};

static int read_once(struct python_runtime *runtime, struct thread_state *thread,
		     const struct stack_snapshot *stack, enum reading reading,
		     struct python_stack *ret_stack)
{
	switch (reading) {
	case READING_RUNNING:
		return read_running(runtime, thread, ret_stack);
	case READING_PASSING:
		return read_passing(runtime, thread, ret_stack);
	default:
		return python_stack_read_thread(runtime, thread, stack, ret_stack);
	}
}

static int read_stack(struct python_runtime *runtime, pid_t tid, const struct stack_snapshot *stack,
		      enum reading reading, struct python_stack *ret_stack)
{
	struct thread_state *thread;
	int error;

	error = thread_state_find(runtime, tid, &thread);
	if (error)
		return error;
	error = read_once(runtime, thread, stack, reading, ret_stack);
	if (error != -ESTALE)
		return error;
	/* The state was freed, or serves another thread now. */
	thread_table_forget(&runtime->threads);
	error = thread_state_find(runtime, tid, &thread);
	if (!error)
		error = read_once(runtime, thread, stack, reading, ret_stack);
	return error == -ESTALE ? -ESRCH : error;
}

int python_stack_read(struct python_runtime *runtime, pid_t tid, const struct stack_snapshot *stack,
		      struct python_stack *ret_stack)
{
	return read_stack(runtime, tid, stack, READING_STOPPED, ret_stack);
}

int python_stack_read_copied(struct python_runtime *runtime, pid_t tid, remote_addr address,
			     const struct stack_snapshot *stack, struct python_stack *ret_stack)
{
	const struct python_offsets *offsets = &runtime->layout.offsets;
	struct thread_state copied = { .address = address }, *known;
	uint8_t bytes[OFFSET_BLOCK_MAX];
	int error = memory_read(runtime->reader, address, bytes, runtime->sizes.thread);

	if (error)
		return error;
	copied.interpreter = field_u64(bytes, offsets->thread_interpreter);
	copied.pthread = field_u64(bytes, offsets->thread_pthread);
	known = tid > 0 ? *thread_table_slot(&runtime->threads, tid) : NULL;
	if (known && known->address == address && known->interpreter == copied.interpreter &&
	    known->pthread == copied.pthread) {
		/* What its last readings needed is known. */
		copied.recent = known->recent;
		error = python_stack_read_thread(runtime, &copied, stack, ret_stack);
		known->recent = copied.recent;
		return error;
	}
	error = python_stack_read_thread(runtime, &copied, stack, ret_stack);
	remote_recent_deinit(&copied.recent);
	return error;
}

int python_stack_read_running(struct python_runtime *runtime, pid_t tid,
			      struct python_stack *ret_stack)
{
	return read_stack(runtime, tid, NULL, READING_RUNNING, ret_stack);
}

int python_stack_read_passing(struct python_runtime *runtime, pid_t tid,
			      struct python_stack *ret_stack)
{
	return read_stack(runtime, tid, NULL, READING_PASSING, ret_stack);
}

int python_stack_read_suspended(struct python_runtime *runtime, remote_addr frame,
				struct python_stack *ret_stack)
{
	struct python_stack *result = &runtime->result;
	struct frame_walk walk;
	size_t valid;
	int error;

	remote_copy_begin(&runtime->copy, NULL);
	result->count = 0;
	result->flags = 0;
	result->gil = GIL_UNKNOWN;
	result->collecting = false;
	walk = frame_walk_suspended(runtime, frame);
	error = read_code_heads(runtime, &walk, &valid);
	if (!error)
		error = take_frames(runtime, &walk, valid);
	if (!error)
		take_result(runtime, ret_stack);
	return error;
}
