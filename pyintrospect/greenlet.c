/* SPDX-License-Identifier: Apache-2.0 */
#include "pyintrospect/greenlet.h"

#include "common/array.h"
#include "common/hash.h"
#include "pyintrospect/field.h"
#include "pyintrospect/gc_objects.h"
#include "pyintrospect/object_reader.h"
#include "pyintrospect/object_type.h"
#include "pyintrospect/runtime_internal.h"

#include <errno.h>

#define TYPE_SLOTS        1024 /* types of which it is known whether they are greenlets */
#define FIRST_MINOR_INNER 11   /* a frame object points to the frame proper */

/* From greenlet's headers, and the DWARF of its wheels 2.0.2 to 3.5.6. */
enum {
	TYPE_BASIC_SIZE = 32,
	OBJECT_SIZE = 40,    /* of greenlet 2 and later: head, weak references, dict, */
	IMPLEMENTATION = 32, /* and this pointer */
	OBJECT_STACK_1 = 16, /* of greenlet 1 and before: the fields below, in the object */
	OBJECT_FRAME_1 = 72,
	OBJECT_SIZE_MIN_1 = 120,
	IMPLEMENTATION_SELF = 8, /* greenlet 3.1 and later: back to the object */
	EXCEPTION_BYTES_3_7 = 40,
	EXCEPTION_BYTES_3_11 = 24,
	ARGUMENTS_BYTES = 16,
	STACK_START = 0, /* where the stack was left; 0: not begun or ended; 1: never left */
	STACK_STOP = 8,  /* where it begins; 0: not begun; all ones: the main greenlet */
	STACK_COPY = 16,
	STACK_SAVED = 24, /* bytes of it that are kept elsewhere */
	STACK_BYTES = 40,
	CONTEXT_BYTES = 8,
	FRAME_INNER = 24, /* 3.11+: of a frame object */
};

#define STACK_NEVER_LEFT 1
#define STACK_OF_MAIN    UINT64_MAX
#define STACK_BYTES_MAX  (1ull << 40)
#define ADDRESS_MIN      4096
#define ADDRESS_MAX      (1ull << 47)

struct found {
	remote_addr address, type;
};

struct reading {
	struct python_runtime *runtime;
	remote_addr base_type; /* greenlet.greenlet */
	uint64_t object_size;
	struct found *found;
	size_t found_count, found_capacity;
	struct {
		remote_addr type;
		bool is_greenlet;
	} types[TYPE_SLOTS];
	struct greenlet_list list;
	size_t capacity;
	size_t odd;                 /* objects that do not fit the layout */
	struct python_stack *stack; /* where frames are read to */
};

static bool derived(const struct reading *reading, remote_addr type)
{
	for (unsigned i = 0; type && i < PYTHON_TYPE_BASES_MAX; i++) {
		if (type == reading->base_type)
			return true;
		if (python_type_base(reading->runtime, type, &type))
			return false;
	}
	return false;
}

static int note_greenlet(void *context, remote_addr object, remote_addr type)
{
	struct reading *reading = context;
	size_t slot = hash_word(type) % TYPE_SLOTS;

	if (reading->types[slot].type != type) {
		reading->types[slot].type = type;
		reading->types[slot].is_greenlet = derived(reading, type);
	}
	if (!reading->types[slot].is_greenlet)
		return 0;
	for (size_t i = 0; i < reading->found_count; i++)
		if (reading->found[i].address == object)
			return 0;
	if (reading->found_count == GREENLETS_MAX) {
		reading->list.flags |= GREENLETS_CUT;
		return 0;
	}
	if (!ARRAY_ROOM(reading->found, reading->found_count, reading->found_capacity))
		return -ENOMEM;
	reading->found[reading->found_count++] = (struct found){ object, type };
	return 0;
}

/* Where a greenlet's fields are. */
struct places {
	remote_addr stack, frame;
};

static int find_places(const struct reading *reading, remote_addr object, struct places *ret_places)
{
	const struct python_runtime *runtime = reading->runtime;
	remote_addr implementation, self, stack;
	int error;

	if (reading->object_size != OBJECT_SIZE) {
		*ret_places = (struct places){ object + OBJECT_STACK_1, object + OBJECT_FRAME_1 };
		return 0;
	}
	error = memory_read_u64(runtime->reader, object + IMPLEMENTATION, &implementation);
	if (!error)
		error = memory_read_u64(runtime->reader, implementation + IMPLEMENTATION_SELF,
					&self);
	if (error)
		return error;
	stack = implementation + IMPLEMENTATION_SELF + (self == object ? sizeof(self) : 0) +
		(runtime->layout.minor >= FIRST_MINOR_INNER ? EXCEPTION_BYTES_3_11
							    : EXCEPTION_BYTES_3_7) +
		ARGUMENTS_BYTES;
	*ret_places = (struct places){ stack, stack + STACK_BYTES + CONTEXT_BYTES };
	return 0;
}

static bool is_stack_address(uint64_t address)
{
	return address >= ADDRESS_MIN && address < ADDRESS_MAX;
}

/* Can these be a greenlet's stack and frame? A frame object is what only one that has begun has. */
static bool fields_fit(const struct python_runtime *runtime, const uint8_t *stack,
		       remote_addr frame)
{
	uint64_t start = field_u64(stack, STACK_START), stop = field_u64(stack, STACK_STOP);
	uint64_t saved = field_u64(stack, STACK_SAVED), copy = field_u64(stack, STACK_COPY);

	if (start > STACK_NEVER_LEFT && !is_stack_address(start))
		return false;
	if (stop && stop != STACK_OF_MAIN && (!is_stack_address(stop) || stop <= start))
		return false;
	if (saved && (!is_stack_address(copy) || start <= STACK_NEVER_LEFT ||
		      saved > (stop == STACK_OF_MAIN ? STACK_BYTES_MAX : stop - start)))
		return false;
	return !frame || (stop && start && python_object_is(runtime, frame, "frame"));
}

/* The frames of one that is suspended, from the frame object that it holds. */
static int read_greenlet_frames(struct reading *reading, remote_addr object,
				struct greenlet *greenlet)
{
	struct python_runtime *runtime = reading->runtime;
	struct python_stack *stack = reading->stack;
	remote_addr frame = object;
	size_t count;
	int error = 0;

	if (runtime->layout.minor >= FIRST_MINOR_INNER)
		error = memory_read_u64(runtime->reader, object + FRAME_INNER, &frame);
	if (!error)
		error = python_stack_read_suspended(runtime, frame, stack);
	if (error)
		return error;
	if (stack->flags & PYTHON_STACK_INVALID)
		reading->list.flags |= GREENLETS_INCOMPLETE;
	count = stack->count;
	if (count > GREENLET_FRAMES_MAX)
		count = GREENLET_FRAMES_MAX;
	if (count < stack->count || stack->flags & PYTHON_STACK_TRUNCATED)
		reading->list.flags |= GREENLETS_CUT;
	greenlet->frames = malloc((count ? count : 1) * sizeof(stack->frames[0]));
	if (!greenlet->frames)
		return -ENOMEM;
	memcpy(greenlet->frames, stack->frames, count * sizeof(stack->frames[0]));
	greenlet->frame_count = count;
	return 0;
}

static int add_greenlet(struct reading *reading, const struct found *found)
{
	struct python_runtime *runtime = reading->runtime;
	struct greenlet *greenlet;
	struct places places;
	uint8_t stack[STACK_BYTES];
	uint64_t start, stop;
	remote_addr frame;
	int error = find_places(reading, found->address, &places);

	if (!error)
		error = memory_read(runtime->reader, places.stack, stack, sizeof(stack));
	if (!error)
		error = memory_read_u64(runtime->reader, places.frame, &frame);
	if (error)
		return error;
	if (!fields_fit(runtime, stack, frame)) {
		reading->odd++;
		return 0;
	}
	start = field_u64(stack, STACK_START);
	stop = field_u64(stack, STACK_STOP);
	if (!start || !stop || (stop == STACK_OF_MAIN && !frame))
		return 0;
	if (!ARRAY_ROOM(reading->list.items, reading->list.count, reading->capacity))
		return -ENOMEM;
	greenlet = &reading->list.items[reading->list.count++];
	*greenlet = (struct greenlet){
		.address = found->address,
		.main = stop == STACK_OF_MAIN,
		.stack = stop != STACK_OF_MAIN      ? stop
			 : start > STACK_NEVER_LEFT ? start
						    : 0,
	};
	error = python_type_name(runtime, found->type, greenlet->type, sizeof(greenlet->type));
	if (!error && frame)
		error = read_greenlet_frames(reading, frame, greenlet);
	if (error && error != -ENOMEM && greenlet->frames == NULL)
		reading->list.count--;
	return error;
}

/* Errors of one object, which others do not share. */
static bool of_greenlet(int error)
{
	return error == -EFAULT || error == -EBADMSG || error == -ENOENT;
}

/* The type greenlet.greenlet; -ENOENT: not imported. */
static int find_base_type(struct reading *reading, remote_addr interpreter)
{
	struct python_runtime *runtime = reading->runtime;
	struct object_entries names;
	int error = object_read_imported(runtime, interpreter, "greenlet", &names);

	if (error)
		return error;
	error = object_find(runtime, &names, "greenlet", &reading->base_type);
	object_entries_deinit(&names);
	if (!error && !python_object_is(runtime, reading->base_type, "type"))
		error = -EBADMSG;
	return error ? error
		     : memory_read_u64(runtime->reader, reading->base_type + TYPE_BASIC_SIZE,
				       &reading->object_size);
}

static int read_interpreter(struct reading *reading, remote_addr interpreter)
{
	const struct gc_visitor visitor = { .visit = note_greenlet, .context = reading };
	uint32_t flags = 0;
	int error = find_base_type(reading, interpreter);

	if (error)
		return error;
	if (reading->object_size != OBJECT_SIZE && reading->object_size < OBJECT_SIZE_MIN_1) {
		reading->list.flags |= GREENLETS_UNKNOWN;
		return 0;
	}
	memset(reading->types, 0, sizeof(reading->types));
	reading->found_count = 0;
	error = gc_objects_visit(reading->runtime, interpreter, &visitor, &flags);
	if (flags & GC_OBJECTS_UNKNOWN)
		reading->list.flags |= GREENLETS_UNKNOWN;
	if (flags & GC_OBJECTS_INCOMPLETE)
		reading->list.flags |= GREENLETS_INCOMPLETE;
	if (flags & GC_OBJECTS_CUT)
		reading->list.flags |= GREENLETS_CUT;
	for (size_t i = 0; !error && i < reading->found_count; i++) {
		error = add_greenlet(reading, &reading->found[i]);
		if (of_greenlet(error)) {
			reading->list.flags |= GREENLETS_INCOMPLETE;
			error = 0;
		}
	}
	/* One that changes while it is read may look odd, too. */
	if (reading->odd)
		reading->list.flags |= reading->odd == reading->found_count ? GREENLETS_UNKNOWN
									    : GREENLETS_INCOMPLETE;
	return error;
}

int greenlet_list_read(struct python_runtime *runtime, const struct python_thread_list *threads,
		       struct greenlet_list *ret_list)
{
	struct reading *reading;
	int error = 0;

	if (runtime->layout.free_threaded) {
		*ret_list = (struct greenlet_list){ .flags = GREENLETS_UNKNOWN };
		return 0;
	}
	reading = calloc(1, sizeof(*reading));
	if (reading)
		reading->stack = malloc(sizeof(*reading->stack));
	if (!reading || !reading->stack) {
		free(reading);
		return -ENOMEM;
	}
	reading->runtime = runtime;
	for (size_t i = 0; !error && i < threads->count; i++) {
		/* The threads of one interpreter stand together. */
		if (i && threads->items[i].interpreter == threads->items[i - 1].interpreter)
			continue;
		error = read_interpreter(reading, threads->items[i].interpreter);
		/* greenlet is not imported there. */
		if (of_greenlet(error) || error == -E2BIG)
			error = 0;
	}
	if (error)
		greenlet_list_deinit(&reading->list);
	else
		*ret_list = reading->list;
	free(reading->found);
	free(reading->stack);
	free(reading);
	return error;
}

void greenlet_list_deinit(struct greenlet_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->items[i].frames);
	free(list->items);
	*list = (struct greenlet_list){ 0 };
}
