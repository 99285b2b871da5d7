/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time per stack, side by side in one run on the same stops of one process:
 * our unwinder, libunwind over the same copies, libunwind-ptrace as shipped.
 *
 *   unwind_bench [INTERPRETER [STOPS [INTERVAL_US]]]
 */
#include "common/clock.h"
#include "tests/unit/unwind_subject.h"

#define SAMPLES_MAX 100000
#define REPEATS     50
/* libunwind-ptrace takes milliseconds and keeps the target stopped meanwhile. */
#define LIVE_EVERY 16

struct times {
	const char *what;
	double *microseconds;
	size_t count;
	double first;
};

static void times_add(struct times *times, uint64_t start_ns, unsigned int divisor)
{
	double microseconds = (double)(clock_now_ns() - start_ns) / 1000 / divisor;

	if (!times->microseconds) {
		times->microseconds = calloc(SAMPLES_MAX, sizeof(double));
		live_must(times->microseconds);
		times->first = microseconds;
		return;
	}
	if (times->count < SAMPLES_MAX)
		times->microseconds[times->count++] = microseconds;
}

static int compare_doubles(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return a < b ? -1 : a > b;
}

static void times_print(struct times *times, double baseline)
{
	double median;

	if (times->count == 0)
		return;
	qsort(times->microseconds, times->count, sizeof(double), compare_doubles);
	median = times->microseconds[times->count / 2];
	printf("  %-48s %10.2f %10.2f %10.1f %9.1f\n", times->what, median,
	       times->microseconds[times->count * 99 / 100], times->first,
	       baseline > 0 ? median / baseline : 1.0);
}

static double times_median(struct times *times)
{
	if (times->count == 0)
		return 0;
	qsort(times->microseconds, times->count, sizeof(double), compare_doubles);
	return times->microseconds[times->count / 2];
}

/* libunwind-ptrace with its objects kept, as a program that uses it would. */
static size_t unwind_stock(unw_addr_space_t address_space, void *argument)
{
	unw_cursor_t cursor;
	size_t count = 0;

	if (unw_init_remote(&cursor, address_space, argument))
		return 0;
	do {
		unw_word_t pc = 0;

		unw_get_reg(&cursor, UNW_REG_IP, &pc);
		if (pc == 0)
			break;
		count++;
	} while (count < FRAMES_MAX && unw_step(&cursor) > 0);
	return count;
}

int main(int argc, char **argv)
{
	char path[] = "/usr/bin/python3", option[] = "-c", program[sizeof(live_workload)];
	char *arguments[] = { argc > 1 ? argv[1] : path, option, program, NULL };
	unsigned int stops = argc > 2 ? (unsigned int)atoi(argv[2]) : 1000;
	unsigned int interval = argc > 3 ? (unsigned int)atoi(argv[3]) : 2000;
	struct times alone = { .what = "own, at each stop, nothing else done" };
	struct times own = { .what = "own, at each stop" };
	struct times repeated = { .what = "own, the same stop again" };
	struct times flushed = { .what = "own, cache flushed before" };
	struct times copies = { .what = "libunwind over the copies" };
	struct times copies_cached = { .what = "libunwind over the copies, its cache on" };
	struct times live = { .what = "libunwind-ptrace as shipped" };
	struct times live_cached = { .what = "libunwind-ptrace as shipped, its cache on" };
	struct unwinder_libunwind *cached;
	struct unwinder *cold;
	struct live_process *process;
	struct subject subject;
	unw_addr_space_t stock, stock_cached;
	static struct stack stack, other;
	size_t frames = 0, complete = 0, same = 0;
	struct unwinder_counters counters;
	uint64_t start;
	void *upt;

	memcpy(program, live_workload, sizeof(program));
	process = live_process_start(arguments, NULL, NULL);
	live_must(process && live_process_wait_line(process));
	subject = subject_open(process);
	cold = unwinder_create(subject.modules, &process->reader);
	cached = unwinder_libunwind_create(subject.modules, subject.fdes, true);
	stock = unw_create_addr_space(&_UPT_accessors, 0);
	stock_cached = unw_create_addr_space(&_UPT_accessors, 0);
	unw_set_caching_policy(stock, UNW_CACHE_NONE);
	unw_set_caching_policy(stock_cached, UNW_CACHE_GLOBAL);
	upt = _UPT_create(process->pid);
	live_must(live_process_seize(process));
	srand(1);
	for (unsigned int stop = 0; stop < stops; stop++) {
		size_t count;

		live_process_run(process, interval / 2 + (unsigned int)rand() % interval);
		live_must(live_process_stop(process) &&
			  live_process_copy(process, LIVE_STACK_BYTES_MAX));

		start = clock_now_ns();
		unwind_own(&subject, NULL, &stack);
		times_add(stop < stops / 2 ? &alone : &own, start, 1);
		frames += stack.count;
		complete += stack.end == UNWIND_COMPLETE;
		/* The others leave the processor's caches full of their own. */
		if (stop < stops / 2) {
			live_process_continue(process);
			continue;
		}

		start = clock_now_ns();
		for (unsigned int i = 0; i < REPEATS; i++)
			unwind_own(&subject, NULL, &stack);
		times_add(&repeated, start, REPEATS);

		unwinder_flush(cold);
		start = clock_now_ns();
		(void)unwinder_unwind(cold, &process->registers, &process->stack, NULL,
				      other.frames, FRAMES_MAX, &count);
		times_add(&flushed, start, 1);

		start = clock_now_ns();
		unwind_libunwind(&subject, &other);
		times_add(&copies, start, 1);
		same += same_pcs(&stack, &other);

		stack_view_begin(subject.view, &process->stack);
		start = clock_now_ns();
		(void)unwinder_libunwind_unwind(cached, &process->registers, subject.view, NULL,
						other.frames, FRAMES_MAX, &count);
		times_add(&copies_cached, start, 1);

		if (stop % LIVE_EVERY == 0) {
			start = clock_now_ns();
			(void)unwind_stock(stock, upt);
			times_add(&live, start, 1);
		}
		start = clock_now_ns();
		(void)unwind_stock(stock_cached, upt);
		times_add(&live_cached, start, 1);
		live_process_continue(process);
	}
	counters = unwinder_counters(subject.unwinder);
	printf("%s: %u stops, %.1f frames a stack, %.1f%% complete, %.1f%% as libunwind's, "
	       "%.2f rules a stack not cached\n",
	       arguments[0], stops, (double)frames / stops, 100.0 * (double)complete / stops,
	       100.0 * (double)same / (stops - stops / 2), (double)counters.rule_misses / stops);
	printf("  %-48s %10s %10s %10s %9s\n", "microseconds a stack", "median", "p99", "first",
	       "times own");
	times_print(&alone, times_median(&own));
	times_print(&own, times_median(&own));
	times_print(&repeated, times_median(&own));
	times_print(&flushed, times_median(&own));
	times_print(&copies_cached, times_median(&own));
	times_print(&copies, times_median(&own));
	times_print(&live_cached, times_median(&own));
	times_print(&live, times_median(&own));
	_UPT_destroy(upt);
	unw_destroy_addr_space(stock);
	unw_destroy_addr_space(stock_cached);
	unwinder_libunwind_destroy(cached);
	unwinder_destroy(cold);
	subject_close(&subject);
	return 0;
}
