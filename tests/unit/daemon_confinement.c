/* SPDX-License-Identifier: Apache-2.0 */
/* What a confined child still may do, tried for real: each case is a process of its own. */
#include "daemon/cli/confinement.h"

#include "attach/procfs.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[] = "/tmp/pieprofd-confined-XXXXXX";
static char file_path[sizeof(folder) + 8], other_path[sizeof(folder) + 8];

/* In the child: says which line did not hold, by the exit code's absence. */
#define HOLDS(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "line %d: %s (errno %d)\n", __LINE__, #condition, errno);  \
			_exit(1);                                                                  \
		}                                                                                  \
	} while (0)

#define REFUSED(call) HOLDS((call) == -1 && errno == EPERM)

static void in_child(void (*run)(void))
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0) {
		run();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		skip();
	assert_int_equal(status, 0);
}

static void filter_or_skip(int result)
{
	if (result == -ENOTSUP || result == -ENOSYS) {
		fprintf(stderr, "skipped: no filters in this build or kernel\n");
		_exit(77);
	}
	HOLDS(result == 0);
}

/* What neither kind may do. */
static void expect_common_refusals(void)
{
	static char program[] = "/bin/true";
	static char *const words[] = { program, NULL };
	struct perf_event_attr attributes = { .size = sizeof(attributes),
					      .type = PERF_TYPE_SOFTWARE };

	REFUSED(socket(AF_INET, SOCK_STREAM, 0));
	REFUSED(socket(AF_UNIX, SOCK_STREAM, 0));
	REFUSED(connect(0, NULL, 0));
	REFUSED(execve(program, words, words + 1));
	REFUSED(fork());
	REFUSED(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
	REFUSED(syscall(SYS_vfork));
	REFUSED(ptrace(PTRACE_SEIZE, getppid(), NULL, NULL));
	REFUSED(syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0));
	REFUSED(kill(getppid(), 0));
	REFUSED(syscall(SYS_tgkill, getppid(), getppid(), 0));
	REFUSED(syscall(SYS_bpf, 0, NULL, 0));
	REFUSED(setuid(getuid()));
	REFUSED(unshare(CLONE_NEWNS));
	HOLDS(mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
		      MAP_FAILED &&
	      errno == EPERM);
	/* The x32 ABI's numbers for the same calls. */
	HOLDS(syscall(0x40000000 + 59, program, words, words + 1) == -1);
	HOLDS(syscall(SYS_clone3, NULL, 0) == -1 && errno == ENOSYS);
}

static void run_as_converter(void)
{
	char byte = 0;
	struct iovec local = { &byte, 1 }, remote = { &byte, 1 };
	int fd;

	filter_or_skip(confinement_filter_files());
	expect_common_refusals();
	REFUSED(process_vm_readv(getpid(), &local, 1, &remote, 1, 0));
	REFUSED(accept(0, NULL, NULL));
	/* Reads and writes files, and allocates. */
	fd = open(other_path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	HOLDS(fd >= 0 && write(fd, "abc", 3) == 3 && fsync(fd) == 0 && close(fd) == 0);
	HOLDS(rename(other_path, file_path) == 0);
	free(malloc(1 << 24));
}

static void *nothing(void *argument)
{
	return argument;
}

static void run_as_server(bool reads_target)
{
	char bytes[4] = "";
	int file = open(file_path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), pair[2];
	struct iovec local = { bytes, 1 }, remote = { folder, 1 };
	pthread_t thread;
	ssize_t got;

	HOLDS(file >= 0 && write(file, "abc", 3) == 3);
	HOLDS(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0);
	filter_or_skip(confinement_filter_http(reads_target));
	expect_common_refusals();
	/* Answers. */
	HOLDS(send(pair[0], "xyz", 3, MSG_NOSIGNAL) == 3 && recv(pair[1], bytes, 3, 0) == 3);
	HOLDS(pthread_create(&thread, NULL, nothing, NULL) == 0 && pthread_join(thread, NULL) == 0);
	/* Reads files, and changes none. */
	got = open(file_path, O_RDONLY | O_CLOEXEC);
	HOLDS(got >= 0 && read((int)got, bytes, 3) == 3 && !memcmp(bytes, "abc", 3));
	got = open("/proc/self", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	HOLDS(got >= 0);
	REFUSED(open(file_path, O_WRONLY));
	REFUSED(open(file_path, O_RDWR));
	REFUSED(open(file_path, O_RDONLY | O_TRUNC));
	REFUSED(open(folder, O_WRONLY | O_TMPFILE, 0600));
	REFUSED(unlink(file_path));
	REFUSED(rename(file_path, other_path));
	REFUSED(fchmod(file, 0777));
	got = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
	HOLDS(reads_target ? got == 1 : got == -1 && errno == EPERM);
}

static void run_as_http(void)
{
	run_as_server(false);
}

static void run_as_http_that_reads(void)
{
	run_as_server(true);
}

static void run_as_sender(void)
{
	char byte = 'x';
	struct iovec local = { &byte, 1 }, remote = { folder, 1 };
	int file;

	filter_or_skip(confinement_filter_sender());
	HOLDS(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0) >= 0);
	REFUSED(socket(AF_PACKET, SOCK_RAW, 0));
	file = open(file_path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	HOLDS(file >= 0 && write(file, &byte, 1) == 1 && unlink(file_path) == 0);
	REFUSED(fork());
	REFUSED(execl("/bin/true", "true", (char *)NULL));
	REFUSED(kill(getppid(), 0));
	REFUSED(process_vm_readv(getpid(), &local, 1, &remote, 1, 0));
	REFUSED(ptrace(PTRACE_SEIZE, getppid(), NULL, NULL));
}

static uint64_t held(void)
{
	struct process_status self;

	HOLDS(procfs_read_status(getpid(), 0, &self) == 0);
	HOLDS(self.capabilities_effective == self.capabilities_permitted);
	return self.capabilities_permitted;
}

static void run_giving_up(void)
{
	uint64_t before = held(), after;

	HOLDS(confinement_give_up(CONFINEMENT_READS_TARGETS | CONFINEMENT_WRITES_FILES) == 0);
	HOLDS(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1);
	after = held();
	HOLDS((after & ~before) == 0);
	if (!(before >> CAP_SYS_PTRACE & 1)) {
		HOLDS(after == before);
		return;
	}
	HOLDS(after >> CAP_SYS_PTRACE & 1);
	HOLDS((after >> CAP_DAC_OVERRIDE & 1) == (before >> CAP_DAC_OVERRIDE & 1));
	HOLDS(!(after >> CAP_NET_ADMIN & 1) && !(after >> CAP_SYS_MODULE & 1) &&
	      !(after >> CAP_SETUID & 1) && !(after >> CAP_KILL & 1));
	HOLDS(confinement_give_up(CONFINEMENT_READS_TARGETS) == 0);
	HOLDS(!(held() >> CAP_CHOWN & 1));
	/* Without CAP_SYS_PTRACE, what is left is what lets us read the like of us. */
	HOLDS(confinement_give_up(0) == 0);
	HOLDS(held() == 0);
	HOLDS(confinement_give_up(CONFINEMENT_READS_TARGETS) == 0);
}

/* Where the kernel asks for CAP_PERFMON, no more is kept for events. */
static void run_giving_up_but_events(void)
{
	const bool usual = procfs_read_setting("/proc/sys/kernel/perf_event_paranoid", 2) <= 2;
	uint64_t before = held(), after;

	if (!(before >> CAP_SYS_PTRACE & 1))
		_exit(77);
	HOLDS(confinement_give_up(CONFINEMENT_READS_TARGETS | CONFINEMENT_EVENTS) == 0);
	after = held();
	HOLDS((after & ~before) == 0 && !(after >> CAP_SYS_MODULE & 1));
	if (usual && before >> 38 & 1 && before >> 40 & 1)
		HOLDS(!(after >> CAP_SYS_ADMIN & 1));
}

static void test_converter(void **state)
{
	(void)state;
	in_child(run_as_converter);
}

static void test_http(void **state)
{
	(void)state;
	in_child(run_as_http);
	in_child(run_as_http_that_reads);
}

static void test_sender(void **state)
{
	(void)state;
	in_child(run_as_sender);
}

static void test_capabilities(void **state)
{
	(void)state;
	in_child(run_giving_up);
}

static void test_capabilities_for_events(void **state)
{
	(void)state;
	in_child(run_giving_up_but_events);
}

static int make_folder(void **state)
{
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	snprintf(file_path, sizeof(file_path), "%s/file", folder);
	snprintf(other_path, sizeof(other_path), "%s/other", folder);
	return 0;
}

static int remove_folder(void **state)
{
	(void)state;
	(void)unlink(file_path);
	(void)unlink(other_path);
	return rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_converter),
		cmocka_unit_test(test_http),
		cmocka_unit_test(test_sender),
		cmocka_unit_test(test_capabilities),
		cmocka_unit_test(test_capabilities_for_events),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
