/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/trace/trace_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* Some file systems have no files without names. */
static int open_and_unlink(const char *folder)
{
	char path[4096];
	int fd;

	if ((size_t)snprintf(path, sizeof(path), "%s/pieprofd-XXXXXX", folder) >= sizeof(path))
		return -ENAMETOOLONG;
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	(void)unlink(path);
	return fd;
}

int trace_file_open(struct trace_file *file)
{
	const char *folder = getenv("TMPDIR");

	if (!folder || !folder[0])
		folder = "/tmp";
	*file = (struct trace_file){ .fd = -1 };
	file->fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (file->fd < 0)
		file->fd = open_and_unlink(folder);
	if (file->fd >= 0)
		return 0;
	file->error = file->fd;
	file->fd = -1;
	return file->error;
}

void trace_file_close(struct trace_file *file)
{
	if (file->events)
		munmap(file->events, file->mapped * sizeof(file->events[0]));
	if (file->fd >= 0)
		close(file->fd);
	file->events = NULL;
	file->fd = -1;
}

static void write_out(struct trace_file *file)
{
	const char *from = (const char *)file->buffer;
	size_t left = file->buffered * sizeof(file->buffer[0]);

	while (left && !file->error) {
		ssize_t written = write(file->fd, from, left);

		if (written < 0 && errno != EINTR)
			file->error = -errno;
		if (written <= 0)
			continue;
		from += written;
		left -= (size_t)written;
	}
	/* What came after the last whole event is never looked at. */
	if (!file->error)
		file->count += file->buffered;
	else
		file->left_out += file->buffered;
	file->buffered = 0;
}

void trace_file_add(struct trace_file *file, const struct trace_event *event)
{
	if (file->fd < 0 || file->error || file->events) {
		file->left_out++;
		return;
	}
	file->buffer[file->buffered++] = *event;
	if (file->buffered == TRACE_FILE_BUFFERED)
		write_out(file);
}

/* What a call is made of comes behind it. */
static int compare_begins(const void *left, const void *right)
{
	const struct trace_event *a = left, *b = right;

	if (a->begin_ns != b->begin_ns)
		return a->begin_ns < b->begin_ns ? -1 : 1;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

int trace_file_map(struct trace_file *file)
{
	void *events;

	if (file->buffered)
		write_out(file);
	if (!file->count || file->events)
		return 0;
	events = mmap(NULL, file->count * sizeof(file->events[0]), PROT_READ | PROT_WRITE,
		      MAP_SHARED, file->fd, 0);
	if (events == MAP_FAILED)
		return -errno;
	file->events = events;
	file->mapped = file->count;
	qsort(file->events, file->count, sizeof(file->events[0]), compare_begins);
	return 0;
}
