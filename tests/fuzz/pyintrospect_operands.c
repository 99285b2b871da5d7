/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operands, loops and arguments of forged frames (forged_frames.h), the iterators behind
 * them, and the names that a code object's tuples have: those at the memory's beginning.
 */
#include "pyintrospect/code_names.h"
#include "pyintrospect/local_slots.h"
#include "pyintrospect/lock_reader.h"
#include "pyintrospect/object_text.h"
#include "tests/fuzz/forged_frames.h"

/* Frames and slots; six rounds of iterators, each with two reads for a new type. */
#define CALLS_MAX (2 + 6 * (1 + 2 * OPERAND_FRAMES_MAX * OPERAND_LOOPS_MAX))

/* ---- what is read ---- */

static bool is_object(remote_addr address)
{
	return address % 8 == 0 && address >= 4096 && address < 1ull << 47;
}

static void check_values(const struct forged_frames *forged, const struct operand_value *values,
			 size_t count)
{
	for (size_t i = 0; i < count; i++) {
		fuzz_must(values[i].role <= OPERAND_POSITION);
		fuzz_must(values[i].state <= OPERAND_IS_WRONG);
		fuzz_must(values[i].state != OPERAND_IS_OBJECT || is_object(values[i].object));
		fuzz_must(values[i].state != OPERAND_IS_NULL || !values[i].object);
		fuzz_must(values[i].state != OPERAND_IS_INTEGER ||
			  forged->runtime.layout.minor >= 14);
	}
}

static void check_loops(const struct forged_frames *forged, const struct operand_sample *sample)
{
	for (size_t i = 0; i < sample->loop_count; i++) {
		const struct operand_iterator *loop = &sample->loops[i];

		fuzz_must(is_object(loop->object) && loop->kind <= ITERATOR_SET);
		fuzz_must(loop->head < forged->codes[0].bytecode_size);
		fuzz_must(loop->remaining >= ITERATOR_UNKNOWN);
		fuzz_must(loop->kind != ITERATOR_OTHER || !loop->position_known);
	}
}

static void check_sample(const struct forged_frames *forged, const struct operand_sample *sample)
{
	static const int errors[] = { 0, -ESTALE, -EFAULT, -ENOENT, -ENOTSUP, -EBADMSG, -E2BIG };
	bool known = false;

	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		known |= sample->error == errors[i];
	fuzz_must(known && sample->kind <= OPERATION_LAST);
	fuzz_must(sample->operand_count <= OPERANDS_MAX);
	fuzz_must(sample->operand_count <= sample->operand_total);
	fuzz_must(sample->loop_count <= OPERAND_LOOPS_MAX);
	fuzz_must(sample->argument_count <= OPERAND_ARGUMENTS_MAX &&
		  sample->argument_count <= forged->codes[0].argument_count);
	fuzz_must(!sample->error || (!sample->operand_count && !sample->loop_count));
	check_values(forged, sample->operands, sample->operand_count);
	check_values(forged, sample->arguments, sample->argument_count);
	check_loops(forged, sample);
}

static bool same_values(const struct operand_value *a, const struct operand_value *b, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (a[i].role != b[i].role || a[i].state != b[i].state ||
		    a[i].object != b[i].object || a[i].integer != b[i].integer)
			return false;
	return true;
}

static bool same_loops(const struct operand_iterator *a, const struct operand_iterator *b,
		       size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (a[i].object != b[i].object || a[i].head != b[i].head ||
		    a[i].kind != b[i].kind || a[i].position_known != b[i].position_known ||
		    (a[i].position_known && a[i].position != b[i].position) ||
		    a[i].remaining != b[i].remaining)
			return false;
	return true;
}

static bool same_samples(const struct operand_sample *a, const struct operand_sample *b)
{
	return a->error == b->error && a->kind == b->kind && a->taken == b->taken &&
	       a->operand_total == b->operand_total && a->operand_count == b->operand_count &&
	       a->loop_count == b->loop_count && a->argument_count == b->argument_count &&
	       same_values(a->operands, b->operands, a->operand_count) &&
	       same_values(a->arguments, b->arguments, a->argument_count) &&
	       same_loops(a->loops, b->loops, a->loop_count);
}

/* ---- questions ---- */

static void read_stack(struct forged_frames *forged, struct operand_reader *reader,
		       struct operand_sample *samples)
{
	size_t count = forged->stack.count;

	forged->memory.calls = 0;
	fuzz_must(operand_reader_read(reader, &forged->stack, forged->frames, count, samples) == 0);
	fuzz_must(forged->memory.calls <= CALLS_MAX);
	for (size_t i = 0; i < count; i++)
		check_sample(forged, &samples[i]);
}

static void read_next(struct forged_frames *forged, struct operand_reader *reader,
		      const struct operand_sample *now)
{
	const struct python_frame *frame = &forged->stack.frames[0];
	struct operand_sample sample;

	fuzz_must(operand_reader_read_next(reader, frame, frame->instruction_offset, NULL, 0,
					   &sample) == 0);
	fuzz_must(same_samples(&sample, now));
	for (int ahead = 0; ahead < 8; ahead += 2) {
		fuzz_must(operand_reader_read_next(reader, frame, frame->instruction_offset + ahead,
						   forged->stores, forged->store_count,
						   &sample) == 0);
		check_sample(forged, &sample);
	}
}

static void read_instruction(struct forged_frames *forged, struct operand_reader *reader,
			     const struct python_frame *frame)
{
	remote_addr address;
	int offset, error = operand_reader_instruction(reader, frame, &offset, &address);

	fuzz_must(!error || error == -ENOENT || error == -EFAULT);
	if (error)
		return;
	fuzz_must(offset >= 0 && offset <= frame->instruction_offset);
	fuzz_must((uint32_t)offset < forged->codes[0].bytecode_size);
}

/* What could not be read is used nowhere: whatever it is, the answers are the same. */
static void read_operands(struct forged_frames *forged)
{
	static struct operand_sample samples[2][OPERAND_FRAMES_MAX];
	struct operand_reader *reader = NULL;

	for (unsigned turn = 0; turn < 2; turn++) {
		operand_reader_destroy(reader);
		reader = operand_reader_create(&forged->runtime);
		fuzz_must(reader);
		forged->memory.garbage = turn ? 0xa8 : 0;
		read_stack(forged, reader, samples[turn]);
		/* Types are known now. */
		read_stack(forged, reader, samples[turn]);
		read_next(forged, reader, &samples[turn][0]);
	}
	for (size_t i = 0; i < forged->stack.count; i++) {
		fuzz_must(same_samples(&samples[0][i], &samples[1][i]));
		read_instruction(forged, reader, &forged->stack.frames[i]);
	}
	forged->memory.gone = true;
	fuzz_must(operand_reader_read(reader, &forged->stack, forged->frames, forged->stack.count,
				      samples[0]) == -ESRCH);
	forged->memory.gone = false;
	operand_reader_destroy(reader);
}

/* Locks lie on the same evaluation stacks. */
static void read_locks(struct forged_frames *forged)
{
	struct lock_uses uses;
	int error = lock_uses_read(&forged->runtime, &forged->stack, 0x1000, &uses);

	fuzz_must(!error);
	fuzz_must(uses.count <= LOCK_USES_MAX);
	for (size_t i = 0; i < uses.count; i++) {
		fuzz_must(uses.items[i].frame < forged->stack.count);
		fuzz_must(uses.items[i].offset <=
			  forged->stack.frames[uses.items[i].frame].instruction_offset);
		fuzz_must(!uses.items[i].waited || uses.items[i].frame == 0);
	}
}

#define TEXT_OBJECTS 40
/* Of each object: itself, its type's name and those of its bases, its contents. */
#define TEXT_CALLS (TEXT_OBJECTS * (8 + 5 * 16))

static void read_text(struct forged_frames *forged, remote_addr object)
{
	static struct object_text_reader reader;
	struct object_text text;

	object_text_begin(&reader, &forged->runtime, TEXT_OBJECTS);
	forged->memory.calls = 0;
	memset(&text, 'x', sizeof(text));
	fuzz_must(object_text_read(&reader, object, &text));
	fuzz_must(forged->memory.calls <= TEXT_CALLS);
	fuzz_must(memchr(text.text, '\0', sizeof(text.text)));
	fuzz_must(memchr(text.type, '\0', sizeof(text.type)));
	for (const char *at = text.text; *at; at++)
		fuzz_must((unsigned char)*at >= 0x20 && *at != 0x7f);
	object_text_begin(&reader, &forged->runtime, 0);
	fuzz_must(!object_text_read(&reader, object, &text) && !text.text[0]);
}

static void read_locals(struct forged_frames *forged)
{
	for (size_t i = 0; i < forged->stack.count; i++) {
		struct local_slots slots;
		int error = local_slots_read(&forged->runtime, &forged->stack.frames[i], &slots);

		fuzz_must(!error || error == -ESTALE || error == -EFAULT);
		if (error)
			continue;
		fuzz_must(slots.count <= LOCAL_SLOTS_MAX);
		check_values(forged, slots.values, slots.count);
		for (size_t k = 0; k < slots.count; k++)
			if (slots.values[k].state == OPERAND_IS_OBJECT)
				read_text(forged, slots.values[k].object);
	}
}

static void read_names(const struct forged_frames *forged, const uint64_t *tuples)
{
	const struct code_names names = { &forged->runtime, tuples[0], tuples[1], tuples[2],
					  tuples[3] };
	char buffer[24];

	for (unsigned i = 0; i < 3 * 8; i++) {
		enum python_names kind = (enum python_names)(PYTHON_NAMES + i % 3);
		size_t room = 1 + i % sizeof(buffer);
		uint32_t index = i / 3 == 7 ? UINT32_MAX : i / 3;

		memset(buffer, 'x', sizeof(buffer));
		if (code_names_read(&names, kind, index, buffer, room) == 0)
			fuzz_must(memchr(buffer, '\0', room));
		if (room == sizeof(buffer) &&
		    local_slots_name(&names, index, buffer, sizeof(buffer)) == 0)
			fuzz_must(memchr(buffer, '\0', room));
		fuzz_must(room == sizeof(buffer) || buffer[room] == 'x');
	}
}

/* Such code takes long to be refused, and has a target of its own. */
static bool is_tangled(const struct python_code *code)
{
	struct stack_depths depths;
	int error = stack_depths_init(&depths, code);

	if (!error)
		stack_depths_deinit(&depths);
	return error == -E2BIG;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct forged_frames forged;
	uint64_t tuples[4] = { 0 };

	forged_frames_init(&forged, (struct fuzz_input){ data, size });
	if (!is_tangled(&forged.codes[0])) {
		read_operands(&forged);
		read_locks(&forged);
	}
	read_locals(&forged);
	if (forged.memory.bytes.left >= sizeof(tuples))
		memcpy(tuples, forged.memory.bytes.at, sizeof(tuples));
	read_names(&forged, tuples);
	forged_frames_deinit(&forged);
	return 0;
}
