/* SPDX-License-Identifier: Apache-2.0 */
#include "pyintrospect/gil.h"

#include "pyintrospect/field.h"
#include "pyintrospect/runtime_internal.h"
#include "pyintrospect/thread_state.h"

#include <errno.h>

/* _Py_THREAD_ATTACHED of 3.13+ */
#define THREAD_ATTACHED 1

/* 3.7.0 to 3.7.3 keep tstate_current elsewhere than 3.7.4 and later do, which the table is of. */
#define MINOR_MOVED 7
#define MICRO_MOVED 4

/* struct _gil_runtime_state of every version that has one. */
#define GIL_BYTES 208

static bool has(int32_t offset)
{
	return offset != OFFSET_ABSENT;
}

static void locate_locks(struct python_runtime *runtime, const struct debug_info *info)
{
	static const char *const old[] = { "gil_cond", "gil_mutex", "switch_cond", "switch_mutex" };
	struct address_ranges *locks = &runtime->gil_locks;
	remote_addr address;
	uint64_t size;

	*locks = (struct address_ranges){ 0 };
	if (has(runtime->layout.offsets.interpreter_gil))
		return; /* it may move: see gil_read_locks() */
	if (!info->symbol(info->context, "_PyRuntime", &address, &size)) {
		locks->items[locks->count++] = (struct address_range){ address, address + size };
		return;
	}
	for (size_t i = 0; i < sizeof(old) / sizeof(old[0]); i++)
		if (!info->symbol(info->context, old[i], &address, &size))
			locks->items[locks->count++] =
				(struct address_range){ address, address + size };
}

void gil_locate(struct python_runtime *runtime, const struct debug_info *info,
		remote_addr runtime_address)
{
	const struct python_offsets *offsets = &runtime->layout.offsets;
	bool moved = runtime->source == PYTHON_OFFSETS_TABLE &&
		     runtime->version.minor == MINOR_MOVED && runtime->version.micro < MICRO_MOVED;
	uint64_t size;

	runtime->current_thread = 0;
	runtime->collecting = 0;
	locate_locks(runtime, info);
	if (has(offsets->runtime_current_thread)) {
		if (!moved)
			runtime->current_thread =
				runtime_address + (uint64_t)offsets->runtime_current_thread;
		if (has(offsets->runtime_collecting) && !moved)
			runtime->collecting =
				runtime_address + (uint64_t)offsets->runtime_collecting;
	} else if (!has(offsets->interpreter_gil)) {
		if (info->symbol(info->context, "_PyThreadState_Current", &runtime->current_thread,
				 &size))
			runtime->current_thread = 0;
		/* A static variable: only an unstripped binary tells. */
		if (info->symbol(info->context, "collecting", &runtime->collecting, &size) ||
		    size != sizeof(int))
			runtime->collecting = 0;
	}
}

static remote_addr collecting_address(const struct python_runtime *runtime, remote_addr interpreter)
{
	int32_t offset = runtime->layout.offsets.interpreter_collecting;

	return has(offset) ? interpreter + (uint64_t)offset : runtime->collecting;
}

/* 3.12+: last_holder and locked lie next to each other in all versions, but are read apart. */
static int read_lock(const struct python_runtime *runtime, remote_addr gil, struct gil_facts *facts)
{
	const struct python_offsets *offsets = &runtime->layout.offsets;
	remote_addr holder = 0;
	int32_t locked = 0, status = THREAD_ATTACHED, enabled = 1;
	struct memory_range ranges[] = {
		{ .address = gil + (uint64_t)offsets->gil_last_holder,
		  .buffer = &holder,
		  .size = sizeof(holder) },
		{ .address = gil + (uint64_t)offsets->gil_locked,
		  .buffer = &locked,
		  .size = sizeof(locked) },
		{ .address = gil + (uint64_t)offsets->gil_enabled,
		  .buffer = &enabled,
		  .size = sizeof(enabled) },
	};
	int error = memory_read_ranges(runtime->reader, ranges, has(offsets->gil_enabled) ? 3 : 2);

	if (error || ranges[0].error || ranges[1].error || ranges[2].error)
		return error;
	facts->off = !enabled;
	if (facts->off)
		return 0;
	if (locked != 1 || !holder) {
		facts->holder_known = locked == 0 || locked == -1; /* -1: not created yet */
		return 0;
	}
	if (has(offsets->thread_status)) {
		error = memory_read(runtime->reader, holder + (uint64_t)offsets->thread_status,
				    &status, sizeof(status));
		if (error)
			return error == -EFAULT ? 0 : error;
	}
	facts->holder_known = true;
	facts->holder = status == THREAD_ATTACHED ? holder : 0;
	return 0;
}

int gil_read(const struct python_runtime *runtime, remote_addr interpreter,
	     struct gil_facts *ret_facts)
{
	const struct python_offsets *offsets = &runtime->layout.offsets;
	bool indirect = has(offsets->interpreter_gil);
	remote_addr holder_at = indirect ? interpreter + (uint64_t)offsets->interpreter_gil
					 : runtime->current_thread;
	remote_addr collecting_at = collecting_address(runtime, interpreter);
	struct gil_facts facts = { 0 };
	remote_addr pointer = 0;
	int32_t collecting = 0;
	struct memory_range ranges[] = {
		{ .address = holder_at, .buffer = &pointer, .size = sizeof(pointer) },
		{ .address = collecting_at, .buffer = &collecting, .size = sizeof(collecting) },
	};
	int error = memory_read_ranges(runtime->reader, ranges, 2);

	if (error)
		return error;
	if (collecting_at && !ranges[1].error && (collecting == 0 || collecting == 1)) {
		facts.collecting_known = true;
		facts.collecting = collecting == 1;
	}
	if (!indirect && holder_at && !ranges[0].error) {
		facts.holder_known = true;
		facts.holder = pointer;
	} else if (indirect && !ranges[0].error && pointer) {
		error = read_lock(runtime, pointer, &facts);
		if (error)
			return error;
	}
	*ret_facts = facts;
	return 0;
}

enum gil_tenure gil_tenure_of(struct python_runtime *runtime, remote_addr thread,
			      remote_addr interpreter, const uint8_t *thread_bytes)
{
	const struct python_offsets *offsets = &runtime->layout.offsets;
	const uint8_t *bytes, *locked;
	remote_addr gil;

	if (has(offsets->thread_status))
		return field_i32(thread_bytes, offsets->thread_status) == THREAD_ATTACHED
			       ? GIL_HELD
			       : GIL_NOT_HELD;
	if (!has(offsets->interpreter_gil)) {
		if (!runtime->current_thread ||
		    remote_copy_read(&runtime->copy, runtime->current_thread, sizeof(gil), &bytes))
			return GIL_UNKNOWN;
		return field_u64(bytes, 0) == thread ? GIL_HELD : GIL_NOT_HELD;
	}
	if (remote_copy_read(&runtime->copy, interpreter + (uint64_t)offsets->interpreter_gil,
			     sizeof(gil), &bytes))
		return GIL_UNKNOWN;
	gil = field_u64(bytes, 0);
	if (!gil ||
	    remote_copy_read(&runtime->copy, gil + (uint64_t)offsets->gil_last_holder, sizeof(gil),
			     &bytes) ||
	    remote_copy_read(&runtime->copy, gil + (uint64_t)offsets->gil_locked, sizeof(uint32_t),
			     &locked))
		return GIL_UNKNOWN;
	return field_u64(bytes, 0) == thread && field_i32(locked, 0) == 1 ? GIL_HELD : GIL_NOT_HELD;
}

bool gil_is_off(struct python_runtime *runtime, remote_addr interpreter)
{
	const struct python_offsets *offsets = &runtime->layout.offsets;
	const uint8_t *bytes;

	if (!has(offsets->gil_enabled))
		return false;
	if (remote_copy_read(&runtime->copy, interpreter + (uint64_t)offsets->interpreter_gil,
			     sizeof(remote_addr), &bytes) ||
	    remote_copy_read(&runtime->copy, field_u64(bytes, 0) + (uint64_t)offsets->gil_enabled,
			     sizeof(int32_t), &bytes))
		return true;
	return field_i32(bytes, 0) == 0;
}

bool gil_is_collecting(struct python_runtime *runtime, remote_addr interpreter)
{
	remote_addr address = collecting_address(runtime, interpreter);
	const uint8_t *bytes;

	return address && !remote_copy_read(&runtime->copy, address, sizeof(int32_t), &bytes) &&
	       field_i32(bytes, 0) == 1;
}

static size_t add_word(struct address_range *words, size_t count, size_t maximum, remote_addr start,
		       size_t size)
{
	if (start && count < maximum)
		words[count++] = (struct address_range){ start, start + size };
	return count;
}

size_t gil_words(const struct python_runtime *runtime, struct address_range *words, size_t maximum)
{
	const struct python_offsets *offsets = &runtime->layout.offsets;
	remote_addr interpreter = 0, gil = 0;
	size_t count = 0;

	if (memory_read_u64(runtime->reader, runtime->interpreters, &interpreter))
		interpreter = 0;
	if (!has(offsets->interpreter_gil)) {
		count = add_word(words, count, maximum, runtime->current_thread, sizeof(gil));
	} else if (interpreter && !has(offsets->thread_status) &&
		   !memory_read_u64(runtime->reader,
				    interpreter + (uint64_t)offsets->interpreter_gil, &gil) &&
		   gil) {
		count = add_word(words, count, maximum, gil + (uint64_t)offsets->gil_last_holder,
				 sizeof(gil));
		count = add_word(words, count, maximum, gil + (uint64_t)offsets->gil_locked,
				 sizeof(uint32_t));
	}
	if (interpreter || !has(offsets->interpreter_collecting))
		count = add_word(words, count, maximum, collecting_address(runtime, interpreter),
				 sizeof(int32_t));
	return count;
}

int gil_read_locks(const struct python_runtime *runtime, struct address_ranges *ret_locks)
{
	int32_t offset = runtime->layout.offsets.interpreter_gil;
	struct address_ranges locks = runtime->gil_locks;
	remote_addr interpreter, next = 0, first, gil;
	int error;

	if (!has(offset)) {
		*ret_locks = locks;
		return 0;
	}
	error = memory_read_u64(runtime->reader, runtime->interpreters, &interpreter);
	for (unsigned i = 0; !error && interpreter && i < ADDRESS_RANGES_MAX; i++) {
		error = memory_read_u64(runtime->reader, interpreter + (uint64_t)offset, &gil);
		if (!error)
			error = thread_interpreter_read(runtime, interpreter, &next, &first);
		/* Interpreters may share one. */
		if (!error && gil && !address_ranges_contain(&locks, gil))
			locks.items[locks.count++] = (struct address_range){ gil, gil + GIL_BYTES };
		interpreter = next;
	}
	if (!error)
		*ret_locks = locks;
	return error;
}
