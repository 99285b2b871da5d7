/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames read from outside against what live interpreters print from inside,
 * on every interpreter found, by every source of offsets it has.
 */
#include "held_stacks.h"

/* System calls for a stack whose like was read before. */
#define WARM_CALLS_MAX 6

/* The C stack from sp up, as far as it is mapped and fits. */
static struct stack_snapshot copy_stack(struct session *session, uint64_t sp)
{
	uint64_t start = sp - STACK_RED_ZONE_BYTES;
	struct stack_snapshot snapshot = { .start = start, .bytes = session->stack_bytes };

	while (snapshot.size < STACK_COPY) {
		size_t part = 4096 - ((start + snapshot.size) & 4095);

		if (part > STACK_COPY - snapshot.size)
			part = STACK_COPY - snapshot.size;
		if (memory_read(&session->reader, start + snapshot.size,
				session->stack_bytes + snapshot.size, part))
			break;
		snapshot.size += part;
	}
	return snapshot;
}

/* hold() is in a call, whatever the version calls that (3.11: a specialised PRECALL makes it). */
static bool calls(const struct python_frame *frame)
{
	const char *name = python_code_opcode(frame->code, frame->instruction_offset);

	return name && (strncmp(name, "CALL", 4) == 0 || strcmp(name, "PRECALL") == 0);
}

static unsigned check_stacks(struct session *session, struct python_runtime *runtime)
{
	static struct python_stack stack;
	unsigned wrong = 0;

	for (size_t i = 0; i < session->count; i++) {
		const struct expected_stack *expected = &session->stacks[i];
		struct stack_snapshot snapshot;
		unsigned long cold, warm;
		uint64_t sp;

		assert_true(live_thread_wait_syscall(session->target.pid, expected->tid, SYS_read,
						     &sp));
		cold = session->memory.calls;
		assert_int_equal(python_stack_read(runtime, expected->tid, NULL, &stack), 0);
		cold = session->memory.calls - cold;
		wrong += !same_stack(&stack, expected, true);
		warm = session->memory.calls;
		assert_int_equal(python_stack_read(runtime, expected->tid, NULL, &stack), 0);
		warm = session->memory.calls - warm;
		wrong += !same_stack(&stack, expected, true);
		if (warm > WARM_CALLS_MAX) {
			print_error("%s: %lu calls warm, %lu cold\n", expected->name, warm, cold);
			wrong++;
		}
		snapshot = copy_stack(session, sp);
		assert_int_equal(python_stack_read(runtime, expected->tid, &snapshot, &stack), 0);
		wrong += !same_stack(&stack, expected, true);
		if (stack.count && !calls(&stack.frames[0])) {
			print_error("%s: hold() is at %s\n", expected->name,
				    python_code_opcode(stack.frames[0].code,
						       stack.frames[0].instruction_offset));
			wrong++;
		}
	}
	return wrong;
}

static void test_frames(void **state)
{
	static const char *const sources[] = { "debug offsets", "DWARF", "built-in table" };
	const struct live_pythons *pythons = live_pythons();
	unsigned wrong = 0;

	(void)state;
	for (size_t i = 0; i < pythons->count; i++) {
		struct session session;

		session_start(&session, &pythons->items[i]);
		for (int dwarf = 1; dwarf >= 0; dwarf--) {
			struct error error;
			struct python_runtime *runtime;
			struct python_version version;
			unsigned now;

			session.binary.use_dwarf = dwarf;
			runtime = python_runtime_create(&session.info, &session.reader, &error);
			if (!runtime)
				fail_msg("3.%d: %s", pythons->items[i].minor, error.cause);
			version = python_runtime_version(runtime);
			now = check_stacks(&session, runtime);
			print_message("3.%d.%d by %s: %zu stacks, %u wrong%s\n", version.minor,
				      version.micro,
				      sources[python_runtime_offsets_source(runtime)],
				      session.count, now,
				      extension_built ? "" : " (no headers: no C extension)");
			assert_int_equal(version.major, 3);
			assert_int_equal(version.minor, pythons->items[i].minor);
			assert_int_equal(version.micro, pythons->items[i].micro);
			wrong += now;
			python_runtime_destroy(runtime);
		}
		session_end(&session);
	}
	assert_int_equal(wrong, 0);
	if (!pythons->count)
		skip();
}

/* A thread without Python, one that does not exist, and one that starts later. */
static void test_unknown_threads(void **state)
{
	const struct live_pythons *pythons = live_pythons();
	static struct python_stack stack;

	(void)state;
	for (size_t i = 0; i < pythons->count; i++) {
		struct session session;
		struct error error;
		struct python_runtime *runtime;
		unsigned long calls_before;

		session_start(&session, &pythons->items[i]);
		runtime = python_runtime_create(&session.info, &session.reader, &error);
		assert_non_null(runtime);
		assert_int_equal(python_stack_read(runtime, 0, NULL, &stack), -ESRCH);
		assert_int_equal(python_stack_read(runtime, 1, NULL, &stack), -ESRCH);
		calls_before = session.memory.calls;
		assert_int_equal(python_stack_read(runtime, 1, NULL, &stack), -ESRCH);
		assert_int_equal(session.memory.calls, calls_before + 1);
		python_runtime_destroy(runtime);
		session_end(&session);
	}
	if (!pythons->count)
		skip();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_frames),
		cmocka_unit_test(test_unknown_threads),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
