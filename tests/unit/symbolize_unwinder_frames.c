/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The unwinder on frames that random stops rarely meet: each scenario is a
 * child of this test that brings itself into the situation and stays there.
 * Being a fork, its functions have the addresses they have here.
 */
#include "tests/unit/under_valgrind.h"
#include "tests/unit/unwind_subject.h"

#include <dirent.h>
#include <dwarf.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <time.h>

#include <cmocka.h>

#define ADDRESS(function) ((remote_addr)(uintptr_t)(function))

/* Not a tail call: the frames are what is tested. */
#define CALL(statement)                                                                            \
	do {                                                                                       \
		statement;                                                                         \
		__asm__ volatile("" ::: "memory");                                                 \
	} while (0)

static void say_ready(void)
{
	live_must(write(STDOUT_FILENO, "\n", 1) == 1);
}

/* Never returns; the compiler is not to know. */
static __attribute__((noinline)) void stay(void)
{
	volatile bool forever = true;

	say_ready();
	while (forever)
		__asm__ volatile("pause");
}

/*
 * Hand-written functions. Each gets into its situation, with a stack as its
 * CFI says, and calls or becomes an endless loop; say_ready() came before.
 */
void frames_without_cfi(void);
void frames_register_cfa(void);
void frames_dereference(void);
void frames_dereference_8(void);
void frames_drap(void);
void frames_calls_with_rbx(void);
void frames_stale_rbp(void);
void frames_complex(void);
void frames_calls_complex(void);

/* clang-format off */
__asm__(".text\n"
	/* As in OpenBLAS: saves registers, takes room, says nothing. */
	"frames_without_cfi:\n"
	"	push %rbp\n"
	"	push %rbx\n"
	"	sub $200, %rsp\n"
	"	xor %ebp, %ebp\n"
	"1:	pause\n"
	"	jmp 1b\n"
	"	nop\n"
	/* CFA = r10. */
	"frames_register_cfa:\n"
	"	.cfi_startproc\n"
	"	lea 8(%rsp), %r10\n"
	"	.cfi_def_cfa r10, 0\n"
	"	and $-64, %rsp\n"
	"	sub $128, %rsp\n"
	"1:	pause\n"
	"	jmp 1b\n"
	"	.cfi_endproc\n"
	/* CFA = *(rsp + 24): as OpenSSL's, the old stack pointer is kept in the frame. */
	"frames_dereference:\n"
	"	.cfi_startproc\n"
	"	lea 8(%rsp), %rax\n"
	"	.cfi_def_cfa rax, 0\n"
	"	sub $256, %rsp\n"
	"	and $-128, %rsp\n"
	"	mov %rax, 24(%rsp)\n"
	"	.cfi_escape 0x0f, 3, 0x77, 24, 0x06\n"
	"	xor %eax, %eax\n"
	"1:	pause\n"
	"	jmp 1b\n"
	"	.cfi_endproc\n"
	/* The same with the pointer before the call's push; rbp pushed. */
	"frames_dereference_8:\n"
	"	.cfi_startproc\n"
	"	push %rbp\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	.cfi_rel_offset rbp, 0\n"
	"	lea 8(%rsp), %rax\n"
	"	.cfi_def_cfa rax, 8\n"
	"	sub $256, %rsp\n"
	"	and $-128, %rsp\n"
	"	mov %rax, 24(%rsp)\n"
	"	.cfi_escape 0x0f, 5, 0x77, 24, 0x06, 0x23, 8\n"
	"	xor %eax, %eax\n"
	"	xor %ebp, %ebp\n"
	"1:	pause\n"
	"	jmp 1b\n"
	"	.cfi_endproc\n"
	/* GCC's realigned stack; stays in a callee, so that rsp is of no use. */
	"frames_drap:\n"
	"	.cfi_startproc\n"
	"	lea 8(%rsp), %r10\n"
	"	.cfi_def_cfa r10, 0\n"
	"	and $-32, %rsp\n"
	"	push -8(%r10)\n"
	"	push %rbp\n"
	"	mov %rsp, %rbp\n"
	"	.cfi_escape 0x10, 6, 2, 0x76, 0\n"
	"	push %r10\n"
	"	.cfi_escape 0x0f, 3, 0x76, 0x78, 0x06\n"
	"	sub $40, %rsp\n"
	"	call frames_leaf\n"
	"	.cfi_endproc\n"
	"frames_leaf:\n"
	"	.cfi_startproc\n"
	"1:	pause\n"
	"	jmp 1b\n"
	"	.cfi_endproc\n"
	/* CFA = rbx, and not the innermost frame: only who keeps rbx can go on. */
	"frames_calls_with_rbx:\n"
	"	.cfi_startproc\n"
	"	push %rbx\n"
	"	.cfi_def_cfa_offset 16\n"
	"	.cfi_offset rbx, -16\n"
	"	lea 16(%rsp), %rbx\n"
	"	.cfi_def_cfa rbx, 0\n"
	"	and $-64, %rsp\n"
	"	call frames_leaf\n"
	"	.cfi_endproc\n"
	/* GCC's epilogue: rbp is back, its rule is not; the slot has been used since. */
	"frames_stale_rbp:\n"
	"	.cfi_startproc\n"
	"	push %rbp\n"
	"	.cfi_def_cfa_offset 16\n"
	"	.cfi_offset rbp, -16\n"
	"	mov %rsp, %rbp\n"
	"	pop %rbp\n"
	"	.cfi_def_cfa rsp, 8\n"
	"	movq $12345, -8(%rsp)\n"
	"1:	pause\n"
	"	jmp 1b\n"
	"	.cfi_endproc\n"
	/* Pops its argument on return: the return address is not below the CFA. */
	"frames_complex:\n"
	"	.cfi_startproc\n"
	"	.cfi_def_cfa rsp, 16\n"
	"	.cfi_offset rip, -16\n"
	"1:	pause\n"
	"	jmp 1b\n"
	"	.cfi_endproc\n"
	"frames_calls_complex:\n"
	"	.cfi_startproc\n"
	"	push $0\n"
	"	call frames_complex\n"
	"	nop\n"
	"	ret\n"
	"	.cfi_endproc\n"
	/* musl's: no CFI, and the function before it ends where it begins. */
	"	.cfi_startproc\n"
	"	nop\n"
	"	.cfi_endproc\n"
	"frames_restorer:\n"
	"	mov $15, %rax\n"
	"	syscall\n");
/* clang-format on */

extern const char frames_restorer[];

/* A caller that finds its own frame by rbp, which its callee has to restore. */
static __attribute__((noinline, optimize("no-omit-frame-pointer"))) void call_by_rbp(
	void (*body)(void), size_t size)
{
	volatile char *room = __builtin_alloca(size);

	room[0] = 0;
	say_ready();
	CALL(body());
}

static void child_of_assembly(void *body)
{
	CALL(call_by_rbp(*(void (**)(void))body, 100));
}

static void child_in_vdso(void *context)
{
	struct timespec now;

	(void)context;
	say_ready();
	for (;;)
		clock_gettime(CLOCK_MONOTONIC, &now);
}

static struct subject open_stopped(void (*body)(void *), void *context, size_t stack_bytes)
{
	struct live_process *process = live_process_start(NULL, body, context);
	struct subject subject;

	assert_non_null(process);
	assert_true(live_process_wait_line(process));
	subject = subject_open(process);
	assert_true(live_process_seize(process));
	assert_true(live_process_stop(process));
	/* It may not have come from the line to the loop yet. */
	if (body != child_in_vdso)
		assert_true(live_process_settle(process));
	assert_true(live_process_copy(process, stack_bytes));
	return subject;
}

static size_t frame_of(const struct stack *stack, remote_addr function)
{
	size_t i = 0;

	while (i < stack->count && stack->frames[i].function != function)
		i++;
	assert_true(i < stack->count);
	return i;
}

/* The whole stack of an assembly function, innermost frame as given. */
static void unwind_assembly(void (*body)(void), struct subject *ret_subject,
			    struct stack *ret_stack)
{
	*ret_subject = open_stopped(child_of_assembly, &body, LIVE_STACK_BYTES_MAX);
	unwind_own(ret_subject, NULL, ret_stack);
	if (ret_stack->end != UNWIND_COMPLETE || !ends_in_start(ret_subject, ret_stack))
		print_stack(ret_subject, "own", ret_stack);
	assert_int_equal(ret_stack->end, UNWIND_COMPLETE);
	assert_true(ends_in_start(ret_subject, ret_stack));
	assert_true(frame_of(ret_stack, ADDRESS(child_of_assembly)) ==
		    frame_of(ret_stack, ADDRESS(call_by_rbp)) + 1);
}

static void test_rules_of_assembly(void **state)
{
	static struct stack own, reference;
	void (*bodies[])(void) = { frames_register_cfa, frames_dereference, frames_dereference_8,
				   frames_drap };

	(void)state;
	for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
		struct subject subject;

		unwind_assembly(bodies[i], &subject, &own);
		assert_true(frame_of(&own, ADDRESS(bodies[i])) + 1 ==
			    frame_of(&own, ADDRESS(call_by_rbp)));
		assert_int_equal(unwinder_counters(subject.unwinder).libunwind, 0);
		unwind_libunwind(&subject, &reference);
		assert_int_equal(reference.end, UNWIND_COMPLETE);
		assert_true(same_pcs(&own, &reference));
		for (size_t k = 0; k < own.count; k++) {
			assert_true(own.frames[k].sp == reference.frames[k].sp);
			assert_true(own.frames[k].cfa == reference.frames[k].cfa);
			assert_true(own.frames[k].function == reference.frames[k].function);
		}
		subject_close(&subject);
	}
}

static void test_stale_rbp(void **state)
{
	static struct stack own, reference;
	struct subject subject;

	(void)state;
	unwind_assembly(frames_stale_rbp, &subject, &own);
	assert_true(own.frames[0].function == ADDRESS(frames_stale_rbp));
	assert_true(own.frames[1].function == ADDRESS(call_by_rbp));
	/* libunwind believes the rule: why the two differ now and then. */
	unwind_libunwind(&subject, &reference);
	assert_true(reference.end != UNWIND_COMPLETE);
	subject_close(&subject);
}

static void test_complex_rule_goes_to_libunwind(void **state)
{
	static struct stack own;
	struct subject subject;
	struct native_frame few[2];
	size_t count;

	(void)state;
	unwind_assembly(frames_calls_complex, &subject, &own);
	assert_true(own.frames[0].function == ADDRESS(frames_complex));
	assert_true(own.frames[1].function == ADDRESS(frames_calls_complex));
	assert_true(own.frames[2].function == ADDRESS(call_by_rbp));
	assert_int_equal(unwinder_counters(subject.unwinder).libunwind, 1);
	assert_int_equal(unwinder_unwind(subject.unwinder, &subject.process->registers,
					 &subject.process->stack, NULL, few, 2, &count),
			 UNWIND_TOO_DEEP);
	assert_int_equal(count, 2);
	subject_close(&subject);

	unwind_assembly(frames_calls_with_rbx, &subject, &own);
	assert_true(own.frames[1].function == ADDRESS(frames_calls_with_rbx));
	assert_true(own.frames[2].function == ADDRESS(call_by_rbp));
	assert_int_equal(unwinder_counters(subject.unwinder).libunwind, 1);
	subject_close(&subject);
}

static void test_code_without_cfi_is_guessed(void **state)
{
	static struct stack own;
	struct subject subject;

	(void)state;
	unwind_assembly(frames_without_cfi, &subject, &own);
	assert_true(own.frames[0].function == 0);
	assert_true(own.frames[0].module != NULL);
	assert_true(own.frames[1].function == ADDRESS(call_by_rbp));
	for (size_t i = 0; i < own.count; i++)
		assert_true(own.frames[i].flags == (i == 1 ? NATIVE_FRAME_GUESSED : 0));
	assert_true(own.frames[0].cfa == own.frames[1].sp);
	subject_close(&subject);
}

static void handle_fault(int signal)
{
	(void)signal;
	CALL(stay());
}

static __attribute__((noinline)) void fault(void)
{
	__asm__ volatile("ud2");
}

struct fault_options {
	bool own_stack;
	bool own_restorer;
};

/* What glibc's sigaction() hides: with a restorer of our own. */
struct kernel_sigaction {
	void (*handler)(int);
	unsigned long flags;
	const char *restorer;
	unsigned long mask;
};

static void child_in_handler(void *context)
{
	static uint8_t handler_stack[64 * 1024];
	const struct fault_options *options = context;
	struct sigaction action = { .sa_handler = handle_fault, .sa_flags = SA_ONSTACK };
	stack_t stack = { .ss_sp = handler_stack, .ss_size = sizeof(handler_stack) };

	if (options->own_stack)
		sigaltstack(&stack, NULL);
	if (options->own_restorer) {
		struct kernel_sigaction raw = { handle_fault, 0x04000000 | SA_ONSTACK,
						frames_restorer, 0 };

		syscall(13 /* rt_sigaction */, SIGILL, &raw, NULL, sizeof(raw.mask));
	} else {
		sigaction(SIGILL, &action, NULL);
	}
	CALL(fault());
}

static void test_signal_frame(void **state)
{
	static struct stack own;

	(void)state;
	for (unsigned int i = 0; i < 4; i++) {
		struct fault_options options = { i & 1, i & 2 };
		struct subject subject =
			open_stopped(child_in_handler, &options, LIVE_STACK_BYTES_MAX);
		size_t interrupted;

		unwind_own(&subject, NULL, &own);
		if (own.end != UNWIND_COMPLETE)
			print_stack(&subject, "own", &own);
		assert_int_equal(own.end, UNWIND_COMPLETE);
		assert_true(ends_in_start(&subject, &own));
		interrupted = frame_of(&own, ADDRESS(fault));
		assert_true(frame_of(&own, ADDRESS(handle_fault)) + 2 == interrupted);
		assert_true(own.frames[interrupted + 1].function == ADDRESS(child_in_handler));
		for (size_t k = 0; k < own.count; k++)
			assert_true(own.frames[k].flags ==
				    (k == interrupted ? NATIVE_FRAME_SIGNAL : 0));
		assert_true(own.frames[interrupted - 1].cfa == own.frames[interrupted].sp);
		/* The snapshot holds the handler's stack only: the rest was read. */
		if (options.own_stack)
			assert_true(unwinder_counters(subject.unwinder).stack_reads > 0);
		subject_close(&subject);
	}
}

static __attribute__((noinline)) void recurse(unsigned int depth)
{
	volatile uint8_t room[1000];

	room[depth % sizeof(room)] = 0;
	if (depth == 0)
		CALL(stay());
	else
		CALL(recurse(depth - 1));
}

static void child_in_recursion(void *context)
{
	CALL(recurse(*(unsigned int *)context));
}

static void test_stack_longer_than_snapshot(void **state)
{
	static struct stack own;
	unsigned int depth = 100;
	struct subject subject;
	struct unwinder *without_reader;
	size_t count;

	(void)state;
	subject = open_stopped(child_in_recursion, &depth, 4096);
	unwind_own(&subject, NULL, &own);
	assert_int_equal(own.end, UNWIND_COMPLETE);
	assert_true(frame_of(&own, ADDRESS(child_in_recursion)) ==
		    frame_of(&own, ADDRESS(recurse)) + 101);
	assert_in_range(unwinder_counters(subject.unwinder).stack_reads, 3, 5);

	without_reader = unwinder_create(subject.modules, NULL);
	assert_int_equal(unwinder_unwind(without_reader, &subject.process->registers,
					 &subject.process->stack, NULL, own.frames, FRAMES_MAX,
					 &count),
			 UNWIND_STACK_MISSING);
	assert_in_range(count, 2, 6);
	unwinder_destroy(without_reader);
	subject_close(&subject);

	/* More than the reads one unwind may do. */
	depth = 450;
	subject = open_stopped(child_in_recursion, &depth, 4096);
	unwind_own(&subject, NULL, &own);
	assert_int_equal(own.end, UNWIND_STACK_MISSING);
	assert_true(own.count > 200);
	assert_int_equal(unwinder_counters(subject.unwinder).stack_reads, 8);
	subject_close(&subject);
}

static void *thread_body(void *argument)
{
	(void)argument;
	CALL(stay());
	return NULL;
}

static void child_with_thread(void *context)
{
	pthread_t thread;

	(void)context;
	pthread_create(&thread, NULL, thread_body, NULL);
	for (;;)
		pause();
}

static void test_other_thread(void **state)
{
	static struct stack own;
	struct live_process *process = live_process_start(NULL, child_with_thread, NULL);
	struct subject subject;
	struct dirent *entry;
	char path[64];
	DIR *tasks;

	(void)state;
	assert_true(live_process_wait_line(process));
	snprintf(path, sizeof(path), "/proc/%d/task", process->pid);
	tasks = opendir(path);
	while ((entry = readdir(tasks)) != NULL)
		if (atoi(entry->d_name) > process->pid)
			process->tid = atoi(entry->d_name);
	closedir(tasks);
	assert_true(process->tid != process->pid);
	subject = subject_open(process);
	assert_true(live_process_seize(process));
	assert_true(live_process_stop(process));
	assert_true(live_process_settle(process));
	assert_true(live_process_copy(process, LIVE_STACK_BYTES_MAX));
	unwind_own(&subject, NULL, &own);
	assert_int_equal(own.end, UNWIND_COMPLETE);
	assert_true(frame_of(&own, ADDRESS(thread_body)) > 0);
	assert_true(ends_in_start(&subject, &own));
	subject_close(&subject);
}

static void test_vdso(void **state)
{
	static struct stack own, reference;
	struct subject subject = open_stopped(child_in_vdso, NULL, LIVE_STACK_BYTES_MAX);
	unsigned int in_vdso = 0;

	(void)state;
	srand(2);
	for (unsigned int stop = 0; stop < 60; stop++) {
		unwind_own(&subject, NULL, &own);
		unwind_libunwind(&subject, &reference);
		assert_int_equal(own.end, UNWIND_COMPLETE);
		assert_true(same_pcs(&own, &reference));
		assert_true(frame_of(&own, ADDRESS(child_in_vdso)) < 4);
		in_vdso += strcmp(own.frames[0].module->name, "[vdso]") == 0;
		live_process_continue(subject.process);
		live_process_run(subject.process, (unsigned int)rand() % 500);
		assert_true(live_process_stop(subject.process));
		assert_true(live_process_copy(subject.process, LIVE_STACK_BYTES_MAX));
	}
	assert_true(in_vdso > 0);
	subject_close(&subject);
}

/* Opens a copy of each file whose search table says that there is none. */
static int open_without_table(void *context, const struct mapping *mapping)
{
	int file = live_process_open_file(context, mapping);
	int copy = memfd_create("copy", MFD_CLOEXEC);
	struct elf_image *image;
	char buffer[65536];
	ssize_t size;

	live_must(copy >= 0);
	if (file < 0 || elf_image_open(file, &image)) {
		close(copy);
		return file;
	}
	while ((size = read(file, buffer, sizeof(buffer))) > 0)
		live_must(write(copy, buffer, (size_t)size) == size);
	close(file);
	if (image->eh_frame_hdr_address) {
		static const uint8_t omit[] = { DW_EH_PE_omit, DW_EH_PE_omit };
		size_t available;
		const uint8_t *header =
			elf_image_at(image, image->eh_frame_hdr_address, &available);

		live_must(pwrite(copy, omit, sizeof(omit), header + 2 - image->bytes) ==
			  sizeof(omit));
	}
	elf_image_close(image);
	return copy;
}

static void test_file_without_search_table(void **state)
{
	static struct stack own, indexed;
	unsigned int depth = 20;
	struct subject subject = open_stopped(child_in_recursion, &depth, LIVE_STACK_BYTES_MAX);
	const struct mapping_opener opener = { open_without_table, subject.process };
	struct module_table *modules = module_table_create(&opener, &subject.process->reader);
	struct unwinder *unwinder;

	(void)state;
	assert_int_equal(module_table_update(modules, &subject.process->mappings), 0);
	unwinder = unwinder_create(modules, &subject.process->reader);
	unwind_own(&subject, NULL, &own);
	indexed.end =
		unwinder_unwind(unwinder, &subject.process->registers, &subject.process->stack,
				NULL, indexed.frames, FRAMES_MAX, &indexed.count);
	assert_int_equal(own.end, UNWIND_COMPLETE);
	assert_int_equal(indexed.end, UNWIND_COMPLETE);
	assert_true(same_pcs(&own, &indexed));
	for (size_t i = 0; i < own.count; i++)
		assert_true(own.frames[i].function == indexed.frames[i].function);
	unwinder_destroy(unwinder);
	module_table_destroy(modules);
	subject_close(&subject);
}

static void test_limits(void **state)
{
	static struct stack own;
	unsigned int depth = 20;
	struct subject subject = open_stopped(child_in_recursion, &depth, LIVE_STACK_BYTES_MAX);
	struct registers registers = subject.process->registers;
	struct native_frame frames[4];
	struct address_range range;
	struct address_ranges parts;
	size_t count = 7;

	(void)state;
	assert_int_equal(unwinder_unwind(subject.unwinder, &registers, &subject.process->stack,
					 NULL, frames, 0, &count),
			 UNWIND_TOO_DEEP);
	assert_int_equal(count, 0);
	assert_int_equal(unwinder_unwind(subject.unwinder, &registers, &subject.process->stack,
					 NULL, frames, 4, &count),
			 UNWIND_TOO_DEEP);
	assert_int_equal(count, 4);

	/* Called through a bad pointer. */
	registers.rip = 0x1000;
	assert_int_equal(unwinder_unwind(subject.unwinder, &registers, &subject.process->stack,
					 NULL, frames, 4, &count),
			 UNWIND_NO_MODULE);
	assert_int_equal(count, 1);
	assert_null(frames[0].module);

	/* Registers that make no sense with the stack. */
	for (unsigned int i = 0; i < 64; i++) {
		registers = subject.process->registers;
		registers.general[REGISTER_RSP] = ~(uint64_t)0 - i;
		registers.general[REGISTER_RBP] = ~(uint64_t)0 - i;
		own.end = unwinder_unwind(subject.unwinder, &registers, &subject.process->stack,
					  NULL, own.frames, FRAMES_MAX, &own.count);
		assert_true(own.end == UNWIND_STACK_MISSING || own.end == UNWIND_CORRUPT);
		registers.general[REGISTER_RSP] = i;
		own.end = unwinder_unwind(subject.unwinder, &registers, &subject.process->stack,
					  NULL, own.frames, FRAMES_MAX, &own.count);
		assert_true(own.end == UNWIND_STACK_MISSING || own.end == UNWIND_CORRUPT);
	}

	assert_int_equal(unwinder_function_range(subject.unwinder, 0x1000, &range), -ENOENT);
	assert_int_equal(
		unwinder_function_range(subject.unwinder, ADDRESS(frames_without_cfi) + 3, &range),
		-ENOENT);
	assert_int_equal(unwinder_function_range(subject.unwinder, ADDRESS(recurse) + 1, &range),
			 0);
	assert_true(range.start == ADDRESS(recurse));
	assert_int_equal(unwinder_function_parts(subject.unwinder, range, &parts), 0);
	assert_int_equal(parts.count, 1);
	range.start++;
	assert_int_equal(unwinder_function_parts(subject.unwinder, range, &parts), -ENOENT);
	subject_close(&subject);
}

/* Each child's frames are those of translated code. */
static void test_nothing_under_valgrind(void **state)
{
	(void)state;
	skip();
}

int main(void)
{
	const struct CMUnitTest nothing[] = { cmocka_unit_test(test_nothing_under_valgrind) };
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rules_of_assembly),
		cmocka_unit_test(test_stale_rbp),
		cmocka_unit_test(test_complex_rule_goes_to_libunwind),
		cmocka_unit_test(test_code_without_cfi_is_guessed),
		cmocka_unit_test(test_signal_frame),
		cmocka_unit_test(test_stack_longer_than_snapshot),
		cmocka_unit_test(test_other_thread),
		cmocka_unit_test(test_vdso),
		cmocka_unit_test(test_file_without_search_table),
		cmocka_unit_test(test_limits),
	};

	return under_valgrind() ? cmocka_run_group_tests(nothing, NULL, NULL)
				: cmocka_run_group_tests(tests, NULL, NULL);
}
