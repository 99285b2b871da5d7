/* SPDX-License-Identifier: Apache-2.0 */
#include "pyintrospect/iterator.h"

#include "pyintrospect/field.h"
#include "pyintrospect/runtime_internal.h"

#include <errno.h>

#define COUNT_MAX (OPERAND_FRAMES_MAX * OPERAND_LOOPS_MAX)
/* enumerate -> zip -> tuple -> list_iterator -> list */
#define ROUNDS_MAX 6

/*
 * Byte offsets of x86-64 builds with the GIL, from CPython's sources
 * (Objects/listobject.c, rangeobject.c, enumobject.c, dictobject.c, setobject.c,
 * iterobject.c, Python/bltinmodule.c). They have not moved from 3.6 to 3.15 but
 * for range's and tuple's.
 */
enum {
	TYPE_FLAGS = 168,
	TYPE_HEAD_SIZE = 176,
	FLAG_HEAP_TYPE = 1 << 9,
	VARIABLE_SIZE = 16, /* of list, tuple, bytes; length of str */
	TUPLE_ITEMS = 24,
	TUPLE_ITEMS_3_14 = 32, /* behind its hash */
	FIELD_1 = 16,
	FIELD_2 = 24,
	FIELD_3 = 32,
	FIELD_4 = 40,
	FIELD_5 = 48,
	/* The shortest iterators have two fields; what follows may be the end of its page. */
	SHORT_BYTES = 32,
	LONG_BYTES = 56,
};

/* From here on a range's iterator keeps {next, step, left}, before {index, start, step, length}. */
#define FIRST_MINOR_RANGE_LEFT 12

enum layout {
	LAYOUT_OTHER,
	LAYOUT_SIZED,    /* index, object with a size */
	LAYOUT_UNSIZED,  /* index, any object */
	LAYOUT_REVERSED, /* falling index */
	LAYOUT_RANGE,
	LAYOUT_ENUMERATE, /* count, iterator */
	LAYOUT_ZIP,       /* size, tuple of iterators */
	LAYOUT_MAP,       /* tuple of iterators */
	LAYOUT_FILTER,    /* function, iterator */
	LAYOUT_DICT,      /* dict, used, position, result, left */
	LAYOUT_SET,       /* set, used, position, left */
};

static const struct {
	const char *name;
	uint8_t layout;
} known[] = {
	{ "list_iterator", LAYOUT_SIZED },
	{ "tuple_iterator", LAYOUT_SIZED },
	{ "str_iterator", LAYOUT_SIZED },
	{ "str_ascii_iterator", LAYOUT_SIZED },
	{ "bytes_iterator", LAYOUT_SIZED },
	{ "bytearray_iterator", LAYOUT_SIZED },
	{ "iterator", LAYOUT_UNSIZED },
	{ "list_reverseiterator", LAYOUT_REVERSED },
	{ "reversed", LAYOUT_REVERSED },
	{ "range_iterator", LAYOUT_RANGE },
	{ "enumerate", LAYOUT_ENUMERATE },
	{ "zip", LAYOUT_ZIP },
	{ "map", LAYOUT_MAP },
	{ "filter", LAYOUT_FILTER },
	{ "dict_keyiterator", LAYOUT_DICT },
	{ "dict_valueiterator", LAYOUT_DICT },
	{ "dict_itemiterator", LAYOUT_DICT },
	{ "set_iterator", LAYOUT_SET },
};

static const uint8_t kinds[] = {
	[LAYOUT_OTHER] = ITERATOR_OTHER,      [LAYOUT_SIZED] = ITERATOR_SEQUENCE,
	[LAYOUT_UNSIZED] = ITERATOR_SEQUENCE, [LAYOUT_REVERSED] = ITERATOR_REVERSED,
	[LAYOUT_RANGE] = ITERATOR_RANGE,      [LAYOUT_ENUMERATE] = ITERATOR_ENUMERATE,
	[LAYOUT_ZIP] = ITERATOR_ZIP,          [LAYOUT_MAP] = ITERATOR_MAP,
	[LAYOUT_FILTER] = ITERATOR_FILTER,    [LAYOUT_DICT] = ITERATOR_DICT,
	[LAYOUT_SET] = ITERATOR_SET,
};

enum stage {
	STAGE_ITERATOR, /* at address is an iterator */
	STAGE_TUPLE,    /* a tuple whose first element is one */
	STAGE_SIZE,     /* an object whose size is the number of all elements */
	STAGE_DONE,
};

/* One iterator on its way. */
struct step {
	struct operand_iterator *iterator;
	uint8_t stage;
	remote_addr address;
	bool inner;    /* one that another iterator goes by */
	int64_t index; /* STAGE_SIZE: of the next element */
	uint8_t bytes[LONG_BYTES];
	bool long_read; /* all of them, not the first SHORT_BYTES alone */
};

static bool iterator_plausible(remote_addr address)
{
	return address % 8 == 0 && address >= 4096 && address < 1ull << 47;
}

/* Costs two system calls for a type that was not seen before. A type of a program's own is none. */
static uint8_t layout_of(const struct python_runtime *runtime, struct iterator_types *types,
			 remote_addr type)
{
	uint8_t head[TYPE_HEAD_SIZE], layout = LAYOUT_OTHER;
	char name[24];

	for (size_t i = 0; i < ITERATOR_TYPES_MAX; i++)
		if (types->items[i].type == type)
			return types->items[i].layout;
	if (!iterator_plausible(type) || memory_read(runtime->reader, type, head, sizeof(head)))
		return LAYOUT_OTHER;
	if (field_u64(head, TYPE_FLAGS) & FLAG_HEAP_TYPE)
		return LAYOUT_OTHER; /* its address may be another's tomorrow: not kept */
	if (memory_read(runtime->reader, field_u64(head, runtime->layout.offsets.type_name), name,
			sizeof(name)))
		return LAYOUT_OTHER;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strncmp(name, known[i].name, sizeof(name)))
			layout = known[i].layout;
	types->items[types->next].type = type;
	types->items[types->next].layout = layout;
	types->next = (types->next + 1) % ITERATOR_TYPES_MAX;
	return layout;
}

static void go_on(struct step *step, enum stage stage, remote_addr address)
{
	step->stage = iterator_plausible(address) ? stage : STAGE_DONE;
	step->address = address;
}

/* enumerate has a count of its own; its iterator is asked for what remains alone. */
static void set_position(struct step *step, int64_t position)
{
	if (step->iterator->position_known)
		return;
	step->iterator->position = position;
	step->iterator->position_known = true;
}

static void set_remaining(struct step *step, int64_t remaining)
{
	if (remaining >= 0)
		step->iterator->remaining = remaining;
	step->stage = STAGE_DONE;
}

static void parse_range(const struct python_runtime *runtime, struct step *step)
{
	const uint8_t *bytes = step->bytes;

	if (runtime->layout.minor >= FIRST_MINOR_RANGE_LEFT) {
		set_position(step, (int64_t)field_u64(bytes, FIELD_1));
		set_remaining(step, (int64_t)field_u64(bytes, FIELD_3));
	} else {
		int64_t index = (int64_t)field_u64(bytes, FIELD_1);
		int64_t length = (int64_t)field_u64(bytes, FIELD_4);

		set_position(step, index);
		set_remaining(step,
			      index >= 0 && length >= index ? length - index : ITERATOR_UNKNOWN);
	}
}

static void parse_iterator(const struct python_runtime *runtime, struct iterator_types *types,
			   struct step *step)
{
	const uint8_t *bytes = step->bytes;
	uint8_t layout =
		layout_of(runtime, types, field_u64(bytes, runtime->layout.offsets.object_type));
	uint64_t first = field_u64(bytes, FIELD_1), second = field_u64(bytes, FIELD_2);

	step->stage = STAGE_DONE;
	if (!step->inner)
		step->iterator->kind = kinds[layout];
	step->inner = true;
	switch (layout) {
	case LAYOUT_SIZED:
		step->index = (int64_t)first;
		step->iterator->container = second;
		set_position(step, step->index);
		go_on(step, STAGE_SIZE, second);
		break;
	case LAYOUT_UNSIZED:
		step->iterator->container = second;
		set_position(step, (int64_t)first);
		break;
	case LAYOUT_REVERSED:
		step->iterator->container = second;
		set_position(step, (int64_t)first);
		if (first < INT64_MAX)
			set_remaining(step, (int64_t)first + 1);
		break;
	case LAYOUT_ENUMERATE:
		set_position(step, (int64_t)first);
		go_on(step, STAGE_ITERATOR, second);
		break;
	case LAYOUT_ZIP:
		go_on(step, STAGE_TUPLE, second);
		break;
	case LAYOUT_MAP:
		go_on(step, STAGE_TUPLE, first);
		break;
	case LAYOUT_FILTER:
		go_on(step, STAGE_ITERATOR, second);
		break;
	default:
		if (!step->long_read)
			return;
		if (layout == LAYOUT_RANGE) {
			parse_range(runtime, step);
		} else if (layout == LAYOUT_DICT || layout == LAYOUT_SET) {
			step->iterator->container = first;
			set_position(step, (int64_t)field_u64(bytes, FIELD_3));
			set_remaining(step,
				      (int64_t)field_u64(bytes, layout == LAYOUT_DICT ? FIELD_5
										      : FIELD_4));
		}
	}
}

static void parse(const struct python_runtime *runtime, struct iterator_types *types,
		  struct step *step)
{
	int64_t size;

	switch (step->stage) {
	case STAGE_ITERATOR:
		parse_iterator(runtime, types, step);
		break;
	case STAGE_TUPLE:
		/* An empty one has no first element. */
		if (!step->long_read || field_u64(step->bytes, VARIABLE_SIZE) == 0)
			step->stage = STAGE_DONE;
		else
			go_on(step, STAGE_ITERATOR,
			      field_u64(step->bytes, runtime->layout.minor >= 14 ? TUPLE_ITEMS_3_14
										 : TUPLE_ITEMS));
		break;
	case STAGE_SIZE:
		size = (int64_t)field_u64(step->bytes, VARIABLE_SIZE);
		set_remaining(step, step->index >= 0 && size >= step->index ? size - step->index
									    : ITERATOR_UNKNOWN);
		break;
	default:
		break;
	}
}

/* Reads what each step that is not done looks at next: its first bytes, and the others. */
static int fetch(const struct python_runtime *runtime, struct step *steps, size_t count,
		 bool *ret_any)
{
	struct memory_range ranges[2 * COUNT_MAX];
	struct step *owners[COUNT_MAX];
	size_t wanted = 0;
	int error;

	for (size_t i = 0; i < count; i++) {
		struct step *step = &steps[i];

		if (step->stage == STAGE_DONE)
			continue;
		ranges[2 * wanted] =
			(struct memory_range){ step->address, step->bytes, SHORT_BYTES, -EFAULT };
		ranges[2 * wanted + 1] = (struct memory_range){ step->address + SHORT_BYTES,
								step->bytes + SHORT_BYTES,
								LONG_BYTES - SHORT_BYTES, -EFAULT };
		owners[wanted++] = step;
	}
	*ret_any = wanted > 0;
	if (!wanted)
		return 0;
	error = memory_read_ranges(runtime->reader, ranges, 2 * wanted);
	for (size_t i = 0; !error && i < wanted; i++) {
		owners[i]->long_read = !ranges[2 * i + 1].error;
		if (ranges[2 * i].error)
			owners[i]->stage = STAGE_DONE;
	}
	return error;
}

int iterators_read(const struct python_runtime *runtime, struct iterator_types *types,
		   struct operand_iterator *const *iterators, size_t count)
{
	struct step steps[COUNT_MAX];
	bool any = true;

	if (count > COUNT_MAX)
		return -EINVAL;
	for (size_t i = 0; i < count; i++) {
		/* 3.15: of a list or tuple with an index beside it, only the size is to be read. */
		bool indexed = iterators[i]->position_known;

		if (indexed)
			iterators[i]->container = iterators[i]->object;
		steps[i] = (struct step){
			.iterator = iterators[i],
			.stage = indexed ? STAGE_SIZE : STAGE_ITERATOR,
			.address = iterators[i]->object,
			.index = iterators[i]->position,
		};
	}
	for (unsigned round = 0; round < ROUNDS_MAX; round++) {
		int error = fetch(runtime, steps, count, &any);

		if (error || !any)
			return error;
		for (size_t i = 0; i < count; i++)
			if (steps[i].stage != STAGE_DONE)
				parse(runtime, types, &steps[i]);
	}
	return 0;
}
