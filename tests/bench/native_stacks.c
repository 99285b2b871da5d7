/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How complete and how right native stacks are: threads of real programs are
 * stopped at random moments, and the stack is unwound by our unwinder and by
 * others over the same copies.
 *
 *   native_stacks INTERPRETER STOPS SCRIPT...
 *
 * Prints a table in Markdown, a row a script, and an example of each kind of
 * difference. Second opinions: libunwind over our copies (each stop), libdwfl
 * over our copies with its own look-up of everything (each stop), and
 * libunwind-ptrace on the stopped thread (some stops: 10 ms each).
 */
#include "tests/bench/native_dwfl.h"
#include "tests/bench/native_target.h"

#define LIVE_EVERY  20
#define INTERVAL_US 1500
/* JIT code and libraries come and go: the map is read anew when a pc is not in it. */
#define EXAMPLES_MAX        2
#define GUESS_WAIT_MS       100
#define GUESSES_CHECKED_MAX 200

enum difference {
	DIFFERENCE_NONE,
	DIFFERENCE_GUESSED,       /* we went on by a guess, the other gave up */
	DIFFERENCE_OTHER_GAVE_UP, /* only we reached the thread's start */
	DIFFERENCE_WE_GAVE_UP,    /* only the other did */
	DIFFERENCE_BOTH_GAVE_UP,
	DIFFERENCE_GUESSED_OTHERWISE, /* both reached it, we by a guess */
	DIFFERENCE_REAL,              /* both reached it on different ways */
	DIFFERENCE_COUNT
};

static const char *const difference_names[] = {
	[DIFFERENCE_NONE] = "identical",
	[DIFFERENCE_GUESSED] = "ours by a guess, the other gave up",
	[DIFFERENCE_OTHER_GAVE_UP] = "ours complete, the other gave up",
	[DIFFERENCE_WE_GAVE_UP] = "ours gave up, the other complete",
	[DIFFERENCE_BOTH_GAVE_UP] = "both gave up",
	[DIFFERENCE_GUESSED_OTHERWISE] = "both complete, ours by a guess",
	[DIFFERENCE_REAL] = "both complete and different",
};

struct opinion {
	const char *name;
	unsigned int compared, differences[DIFFERENCE_COUNT], examples[DIFFERENCE_COUNT];
};

struct tally {
	const char *name;
	unsigned int stops, complete, guessed, other_threads;
	unsigned int guesses_checked, guesses_right;
	unsigned int ends[UNWIND_END_COUNT];
	uint64_t frames;
	struct opinion opinions[3];
};

static const char *const opinion_names[] = { "libunwind", "libdwfl", "libunwind-ptrace" };

static bool has_guess(const struct stack *stack)
{
	for (size_t i = 0; i < stack->count; i++)
		if (stack->frames[i].flags & NATIVE_FRAME_GUESSED)
			return true;
	return false;
}

static bool is_complete(const struct subject *subject, const struct stack *stack)
{
	return stack->count > 0 && stack->end == UNWIND_COMPLETE && ends_in_start(subject, stack);
}

static enum difference compare(const struct subject *subject, const struct stack *own,
			       const struct stack *other)
{
	bool own_complete = is_complete(subject, own);
	bool other_complete = is_complete(subject, other);

	if (own_complete && other_complete)
		return same_pcs(own, other) ? DIFFERENCE_NONE
		       : has_guess(own)     ? DIFFERENCE_GUESSED_OTHERWISE
					    : DIFFERENCE_REAL;
	if (own_complete)
		return has_guess(own) ? DIFFERENCE_GUESSED : DIFFERENCE_OTHER_GAVE_UP;
	return other_complete ? DIFFERENCE_WE_GAVE_UP : DIFFERENCE_BOTH_GAVE_UP;
}

static void take_opinion(const struct subject *subject, const struct stack *own,
			 const struct stack *other, struct opinion *opinion, const char *program)
{
	enum difference difference = compare(subject, own, other);

	opinion->compared++;
	opinion->differences[difference]++;
	if (difference == DIFFERENCE_NONE || opinion->examples[difference]++ >= EXAMPLES_MAX)
		return;
	printf("%s: %s: %s\n", program, opinion->name, difference_names[difference]);
	print_stack(subject, "ours", own);
	print_stack(subject, opinion->name, other);
}

/*
 * Lets the thread run until it returns to where the first guessed frame says
 * it will, by a breakpoint there. False: it has not come there within a while.
 */
static bool check_guess(const struct subject *subject, const struct native_frame *guessed,
			unsigned int *ret_checked)
{
	pid_t tid = subject->process->tid;
	bool is_stopped = false, is_right = false;

	if (ptrace(PTRACE_POKEUSER, tid, offsetof(struct user, u_debugreg[0]), guessed->pc) ||
	    ptrace(PTRACE_POKEUSER, tid, offsetof(struct user, u_debugreg[7]), 1))
		return false;
	++*ret_checked;
	live_process_continue(subject->process);
	for (unsigned int waited = 0; waited < GUESS_WAIT_MS && !is_stopped; waited++) {
		struct user_regs_struct user;
		int status;

		usleep(1000);
		if (waitpid(tid, &status, __WALL | WNOHANG) != tid)
			continue;
		if (!WIFSTOPPED(status))
			return false;
		is_stopped = WSTOPSIG(status) == SIGTRAP && status >> 16 == 0 &&
			     ptrace(PTRACE_GETREGS, tid, NULL, &user) == 0 &&
			     user.rip == guessed->pc;
		if (is_stopped)
			is_right = user.rsp == guessed->sp;
		else
			ptrace(PTRACE_CONT, tid, NULL,
			       (void *)(long)(status >> 16 ? 0 : WSTOPSIG(status)));
	}
	if (is_stopped || live_process_stop(subject->process))
		ptrace(PTRACE_POKEUSER, tid, offsetof(struct user, u_debugreg[7]), 0);
	return is_right;
}

static void check_first_guess(const struct subject *subject, const struct stack *own,
			      struct tally *tally)
{
	size_t first = 0;
	unsigned int checked = 0;

	while (!(own->frames[first].flags & NATIVE_FRAME_GUESSED))
		first++;
	if (check_guess(subject, &own->frames[first], &checked))
		tally->guesses_right++;
	else if (checked && tally->guesses_checked - tally->guesses_right < EXAMPLES_MAX)
		print_stack(subject, "a guess that was wrong", own);
	tally->guesses_checked += checked;
}

/* Libraries were loaded, or threads have begun. */
static void refresh(struct subject *subject, struct native_dwfl *dwfl)
{
	live_process_read_mappings(subject->process);
	live_must(module_table_update(subject->modules, &subject->process->mappings) == 0);
	unwinder_flush(subject->unwinder);
	unwinder_libunwind_flush(subject->libunwind);
	fde_table_prepare(subject->fdes);
	native_dwfl_report(dwfl);
}

/* As the daemon does: a short copy, the rest read when it is needed. */
static void unwind_short_copy(const struct subject *subject, struct stack *ret_stack)
{
	const struct live_process *process = subject->process;
	struct stack_snapshot copy = process->stack;

	if (copy.size > NATIVE_STACK_BYTES)
		copy.size = NATIVE_STACK_BYTES;
	ret_stack->end = unwinder_unwind(subject->unwinder, &process->registers, &copy, NULL,
					 ret_stack->frames, FRAMES_MAX, &ret_stack->count);
}

static void examine(struct subject *subject, struct native_dwfl *dwfl, struct tally *tally)
{
	static struct stack own, other;

	unwind_short_copy(subject, &own);
	if (own.end == UNWIND_NO_MODULE) {
		refresh(subject, dwfl);
		unwind_short_copy(subject, &own);
		/* A place in no file still: the second time it is taken for generated code. */
		if (own.end == UNWIND_NO_MODULE)
			unwind_short_copy(subject, &own);
	}
	tally->stops++;
	tally->frames += own.count;
	tally->ends[own.end]++;
	tally->other_threads += subject->process->tid != subject->process->pid;
	if (is_complete(subject, &own)) {
		tally->complete++;
		tally->guessed += has_guess(&own);
	}
	unwind_libunwind(subject, &other);
	take_opinion(subject, &own, &other, &tally->opinions[0], tally->name);
	native_dwfl_unwind(dwfl, &other);
	take_opinion(subject, &own, &other, &tally->opinions[1], tally->name);
	if (tally->stops % LIVE_EVERY == 0) {
		unwind_live(subject, &other);
		take_opinion(subject, &own, &other, &tally->opinions[2], tally->name);
	}
	if (own.end == UNWIND_COMPLETE && has_guess(&own) &&
	    tally->guesses_checked < GUESSES_CHECKED_MAX)
		check_first_guess(subject, &own, tally);
}

static void stop_many(struct tally *tally, char *interpreter, char *script, unsigned int stops)
{
	char seconds[] = "--seconds", long_time[] = "100000";
	char *arguments[] = { interpreter, script, seconds, long_time, NULL };
	static struct native_dwfl dwfl;
	struct native_target target;
	struct subject subject;

	if (!native_target_start(&target, arguments))
		return;
	subject = subject_open(target.process);
	native_dwfl_open(&dwfl, &subject);
	srand(7);
	while (tally->stops < stops &&
	       native_target_stop(&target, (unsigned int)rand() % (2 * INTERVAL_US),
				  LIVE_STACK_BYTES_MAX)) {
		examine(&subject, &dwfl, tally);
		live_process_continue(target.process);
	}
	native_target_kill(&target);
	native_dwfl_close(&dwfl);
	subject_close(&subject);
}

static double percent(unsigned int part, unsigned int whole)
{
	return whole ? 100.0 * part / whole : 0;
}

/* Identical among those that both finish. */
static double percent_identical(const struct opinion *opinion)
{
	unsigned int same = opinion->differences[DIFFERENCE_NONE];

	return percent(same, same + opinion->differences[DIFFERENCE_REAL] +
				     opinion->differences[DIFFERENCE_GUESSED_OTHERWISE]);
}

static void tally_print(const struct tally *tally)
{
	printf("| %s | %u | %.0f | %.0f%% | %.2f%% | %.2f%% |", tally->name, tally->stops,
	       tally->stops ? (double)tally->frames / tally->stops : 0,
	       percent(tally->other_threads, tally->stops), percent(tally->complete, tally->stops),
	       percent(tally->guessed, tally->stops));
	for (size_t i = 0; i < 3; i++)
		printf(" %.2f%% of %u |", percent_identical(&tally->opinions[i]),
		       tally->opinions[i].differences[DIFFERENCE_NONE] +
			       tally->opinions[i].differences[DIFFERENCE_REAL] +
			       tally->opinions[i].differences[DIFFERENCE_GUESSED_OTHERWISE]);
	printf("\n");
}

static void tally_add(struct tally *total, const struct tally *tally)
{
	total->stops += tally->stops;
	total->complete += tally->complete;
	total->guessed += tally->guessed;
	total->guesses_checked += tally->guesses_checked;
	total->guesses_right += tally->guesses_right;
	total->other_threads += tally->other_threads;
	total->frames += tally->frames;
	for (size_t i = 0; i < UNWIND_END_COUNT; i++)
		total->ends[i] += tally->ends[i];
	for (size_t i = 0; i < 3; i++) {
		total->opinions[i].compared += tally->opinions[i].compared;
		for (size_t k = 0; k < DIFFERENCE_COUNT; k++)
			total->opinions[i].differences[k] += tally->opinions[i].differences[k];
	}
}

static void print_differences(const struct tally *total)
{
	printf("\n| | %s | %s | %s |\n|---|---|---|---|\n", opinion_names[0], opinion_names[1],
	       opinion_names[2]);
	for (size_t k = 0; k < DIFFERENCE_COUNT; k++)
		printf("| %s | %u | %u | %u |\n", difference_names[k],
		       total->opinions[0].differences[k], total->opinions[1].differences[k],
		       total->opinions[2].differences[k]);
	printf("\nours ended: complete %u, too deep %u, no module %u, no CFI %u, stack missing "
	       "%u, corrupt %u\n",
	       total->ends[UNWIND_COMPLETE], total->ends[UNWIND_TOO_DEEP],
	       total->ends[UNWIND_NO_MODULE], total->ends[UNWIND_NO_CFI],
	       total->ends[UNWIND_STACK_MISSING], total->ends[UNWIND_CORRUPT]);
	printf("the caller guessed was the one returned to: %u of %u\n", total->guesses_right,
	       total->guesses_checked);
}

int main(int argc, char **argv)
{
	struct tally tallies[32] = { 0 }, total = { .name = "all" };
	size_t count = 0;

	if (argc < 4) {
		fprintf(stderr, "usage: native_stacks INTERPRETER STOPS SCRIPT...\n");
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (int i = 3; i < argc && count < 32; i++) {
		struct tally *tally = &tallies[count];
		char *slash = strrchr(argv[i], '/');

		tally->name = slash ? slash + 1 : argv[i];
		for (size_t k = 0; k < 3; k++)
			tally->opinions[k].name = opinion_names[k];
		stop_many(tally, argv[1], argv[i], (unsigned int)atoi(argv[2]));
		tally_add(&total, tally);
		count++;
	}
	printf("\n| program | stops | frames a stack | other threads than the first | complete | "
	       "of these by a guess | as %s's | as %s's | as %s's |\n"
	       "|---|---|---|---|---|---|---|---|---|\n",
	       opinion_names[0], opinion_names[1], opinion_names[2]);
	for (size_t i = 0; i < count; i++)
		tally_print(&tallies[i]);
	tally_print(&total);
	print_differences(&total);
	return 0;
}
