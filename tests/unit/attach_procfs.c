/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/credentials.h"
#include "attach/process_memory.h"
#include "attach/procfs.h"
#include "tests/unit/under_valgrind.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static int some_data = 42;

static void test_mappings_of_self(void **state)
{
	struct mapping_list list = { 0 };
	const struct mapping *mapping;

	(void)state;
	assert_int_equal(procfs_read_mappings(getpid(), &list), 0);
	assert_int_equal(list.generation, 1);
	mapping = mapping_find(&list, (remote_addr)(uintptr_t)&test_mappings_of_self);
	assert_non_null(mapping);
	assert_int_equal(mapping->protection, PROT_READ | PROT_EXEC);
	assert_true(mapping->inode != 0);
	assert_int_equal(mapping->path[0], '/');
	mapping = mapping_find(&list, (remote_addr)(uintptr_t)&list);
	assert_non_null(mapping);
	if (!under_valgrind())
		assert_string_equal(mapping->path, "[stack]");
	assert_null(mapping_find(&list, 1));
	assert_null(mapping_find(&list, UINT64_MAX));
	mapping_list_deinit(&list);
}

/* Maps a page at every other byte that comes, unmaps it at the next, and answers; to the pipe's
 * end. */
static void map_on_demand(int orders, int answers)
{
	void *page = NULL;
	char byte;

	while (read(orders, &byte, 1) == 1) {
		if (page) {
			munmap(page, 4096);
			page = NULL;
		} else {
			page = mmap(NULL, 4096, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		}
		if (write(answers, &byte, 1) != 1)
			break;
	}
	_exit(0);
}

/* Of a child, as reading allocates: our own map may change with each look at it. */
static void test_mappings_generation(void **state)
{
	struct mapping_list list = { 0 };
	int orders[2], answers[2];
	pid_t child;
	char byte = 0;

	(void)state;
	assert_int_equal(pipe(orders), 0);
	assert_int_equal(pipe(answers), 0);
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		close(orders[1]);
		map_on_demand(orders[0], answers[1]);
	}
	/* It has begun. */
	for (int round = 0; round < 2; round++) {
		assert_int_equal(write(orders[1], &byte, 1), 1);
		assert_int_equal(read(answers[0], &byte, 1), 1);
	}
	for (uint32_t generation = 1; generation <= 5; generation++) {
		assert_int_equal(procfs_read_mappings(child, &list), 0);
		assert_int_equal(list.generation, generation);
		assert_int_equal(procfs_read_mappings(child, &list), 0);
		assert_int_equal(list.generation, generation);
		assert_int_equal(write(orders[1], &byte, 1), 1);
		assert_int_equal(read(answers[0], &byte, 1), 1);
	}
	close(orders[1]);
	assert_int_equal(waitpid(child, NULL, 0), child);
	close(orders[0]);
	close(answers[0]);
	close(answers[1]);
	mapping_list_deinit(&list);
}

static void test_mappings_hostile(void **state)
{
	static const char text[] = "garbage\n"
				   "1000-2000 r-xp 00001000 08:01 77   /a b (deleted)\n"
				   "3000-2000 r--p 00000000 08:01 77   /backwards\n"
				   "1800-2800 rw-p 00000000 00:00 0\n"
				   "4000-5000 rw-p 00000000 00:00 0\n"
				   "5000-6000 r--p 00000000 00:00 0          [heap]\n"
				   "6000-7000 r";
	struct mapping_list list = { 0 };

	(void)state;
	assert_int_equal(procfs_parse_mappings(text, sizeof(text) - 1, &list), 0);
	assert_int_equal(list.count, 3);
	assert_string_equal(list.mappings[0].path, "/a b");
	assert_true(list.mappings[0].deleted);
	assert_int_equal(list.mappings[0].file_offset, 0x1000);
	assert_string_equal(list.mappings[1].path, "");
	assert_string_equal(list.mappings[2].path, "[heap]");
	/* Any prefix parses to something that can be searched. */
	for (size_t size = 0; size < sizeof(text); size++) {
		assert_int_equal(procfs_parse_mappings(text, size, &list), 0);
		for (remote_addr address = 0; address < 0x8000; address += 0x800) {
			const struct mapping *mapping = mapping_find(&list, address);

			if (mapping)
				assert_true(address >= mapping->start && address < mapping->end);
		}
	}
	mapping_list_deinit(&list);
}

static void *named_thread(void *argument)
{
	sigset_t set;

	prctl(PR_SET_NAME, "odd) R (name");
	sigemptyset(&set);
	sigaddset(&set, SIGURG);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	*(pid_t *)argument = (pid_t)syscall(SYS_gettid);
	pause();
	return NULL;
}

static void test_root(void **state)
{
	char root[PATH_MAX];

	(void)state;
	procfs_read_root(getpid(), root, sizeof(root));
	/* A test in a chroot sees its own root as /. */
	assert_string_equal(root, "");
	procfs_read_root(-1, root, sizeof(root));
	assert_string_equal(root, "");
	assert_string_equal(procfs_path_in_root("/a/b/c", ""), "/a/b/c");
	assert_string_equal(procfs_path_in_root("/a/b/c", "/a/b"), "/c");
	assert_string_equal(procfs_path_in_root("/a/b", "/a/b"), "");
	assert_string_equal(procfs_path_in_root("/a/bc/d", "/a/b"), "/a/bc/d");
	assert_string_equal(procfs_path_in_root("[heap]", "/a/b"), "[heap]");
	assert_string_equal(procfs_path_in_root("", "/a/b"), "");
}

static void test_status(void **state)
{
	volatile pid_t tid = 0;
	pid_t tids[64];
	pthread_t thread;
	size_t count;
	struct process_status status;
	struct process_times times, main_times;
	bool found = false;

	(void)state;
	pthread_create(&thread, NULL, named_thread, (void *)(uintptr_t)&tid);
	do {
		usleep(1000);
	} while (!tid || procfs_read_status(getpid(), tid, &status) || status.state != 'S');
	assert_string_equal(status.name, "odd) R (name");
	assert_int_equal(status.thread_group, getpid());
	assert_true(status.signals_blocked >> (SIGURG - 1) & 1);
	assert_int_equal(status.uid[1], geteuid());
	assert_int_equal(procfs_read_times(getpid(), tid, &times), 0);
	assert_int_equal(procfs_read_times(getpid(), 0, &main_times), 0);
	assert_true(times.start_time >= main_times.start_time && main_times.start_time > 0);
	assert_int_equal(procfs_read_threads(getpid(), tids, 64, &count), 0);
	for (size_t i = 0; i < count; i++)
		found |= tids[i] == tid;
	assert_true(found);
	pthread_cancel(thread);
	pthread_join(thread, NULL);
	assert_int_equal(procfs_read_status(getpid(), tid, &status), -ESRCH);
}

static void test_gone(void **state)
{
	struct process_status status;
	struct process_times times;
	struct mapping_list list = { 0 };
	pid_t tids[1], child = fork();
	siginfo_t info;
	char **command;
	size_t count;

	(void)state;
	if (!child)
		_exit(0);
	waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT);
	/* A zombie: it has a status and no memory. */
	assert_int_equal(procfs_read_status(child, 0, &status), 0);
	assert_int_equal(status.state, 'Z');
	assert_int_equal(procfs_read_mappings(child, &list), -ESRCH);
	waitpid(child, NULL, 0);
	assert_int_equal(procfs_read_status(child, 0, &status), -ESRCH);
	assert_int_equal(procfs_read_times(child, 0, &times), -ESRCH);
	assert_int_equal(procfs_read_mappings(child, &list), -ESRCH);
	assert_int_equal(procfs_read_threads(child, tids, 1, &count), -ESRCH);
	assert_int_equal(procfs_read_command(child, &command), -ESRCH);
}

static void test_command(void **state)
{
	char **command;

	(void)state;
	assert_int_equal(procfs_read_command(getpid(), &command), 0);
	assert_non_null(command[0]);
	assert_null(command[1]);
	free(command);
}

/* A process may make its command line of anything. */
static void test_command_too_long(void **state)
{
	const size_t room = 2 * PROCFS_COMMAND_BYTES_MAX;
	char *text = calloc(1, room), **command;
	size_t count = 0;

	(void)state;
	assert_non_null(text);
	assert_int_equal(procfs_parse_command(text, room, &command), 0);
	while (command[count])
		assert_string_equal(command[count++], "");
	assert_int_equal(count, PROCFS_COMMAND_WORDS_MAX);
	free(command);
	memset(text, 'x', room);
	text[1] = '\0';
	assert_int_equal(procfs_parse_command(text, room, &command), 0);
	assert_string_equal(command[0], "x");
	assert_int_equal(strlen(command[1]), PROCFS_COMMAND_BYTES_MAX - 2);
	assert_null(command[2]);
	free(command);
	free(text);
}

static void test_command_of_a_hostile_process(void **state)
{
	static char shell[] = "sh", option[] = "-c", script[] = "echo; kill -STOP $$";
	const size_t words = 5000, size = 1000000;
	char **given = calloc(words + 6, sizeof(*given)), *whole = malloc(100001), **command;
	size_t count = 0, bytes = 0;
	int ends[2];
	char byte;
	pid_t child;

	(void)state;
	assert_true(given && whole && !pipe(ends));
	memset(whole, 'y', 100000);
	whole[100000] = '\0';
	given[0] = shell;
	given[1] = option;
	given[2] = script;
	for (size_t i = 3; i < words + 5; i++)
		given[i] = i < 13 ? whole : option;
	child = fork();
	if (!child) {
		dup2(ends[1], 1);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		execv("/bin/sh", given);
		_exit(1);
	}
	close(ends[1]);
	assert_int_equal(read(ends[0], &byte, 1), 1);
	assert_int_equal(procfs_read_command(child, &command), 0);
	while (command[count])
		bytes += strlen(command[count++]) + 1;
	print_message("%zu of %zu bytes, %zu words\n", bytes, size, count);
	assert_true(bytes <= PROCFS_COMMAND_BYTES_MAX + 1 && bytes > 200000);
	assert_string_equal(command[2], given[2]);
	free(command);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	close(ends[0]);
	free(whole);
	free(given);
}

static void test_too_many_mappings(void **state)
{
	const size_t count = PROCFS_MAPPINGS_MAX + 7;
	struct mapping_list list = { 0 };
	char *text = malloc(count * 64), *end = text;

	(void)state;
	assert_non_null(text);
	for (size_t i = 0; i < count; i++)
		end += sprintf(end, "%zx-%zx r-xp 00000000 00:00 0%s", 0x10000 + 0x2000 * i,
			       0x11000 + 0x2000 * i, i + 1 < count ? "\n" : "");
	assert_int_equal(procfs_parse_mappings(text, (size_t)(end - text), &list), 0);
	assert_int_equal(list.count, PROCFS_MAPPINGS_MAX);
	assert_int_equal(list.left_out, 7);
	free(text);
	mapping_list_deinit(&list);
}

#define STATUS(uid, gid, groups, permitted, effective)                                             \
	"Name:\tx\nUid:\t" uid "\nGid:\t" gid "\nGroups:\t" groups "\nCapPrm:\t" permitted         \
	"\nCapEff:\t" effective "\n"

static struct process_credentials parsed(const char *text)
{
	struct process_credentials credentials;

	assert_int_equal(procfs_parse_credentials(text, &credentials), 0);
	return credentials;
}

static void test_credentials(void **state)
{
	struct process_credentials credentials =
		parsed(STATUS("1 2 3 4", "5 6 7 8", "9 10 4294967295 ", "ff", "1f"));
	char *many = malloc(65536);
	size_t used = (size_t)sprintf(many, "Uid: 1 1 1 1\nGid: 1 1 1 1\nGroups:\t");

	(void)state;
	assert_int_equal(credentials.user, 4);
	assert_int_equal(credentials.group, 8);
	assert_int_equal(credentials.group_count, 3);
	assert_int_equal(credentials.groups[2], UINT32_MAX);
	assert_int_equal(credentials.permitted, 0xff);
	assert_int_equal(credentials.capabilities, 0x1f);
	assert_false(credentials.groups_cut);
	assert_int_equal(procfs_parse_credentials("", &credentials), -EPROTO);
	assert_int_equal(procfs_parse_credentials("Uid: 1 2 3\nGid: 1 2 3 4\n", &credentials),
			 -EPROTO);
	for (int i = 0; i < PROCFS_GROUPS_MAX; i++)
		used += (size_t)sprintf(many + used, "%d ", i);
	credentials = parsed(many);
	assert_int_equal(credentials.group_count, PROCFS_GROUPS_MAX);
	assert_false(credentials.groups_cut);
	strcpy(many + used, "7 ");
	assert_true(parsed(many).groups_cut);
	free(many);
	assert_int_equal(procfs_read_credentials(getpid(), &credentials), 0);
	assert_int_equal(credentials.user, geteuid());
	assert_int_equal(credentials.group, getegid());
}

static bool may_become(const char *before, const char *after)
{
	struct process_credentials a = parsed(before), b = parsed(after);

	return process_credentials_may_become(&a, &b);
}

/* What a process can make of itself, and what only a set-id program can. */
static void test_credentials_become(void **state)
{
#define ROOT  STATUS("0 0 0 0", "0 0 0 0", "0", "1ff", "1ff")
#define USER  STATUS("7 7 7 7", "8 8 8 8", "8 20", "0", "0")
#define SET   STATUS("7 0 0 0", "8 8 8 8", "8 20", "1ff", "1ff")
#define SAVED STATUS("7 7 0 7", "8 8 8 8", "8 20", "0", "0")
	(void)state;
	assert_true(may_become(USER, USER));
	assert_true(may_become(ROOT, USER));
	assert_false(may_become(USER, ROOT));
	assert_false(may_become(USER, SET));
	assert_false(may_become(USER, STATUS("7 0 0 0", "8 8 8 8", "8 20", "0", "0")));
	assert_true(may_become(SAVED, STATUS("7 0 0 0", "8 8 8 8", "8 20", "0", "0")));
	assert_false(may_become(USER, STATUS("7 7 7 7", "8 0 0 0", "8 20", "0", "0")));
	assert_true(may_become(USER, STATUS("7 7 7 7", "8 8 8 8", "20", "0", "0")));
	assert_false(may_become(USER, STATUS("7 7 7 7", "8 8 8 8", "8 20 21", "0", "0")));
	assert_false(may_become(USER, STATUS("7 7 7 7", "8 8 8 8", "8 20", "4", "4")));
}

/* Both ways of reading must agree, and a hole must fail its own piece alone. */
static void test_memory(void **state)
{
	long page = sysconf(_SC_PAGESIZE);
	char *pages = mmap(NULL, 2 * (size_t)page, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
	pages[page - 1] = 'x';
	munmap(pages + page, (size_t)page);
	for (int refused = 0; refused < 2; refused++) {
		struct process_memory memory;
		struct memory_reader reader;
		struct memory_range ranges[300];
		int values[300];
		char buffer[8192];

		process_memory_init(&memory, getpid());
		memory.refuse_readv = refused;
		reader = process_memory_reader(&memory);
		for (size_t i = 0; i < 300; i++)
			ranges[i] = (struct memory_range){
				.address = i % 7 == 3 ? 16 : (remote_addr)(uintptr_t)&some_data,
				.buffer = &values[i],
				.size = sizeof(int),
				.error = 1,
			};
		assert_int_equal(memory_read_ranges(&reader, ranges, 300), 0);
		for (size_t i = 0; i < 300; i++) {
			assert_int_equal(ranges[i].error, i % 7 == 3 ? -EFAULT : 0);
			if (!ranges[i].error)
				assert_int_equal(values[i], 42);
		}
		assert_int_equal(process_memory_read_prefix(&memory,
							    (remote_addr)(uintptr_t)pages + 100,
							    buffer, 8192),
				 page - 100);
		assert_int_equal(buffer[page - 101], 'x');
		assert_int_equal(process_memory_read_prefix(
					 &memory, (remote_addr)(uintptr_t)pages + (remote_addr)page,
					 buffer, 8),
				 -EFAULT);
		assert_int_equal(memory_read(&reader,
					     (remote_addr)(uintptr_t)pages + (remote_addr)page - 4,
					     buffer, 8),
				 -EFAULT);
		assert_int_equal(memory_read(&reader, (remote_addr)(uintptr_t)pages, buffer, 0), 0);
		assert_int_equal(memory_read(&reader, UINT64_MAX - 3, buffer, 8), -EFAULT);
		process_memory_deinit(&memory);
	}
	munmap(pages, (size_t)page);
}

static void test_memory_of_the_dead(void **state)
{
	struct process_memory memory;
	struct memory_reader reader;
	pid_t child = fork();
	int value;

	(void)state;
	if (!child)
		_exit(0);
	waitpid(child, NULL, 0);
	process_memory_init(&memory, child);
	reader = process_memory_reader(&memory);
	assert_int_equal(
		memory_read(&reader, (remote_addr)(uintptr_t)&some_data, &value, sizeof(value)),
		-ESRCH);
	process_memory_deinit(&memory);
}

static void *outlive(void *argument)
{
	char byte;

	(void)argument;
	if (read(STDIN_FILENO, &byte, 1) >= 0)
		pause();
	return NULL;
}

/* A child whose main thread ends before its other one. */
static pid_t start_without_main_thread(void)
{
	pid_t child = fork();
	pthread_t thread;
	siginfo_t info = { .si_pid = 0 };
	struct process_status status = { .state = '?' };

	if (!child) {
		if (pthread_create(&thread, NULL, outlive, NULL))
			_exit(1);
		pthread_exit(NULL);
	}
	while (status.state != 'Z')
		assert_int_equal(procfs_read_status(child, 0, &status), 0);
	/* Its parent is not told. */
	assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOHANG | WNOWAIT), 0);
	assert_int_equal(info.si_pid, 0);
	return child;
}

static void test_main_thread_ended(void **state)
{
	pid_t child = start_without_main_thread(), living = procfs_living_thread(child);
	char root[PATH_MAX], executable[PATH_MAX], **command;
	struct mapping_list list = { 0 };
	struct process_memory memory;
	struct memory_reader reader;
	int fd, value = 0;

	(void)state;
	assert_int_not_equal(living, child);
	assert_false(procfs_has_ended(child, 'Z'));
	assert_int_equal(procfs_read_mappings(child, &list), 0);
	assert_non_null(mapping_find(&list, (remote_addr)(uintptr_t)&some_data));
	mapping_list_deinit(&list);
	assert_int_equal(procfs_read_executable(child, executable, sizeof(executable)), 0);
	assert_non_null(strstr(executable, "attach_procfs"));
	assert_int_equal(procfs_read_command(child, &command), 0);
	free(command);
	fd = procfs_open_root(child);
	assert_true(fd >= 0);
	close(fd);
	procfs_read_root(child, root, sizeof(root));
	process_memory_init(&memory, child);
	reader = process_memory_reader(&memory);
	assert_int_equal(
		memory_read(&reader, (remote_addr)(uintptr_t)&some_data, &value, sizeof(value)), 0);
	assert_int_equal(value, some_data);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	assert_int_equal(
		memory_read(&reader, (remote_addr)(uintptr_t)&some_data, &value, sizeof(value)),
		-ESRCH);
	process_memory_deinit(&memory);
	assert_true(procfs_has_ended(child, 'Z'));
	assert_int_equal(procfs_read_mappings(child, &list), -ESRCH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mappings_of_self),
		cmocka_unit_test(test_mappings_generation),
		cmocka_unit_test(test_mappings_hostile),
		cmocka_unit_test(test_root),
		cmocka_unit_test(test_status),
		cmocka_unit_test(test_gone),
		cmocka_unit_test(test_command),
		cmocka_unit_test(test_credentials),
		cmocka_unit_test(test_credentials_become),
		cmocka_unit_test(test_command_too_long),
		cmocka_unit_test(test_command_of_a_hostile_process),
		cmocka_unit_test(test_too_many_mappings),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_memory_of_the_dead),
		cmocka_unit_test(test_main_thread_ended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
