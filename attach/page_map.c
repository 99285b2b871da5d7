/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/page_map.h"

#include "attach/procfs.h"
#include "common/interrupted.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* Documentation/admin-guide/mm/pagemap.rst */
#define ENTRY_PRESENT   (1ull << 63)
#define ENTRY_SWAPPED   (1ull << 62)
#define ENTRY_OF_FILE   (1ull << 61)
#define ENTRY_EXCLUSIVE (1ull << 56)

#define ENTRIES_A_READ 4096

int page_map_open_states(struct page_map *map, pid_t pid)
{
	char path[PROCFS_PATH_SIZE];

	procfs_living_path(path, pid, "pagemap");
	map->file = open(path, O_RDONLY | O_CLOEXEC);
	if (map->file >= 0)
		return 0;
	return errno == ENOENT ? -ESRCH : -errno;
}

void page_map_close_states(struct page_map *map)
{
	if (map->file >= 0)
		close(map->file);
	map->file = -1;
}

static uint8_t state_of(uint64_t entry)
{
	return (uint8_t)((entry & ENTRY_PRESENT ? PAGE_PRESENT : 0) |
			 (entry & ENTRY_SWAPPED ? PAGE_SWAPPED : 0) |
			 (entry & ENTRY_OF_FILE ? PAGE_OF_FILE : 0) |
			 (entry & ENTRY_EXCLUSIVE ? PAGE_EXCLUSIVE : 0));
}

static int read_states(void *context, remote_addr start, size_t count, uint8_t *ret_states)
{
	const struct page_map *map = context;
	uint64_t entries[ENTRIES_A_READ];

	while (count) {
		size_t part = count < ENTRIES_A_READ ? count : ENTRIES_A_READ, got;
		unsigned interruptions = 0;
		ssize_t bytes;

		do
			bytes = pread(map->file, entries, part * sizeof(entries[0]),
				      (off_t)(start / PAGE_BYTES * sizeof(entries[0])));
		while (interrupted(bytes, &interruptions));
		if (bytes < 0)
			return -errno;
		/* It ends where user space ends, or when the process does. */
		got = (size_t)bytes / sizeof(entries[0]);
		memset(ret_states, 0, part);
		for (size_t i = 0; i < got; i++)
			ret_states[i] = state_of(entries[i]);
		if (!got)
			return -ESRCH;
		start += part * PAGE_BYTES;
		ret_states += part;
		count -= part;
	}
	return 0;
}

struct page_reader page_map_reader(struct page_map *map)
{
	return (struct page_reader){ .read = read_states, .context = map };
}
