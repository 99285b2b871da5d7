/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/heap/heap_course.h"

#include "common/clock.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Looks in a time, where they cost next to nothing, and at least. */
#define LOOKS_WANTED 20
#define LOOKS_LEAST  6
/* Of one processor: to copy, which may hold up who maps memory, and all of a look. */
#define COPY_PART           50
#define LOOK_PART           10
#define INTERVAL_ENDLESS_NS (5 * NS_PER_SECOND)
#define INTERVAL_MIN_NS     (20 * NS_PER_MS)
/* A watch begins when so much of the time is over, to have seen what grows, and to see it grow. */
#define WATCH_AFTER_PART 4
/* Of the limit of overhead, beside probes. */
#define WATCH_PART 0.5
/* A breakpoint is there after so long, by when so many objects may have been made. */
#define LEAD_S     0.0003
#define LEAD_LEAST 1
#define LEAD_MOST  40
/* So many times as often as other types. */
#define MOSTLY      3
#define TRIED_LEAST 3
/* Looks in a row that were torn: then it is the process. */
#define TORN_BELIEVED 2

struct run {
	pid_t pid;
	const struct heap_course_options *options;
	struct heap_looker *looker;
	struct heap_course *course;
	struct heap_look *last;
	uint64_t began_ns, began_cpu_ns;
	bool watch_tried, probes_tried;
	unsigned torn_in_row;
};

static uint64_t cpu_ns_of(pid_t pid)
{
	clockid_t clock;

	return clock_getcpuclockid(pid, &clock) ? 0 : clock_read_ns(clock);
}

static uint64_t largest(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t interval_ns(const struct run *run)
{
	const struct heap_growth *growth = &run->course->growth;
	uint64_t duration_ns = run->options->duration_ns;
	uint64_t taken = growth->taken ? growth->taken : 1;
	uint64_t least_ns = largest(growth->copy_cpu_ns / taken * COPY_PART,
				    growth->cpu_ns / taken * LOOK_PART);

	if (run->options->interval_ns)
		return largest(run->options->interval_ns, INTERVAL_MIN_NS);
	least_ns = largest(least_ns, INTERVAL_MIN_NS);
	if (!duration_ns)
		return largest(least_ns, INTERVAL_ENDLESS_NS);
	/* A verdict needs some, whatever they cost. */
	if (least_ns > duration_ns / LOOKS_LEAST)
		least_ns = duration_ns / LOOKS_LEAST;
	return largest(least_ns, duration_ns / LOOKS_WANTED);
}

/* How long until the next look, the last of which is at the end; 0: the time is over. */
static uint64_t pause_ns(const struct run *run)
{
	uint64_t interval = interval_ns(run), now_ns = clock_now_ns(), left;
	uint64_t elapsed = now_ns - run->began_ns;
	/* Even the first look may have been left out. */
	uint64_t looked = run->last ? now_ns - run->last->time_ns : 0;

	/* From beginning to beginning. */
	interval = interval > looked + INTERVAL_MIN_NS ? interval - looked : INTERVAL_MIN_NS;
	if (!run->options->duration_ns)
		return interval;
	if (elapsed >= run->options->duration_ns)
		return 0;
	left = run->options->duration_ns - elapsed;
	return left < interval + interval / 2 ? left : interval;
}

/* ---- what it comes to */

static int judge(struct run *run)
{
	struct heap_course *course = run->course;
	int error;

	free(course->growers);
	free(course->paths);
	course->growers = NULL;
	course->paths = NULL;
	course->grower_count = course->path_count = 0;
	error = heap_growers_find(&course->growth, &run->last->snapshot, HEAP_COURSE_GROWERS_MAX,
				  &course->growers, &course->grower_count);
	if (!error)
		error = heap_growing_paths_find(&course->growth, &run->last->snapshot,
						HEAP_COURSE_PATHS_MAX, &course->paths,
						&course->path_count);
	if (!error)
		course->verdict =
			heap_verdict_find(&course->growth, course->growers, course->grower_count,
					  course->paths, course->path_count);
	return error;
}

/* At least one: where no container decides, what is made says more than what is inserted. */
static size_t type_aims(const struct heap_course *course)
{
	size_t containers = course->verdict.kind == HEAP_VERDICT_LEAK ? course->grower_count : 0;

	return containers + HEAP_COURSE_TYPES_MAX <= HEAP_WATCH_AIMS_MAX ? HEAP_COURSE_TYPES_MAX
									 : 1;
}

static int choose_types(const struct run *run, struct heap_watch_aims *aims)
{
	const struct heap_snapshot *last = &run->last->snapshot;
	struct heap_growing_type *types;
	size_t count;
	int error = heap_growing_types_find(&run->course->growth, last, run->course->verdict.path,
					    type_aims(run->course), &types, &count);

	if (error)
		return error;
	for (size_t i = 0; i < count; i++) {
		const struct heap_type_count *type = &last->types[types[i].type];
		struct heap_watch_type *made = &aims->types[aims->type_count++];
		uint32_t block_bytes = types[i].block_bytes;

		*made = (struct heap_watch_type){
			.type = type->address,
			.link = heap_used_pools_link(&last->used_pools, block_bytes),
			.pool_bytes = last->used_pools.pool_bytes,
			.block_bytes = block_bytes,
			.prefix = type->prefix,
			.of_python = type->of_python,
			.sized = !type->of_one_size && !type->of_python,
			.lead = LEAD_LEAST + (uint32_t)fmin(LEAD_MOST, LEAD_S * types[i].per_s),
		};
		memcpy(made->name, type->name, sizeof(made->name));
	}
	free(types);
	return 0;
}

/* Those that most hangs on, with room for what is made. */
static void choose_containers(const struct run *run, struct heap_watch_aims *aims)
{
	const struct heap_course *course = run->course;
	size_t room = HEAP_WATCH_AIMS_MAX - aims->type_count;

	if (course->verdict.kind != HEAP_VERDICT_LEAK)
		return;
	for (size_t i = 0; i < course->grower_count && i < room; i++)
		aims->containers[aims->container_count++] =
			run->last->snapshot.containers.items[course->growers[i].container];
}

static bool is_worth_a_watch(const struct heap_verdict *verdict)
{
	return verdict->kind == HEAP_VERDICT_LEAK ||
	       (verdict->kind == HEAP_VERDICT_GARBAGE && verdict->bytes_per_s > 0);
}

/* All registers are for as many heaps as there are: words behind the end of each. Probes tell more.
 */
static void choose_ends(const struct run *run, struct heap_watch_aims *aims)
{
	const struct heap_snapshot *last = &run->last->snapshot;

	if (run->course->verdict.kind != HEAP_VERDICT_NATIVE || run->options->allocations ||
	    !last->end_count)
		return;
	for (aims->end_count = 0; aims->end_count < HEAP_WATCH_AIMS_MAX; aims->end_count++)
		aims->ends[aims->end_count] = last->ends[aims->end_count % last->end_count];
}

/* Only where something is found to leak is anything attached. */
static int watch(struct run *run)
{
	const struct heap_course_options *options = run->options;
	struct heap_course *course = run->course;
	struct heap_watch_options watch_options = {
		.max_overhead = options->max_overhead * (options->allocations ? WATCH_PART : 1),
		.stop_signal = options->stop_signal,
		.impersonator = options->look.impersonator,
	};
	struct heap_watch_aims aims = { .container_count = 0 };
	uint64_t cpu_ns = cpu_ns_of(run->pid);

	choose_ends(run, &aims);
	if (!is_worth_a_watch(&course->verdict) && !aims.end_count)
		return 0;
	if (!aims.end_count && choose_types(run, &aims))
		return -ENOMEM;
	choose_containers(run, &aims);
	if (!aims.container_count && !aims.type_count && !aims.end_count)
		return 0;
	run->watch_tried = true;
	if (cpu_ns > run->began_cpu_ns)
		watch_options.earned_cpu_ns = cpu_ns - run->began_cpu_ns;
	course->watch = heap_watch_start(run->pid, &aims, &watch_options, &course->watch_error);
	course->watch_state = course->watch ? HEAP_WATCH_DONE : HEAP_WATCH_REFUSED;
	return 0;
}

/* No length of a container tells where that is made. */
static bool is_worth_probes(const struct heap_verdict *verdict)
{
	return verdict->kind == HEAP_VERDICT_NATIVE ||
	       (verdict->kind == HEAP_VERDICT_LEAK && !verdict->grower_decided);
}

static void probe(struct run *run)
{
	const struct heap_course_options *options = run->options;
	struct heap_course *course = run->course;

	if (!options->allocations || run->probes_tried || !is_worth_probes(&course->verdict))
		return;
	run->probes_tried = true;
	course->probes = heap_probes_start(run->pid, options->max_overhead * (1 - WATCH_PART),
					   options->look.impersonator, &course->probes_error);
	course->probes_state = course->probes ? HEAP_WATCH_DONE : HEAP_WATCH_REFUSED;
}

/* Once it is known what grows, and for as long as there is time to see it grow. */
static int attach(struct run *run, uint64_t elapsed_ns)
{
	const struct heap_course_options *options = run->options;

	if (elapsed_ns < options->duration_ns / WATCH_AFTER_PART ||
	    (options->duration_ns && elapsed_ns >= options->duration_ns))
		return 0;
	probe(run);
	return options->no_watch || run->watch_tried ? 0 : watch(run);
}

static int look_once(struct run *run, struct error *error)
{
	struct heap_probes *probes = run->course->probes;
	struct heap_questions questions = { .count = 0 };
	struct heap_look *look;
	uint64_t elapsed_ns;

	if (probes)
		questions = heap_probes_ask(probes);
	else if (run->course->watch)
		questions = heap_watch_ask(run->course->watch);
	look = heap_looker_look(run->looker, &questions, error);
	elapsed_ns = clock_now_ns() - run->began_ns;
	if (!look)
		return -1;
	switch (heap_growth_tear(&run->course->growth, look)) {
	case HEAP_TEAR_THIS:
		if (run->torn_in_row++ >= TORN_BELIEVED)
			break;
		run->course->growth.torn++;
		heap_look_destroy(look);
		return 0;
	case HEAP_TEAR_BEFORE:
		if (run->course->growth.looks == 1) {
			run->course->growth.torn++;
			heap_growth_restart(&run->course->growth);
		}
		break;
	case HEAP_TEAR_NONE:
		break;
	}
	run->torn_in_row = 0;
	if (probes)
		heap_probes_answer(probes, look);
	else if (run->course->watch)
		heap_watch_answer(run->course->watch, look);
	heap_look_destroy(run->last);
	run->last = look;
	memory_limit_read(run->pid, &run->course->limit);
	if (heap_growth_add(&run->course->growth, look) || judge(run)) {
		error_set(error, EXIT_INTERNAL, "out of memory");
		return -1;
	}
	if (attach(run, elapsed_ns)) {
		error_set(error, EXIT_INTERNAL, "out of memory");
		return -1;
	}
	return 0;
}

static int look_on(struct run *run, struct error *error)
{
	if (look_once(run, error))
		return -1;
	for (;;) {
		uint64_t pause = pause_ns(run);

		if (!pause ||
		    run->options->wait(run->options->context, pause, run->course->growth.taken))
			return 0;
		if (!look_once(run, error))
			continue;
		/* What was seen before is worth telling, unless it cannot be. */
		run->course->ended = error->exit_code == EXIT_NO_TARGET;
		return run->course->ended ? 0 : -1;
	}
}

static void detach(struct heap_course *course)
{
	if (course->probes)
		heap_probes_end(course->probes);
	if (!course->watch)
		return;
	heap_watch_end(course->watch);
	if (!heap_watch_error(course->watch))
		return;
	course->watch_error = *heap_watch_error(course->watch);
	course->watch_state = HEAP_WATCH_REFUSED;
}

struct heap_look *heap_course_take(pid_t pid, const struct heap_course_options *options,
				   struct error *error)
{
	struct run run = { .pid = pid, .options = options, .began_ns = clock_now_ns() };
	int failure;

	run.began_cpu_ns = cpu_ns_of(pid);
	run.course = calloc(1, sizeof(*run.course));
	if (!run.course || heap_growth_init(&run.course->growth)) {
		error_set(error, EXIT_INTERNAL, "out of memory");
		heap_course_destroy(run.course);
		return NULL;
	}
	run.course->watch_state = options->no_watch ? HEAP_WATCH_UNWANTED : HEAP_WATCH_NOT_NEEDED;
	run.course->probes_state =
		options->allocations ? HEAP_WATCH_NOT_NEEDED : HEAP_WATCH_UNWANTED;
	run.looker = heap_looker_create(pid, &options->look, error);
	failure = run.looker ? look_on(&run, error) : -1;
	detach(run.course);
	heap_looker_destroy(run.looker);
	if (!failure && !run.last) {
		error_set(error, EXIT_NO_TARGET,
			  "process %d has ended before a look at it was of use", (int)pid);
		failure = -1;
	}
	if (failure) {
		heap_look_destroy(run.last);
		heap_course_destroy(run.course);
		return NULL;
	}
	run.last->course = run.course;
	return run.last;
}

void heap_course_destroy(struct heap_course *course)
{
	if (!course)
		return;
	heap_watch_destroy(course->watch);
	heap_probes_destroy(course->probes);
	heap_growth_deinit(&course->growth);
	free(course->growers);
	free(course->paths);
	free(course);
}

/* Without a watch there are none. */
static size_t watched_of(const struct heap_course *course, const struct heap_watched **ret_watched)
{
	size_t count = 0;

	*ret_watched = course->watch ? heap_watch_results(course->watch, &count) : NULL;
	return count;
}

const struct heap_watched *heap_course_watched(const struct heap_course *course,
					       const struct heap_snapshot *last,
					       const struct heap_grower *grower)
{
	const struct heap_container *container = &last->containers.items[grower->container];
	const struct heap_watched *watched;
	size_t count = watched_of(course, &watched);

	for (size_t i = 0; i < count; i++)
		if (watched[i].container.address == container->address &&
		    watched[i].container.type == container->type)
			return &watched[i];
	return NULL;
}

/*
 * Objects of built-in types that were dropped are used again without the allocator, so that it may
 * be their makers alone who need fresh blocks: such a type is believed where most objects that were
 * seen stayed. Where that was not looked at, it is nearly alone in the blocks, and no class or
 * chain says more.
 */
static bool is_believed(const struct heap_watched *watched, size_t count,
			const struct heap_watched *one)
{
	if (!one->made.type)
		return false;
	if (one->made.of_python)
		return true;
	for (size_t i = 0; i < count; i++)
		if ((watched[i].made.of_python || (watched[i].made.sized && !one->made.sized)) &&
		    watched[i].grown)
			return false;
	if (one->made.sized)
		return one->tried >= TRIED_LEAST && 2 * one->stayed >= one->tried;
	return one->grown >= MOSTLY * one->others;
}

const struct heap_watched *heap_course_made(const struct heap_course *course, size_t number)
{
	const struct heap_watched *watched;
	size_t count = watched_of(course, &watched);

	for (size_t i = 0; i < count; i++)
		if (is_believed(watched, count, &watched[i]) && !number--)
			return &watched[i];
	return NULL;
}

const struct heap_watched *heap_course_filled(const struct heap_course *course)
{
	const struct heap_watched *watched;
	size_t count = watched_of(course, &watched);

	for (size_t i = 0; i < count; i++)
		if (watched[i].end && watched[i].stayed >= TRIED_LEAST)
			return &watched[i];
	return NULL;
}

bool heap_course_is_native(const struct heap_course *course)
{
	return course->verdict.kind == HEAP_VERDICT_NATIVE;
}

const struct heap_kept_result *heap_course_kept(const struct heap_course *course)
{
	return course->probes ? heap_probes_result(course->probes, heap_course_is_native(course),
						   course->verdict.bytes_per_s)
			      : NULL;
}

double heap_course_seconds_left(const struct heap_course *course)
{
	const struct memory_limit *limit = &course->limit;

	if (!limit->known || course->verdict.rss_per_s <= 0)
		return 0;
	return (double)(limit->limit_bytes - limit->used_bytes) / course->verdict.rss_per_s;
}
