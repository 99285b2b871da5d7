/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks whose like was read before are read without an allocation. */
#include "held_stacks.h"

/* An allocator that counts; the sanitizers bring their own. */
#if !defined(__SANITIZE_ADDRESS__)
#define COUNTS_ALLOCATIONS true
static unsigned long allocations;

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);

void *malloc(size_t size)
{
	__atomic_add_fetch(&allocations, 1, __ATOMIC_RELAXED);
	return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	__atomic_add_fetch(&allocations, 1, __ATOMIC_RELAXED);
	return __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
	__atomic_add_fetch(&allocations, 1, __ATOMIC_RELAXED);
	return __libc_realloc(old, size);
}
#else
#define COUNTS_ALLOCATIONS false
static const unsigned long allocations;
#endif

static void test_no_allocation_once_warm(void **state)
{
	const struct live_pythons *pythons = live_pythons();
	static struct python_stack stack;

	(void)state;
	if (!COUNTS_ALLOCATIONS)
		print_message("the sanitizer's allocator is in the way\n");
	if (!COUNTS_ALLOCATIONS || !pythons->count)
		skip();
	for (size_t i = 0; i < pythons->count; i++) {
		struct session session;
		struct error error;
		struct python_runtime *runtime;

		session_start(&session, &pythons->items[i]);
		runtime = python_runtime_create(&session.info, &session.reader, &error);
		assert_non_null(runtime);
		for (size_t j = 0; j < session.count; j++) {
			unsigned long before;
			uint64_t sp;

			assert_true(live_thread_wait_syscall(session.target.pid,
							     session.stacks[j].tid, SYS_read, &sp));
			for (unsigned k = 0; k < 2; k++)
				assert_int_equal(python_stack_read(runtime, session.stacks[j].tid,
								   NULL, &stack),
						 0);
			before = allocations;
			for (unsigned k = 0; k < 20; k++)
				assert_int_equal(python_stack_read(runtime, session.stacks[j].tid,
								   NULL, &stack),
						 0);
			assert_int_equal(allocations - before, 0);
		}
		python_runtime_destroy(runtime);
		session_end(&session);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_allocation_once_warm),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
