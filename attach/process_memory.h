/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory of a live process: process_vm_readv in batches, /proc/PID/mem
 * where that system call is refused (seccomp profiles do), and where the main
 * thread has ended before the others: then that of a living one, which stays
 * the process's own however threads and their numbers come and go.
 */
#ifndef PIEPROFD_ATTACH_PROCESS_MEMORY_H
#define PIEPROFD_ATTACH_PROCESS_MEMORY_H

#include "common/memory.h"

#include <sys/types.h>

struct process_memory {
	pid_t pid;
	int mem_fd;        /* /proc/PID/mem, opened on the first need; -1: not open */
	bool refuse_readv; /* process_vm_readv is not permitted here, or has no main thread */
	uint64_t system_calls;
};

void process_memory_init(struct process_memory *memory, pid_t pid);
void process_memory_deinit(struct process_memory *memory);

/* The reader over it; valid as long as memory is. */
struct memory_reader process_memory_reader(struct process_memory *memory);

/*
 * Reads as much of [address, address + size) as is mapped from its start on:
 * number of bytes, or a negative errno when not even the first page is.
 */
ssize_t process_memory_read_prefix(struct process_memory *memory, remote_addr address, void *buffer,
				   size_t size);

#endif
