/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The unwinder on live processes: random stops of every interpreter found,
 * frame by frame against libunwind over the same copies and against
 * libunwind-ptrace on the stopped process itself.
 */
#include "symbolize/symbol.h"
#include "tests/unit/assert_sampled.h"
#include "tests/unit/unwind_subject.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define STOPS 160
/* libunwind-ptrace takes 10 ms a stack. */
#define LIVE_EVERY 4

static bool has_guess(const struct stack *stack)
{
	for (size_t i = 0; i < stack->count; i++)
		if (stack->frames[i].flags & NATIVE_FRAME_GUESSED)
			return true;
	return false;
}

struct tally {
	unsigned int stops, complete, ends[UNWIND_END_COUNT];
	unsigned int same, reference_gave_up, guessed, different;
	unsigned int live_stops, live_same, live_gave_up, live_guessed, live_different;
	unsigned int partial, partial_reached;
	size_t frames;
};

static void compare(const struct subject *subject, const struct stack *own, struct tally *tally,
		    bool live)
{
	static struct stack reference;
	bool finished;

	if (live)
		unwind_live(subject, &reference);
	else
		unwind_libunwind(subject, &reference);
	finished = reference.end == UNWIND_COMPLETE && ends_in_start(subject, &reference);
	if (same_pcs(own, &reference))
		++*(live ? &tally->live_same : &tally->same);
	else if (has_guess(own))
		++*(live ? &tally->live_guessed : &tally->guessed);
	else if (own->end == UNWIND_COMPLETE && !finished)
		++*(live ? &tally->live_gave_up : &tally->reference_gave_up);
	else {
		++*(live ? &tally->live_different : &tally->different);
		print_stack(subject, "own", own);
		print_stack(subject, live ? "live" : "reference", &reference);
	}
}

/* What must hold of any stack, whoever else agrees. */
static void check_frames(const struct subject *subject, const struct stack *stack)
{
	for (size_t i = 0; i < stack->count; i++) {
		const struct native_frame *frame = &stack->frames[i];
		remote_addr address = native_frame_lookup_address(frame, i == 0);
		struct address_range range;

		if (frame->module)
			assert_true(address_range_contains(frame->module->range, address));
		if (frame->function && frame->module->image) {
			assert_int_equal(
				unwinder_function_range(subject->unwinder, address, &range), 0);
			assert_true(frame->function == range.start);
		}
		if (i + 1 < stack->count)
			assert_true(frame->cfa == stack->frames[i + 1].sp);
	}
}

/* The function that runs Python code, in the executable or in libpython. */
static bool find_eval(const struct subject *subject, struct address_ranges *ret_parts)
{
	struct symbolizer *symbolizer = symbolizer_create();
	bool found = false;

	for (size_t i = 0; !found && i < module_table_count(subject->modules); i++) {
		const struct module *module = module_table_get(subject->modules, i);
		remote_addr start;
		uint64_t size;

		if (!module->image ||
		    symbolizer_find(symbolizer, module, "_PyEval_EvalFrameDefault", &start, &size))
			continue;
		assert_int_equal(unwinder_function_parts(
					 subject->unwinder,
					 (struct address_range){ start, start + size }, ret_parts),
				 0);
		/* Where the file has all its symbols, they say what is right. */
		if (symbolizer_find(symbolizer, module, "_PyEval_EvalFrameDefault.cold", &start,
				    &size) == 0) {
			assert_int_equal(ret_parts->count, 2);
			assert_true(ret_parts->items[1].start == start);
			assert_true(ret_parts->items[1].end == start + size);
			print_message("%s: the cold part is where its symbol says\n", module->name);
		}
		found = true;
	}
	symbolizer_destroy(symbolizer);
	return found;
}

/* Up to eval, as is done while the thread is stopped: a prefix of the whole stack. */
static void check_partial(const struct subject *subject, const struct address_ranges *eval,
			  const struct stack *whole, struct tally *tally)
{
	static struct stack partial;
	const struct native_frame *last;

	/* Said once, of generated code such as a ctypes callback's; then its callers are looked
	 * for. */
	if (whole->end == UNWIND_NO_MODULE)
		return;
	unwind_own(subject, eval, &partial);
	tally->partial++;
	if (partial.end != UNWIND_STOPPED) {
		/* Between two pieces of Python code, or starting up: none on the stack. */
		for (size_t i = 0; i < whole->count; i++)
			assert_false(address_ranges_contain(
				eval, native_frame_lookup_address(&whole->frames[i], i == 0)));
		return;
	}
	tally->partial_reached++;
	last = &partial.frames[partial.count - 1];
	assert_true(address_ranges_contain(eval,
					   native_frame_lookup_address(last, partial.count == 1)));
	assert_true(last->cfa > last->sp);
	assert_true(partial.count <= whole->count);
	for (size_t i = 0; i < partial.count; i++) {
		assert_true(partial.frames[i].pc == whole->frames[i].pc);
		assert_true(partial.frames[i].cfa == whole->frames[i].cfa);
	}
}

static void unwind_interpreter(const char *path)
{
	char interpreter[PATH_MAX], option[] = "-c", program[sizeof(live_workload)];
	char *arguments[] = { interpreter, option, program, NULL };
	static struct stack own;
	struct tally tally = { 0 };
	struct address_ranges eval;
	struct live_process *process;
	struct subject subject;
	bool have_eval;

	snprintf(interpreter, sizeof(interpreter), "%s", path);
	memcpy(program, live_workload, sizeof(program));
	process = live_process_start(arguments, NULL, NULL);
	assert_non_null(process);
	if (!live_process_wait_line(process)) {
		print_message("%s: cannot run the workload, skipped\n", path);
		live_process_end(process);
		return;
	}
	subject = subject_open(process);
	have_eval = find_eval(&subject, &eval);
	assert_true(have_eval);
	assert_true(live_process_seize(process));
	srand(1);
	while (tally.stops < STOPS) {
		live_process_run(process, (unsigned int)rand() % 3000);
		assert_true(live_process_stop(process));
		assert_true(live_process_copy(process, LIVE_STACK_BYTES_MAX));
		unwind_own(&subject, NULL, &own);
		if (own.end == UNWIND_NO_MODULE) {
			/* A library was loaded, or ctypes has written a thunk. */
			live_process_read_mappings(process);
			assert_int_equal(module_table_update(subject.modules, &process->mappings),
					 0);
			unwinder_flush(subject.unwinder);
			fde_table_prepare(subject.fdes);
			unwind_own(&subject, NULL, &own);
		}
		tally.stops++;
		tally.frames += own.count;
		tally.ends[own.end]++;
		tally.complete += own.end == UNWIND_COMPLETE;
		check_frames(&subject, &own);
		compare(&subject, &own, &tally, false);
		check_partial(&subject, &eval, &own, &tally);
		if (tally.stops % LIVE_EVERY == 0) {
			tally.live_stops++;
			compare(&subject, &own, &tally, true);
		}
		live_process_continue(process);
	}
	print_message("%s: %u stops, %zu frames a stack, complete %u, no module %u, no CFI %u, "
		      "stack missing %u, corrupt %u\n",
		      path, tally.stops, tally.frames / tally.stops, tally.complete,
		      tally.ends[UNWIND_NO_MODULE], tally.ends[UNWIND_NO_CFI],
		      tally.ends[UNWIND_STACK_MISSING], tally.ends[UNWIND_CORRUPT]);
	print_message("  libunwind over the copies: same %u, it gave up %u, guessed %u, "
		      "different %u; on the live process: %u of %u, %u, %u, %u; eval has %zu "
		      "parts, reached %u of %u; misses %" PRIu64 ", by libunwind %" PRIu64
		      ", reads %" PRIu64 "\n",
		      tally.same, tally.reference_gave_up, tally.guessed, tally.different,
		      tally.live_same, tally.live_stops, tally.live_gave_up, tally.live_guessed,
		      tally.live_different, eval.count, tally.partial_reached, tally.partial,
		      unwinder_counters(subject.unwinder).rule_misses,
		      unwinder_counters(subject.unwinder).libunwind,
		      unwinder_counters(subject.unwinder).stack_reads);
	assert_sampled(tally.different == 0);
	/* Else the reference is broken, and agreeing with it says nothing. */
	assert_true(tally.same * 100 >= (tally.stops - tally.guessed) * 95);
	assert_true(tally.live_same * 100 >= (tally.live_stops - tally.live_guessed) * 95);
	/* OpenBLAS, where numpy has it, computes in functions that say nothing of their frames. */
	assert_sampled(tally.guessed * 100 <= tally.stops * 30);
	assert_int_equal(tally.live_different, 0);
	assert_true(tally.complete * 100 >= tally.stops * 95);
	assert_true(tally.partial_reached * 100 >= tally.partial * 95);
	subject_close(&subject);
}

static void test_interpreters(void **state)
{
	struct live_interpreters found = live_interpreters_find();

	(void)state;
	assert_true(found.count > 0);
	for (size_t i = 0; i < found.count; i++)
		unwind_interpreter(found.paths[i]);
	live_interpreters_free(&found);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_interpreters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
