/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/resident_memory.h"

#include "attach/procfs.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/types.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Longer than any of these files: a name of a thread, and numbers. */
#define TEXT_BYTES 4096

#define PAGES_IN_HUGE (PAGE_HUGE_BYTES / PAGE_SMALL_BYTES)
#define ENTRY_PRESENT (1ull << 63)
#define ENTRY_SWAPPED (1ull << 62)
#define ENTRY_FRAME   ((1ull << 55) - 1)

/* As linux/fs.h has it from 6.7 on; Debian 12's is older. */
struct page_region {
	__u64 start, end, categories;
};

struct page_scan {
	__u64 size, flags, start, end, walk_end, regions, region_count, pages_max;
	__u64 category_inverted, category_mask, category_any_of, return_mask;
};

#define PAGE_IS_THERE (1u << 3 | 1u << 4) /* in memory, or swapped out */
#define PAGE_IS_HUGE  (1u << 6)
#define PAGE_SCAN     _IOWR('f', 16, struct page_scan)

static int read_text(pid_t pid, const char *file, char text[TEXT_BYTES])
{
	char path[PROCFS_PATH_SIZE];
	ssize_t size;
	int fd;

	procfs_living_path(path, pid, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	size = read(fd, text, TEXT_BYTES - 1);
	if (size < 0)
		size = -errno;
	close(fd);
	if (size < 0)
		return (int)size;
	text[size] = '\0';
	return 0;
}

int resident_memory_parse(const char *statm, uint64_t *ret_bytes)
{
	unsigned long long pages;

	if (sscanf(statm, "%*u %llu", &pages) != 1 || pages > UINT64_MAX / PAGE_SMALL_BYTES)
		return -EPROTO;
	*ret_bytes = pages * PAGE_SMALL_BYTES;
	return 0;
}

int resident_memory_read(pid_t pid, uint64_t *ret_bytes)
{
	char text[TEXT_BYTES];
	uint64_t bytes;
	int error = read_text(pid, "statm", text);

	if (!error)
		error = resident_memory_parse(text, &bytes);
	/* Its memory is gone before its number is. */
	if (!error && !bytes)
		error = -ESRCH;
	if (!error)
		*ret_bytes = bytes;
	return error;
}

int resident_memory_read_peak(pid_t pid, uint64_t *ret_bytes)
{
	char text[TEXT_BYTES];
	uint64_t kilobytes;
	int error = read_text(pid, "status", text);

	if (error)
		return error;
	kilobytes = procfs_status_number(text, "VmHWM", 10);
	if (!kilobytes || kilobytes > UINT64_MAX / 1024)
		return -ESRCH;
	*ret_bytes = kilobytes * 1024;
	return 0;
}

int resident_memory_parse_faults(const char *stat, uint64_t *ret_faults)
{
	/* The name in parentheses may hold anything. */
	const char *fields = strrchr(stat, ')');
	unsigned long long minor, major;

	if (!fields ||
	    sscanf(fields + 1, " %*c %*d %*d %*d %*d %*d %*u %llu %*u %llu", &minor, &major) != 2)
		return -EPROTO;
	*ret_faults = minor + major;
	return 0;
}

int resident_memory_read_faults(pid_t pid, uint64_t *ret_faults)
{
	char text[TEXT_BYTES];
	int error = read_text(pid, "stat", text);

	return error ? error : resident_memory_parse_faults(text, ret_faults);
}

int page_map_open(pid_t pid)
{
	char path[PROCFS_PATH_SIZE];
	int fd;

	procfs_living_path(path, pid, "pagemap");
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	return fd;
}

/* 1: it is huge; 0: it is not; -ENOENT: it is not there; -errno: the kernel does not tell. */
static int scan_says_huge(int page_map, remote_addr address)
{
	struct page_region region;
	struct page_scan scan = {
		.size = sizeof(scan),
		.start = address & ~(remote_addr)(PAGE_SMALL_BYTES - 1),
		.regions = (uintptr_t)&region,
		.region_count = 1,
		.category_any_of = PAGE_IS_THERE,
		.return_mask = PAGE_IS_THERE | PAGE_IS_HUGE,
	};
	int found;

	scan.end = scan.start + PAGE_SMALL_BYTES;
	found = ioctl(page_map, PAGE_SCAN, &scan);
	if (found < 0)
		return -errno;
	return found ? (region.categories & PAGE_IS_HUGE) != 0 : -ENOENT;
}

/* Before Linux 6.7. The same, by where its pages lie in physical memory. */
static int frames_say_huge(int page_map, remote_addr address)
{
	uint64_t entries[PAGES_IN_HUGE], first;
	off_t offset = (off_t)(address / PAGE_HUGE_BYTES * PAGES_IN_HUGE * sizeof(entries[0]));

	if (pread(page_map, entries, sizeof(entries), offset) != (ssize_t)sizeof(entries))
		return -EIO;
	if (!(entries[address / PAGE_SMALL_BYTES % PAGES_IN_HUGE] &
	      (ENTRY_PRESENT | ENTRY_SWAPPED)))
		return -ENOENT;
	first = entries[0] & ENTRY_FRAME;
	for (size_t i = 0; i < PAGES_IN_HUGE; i++) {
		if (!(entries[i] & ENTRY_PRESENT))
			return 0;
		/* Zeros are what others than root see. */
		if (!first)
			continue;
		if ((entries[i] & ENTRY_FRAME) != first + i)
			return 0;
	}
	return !first ? -EPERM : first % PAGES_IN_HUGE == 0;
}

int page_map_size(int page_map, remote_addr address, uint64_t *ret_bytes)
{
	int huge = scan_says_huge(page_map, address);

	if (huge < 0 && huge != -ENOENT)
		huge = frames_say_huge(page_map, address);
	if (huge < 0)
		return huge;
	*ret_bytes = huge ? PAGE_HUGE_BYTES : PAGE_SMALL_BYTES;
	return 0;
}
