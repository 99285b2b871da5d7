/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Page faults of a child of ours: each is reported, with its time and whether the page had to be
 * read in, as many as the kernel's own account has. Skipped where that is not permitted.
 */
#include "attach/mpi_probes.h"

#include "common/clock.h"
#include "tests/must.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define SPAN       5
#define PAGE       4096u
#define PAGES      300u
#define FILE_PAGES 64u
/* More than may have a record in a moment. */
#define MANY_PAGES (3 * SWITCH_LIMIT)
#define RECORDS    (16 * SWITCH_LIMIT)

static const struct mpi_wanted wanted = { .switches = -1, .faults = SPAN };
static const struct mpi_wanted nothing_else = { .switches = -1, .faults = -1 };

/* The kernel's account of a child's round. */
struct account {
	uint64_t minor, major, begin_ns, end_ns;
};

static void touch(uint32_t pages)
{
	volatile uint8_t *bytes = mmap(NULL, (size_t)pages * PAGE, PROT_READ | PROT_WRITE,
				       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	must(bytes != MAP_FAILED);
	/* A fault each. */
	(void)madvise((void *)(uintptr_t)bytes, (size_t)pages * PAGE, MADV_NOHUGEPAGE);
	for (uint32_t i = 0; i < pages; i++)
		bytes[(size_t)i * PAGE] = 1;
	must(!munmap((void *)(uintptr_t)bytes, (size_t)pages * PAGE));
}

/* Of a file whose pages are not in memory, where the file system lets them go. */
static void read_in(int fd)
{
	volatile uint8_t *bytes;
	unsigned sum = 0;

	must(!posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED));
	bytes = mmap(NULL, (size_t)FILE_PAGES * PAGE, PROT_READ, MAP_SHARED, fd, 0);
	must(bytes != MAP_FAILED);
	(void)madvise((void *)(uintptr_t)bytes, (size_t)FILE_PAGES * PAGE, MADV_RANDOM);
	for (uint32_t i = 0; i < FILE_PAGES; i++)
		sum += bytes[(size_t)i * PAGE];
	must(sum == FILE_PAGES);
	must(!munmap((void *)(uintptr_t)bytes, (size_t)FILE_PAGES * PAGE));
}

static int file_with_pages(void)
{
	static uint8_t page[PAGE] = { 1 };
	char path[] = "attach_fault_probes-XXXXXX";
	int fd = mkstemp(path);

	must(fd >= 0 && !unlink(path));
	for (uint32_t i = 0; i < FILE_PAGES; i++)
		must(write(fd, page, sizeof(page)) == (ssize_t)sizeof(page));
	must(!fsync(fd));
	return fd;
}

/* Each number that comes is so many pages to be touched; an account goes back. */
static void work(int orders, int answers)
{
	int fd = file_with_pages();
	uint32_t pages;

	while (read(orders, &pages, sizeof(pages)) == (ssize_t)sizeof(pages)) {
		struct account account = { .begin_ns = clock_now_ns() };
		struct rusage before, after;

		must(!getrusage(RUSAGE_SELF, &before));
		touch(pages);
		read_in(fd);
		must(!getrusage(RUSAGE_SELF, &after));
		account.minor = (uint64_t)(after.ru_minflt - before.ru_minflt);
		account.major = (uint64_t)(after.ru_majflt - before.ru_majflt);
		account.end_ns = clock_now_ns();
		must(write(answers, &account, sizeof(account)) == (ssize_t)sizeof(account));
	}
	_exit(0);
}

struct child {
	pid_t pid;
	int orders, answers;
};

static void start(struct child *child)
{
	int orders[2], answers[2];

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
}

static struct account do_a_round(const struct child *child, uint32_t pages)
{
	struct account account;

	must(write(child->orders, &pages, sizeof(pages)) == (ssize_t)sizeof(pages));
	must(read(child->answers, &account, sizeof(account)) == (ssize_t)sizeof(account));
	return account;
}

static void end(struct child *child)
{
	int status;

	close(child->orders);
	close(child->answers);
	must(waitpid(child->pid, &status, 0) == child->pid);
	assert_int_equal(status, 0);
}

static struct span_record spans[RECORDS];
static size_t span_count;

static void take_span(void *context, const struct span_record *span)
{
	(void)context;
	must(span_count < RECORDS);
	spans[span_count++] = *span;
}

static const struct mpi_taker taker = { .span = take_span };

/* Records within the round, by kind. */
static uint64_t count_of(const struct account *account, const struct child *child, int32_t detail)
{
	uint64_t count = 0;

	for (size_t i = 0; i < span_count; i++) {
		assert_int_equal(spans[i].span, SPAN);
		assert_int_equal(spans[i].tid, child->pid);
		assert_true(spans[i].begin_ns <= spans[i].end_ns);
		assert_in_range(spans[i].detail, FAULT_MINOR, FAULT_MAJOR);
		count += spans[i].detail == detail && spans[i].begin_ns >= account->begin_ns &&
			 spans[i].end_ns <= account->end_ns;
	}
	return count;
}

static struct mpi_probes *probes_of(const struct child *child, unsigned *ret_slot)
{
	const struct mpi_target layout = { .handle_bytes = 8,
					   .type_size = MPI_ABSENT,
					   .limit = 1000000 };
	const uint8_t no = MPI_ABSENT;
	const struct mpi_shape shape = { no, no, no, no, no, no, no, no, no, { no, no }, 0 };
	struct error error;
	struct mpi_probes *probes = mpi_probes_create(&shape, 1, MPI_PROBES_AUTO, &wanted, &error);

	if (!probes && getuid())
		return NULL;
	assert_non_null(probes);
	assert_int_equal(mpi_probes_add(probes, child->pid, -1, NULL, 0, &layout, ret_slot), 0);
	assert_int_equal(mpi_probes_configure_span(probes, SPAN, 0), 0);
	return probes;
}

static void test_faults(void **state)
{
	struct span_counts counts;
	struct account account;
	struct mpi_probes *probes;
	struct child child;
	unsigned slot;

	(void)state;
	start(&child);
	probes = probes_of(&child, &slot);
	if (!probes) {
		end(&child);
		skip();
	}
	mpi_probes_record(probes, slot, true);
	(void)do_a_round(&child, PAGES);
	mpi_probes_read(probes, &taker, 0);
	/* It was not asked for this process. */
	assert_int_equal(span_count, 0);
	assert_int_equal(mpi_probes_add_faults(probes, slot, child.pid), 0);
	account = do_a_round(&child, PAGES);
	mpi_probes_read(probes, &taker, 0);
	assert_true(account.minor >= PAGES);
	/* Between its two looks at the account and at the clock there may be one more. */
	assert_in_range(count_of(&account, &child, FAULT_MINOR), account.minor, account.minor + 2);
	assert_int_equal(count_of(&account, &child, FAULT_MAJOR), account.major);
	counts = mpi_probes_span_counts(probes, slot, SPAN);
	assert_int_equal(counts.begun, counts.ended);
	assert_int_equal(counts.begun, span_count);
	assert_int_equal(counts.over_limit + counts.short_ones, 0);
	mpi_probes_remove(probes, slot);
	(void)do_a_round(&child, PAGES);
	assert_int_equal(mpi_probes_span_counts(probes, slot, SPAN).begun, counts.begun);
	mpi_probes_destroy(probes);
	end(&child);
}

/* What is over the limit is counted, with its time. */
static void test_limit(void **state)
{
	struct span_counts counts;
	struct account account;
	struct mpi_probes *probes;
	struct child child;
	uint64_t windows;
	unsigned slot;

	(void)state;
	start(&child);
	probes = probes_of(&child, &slot);
	if (!probes) {
		end(&child);
		skip();
	}
	span_count = 0;
	assert_int_equal(mpi_probes_add_faults(probes, slot, child.pid), 0);
	mpi_probes_record(probes, slot, true);
	account = do_a_round(&child, MANY_PAGES);
	mpi_probes_record(probes, slot, false);
	mpi_probes_read(probes, &taker, 0);
	counts = mpi_probes_span_counts(probes, slot, SPAN);
	windows = (account.end_ns - account.begin_ns) / MPI_WINDOW_NS + 2;
	assert_in_range(counts.begun, account.minor + account.major,
			account.minor + account.major + 10);
	assert_int_equal(span_count + counts.over_limit, counts.begun);
	assert_in_range(span_count, 1, windows * SWITCH_LIMIT);
	assert_true(!counts.over_limit == !counts.over_ns);
	assert_true(counts.over_ns < account.end_ns - account.begin_ns);
	mpi_probes_destroy(probes);
	end(&child);
}

/* A program that was not loaded for it. */
static void test_unwanted(void **state)
{
	const uint8_t no = MPI_ABSENT;
	const struct mpi_shape shape = { no, no, no, no, no, no, no, no, no, { no, no }, 0 };
	struct error error;
	struct mpi_probes *probes =
		mpi_probes_create(&shape, 1, MPI_PROBES_AUTO, &nothing_else, &error);

	(void)state;
	if (!probes && getuid())
		skip();
	assert_non_null(probes);
	assert_int_equal(mpi_probes_add_faults(probes, 0, 1), -ENOTSUP);
	mpi_probes_destroy(probes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_faults),
		cmocka_unit_test(test_limit),
		cmocka_unit_test(test_unwanted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
