/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/process_memory.h"

#include "attach/procfs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/uio.h>
#include <unistd.h>

/* process_vm_readv takes IOV_MAX (1,024) pieces; fewer keep the arrays on the stack small. */
#define BATCH 128

void process_memory_init(struct process_memory *memory, pid_t pid)
{
	*memory = (struct process_memory){ .pid = pid, .mem_fd = -1 };
}

void process_memory_deinit(struct process_memory *memory)
{
	if (memory->mem_fd >= 0)
		close(memory->mem_fd);
	memory->mem_fd = -1;
}

/* Several threads may read. What they share otherwise is settled by the first reads of all. */
static void count_system_call(struct process_memory *memory)
{
	__atomic_add_fetch(&memory->system_calls, 1, __ATOMIC_RELAXED);
}

static ssize_t read_mem_file(struct process_memory *memory, remote_addr address, void *buffer,
			     size_t size)
{
	ssize_t got;

	if (memory->mem_fd < 0) {
		char path[PROCFS_PATH_SIZE];

		procfs_living_path(path, memory->pid, "mem");
		memory->mem_fd = open(path, O_RDONLY | O_CLOEXEC);
		if (memory->mem_fd < 0)
			return errno == ENOENT ? -ESRCH : -errno;
	}
	/* Nothing read looks like the end of the file. */
	if (!size)
		return 0;
	if (address > INT64_MAX)
		return -EFAULT;
	count_system_call(memory);
	got = pread(memory->mem_fd, buffer, size, (off_t)address);
	if (got < 0)
		return errno == EIO ? -EFAULT : -errno;
	/* End of file: the process has no memory any more. */
	return got ? got : -ESRCH;
}

/* One process_vm_readv over ranges[0..count); bytes read or a negative errno. */
static ssize_t read_batch(struct process_memory *memory, const struct memory_range *ranges,
			  size_t count)
{
	struct iovec local[BATCH], remote[BATCH];
	ssize_t got;

	for (size_t i = 0; i < count; i++) {
		local[i] =
			(struct iovec){ .iov_base = ranges[i].buffer, .iov_len = ranges[i].size };
		remote[i] = (struct iovec){ .iov_base = (void *)(uintptr_t)ranges[i].address,
					    .iov_len = ranges[i].size };
	}
	count_system_call(memory);
	got = process_vm_readv(memory->pid, local, count, remote, count, 0);
	return got < 0 ? -errno : got;
}

/* Is process_vm_readv(2) of no use for this process? */
static bool must_use_file(const struct process_memory *memory, ssize_t got)
{
	return got == -EPERM || got == -ENOSYS ||
	       (got == -ESRCH && procfs_living_thread(memory->pid) != memory->pid);
}

static int read_ranges(void *context, struct memory_range *ranges, size_t count)
{
	struct process_memory *memory = context;
	size_t next = 0;

	while (next < count && !memory->refuse_readv) {
		size_t batch = count - next < BATCH ? count - next : BATCH;
		ssize_t got = read_batch(memory, ranges + next, batch);

		if (must_use_file(memory, got)) {
			memory->refuse_readv = true;
			break;
		}
		if (got == -ESRCH)
			return -ESRCH;
		if (got < 0 && got != -EFAULT)
			return (int)got;
		/* Pieces are filled in order; the call ends inside the first that cannot be read.
		 */
		for (size_t left = got > 0 ? (size_t)got : 0; batch; batch--, next++) {
			if (left < ranges[next].size) {
				ranges[next++].error = -EFAULT;
				break;
			}
			left -= ranges[next].size;
			ranges[next].error = 0;
		}
	}
	for (; next < count; next++) {
		ssize_t got = read_mem_file(memory, ranges[next].address, ranges[next].buffer,
					    ranges[next].size);

		if (got < 0 && got != -EFAULT)
			return (int)got;
		ranges[next].error = (size_t)got == ranges[next].size ? 0 : -EFAULT;
	}
	return 0;
}

struct memory_reader process_memory_reader(struct process_memory *memory)
{
	return (struct memory_reader){ .read = read_ranges, .context = memory };
}

ssize_t process_memory_read_prefix(struct process_memory *memory, remote_addr address, void *buffer,
				   size_t size)
{
	if (!memory->refuse_readv) {
		struct memory_range range = { .address = address, .buffer = buffer, .size = size };
		/* The kernel copies page by page and reports what it got before the first hole. */
		ssize_t got = read_batch(memory, &range, 1);

		if (!must_use_file(memory, got))
			return got;
		memory->refuse_readv = true;
	}
	return read_mem_file(memory, address, buffer, size);
}
