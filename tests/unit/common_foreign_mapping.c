/* SPDX-License-Identifier: Apache-2.0 */
/* Mapped files that others truncate, replace and write while they are read here. */
#include "common/foreign_mapping.h"

#include "tests/must.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define PAGE    4096u
#define PAGES   16u
#define THREADS 4
#define ROUNDS  2000

/* A file of that many pages, each full of its number and 1. */
static int make_file(unsigned pages)
{
	int fd = memfd_create("foreign", MFD_CLOEXEC);
	uint8_t page[PAGE];

	assert_true(fd >= 0);
	for (unsigned i = 0; i < pages; i++) {
		memset(page, (int)(i + 1), sizeof(page));
		must(pwrite(fd, page, sizeof(page), (off_t)i * PAGE) == (ssize_t)sizeof(page));
	}
	return fd;
}

static struct foreign_mapping map(int fd, size_t size)
{
	struct foreign_mapping mapping;

	must(foreign_mapping_open(fd, size, &mapping) == 0);
	return mapping;
}

static uint8_t read_byte(const struct foreign_mapping *mapping, size_t offset)
{
	return *(volatile const uint8_t *)(mapping->bytes + offset);
}

static void test_truncated(void **state)
{
	int fd = make_file(PAGES);
	struct foreign_mapping mapping = map(fd, PAGES * PAGE), other = map(fd, PAGES * PAGE);

	(void)state;
	assert_int_equal(read_byte(&mapping, 0), 1);
	assert_int_equal(read_byte(&mapping, PAGES * PAGE - 1), PAGES);
	assert_int_equal(ftruncate(fd, 5 * PAGE + 7), 0);
	assert_false(foreign_mapping_has_lost(&mapping));
	assert_int_equal(read_byte(&mapping, 5 * PAGE + 6), 6);
	assert_int_equal(read_byte(&mapping, 5 * PAGE + 7), 0);
	assert_false(foreign_mapping_has_lost(&mapping));
	for (size_t at = 6 * PAGE; at < PAGES * PAGE; at += 100)
		assert_int_equal(read_byte(&mapping, at), 0);
	assert_true(foreign_mapping_has_lost(&mapping));
	assert_false(foreign_mapping_has_lost(&other));
	/* What is there still is the file's. */
	assert_int_equal(read_byte(&mapping, 4 * PAGE), 5);
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(read_byte(&mapping, 0), 0);
	foreign_mapping_close(&mapping);
	assert_null(mapping.bytes);
	foreign_mapping_close(&mapping);
	assert_int_equal(read_byte(&other, 0), 0);
	foreign_mapping_close(&other);
	close(fd);
}

static void test_grown(void **state)
{
	int fd = make_file(2);
	struct foreign_mapping mapping = map(fd, 2 * PAGE);

	(void)state;
	assert_int_equal(pwrite(fd, "no end", 6, 2 * PAGE), 6);
	assert_int_equal(read_byte(&mapping, 2 * PAGE - 1), 2);
	/* Text that has no end in the file ends behind it, whatever follows there. */
	assert_int_equal(read_byte(&mapping, 2 * PAGE), 0);
	assert_int_equal(strnlen((const char *)mapping.bytes, 3 * PAGE), 2 * PAGE);
	assert_false(foreign_mapping_has_lost(&mapping));
	foreign_mapping_close(&mapping);
	close(fd);
}

static void test_writable(void **state)
{
	int fd = make_file(PAGES);
	struct foreign_mapping mapping = map(fd, PAGES * PAGE);
	char byte;

	(void)state;
	assert_int_equal(foreign_mapping_allow_writing(&mapping), 0);
	mapping.bytes[0] = 99;
	mapping.bytes[PAGE] = 99;
	assert_int_equal(pread(fd, &byte, 1, 0), 1);
	assert_int_equal(byte, 1);
	assert_int_equal(ftruncate(fd, PAGE), 0);
	/* Both a read and a write of what is gone. */
	assert_int_equal(read_byte(&mapping, 9 * PAGE), 0);
	mapping.bytes[3 * PAGE] = 98;
	mapping.bytes[9 * PAGE] = 97;
	assert_int_equal(read_byte(&mapping, 3 * PAGE), 98);
	assert_int_equal(read_byte(&mapping, 9 * PAGE), 97);
	assert_int_equal(read_byte(&mapping, 0), 99);
	assert_true(foreign_mapping_has_lost(&mapping));
	foreign_mapping_close(&mapping);
	close(fd);
}

static void test_refusals(void **state)
{
	int fd = make_file(1);
	struct foreign_mapping mapping;

	(void)state;
	assert_int_equal(foreign_mapping_open(fd, 0, &mapping), -EINVAL);
	assert_int_equal(foreign_mapping_open(fd, SIZE_MAX, &mapping), -EINVAL);
	assert_int_equal(foreign_mapping_open(-1, PAGE, &mapping), -EBADF);
	close(fd);
	fd = memfd_create("huge", MFD_CLOEXEC | MFD_HUGETLB);
	if (fd >= 0) {
		assert_int_equal(foreign_mapping_open(fd, PAGE, &mapping), -ENOEXEC);
		close(fd);
	}
}

/* The table's end is an error, and what is closed makes room. */
static void test_full(void **state)
{
	static struct foreign_mapping mappings[FOREIGN_MAPPINGS_MAX];
	struct foreign_mapping one;
	int fd = make_file(1), error = 0;
	size_t count = 0;

	(void)state;
	while (count < FOREIGN_MAPPINGS_MAX && !error)
		error = foreign_mapping_open(fd, PAGE, &mappings[count++]);
	count -= error != 0;
	if (!error)
		error = foreign_mapping_open(fd, PAGE, &one);
	/* A kernel with fewer maps for a process than by default says so first. */
	assert_true(error == -EMFILE || error == -ENOMEM);
	assert_true(count > 1000);
	foreign_mapping_close(&mappings[count / 2]);
	assert_int_equal(foreign_mapping_open(fd, PAGE, &mappings[count / 2]), 0);
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(read_byte(&mappings[count - 1], 0), 0);
	assert_true(foreign_mapping_has_lost(&mappings[count - 1]));
	assert_false(foreign_mapping_has_lost(&mappings[0]));
	while (count > 0)
		foreign_mapping_close(&mappings[--count]);
	close(fd);
}

struct threads {
	int fd;
	atomic_bool ends;
	atomic_uint lost;
};

/* Maps and reads, while another thread truncates. */
static void *map_and_read(void *context)
{
	struct threads *threads = context;
	unsigned sum = 0;

	for (int round = 0; round < ROUNDS; round++) {
		struct foreign_mapping mapping = map(threads->fd, PAGES * PAGE);

		for (size_t at = 0; at < PAGES * PAGE; at += PAGE)
			sum += read_byte(&mapping, at);
		atomic_fetch_add(&threads->lost, foreign_mapping_has_lost(&mapping));
		foreign_mapping_close(&mapping);
	}
	assert_true(sum > 0);
	return NULL;
}

static void *truncate_and_grow(void *context)
{
	struct threads *threads = context;

	for (unsigned i = 0; !atomic_load(&threads->ends); i++) {
		must(ftruncate(threads->fd, (off_t)(i * 7 % PAGES) * PAGE) == 0);
		must(ftruncate(threads->fd, (off_t)PAGES * PAGE) == 0);
		must(pwrite(threads->fd, "text", 4, (off_t)(i % PAGES) * PAGE) == 4);
	}
	return NULL;
}

static void test_threads(void **state)
{
	struct threads threads = { .fd = make_file(PAGES) };
	pthread_t readers[THREADS], writer;

	(void)state;
	assert_int_equal(pthread_create(&writer, NULL, truncate_and_grow, &threads), 0);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&readers[i], NULL, map_and_read, &threads), 0);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(readers[i], NULL), 0);
	atomic_store(&threads.ends, true);
	assert_int_equal(pthread_join(writer, NULL), 0);
	assert_true(atomic_load(&threads.lost) > 0);
	close(threads.fd);
}

/* The signal that ends a child in which act() is called. */
static int ending_signal(void (*act)(void))
{
	struct rlimit no_core = { 0, 0 };
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0) {
		(void)setrlimit(RLIMIT_CORE, &no_core);
		/* cmocka has handlers for both. */
		(void)signal(SIGBUS, SIG_DFL);
		(void)signal(SIGSEGV, SIG_DFL);
		act();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFSIGNALED(status) ? WTERMSIG(status) : -WEXITSTATUS(status);
}

static struct foreign_mapping map_truncated(void)
{
	int fd = make_file(2);
	struct foreign_mapping mapping = map(fd, 2 * PAGE);

	must(ftruncate(fd, 0) == 0);
	return mapping;
}

/* A fault that is none of ours. */
static void read_elsewhere(void)
{
	struct foreign_mapping mapping = map_truncated();
	int fd = make_file(1);
	volatile uint8_t *bytes = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, fd, 0);

	must(bytes != MAP_FAILED && read_byte(&mapping, 0) == 0 && ftruncate(fd, 0) == 0);
	_exit(bytes[0]);
}

static void read_after_close(void)
{
	struct foreign_mapping mapping = map_truncated(), copy = mapping;

	foreign_mapping_close(&mapping);
	_exit(read_byte(&copy, 0));
}

static void send_signal(void)
{
	struct foreign_mapping mapping = map_truncated();

	must(read_byte(&mapping, 0) == 0 && raise(SIGBUS) == 0);
}

/* Blocked by whoever started us, it would end us. */
static void read_blocked(void)
{
	struct foreign_mapping mapping;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGBUS);
	must(sigprocmask(SIG_BLOCK, &set, NULL) == 0);
	mapping = map_truncated();
	_exit(read_byte(&mapping, PAGE));
}

static void leave_with_42(int signal)
{
	(void)signal;
	_exit(42);
}

static void pass_to_handler(void)
{
	must(signal(SIGBUS, leave_with_42) != SIG_ERR);
	read_elsewhere();
}

static void test_passed_on(void **state)
{
	(void)state;
	assert_int_equal(ending_signal(read_elsewhere), SIGBUS);
	assert_int_equal(ending_signal(read_after_close), SIGSEGV);
	assert_int_equal(ending_signal(send_signal), SIGBUS);
	assert_int_equal(ending_signal(read_blocked), 0);
	assert_int_equal(ending_signal(pass_to_handler), -42);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_passed_on), cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_grown),     cmocka_unit_test(test_writable),
		cmocka_unit_test(test_refusals),  cmocka_unit_test(test_full),
		cmocka_unit_test(test_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
