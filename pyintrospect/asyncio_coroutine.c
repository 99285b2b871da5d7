/* SPDX-License-Identifier: Apache-2.0 */
/*
 *   coroutine -> frame -> top of its value stack: what it awaits -> ...
 *
 * A frame's topmost value is what it awaits only where the next instruction is
 * the one that goes on after `await` or `yield from`, which the bytecode tells.
 */
#include "pyintrospect/asyncio_coroutine.h"

#include "pyintrospect/code_at.h"
#include "pyintrospect/field.h"
#include "pyintrospect/object_type.h"
#include "pyintrospect/runtime_internal.h"

#include <errno.h>
#include <string.h>

/*
 * Byte offsets from CPython's headers (Include/cpython/genobject.h, frameobject.h,
 * internal/pycore_frame.h, Objects/genobject.c), and the _Py_DebugOffsets of 3.14
 * and 3.15.
 */
enum {
	CORO_FRAME = 16, /* to 3.10: a pointer */
	CORO_FRAME_3_11 = 80,
	CORO_FRAME_3_12 = 72,
	STATE_BEFORE_FRAME = 5, /* 3.11+: a byte; to 3.13 positive when it has ended */
	FRAME_STACK = 64, /* to 3.10 f_valuestack, 3.11 to 3.13 the number of values, then the top
			   */
	FRAME_STACK_TOP_3_8 = 72, /* to 3.9; 0 while it runs */
	FRAME_STACK_DEPTH_3_10 = 80,
	WRAPPER_COROUTINE = 16,
	FUTURE_ITERATOR_FUTURE = 16,
	STACK_VALUES_MAX = 65536,
};

#define POINTER_TAGS       3ull /* 3.14+ */
#define FIRST_MINOR_TAGGED 14
#define MINOR_INDEXED      15 /* above an iterator lies its index, or what stands for none */

#define INSTRUCTION_BYTES 2
#define OPCODE_LOAD_CONST 100 /* 3.6 to 3.10, as YIELD_FROM */
#define OPCODE_YIELD_FROM 72
#define RESUME_KIND       3
#define RESUME_YIELD_FROM 2 /* and 3: after await */

struct suspended {
	struct python_frame frame;
	remote_addr awaited; /* 0: nothing, or not by await */
};

static uint64_t untagged(const struct python_runtime *runtime, uint64_t pointer)
{
	return runtime->layout.minor >= FIRST_MINOR_TAGGED ? pointer & ~POINTER_TAGS : pointer;
}

/* To 3.10: does the frame wait in `yield from`, by the instruction it is at? */
static bool delegates_old(const struct python_code *code, int64_t at)
{
	return at >= 0 && at + INSTRUCTION_BYTES < code->bytecode_size &&
	       code->bytecode[at] == OPCODE_LOAD_CONST &&
	       code->bytecode[at + INSTRUCTION_BYTES] == OPCODE_YIELD_FROM;
}

static bool is_resume(const struct python_code *code, int64_t at)
{
	const char *name = at >= 0 && at + INSTRUCTION_BYTES <= code->bytecode_size
				   ? python_code_opcode(code, (int)at)
				   : NULL;

	return name && !strcmp(name, "RESUME") &&
	       (code->bytecode[at + 1] & RESUME_KIND) >= RESUME_YIELD_FROM;
}

/* 3.11+: it is at the instruction that yielded, from 3.13 on at the one behind. */
static bool delegates(const struct python_runtime *runtime, const struct python_code *code,
		      int64_t at)
{
	if (runtime->layout.minor <= 10)
		return delegates_old(code, at);
	return is_resume(code, at) || is_resume(code, at + INSTRUCTION_BYTES);
}

/* The address behind the topmost value; 0: the frame runs, or has none. */
static remote_addr find_stack_top(const struct python_runtime *runtime, remote_addr frame,
				  const uint8_t *bytes)
{
	int minor = runtime->layout.minor;
	int64_t count = 0;
	remote_addr top = 0, bottom = field_u64(bytes, FRAME_STACK);

	if (minor >= FIRST_MINOR_TAGGED) {
		top = bottom;
		bottom = frame + (uint64_t)runtime->layout.offsets.frame_locals;
	} else if (minor >= 11) {
		bottom = frame + (uint64_t)runtime->layout.offsets.frame_locals;
		count = field_i32(bytes, FRAME_STACK);
		top = bottom + (uint64_t)(count > 0 ? count : 0) * 8;
	} else if (minor == 10) {
		count = field_i32(bytes, FRAME_STACK_DEPTH_3_10);
		top = bottom + (uint64_t)(count > 0 ? count : 0) * 8;
	} else {
		top = field_u64(bytes, FRAME_STACK_TOP_3_8);
	}
	return top > bottom && top - bottom <= STACK_VALUES_MAX * 8 ? top : 0;
}

/* -ENOENT: it has ended. */
static int frame_address(const struct python_runtime *runtime, remote_addr coroutine,
			 remote_addr *ret_frame)
{
	int minor = runtime->layout.minor, error;
	remote_addr frame = 0;
	int8_t state = 0;

	if (minor <= 10) {
		error = memory_read_u64(runtime->reader, coroutine + CORO_FRAME, &frame);
	} else {
		frame = coroutine + (minor == 11 ? CORO_FRAME_3_11 : CORO_FRAME_3_12);
		error = memory_read(runtime->reader, frame - STATE_BEFORE_FRAME, &state,
				    sizeof(state));
	}
	if (error)
		return error;
	if (!frame || (minor <= 13 && state > 0))
		return -ENOENT;
	*ret_frame = frame;
	return 0;
}

static int64_t instruction_of(const struct python_runtime *runtime, const uint8_t *bytes,
			      remote_addr code)
{
	const struct python_offsets *offsets = &runtime->layout.offsets;

	if (runtime->layout.minor <= 10)
		return (int64_t)field_i32(bytes, offsets->frame_instruction) *
		       runtime->layout.instruction_unit;
	return (int64_t)(field_u64(bytes, offsets->frame_instruction) - code -
			 (uint64_t)offsets->code_bytecode);
}

static int read_suspended(struct python_runtime *runtime, remote_addr coroutine,
			  struct suspended *ret_suspended)
{
	struct suspended suspended = { 0 };
	uint8_t bytes[OFFSET_BLOCK_MAX];
	remote_addr frame, code, top;
	int64_t at;
	int error = frame_address(runtime, coroutine, &frame);

	if (error)
		return error;
	error = memory_read(runtime->reader, frame, bytes, runtime->sizes.frame);
	if (error)
		return error;
	code = untagged(runtime, field_u64(bytes, runtime->layout.offsets.frame_code));
	error = code_at(runtime, code, &suspended.frame.code);
	if (error)
		return error;
	at = instruction_of(runtime, bytes, code);
	if (at < -INSTRUCTION_BYTES || at > (int64_t)suspended.frame.code->bytecode_size)
		return -EBADMSG;
	suspended.frame.instruction_offset = (int)at;
	suspended.frame.address = frame;
	top = find_stack_top(runtime, frame, bytes);
	if (top && delegates(runtime, suspended.frame.code, at))
		error = memory_read_u64(runtime->reader,
					top - (runtime->layout.minor >= MINOR_INDEXED ? 16 : 8),
					&suspended.awaited);
	if (error)
		return error;
	suspended.awaited = untagged(runtime, suspended.awaited);
	*ret_suspended = suspended;
	return 0;
}

/* Looks through what stands between a coroutine and what it awaits. */
static int unwrap(const struct python_runtime *runtime, remote_addr *awaited)
{
	if (python_object_is(runtime, *awaited, "coroutine_wrapper"))
		return memory_read_u64(runtime->reader, *awaited + WRAPPER_COROUTINE, awaited);
	if (python_object_is(runtime, *awaited, "_asyncio.FutureIter"))
		return memory_read_u64(runtime->reader, *awaited + FUTURE_ITERATOR_FUTURE, awaited);
	return 0;
}

static bool is_coroutine(const struct python_runtime *runtime, remote_addr object)
{
	return python_object_is(runtime, object, "coroutine") ||
	       python_object_is(runtime, object, "generator");
}

int asyncio_coroutine_read(struct python_runtime *runtime, remote_addr coroutine,
			   struct python_frame *frames, size_t maximum, size_t *ret_count,
			   remote_addr *ret_awaited)
{
	size_t count = 0;
	int error = 0;

	while (!error && count < maximum && coroutine && is_coroutine(runtime, coroutine)) {
		struct suspended suspended;

		error = read_suspended(runtime, coroutine, &suspended);
		if (error)
			break;
		frames[count++] = suspended.frame;
		coroutine = suspended.awaited;
		if (coroutine)
			error = unwrap(runtime, &coroutine);
	}
	/* It went on while it was looked at, or has ended: what was read before may stand. */
	if (error && error != -EFAULT && error != -EBADMSG && error != -ENOENT)
		return error;
	*ret_count = count;
	*ret_awaited = error ? 0 : coroutine;
	return 0;
}
