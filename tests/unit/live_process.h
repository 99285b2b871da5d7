/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A live process for tests of the unwinder: its memory map, its files and
 * memory behind the interfaces of common/, and stops with copies of registers
 * and stack. Only for tests: one thread, no care for anybody else's signals.
 */
#ifndef PIEPROFD_TESTS_LIVE_PROCESS_H
#define PIEPROFD_TESTS_LIVE_PROCESS_H

#include "common/mapping.h"
#include "common/memory.h"
#include "common/registers.h"
#include "common/stack_snapshot.h"
#include "tests/must.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define LIVE_STACK_BYTES_MAX (256u * 1024)

#define live_must must

struct live_process {
	pid_t pid;
	pid_t tid;  /* the thread that is stopped: pid, unless changed before seizing */
	int output; /* read end of its standard output, or -1 */
	struct mapping_opener opener;
	struct memory_reader reader;
	struct mapping_list mappings;
	/* Of the last stop. */
	struct registers registers;
	struct stack_snapshot stack;
	uint8_t stack_bytes[LIVE_STACK_BYTES_MAX];
};

static inline int live_process_open_file(void *context, const struct mapping *mapping)
{
	const struct live_process *process = context;
	char path[PATH_MAX];
	int fd;

	if (mapping->path[0] != '/')
		return -ENOENT;
	snprintf(path, sizeof(path), "/proc/%d/root%s", process->pid, mapping->path);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static inline int live_process_read(void *context, struct memory_range *ranges, size_t count)
{
	const struct live_process *process = context;

	for (size_t i = 0; i < count; i++) {
		struct iovec local = { ranges[i].buffer, ranges[i].size };
		struct iovec remote = { (void *)(uintptr_t)ranges[i].address, ranges[i].size };
		ssize_t got = process_vm_readv(process->pid, &local, 1, &remote, 1, 0);

		if (got < 0 && errno == ESRCH)
			return -ESRCH;
		ranges[i].error = got == (ssize_t)ranges[i].size ? 0 : -EFAULT;
	}
	return 0;
}

/* Reads /proc/PID/maps anew. */
static inline void live_process_read_mappings(struct live_process *process)
{
	struct mapping_list *list = &process->mappings;
	uint32_t generation = list->generation;
	size_t capacity = 0, paths_size = 0, paths_capacity = 1 << 20;
	char name[64], line[PATH_MAX + 256];
	FILE *file;

	mapping_list_deinit(list);
	list->generation = generation + 1;
	list->paths = malloc(paths_capacity);
	snprintf(name, sizeof(name), "/proc/%d/maps", process->pid);
	file = fopen(name, "re");
	while (file && fgets(line, sizeof(line), file)) {
		static const char deleted[] = " (deleted)";
		unsigned int device_major, device_minor;
		struct mapping mapping = { 0 };
		char protection[8];
		int path_at = 0;
		size_t length;

		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %x:%x %" SCNu64 " %n",
			   &mapping.start, &mapping.end, protection, &mapping.file_offset,
			   &device_major, &device_minor, &mapping.inode, &path_at) < 7)
			continue;
		line[strcspn(line, "\n")] = '\0';
		length = strlen(line + path_at);
		if (length > strlen(deleted) &&
		    strcmp(line + path_at + length - strlen(deleted), deleted) == 0) {
			mapping.deleted = true;
			length -= strlen(deleted);
			line[path_at + (int)length] = '\0';
		}
		if (paths_size + length + 1 > paths_capacity)
			break;
		memcpy(list->paths + paths_size, line + path_at, length + 1);
		mapping.path = list->paths + paths_size;
		paths_size += length + 1;
		mapping.device = makedev(device_major, device_minor);
		mapping.protection = (protection[0] == 'r' ? PROT_READ : 0) |
				     (protection[1] == 'w' ? PROT_WRITE : 0) |
				     (protection[2] == 'x' ? PROT_EXEC : 0);
		if (list->count == capacity) {
			capacity = capacity ? capacity * 2 : 128;
			list->mappings =
				reallocarray(list->mappings, capacity, sizeof(*list->mappings));
		}
		list->mappings[list->count++] = mapping;
	}
	if (file)
		fclose(file);
}

/* Blocks until the process has written a newline; false when it ended instead. */
static inline bool live_process_wait_line(struct live_process *process)
{
	char byte = '\0';

	while (byte != '\n')
		if (read(process->output, &byte, 1) != 1)
			return false;
	return true;
}

/*
 * Starts argv, or without argv forks and calls body(context). Its standard
 * output can be waited for. Free with live_process_end(); NULL: cannot fork.
 */
static inline struct live_process *live_process_start(char *const argv[], void (*body)(void *),
						      void *context)
{
	struct live_process *process = calloc(1, sizeof(*process));
	int ends[2];

	if (pipe2(ends, O_CLOEXEC)) {
		free(process);
		return NULL;
	}
	process->pid = fork();
	if (process->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(ends[1], STDOUT_FILENO);
		if (argv) {
			setenv("OPENBLAS_NUM_THREADS", "1", 1);
			execv(argv[0], argv);
		} else {
			body(context);
		}
		_exit(127);
	}
	close(ends[1]);
	process->tid = process->pid;
	process->output = ends[0];
	process->opener = (struct mapping_opener){ live_process_open_file, process };
	process->reader = (struct memory_reader){ live_process_read, process };
	return process;
}

static inline void live_process_end(struct live_process *process)
{
	kill(process->pid, SIGKILL);
	/* The process ends only when its tracer has taken note of each thread's end. */
	if (process->tid != process->pid)
		waitpid(process->tid, NULL, __WALL);
	waitpid(process->pid, NULL, __WALL);
	close(process->output);
	mapping_list_deinit(&process->mappings);
	free(process);
}

static inline bool live_process_seize(const struct live_process *process)
{
	return ptrace(PTRACE_SEIZE, process->tid, NULL, NULL) == 0;
}

/* Copies registers and stack as a profiler does; the thread is stopped. */
static inline bool live_process_copy(struct live_process *process, size_t stack_bytes)
{
	struct user_regs_struct user;
	struct iovec area = { &user, sizeof(user) };
	struct registers *registers = &process->registers;
	const struct mapping *mapping;
	struct memory_range range;

	if (ptrace(PTRACE_GETREGSET, process->tid, (void *)NT_PRSTATUS, &area))
		return false;
	*registers = (struct registers){
		.general = { user.rax, user.rcx, user.rdx, user.rbx, user.rsp, user.rbp, user.rsi,
			     user.rdi, user.r8, user.r9, user.r10, user.r11, user.r12, user.r13,
			     user.r14, user.r15 },
		.rip = user.rip,
		.rflags = user.eflags,
		.fs_base = user.fs_base,
		.gs_base = user.gs_base,
	};
	range.address = user.rsp - STACK_RED_ZONE_BYTES;
	range.buffer = process->stack_bytes;
	range.size = stack_bytes < LIVE_STACK_BYTES_MAX ? stack_bytes : LIVE_STACK_BYTES_MAX;
	mapping = mapping_find(&process->mappings, user.rsp);
	if (mapping && range.size > mapping->end - range.address)
		range.size = mapping->end - range.address;
	process->stack = (struct stack_snapshot){ .start = range.address };
	if (live_process_read(process, &range, 1) == 0 && !range.error) {
		process->stack.size = range.size;
		process->stack.bytes = process->stack_bytes;
	}
	return true;
}

/* Stops the thread wherever it is; signals met on the way are passed on. */
static inline bool live_process_stop(const struct live_process *process)
{
	if (ptrace(PTRACE_INTERRUPT, process->tid, NULL, NULL))
		return false;
	for (;;) {
		int status;

		if (waitpid(process->tid, &status, __WALL) < 0 || !WIFSTOPPED(status))
			return false;
		if (status >> 16 == PTRACE_EVENT_STOP)
			return true;
		ptrace(PTRACE_CONT, process->tid, NULL, (void *)(long)WSTOPSIG(status));
	}
}

static inline void live_process_continue(const struct live_process *process)
{
	ptrace(PTRACE_CONT, process->tid, NULL, NULL);
}

/*
 * Steps a stopped thread until it is in a loop without calls: where a child
 * that wrote its line and then stays somewhere is to be looked at.
 */
static inline bool live_process_settle(struct live_process *process)
{
	unsigned int same = 0;

	for (unsigned int step = 0; step < 100000 && same < 32; step++) {
		remote_addr rip = process->registers.rip;
		remote_addr rsp = process->registers.general[REGISTER_RSP];
		int status;

		if (ptrace(PTRACE_SINGLESTEP, process->tid, NULL, NULL) ||
		    waitpid(process->tid, &status, __WALL) < 0 || !WIFSTOPPED(status) ||
		    WSTOPSIG(status) != SIGTRAP || !live_process_copy(process, 0))
			return false;
		if (rsp == process->registers.general[REGISTER_RSP] &&
		    process->registers.rip - rip + 32 < 64)
			same++;
		else
			same = 0;
	}
	return same == 32;
}

/* Lets it run for a while, delivering its signals to it. */
static inline void live_process_run(const struct live_process *process, unsigned int microseconds)
{
	unsigned int slice = 200;

	for (unsigned int slept = 0; slept <= microseconds; slept += slice) {
		int status;

		usleep(slice < microseconds - slept ? slice : microseconds - slept);
		if (waitpid(process->tid, &status, __WALL | WNOHANG) == process->tid &&
		    WIFSTOPPED(status))
			ptrace(PTRACE_CONT, process->tid, NULL, (void *)(long)WSTOPSIG(status));
	}
}

#define LIVE_INTERPRETERS_MAX 24

/* Paths of the CPython interpreters on this machine, each file once. */
struct live_interpreters {
	char *paths[LIVE_INTERPRETERS_MAX];
	size_t count;
};

static inline void live_interpreters_glob(struct live_interpreters *found, const char *pattern)
{
	glob_t matches;

	if (glob(pattern, 0, NULL, &matches))
		return;
	for (size_t i = 0; i < matches.gl_pathc && found->count < LIVE_INTERPRETERS_MAX; i++) {
		const char *name = strrchr(matches.gl_pathv[i], '/') + 1;
		char *path;
		bool known = false;

		/* Not python3.11-config and its like. */
		if (name[strcspn(name, "-mdg")] != '\0')
			continue;
		path = realpath(matches.gl_pathv[i], NULL);
		for (size_t k = 0; path && k < found->count; k++)
			known = known || strcmp(found->paths[k], path) == 0;
		if (path && !known && access(path, X_OK) == 0)
			found->paths[found->count++] = path;
		else
			free(path);
	}
	globfree(&matches);
}

static inline struct live_interpreters live_interpreters_find(void)
{
	struct live_interpreters found = { .count = 0 };
	const char *home = getenv("HOME"), *path = getenv("PATH");
	char pattern[PATH_MAX];

	live_interpreters_glob(&found, "/usr/bin/python3.[0-9]*");
	for (const char *start = path; start && *start;) {
		size_t length = strcspn(start, ":");

		snprintf(pattern, sizeof(pattern), "%.*s/python3.[0-9]*", (int)length, start);
		/* pyenv's shims are shell scripts. */
		if (!strstr(pattern, "/shims/"))
			live_interpreters_glob(&found, pattern);
		start += length + (start[length] == ':');
	}
	if (home) {
		snprintf(pattern, sizeof(pattern), "%s/.pyenv/versions/*/bin/python3.[0-9]*", home);
		live_interpreters_glob(&found, pattern);
	}
	return found;
}

static inline void live_interpreters_free(struct live_interpreters *found)
{
	for (size_t i = 0; i < found->count; i++)
		free(found->paths[i]);
	found->count = 0;
}

/*
 * A program whose stacks go through the interpreter, extension modules,
 * callbacks from C into Python, recursion, and numpy where it is installed.
 * Writes a line when it is warm, then runs until it is killed.
 */
static const char live_workload[] =
	"import sys, re, json, functools, ctypes, bisect, zlib, itertools\n"
	"try:\n"
	"    import numpy\n"
	"except Exception:\n"
	"    numpy = None\n"
	"def fib(n):\n"
	"    return n if n < 2 else fib(n - 1) + fib(n - 2)\n"
	"class Key:\n"
	"    def __init__(self, v): self.v = v\n"
	"    def __lt__(self, o): return self.v < o.v\n"
	"    def __hash__(self): return hash(self.v)\n"
	"    def __eq__(self, o): return self.v == o.v\n"
	"def deep(n, f):\n"
	"    return f() if n == 0 else max(map(lambda x: deep(n - 1, f), [0]))\n"
	"try:\n"
	"    libc = ctypes.CDLL(None)\n"
	"    compare = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)"
	"(lambda a, b: (a > b) - (a < b))\n"
	"except Exception:\n"
	"    libc = None\n"
	"def step(i):\n"
	"    fib(8)\n"
	"    sorted([Key((j * 7919 + i) % 101) for j in range(40)])\n"
	"    json.loads(json.dumps({str(j): [j, str(j)] for j in range(20)}))\n"
	"    re.sub(r'(a+)(b*)c', lambda m: m.group(1), 'aabbc aac abc ' * 20)\n"
	"    deep(12, lambda: sum(Key(j).v for j in range(30)))\n"
	"    zlib.compress(b'pieprofd' * 300)\n"
	"    {Key(j): j for j in range(30)}\n"
	"    if libc:\n"
	"        values = (ctypes.c_int * 30)(*range(30))\n"
	"        libc.qsort(values, 30, 4, compare)\n"
	"    if numpy:\n"
	"        a = numpy.arange(4096.0).reshape(64, 64)\n"
	"        (a @ a.T).sum(); numpy.sort(a, axis=0); numpy.linalg.svd(a[:24, :24])\n"
	"        numpy.vectorize(lambda x: x + 1)(a[:4, :4]); a[3, 4] = a[4, 3] + 1.0\n"
	"        numpy.fft.fft(a[0]); numpy.random.rand(50).argsort(); str(a[:2, :2])\n"
	"step(0)\n"
	"print('ready'); sys.stdout.flush()\n"
	"for i in itertools.count(1): step(i)\n";

#endif
