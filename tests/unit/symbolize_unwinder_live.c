/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libunwind-ptrace on stopped threads: frame by frame against the unwinder
 * over copies on random stops of interpreters, and on code without unwind
 * information, where frame pointers may be believed or must not be.
 */
#include "symbolize/unwinder_live.h"

#include "symbolize/symbol.h"
#include "tests/unit/assert_sampled.h"
#include "tests/unit/under_valgrind.h"
#include "tests/unit/unwind_subject.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define STOPS            64
#define INTERPRETERS_MAX 3

static void unwind_here(struct unwinder_live *live, const struct subject *subject,
			const struct address_ranges *until, struct stack *ret_stack)
{
	ret_stack->end = unwinder_live_unwind(live, subject->process->tid, until, ret_stack->frames,
					      FRAMES_MAX, &ret_stack->count);
}

static void assert_same_frames(const struct stack *a, const struct stack *b, size_t count)
{
	assert_true(a->count >= count);
	assert_true(b->count >= count);
	for (size_t i = 0; i < count; i++) {
		assert_true(a->frames[i].pc == b->frames[i].pc);
		assert_true(a->frames[i].sp == b->frames[i].sp);
		assert_true(a->frames[i].cfa == b->frames[i].cfa);
		assert_true(a->frames[i].function == b->frames[i].function);
		assert_ptr_equal(a->frames[i].module, b->frames[i].module);
		assert_int_equal(a->frames[i].flags, b->frames[i].flags);
	}
}

static bool has_guess(const struct stack *stack)
{
	for (size_t i = 0; i < stack->count; i++)
		if (stack->frames[i].flags & NATIVE_FRAME_GUESSED)
			return true;
	return false;
}

static bool find_eval(const struct subject *subject, struct address_ranges *ret_parts)
{
	struct symbolizer *symbolizer = symbolizer_create();
	bool found = false;

	for (size_t i = 0; !found && i < module_table_count(subject->modules); i++) {
		const struct module *module = module_table_get(subject->modules, i);
		remote_addr start;
		uint64_t size;

		found = module->image &&
			!symbolizer_find(symbolizer, module, "_PyEval_EvalFrameDefault", &start,
					 &size) &&
			!unwinder_function_parts(subject->unwinder,
						 (struct address_range){ start, start + size },
						 ret_parts);
	}
	symbolizer_destroy(symbolizer);
	return found;
}

static void refresh(struct subject *subject, struct unwinder_live *live)
{
	live_process_read_mappings(subject->process);
	assert_int_equal(module_table_update(subject->modules, &subject->process->mappings), 0);
	unwinder_flush(subject->unwinder);
	unwinder_live_flush(live);
}

/* False: this interpreter cannot run the workload. */
static bool unwind_interpreter(const char *path)
{
	char interpreter[PATH_MAX], option[] = "-c", program[sizeof(live_workload)];
	char *arguments[] = { interpreter, option, program, NULL };
	unsigned int compared = 0, unlike = 0, reached = 0, lost = 0;
	static struct stack own, whole, partial, cut;
	struct unwinder_live *live;
	struct live_process *process;
	struct address_ranges eval;
	struct subject subject;

	snprintf(interpreter, sizeof(interpreter), "%s", path);
	memcpy(program, live_workload, sizeof(program));
	process = live_process_start(arguments, NULL, NULL);
	assert_non_null(process);
	if (!live_process_wait_line(process)) {
		live_process_end(process);
		return false;
	}
	subject = subject_open(process);
	live = unwinder_live_create(subject.modules);
	assert_non_null(live);
	assert_true(find_eval(&subject, &eval));
	assert_true(live_process_seize(process));
	srand(2);
	for (unsigned int stop = 0; stop < STOPS; stop++) {
		live_process_run(process, (unsigned int)rand() % 3000);
		assert_true(live_process_stop(process));
		assert_true(live_process_copy(process, LIVE_STACK_BYTES_MAX));
		unwind_own(&subject, NULL, &own);
		if (own.end == UNWIND_NO_MODULE) {
			refresh(&subject, live);
			unwind_own(&subject, NULL, &own);
		}
		unwind_here(live, &subject, NULL, &whole);
		lost += whole.end != UNWIND_COMPLETE;
		if (own.end != UNWIND_COMPLETE || whole.end != UNWIND_COMPLETE || has_guess(&own) ||
		    has_guess(&whole)) {
			unlike++;
		} else {
			compared++;
			if (own.count != whole.count) {
				print_stack(&subject, "copies", &own);
				print_stack(&subject, "live", &whole);
			}
			assert_int_equal(own.count, whole.count);
			assert_same_frames(&own, &whole, own.count);
		}

		unwind_own(&subject, &eval, &cut);
		unwind_here(live, &subject, &eval, &partial);
		if (partial.end == UNWIND_STOPPED) {
			const struct native_frame *last = &partial.frames[partial.count - 1];

			reached++;
			assert_true(address_ranges_contain(
				&eval, native_frame_lookup_address(last, partial.count == 1)));
			assert_true(last->cfa > last->sp);
			assert_same_frames(&partial, &whole, partial.count);
			if (cut.end == UNWIND_STOPPED && !has_guess(&cut) && !has_guess(&partial)) {
				assert_int_equal(cut.count, partial.count);
				assert_same_frames(&cut, &partial, cut.count);
			}
		}

		/* An array too small holds the innermost frames all the same. */
		partial.end = unwinder_live_unwind(live, process->tid, NULL, partial.frames, 1,
						   &partial.count);
		assert_int_equal(partial.end,
				 whole.count > 1 ? (int)UNWIND_TOO_DEEP : (int)whole.end);
		assert_same_frames(&partial, &whole, 1);
		live_process_continue(process);
	}
	print_message("%s: compared %u, not comparable %u, eval reached %u of %u\n", path, compared,
		      unlike, reached, STOPS);
	/* Not out of functions that say nothing of their frames, as OpenBLAS has them. */
	assert_sampled(compared * 100 >= STOPS * 60);
	assert_sampled(reached * 100 >= (STOPS - lost) * 90);
	unwinder_live_destroy(live);
	subject_close(&subject);
	return true;
}

static void test_interpreters(void **state)
{
	struct live_interpreters found = live_interpreters_find();
	size_t unwound = 0;

	(void)state;
	for (size_t i = 0; i < found.count && unwound < INTERPRETERS_MAX; i++)
		unwound += unwind_interpreter(found.paths[i]);
	assert_true(unwound > 0);
	live_interpreters_free(&found);
}

/*
 * Both call their argument and have no unwind information; the second has a
 * frame pointer that is none.
 */
void call_with_frame_pointer(void (*function)(void));
void call_without_frame_pointer(void (*function)(void));

__asm__(".text\n"
	".globl call_with_frame_pointer\n"
	".type call_with_frame_pointer, @function\n"
	"call_with_frame_pointer:\n"
	"	push %rbp\n"
	"	mov %rsp, %rbp\n"
	"	call *%rdi\n"
	"	pop %rbp\n"
	"	ret\n"
	".size call_with_frame_pointer, . - call_with_frame_pointer\n"
	".globl call_without_frame_pointer\n"
	".type call_without_frame_pointer, @function\n"
	"call_without_frame_pointer:\n"
	"	push %rbp\n"
	"	lea call_without_frame_pointer(%rip), %rbp\n"
	"	call *%rdi\n"
	"	pop %rbp\n"
	"	ret\n"
	".size call_without_frame_pointer, . - call_without_frame_pointer\n");

static void write_line_and_loop(void)
{
	live_must(write(STDOUT_FILENO, "\n", 1) == 1);
	for (;;)
		__asm__ volatile("");
}

struct caller {
	void (*call)(void (*function)(void));
};

static __attribute__((noinline)) void run_caller(void *context)
{
	const struct caller *caller = context;

	caller->call(write_line_and_loop);
	__asm__ volatile(""); /* no tail call */
}

static struct subject subject_in_loop(struct caller *caller, struct unwinder_live **ret_live)
{
	struct live_process *process = live_process_start(NULL, run_caller, caller);
	struct subject subject;

	assert_non_null(process);
	assert_true(live_process_wait_line(process));
	subject = subject_open(process);
	*ret_live = unwinder_live_create(subject.modules);
	assert_non_null(*ret_live);
	assert_true(live_process_seize(process));
	assert_true(live_process_stop(process));
	assert_true(live_process_copy(process, LIVE_STACK_BYTES_MAX));
	assert_true(live_process_settle(process));
	return subject;
}

static struct address_ranges function_at(const struct subject *subject, void (*function)(void *))
{
	struct address_ranges ranges = { .count = 1 };

	/* A fork has its parent's addresses. */
	assert_int_equal(unwinder_function_range(subject->unwinder,
						 (remote_addr)(uintptr_t)function,
						 &ranges.items[0]),
			 0);
	return ranges;
}

static void test_frame_pointer(void **state)
{
	struct caller caller = { call_with_frame_pointer };
	static struct stack whole, partial;
	struct address_ranges until;
	struct unwinder_live *live;
	struct subject subject;

	(void)state;
	if (under_valgrind())
		skip(); /* the frames are those of translated code */
	subject = subject_in_loop(&caller, &live);
	unwind_here(live, &subject, NULL, &whole);
	assert_int_equal(whole.end, UNWIND_COMPLETE);
	assert_true(whole.count > 3);
	assert_true(whole.frames[0].function == (remote_addr)(uintptr_t)write_line_and_loop);
	assert_true(whole.frames[1].function == 0);
	assert_true(whole.frames[2].function == (remote_addr)(uintptr_t)run_caller);
	for (size_t i = 0; i < whole.count; i++) {
		assert_int_equal(whole.frames[i].flags, i == 2 ? NATIVE_FRAME_GUESSED : 0);
		if (i + 1 < whole.count)
			assert_true(whole.frames[i].cfa == whole.frames[i + 1].sp);
	}
	until = function_at(&subject, run_caller);
	unwind_here(live, &subject, &until, &partial);
	assert_int_equal(partial.end, UNWIND_STOPPED);
	assert_int_equal(partial.count, 3);
	assert_same_frames(&partial, &whole, 3);
	unwinder_live_destroy(live);
	subject_close(&subject);
}

static void test_no_frame_pointer(void **state)
{
	struct caller caller = { call_without_frame_pointer };
	static struct stack stack;
	struct address_ranges until;
	struct unwinder_live *live;
	struct subject subject;

	(void)state;
	if (under_valgrind())
		skip(); /* the frames are those of translated code */
	subject = subject_in_loop(&caller, &live);
	until = function_at(&subject, run_caller);
	unwind_here(live, &subject, &until, &stack);
	assert_int_equal(stack.end, UNWIND_NO_CFI);
	assert_int_equal(stack.count, 2);
	assert_true(stack.frames[1].cfa == 0);
	assert_false(has_guess(&stack));
	unwinder_live_destroy(live);
	subject_close(&subject);
}

static void test_no_module(void **state)
{
	struct caller caller = { call_without_frame_pointer };
	static struct stack stack;
	struct mapping_list empty = { .generation = 1000 };
	struct unwinder_live *live;
	struct subject subject;

	(void)state;
	subject = subject_in_loop(&caller, &live);
	assert_int_equal(module_table_update(subject.modules, &empty), 0);
	unwinder_live_flush(live);
	unwind_here(live, &subject, NULL, &stack);
	assert_int_equal(stack.end, UNWIND_NO_MODULE);
	assert_int_equal(stack.count, 1);
	assert_null(stack.frames[0].module);
	unwinder_live_destroy(live);
	subject_close(&subject);
}

static void test_not_stopped(void **state)
{
	struct caller caller = { call_with_frame_pointer };
	static struct stack stack;
	struct unwinder_live *live;
	struct subject subject;

	(void)state;
	subject = subject_in_loop(&caller, &live);
	live_process_continue(subject.process);
	unwind_here(live, &subject, NULL, &stack);
	assert_int_equal(stack.end, UNWIND_STACK_MISSING);
	assert_int_equal(stack.count, 0);
	unwinder_live_destroy(live);
	unwinder_live_destroy(NULL);
	subject_close(&subject);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_interpreters),     cmocka_unit_test(test_frame_pointer),
		cmocka_unit_test(test_no_frame_pointer), cmocka_unit_test(test_no_module),
		cmocka_unit_test(test_not_stopped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
