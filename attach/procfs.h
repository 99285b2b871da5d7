/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What /proc tells about the target. Every reader takes hostile input: file
 * and thread names are whatever the target made them.
 */
#ifndef PIEPROFD_ATTACH_PROCFS_H
#define PIEPROFD_ATTACH_PROCFS_H

#include "common/mapping.h"

#include <sys/types.h>

/* The lines of /proc/PID[/task/TID]/status that matter here. */
struct process_status {
	char name[64]; /* as the kernel escapes it */
	char state;    /* 'R', 'S', 'D', 'T', 't', 'Z', 'X', 'I' */
	pid_t thread_group;
	pid_t parent;
	pid_t tracer;    /* 0: none */
	pid_t inner_pid; /* in the innermost pid namespace (last of NSpid) */
	uid_t uid[3];    /* real, effective, saved */
	gid_t gid[3];
	uint64_t signals_pending; /* of the thread; bit (signal - 1) */
	uint64_t signals_blocked;
	uint64_t signals_caught;
	uint64_t capabilities_permitted;
	uint64_t capabilities_effective;
};

/* tid 0: the process's own status. 0, -ESRCH when it is gone, or a negative errno. */
__attribute__((warn_unused_result)) int procfs_read_status(pid_t pid, pid_t tid,
							   struct process_status *ret_status);

/* The value of a "Key:\tvalue" line of such a text, or NULL. */
const char *procfs_status_value(const char *text, const char *key);
/* The same as a number, 0 without one. */
uint64_t procfs_status_number(const char *text, const char *key, int base);

/* Starts at clock tick after boot (field 22 of stat), and CPU time in nanoseconds. */
struct process_times {
	uint64_t start_time;
	uint64_t user_ns;
	uint64_t system_ns;
	uint64_t children_ns; /* of its children that it has waited for, and theirs */
	char state;           /* as in process_status, at the same moment */
	bool has_memory;      /* not what has ended, nor a kernel thread */
	remote_addr stack;    /* where its stack began: another with each exec; 0: not permitted */
	int processor;        /* where it runs, or ran last; -1: not told */
};

__attribute__((warn_unused_result)) int procfs_read_times(pid_t pid, pid_t tid,
							  struct process_times *ret_times);

/*
 * The thread by which the kernel shows memory, mappings, root and program of a
 * process: its main thread, pid, or when that has ended before the others, one
 * of those; pid when none is left.
 */
pid_t procfs_living_thread(pid_t pid);

/* Of a process whose main thread is in this state: are the others gone, too? */
bool procfs_has_ended(pid_t pid, char main_state);

/* /proc/PID/FILE, of a thread that lives when the main one has ended; path has so much room. */
#define PROCFS_PATH_SIZE 64
void procfs_living_path(char path[PROCFS_PATH_SIZE], pid_t pid, const char *file);

/* Where a thread that sleeps in the kernel will go on. */
struct process_sleep {
	long system_call; /* its number; -1: it sleeps for another reason, such as a page */
	uint64_t arguments[6];
	remote_addr ip, sp;
};

/* 0; -EAGAIN: it runs, or is ready to; -ESRCH, or another negative errno. */
__attribute__((warn_unused_result)) int procfs_read_sleep(pid_t pid, pid_t tid,
							  struct process_sleep *ret_sleep);

/* Thread ids of the process, at most maximum; -ESRCH when it is gone. */
__attribute__((warn_unused_result)) int procfs_read_threads(pid_t pid, pid_t *tids, size_t maximum,
							    size_t *ret_count);

/*
 * The target's root, as the kernel writes the paths of its files for us: after
 * chroot(2), all of them begin with it. "" where that is / or cannot be told.
 */
void procfs_read_root(pid_t pid, char *root, size_t size);

/* Such a path as the target itself would write it, "" for the root; part of path. */
const char *procfs_path_in_root(const char *path, const char *root);

/*
 * Re-reads the memory map into list, which may hold an older state (it is
 * replaced; generation + 1 when anything changed) or be zeroed. A list of more than
 * PROCFS_MAPPINGS_MAX mappings is cut. 0, -ESRCH, -ENOMEM, -EACCES.
 */
#define PROCFS_MAPPINGS_MAX 262144
__attribute__((warn_unused_result)) int procfs_read_mappings(pid_t pid, struct mapping_list *list);

/* Parses the text of a maps file (size bytes, need not end in NUL); for procfs_read_mappings and
 * tests. */
__attribute__((warn_unused_result)) int procfs_parse_mappings(const char *text, size_t size,
							      struct mapping_list *list);

/*
 * The texts of status, stat and syscall, ended by a NUL; for the readers above
 * and tests. inner_pid is 0 when the text does not tell. -EPROTO: no such text.
 */
void procfs_parse_status(const char *text, struct process_status *ret_status);
__attribute__((warn_unused_result)) int procfs_parse_times(const char *text,
							   struct process_times *ret_times);
__attribute__((warn_unused_result)) int procfs_parse_sleep(const char *text,
							   struct process_sleep *ret_sleep);

/* The process writes them itself: what is behind so many is left out. */
#define PROCFS_COMMAND_WORDS_MAX 4096
#define PROCFS_COMMAND_BYTES_MAX (256u << 10)

/* Arguments of the process, NULL-terminated, one allocation freed by free(). -ENODATA: a kernel
 * thread. */
__attribute__((warn_unused_result)) int procfs_read_command(pid_t pid, char ***ret_arguments);

/* The same of a text of cmdline. 0 or -ENOMEM. */
__attribute__((warn_unused_result)) int procfs_parse_command(const char *text, size_t size,
							     char ***ret_arguments);

#define PROCFS_CGROUPS_MAX 16384

/* The text of /proc/PID/cgroup, cut off behind that; text has so much room and gets no NUL. 0 or a
 * negative errno. */
__attribute__((warn_unused_result)) int procfs_read_cgroups(pid_t pid, char *text,
							    size_t *ret_size);

/* The number in a file of /proc/sys or /sys; fallback when it cannot be read. */
int procfs_read_setting(const char *path, int fallback);

/* Path of /proc/PID/exe, at most size - 1 bytes. */
__attribute__((warn_unused_result)) int procfs_read_executable(pid_t pid, char *path, size_t size);

/* A descriptor of the target's root, good for nothing but root_file_open(), or a negative errno. */
__attribute__((warn_unused_result)) int procfs_open_root(pid_t pid);

#endif
