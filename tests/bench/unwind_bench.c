/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time per stack, side by side in one run on one program: our unwinder,
 * libunwind over the same copies, libdwfl over the same copies,
 * libunwind-ptrace as shipped.
 *
 *   unwind_bench [INTERPRETER [STOPS [INTERVAL_US [SCRIPT]]]]
 *
 * Each stop at a random moment serves one way of unwinding only, in turn: the
 * first to unwind a stack finds the processor's caches full of other things,
 * and whoever comes second would be measured with what the first has fetched.
 */
#include "common/clock.h"
#include "tests/bench/native_dwfl.h"
#include "tests/bench/native_target.h"

#include <malloc.h>

#define REPEATS       50
#define COMPARE_EVERY 10

struct bench {
	struct native_target target;
	struct subject subject;
	struct unwinder *flushed;
	struct unwinder_libunwind *cached;
	struct native_dwfl dwfl;
	unw_addr_space_t stock, stock_cached;
	struct stack stack;
	uint64_t frames;
	unsigned int stops, complete, compared, same;
};

struct way {
	const char *what;
	void (*unwind)(struct bench *bench);
	void (*prepare)(struct bench *bench); /* before each time */
	unsigned int share; /* every so many turns; it would keep the target stopped for long */
	unsigned int repeats;
	double *microseconds;
	size_t count;
	double first;
};

static void own(struct bench *bench)
{
	unwind_own(&bench->subject, NULL, &bench->stack);
}

static void flush(struct bench *bench)
{
	unwinder_flush(bench->flushed);
}

static void own_flushed(struct bench *bench)
{
	const struct live_process *process = bench->target.process;

	bench->stack.end =
		unwinder_unwind(bench->flushed, &process->registers, &process->stack, NULL,
				bench->stack.frames, FRAMES_MAX, &bench->stack.count);
}

static void libunwind_copies(struct bench *bench)
{
	unwind_libunwind(&bench->subject, &bench->stack);
}

static void libunwind_copies_cached(struct bench *bench)
{
	const struct live_process *process = bench->target.process;

	stack_view_begin(bench->subject.view, &process->stack);
	bench->stack.end = unwinder_libunwind_unwind(bench->cached, &process->registers,
						     bench->subject.view, NULL, bench->stack.frames,
						     FRAMES_MAX, &bench->stack.count);
}

static void libdwfl(struct bench *bench)
{
	native_dwfl_unwind(&bench->dwfl, &bench->stack);
}

/* As a program that uses it would, keeping the address space. */
static void stock(struct bench *bench, unw_addr_space_t address_space)
{
	void *argument = _UPT_create(bench->target.process->tid);
	struct stack *stack = &bench->stack;
	unw_cursor_t cursor;
	int step = unw_init_remote(&cursor, address_space, argument) ? -1 : 1;

	for (stack->count = 0; step > 0 && stack->count < FRAMES_MAX;) {
		unw_word_t pc = 0;

		(void)unw_get_reg(&cursor, UNW_REG_IP, &pc);
		if (pc == 0)
			break;
		stack->frames[stack->count++].pc = pc;
		step = unw_step(&cursor);
	}
	stack->end = step < 0 ? UNWIND_CORRUPT : UNWIND_COMPLETE;
	_UPT_destroy(argument);
}

static void libunwind_ptrace(struct bench *bench)
{
	stock(bench, bench->stock);
}

static void libunwind_ptrace_cached(struct bench *bench)
{
	stock(bench, bench->stock_cached);
}

static void time_way(struct way *way, struct bench *bench, size_t maximum)
{
	unsigned int repeats = way->repeats ? way->repeats : 1;
	double microseconds;
	uint64_t start;

	if (way->prepare)
		way->prepare(bench);
	if (repeats > 1)
		way->unwind(bench);
	start = clock_now_ns();
	for (unsigned int i = 0; i < repeats; i++)
		way->unwind(bench);
	microseconds = (double)(clock_now_ns() - start) / 1000 / repeats;
	if (!way->microseconds) {
		way->microseconds = calloc(maximum, sizeof(double));
		live_must(way->microseconds);
		way->first = microseconds;
	} else if (way->count < maximum) {
		way->microseconds[way->count++] = microseconds;
	}
}

static int compare_doubles(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return a < b ? -1 : a > b;
}

/* Sorts what was measured; 0: nothing was. */
static double way_median(struct way *way)
{
	if (way->count == 0)
		return 0;
	qsort(way->microseconds, way->count, sizeof(double), compare_doubles);
	return way->microseconds[way->count / 2];
}

static void way_print(struct way *way, double baseline)
{
	double median = way_median(way);

	if (way->count == 0 || baseline <= 0)
		return;
	printf("  %-42s %10.2f %10.2f %10.1f %9.1f %7zu\n", way->what, median,
	       way->microseconds[way->count * 99 / 100], way->first, median / baseline, way->count);
}

/* Kilobytes of one line of /proc/self/status. */
static long own_status(const char *name)
{
	FILE *file = fopen("/proc/self/status", "re");
	char line[256];
	long value = 0;

	while (file && fgets(line, sizeof(line), file))
		if (strncmp(line, name, strlen(name)) == 0)
			value = atol(line + strlen(name) + 1);
	if (file)
		fclose(file);
	return value;
}

static size_t heap_bytes(void)
{
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

/* What it takes to get the first stack of a process not known before, from its map on. */
static void time_first(struct bench *bench)
{
	struct live_process *process = bench->target.process;
	size_t heap = heap_bytes();
	long anonymous = own_status("RssAnon"), file = own_status("RssFile");
	uint64_t start = clock_now_ns(), unwinding;
	struct module_table *modules;
	struct unwinder *unwinder;
	double milliseconds;

	live_process_read_mappings(process);
	modules = module_table_create(&process->opener, &process->reader);
	live_must(modules && module_table_update(modules, &process->mappings) == 0);
	unwinder = unwinder_create(modules, &process->reader);
	live_must(unwinder);
	unwinding = clock_now_ns();
	bench->stack.end = unwinder_unwind(unwinder, &process->registers, &process->stack, NULL,
					   bench->stack.frames, FRAMES_MAX, &bench->stack.count);
	milliseconds = (double)(clock_now_ns() - start) / 1e6;
	printf("  the first stack: %.1f ms after attaching, %.3f ms of them unwinding; %zu files, "
	       "%zu frames\n",
	       milliseconds, (double)(clock_now_ns() - unwinding) / 1e6,
	       module_table_count(modules), bench->stack.count);
	printf("  memory for it: %zu KB of heap, %ld KB resident; %ld KB resident of the files' "
	       "own pages\n",
	       (heap_bytes() - heap) / 1024, own_status("RssAnon") - anonymous,
	       own_status("RssFile") - file);
	unwinder_destroy(unwinder);
	module_table_destroy(modules);
}

static void refresh(struct bench *bench)
{
	struct subject *subject = &bench->subject;

	live_process_read_mappings(subject->process);
	live_must(module_table_update(subject->modules, &subject->process->mappings) == 0);
	unwinder_flush(subject->unwinder);
	unwinder_libunwind_flush(subject->libunwind);
	unwinder_libunwind_flush(bench->cached);
	fde_table_prepare(subject->fdes);
	native_dwfl_report(&bench->dwfl);
}

static void bench_open(struct bench *bench)
{
	const struct live_process *process = bench->target.process;

	bench->subject = subject_open(bench->target.process);
	bench->flushed = unwinder_create(bench->subject.modules, &process->reader);
	bench->cached =
		unwinder_libunwind_create(bench->subject.modules, bench->subject.fdes, true);
	live_must(bench->flushed && bench->cached);
	native_dwfl_open(&bench->dwfl, &bench->subject);
	bench->stock = unw_create_addr_space(&_UPT_accessors, 0);
	bench->stock_cached = unw_create_addr_space(&_UPT_accessors, 0);
	unw_set_caching_policy(bench->stock, UNW_CACHE_NONE);
	unw_set_caching_policy(bench->stock_cached, UNW_CACHE_GLOBAL);
}

static void bench_close(struct bench *bench)
{
	native_target_kill(&bench->target);
	unw_destroy_addr_space(bench->stock);
	unw_destroy_addr_space(bench->stock_cached);
	native_dwfl_close(&bench->dwfl);
	unwinder_libunwind_destroy(bench->cached);
	unwinder_destroy(bench->flushed);
	subject_close(&bench->subject);
}

/* Compared at some stops that serve nothing else. */
static void compare(struct bench *bench)
{
	static struct stack other;

	own(bench);
	if (bench->stack.end == UNWIND_NO_MODULE) {
		refresh(bench);
		own(bench);
	}
	unwind_libunwind(&bench->subject, &other);
	bench->compared++;
	bench->same += same_pcs(&bench->stack, &other);
}

static void run(struct bench *bench, struct way *ways, size_t count, unsigned int stops,
		unsigned int interval)
{
	size_t turn = 0;

	for (bench->stops = 0; bench->stops < stops;) {
		struct way *way = &ways[turn++ % count];

		if (turn > count && (turn / count) % (way->share ? way->share : 1) != 0)
			continue;
		if (!native_target_stop(&bench->target,
					interval / 2 + (unsigned int)rand() % interval,
					NATIVE_STACK_BYTES))
			return;
		if (bench->stops++ == 0)
			time_first(bench);
		if (bench->stops % COMPARE_EVERY == 0) {
			compare(bench);
			bench->frames += bench->stack.count;
			bench->complete += bench->stack.end == UNWIND_COMPLETE;
		} else {
			time_way(way, bench, stops);
		}
		live_process_continue(bench->target.process);
	}
}

int main(int argc, char **argv)
{
	struct way ways[] = {
		{ .what = "ours", .unwind = own },
		{ .what = "ours, the same stop again", .unwind = own, .repeats = REPEATS },
		{ .what = "ours, without anything remembered",
		  .unwind = own_flushed,
		  .prepare = flush },
		{ .what = "libunwind over the copies, its cache on",
		  .unwind = libunwind_copies_cached },
		{ .what = "libunwind over the copies", .unwind = libunwind_copies },
		{ .what = "libdwfl over the copies", .unwind = libdwfl },
		{ .what = "libunwind-ptrace as shipped, its cache on",
		  .unwind = libunwind_ptrace_cached },
		{ .what = "libunwind-ptrace as shipped", .unwind = libunwind_ptrace, .share = 4 },
	};
	const size_t count = sizeof(ways) / sizeof(ways[0]);
	char path[] = "/usr/bin/python3", option[] = "-c", program[sizeof(live_workload)];
	char seconds[] = "--seconds", long_time[] = "100000";
	char *arguments[] = { argc > 1 ? argv[1] : path, option, program, NULL, NULL };
	unsigned int stops = argc > 2 ? (unsigned int)atoi(argv[2]) : 4000;
	unsigned int interval = argc > 3 ? (unsigned int)atoi(argv[3]) : 1000;
	static struct bench bench;
	uint64_t looked_up;
	unsigned int compared;
	double baseline;

	memcpy(program, live_workload, sizeof(program));
	if (argc > 4) {
		arguments[1] = argv[4];
		arguments[2] = seconds;
		arguments[3] = long_time;
	}
	if (interval == 0)
		interval = 1;
	if (!native_target_start(&bench.target, arguments))
		return 1;
	printf("%s %s\n", arguments[0], argc > 4 ? argv[4] : "and the tests' workload");
	bench_open(&bench);
	srand(1);
	run(&bench, ways, count, stops, interval);
	looked_up = unwinder_counters(bench.subject.unwinder).rule_misses;
	compared = bench.compared ? bench.compared : 1;
	printf("  %u stops; ours: %.1f frames a stack, %.1f%% complete, %.1f%% as libunwind's, "
	       "%.2f rules looked up a stack\n",
	       bench.stops, (double)bench.frames / compared, 100.0 * bench.complete / compared,
	       100.0 * bench.same / compared,
	       (double)looked_up / (double)(ways[0].count + ways[1].count + bench.compared));
	printf("  %-42s %10s %10s %10s %9s %7s\n", "microseconds a stack", "median", "p99", "first",
	       "as ours", "stops");
	baseline = way_median(&ways[0]);
	for (size_t i = 0; i < count; i++) {
		way_print(&ways[i], baseline);
		free(ways[i].microseconds);
	}
	bench_close(&bench);
	return 0;
}
