/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/serve/server.h"

#include "common/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* For a request, or between two of a connection. */
#define READ_NS (10 * NS_PER_SECOND)
#define SEND_NS (60 * NS_PER_SECOND)

enum phase {
	PHASE_FREE,
	PHASE_READING,
	PHASE_ANSWERING, /* ours: the client has its time */
	PHASE_SENDING,
};

struct connection {
	enum phase phase;
	uint64_t since_ns;
	int fd; /* another one for the same socket: MHD may close its own at any time */
};

struct server {
	struct endpoint *endpoint;
	struct MHD_Daemon *daemon;
	int listener_fd;         /* -1: MHD's */
	server_confine *confine; /* NULL: its threads stay as they are */
	bool refuses;            /* its threads could not be confined: nothing is answered */
	pthread_mutex_t lock;
	struct connection connections[SERVER_CONNECTIONS_MAX];
};

/* From the first call for a request to its end. */
struct exchange {
	struct server *server;
	struct connection *connection;
	struct MHD_Connection *mhd;
	bool answered;
	struct answer answer;
};

/* ---- connections ---- */

static void set_phase(struct server *server, struct connection *connection, enum phase phase)
{
	pthread_mutex_lock(&server->lock);
	connection->phase = phase;
	connection->since_ns = clock_now_ns();
	pthread_mutex_unlock(&server->lock);
}

/* NULL: no place, or no descriptor by which to see that the client has gone or is slow. */
static struct connection *open_connection(struct server *server, int connect_fd)
{
	int fd = fcntl(connect_fd, F_DUPFD_CLOEXEC, 0);
	struct connection *opened = NULL;

	if (fd < 0)
		return NULL;
	pthread_mutex_lock(&server->lock);
	for (size_t i = 0; i < SERVER_CONNECTIONS_MAX && !opened; i++)
		if (server->connections[i].phase == PHASE_FREE)
			opened = &server->connections[i];
	if (opened)
		*opened = (struct connection){
			.phase = PHASE_READING,
			.since_ns = clock_now_ns(),
			.fd = fd,
		};
	pthread_mutex_unlock(&server->lock);
	if (!opened)
		close(fd);
	return opened;
}

static void close_connection(struct server *server, struct connection *connection)
{
	pthread_mutex_lock(&server->lock);
	close(connection->fd);
	connection->phase = PHASE_FREE;
	pthread_mutex_unlock(&server->lock);
}

/*
 * Called by the thread that accepts, which makes a thread for each connection:
 * all of them have its filter.
 */
static void confine_thread(struct server *server)
{
	static _Thread_local bool confined;
	int failure;

	if (confined || !server->confine)
		return;
	confined = true;
	failure = server->confine();
	if (!failure)
		return;
	__atomic_store_n(&server->refuses, true, __ATOMIC_RELAXED);
	fprintf(stderr,
		"pieprofd: no request is answered, because system calls cannot be filtered: %s\n",
		strerror(-failure));
}

struct confine_trial {
	server_confine *confine;
	int result;
};

static void *try_filter(void *context)
{
	struct confine_trial *trial = context;

	trial->result = trial->confine();
	return NULL;
}

int server_try_filter(server_confine *confine)
{
	struct confine_trial trial = { .confine = confine };
	pthread_t thread;
	int failure = pthread_create(&thread, NULL, try_filter, &trial);

	if (failure)
		return -failure;
	(void)pthread_join(thread, NULL);
	return trial.result;
}

static void notify_connection(void *context, struct MHD_Connection *mhd, void **connection_context,
			      enum MHD_ConnectionNotificationCode code)
{
	struct server *server = context;
	uint64_t *count = &server->endpoint->requests.connections;

	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		confine_thread(server);
		const union MHD_ConnectionInfo *info =
			MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD);

		*connection_context = info ? open_connection(server, info->connect_fd) : NULL;
		/* It cannot be refused here: the shutdown ends a wait for its next byte. */
		if (info && !*connection_context)
			(void)shutdown(info->connect_fd, SHUT_RDWR);
		__atomic_add_fetch(count, 1, __ATOMIC_RELAXED);
		return;
	}
	if (*connection_context)
		close_connection(server, *connection_context);
	*connection_context = NULL;
	__atomic_sub_fetch(count, 1, __ATOMIC_RELAXED);
}

void server_reap(struct server *server)
{
	uint64_t now_ns;

	pthread_mutex_lock(&server->lock);
	/* No connection is younger than that, as only who has the lock sets its time. */
	now_ns = clock_now_ns();
	for (size_t i = 0; i < SERVER_CONNECTIONS_MAX; i++) {
		struct connection *connection = &server->connections[i];
		uint64_t limit_ns = connection->phase == PHASE_READING   ? READ_NS
				    : connection->phase == PHASE_SENDING ? SEND_NS
									 : UINT64_MAX;

		if (connection->phase == PHASE_FREE || now_ns - connection->since_ns < limit_ns)
			continue;
		(void)shutdown(connection->fd, SHUT_RDWR);
		/* Once is enough. */
		connection->since_ns = now_ns;
		__atomic_add_fetch(&server->endpoint->requests.cut, 1, __ATOMIC_RELAXED);
	}
	pthread_mutex_unlock(&server->lock);
}

unsigned server_busy(struct server *server)
{
	unsigned busy = 0;

	pthread_mutex_lock(&server->lock);
	for (size_t i = 0; i < SERVER_CONNECTIONS_MAX; i++)
		busy += server->connections[i].phase == PHASE_ANSWERING ||
			server->connections[i].phase == PHASE_SENDING;
	pthread_mutex_unlock(&server->lock);
	return busy;
}

/* ---- requests ---- */

static const char *find_header(struct MHD_Connection *mhd, const char *name)
{
	return MHD_lookup_connection_value(mhd, MHD_HEADER_KIND, name);
}

static const char *find_argument(void *context, const char *name)
{
	const struct exchange *exchange = context;

	return MHD_lookup_connection_value(exchange->mhd, MHD_GET_ARGUMENT_KIND, name);
}

static bool has_gone(void *context)
{
	const struct exchange *exchange = context;
	struct pollfd poll_fd = { .fd = exchange->connection->fd, .events = POLLRDHUP };

	return poll(&poll_fd, 1, 0) > 0;
}

static bool has_body(struct MHD_Connection *mhd)
{
	const char *length = find_header(mhd, MHD_HTTP_HEADER_CONTENT_LENGTH);

	return (length && strcmp(length, "0") != 0) ||
	       find_header(mhd, MHD_HTTP_HEADER_TRANSFER_ENCODING);
}

static void put_header(struct MHD_Response *response, const char *name, const char *value)
{
	/* Without memory it is missing; none of them is all that protects. */
	(void)!MHD_add_response_header(response, name, value);
}

static void put_headers(struct MHD_Response *response, const struct answer *answer)
{
	char disposition[64], retry[16];

	if (answer->content_type)
		put_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, answer->content_type);
	put_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
	put_header(response, "X-Content-Type-Options", "nosniff");
	put_header(response, "X-Frame-Options", "DENY");
	put_header(response, "Referrer-Policy", "no-referrer");
	put_header(response, "Cross-Origin-Resource-Policy", "same-origin");
	put_header(response, "Cross-Origin-Opener-Policy", "same-origin");
	/* The report allows its own script and style by their hashes, and nothing else. */
	put_header(response, "Content-Security-Policy",
		   answer->is_page ? "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
				   : "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; "
				     "form-action 'none'");
	if (answer->allow)
		put_header(response, MHD_HTTP_HEADER_ALLOW, answer->allow);
	if (answer->status == 401)
		put_header(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer");
	snprintf(retry, sizeof(retry), "%u", answer->retry_s ? answer->retry_s : 5);
	if (answer->status == 503 || answer->retry_s)
		put_header(response, MHD_HTTP_HEADER_RETRY_AFTER, retry);
	if (answer->filename) {
		snprintf(disposition, sizeof(disposition), "attachment; filename=\"%s\"",
			 answer->filename);
		put_header(response, MHD_HTTP_HEADER_CONTENT_DISPOSITION, disposition);
	}
}

static enum MHD_Result send_answer(struct exchange *exchange)
{
	struct answer *answer = &exchange->answer;
	struct MHD_Response *response;
	enum MHD_Result result;

	/* The body is freed when all is sent. */
	response = MHD_create_response_from_buffer(answer->body.size, answer->body.bytes,
						   MHD_RESPMEM_PERSISTENT);
	if (!response)
		return MHD_NO;
	put_headers(response, answer);
	result = MHD_queue_response(exchange->mhd, answer->status, response);
	MHD_destroy_response(response);
	return result;
}

static enum MHD_Result answer_request(struct exchange *exchange, const char *path,
				      const char *method)
{
	struct server *server = exchange->server;
	const struct request request = {
		.method = method,
		.path = path,
		.host = find_header(exchange->mhd, MHD_HTTP_HEADER_HOST),
		.authorization = find_header(exchange->mhd, MHD_HTTP_HEADER_AUTHORIZATION),
		.has_body = has_body(exchange->mhd),
		.argument = find_argument,
		.gone = has_gone,
		.context = exchange,
	};

	set_phase(server, exchange->connection, PHASE_ANSWERING);
	endpoint_answer(server->endpoint, &request, &exchange->answer);
	exchange->answered = true;
	set_phase(server, exchange->connection, PHASE_SENDING);
	return exchange->answer.status ? send_answer(exchange) : MHD_NO;
}

/* Called when the headers are there, and again when the body is. */
static enum MHD_Result server_handle(void *context, struct MHD_Connection *mhd, const char *url,
				     const char *method, const char *version,
				     const char *upload_data, size_t *upload_size,
				     void **request_context)
{
	struct exchange *exchange = *request_context;
	const union MHD_ConnectionInfo *info;
	struct connection *connection;

	(void)version;
	(void)upload_data;
	if (__atomic_load_n(&((struct server *)context)->refuses, __ATOMIC_RELAXED))
		return MHD_NO;
	if (exchange) {
		/* What nobody asked for. */
		*upload_size = 0;
		return exchange->answered ? MHD_YES : answer_request(exchange, url, method);
	}
	info = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
	connection = info ? info->socket_context : NULL;
	/* What it had sent before it was cut. */
	if (!connection)
		return MHD_NO;
	exchange = calloc(1, sizeof(*exchange));
	if (!exchange)
		return MHD_NO;
	*request_context = exchange;
	exchange->server = context;
	exchange->mhd = mhd;
	exchange->connection = connection;
	/* A body is refused unread: answered now, the connection is closed behind the answer. */
	return has_body(mhd) ? answer_request(exchange, url, method) : MHD_YES;
}

static void request_completed(void *context, struct MHD_Connection *mhd, void **request_context,
			      enum MHD_RequestTerminationCode code)
{
	struct exchange *exchange = *request_context;
	struct server *server = context;

	(void)mhd;
	(void)code;
	if (!exchange)
		return;
	if (exchange->answered)
		endpoint_finish(server->endpoint, &exchange->answer);
	set_phase(server, exchange->connection, PHASE_READING);
	free(exchange);
	*request_context = NULL;
}

/* ---- life ---- */

struct server *server_start(struct endpoint *endpoint, const struct listener *listener,
			    server_confine *confine)
{
	struct server *server = calloc(1, sizeof(*server));

	if (!server)
		return NULL;
	server->endpoint = endpoint;
	server->listener_fd = -1;
	server->confine = confine;
	pthread_mutex_init(&server->lock, NULL);
	server->daemon = MHD_start_daemon(
		MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION | MHD_USE_POLL |
			MHD_USE_ITC,
		0, NULL, NULL, server_handle, server, MHD_OPTION_LISTEN_SOCKET, listener->fd,
		MHD_OPTION_CONNECTION_LIMIT, (unsigned)SERVER_CONNECTIONS_MAX,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)SERVER_HEADER_BYTES_MAX,
		MHD_OPTION_NOTIFY_CONNECTION, notify_connection, server,
		MHD_OPTION_NOTIFY_COMPLETED, request_completed, server, MHD_OPTION_END);
	if (!server->daemon) {
		close(listener->fd);
		pthread_mutex_destroy(&server->lock);
		free(server);
		return NULL;
	}
	return server;
}

void server_quiesce(struct server *server)
{
	if (server->listener_fd < 0)
		server->listener_fd = MHD_quiesce_daemon(server->daemon);
}

void server_stop(struct server *server)
{
	if (!server)
		return;
	MHD_stop_daemon(server->daemon);
	if (server->listener_fd >= 0)
		close(server->listener_fd);
	pthread_mutex_destroy(&server->lock);
	free(server);
}
