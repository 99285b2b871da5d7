/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A record as if the program in the kernel had made it, and the process that it is of:
 *
 *   u16 size of the record, the record; a process as in remote_image.h
 *
 * The sample is parsed, the kernel's functions in it named by what the record says, its stack put
 * together, memory read through it, and the stack of its thread read from it: by an interpreter
 * that was found without the sample.
 */
#include "attach/clock_sample.h"
#include "attach/kernel_functions.h"
#include "pyintrospect/frame_places.h"
#include "pyintrospect/python_stack.h"
#include "pyintrospect/runtime.h"
#include "tests/fuzz/remote_image.h"

#include <time.h>

/* What one question may read before the process is gone: far above what any needs. */
#define READS_MAX 5000
/* As in runtime.c, VALIDATION_ATTEMPTS. */
#define ATTEMPTS   50
#define RANGES     200
#define RANGE_SIZE 48u

struct printed {
	const uint8_t *bytes;
	size_t size;
};

static struct remote_image *image;
static unsigned pauses;

/* As in pyintrospect_runtime.c: this process stands still. */
int nanosleep(const struct timespec *duration, struct timespec *left)
{
	(void)duration;
	(void)left;
	image->reads_left = ++pauses % ATTEMPTS ? 0 : READS_MAX;
	return 0;
}

/* As the kernel would print an address: the bytes of the record, from some place on. */
static int print_symbol(void *context, uint64_t address, char *ret_text, size_t size)
{
	const struct printed *printed = context;
	size_t start = address % (printed->size + 1), length = printed->size - start;

	if (length >= size)
		length = size - 1;
	memcpy(ret_text, printed->bytes + start, length);
	ret_text[length] = '\0';
	return address % 7 ? 0 : -EPERM;
}

/* Names are short, printable, and no addresses. */
static void check_kernel(const struct clock_sample *sample, const uint8_t *record, size_t size)
{
	struct printed printed = { record, size };
	const struct kernel_symbols symbols = { print_symbol, &printed };
	struct kernel_functions functions = { 0 };

	fuzz_must(sample->kernel_count <= CLOCK_KERNEL_MAX);
	fuzz_must(sample->system_call >= -1 && sample->system_call <= CLOCK_SYSTEM_CALL_MAX);
	for (size_t i = 0; i < sample->kernel_count; i++) {
		uint64_t address = clock_sample_kernel_address(sample, i);
		const char *name = kernel_functions_find(&functions, &symbols, address);

		fuzz_must(!name || (strlen(name) < KERNEL_NAME_BYTES && name[0] &&
				    (name[0] < '0' || name[0] > '9')));
		for (size_t k = 0; name && name[k]; k++)
			fuzz_must(name[k] > ' ' && name[k] <= '~');
	}
	fuzz_must(functions.count <= sample->kernel_count);
	kernel_functions_deinit(&functions);
}

/* All pieces are the record's, and the stack is the last of them without gaps. */
static void check_sample(const struct clock_sample *sample, const uint8_t *record, size_t size)
{
	uint8_t *bytes;
	struct stack_snapshot stack;

	if (sample->released) {
		fuzz_must(sample->allocation && !sample->piece_count && !sample->stack_pieces &&
			  !sample->kernel_count);
		return;
	}
	bytes = malloc(CLOCK_SAMPLE_STACK_BYTES);
	fuzz_must(bytes && sample->tid > 0 && sample->inner_tid >= 0);
	fuzz_must(sample->piece_count <= CLOCK_SAMPLE_PIECES_MAX &&
		  sample->stack_pieces <= sample->piece_count);
	fuzz_read_string(sample->comm);
	for (size_t i = 0; i < sample->piece_count; i++) {
		const struct memory_piece *piece = &sample->pieces[i];

		fuzz_must(piece->size && piece->size <= CLOCK_PAGE_BYTES);
		fuzz_must(piece->address <= INT64_MAX);
		fuzz_must(piece->bytes >= record && piece->bytes + piece->size <= record + size);
	}
	check_kernel(sample, record, size);
	stack = clock_sample_stack(sample, bytes);
	fuzz_must(stack.size <= CLOCK_SAMPLE_STACK_BYTES);
	free(bytes);
}

/* What was read of an address is what one of the pieces that have it says; or none has it. */
static bool explained(const struct clock_sample *sample, remote_addr address, uint8_t byte)
{
	bool there = false;

	for (size_t i = 0; i < sample->piece_count; i++) {
		uint64_t offset = address - sample->pieces[i].address;

		if (offset < sample->pieces[i].size && sample->pieces[i].bytes[offset] == byte)
			return true;
		there |= offset < sample->pieces[i].size;
	}
	return !there;
}

/* At the edges of the pieces. */
static void read_ranges(const struct clock_sample *sample, const struct memory_reader *reader)
{
	static struct memory_range ranges[RANGES];
	static uint8_t bytes[RANGES][RANGE_SIZE];
	size_t count = 0;

	for (size_t i = 0; i < sample->piece_count && count + 2 <= RANGES; i++) {
		const struct memory_piece *piece = &sample->pieces[i];
		remote_addr ends[] = { piece->address, piece->address + piece->size };

		for (size_t k = 0; k < 2; k++, count++)
			ranges[count] = (struct memory_range){
				.address = ends[k] - (i * 7 + k) % RANGE_SIZE,
				.size = 1 + i % RANGE_SIZE,
				.buffer = bytes[count],
			};
	}
	image->reads_left = sample->cpu % 2 ? READS_MAX : count / 3;
	if (reader->read(reader->context, ranges, count))
		return;
	for (size_t i = 0; i < count; i++) {
		fuzz_must(ranges[i].error == 0 || ranges[i].error == -EFAULT);
		for (size_t k = 0; !ranges[i].error && k < ranges[i].size; k++)
			fuzz_must(explained(sample, ranges[i].address + k, bytes[i][k]));
	}
}

static void read_frames(const struct python_stack *stack)
{
	fuzz_must(stack->count <= PYTHON_STACK_FRAMES_MAX);
	for (size_t i = 0; i < stack->count; i++) {
		const struct python_frame *frame = &stack->frames[i];

		fuzz_must(frame->code);
		fuzz_read_string(frame->code->function);
		fuzz_read_string(frame->code->file);
		(void)python_code_line(frame->code, frame->instruction_offset);
	}
}

/* Known from before, unknown, and once more when the process is gone. */
static void read_stacks(struct python_runtime *runtime, const struct clock_sample *sample,
			const struct stack_snapshot *snapshot)
{
	struct python_stack *stack = malloc(sizeof(*stack));

	fuzz_must(stack);
	for (unsigned round = 0; round < 3; round++) {
		image->reads_left = round < 2 ? READS_MAX : 0;
		if (python_stack_read_copied(runtime, round ? sample->inner_tid : 0, sample->state,
					     snapshot, stack) == 0)
			read_frames(stack);
	}
	free(stack);
}

static void read_python(struct copied_memory *copied, const struct memory_reader *reader,
			const struct clock_sample *sample)
{
	struct debug_info info = remote_image_info(image);
	uint8_t *bytes = malloc(CLOCK_SAMPLE_STACK_BYTES);
	struct python_runtime *runtime;
	struct stack_snapshot snapshot;
	struct python_stack *stack = malloc(sizeof(*stack));
	struct frame_places places;
	struct error error = { 0 };

	fuzz_must(bytes && stack);
	copied_memory_show(copied, NULL);
	image->reads_left = READS_MAX;
	runtime = python_runtime_create(&info, reader, &error);
	if (runtime) {
		image->reads_left = READS_MAX;
		frame_places_of(runtime, &places);
		fuzz_must(places.word_count <= FRAME_PLACES_WORDS_MAX);
		/* Some threads are known from before. */
		(void)!python_stack_read(runtime, (pid_t)image->tid, NULL, stack);
		image->is_later = true;
		snapshot = clock_sample_stack(sample, bytes);
		copied_memory_show(copied, sample);
		read_stacks(runtime, sample, snapshot.size ? &snapshot : NULL);
	}
	python_runtime_destroy(runtime);
	free(stack);
	free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input input = { data, size }, record = { 0 };
	struct clock_sample *sample = malloc(sizeof(*sample));
	struct copied_memory copied = { 0 };
	struct memory_reader reader = copied_memory_reader(&copied);
	uint8_t *bytes;

	image = calloc(1, sizeof(*image));
	fuzz_must(image && sample);
	record.left = (size_t)fuzz_number(&input, 2);
	record.at = fuzz_take(&input, record.left, &record.left);
	bytes = fuzz_copy(&record);
	remote_image_parse(image, input);
	copied.process = (struct memory_reader){ remote_image_read, image };
	pauses = 0;
	if (clock_sample_parse(bytes, record.left, sample) == 0) {
		check_sample(sample, bytes, record.left);
	} else {
		/* Of one that is refused nothing is told. */
		sample->released = true;
	}
	if (!sample->released) {
		copied_memory_show(&copied, sample);
		read_ranges(sample, &reader);
		read_python(&copied, &reader, sample);
	}
	copied_memory_show(&copied, NULL);
	free(bytes);
	free(sample);
	free(image);
	return 0;
}
