/* SPDX-License-Identifier: Apache-2.0 */
#include "pyintrospect/operand_reader.h"

#include "pyintrospect/code_entry.h"
#include "pyintrospect/field.h"
#include "pyintrospect/frame_walk.h"
#include "pyintrospect/iterator.h"
#include "pyintrospect/opcode.h"
#include "pyintrospect/runtime_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define WORD_BYTES        8
#define INSTRUCTION_BYTES 2
/* Analysed code objects, by id modulo this: samples of one function come in bunches. */
#define DEPTHS_KEPT 64
/* Of a frame: its fixed part, its arguments, its slots. */
#define RANGES_A_FRAME 3
#define RANGES_MAX     (RANGES_A_FRAME * OPERAND_FRAMES_MAX)
/* Locals, cells and free variables of a frame, to 3.10. */
#define LOCALS_MAX 70000u

/* 3.14+: _PyStackRef's low bits. */
#define FIRST_MINOR_TAGGED 14
#define TAG_BITS           3ull
#define TAG_INTEGER        3ull
#define TAG_SHIFT          2

struct kept_depths {
	const struct python_code *code;
	struct stack_depths depths;
	int error;
};

/* What of one frame is read. */
struct frame_reading {
	const struct python_frame *frame;
	const struct stack_depths *depths;
	const struct stack_instruction *instruction;
	struct operation operation;
	struct stack_loop loops[OPERAND_LOOPS_MAX];
	size_t loop_count;
	size_t argument_count;
	size_t first_slot, slot_count;
	uint8_t fixed[OFFSET_BLOCK_MAX];
	uint64_t arguments[OPERAND_ARGUMENTS_MAX];
	uint64_t slots[OPERAND_SLOTS_MAX];
	remote_addr slots_address;
	bool arguments_read, slots_read;
};

struct operand_reader {
	const struct python_runtime *runtime;
	struct iterator_types types;
	struct kept_depths kept[DEPTHS_KEPT];
	struct frame_reading readings[OPERAND_FRAMES_MAX];
	struct memory_range ranges[RANGES_MAX]; /* of the last reading */
	size_t range_count;
};

struct operand_reader *operand_reader_create(const struct python_runtime *runtime)
{
	struct operand_reader *reader = calloc(1, sizeof(*reader));

	if (reader)
		reader->runtime = runtime;
	return reader;
}

void operand_reader_destroy(struct operand_reader *reader)
{
	if (!reader)
		return;
	for (size_t i = 0; i < DEPTHS_KEPT; i++)
		stack_depths_deinit(&reader->kept[i].depths);
	free(reader);
}

/* The analysis of a code object, kept as long as no other needs its place. */
static int find_depths(struct operand_reader *reader, const struct python_code *code,
		       const struct kept_depths **ret_kept)
{
	struct kept_depths *kept = &reader->kept[code->id % DEPTHS_KEPT];

	if (kept->code != code) {
		stack_depths_deinit(&kept->depths);
		kept->code = NULL;
		kept->error = stack_depths_init(&kept->depths, code);
		if (kept->error == -ENOMEM)
			return -ENOMEM;
		kept->code = code;
	}
	*ret_kept = kept;
	return 0;
}

/* Which slots are needed: the operands', and as many loops' below them as fit. */
static void plan_slots(struct frame_reading *reading)
{
	const struct operation *operation = &reading->operation;
	struct stack_loop loops[STACK_LOOPS_MAX];
	size_t count = stack_depths_loops(reading->depths, reading->instruction, loops);
	size_t end = (size_t)reading->instruction->depth, first = end;

	if (operation->count) {
		end = operation->places[operation->count - 1].slot + 1u;
		first = operation->places[0].slot;
	}
	for (size_t i = 0; i < count && reading->loop_count < OPERAND_LOOPS_MAX; i++) {
		if (end - loops[i].slot > OPERAND_SLOTS_MAX)
			break;
		reading->loops[reading->loop_count++] = loops[i];
		if (loops[i].slot < first)
			first = loops[i].slot;
	}
	/* LIST_EXTEND and its like may have an operand far down. */
	if (end - first > OPERAND_SLOTS_MAX)
		first = end - OPERAND_SLOTS_MAX;
	reading->first_slot = first;
	reading->slot_count = end - first;
}

/* Of the instruction at this offset: the frame's current one, or the next. */
static int plan(struct operand_reader *reader, const struct python_frame *frame,
		int instruction_offset, struct frame_reading *reading,
		struct operand_sample *sample)
{
	const struct kept_depths *kept;
	int error = find_depths(reader, frame->code, &kept);

	*sample = (struct operand_sample){ 0 };
	reading->frame = frame;
	reading->depths = NULL;
	reading->loop_count = reading->slot_count = reading->first_slot = 0;
	reading->arguments_read = reading->slots_read = false;
	reading->argument_count = frame->code->argument_count < OPERAND_ARGUMENTS_MAX
					  ? frame->code->argument_count
					  : OPERAND_ARGUMENTS_MAX;
	if (error)
		return error;
	sample->error = kept->error;
	if (kept->error)
		return 0;
	reading->instruction = stack_depths_at(&kept->depths, instruction_offset);
	if (!reading->instruction ||
	    !operation_of(&kept->depths, reading->instruction, &reading->operation)) {
		sample->error = -ENOENT;
		return 0;
	}
	reading->depths = &kept->depths;
	sample->kind = reading->operation.kind;
	sample->in_place = reading->operation.in_place;
	sample->operand_total = reading->operation.total;
	plan_slots(reading);
	return 0;
}

static struct memory_range *add_range(struct operand_reader *reader, remote_addr address,
				      void *buffer, size_t size)
{
	struct memory_range *range = &reader->ranges[reader->range_count++];

	*range = (struct memory_range){
		.address = address, .buffer = buffer, .size = size, .error = -EFAULT
	};
	return range;
}

static void reading_add_slots(struct operand_reader *reader, struct frame_reading *reading,
			      remote_addr bottom)
{
	reading->slots_address = bottom + WORD_BYTES * reading->first_slot;
	if (reading->slot_count)
		add_range(reader, reading->slots_address, reading->slots,
			  WORD_BYTES * reading->slot_count);
}

/* To 3.10: where the frame says that its stack begins; 0: nowhere that it can be. */
static remote_addr old_bottom(const struct python_layout *layout,
			      const struct frame_reading *reading)
{
	remote_addr bottom = field_u64(reading->fixed, layout->offsets.frame_stack);
	remote_addr locals = reading->frame->address + (uint64_t)layout->offsets.frame_locals;

	return bottom % WORD_BYTES == 0 && bottom >= locals &&
			       bottom - locals <= WORD_BYTES * LOCALS_MAX
		       ? bottom
		       : 0;
}

/* One frame's first ranges; the slots, too, where their place is known. */
static void want_frame(struct operand_reader *reader, struct frame_reading *reading)
{
	const struct python_layout *layout = &reader->runtime->layout;
	remote_addr locals = reading->frame->address + (uint64_t)layout->offsets.frame_locals;
	size_t fixed = reader->runtime->sizes.frame;

	/* To 3.10 with f_valuestack, where the slots begin (old_bottom()). */
	add_range(reader, reading->frame->address, reading->fixed, fixed);
	if (reading->argument_count)
		add_range(reader, locals, reading->arguments, WORD_BYTES * reading->argument_count);
	if (layout->walk != PYTHON_WALK_FRAME_OBJECTS)
		reading_add_slots(reader, reading,
				  locals +
					  WORD_BYTES * (uint64_t)reading->frame->code->local_count);
}

/* Is the frame still where the stack was seen? Notes what was read of it. */
static void check_frame(const struct operand_reader *reader, struct frame_reading *reading,
			struct operand_sample *sample)
{
	bool fixed_read = false;

	for (size_t i = 0; i < reader->range_count; i++) {
		const struct memory_range *range = &reader->ranges[i];

		if (range->error)
			continue;
		fixed_read |= range->buffer == reading->fixed;
		reading->arguments_read |= range->buffer == reading->arguments;
		reading->slots_read |= range->buffer == reading->slots;
	}
	if (!fixed_read) {
		sample->error = -EFAULT;
		reading->arguments_read = false;
	} else if (frame_instruction(&reader->runtime->layout, reading->fixed) !=
		   reading->frame->instruction_offset) {
		sample->error = -ESTALE;
		reading->arguments_read = false;
	}
}

struct operand_value operand_value_of(const struct python_runtime *runtime, uint64_t word,
				      uint8_t role)
{
	struct operand_value value = { .role = role, .state = OPERAND_IS_OBJECT, .object = word };

	if (runtime->layout.minor >= FIRST_MINOR_TAGGED) {
		if ((word & TAG_BITS) == TAG_INTEGER)
			return (struct operand_value){ .role = role,
						       .state = OPERAND_IS_INTEGER,
						       .integer = (int64_t)word >> TAG_SHIFT };
		value.object = word & ~TAG_BITS;
	}
	if (!value.object)
		value.state = OPERAND_IS_NULL;
	else if (value.object % WORD_BYTES || value.object < 4096 || value.object >= 1ull << 47)
		value.state = OPERAND_IS_WRONG;
	return value;
}

static bool slot_value(const struct operand_reader *reader, const struct frame_reading *reading,
		       size_t slot, uint8_t role, struct operand_value *ret_value)
{
	if (slot < reading->first_slot || slot - reading->first_slot >= reading->slot_count)
		return false;
	*ret_value =
		operand_value_of(reader->runtime, reading->slots[slot - reading->first_slot], role);
	return true;
}

static void take_operands(const struct operand_reader *reader, const struct frame_reading *reading,
			  struct operand_sample *sample)
{
	bool callable_follows = false;

	for (size_t i = 0; i < reading->operation.count; i++) {
		const struct operand_place *place = &reading->operation.places[i];
		struct operand_value value;

		if (!slot_value(reader, reading, place->slot, place->role, &value))
			continue;
		if (value.role == OPERAND_METHOD) {
			callable_follows = value.state == OPERAND_IS_NULL;
			value.role = OPERAND_CALLABLE;
		} else if (value.role == OPERAND_SELF && callable_follows) {
			value.role = OPERAND_CALLABLE;
		}
		/* Where there may be nothing, nothing is no operand. */
		if (value.state == OPERAND_IS_NULL &&
		    (place->role == OPERAND_METHOD || place->role == OPERAND_SELF ||
		     place->role == OPERAND_ARGUMENT_DICT || place->role == OPERAND_POSITION)) {
			sample->operand_total--;
			continue;
		}
		sample->operands[sample->operand_count++] = value;
	}
}

static void take_loops(const struct operand_reader *reader, const struct frame_reading *reading,
		       struct operand_sample *sample)
{
	for (size_t i = 0; i < reading->loop_count; i++) {
		const struct stack_loop *loop = &reading->loops[i];
		struct operand_iterator *iterator = &sample->loops[sample->loop_count];
		struct operand_value value, position;

		if (!slot_value(reader, reading, loop->slot, OPERAND_ITERATOR, &value) ||
		    value.state != OPERAND_IS_OBJECT)
			continue;
		*iterator = (struct operand_iterator){
			.object = value.object,
			.head = loop->head,
			.remaining = ITERATOR_UNKNOWN,
		};
		if (reader->runtime->layout.minor >= ITERATOR_FIRST_MINOR_INDEXED &&
		    slot_value(reader, reading, loop->slot + 1u, OPERAND_POSITION, &position) &&
		    position.state == OPERAND_IS_INTEGER) {
			iterator->kind = ITERATOR_SEQUENCE;
			iterator->position_known = true;
			iterator->position = position.integer;
		}
		sample->loop_count++;
	}
}

static void take(const struct operand_reader *reader, const struct frame_reading *reading,
		 struct operand_sample *sample)
{
	if (reading->arguments_read)
		for (size_t i = 0; i < reading->argument_count; i++)
			sample->arguments[sample->argument_count++] = operand_value_of(
				reader->runtime, reading->arguments[i], OPERAND_VALUE);
	if (sample->error || !reading->slot_count)
		return;
	if (!reading->slots_read) {
		sample->error = -EFAULT;
		return;
	}
	take_operands(reader, reading, sample);
	take_loops(reader, reading, sample);
}

/* Reads the ranges from a number on. */
static int read_ranges_from(struct operand_reader *reader, size_t first)
{
	if (first == reader->range_count)
		return 0;
	return memory_read_ranges(reader->runtime->reader, reader->ranges + first,
				  reader->range_count - first);
}

static int read_planned_frames(struct operand_reader *reader, size_t count,
			       struct operand_sample *samples)
{
	const struct python_layout *layout = &reader->runtime->layout;
	size_t first;
	int error;

	reader->range_count = 0;
	for (size_t i = 0; i < count; i++)
		want_frame(reader, &reader->readings[i]);
	error = read_ranges_from(reader, 0);
	first = reader->range_count;
	for (size_t i = 0; !error && i < count; i++)
		check_frame(reader, &reader->readings[i], &samples[i]);
	if (error || layout->walk != PYTHON_WALK_FRAME_OBJECTS)
		return error;
	for (size_t i = 0; i < count; i++) {
		remote_addr bottom = old_bottom(layout, &reader->readings[i]);

		if (!samples[i].error && bottom)
			reading_add_slots(reader, &reader->readings[i], bottom);
	}
	error = read_ranges_from(reader, first);
	for (size_t i = first; !error && i < reader->range_count; i++)
		for (size_t k = 0; k < count; k++)
			if (reader->ranges[i].buffer == reader->readings[k].slots)
				reader->readings[k].slots_read = !reader->ranges[i].error;
	return error;
}

/* Where the bytecode of a frame's code object begins. */
static int bytecode_of(struct operand_reader *reader, const struct python_frame *frame,
		       remote_addr *ret_bytecode)
{
	const struct python_layout *layout = &reader->runtime->layout;
	uint8_t fixed[OFFSET_BLOCK_MAX];
	int error = memory_read(reader->runtime->reader, frame->address, fixed,
				reader->runtime->sizes.frame);

	if (error)
		return error;
	*ret_bytecode = frame_code(layout, fixed) + (uint64_t)layout->offsets.code_bytecode;
	if (layout->walk != PYTHON_WALK_FRAME_OBJECTS)
		return 0;
	/* To 3.10 a bytes object of its own has it. */
	error = memory_read_u64(reader->runtime->reader, *ret_bytecode, ret_bytecode);
	*ret_bytecode += (uint64_t)layout->offsets.bytes_data;
	return error;
}

/*
 * Compilers make one vector store of the two that LOAD_FAST_LOAD_FAST makes, and nobody knows
 * what is in vector registers. The instruction says which two local variables they are.
 */
static bool load_of_two(const struct operand_reader *reader, const struct frame_reading *reading,
			size_t slot, uint64_t *ret_word)
{
	const struct python_frame *frame = reading->frame;
	const struct stack_instruction *load =
		stack_depths_at(reading->depths, frame->instruction_offset);
	remote_addr locals =
		frame->address + (uint64_t)reader->runtime->layout.offsets.frame_locals;
	size_t first, variable;
	const char *name;

	if (!load || load->depth == STACK_DEPTH_UNKNOWN ||
	    load->offset + INSTRUCTION_BYTES != reading->instruction->offset)
		return false;
	name = opcode_table(reading->depths->minor)[load->opcode].name;
	first = (size_t)load->depth;
	if ((strcmp(name, "LOAD_FAST_LOAD_FAST") != 0 &&
	     strcmp(name, "LOAD_FAST_BORROW_LOAD_FAST_BORROW") != 0) ||
	    slot < first || slot > first + 1)
		return false;
	variable = slot == first ? load->argument >> 4 : load->argument & 15;
	return variable < frame->code->local_count &&
	       !memory_read_u64(reader->runtime->reader, locals + WORD_BYTES * variable, ret_word);
}

/* How a specialised LOAD_METHOD, from 3.12 on LOAD_ATTR, finds a method: in its cache. */
static bool takes_method_from_cache(const char *name)
{
	return !strcmp(name, "LOAD_METHOD_NO_DICT") || !strcmp(name, "LOAD_METHOD_WITH_DICT") ||
	       !strcmp(name, "LOAD_METHOD_WITH_VALUES") ||
	       !strcmp(name, "LOAD_ATTR_METHOD_NO_DICT") ||
	       !strcmp(name, "LOAD_ATTR_METHOD_LAZY_DICT") ||
	       !strcmp(name, "LOAD_ATTR_METHOD_WITH_VALUES");
}

/* The cache's last words. */
static bool method_in_cache(struct operand_reader *reader, const struct frame_reading *reading,
			    const struct stack_instruction *load, uint64_t *ret_word)
{
	const struct opcode_info *opcodes = opcode_table(reading->depths->minor);
	uint32_t caches = opcodes[load->opcode].caches;
	remote_addr bytecode;
	uint8_t opcode;

	if (caches == OPCODE_CACHES_UNKNOWN ||
	    load->end - load->offset < WORD_BYTES + INSTRUCTION_BYTES ||
	    bytecode_of(reader, reading->frame, &bytecode) ||
	    memory_read(reader->runtime->reader,
			bytecode + load->end - INSTRUCTION_BYTES * (caches + 1), &opcode,
			sizeof(opcode)) ||
	    !opcodes[opcode].name || !takes_method_from_cache(opcodes[opcode].name))
		return false;
	return !memory_read_u64(reader->runtime->reader, bytecode + load->end - WORD_BYTES,
				ret_word);
}

/*
 * The same of the two that a method's load makes of its object: the method, in the object's place,
 * and the object. before: the slots as they are in memory still.
 */
static bool load_of_method(struct operand_reader *reader, const struct frame_reading *reading,
			   const uint64_t before[OPERAND_SLOTS_MAX], size_t slot,
			   uint64_t *ret_word)
{
	const struct stack_instruction *load =
		stack_depths_at(reading->depths, reading->frame->instruction_offset);
	size_t object;

	if (!load || load->depth == STACK_DEPTH_UNKNOWN || load->depth < 1 ||
	    load->end != reading->instruction->offset)
		return false;
	object = (size_t)load->depth - 1;
	if (object < reading->first_slot || (slot != object && slot != object + 1))
		return false;
	if (!method_in_cache(reader, reading, load, ret_word))
		return false;
	if (slot == object + 1)
		*ret_word = before[object - reading->first_slot];
	return true;
}

/* Slots as stores will leave them. False: one will hold what is not known. */
static bool apply_stores(struct operand_reader *reader, struct frame_reading *reading,
			 const struct operand_store *stores, size_t count)
{
	uint64_t before[OPERAND_SLOTS_MAX];

	memcpy(before, reading->slots, sizeof(before));
	for (size_t slot = 0; slot < reading->slot_count; slot++) {
		remote_addr address = reading->slots_address + WORD_BYTES * slot;

		for (size_t i = 0; i < count; i++) {
			const struct operand_store *store = &stores[i];

			if (store->address >= address + WORD_BYTES ||
			    address >= store->address + store->size)
				continue;
			if (store->known && store->address == address && store->size == WORD_BYTES)
				reading->slots[slot] = store->value;
			else if (!load_of_two(reader, reading, reading->first_slot + slot,
					      &reading->slots[slot]) &&
				 !load_of_method(reader, reading, before,
						 reading->first_slot + slot, &reading->slots[slot]))
				return false;
			break;
		}
	}
	return true;
}

/* What was planned. */
static int read_planned(struct operand_reader *reader, struct operand_sample *samples, size_t count,
			const struct operand_store *stores, size_t store_count)
{
	struct operand_iterator *iterators[OPERAND_FRAMES_MAX * OPERAND_LOOPS_MAX];
	size_t iterator_count = 0;
	int error = read_planned_frames(reader, count, samples);

	if (!error && store_count &&
	    !apply_stores(reader, &reader->readings[0], stores, store_count))
		samples[0].error = -ENOENT;
	for (size_t i = 0; !error && i < count; i++) {
		take(reader, &reader->readings[i], &samples[i]);
		for (size_t k = 0; k < samples[i].loop_count; k++)
			iterators[iterator_count++] = &samples[i].loops[k];
	}
	if (error || !iterator_count)
		return error;
	return iterators_read(reader->runtime, &reader->types, iterators, iterator_count);
}

int operand_reader_read(struct operand_reader *reader, const struct python_stack *stack,
			const size_t *frames, size_t count, struct operand_sample *ret_samples)
{
	int error = 0;

	reader->range_count = 0;
	if (count > OPERAND_FRAMES_MAX)
		return -EINVAL;
	for (size_t i = 0; !error && i < count; i++) {
		const struct python_frame *frame = &stack->frames[frames[i]];

		error = plan(reader, frame, frame->instruction_offset, &reader->readings[i],
			     &ret_samples[i]);
		ret_samples[i].taken = frames[i] > 0 && !stack->frames[frames[i] - 1].entry;
	}
	return error ? error : read_planned(reader, ret_samples, count, NULL, 0);
}

int operand_reader_read_next(struct operand_reader *reader, const struct python_frame *frame,
			     int instruction_offset, const struct operand_store *stores,
			     size_t store_count, struct operand_sample *ret_sample)
{
	int error = plan(reader, frame, instruction_offset, &reader->readings[0], ret_sample);

	reader->range_count = 0;
	return error ? error : read_planned(reader, ret_sample, 1, stores, store_count);
}

int operand_reader_instruction(struct operand_reader *reader, const struct python_frame *frame,
			       int *ret_offset, remote_addr *ret_address)
{
	const struct stack_instruction *instruction;
	const struct kept_depths *kept;
	remote_addr bytecode = 0;
	int error = find_depths(reader, frame->code, &kept);

	if (error)
		return error;
	instruction =
		kept->error ? NULL : stack_depths_at(&kept->depths, frame->instruction_offset);
	if (!instruction || instruction->depth == STACK_DEPTH_UNKNOWN)
		return -ENOENT;
	error = bytecode_of(reader, frame, &bytecode);
	*ret_offset = (int)instruction->offset;
	*ret_address = bytecode + instruction->offset;
	return error;
}

int operand_reader_entry(struct operand_reader *reader, const struct python_frame *frame,
			 int *ret_offset, remote_addr *ret_address)
{
	int offset = code_entry(frame->code), error;
	remote_addr bytecode = 0;

	if (offset < 0)
		return -ENOENT;
	error = bytecode_of(reader, frame, &bytecode);
	*ret_offset = offset;
	*ret_address = bytecode + (uint32_t)offset;
	return error;
}
