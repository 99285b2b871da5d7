/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Probes in a child of ours: what it calls is reported with arguments and results, by both ways of
 * setting them, and its code is as before when they are gone. Skipped where that is not permitted.
 */
#include "attach/mpi_probes.h"

#include "attach/procfs.h"
#include "common/clock.h"
#include "tests/must.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define CALLS     50
#define REQUESTS  100
#define CODE      16
#define RECORDS   256
#define FUNCTIONS 2

static const struct mpi_wanted nothing_else = { .switches = -1, .faults = -1 };

/* As the library's: requests and what they are waited with. */
struct status {
	int32_t source, tag, error, cancelled;
	uint64_t count;
};

__attribute__((noinline)) static int inner(uint64_t *in, uint64_t *out, struct status *status,
					   int *flag, uint64_t fifth, uint64_t sixth,
					   uint64_t seventh, uint64_t eighth)
{
	*out = *in + 1;
	status->source = (int32_t)fifth;
	status->tag = (int32_t)sixth;
	*flag = 1;
	__asm__ volatile("" ::"r"(seventh), "r"(eighth) : "memory");
	return 0;
}

__attribute__((noinline)) static int outer(int count, uint64_t *requests, struct status *statuses)
{
	uint64_t in = 1, out;
	int flag;

	for (int i = 0; i < count; i++)
		statuses[i].tag = i;
	/* As some functions of MPI call others. */
	return inner(&in, &out, statuses, &flag, 1, 2, 3, (uint64_t)(uintptr_t)requests);
}

static void *call_once(void *argument)
{
	struct status status;
	uint64_t in = 41, out;
	int flag;

	(void)argument;
	(void)inner(&in, &out, &status, &flag, 1, 2, 3, 4);
	return NULL;
}

/* Each byte that comes is a round of calls, the last in another thread; then one that says so. */
static void work(int orders, int answers)
{
	static struct status statuses[REQUESTS];
	static uint64_t requests[REQUESTS];
	char order;

	for (int i = 0; i < REQUESTS; i++)
		requests[i] = 1000 + (uint64_t)i;
	while (read(orders, &order, 1) == 1) {
		struct status status;
		pthread_t thread;
		uint64_t out;
		int flag;

		for (uint64_t i = 0; i < CALLS; i++)
			(void)inner(&i, &out, &status, &flag, i, 6, 7, 8);
		(void)outer(REQUESTS, requests, statuses);
		must(!pthread_create(&thread, NULL, call_once, NULL));
		must(!pthread_join(thread, NULL));
		must(write(answers, &order, 1) == 1);
	}
	_exit(0);
}

struct child {
	pid_t pid;
	int orders, answers, program;
	struct mpi_place places[FUNCTIONS];
	uint64_t addresses[FUNCTIONS];
};

static void start(struct child *child)
{
	int orders[2], answers[2];
	struct mapping_list mappings = { 0 };

	must(!pipe(orders) && !pipe(answers));
	child->pid = fork();
	must(child->pid >= 0);
	if (!child->pid) {
		close(orders[1]);
		work(orders[0], answers[1]);
	}
	close(orders[0]);
	close(answers[1]);
	child->orders = orders[1];
	child->answers = answers[0];
	child->program = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	must(child->program >= 0 && !procfs_read_mappings(getpid(), &mappings));
	child->addresses[0] = (uintptr_t)inner;
	child->addresses[1] = (uintptr_t)outer;
	for (unsigned i = 0; i < FUNCTIONS; i++) {
		const struct mapping *mapping = mapping_find(&mappings, child->addresses[i]);

		must(mapping);
		child->places[i] = (struct mpi_place){ i, child->addresses[i] - mapping->start +
								  mapping->file_offset };
	}
	mapping_list_deinit(&mappings);
}

static void do_a_round(const struct child *child)
{
	char byte = 'x';

	must(write(child->orders, &byte, 1) == 1);
	must(read(child->answers, &byte, 1) == 1);
}

static void end(struct child *child)
{
	int status;

	close(child->orders);
	close(child->answers);
	close(child->program);
	must(waitpid(child->pid, &status, 0) == child->pid);
	assert_int_equal(status, 0);
}

static void read_code(const struct child *child, uint8_t ret_code[CODE])
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)child->pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	must(fd >= 0);
	must(pread(fd, ret_code, CODE, (off_t)child->addresses[0]) == CODE);
	close(fd);
}

/* ---- what is reported ---- */

static struct mpi_record records[RECORDS];
static size_t record_count;
static uint64_t handles[REQUESTS];
static int32_t tags[REQUESTS];
static size_t handle_count, status_count;

static void take_call(void *context, const struct mpi_record *record)
{
	(void)context;
	must(record_count < RECORDS);
	records[record_count++] = *record;
}

static void take_chunk(void *context, const struct mpi_chunk *chunk)
{
	(void)context;
	must(chunk->first + chunk->count <= REQUESTS);
	if (chunk->kind == MPI_RECORD_HANDLES) {
		memcpy(handles + chunk->first, chunk->words, chunk->count * sizeof(handles[0]));
		handle_count += chunk->count;
		return;
	}
	assert_int_equal(chunk->kind, MPI_RECORD_STATUSES);
	for (unsigned i = 0; i < chunk->count; i++)
		memcpy(&tags[chunk->first + i],
		       (const char *)chunk->words + i * sizeof(struct status) + 4, sizeof(tags[0]));
	status_count += chunk->count;
}

static struct span_record spans[RECORDS];
static size_t span_count;

static void take_span(void *context, const struct span_record *span)
{
	(void)context;
	must(span_count < RECORDS);
	spans[span_count++] = *span;
}

static const struct mpi_taker taker = {
	.call = take_call, .chunk = take_chunk, .span = take_span, .context = NULL
};

static void forget(void)
{
	record_count = handle_count = status_count = span_count = 0;
}

static void check_calls(const struct child *child)
{
	assert_int_equal(record_count, CALLS + 2);
	for (size_t i = 0; i < CALLS; i++) {
		const struct mpi_record *record = &records[i];

		assert_int_equal(record->function, 0);
		assert_int_equal(record->tid, child->pid);
		assert_true(record->flags & MPI_IS_MAIN);
		assert_true(record->begin_ns <= record->end_ns);
		assert_true(!i || records[i - 1].end_ns <= record->begin_ns);
		assert_int_equal(record->ip, child->addresses[0]);
		assert_int_equal(record->words[4], i);
		assert_int_equal(record->words[7], 8);
		assert_int_equal(record->handle_in, i);
		assert_int_equal(record->handle_out, i + 1);
		assert_true(record->flags & MPI_HAS_STATUS);
		assert_int_equal(record->source, i);
		assert_int_equal(record->tag, 6);
		assert_int_equal(record->flag, 1);
	}
	/* The function that it calls is part of it. */
	assert_int_equal(records[CALLS].function, 1);
	assert_int_equal(records[CALLS + 1].handle_in, 41);
	assert_int_not_equal(records[CALLS + 1].tid, child->pid);
	assert_false(records[CALLS + 1].flags & MPI_IS_MAIN);
	assert_int_equal(handle_count, REQUESTS);
	assert_int_equal(status_count, REQUESTS);
	for (size_t i = 0; i < REQUESTS; i++) {
		assert_int_equal(handles[i], 1000 + i);
		assert_int_equal(tags[i], i ? (int)i : 2);
	}
}

static void check_way(enum mpi_probes_way way)
{
	const uint8_t no = MPI_ABSENT;
	const struct mpi_shape shapes[FUNCTIONS] = {
		{ 0, 1, 2, 3, no, no, no, no, no, { no, no }, 0 },
		{ no, no, no, no, no, 1, 0, 2, no, { no, no }, 0 },
	};
	const struct mpi_target layout = { .handle_bytes = 8,
					   .status_bytes = sizeof(struct status),
					   .status_tag = 4,
					   .type_size = MPI_ABSENT,
					   .limit = 1000000 };
	uint8_t before[CODE], code[CODE];
	struct mpi_probes *probes;
	struct mpi_target counts;
	struct child child;
	struct error error;
	unsigned slot;

	probes = mpi_probes_create(shapes, FUNCTIONS, way, &nothing_else, &error);
	if (!probes && (getuid() || way == MPI_PROBES_LINK))
		skip();
	assert_non_null(probes);
	start(&child);
	do_a_round(&child);
	read_code(&child, before);
	assert_int_equal(mpi_probes_add(probes, child.pid, child.program, child.places, FUNCTIONS,
					&layout, &slot),
			 0);
	read_code(&child, code);
	assert_int_equal(code[0], 0xcc);
	forget();
	do_a_round(&child);
	mpi_probes_read(probes, &taker, 0);
	assert_int_equal(record_count, 0);
	mpi_probes_record(probes, slot, true);
	do_a_round(&child);
	mpi_probes_read(probes, &taker, 0);
	check_calls(&child);
	counts = mpi_probes_counts(probes, slot);
	assert_int_equal(counts.nested, 1);
	assert_int_equal(counts.dropped + counts.over_limit, 0);
	/* We do the same and are not traced. */
	forget();
	(void)outer(REQUESTS, handles, (struct status[REQUESTS]){ { 0 } });
	mpi_probes_read(probes, &taker, 0);
	assert_int_equal(record_count, 0);
	mpi_probes_remove(probes, slot);
	read_code(&child, code);
	assert_memory_equal(code, before, CODE);
	do_a_round(&child);
	mpi_probes_destroy(probes);
	end(&child);
}

static void test_links(void **state)
{
	(void)state;
	check_way(MPI_PROBES_LINK);
}

static void test_events(void **state)
{
	(void)state;
	check_way(MPI_PROBES_EVENTS);
}

/* Beyond the limit calls and their time are counted. */
static void test_limit(void **state)
{
	const uint8_t no = MPI_ABSENT;
	const struct mpi_shape shape = { no, no, no, no, no, no, no, no, no, { no, no }, 0 };
	const struct mpi_target layout = { .handle_bytes = 8, .type_size = MPI_ABSENT, .limit = 5 };
	struct mpi_probes *probes;
	struct mpi_target counts;
	struct child child;
	struct error error;
	unsigned slot;

	(void)state;
	probes = mpi_probes_create(&shape, 1, MPI_PROBES_AUTO, &nothing_else, &error);
	if (!probes && getuid())
		skip();
	assert_non_null(probes);
	start(&child);
	assert_int_equal(
		mpi_probes_add(probes, child.pid, child.program, child.places, 1, &layout, &slot),
		0);
	mpi_probes_record(probes, slot, true);
	forget();
	do_a_round(&child);
	mpi_probes_read(probes, &taker, 0);
	counts = mpi_probes_counts(probes, slot);
	/* A round may be in two windows. */
	assert_in_range(record_count, 5, 10);
	assert_int_equal(record_count + counts.over_limit, CALLS + 2);
	assert_true(counts.over_ns > 0);
	mpi_probes_destroy(probes);
	end(&child);
}

/* Functions that are not MPI's, one within the other, and in more threads; too short ones. */
static void check_spans(enum mpi_probes_way way)
{
	const struct mpi_target layout = { .handle_bytes = 8,
					   .type_size = MPI_ABSENT,
					   .limit = 1000000 };
	const uint8_t no = MPI_ABSENT;
	const struct mpi_shape shape = { no, no, no, no, no, no, no, no, no, { no, no }, 0 };
	struct mpi_probes *probes;
	struct span_counts counts;
	uint8_t before[CODE], code[CODE];
	struct child child;
	struct error error;
	unsigned slot;

	probes = mpi_probes_create(&shape, 1, way, &nothing_else, &error);
	if (!probes && (getuid() || way == MPI_PROBES_LINK))
		skip();
	assert_non_null(probes);
	start(&child);
	read_code(&child, before);
	assert_int_equal(mpi_probes_add(probes, child.pid, -1, NULL, 0, &layout, &slot), 0);
	assert_int_equal(mpi_probes_configure_span(probes, 0, 0), 0);
	assert_int_equal(mpi_probes_configure_span(probes, 1, UINT64_MAX), 0);
	assert_int_equal(mpi_probes_configure_span(probes, SPANS_MAX, 0), -E2BIG);
	for (unsigned i = 0; i < FUNCTIONS; i++) {
		const struct span_place place = { .begin = child.places[i].file_offset };

		assert_int_equal(
			mpi_probes_add_span(probes, slot, child.pid, child.program, &place, i), 0);
	}
	mpi_probes_record(probes, slot, true);
	forget();
	do_a_round(&child);
	mpi_probes_read(probes, &taker, 0);
	/* The outer one is too short for a record. */
	assert_int_equal(span_count, CALLS + 2);
	for (size_t i = 0; i < span_count; i++) {
		assert_int_equal(spans[i].span, 0);
		assert_int_equal(spans[i].slot, slot);
		assert_true(spans[i].begin_ns < spans[i].end_ns);
		assert_int_equal(spans[i].tid == (uint32_t)child.pid, i <= CALLS);
	}
	counts = mpi_probes_span_counts(probes, slot, 0);
	assert_int_equal(counts.begun, CALLS + 2);
	assert_int_equal(counts.ended, CALLS + 2);
	assert_int_equal(counts.short_ones + counts.over_limit, 0);
	counts = mpi_probes_span_counts(probes, slot, 1);
	assert_int_equal(counts.short_ones, 1);
	assert_true(counts.short_ns > 0);
	/* One alone is taken out. */
	mpi_probes_remove_span(probes, slot, 0);
	read_code(&child, code);
	assert_memory_equal(code, before, CODE);
	do_a_round(&child);
	assert_int_equal(mpi_probes_span_counts(probes, slot, 0).begun, CALLS + 2);
	assert_int_equal(mpi_probes_span_counts(probes, slot, 1).begun, 2);
	mpi_probes_remove(probes, slot);
	mpi_probes_destroy(probes);
	end(&child);
}

static void test_spans_by_links(void **state)
{
	(void)state;
	check_spans(MPI_PROBES_LINK);
}

static void test_spans_by_events(void **state)
{
	(void)state;
	check_spans(MPI_PROBES_EVENTS);
}

/* Blocked, in what it does between two rounds. */
static void await_sleep(const struct child *child)
{
	struct process_times times = { .state = 0 };

	while (times.state != 'S')
		must(!procfs_read_times(child->pid, 0, &times));
}

/* Between two rounds the child waits in read(2), and is in no other process's account. */
static void test_switches(void **state)
{
	const struct mpi_wanted wanted = { .switches = 3, .faults = -1 };
	const struct mpi_target layout = { .handle_bytes = 8,
					   .type_size = MPI_ABSENT,
					   .limit = 1000000 };
	const uint8_t no = MPI_ABSENT;
	const struct mpi_shape shape = { no, no, no, no, no, no, no, no, no, { no, no }, 0 };
	uint64_t begin_ns = clock_now_ns();
	struct mpi_probes *probes;
	struct span_counts counts;
	uint8_t before[CODE], code[CODE];
	struct child child;
	struct error error;
	unsigned slot, reads = 0;

	(void)state;
	probes = mpi_probes_create(&shape, 1, MPI_PROBES_AUTO, &wanted, &error);
	if (!probes && getuid())
		skip();
	assert_non_null(probes);
	start(&child);
	read_code(&child, before);
	assert_int_equal(mpi_probes_add(probes, child.pid, -1, NULL, 0, &layout, &slot), 0);
	assert_int_equal(mpi_probes_configure_span(probes, 3, 0), 0);
	forget();
	do_a_round(&child);
	await_sleep(&child);
	mpi_probes_record(probes, slot, true);
	do_a_round(&child);
	await_sleep(&child);
	mpi_probes_read(probes, &taker, 0);
	/* It was not asked for this process. */
	assert_int_equal(span_count, 0);
	assert_int_equal(mpi_probes_add_switches(probes, slot, child.pid), 0);
	/* In the first one it has waited since before. */
	for (unsigned i = 0; i < 6; i++) {
		do_a_round(&child);
		await_sleep(&child);
	}
	mpi_probes_read(probes, &taker, 0);
	for (size_t i = 0; i < span_count; i++) {
		assert_int_equal(spans[i].span, 3);
		assert_int_equal(spans[i].slot, slot);
		assert_true(spans[i].begin_ns > begin_ns && spans[i].begin_ns < spans[i].end_ns);
		assert_in_range(spans[i].detail - SWITCH_READY, 0, SWITCH_CALLS_MAX);
		reads += spans[i].detail == SYS_read && spans[i].tid == (uint32_t)child.pid;
	}
	/* It may be woken when it is about to leave the processor. */
	assert_in_range(reads, 1, 5);
	forget();
	do
		counts = mpi_probes_span_counts(probes, slot, 3);
	while (counts.begun != counts.ended + 1);
	mpi_probes_record(probes, slot, false);
	mpi_probes_read_open(probes, &taker);
	assert_int_equal(span_count, 1);
	assert_int_equal(spans[0].detail, SYS_read);
	assert_int_equal(spans[0].flags, SPAN_IS_OPEN);
	counts = mpi_probes_span_counts(probes, slot, 3);
	assert_int_equal(counts.begun, counts.ended + 1);
	assert_int_equal(counts.short_ones + counts.over_limit, 0);
	read_code(&child, code);
	assert_memory_equal(code, before, CODE);
	mpi_probes_remove(probes, slot);
	do_a_round(&child);
	assert_int_equal(mpi_probes_span_counts(probes, slot, 3).begun, counts.begun);
	mpi_probes_destroy(probes);
	end(&child);
	/* One that was not loaded for it. */
	probes = mpi_probes_create(&shape, 1, MPI_PROBES_AUTO, &nothing_else, &error);
	assert_non_null(probes);
	assert_int_equal(mpi_probes_add_switches(probes, 0, 1), -ENOTSUP);
	mpi_probes_destroy(probes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_links),           cmocka_unit_test(test_events),
		cmocka_unit_test(test_limit),           cmocka_unit_test(test_spans_by_links),
		cmocka_unit_test(test_spans_by_events), cmocka_unit_test(test_switches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
