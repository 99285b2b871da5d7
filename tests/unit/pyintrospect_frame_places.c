/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What frame_places_of() tells to copy of a thread is enough: its stack is read from the copies as
 * from the thread itself, on every interpreter found, with garbage for all else that changes.
 */
#include "pyintrospect/frame_places.h"

#include "held_stacks.h"
#include "pyintrospect/thread_list.h"

/* As attach/bpf/clock.bpf.c copies. */
#define CHUNK_BYTES 16384u
#define FRAMES_MAX  160u
#define CFRAMES_MAX 64u
#define PIECES_MAX  256u

struct copies {
	struct memory_reader process;
	size_t count;
	const struct python_stack *frames; /* NULL: the process is as it was copied */
	size_t frame_bytes;
	struct {
		remote_addr address;
		size_t size;
		uint8_t *bytes;
	} pieces[PIECES_MAX];
};

static uint64_t word_at(const struct copies *copies, remote_addr address)
{
	uint64_t word;

	return memory_read_u64(&copies->process, address, &word) ? 0 : word;
}

static void copy_piece(struct copies *copies, remote_addr address, size_t size)
{
	uint8_t *bytes = malloc(size);

	assert_non_null(bytes);
	assert_true(copies->count < PIECES_MAX);
	if (memory_read(&copies->process, address, bytes, size)) {
		free(bytes);
		return;
	}
	copies->pieces[copies->count].address = address;
	copies->pieces[copies->count].size = size;
	copies->pieces[copies->count++].bytes = bytes;
}

static void copy_chunk(struct copies *copies, const struct frame_places *places, remote_addr thread)
{
	remote_addr start, end;

	if (places->offsets->thread_chunk == OFFSET_ABSENT)
		return;
	start = word_at(copies, thread + (uint64_t)places->offsets->thread_chunk);
	end = word_at(copies, thread + (uint64_t)places->offsets->thread_chunk_top);
	if (end - start > CHUNK_BYTES)
		start = end - CHUNK_BYTES;
	if (start && end > start)
		copy_piece(copies, start, end - start);
}

/* The first frame. */
static remote_addr copy_cframes(struct copies *copies, const struct frame_places *places,
				remote_addr thread)
{
	const struct python_offsets *offsets = places->offsets;
	remote_addr at, first;

	if (offsets->thread_cframe == OFFSET_ABSENT)
		return word_at(copies, thread + (uint64_t)offsets->thread_frame);
	at = word_at(copies, thread + (uint64_t)offsets->thread_cframe);
	first = word_at(copies, at + (uint64_t)offsets->cframe_current);
	for (unsigned i = 0; at && i < CFRAMES_MAX; i++) {
		copy_piece(copies, at, places->cframe_bytes);
		at = word_at(copies, at + (uint64_t)offsets->cframe_previous);
	}
	return first;
}

static void copy_thread(struct copies *copies, const struct frame_places *places,
			remote_addr thread)
{
	remote_addr frame;

	copies->count = 0;
	copy_piece(copies, thread, places->thread_bytes);
	for (size_t i = 0; i < places->word_count; i++)
		copy_piece(copies, places->words[i].start,
			   places->words[i].end - places->words[i].start);
	copy_chunk(copies, places, thread);
	frame = copy_cframes(copies, places, thread);
	for (unsigned i = 0; frame && i < FRAMES_MAX; i++) {
		copy_piece(copies, frame, places->frame_bytes);
		frame = word_at(copies, frame + (uint64_t)places->offsets->frame_previous);
	}
}

static void free_copies(struct copies *copies)
{
	while (copies->count)
		free(copies->pieces[--copies->count].bytes);
}

static bool overlaps(const struct memory_range *range, remote_addr address, size_t size)
{
	return range->address < address + size && address < range->address + range->size;
}

/* Code objects stand still; frames, thread states and words do not. */
static bool changes(const struct copies *copies, const struct memory_range *range)
{
	for (size_t i = 0; i < copies->count; i++)
		if (overlaps(range, copies->pieces[i].address, copies->pieces[i].size))
			return true;
	for (size_t i = 0; copies->frames && i < copies->frames->count; i++)
		if (overlaps(range, copies->frames->frames[i].address, copies->frame_bytes))
			return true;
	return false;
}

static void put_copies(const struct copies *copies, const struct memory_range *range)
{
	for (size_t i = 0; i < copies->count; i++) {
		remote_addr start = copies->pieces[i].address;
		remote_addr end = start + copies->pieces[i].size;

		if (!overlaps(range, start, copies->pieces[i].size))
			continue;
		if (start < range->address)
			start = range->address;
		if (end > range->address + range->size)
			end = range->address + range->size;
		memcpy((uint8_t *)range->buffer + (start - range->address),
		       copies->pieces[i].bytes + (start - copies->pieces[i].address), end - start);
	}
}

static int read_copies(void *context, struct memory_range *ranges, size_t count)
{
	struct copies *copies = context;
	int error = copies->process.read(copies->process.context, ranges, count);

	if (error || !copies->frames)
		return error;
	for (size_t i = 0; i < count; i++)
		if (!ranges[i].error && changes(copies, &ranges[i])) {
			memset(ranges[i].buffer, 0xdd, ranges[i].size);
			put_copies(copies, &ranges[i]);
		}
	return 0;
}

static remote_addr state_of(const struct python_thread_list *list, pid_t tid)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i].tid == tid)
			return list->items[i].state;
	return 0;
}

static unsigned check_stack(struct python_runtime *runtime, struct copies *copies,
			    const struct frame_places *places, remote_addr thread,
			    const struct expected_stack *expected)
{
	static struct python_stack stopped, copied;
	unsigned wrong = 0;

	copies->count = 0;
	copies->frames = NULL;
	assert_int_equal(python_stack_read(runtime, expected->tid, NULL, &stopped), 0);
	copy_thread(copies, places, thread);
	/* Those whose frames are more than are copied need the process. */
	if (expected->count < FRAMES_MAX) {
		copies->frames = &stopped;
		copies->frame_bytes = places->frame_bytes;
	}
	for (unsigned known = 0; known < 2; known++) {
		assert_int_equal(python_stack_read_copied(runtime, known ? expected->tid : 0,
							  thread, NULL, &copied),
				 0);
		wrong += !same_stack(&copied, expected, true);
		wrong += copied.gil != stopped.gil || copied.collecting != stopped.collecting;
	}
	copies->frames = NULL;
	free_copies(copies);
	return wrong;
}

static unsigned check_interpreter(const struct live_python *python)
{
	struct session session;
	struct copies copies = { 0 };
	struct memory_reader reader = { read_copies, &copies };
	struct python_thread_list list;
	struct python_runtime *runtime;
	struct frame_places places;
	struct error error;
	unsigned wrong = 0;
	uint64_t sp;

	session_start(&session, python);
	copies.process = session.reader;
	runtime = python_runtime_create(&session.info, &reader, &error);
	if (!runtime)
		fail_msg("3.%d: %s", python->minor, error.cause);
	for (size_t i = 0; i < session.count; i++)
		assert_true(live_thread_wait_syscall(session.target.pid, session.stacks[i].tid,
						     SYS_read, &sp));
	frame_places_of(runtime, &places);
	assert_true(places.word_count <= FRAME_PLACES_WORDS_MAX);
	assert_int_equal(python_thread_list_read(runtime, &list), 0);
	for (size_t i = 0; i < session.count; i++) {
		remote_addr thread = state_of(&list, session.stacks[i].tid);

		assert_true(thread != 0);
		wrong += check_stack(runtime, &copies, &places, thread, &session.stacks[i]);
	}
	print_message("3.%d: %zu stacks, %u wrong\n", python->minor, session.count, wrong);
	python_thread_list_deinit(&list);
	python_runtime_destroy(runtime);
	session_end(&session);
	return wrong;
}

static void test_copied_stacks(void **state)
{
	const struct live_pythons *pythons = live_pythons();
	unsigned wrong = 0;

	(void)state;
	for (size_t i = 0; i < pythons->count; i++)
		wrong += check_interpreter(&pythons->items[i]);
	assert_int_equal(wrong, 0);
	if (!pythons->count)
		skip();
}

/* What lies where a thread state is said to be is no such thing, or not there. */
static void test_no_state(void **state)
{
	const struct live_pythons *pythons = live_pythons();
	static struct python_stack stack;
	struct session session;
	struct python_runtime *runtime;
	struct error error;

	(void)state;
	if (!pythons->count)
		skip();
	session_start(&session, &pythons->items[0]);
	runtime = python_runtime_create(&session.info, &session.reader, &error);
	assert_non_null(runtime);
	assert_int_equal(python_stack_read_copied(runtime, 1, 8, NULL, &stack), -EFAULT);
	assert_int_equal(python_stack_read_copied(runtime, 1, UINT64_MAX - 8, NULL, &stack),
			 -EFAULT);
	if (python_stack_read_copied(runtime, 1, runtime->interpreters, NULL, &stack) == 0)
		assert_int_equal(stack.count, 0);
	python_runtime_destroy(runtime);
	session_end(&session);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_copied_stacks),
		cmocka_unit_test(test_no_state),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
