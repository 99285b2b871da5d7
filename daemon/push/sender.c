/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/push/sender.h"

#include "common/clock.h"
#include "common/printable.h"
#include "daemon/push/backoff.h"
#include "daemon/push/receiver_answer.h"

#include <curl/curl.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#define ANSWER_BYTES_MAX   (64u << 10)
#define CONNECT_TIMEOUT_S  10L
#define TIMEOUT_S          60L
#define DETAIL_COLUMNS_MAX 240

struct sender {
	const struct push_options *options;
	struct spool *spool;
	struct push_counts *counts;
	int socket;
	bool ended; /* nothing more comes from it */
	CURLM *multi;
	CURL *request;
	struct curl_slist *headers;
	bool sending;
	struct spool_entry entry; /* what is being sent, and its bytes */
	void *body;
	unsigned char answer[ANSWER_BYTES_MAX];
	size_t answer_size;
	char problem[CURL_ERROR_SIZE];
	unsigned failures;
	uint64_t next_ns; /* not before */
	uint64_t end_ns;
	long said_status; /* refusals are told once each */
	bool said_dropped;
};

static void say(const struct sender *sender, const char *words, const char *detail)
{
	char shown[PRINTABLE_BYTES(DETAIL_COLUMNS_MAX)] = "";

	/* libcurl's words may quote the receiver. */
	if (detail)
		(void)printable_fit(shown, sizeof(shown), detail, DETAIL_COLUMNS_MAX, false);
	fprintf(stderr, "pieprofd: push to %s:%s: %s%s%s\n", sender->options->url.host,
		sender->options->url.port, words, detail ? ": " : "", shown);
}

static void show_counts(struct sender *sender)
{
	struct push_counts *counts = sender->counts;

	__atomic_store_n(&counts->waiting, sender->spool->count, __ATOMIC_RELAXED);
	__atomic_store_n(&counts->dropped, sender->spool->dropped, __ATOMIC_RELAXED);
	if (!sender->spool->dropped || sender->said_dropped)
		return;
	say(sender, "what waits has no more room: the oldest profiles are given up", NULL);
	sender->said_dropped = true;
}

static void count(uint64_t *counter, uint64_t more)
{
	__atomic_fetch_add(counter, more, __ATOMIC_RELAXED);
}

/* ---- from the daemon */

static bool receive_all(int socket, void *bytes, size_t size)
{
	return recv(socket, bytes, size, MSG_WAITALL) == (ssize_t)size;
}

/* One request; false: there are no more. */
static bool receive_request(struct sender *sender)
{
	sender_size size;
	void *bytes;
	bool received;
	int result;

	if (!receive_all(sender->socket, &size, sizeof(size)) || size > SPOOL_ENTRY_BYTES_MAX)
		return false;
	bytes = malloc((size_t)size + 1);
	if (!bytes)
		return false;
	received = receive_all(sender->socket, bytes, size);
	result = received ? spool_add(sender->spool, bytes, size) : 0;
	free(bytes);
	if (result) {
		sender->spool->dropped++;
		say(sender, "a profile could not be kept", strerror(-result));
	}
	return received;
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

static size_t take_answer(char *bytes, size_t size, size_t items, void *context)
{
	struct sender *sender = context;
	size_t more = size * items, room = sizeof(sender->answer) - sender->answer_size;

	if (more > room)
		return 0;
	memcpy(sender->answer + sender->answer_size, bytes, more);
	sender->answer_size += more;
	return more;
}

static bool add_header(struct sender *sender, const char *header)
{
	struct curl_slist *headers = curl_slist_append(sender->headers, header);

	if (headers)
		sender->headers = headers;
	return headers;
}

static bool prepare(struct sender *sender)
{
	CURL *request = curl_easy_init();
	bool ready = request && add_header(sender, "Content-Type: application/x-protobuf") &&
		     add_header(sender, "Content-Encoding: gzip") && add_header(sender, "Expect:");

	for (unsigned i = 0; i < sender->options->header_count && ready; i++)
		ready = add_header(sender, sender->options->headers[i]);
	sender->request = request;
	sender->multi = curl_multi_init();
	return ready && sender->multi &&
	       !curl_easy_setopt(request, CURLOPT_URL, sender->options->url.text) &&
	       !curl_easy_setopt(request, CURLOPT_PROTOCOLS_STR, "http,https") &&
	       /* Whoever it leads to would get the tokens. */
	       !curl_easy_setopt(request, CURLOPT_FOLLOWLOCATION, 0L) &&
	       !curl_easy_setopt(request, CURLOPT_NOSIGNAL, 1L) &&
	       !curl_easy_setopt(request, CURLOPT_POST, 1L) &&
	       !curl_easy_setopt(request, CURLOPT_HTTPHEADER, sender->headers) &&
	       !curl_easy_setopt(request, CURLOPT_CONNECTTIMEOUT, CONNECT_TIMEOUT_S) &&
	       !curl_easy_setopt(request, CURLOPT_TIMEOUT, TIMEOUT_S) &&
	       !curl_easy_setopt(request, CURLOPT_USERAGENT, "pieprofd/" PIEPROFD_VERSION) &&
	       !curl_easy_setopt(request, CURLOPT_ERRORBUFFER, sender->problem) &&
	       !curl_easy_setopt(request, CURLOPT_WRITEFUNCTION, take_answer) &&
	       !curl_easy_setopt(request, CURLOPT_WRITEDATA, sender);
}

static void begin(struct sender *sender)
{
	size_t size;

	if (spool_read_first(sender->spool, &sender->body, &size, &sender->entry))
		return;
	sender->answer_size = 0;
	sender->problem[0] = '\0';
	if (curl_easy_setopt(sender->request, CURLOPT_POSTFIELDS, sender->body) ||
	    curl_easy_setopt(sender->request, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)size) ||
	    curl_multi_add_handle(sender->multi, sender->request)) {
		free(sender->body);
		sender->body = NULL;
		sender->next_ns = clock_now_ns() + NS_PER_SECOND;
		return;
	}
	sender->sending = true;
}

static void try_later(struct sender *sender, const char *why, uint64_t asked_ns)
{
	uint64_t random = 0;

	/* Without it, all wait equally long. */
	(void)!getrandom(&random, sizeof(random), GRND_NONBLOCK);
	if (!sender->failures++)
		say(sender, "not taken, tried again later", why);
	count(&sender->counts->failures, 1);
	sender->next_ns = clock_now_ns() + backoff_ns(sender->failures, random, asked_ns);
}

static void note_accepted(struct sender *sender)
{
	struct receiver_answer answer = receiver_answer_parse(sender->answer, sender->answer_size);

	count(&sender->counts->taken, 1);
	if (answer.rejected) {
		if (sender->said_status != 200)
			say(sender, "some profiles were rejected", answer.message);
		sender->said_status = 200;
		count(&sender->counts->rejected, answer.rejected);
	}
	if (sender->failures)
		say(sender, "taken again", NULL);
	sender->failures = 0;
}

static void note_refused(struct sender *sender, long status)
{
	char words[32];

	snprintf(words, sizeof(words), "HTTP status %ld", status);
	if (sender->said_status != status)
		say(sender, "refused for good", words);
	sender->said_status = status;
	count(&sender->counts->refused, 1);
}

static void end_request(struct sender *sender, CURLcode code)
{
	curl_off_t asked_s = 0;
	long status = 0;
	char words[32];

	(void)curl_easy_getinfo(sender->request, CURLINFO_RESPONSE_CODE, &status);
	(void)curl_easy_getinfo(sender->request, CURLINFO_RETRY_AFTER, &asked_s);
	(void)curl_multi_remove_handle(sender->multi, sender->request);
	free(sender->body);
	sender->body = NULL;
	sender->sending = false;
	snprintf(words, sizeof(words), "HTTP status %ld", status);
	/* Of an answer that is too long, the status was read. */
	if (code && code != CURLE_WRITE_ERROR) {
		try_later(sender, sender->problem[0] ? sender->problem : curl_easy_strerror(code),
			  0);
		return;
	}
	switch (receiver_verdict(status)) {
	case RECEIVER_BUSY:
		try_later(sender, words,
			  asked_s > 0 && asked_s < 86400 ? (uint64_t)asked_s * NS_PER_SECOND : 0);
		return;
	case RECEIVER_ACCEPTED:
		note_accepted(sender);
		break;
	case RECEIVER_REFUSED:
		note_refused(sender, status);
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

/* The first look for a name loads what looks for names: code, which a filter refuses later. */
static void look_up_once(const struct push_url *url)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
	struct addrinfo *found = NULL;

	if (!getaddrinfo(url->host, url->port, &hints, &found))
		freeaddrinfo(found);
}

void sender_run(const struct push_options *options, struct spool *spool, int socket,
		struct push_counts *counts)
{
	static struct sender sender;
	bool ready;

	sender = (struct sender){
		.options = options, .spool = spool, .counts = counts, .socket = socket
	};
	/* They are the daemon's; the socket tells of its end. */
	(void)signal(SIGPIPE, SIG_IGN);
	(void)signal(SIGINT, SIG_IGN);
	(void)signal(SIGTERM, SIG_IGN);
	(void)signal(SIGHUP, SIG_IGN);
	(void)prctl(PR_SET_NAME, "pieprofd-push");
	look_up_once(&options->url);
	ready = !curl_global_init(CURL_GLOBAL_DEFAULT) && prepare(&sender);
	if (ready && options->confine && options->confine()) {
		say(&sender, "privileges could not be given up", NULL);
		ready = false;
	}
	/* The daemon waits for this byte. */
	if (!ready || send(socket, "", 1, MSG_NOSIGNAL) != 1)
		_exit(EXIT_FAILURE);
	loop(&sender);
	spool_close(spool);
	_exit(EXIT_SUCCESS);
}
