/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entries are kept sorted by start, then by age. Names given out stay valid
 * even when their entry is replaced, so each is an allocation that lives as
 * long as the map.
 */
#include "symbolize/perf_map.h"

#include "common/array.h"
#include "common/interrupted.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUFFER_BYTES   65536
#define NAME_MAX_BYTES 1024 /* longer ones are cut */
#define ENCLOSING_MAX  64   /* entries looked back at for the newest around an address */

struct perf_map_entry {
	remote_addr start;
	remote_addr end;
	char *name;   /* owned by perf_map.names */
	uint32_t age; /* rises; the highest is the newest */
};

struct perf_map {
	struct perf_map_entry *entries;
	size_t count;
	size_t capacity;
	char **names; /* all ever made, for the end */
	size_t name_count;
	size_t name_capacity;
	uint64_t dropped;
	dev_t device; /* of the file read so far */
	ino_t inode;
	uint64_t position; /* in it, at the start of a line */
	bool skip_line;    /* position is inside a line too long for the buffer */
};

struct perf_map *perf_map_create(void)
{
	return calloc(1, sizeof(struct perf_map));
}

void perf_map_destroy(struct perf_map *map)
{
	if (!map)
		return;
	for (size_t i = 0; i < map->name_count; i++)
		free(map->names[i]);
	free(map->names);
	free(map->entries);
	free(map);
}

/* Reads a hexadecimal number and moves *text behind it; false when there is none or it is too long.
 */
static bool parse_hex(const char **text, const char *end, uint64_t *ret_value)
{
	const char *start = *text, *at = start;
	uint64_t value = 0;

	/* Some runtimes write 0x in front. */
	if (end - at > 2 && at[0] == '0' && at[1] == 'x')
		start = at += 2;
	for (; at < end; at++) {
		unsigned int digit;

		if (*at >= '0' && *at <= '9')
			digit = (unsigned int)(*at - '0');
		else if (*at >= 'a' && *at <= 'f')
			digit = (unsigned int)(*at - 'a') + 10;
		else if (*at >= 'A' && *at <= 'F')
			digit = (unsigned int)(*at - 'A') + 10;
		else
			break;
		if (value >> 60)
			return false;
		value = value << 4 | digit;
	}
	if (at == start || at == end || *at != ' ')
		return false;
	*text = at + 1;
	*ret_value = value;
	return true;
}

/* The line without its newline. */
static int take_line(struct perf_map *map, const char *line, const char *end)
{
	struct perf_map_entry entry = { .age = (uint32_t)map->name_count };
	struct perf_map_entry *entries;
	uint64_t start, size;
	size_t length;
	char **names;

	if (!parse_hex(&line, end, &start) || !parse_hex(&line, end, &size) || size == 0 ||
	    size > UINT64_MAX - start || line == end)
		return 0;
	if (map->name_count == PERF_MAP_ENTRIES_MAX) {
		map->dropped++;
		return 0;
	}
	length = (size_t)(end - line) < NAME_MAX_BYTES ? (size_t)(end - line) : NAME_MAX_BYTES;
	entries = array_reserve(map->entries, map->count, &map->capacity, sizeof(entry));
	if (!entries)
		return -ENOMEM;
	map->entries = entries;
	names = array_reserve(map->names, map->name_count, &map->name_capacity, sizeof(names[0]));
	if (!names)
		return -ENOMEM;
	map->names = names;
	/* Ends at a NUL in the line, if a hostile file has one. */
	entry.name = strndup(line, length);
	if (!entry.name)
		return -ENOMEM;
	entry.start = start;
	entry.end = start + size;
	map->names[map->name_count++] = entry.name;
	map->entries[map->count++] = entry;
	return 0;
}

static int compare_perf_entries(const void *left, const void *right)
{
	const struct perf_map_entry *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->age < b->age ? -1 : a->age > b->age;
}

/* Sorts, and keeps of those with one start the newest. */
static void settle_entries(struct perf_map *map)
{
	size_t kept = 0;

	if (map->count == 0)
		return;
	qsort(map->entries, map->count, sizeof(map->entries[0]), compare_perf_entries);
	for (size_t i = 1; i < map->count; i++) {
		if (map->entries[kept].start != map->entries[i].start)
			kept++;
		map->entries[kept] = map->entries[i];
	}
	map->count = kept + 1;
}

/* Takes the whole lines in buffer; *ret_used bytes of it are done with. */
static int take_lines(struct perf_map *map, const char *buffer, size_t size, size_t *ret_used)
{
	size_t used = 0;

	for (;;) {
		const char *line = buffer + used;
		const char *end = memchr(line, '\n', size - used);
		int error;

		if (!end)
			break;
		error = map->skip_line ? 0 : take_line(map, line, end);
		if (error)
			return error;
		map->skip_line = false;
		used = (size_t)(end + 1 - buffer);
	}
	/* A line that fills the whole buffer is no entry: pass over it. */
	if (used == 0 && size == BUFFER_BYTES) {
		map->skip_line = true;
		used = size;
	}
	*ret_used = used;
	return 0;
}

static int read_appended(struct perf_map *map, int fd)
{
	char *buffer = malloc(BUFFER_BYTES);
	unsigned interruptions = 0;
	int error = 0;

	if (!buffer)
		return -ENOMEM;
	/* Bounded even when the target appends faster than we read. */
	while (map->position < PERF_MAP_BYTES_MAX) {
		ssize_t got = pread(fd, buffer, BUFFER_BYTES, (off_t)map->position);
		size_t used;

		if (interrupted(got, &interruptions))
			continue;
		if (got < 0)
			error = -errno;
		if (got <= 0)
			break;
		error = take_lines(map, buffer, (size_t)got, &used);
		if (error || used == 0)
			break;
		map->position += used;
	}
	free(buffer);
	return error;
}

int perf_map_open(const struct file_opener *opener, int root, pid_t inner_pid, uid_t owner)
{
	struct stat status;
	char path[64];
	int fd;

	(void)snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)inner_pid);
	fd = file_opener_open(opener, root, path, ROOT_LINK_REFUSE);
	if (fd < 0)
		return fd;
	if (fstat(fd, &status) != 0 || (status.st_uid != owner && status.st_uid != 0)) {
		close(fd);
		return -EPERM;
	}
	return fd;
}

int perf_map_update(struct perf_map *map, int fd)
{
	size_t names_before = map->name_count;
	struct stat status;
	int error;

	if (fstat(fd, &status) < 0)
		return -errno;
	if (!S_ISREG(status.st_mode))
		return -EINVAL;
	if (status.st_dev != map->device || status.st_ino != map->inode ||
	    (uint64_t)status.st_size < map->position) {
		map->device = status.st_dev;
		map->inode = status.st_ino;
		map->position = 0;
		map->skip_line = false;
		map->count = 0;
	}
	error = read_appended(map, fd);
	if (map->position >= PERF_MAP_BYTES_MAX && (uint64_t)status.st_size > map->position)
		map->dropped++;
	if (map->name_count != names_before)
		settle_entries(map);
	return error;
}

const char *perf_map_find(const struct perf_map *map, remote_addr address, remote_addr *ret_start)
{
	const struct perf_map_entry *newest = NULL;
	size_t low = 0, high = map->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (map->entries[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t i = low; i-- > 0 && low - i <= ENCLOSING_MAX;) {
		const struct perf_map_entry *entry = &map->entries[i];

		if (address < entry->end && (!newest || entry->age > newest->age))
			newest = entry;
	}
	if (!newest)
		return NULL;
	if (ret_start)
		*ret_start = newest->start;
	return newest->name;
}

size_t perf_map_count(const struct perf_map *map)
{
	return map->count;
}

uint64_t perf_map_dropped(const struct perf_map *map)
{
	return map->dropped;
}
