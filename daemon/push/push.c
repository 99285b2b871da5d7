/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/push/push.h"

#include "common/clock.h"
#include "daemon/push/keeper.h"
#include "daemon/push/pyroscope.h"
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

/* Both transports of OpenTelemetry's send the same requests. */
static const char *const suffixes[] = {
	[PUSH_OTLP] = ".otlp", [PUSH_OTLP_GRPC] = ".otlp", [PUSH_PYROSCOPE] = ".pprof"
};

struct push {
	enum push_protocol protocol;
	struct otlp_options otlp;
	char node[128];
	int socket;
	char *spool;
	struct sender_shared *shared;
	uint64_t number;                /* of the last request */
	uint64_t lost[PUSH_LOSS_COUNT]; /* before they reached the sender */
	bool said[PUSH_LOSS_COUNT];
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

/* The grandchild: who waits for children of the daemon does not meet it. */
static int start_keeper(const struct push_options *options, struct spool *spool, int socket,
			struct sender_shared *shared)
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
		keeper_run(options, spool, socket, shared);
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

	push->shared = mmap(NULL, sizeof(*push->shared), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (push->shared == MAP_FAILED) {
		push->shared = NULL;
		return -errno;
	}
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets))
		return -errno;
	result = start_keeper(options, spool, sockets[1], push->shared);
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
	if (push->shared)
		(void)munmap(push->shared, sizeof(*push->shared));
	free(push->spool);
	free(push);
}

/* What Kubernetes' downward API tells the daemon, where it was asked to. */
static bool read_node(struct push *push)
{
	const char *node = getenv("NODE_NAME");

	for (size_t i = 0; node && node[i]; i++)
		if (node[i] <= ' ' || node[i] > '~' || i >= sizeof(push->node) - 1)
			return false;
	snprintf(push->node, sizeof(push->node), "%s", node ? node : "");
	return push->node[0];
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
	push->protocol = options->protocol;
	push->otlp.service = options->service;
	if (read_node(push))
		push->otlp.node = push->node;
	if (spool_open(&spool, options->spool, suffixes[options->protocol], error)) {
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

/* The request as a file that is nowhere, for the sender to read. */
static int make_file(const char *bytes, size_t size)
{
	int file = memfd_create("pieprofd-push", MFD_CLOEXEC), error;

	if (file < 0)
		return -errno;
	while (size > 0) {
		ssize_t written = write(file, bytes, size);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0) {
			error = written ? errno : EIO;
			close(file);
			return -error;
		}
		bytes += written;
		size -= (size_t)written;
	}
	return file;
}

/* Higher than the one before, also when the clock is set back. */
static uint64_t next_number(struct push *push)
{
	uint64_t now_ns = clock_read_ns(CLOCK_REALTIME);

	push->number = now_ns > push->number ? now_ns : push->number + 1;
	return push->number;
}

static int send_file(struct push *push, int file)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { .bytes = { 0 } };
	struct sender_message head = { .number = next_number(push) };
	struct iovec vector = { &head, sizeof(head) };
	const struct msghdr message = { .msg_iov = &vector,
					.msg_iovlen = 1,
					.msg_control = control.bytes,
					.msg_controllen = sizeof(control.bytes) };

	control.header = (struct cmsghdr){ .cmsg_len = CMSG_LEN(sizeof(int)),
					   .cmsg_level = SOL_SOCKET,
					   .cmsg_type = SCM_RIGHTS };
	memcpy(CMSG_DATA(&control.header), &file, sizeof(file));
	while (sendmsg(push->socket, &message, MSG_NOSIGNAL) < 0)
		if (errno != EINTR)
			return -errno;
	return 0;
}

static void lose(struct push *push, enum push_loss why, int error)
{
	__atomic_fetch_add(&push->lost[why], 1, __ATOMIC_RELAXED);
	if (!push->said[why])
		fprintf(stderr, "pieprofd: push: a profile could not be handed over: %s\n",
			strerror(-error));
	push->said[why] = true;
}

static int hand_over(void *context, const void *bytes, size_t size)
{
	struct push *push = context;
	int file, result;

	if (size > SPOOL_ENTRY_BYTES_MAX) {
		lose(push, PUSH_LOSS_UNWRITTEN, -EMSGSIZE);
		return -EMSGSIZE;
	}
	file = make_file(bytes, size);
	result = file < 0 ? file : send_file(push, file);
	if (file >= 0)
		close(file);
	if (result)
		lose(push, file < 0 ? PUSH_LOSS_MADE : PUSH_LOSS_SENDER, result);
	return result;
}

static int push_otlp(struct push *push, const struct profile *profile)
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
	(void)hand_over(push, bytes, size);
	free(bytes);
	return 0;
}

static int push_series(struct push *push, const struct profile *profile)
{
	const struct pyroscope_options options = { push->otlp.service, push->otlp.node };

	return pyroscope_encode(profile, &options, hand_over, push);
}

static uint64_t lost_of(const struct push *push)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < PUSH_LOSS_COUNT; i++)
		sum += __atomic_load_n(&push->lost[i], __ATOMIC_RELAXED);
	return sum;
}

int push_profile(struct push *push, const struct profile *profile)
{
	uint64_t lost = lost_of(push);
	int result = push->protocol == PUSH_PYROSCOPE ? push_series(push, profile)
						      : push_otlp(push, profile);

	if (result == -ENODATA)
		return 0;
	/* What was handed over is counted there. */
	if (result && lost == lost_of(push))
		lose(push, PUSH_LOSS_MADE, result);
	return lost == lost_of(push) ? 0 : result ? result : -EPIPE;
}

const char *push_loss_name(enum push_loss loss)
{
	static const char *const names[PUSH_LOSS_COUNT] = {
		[PUSH_LOSS_ROOM] = "room",       [PUSH_LOSS_UNWRITTEN] = "unwritten",
		[PUSH_LOSS_DAMAGED] = "damaged", [PUSH_LOSS_MADE] = "made",
		[PUSH_LOSS_SENDER] = "sender",   [PUSH_LOSS_REFUSED] = "refused",
	};

	return names[loss];
}

struct push_counts push_counts(const struct push *push)
{
	const struct push_counts *from = &push->shared->counts;
	struct push_counts counts = {
		.taken = __atomic_load_n(&from->taken, __ATOMIC_RELAXED),
		.taken_bytes = __atomic_load_n(&from->taken_bytes, __ATOMIC_RELAXED),
		.failures = __atomic_load_n(&from->failures, __ATOMIC_RELAXED),
		.rejected = __atomic_load_n(&from->rejected, __ATOMIC_RELAXED),
		.restarts = __atomic_load_n(&from->restarts, __ATOMIC_RELAXED),
		.waiting = __atomic_load_n(&from->waiting, __ATOMIC_RELAXED),
		.waiting_bytes = __atomic_load_n(&from->waiting_bytes, __ATOMIC_RELAXED),
		.taken_unix_ns = __atomic_load_n(&from->taken_unix_ns, __ATOMIC_RELAXED),
	};

	for (size_t i = 0; i < PUSH_LOSS_COUNT; i++)
		counts.lost[i] = __atomic_load_n(&from->lost[i], __ATOMIC_RELAXED) +
				 __atomic_load_n(&push->lost[i], __ATOMIC_RELAXED);
	return counts;
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
			(unsigned long long)(counts.waiting + counts.taken +
					     counts.lost[PUSH_LOSS_REFUSED]),
			push->spool);
	push_free(push);
}
