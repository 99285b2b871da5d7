/* SPDX-License-Identifier: Apache-2.0 */
#include "pyintrospect/lock_reader.h"

#include "pyintrospect/field.h"
#include "pyintrospect/object_reader.h"
#include "pyintrospect/object_type.h"
#include "pyintrospect/runtime_internal.h"
#include "pyintrospect/stack_depth.h"

#include <errno.h>
#include <string.h>

#define WORD_BYTES 8
/* Of a frame: what lies on top. */
#define SLOTS_MAX 64
/* Locks are a byte, and threads wait elsewhere: 3.13 in later patches, of RLocks 3.14. */
#define FIRST_MINOR_BYTES 13
/* 3.14+: _PyStackRef's low bits. */
#define FIRST_MINOR_TAGGED 14
#define TAG_BITS           3ull
#define TAG_INTEGER        3ull
/* The same in every version: lock and RLock begin alike, as do the objects of calls. */
#define LOCK_HANDLE_OFFSET       16 /* a pointer to the semaphore, or the byte */
#define LOCK_OWNER_OFFSET        24 /* of an RLock: its owner's ident, 0 when nobody has it */
#define BUILTIN_METHOD_OFFSET    16 /* PyCFunctionObject: PyMethodDef */
#define BUILTIN_SELF_OFFSET      24
#define BOUND_SELF_OFFSET        24 /* PyMethodObject */
#define DESCRIPTOR_METHOD_OFFSET 40 /* PyMethodDescrObject: PyMethodDef */
#define FUNCTION_NAME_OFFSET     32 /* PyFunctionObject, 3.11+ */
#define OBJECT_BYTES             48
#define METHOD_NAME_BYTES        16
/* `join` and what it calls to wait. */
#define JOIN_FRAMES_MAX 4

enum thing {
	THING_OTHER,
	THING_LOCK,
	THING_RLOCK,
	THING_BUILTIN,    /* a method of C with its object */
	THING_DESCRIPTOR, /* a method of C without */
	THING_BOUND,      /* a method of Python's with its object */
	THING_FUNCTION,
	THING_CONDITION,
	THING_COUNT
};

static const char *const thing_types[THING_COUNT] = {
	[THING_LOCK] = "_thread.lock",
	[THING_RLOCK] = "_thread.RLock",
	[THING_BUILTIN] = "builtin_function_or_method",
	[THING_DESCRIPTOR] = "method_descriptor",
	[THING_BOUND] = "method",
	[THING_FUNCTION] = "function",
	[THING_CONDITION] = "Condition",
};

/* Types that were asked for, so that each is told by its name once. */
#define TYPES_KEPT 32

struct reading {
	const struct python_runtime *runtime;
	struct {
		remote_addr type;
		enum thing thing;
	} types[TYPES_KEPT];
	size_t type_count;
	const struct python_frame *frame;
	struct stack_depths depths; /* of its code; empty: they cannot be told */
	uint64_t slots[SLOTS_MAX];
	size_t slot_count, first_slot;
	size_t own_exit; /* 3.14+: the slot whose __exit__ belongs to the lock waited for, + 1 */
	bool awaited;    /* which lock is waited for has been found */
	struct lock_uses *uses;
};

static enum thing thing_of_type(struct reading *reading, remote_addr type)
{
	enum thing thing = THING_OTHER;

	for (size_t i = 0; i < reading->type_count; i++)
		if (reading->types[i].type == type)
			return reading->types[i].thing;
	for (enum thing i = THING_OTHER + 1; i < THING_COUNT && !thing; i++)
		if (python_type_is(reading->runtime, type, thing_types[i]))
			thing = i;
	if (reading->type_count < TYPES_KEPT) {
		reading->types[reading->type_count].type = type;
		reading->types[reading->type_count++].thing = thing;
	}
	return thing;
}

/* The head of the object in a slot, and what it is; THING_OTHER also where nothing can be read. */
static enum thing read_thing(struct reading *reading, remote_addr object,
			     uint8_t bytes[OBJECT_BYTES])
{
	int32_t type = reading->runtime->layout.offsets.object_type;
	enum thing thing;

	memset(bytes, 0, OBJECT_BYTES);
	/* A lock is shorter than the longest of them. */
	if (!object || object % WORD_BYTES || type < 0 || type > LOCK_HANDLE_OFFSET - WORD_BYTES ||
	    memory_read(reading->runtime->reader, object, bytes, LOCK_HANDLE_OFFSET))
		return THING_OTHER;
	thing = thing_of_type(reading, field_u64(bytes, type));
	if (thing && thing != THING_CONDITION &&
	    memory_read(reading->runtime->reader, object, bytes,
			thing == THING_LOCK         ? LOCK_HANDLE_OFFSET + WORD_BYTES
			: thing == THING_DESCRIPTOR ? OBJECT_BYTES
						    : FUNCTION_NAME_OFFSET + WORD_BYTES))
		return THING_OTHER;
	return thing;
}

static remote_addr object_in(const struct reading *reading, size_t slot)
{
	uint64_t word = reading->slots[slot];

	if (reading->runtime->layout.minor < FIRST_MINOR_TAGGED)
		return word;
	return (word & TAG_BITS) == TAG_INTEGER ? 0 : word & ~TAG_BITS;
}

static bool method_is(const struct reading *reading, remote_addr method, const char *const *names)
{
	char name[METHOD_NAME_BYTES] = { 0 };
	remote_addr text;

	if (memory_read_u64(reading->runtime->reader, method, &text))
		return false;
	/* The name may be the last thing that is mapped. */
	if (memory_read(reading->runtime->reader, text, name, sizeof(name) - 1)) {
		memset(name, 0, sizeof(name));
		for (size_t i = 0; i + 1 < sizeof(name); i++)
			if (memory_read(reading->runtime->reader, text + i, name + i, 1) ||
			    !name[i])
				break;
	}
	for (; *names; names++)
		if (!strcmp(name, *names))
			return true;
	return false;
}

static const char *const leaving_names[] = { "__exit__", NULL };
static const char *const entering_names[] = { "acquire", "acquire_lock", "__enter__", NULL };
static const char *const with_names[] = { "__enter__", NULL };

/* The lock inside a Condition. */
static remote_addr condition_lock(const struct reading *reading, remote_addr condition)
{
	struct object_entries attributes;
	remote_addr lock = 0;

	if (object_read_attributes(reading->runtime, condition, &attributes))
		return 0;
	if (object_find(reading->runtime, &attributes, "_lock", &lock))
		lock = 0;
	object_entries_deinit(&attributes);
	return lock;
}

/* Of a slot: the lock that it refers to, how, and 0 for none. */
struct slot_lock {
	remote_addr lock;
	bool leaves; /* by its __exit__ */
	bool enters; /* by a call to take it */
	bool with;   /* which `with` makes */
};

/* What the slot below says of an object that a call has as its self. */
static void read_callable_below(struct reading *reading, size_t slot, struct slot_lock *found)
{
	uint8_t bytes[OBJECT_BYTES];
	char name[METHOD_NAME_BYTES];
	enum thing below;

	if (!slot)
		return;
	below = read_thing(reading, object_in(reading, slot - 1), bytes);
	if (below == THING_FUNCTION && reading->runtime->layout.minor >= FIRST_MINOR_TAGGED)
		found->leaves = !object_read_string(reading->runtime,
						    field_u64(bytes, FUNCTION_NAME_OFFSET), name,
						    sizeof(name)) &&
				!strcmp(name, leaving_names[0]);
	if (below != THING_DESCRIPTOR)
		return;
	found->leaves =
		method_is(reading, field_u64(bytes, DESCRIPTOR_METHOD_OFFSET), leaving_names);
	found->enters =
		method_is(reading, field_u64(bytes, DESCRIPTOR_METHOD_OFFSET), entering_names);
	found->with = method_is(reading, field_u64(bytes, DESCRIPTOR_METHOD_OFFSET), with_names);
}

static struct slot_lock read_slot(struct reading *reading, size_t slot)
{
	struct slot_lock found = { 0 };
	uint8_t bytes[OBJECT_BYTES], unused[OBJECT_BYTES];
	remote_addr object = object_in(reading, slot), self;

	switch (read_thing(reading, object, bytes)) {
	case THING_LOCK:
	case THING_RLOCK:
		found.lock = object;
		read_callable_below(reading, slot, &found);
		break;
	case THING_CONDITION:
		read_callable_below(reading, slot, &found);
		if (found.leaves)
			found.lock = condition_lock(reading, object);
		break;
	case THING_BUILTIN:
		self = field_u64(bytes, BUILTIN_SELF_OFFSET);
		found.leaves =
			method_is(reading, field_u64(bytes, BUILTIN_METHOD_OFFSET), leaving_names);
		found.enters =
			!found.leaves &&
			method_is(reading, field_u64(bytes, BUILTIN_METHOD_OFFSET), entering_names);
		if (found.leaves || found.enters)
			found.lock = self;
		break;
	case THING_BOUND:
		self = field_u64(bytes, BOUND_SELF_OFFSET);
		if (read_thing(reading, self, unused) == THING_CONDITION) {
			found.leaves = true;
			found.lock = condition_lock(reading, self);
		}
		break;
	default:
		break;
	}
	return found;
}

static bool waits_on(const struct reading *reading, const struct slot_lock *found, size_t slot,
		     const uint8_t *lock_bytes, remote_addr futex)
{
	const char *opcode;

	if (field_u64(lock_bytes, LOCK_HANDLE_OFFSET) == futex)
		return true;
	if (reading->runtime->layout.minor < FIRST_MINOR_BYTES || found->enters)
		return found->enters && reading->runtime->layout.minor >= FIRST_MINOR_BYTES;
	/* 3.13: the lock itself, as long as it is being entered. */
	opcode = python_code_opcode(reading->frame->code, reading->frame->instruction_offset);
	return slot + 1 == reading->slot_count && opcode && !strcmp(opcode, "BEFORE_WITH");
}

/* The `with` that put __exit__ there: the last one before the current instruction. */
static int taken_at(const struct reading *reading, size_t slot)
{
	int offset = reading->frame->instruction_offset;

	for (size_t i = 0; i < reading->depths.count; i++) {
		const struct stack_instruction *instruction = &reading->depths.instructions[i];
		const char *opcode;

		if ((int)instruction->end > reading->frame->instruction_offset)
			break;
		if (instruction->depth != (int)slot + 1)
			continue;
		opcode = python_code_opcode(reading->frame->code, (int)instruction->offset);
		if (opcode && (!strcmp(opcode, "SETUP_WITH") || !strcmp(opcode, "BEFORE_WITH") ||
			       !strcmp(opcode, "LOAD_SPECIAL")))
			offset = (int)instruction->offset;
	}
	return offset;
}

static void note_use(struct reading *reading, size_t frame, size_t slot,
		     const struct slot_lock *found, remote_addr futex)
{
	struct lock_uses *uses = reading->uses;
	uint8_t bytes[OBJECT_BYTES];
	enum thing thing = read_thing(reading, found->lock, bytes);
	bool waited =
		!reading->awaited && frame == 0 && waits_on(reading, found, slot, bytes, futex);

	if ((thing != THING_LOCK && thing != THING_RLOCK) || uses->count == LOCK_USES_MAX ||
	    (!waited && !found->leaves) || (frame == 0 && slot + 1 == reading->own_exit))
		return;
	if (waited) {
		reading->awaited = true;
		/* __exit__, self, __enter__, self */
		reading->own_exit = found->with && slot >= 2 ? slot - 1 : 0;
	}
	uses->items[uses->count++] = (struct lock_use){
		.lock = found->lock,
		.frame = frame,
		.offset = waited ? reading->frame->instruction_offset
				 : taken_at(reading, reading->first_slot + slot),
		.waited = waited,
		.owner_known = thing == THING_RLOCK,
		.owner = thing == THING_RLOCK ? field_u64(bytes, LOCK_OWNER_OFFSET) : 0,
	};
}

/* The values on a frame's evaluation stack, the topmost ones. */
static int read_slots(struct reading *reading, const struct python_frame *frame)
{
	const struct python_layout *layout = &reading->runtime->layout;
	const struct stack_instruction *instruction;
	remote_addr bottom = frame->address + (uint64_t)layout->offsets.frame_locals +
			     WORD_BYTES * (uint64_t)frame->code->local_count;
	size_t depth = 0;
	int error = stack_depths_init(&reading->depths, frame->code);

	reading->frame = frame;
	reading->slot_count = reading->first_slot = 0;
	if (error)
		return error == -ENOMEM ? error : 0;
	instruction = stack_depths_at(&reading->depths, frame->instruction_offset);
	if (instruction && instruction->depth > 0)
		depth = (size_t)instruction->depth;
	if (layout->walk == PYTHON_WALK_FRAME_OBJECTS && depth &&
	    memory_read_u64(reading->runtime->reader,
			    frame->address + (uint64_t)layout->offsets.frame_stack, &bottom))
		return 0;
	if (depth > SLOTS_MAX) {
		reading->first_slot = depth - SLOTS_MAX;
		bottom += WORD_BYTES * reading->first_slot;
		depth = SLOTS_MAX;
	}
	if (depth &&
	    !memory_read(reading->runtime->reader, bottom, reading->slots, WORD_BYTES * depth))
		reading->slot_count = depth;
	return 0;
}

/* Thread.join(self): whose end it waits for. */
static void read_join(const struct python_runtime *runtime, const struct python_stack *stack,
		      struct lock_uses *uses)
{
	for (size_t i = 0; i < stack->count && i < JOIN_FRAMES_MAX; i++) {
		const struct python_frame *frame = &stack->frames[i];
		const char *file = strrchr(frame->code->file, '/');
		const char *dot = strrchr(frame->code->function, '.');
		struct object_entries attributes;
		remote_addr thread, ident;

		if (strcmp(dot ? dot + 1 : frame->code->function, "join") != 0 || !file ||
		    strcmp(file, "/threading.py") != 0 || !frame->code->argument_count ||
		    memory_read_u64(runtime->reader,
				    frame->address + (uint64_t)runtime->layout.offsets.frame_locals,
				    &thread))
			continue;
		if (runtime->layout.minor >= FIRST_MINOR_TAGGED)
			thread &= ~TAG_BITS;
		if (object_read_attributes(runtime, thread, &attributes))
			continue;
		if (!object_find(runtime, &attributes, "_ident", &ident) &&
		    !object_read_integer(runtime, ident, &uses->joined))
			uses->joined_frame = i;
		object_entries_deinit(&attributes);
		return;
	}
}

int lock_uses_read(const struct python_runtime *runtime, const struct python_stack *stack,
		   remote_addr futex, struct lock_uses *ret_uses)
{
	struct reading reading = { .runtime = runtime, .uses = ret_uses };
	int error = 0;

	*ret_uses = (struct lock_uses){ 0 };
	if (runtime->layout.free_threaded)
		return 0;
	for (size_t i = 0; !error && i < stack->count && i < LOCK_FRAMES_MAX; i++) {
		error = read_slots(&reading, &stack->frames[i]);
		for (size_t slot = reading.slot_count; !error && slot-- > 0;) {
			struct slot_lock found = read_slot(&reading, slot);

			if (found.lock)
				note_use(&reading, i, slot, &found, futex);
		}
		stack_depths_deinit(&reading.depths);
	}
	read_join(runtime, stack, ret_uses);
	return error;
}
