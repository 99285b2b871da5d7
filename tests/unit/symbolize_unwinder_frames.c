/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The unwinder on frames that random stops rarely meet: of hand-written
 * functions with rare rules or none, of signal handlers, and with registers
 * that make no sense.
 */
#include "tests/unit/unwind_children.h"

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
void frames_raised_rsp(void);
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
	/* As libffi's ffi_call_unix64: rsp is above the slot before rbp is taken from it. */
	"frames_raised_rsp:\n"
	"	.cfi_startproc\n"
	"	push %rbp\n"
	"	.cfi_def_cfa_offset 16\n"
	"	.cfi_offset rbp, -16\n"
	"	mov %rsp, %rbp\n"
	"	.cfi_def_cfa_register rbp\n"
	"	lea 8(%rbp), %rsp\n"
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
				   frames_drap, frames_raised_rsp };

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

int main(void)
{
	const struct CMUnitTest nothing[] = { cmocka_unit_test(test_nothing_under_valgrind) };
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rules_of_assembly),
		cmocka_unit_test(test_stale_rbp),
		cmocka_unit_test(test_complex_rule_goes_to_libunwind),
		cmocka_unit_test(test_code_without_cfi_is_guessed),
		cmocka_unit_test(test_signal_frame),
		cmocka_unit_test(test_limits),
	};

	return under_valgrind() ? cmocka_run_group_tests(nothing, NULL, NULL)
				: cmocka_run_group_tests(tests, NULL, NULL);
}
