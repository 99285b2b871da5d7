/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/push/sender.h"

#include "common/clock.h"
#include "common/printable.h"
#include "common/whole_file.h"
#include "daemon/push/backoff.h"
#include "daemon/push/push_request.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define DETAIL_COLUMNS_MAX 240

struct sender {
	const struct push_options *options;
	struct spool *spool;
	struct push_counts *counts;
	int socket;
	bool ended; /* nothing more comes from it */
	CURLM *multi;
	struct push_request request;
	bool sending;
	struct spool_entry entry; /* what is being sent, and its bytes */
	void *body;
	size_t body_size;
	uint64_t said_gave_way, said_damaged; /* of the spool's, those that are counted */
	unsigned failures;
	uint64_t next_ns; /* not before */
	uint64_t end_ns;
	long said_kind; /* refusals are told once each */
	bool said_rejected, said_room;
};

void sender_say(const struct push_options *options, const char *words, const char *detail)
{
	char shown[PRINTABLE_BYTES(DETAIL_COLUMNS_MAX)] = "";

	/* libcurl's words may quote the receiver. */
	if (detail)
		(void)printable_fit(shown, sizeof(shown), detail, DETAIL_COLUMNS_MAX, false);
	fprintf(stderr, "pieprofd: push to %s:%s: %s%s%s\n", options->url.host, options->url.port,
		words, detail && *detail ? ": " : "", shown);
}

static void say(const struct sender *sender, const char *words, const char *detail)
{
	sender_say(sender->options, words, detail);
}

static void count(uint64_t *counter, uint64_t more)
{
	__atomic_fetch_add(counter, more, __ATOMIC_RELAXED);
}

static void show_counts(struct sender *sender)
{
	struct push_counts *counts = sender->counts;
	const struct spool *spool = sender->spool;

	__atomic_store_n(&counts->waiting, spool->count, __ATOMIC_RELAXED);
	__atomic_store_n(&counts->waiting_bytes, spool->bytes, __ATOMIC_RELAXED);
	count(&counts->lost[PUSH_LOSS_ROOM], spool->gave_way - sender->said_gave_way);
	count(&counts->lost[PUSH_LOSS_DAMAGED], spool->damaged - sender->said_damaged);
	sender->said_gave_way = spool->gave_way;
	sender->said_damaged = spool->damaged;
	if (!spool->gave_way || sender->said_room)
		return;
	say(sender, "what waits has no more room: the oldest profiles are given up", NULL);
	sender->said_room = true;
}

/* ---- from the daemon */

/* Into the spool. */
static void keep(struct sender *sender, uint64_t number, int file)
{
	struct stat status;
	char *bytes = NULL;
	int result = -EMSGSIZE;

	if (fstat(file, &status))
		result = -errno;
	else if (status.st_size > 0 && (uint64_t)status.st_size <= SPOOL_ENTRY_BYTES_MAX)
		result = (bytes = malloc((size_t)status.st_size)) ? 0 : -ENOMEM;
	if (!result && (lseek(file, 0, SEEK_SET) ||
			whole_file_fill(file, bytes, (size_t)status.st_size) != status.st_size))
		result = -EIO;
	if (!result)
		result = spool_add(sender->spool, number, bytes, (size_t)status.st_size);
	free(bytes);
	if (!result)
		return;
	count(&sender->counts->lost[PUSH_LOSS_UNWRITTEN], 1);
	say(sender, "a profile could not be kept", strerror(-result));
}

/* The descriptor that came with the message; -1: none did. */
static int descriptor_of(struct msghdr *message)
{
	const struct cmsghdr *control = CMSG_FIRSTHDR(message);
	int file = -1;

	if (control && control->cmsg_level == SOL_SOCKET && control->cmsg_type == SCM_RIGHTS)
		memcpy(&file, CMSG_DATA(control), sizeof(file));
	return file;
}

/* One request; false: there are no more. */
static bool receive_request(struct sender *sender)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { .bytes = { 0 } };
	struct sender_message head = { 0 };
	struct iovec vector = { &head, sizeof(head) };
	struct msghdr message = { .msg_iov = &vector,
				  .msg_iovlen = 1,
				  .msg_control = control.bytes,
				  .msg_controllen = sizeof(control.bytes) };
	ssize_t got = recvmsg(sender->socket, &message, MSG_PEEK | MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	int file;

	if (got < 0)
		return errno == EAGAIN || errno == EINTR;
	if (!got)
		return false;
	file = descriptor_of(&message);
	if (file >= 0) {
		keep(sender, head.number, file);
		close(file);
	}
	/* It is looked at first, and taken off now. */
	return recv(sender->socket, &head, sizeof(head), MSG_DONTWAIT) > 0;
}

static void receive(struct sender *sender)
{
	if (receive_request(sender))
		return;
	/* It stays open: its end tells the daemon of ours. */
	sender->ended = true;
	sender->end_ns = clock_now_ns() + SENDER_FAREWELL_S * NS_PER_SECOND;
	/* One more try, whatever was to be waited for. */
	if (!sender->sending)
		sender->next_ns = 0;
}

/* ---- to the receiver */

static void begin(struct sender *sender)
{
	int result;

	if (spool_read_first(sender->spool, &sender->body, &sender->body_size, &sender->entry))
		return;
	result = push_request_begin(&sender->request, sender->multi, sender->body,
				    sender->body_size);
	sender->sending = !result;
	if (!result)
		return;
	free(sender->body);
	sender->body = NULL;
	if (result == -EBADMSG) {
		sender->spool->damaged++;
		spool_remove(sender->spool, &sender->entry);
	} else {
		sender->next_ns = clock_now_ns() + NS_PER_SECOND;
	}
}

static void try_later(struct sender *sender, const struct push_result *result)
{
	uint64_t random = 0;

	/* Without it, all wait equally long. */
	(void)!getrandom(&random, sizeof(random), GRND_NONBLOCK);
	if (!sender->failures++)
		say(sender, "not taken, tried again later", result->words);
	count(&sender->counts->failures, 1);
	sender->next_ns = clock_now_ns() + backoff_ns(sender->failures, random, result->asked_ns);
}

static void note_accepted(struct sender *sender, const struct push_result *result)
{
	count(&sender->counts->taken, 1);
	count(&sender->counts->taken_bytes, sender->body_size);
	__atomic_store_n(&sender->counts->taken_unix_ns, clock_read_ns(CLOCK_REALTIME),
			 __ATOMIC_RELAXED);
	if (result->rejected) {
		if (!sender->said_rejected)
			say(sender, "some profiles were rejected", result->words);
		sender->said_rejected = true;
		count(&sender->counts->rejected, result->rejected);
	}
	if (sender->failures)
		say(sender, "taken again", NULL);
	sender->failures = 0;
}

static void note_refused(struct sender *sender, const struct push_result *result)
{
	if (sender->said_kind != result->kind)
		say(sender, "refused for good", result->words);
	sender->said_kind = result->kind;
	count(&sender->counts->lost[PUSH_LOSS_REFUSED], 1);
}

static void end_request(struct sender *sender, CURLcode code)
{
	struct push_result result = push_request_end(&sender->request, sender->multi, code);

	free(sender->body);
	sender->body = NULL;
	sender->sending = false;
	switch (result.verdict) {
	case RECEIVER_BUSY:
		try_later(sender, &result);
		return;
	case RECEIVER_ACCEPTED:
		note_accepted(sender, &result);
		break;
	case RECEIVER_REFUSED:
		note_refused(sender, &result);
		break;
	}
	spool_remove(sender->spool, &sender->entry);
}

/* ---- the loop */

static void look(struct sender *sender)
{
	CURLMsg *message;
	int running, left;

	(void)curl_multi_perform(sender->multi, &running);
	while ((message = curl_multi_info_read(sender->multi, &left)))
		if (message->msg == CURLMSG_DONE)
			end_request(sender, message->data.result);
}

static int wait_ms(const struct sender *sender, uint64_t now_ns)
{
	uint64_t until_ns = now_ns + NS_PER_SECOND;

	if (!sender->sending && sender->spool->count && sender->next_ns < until_ns)
		until_ns = sender->next_ns > now_ns ? sender->next_ns : now_ns;
	return (int)((until_ns - now_ns) / NS_PER_MS);
}

static bool is_over(const struct sender *sender, uint64_t now_ns)
{
	return sender->ended && (!sender->spool->count || now_ns >= sender->end_ns);
}

static void loop(struct sender *sender)
{
	for (;;) {
		struct curl_waitfd daemon = { .fd = sender->socket, .events = CURL_WAIT_POLLIN };
		uint64_t now_ns = clock_now_ns();
		struct pollfd pending = { .fd = sender->socket, .events = POLLIN };

		show_counts(sender);
		if (is_over(sender, now_ns))
			return;
		if (!sender->sending && sender->spool->count && now_ns >= sender->next_ns)
			begin(sender);
		look(sender);
		(void)curl_multi_poll(sender->multi, sender->ended ? NULL : &daemon, !sender->ended,
				      wait_ms(sender, clock_now_ns()), NULL);
		if (!sender->ended && poll(&pending, 1, 0) > 0)
			receive(sender);
	}
}

void sender_run(const struct push_options *options, struct spool *spool, int socket,
		struct sender_shared *shared)
{
	static struct sender sender;
	bool ready;

	sender = (struct sender){
		.options = options, .spool = spool, .counts = &shared->counts, .socket = socket
	};
	sender.multi = curl_multi_init();
	ready = sender.multi && push_request_prepare(&sender.request, options) &&
		!spool_look(spool);
	if (ready && options->confine && options->confine()) {
		say(&sender, "privileges could not be given up", NULL);
		ready = false;
	}
	/* The daemon waits for this byte. */
	if (!ready || (!shared->ready && send(socket, "", 1, MSG_NOSIGNAL) != 1))
		_exit(EXIT_FAILURE);
	shared->ready = true;
	loop(&sender);
	_exit(EXIT_SUCCESS);
}
