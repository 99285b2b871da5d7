/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/clock_ring.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

struct clock_ring {
	int fd; /* -1: none */
	size_t bytes;
	struct ring_buffer *buffer;
	int (*take)(void *context, void *data, size_t size); /* NULL: records are dropped */
	void *context;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct clock_ring *kept[CLOCK_RINGS_KEPT];
static bool keeps;

static int take_record(void *context, void *data, size_t size)
{
	struct clock_ring *ring = context;

	return ring->take ? ring->take(ring->context, data, size) : 0;
}

static void ring_destroy(struct clock_ring *ring)
{
	if (!ring)
		return;
	ring_buffer__free(ring->buffer);
	if (ring->fd >= 0)
		close(ring->fd);
	free(ring);
}

static int ring_create(size_t bytes, struct clock_ring **ret_ring)
{
	struct clock_ring *ring = calloc(1, sizeof(*ring));
	int error;

	if (!ring)
		return -ENOMEM;
	ring->bytes = bytes;
	ring->fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "pieprofd", 0, 0, (uint32_t)bytes, NULL);
	if (ring->fd < 0) {
		error = ring->fd;
		ring_destroy(ring);
		return error;
	}
	ring->buffer = ring_buffer__new(ring->fd, take_record, ring, NULL);
	if (!ring->buffer) {
		error = -errno;
		ring_destroy(ring);
		return error;
	}
	*ret_ring = ring;
	return 0;
}

/* NULL: none of that size is kept. */
static struct clock_ring *take_kept(size_t bytes)
{
	struct clock_ring *found = NULL;

	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < CLOCK_RINGS_KEPT && !found; i++)
		if (kept[i] && kept[i]->bytes == bytes) {
			found = kept[i];
			kept[i] = NULL;
		}
	pthread_mutex_unlock(&lock);
	return found;
}

int clock_ring_open(size_t bytes, struct clock_ring **ret_ring)
{
	struct clock_ring *ring = take_kept(bytes);

	if (!ring)
		return ring_create(bytes, ret_ring);
	*ret_ring = ring;
	return 0;
}

void clock_ring_close(struct clock_ring *ring)
{
	if (!ring)
		return;
	/* The next process shall not have this one's. */
	clock_ring_read(ring, NULL, NULL);
	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < CLOCK_RINGS_KEPT && keeps && ring; i++)
		if (!kept[i]) {
			kept[i] = ring;
			ring = NULL;
		}
	pthread_mutex_unlock(&lock);
	ring_destroy(ring);
}

int clock_ring_fd(const struct clock_ring *ring)
{
	return ring->fd;
}

void clock_ring_read(struct clock_ring *ring, int (*take)(void *context, void *data, size_t size),
		     void *context)
{
	ring->take = take;
	ring->context = context;
	(void)ring_buffer__consume(ring->buffer);
}

void clock_ring_keep(bool keep)
{
	pthread_mutex_lock(&lock);
	keeps = keep;
	for (size_t i = 0; i < CLOCK_RINGS_KEPT && !keep; i++) {
		ring_destroy(kept[i]);
		kept[i] = NULL;
	}
	pthread_mutex_unlock(&lock);
}
