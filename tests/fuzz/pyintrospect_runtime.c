/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An interpreter in a process made of the input (remote_image.h): which version
 * it is, where its structures are and how they are laid out, then stacks, what
 * their frames work on and the names in their code, threads, tasks and the GIL.
 */
#include "pyintrospect/asyncio_task.h"
#include "pyintrospect/code_names.h"
#include "pyintrospect/gil.h"
#include "pyintrospect/operand_reader.h"
#include "pyintrospect/python_sources.h"
#include "pyintrospect/thread_list.h"
#include "tests/fuzz/remote_image.h"

#include <time.h>

/* What one question may read before the process is gone: far above what any needs. */
#define READS_MAX 5000
/* As in runtime.c, VALIDATION_ATTEMPTS. */
#define ATTEMPTS 50

static struct remote_image *image;
static unsigned pauses;

/*
 * runtime.c looks again for 50 ms at a process that may be caught between two
 * states. This one stands still, so the further looks see nothing.
 */
int nanosleep(const struct timespec *duration, struct timespec *left)
{
	(void)duration;
	(void)left;
	image->reads_left = ++pauses % ATTEMPTS ? 0 : READS_MAX;
	return 0;
}

static void read_frames(const struct python_frame *frames, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct python_frame *frame = &frames[i];

		fuzz_must(frame->code);
		fuzz_read_string(frame->code->function);
		fuzz_read_string(frame->code->file);
		(void)python_code_line(frame->code, frame->instruction_offset);
		fuzz_read_string(python_code_opcode(frame->code, frame->instruction_offset));
	}
}

static void read_names(const struct python_runtime *runtime, const struct python_code *code)
{
	struct code_names names;
	char name[32];

	image->reads_left = READS_MAX;
	if (code_names_find(runtime, code, &names) != 0)
		return;
	for (int kind = PYTHON_NAMES; kind <= PYTHON_CELLS; kind++)
		for (uint32_t i = 0; i < 2; i++)
			if (code_names_read(&names, (enum python_names)kind, i, name,
					    sizeof(name)) == 0)
				fuzz_must(strlen(name) < sizeof(name));
}

/* Of the innermost frames: what they work on, and what their code calls it. */
static void read_operands(const struct python_runtime *runtime, const struct python_stack *stack)
{
	static const size_t frames[OPERAND_FRAMES_MAX] = { 0, 1, 2, 3 };
	struct operand_sample samples[OPERAND_FRAMES_MAX];
	struct operand_reader *reader = operand_reader_create(runtime);
	size_t count = stack->count < OPERAND_FRAMES_MAX ? stack->count : OPERAND_FRAMES_MAX;

	fuzz_must(reader);
	image->reads_left = READS_MAX;
	if (operand_reader_read(reader, stack, frames, count, samples) == 0)
		for (size_t i = 0; i < count; i++) {
			fuzz_must(samples[i].operand_count <= OPERANDS_MAX &&
				  samples[i].operand_count <= samples[i].operand_total);
			fuzz_must(samples[i].loop_count <= OPERAND_LOOPS_MAX);
			fuzz_must(samples[i].argument_count <= OPERAND_ARGUMENTS_MAX);
		}
	for (size_t i = 0; i < count; i++)
		read_names(runtime, stack->frames[i].code);
	operand_reader_destroy(reader);
}

/* The copy of a C stack, of an exact size; the caller frees its bytes. NULL: there is none. */
static uint8_t *copy_stack(struct stack_snapshot *ret_stack)
{
	uint8_t *bytes;
	uint64_t size;

	if (remote_image_place(image, IMAGE_SYMBOL, IMAGE_STACK, &ret_stack->start, &size) != 0 ||
	    size > 4 * IMAGE_STACK_BYTES)
		return NULL;
	bytes = malloc(size ? size : 1);
	fuzz_must(bytes);
	if (remote_image_copy(image, ret_stack->start, bytes, size) != 0) {
		free(bytes);
		return NULL;
	}
	ret_stack->bytes = bytes;
	ret_stack->size = size;
	return bytes;
}

static void read_stacks(struct python_runtime *runtime, struct python_stack *stack)
{
	static int (*const readers[])(struct python_runtime *, pid_t,
				      struct python_stack *) = { python_stack_read_running,
								 python_stack_read_passing };
	pid_t tid = (pid_t)image->tid;
	struct stack_snapshot snapshot;
	uint8_t *copy = copy_stack(&snapshot);

	for (unsigned round = 0; round < 2; round++) {
		image->reads_left = READS_MAX;
		if (python_stack_read(runtime, tid, copy ? &snapshot : NULL, stack) == 0) {
			fuzz_must(stack->count <= PYTHON_STACK_FRAMES_MAX);
			read_frames(stack->frames, stack->count);
			read_operands(runtime, stack);
		}
		image->reads_left = READS_MAX;
		if (readers[round](runtime, tid, stack) == 0) {
			fuzz_must(stack->count <= PYTHON_STACK_FRAMES_MAX);
			read_frames(stack->frames, stack->count);
		}
	}
	free(copy);
}

static void read_lists(struct python_runtime *runtime)
{
	struct asyncio_task_list tasks;
	struct python_thread_list threads;
	struct python_sources sources;

	image->reads_left = READS_MAX;
	if (python_thread_list_read(runtime, &threads) != 0)
		return;
	fuzz_must(threads.count <= PYTHON_THREADS_MAX);
	for (size_t i = 0; i < threads.count; i++)
		fuzz_read_string(threads.items[i].name);
	image->reads_left = READS_MAX;
	if (asyncio_task_list_read(runtime, &threads, &tasks) == 0) {
		fuzz_must(tasks.count <= ASYNCIO_TASKS_MAX);
		for (size_t i = 0; i < tasks.count; i++) {
			fuzz_read_string(tasks.items[i].name);
			fuzz_must(tasks.items[i].frame_count <= ASYNCIO_FRAMES_MAX);
			read_frames(tasks.items[i].frames, tasks.items[i].frame_count);
		}
		asyncio_task_list_deinit(&tasks);
	}
	python_thread_list_deinit(&threads);
	image->reads_left = READS_MAX;
	if (python_sources_read(runtime, &sources) != 0)
		return;
	fuzz_must(sources.count <= PYTHON_SOURCES_MAX);
	for (size_t i = 0; i < sources.count; i++) {
		fuzz_read_string(sources.items[i].name);
		fuzz_must(sources.items[i].size &&
			  sources.items[i].text[sources.items[i].size - 1] == '\n');
	}
	for (size_t i = 0; i < sources.title_count; i++)
		fuzz_read_string(sources.titles[i].name);
	python_sources_deinit(&sources);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct python_stack *stack = malloc(sizeof(*stack));
	struct python_runtime *runtime;
	struct address_ranges locks;
	struct memory_reader reader;
	struct error error = { 0 };
	struct debug_info info;

	image = calloc(1, sizeof(*image));
	fuzz_must(image && stack);
	remote_image_parse(image, (struct fuzz_input){ data, size });
	image->reads_left = READS_MAX;
	pauses = 0;
	info = remote_image_info(image);
	reader = (struct memory_reader){ remote_image_read, image };
	(void)python_runtime_in(&info);
	(void)python_runtime_hidden_in(&info, &reader);
	image->reads_left = READS_MAX;
	runtime = python_runtime_create(&info, &reader, &error);
	fuzz_must(runtime || error.cause[0]);
	if (runtime) {
		read_stacks(runtime, stack);
		image->is_later = true;
		read_stacks(runtime, stack);
		read_lists(runtime);
		image->reads_left = READS_MAX;
		if (gil_read_locks(runtime, &locks) == 0)
			fuzz_must(locks.count <= ADDRESS_RANGES_MAX);
	}
	python_runtime_destroy(runtime);
	free(image);
	free(stack);
	return 0;
}
