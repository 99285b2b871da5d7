/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What frame_places_of() tells to copy of a thread is enough: its stack is read from the copies as
 * from the thread itself, on every interpreter found, with garbage for all else that changes.
 */
#include "pyintrospect/frame_places.h"

#include "copied_thread.h"
#include "held_stacks.h"
#include "pyintrospect/thread_list.h"

struct copies {
	struct copied_thread thread;
	const struct python_stack *frames; /* NULL: the process is as it was copied */
	size_t frame_bytes;
};

static bool overlaps(const struct memory_range *range, remote_addr address, size_t size)
{
	return range->address < address + size && address < range->address + range->size;
}

/* Code objects stand still; frames, thread states and words do not. */
static bool changes(const struct copies *copies, const struct memory_range *range)
{
	for (size_t i = 0; i < copies->thread.count; i++)
		if (overlaps(range, copies->thread.pieces[i].address,
			     copies->thread.pieces[i].size))
			return true;
	for (size_t i = 0; copies->frames && i < copies->frames->count; i++)
		if (overlaps(range, copies->frames->frames[i].address, copies->frame_bytes))
			return true;
	return false;
}

static void put_copies(const struct copies *copies, const struct memory_range *range)
{
	for (size_t i = 0; i < copies->thread.count; i++) {
		remote_addr start = copies->thread.pieces[i].address;
		remote_addr end = start + copies->thread.pieces[i].size;

		if (!overlaps(range, start, copies->thread.pieces[i].size))
			continue;
		if (start < range->address)
			start = range->address;
		if (end > range->address + range->size)
			end = range->address + range->size;
		memcpy((uint8_t *)range->buffer + (start - range->address),
		       copies->thread.pieces[i].bytes + (start - copies->thread.pieces[i].address),
		       end - start);
	}
}

static int read_copies(void *context, struct memory_range *ranges, size_t count)
{
	struct copies *copies = context;
	int error = copies->thread.process.read(copies->thread.process.context, ranges, count);

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

	copies->thread.count = 0;
	copies->frames = NULL;
	assert_int_equal(python_stack_read(runtime, expected->tid, NULL, &stopped), 0);
	copied_thread_take(&copies->thread, places, thread);
	/* Those whose frames are more than are copied need the process. */
	if (expected->count < COPIED_FRAMES_MAX) {
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
	copied_thread_deinit(&copies->thread);
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
	copies.thread.process = session.reader;
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
