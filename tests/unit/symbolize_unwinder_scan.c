/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacks behind code that nobody describes: hand-written kernels with large
 * frames, and code generated at run time, which is in no file.
 */
#include "tests/unit/under_valgrind.h"
#include "tests/unit/unwind_subject.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define SNAPSHOT_BYTES (32u * 1024)

/* A system call and nothing else: the stack stays clear. */
static inline __attribute__((always_inline)) void say_ready(void)
{
	static const char line[] = "\n";
	long result = 1; /* write */

	__asm__ volatile("syscall"
			 : "+a"(result)
			 : "D"((long)STDOUT_FILENO), "S"(line), "d"(1L)
			 : "rcx", "r11", "memory");
}

/*
 * As OpenBLAS's kernels: registers saved, then a buffer at a page's beginning,
 * larger than what is copied of the stack. rbp is used for something else.
 */
void scan_large_frame(void);
/* Calls its argument, in a frame that hangs on rbp. */
void scan_call(void (*code)(void));

__asm__(".text\n"
	"scan_large_frame:\n"
	"	sub $0x60, %rsp\n"
	"	mov %rbx, (%rsp)\n"
	"	mov %rbp, 8(%rsp)\n"
	"	mov %rsp, %rbx\n"
	"	sub $0xc080, %rsp\n"
	"	and $-4096, %rsp\n"
	"	mov $0x1234567890, %rbp\n"
	"1:	pause\n"
	"	jmp 1b\n"
	"scan_call:\n"
	"	.cfi_startproc\n"
	"	push %rbp\n"
	"	.cfi_def_cfa_offset 16\n"
	"	.cfi_offset rbp, -16\n"
	"	mov %rsp, %rbp\n"
	"	.cfi_def_cfa_register rbp\n"
	"	sub $0x120, %rsp\n"
	"	call *%rdi\n"
	"	leave\n"
	"	ret\n"
	"	.cfi_endproc\n");

/* push %rbp; sub $0x100, %rsp; xor %ebp, %ebp; 1: pause; jmp 1b */
static const uint8_t generated[] = { 0x55, 0x48, 0x81, 0xec, 0x00, 0x01, 0x00,
				     0x00, 0x31, 0xed, 0xf3, 0x90, 0xeb, 0xfc };

/* What earlier calls have left on the stack would make for other guesses. */
static __attribute__((noinline)) void clear_stack(void)
{
	uint8_t bytes[96 * 1024];

	memset(bytes, 0, sizeof(bytes));
	__asm__ volatile("" ::"r"(bytes) : "memory");
}

static void child_in_large_frame(void *context)
{
	(void)context;
	clear_stack();
	say_ready();
	scan_call(scan_large_frame);
	__asm__ volatile(""); /* no tail call */
}

static void child_in_generated_code(void *context)
{
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void (*code)(void);

	(void)context;
	live_must(page != MAP_FAILED);
	memcpy(page, generated, sizeof(generated));
	memcpy(&code, &page, sizeof(code));
	clear_stack();
	say_ready();
	scan_call(code);
	__asm__ volatile("");
}

static struct subject open_settled(void (*body)(void *))
{
	struct live_process *process;
	struct subject subject;

	if (under_valgrind())
		skip();
	process = live_process_start(NULL, body, NULL);
	assert_non_null(process);
	assert_true(live_process_wait_line(process));
	subject = subject_open(process);
	assert_true(live_process_seize(process));
	assert_true(live_process_stop(process));
	assert_true(live_process_copy(process, SNAPSHOT_BYTES));
	assert_true(live_process_settle(process));
	assert_true(live_process_copy(process, SNAPSHOT_BYTES));
	return subject;
}

/* The caller, and all of its callers, with the guess marked as one. */
static void assert_guessed(const struct subject *subject, const struct stack *stack,
			   void (*body)(void *))
{
	assert_int_equal(stack->end, UNWIND_COMPLETE);
	assert_true(ends_in_start(subject, stack));
	assert_true(stack->count > 4);
	assert_true(stack->frames[0].function == 0);
	assert_true(stack->frames[1].function == (remote_addr)(uintptr_t)scan_call);
	assert_true(stack->frames[2].function == (remote_addr)(uintptr_t)body);
	for (size_t i = 0; i < stack->count; i++)
		assert_true(stack->frames[i].flags == (i == 1 ? NATIVE_FRAME_GUESSED : 0));
	assert_true(stack->frames[0].cfa == stack->frames[1].sp);
}

static void test_frame_larger_than_snapshot(void **state)
{
	static struct stack own;
	struct subject subject = open_settled(child_in_large_frame);

	(void)state;
	unwind_own(&subject, NULL, &own);
	assert_true(own.frames[0].module != NULL);
	assert_guessed(&subject, &own, child_in_large_frame);
	assert_true(own.frames[1].sp - own.frames[0].sp > SNAPSHOT_BYTES);
	subject_close(&subject);
}

/* The first time it might be a library that the module table does not know yet. */
static void test_generated_code(void **state)
{
	static struct stack own;
	struct subject subject = open_settled(child_in_generated_code);

	(void)state;
	for (unsigned int round = 0; round < 2; round++) {
		unwind_own(&subject, NULL, &own);
		assert_int_equal(own.end, UNWIND_NO_MODULE);
		assert_int_equal(own.count, 1);
		assert_null(own.frames[0].module);
		for (unsigned int i = 0; i < 3; i++) {
			unwind_own(&subject, NULL, &own);
			assert_null(own.frames[0].module);
			assert_guessed(&subject, &own, child_in_generated_code);
		}
		unwinder_flush(subject.unwinder);
	}
	subject_close(&subject);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_frame_larger_than_snapshot),
		cmocka_unit_test(test_generated_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
