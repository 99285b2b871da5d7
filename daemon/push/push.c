/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/push/push.h"

#include "daemon/push/sender.h"
#include "daemon/report/encode/gzip_stream.h"
#include "daemon/report/format/otlp.h"

#include <errno.h>
#include <linux/close_range.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

/* The sender reads at once unless the disk or the machine is stuck: nobody waits for that. */
#define HAND_OVER_S 5
#define READY_MS    30000

struct push {
	struct otlp_options otlp;
	int socket;
	char *spool;
	struct push_counts *counts; /* shared with the sender */
	uint64_t lost;              /* before they reached it */
};

bool push_header_is_valid(const char *text)
{
	const char *colon = strchr(text, ':');

	if (!colon || colon == text || strpbrk(text, "\r\n") ||
	    memchr(text, ' ', (size_t)(colon - text)))
		return false;
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			return false;
	return true;
}

/* Descriptors from 3 on but for those three. */
static void close_others(int a, int b, int c)
{
	int kept[] = { a, b, c };
	unsigned from = 3;

	while (from) {
		unsigned next = ~0u;

		for (size_t i = 0; i < 3; i++)
			if (kept[i] >= (int)from && (unsigned)kept[i] < next)
				next = (unsigned)kept[i];
		if (next > from)
			(void)syscall(SYS_close_range, from, next - 1, 0);
		from = next == ~0u ? 0 : next + 1;
	}
}

/* The grandchild sends; who waits for children of the daemon meets neither. */
static int start_sender(const struct push_options *options, struct spool *spool, int socket,
			struct push_counts *counts)
{
	pid_t child = fork();
	int status;

	if (child < 0)
		return -errno;
	if (child == 0) {
		child = fork();
		if (child)
			_exit(child < 0 ? EXIT_FAILURE : EXIT_SUCCESS);
		close_others(spool->folder, spool->lock, socket);
		sender_run(options, spool, socket, counts);
	}
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS ? 0 : -EAGAIN;
}

static bool is_ready(int socket)
{
	struct pollfd poll_fd = { .fd = socket, .events = POLLIN };
	char byte;

	return poll(&poll_fd, 1, READY_MS) == 1 && recv(socket, &byte, 1, 0) == 1;
}

static int start(struct push *push, const struct push_options *options, struct spool *spool)
{
	const struct timeval patience = { .tv_sec = HAND_OVER_S };
	int sockets[2], result;

	push->counts = mmap(NULL, sizeof(*push->counts), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (push->counts == MAP_FAILED) {
		push->counts = NULL;
		return -errno;
	}
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets))
		return -errno;
	result = start_sender(options, spool, sockets[1], push->counts);
	close(sockets[1]);
	push->socket = sockets[0];
	if (result)
		return result;
	if (!is_ready(push->socket))
		return -ECONNABORTED;
	return setsockopt(push->socket, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience))
		       ? -errno
		       : 0;
}

static void push_free(struct push *push)
{
	if (push->socket >= 0)
		close(push->socket);
	if (push->counts)
		(void)munmap(push->counts, sizeof(*push->counts));
	free(push->spool);
	free(push);
}

struct push *push_start(const struct push_options *options, struct error *error)
{
	struct push *push = calloc(1, sizeof(*push));
	struct spool spool;
	int result;

	if (!push) {
		error_set(error, EXIT_INTERNAL, "out of memory");
		return NULL;
	}
	push->socket = -1;
	push->otlp.service = options->service;
	if (spool_open(&spool, options->spool, error)) {
		push_free(push);
		return NULL;
	}
	push->spool = spool.path;
	spool.path = strdup(push->spool);
	result = spool.path ? start(push, options, &spool) : -ENOMEM;
	/* It is the sender's; of what was not begun it is empty and goes. */
	spool.temporary = spool.temporary && result;
	spool_close(&spool);
	if (!result)
		return push;
	error_set(error, EXIT_INTERNAL, "--push: the process that sends could not be begun: %s",
		  strerror(-result));
	push_free(push);
	return NULL;
}

static int compress_request(const struct protobuf *request, char **ret_bytes, size_t *ret_size)
{
	struct gzip_stream gzip;
	char *bytes = NULL;
	size_t size = 0;
	FILE *file = open_memstream(&bytes, &size);
	int result;

	if (!file)
		return -ENOMEM;
	result = gzip_stream_init(&gzip, file);
	if (!result) {
		result = gzip_stream_put(&gzip, request->bytes, request->size);
		if (!result)
			result = gzip_stream_finish(&gzip);
		gzip_stream_deinit(&gzip);
	}
	if (fclose(file) && !result)
		result = -ENOMEM;
	if (result) {
		free(bytes);
		return result;
	}
	*ret_bytes = bytes;
	*ret_size = size;
	return 0;
}

static int send_all(int socket, const void *bytes, size_t size)
{
	const char *at = bytes;

	while (size > 0) {
		ssize_t sent = send(socket, at, size, MSG_NOSIGNAL);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent <= 0)
			return sent ? -errno : -EPIPE;
		at += sent;
		size -= (size_t)sent;
	}
	return 0;
}

/* What was begun cannot be taken back: after a failure the socket is closed. */
static int hand_over(struct push *push, const char *bytes, size_t size)
{
	sender_size length = (sender_size)size;
	int result;

	if (push->socket < 0)
		return -EPIPE;
	if (size > SPOOL_ENTRY_BYTES_MAX)
		return -EMSGSIZE;
	result = send_all(push->socket, &length, sizeof(length));
	if (!result)
		result = send_all(push->socket, bytes, size);
	if (!result)
		return 0;
	close(push->socket);
	push->socket = -1;
	fprintf(stderr, "pieprofd: push: the process that sends is gone: %s\n", strerror(-result));
	return result;
}

static int encode_and_hand_over(struct push *push, const struct profile *profile)
{
	struct protobuf request;
	char *bytes = NULL;
	size_t size;
	int result;

	if (getrandom(push->otlp.id, sizeof(push->otlp.id), 0) != (ssize_t)sizeof(push->otlp.id))
		return -EIO;
	result = otlp_encode(profile, &push->otlp, &request);
	if (!result)
		result = compress_request(&request, &bytes, &size);
	protobuf_deinit(&request);
	if (result)
		return result;
	result = hand_over(push, bytes, size);
	free(bytes);
	return result;
}

int push_profile(struct push *push, const struct profile *profile)
{
	int result = encode_and_hand_over(push, profile);

	if (result == -ENODATA)
		return 0;
	if (result)
		__atomic_fetch_add(&push->lost, 1, __ATOMIC_RELAXED);
	return result;
}

struct push_counts push_counts(const struct push *push)
{
	const struct push_counts *from = push->counts;

	return (struct push_counts){
		.taken = __atomic_load_n(&from->taken, __ATOMIC_RELAXED),
		.refused = __atomic_load_n(&from->refused, __ATOMIC_RELAXED),
		.failures = __atomic_load_n(&from->failures, __ATOMIC_RELAXED),
		.dropped = __atomic_load_n(&from->dropped, __ATOMIC_RELAXED) +
			   __atomic_load_n(&push->lost, __ATOMIC_RELAXED),
		.waiting = __atomic_load_n(&from->waiting, __ATOMIC_RELAXED),
		.rejected = __atomic_load_n(&from->rejected, __ATOMIC_RELAXED),
	};
}

void push_end(struct push *push)
{
	struct push_counts counts;

	if (!push)
		return;
	if (push->socket >= 0) {
		struct pollfd poll_fd = { .fd = push->socket, .events = POLLIN };

		/* Its own end follows, which closes the socket here. */
		(void)shutdown(push->socket, SHUT_WR);
		(void)poll(&poll_fd, 1, (SENDER_FAREWELL_S + 2) * 1000);
	}
	counts = push_counts(push);
	if (counts.waiting)
		fprintf(stderr,
			"pieprofd: push: %llu of %llu requests were not taken; they are kept, and "
			"--push-spool %s sends them\n",
			(unsigned long long)counts.waiting,
			(unsigned long long)(counts.waiting + counts.taken + counts.refused),
			push->spool);
	push_free(push);
}
