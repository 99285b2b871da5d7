/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A live program with all its threads, stopped one thread at a time at random
 * moments while it runs. Only for benchmarks.
 */
#ifndef PIEPROFD_TESTS_BENCH_NATIVE_TARGET_H
#define PIEPROFD_TESTS_BENCH_NATIVE_TARGET_H

#include "tests/unit/unwind_subject.h"

#include <dirent.h>

#define NATIVE_THREADS_MAX 128
/* What the daemon copies of a stack at first; the rest is read on demand. */
#define NATIVE_STACK_BYTES (32u * 1024)

struct native_target {
	struct live_process *process;
	pid_t tids[NATIVE_THREADS_MAX];
	size_t count;
	bool ended;
};

static inline bool native_target_knows(const struct native_target *target, pid_t tid)
{
	for (size_t i = 0; i < target->count; i++)
		if (target->tids[i] == tid)
			return true;
	return false;
}

/* Seizes the threads that are new, and reads the map anew when there are any. */
static inline void native_target_seize(struct native_target *target)
{
	char path[64];
	bool any = false;
	struct dirent *entry;
	DIR *folder;

	snprintf(path, sizeof(path), "/proc/%d/task", target->process->pid);
	folder = opendir(path);
	while (folder && (entry = readdir(folder))) {
		pid_t tid = atoi(entry->d_name);

		if (tid <= 0 || native_target_knows(target, tid) ||
		    target->count == NATIVE_THREADS_MAX ||
		    ptrace(PTRACE_SEIZE, tid, NULL, NULL) != 0)
			continue;
		target->tids[target->count++] = tid;
		any = true;
	}
	if (folder)
		closedir(folder);
	if (any)
		live_process_read_mappings(target->process);
}

static inline void native_target_forget(struct native_target *target, pid_t tid)
{
	for (size_t i = 0; i < target->count; i++)
		if (target->tids[i] == tid)
			target->tids[i] = target->tids[--target->count];
	target->ended = target->ended || tid == target->process->pid;
}

/* Passes on the signals that threads have met meanwhile. */
static inline void native_target_pass_signals(struct native_target *target)
{
	int status;
	pid_t tid;

	while (!target->ended && (tid = waitpid(-1, &status, __WALL | WNOHANG)) > 0) {
		if (!WIFSTOPPED(status))
			native_target_forget(target, tid);
		else
			ptrace(PTRACE_CONT, tid, NULL,
			       (void *)(long)(status >> 16 ? 0 : WSTOPSIG(status)));
	}
}

/*
 * Starts a program that writes a line when it is ready. NULL: it wrote another
 * one ("skip ..."), or nothing.
 */
static inline bool native_target_start(struct native_target *target, char *const argv[])
{
	char line[256] = "";
	size_t length = 0;

	*target = (struct native_target){ .process = live_process_start(argv, NULL, NULL) };
	live_must(target->process);
	while (length + 1 < sizeof(line) && read(target->process->output, line + length, 1) == 1 &&
	       line[length] != '\n')
		length++;
	line[length] = '\0';
	if (strcmp(line, "ready") != 0) {
		printf("%s: %s\n", argv[argv[1] ? 1 : 0], length ? line : "did not start");
		live_process_end(target->process);
		return false;
	}
	live_process_read_mappings(target->process);
	native_target_seize(target);
	return true;
}

/* Its process is ended by live_process_end(), which subject_close() calls. */
static inline void native_target_kill(const struct native_target *target)
{
	kill(target->process->pid, SIGKILL);
	while (waitpid(-1, NULL, __WALL) > 0)
		;
}

static inline bool native_target_is_running(const struct native_target *target, pid_t tid)
{
	char path[64], text[512], *state;
	ssize_t size;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", target->process->pid, tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	size = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[size > 0 ? size : 0] = '\0';
	state = strrchr(text, ')');
	return state && state[1] == ' ' && state[2] == 'R';
}

/*
 * Lets the program run for a while, then stops one of the threads that are at
 * work and copies its registers and stack. False: the program has ended.
 */
static inline bool native_target_stop(struct native_target *target, unsigned int microseconds,
				      size_t stack_bytes)
{
	for (;;) {
		size_t running[NATIVE_THREADS_MAX], count = 0;
		pid_t tid;

		usleep(microseconds);
		native_target_pass_signals(target);
		native_target_seize(target);
		if (target->ended)
			return false;
		for (size_t i = 0; i < target->count; i++)
			if (native_target_is_running(target, target->tids[i]))
				running[count++] = i;
		if (count == 0)
			continue;
		tid = target->tids[running[(size_t)rand() % count]];
		target->process->tid = tid;
		if (!live_process_stop(target->process)) {
			native_target_forget(target, tid);
			continue;
		}
		if (live_process_copy(target->process, stack_bytes))
			return true;
		live_process_continue(target->process);
	}
}

#endif
