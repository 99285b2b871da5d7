/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/mcp/mcp_server.h"

#include "common/clock.h"
#include "daemon/mcp/line_reader.h"
#include "daemon/mcp/protocol.h"
#include "daemon/report/format/json_value.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

/* How long a call that has ended, or is to end, waits for our next look. */
#define LOOK_MS     20
#define PROGRESS_NS NS_PER_SECOND
#define FAREWELL_NS (15 * NS_PER_SECOND)
#define STREAMS     2
#define POLLED_MAX  (2 + STREAMS * MCP_CALLS_MAX)

struct pending {
	struct call call;
	bool used;
	bool modern;
	bool cancelled; /* nobody waits for its answer */
	json_t *id, *progress_token;
	uint64_t next_progress_ns;
};

struct mcp_server {
	const struct mcp_server_options *options;
	struct line_reader reader;
	struct pending pending[MCP_CALLS_MAX];
	bool ending;
	int error; /* the first */
};

static void put(struct mcp_server *server, json_t *message)
{
	int result = rpc_put(server->options->output, message);

	if (result && !server->error) {
		server->error = result;
		server->ending = true;
	}
}

/* ---- calls ---- */

static struct pending *pending_of(struct mcp_server *server, const json_t *id)
{
	for (size_t i = 0; i < MCP_CALLS_MAX; i++)
		if (server->pending[i].used && json_equal(server->pending[i].id, id))
			return &server->pending[i];
	return NULL;
}

static struct pending *pending_free(struct mcp_server *server)
{
	for (size_t i = 0; i < MCP_CALLS_MAX; i++)
		if (!server->pending[i].used)
			return &server->pending[i];
	return NULL;
}

static void pending_end(struct pending *pending)
{
	call_deinit(&pending->call);
	json_decref(pending->id);
	json_decref(pending->progress_token);
	*pending = (struct pending){ 0 };
}

/* 0, or what call_start() or tool_line_make() said; -EBUSY: no place is free. */
static int begin_call(struct mcp_server *server, const struct rpc_message *message,
		      const struct protocol_call *wanted, struct error *error)
{
	const struct mcp_server_options *options = server->options;
	struct pending *pending = pending_free(server);
	uint64_t now_ns = clock_now_ns();
	struct tool_line line;
	int result;

	if (!pending) {
		error_set(error, EXIT_USAGE, "%d calls are running, and no more at once",
			  MCP_CALLS_MAX);
		error_set_cure(error, "Wait for one of them, or cancel it.");
		return -EBUSY;
	}
	result = tool_line_make(wanted->tool, wanted->arguments, &line, error);
	if (result)
		return result;
	result = call_start(&pending->call, wanted->tool, &line, options->run, &options->child_mask,
			    now_ns);
	tool_line_deinit(&line);
	if (result) {
		error_set(error, EXIT_INTERNAL, "no process could be made: %s", strerror(-result));
		return result;
	}
	pending->used = true;
	pending->modern = protocol_is_modern(message);
	pending->id = json_incref(message->id);
	pending->progress_token = json_incref(wanted->progress_token);
	pending->next_progress_ns = now_ns + PROGRESS_NS;
	return 0;
}

static void answer_call(struct mcp_server *server, const struct rpc_message *message,
			const struct protocol_call *wanted)
{
	struct error error;
	int result;

	if (pending_of(server, message->id)) {
		put(server, rpc_error(message->id, RPC_INVALID_REQUEST,
				      "a call with this \"id\" is running", NULL));
		return;
	}
	result = begin_call(server, message, wanted, &error);
	if (result == -ENOMEM)
		put(server, NULL);
	else if (result)
		put(server, protocol_result(message->id, protocol_is_modern(message),
					    call_refusal(&error)));
}

static void cancel(struct mcp_server *server, const json_t *id)
{
	struct pending *pending = pending_of(server, id);

	if (!pending)
		return;
	pending->cancelled = true;
	call_end(&pending->call, clock_now_ns());
}

static void put_progress(struct mcp_server *server, struct pending *pending, uint64_t now_ns)
{
	const struct call *call = &pending->call;
	uint64_t elapsed_ns = now_ns - call->began_ns;
	json_t *params;

	/* What lies behind the profiling itself has no measure. */
	if (!pending->progress_token || pending->cancelled || !call->duration_ns ||
	    now_ns < pending->next_progress_ns || elapsed_ns >= call->duration_ns)
		return;
	pending->next_progress_ns = now_ns + PROGRESS_NS;
	params = json_with(json_object(), "progressToken", json_incref(pending->progress_token));
	params = json_with(params, "progress", json_figure((double)elapsed_ns / 1e9));
	params = json_with(params, "total", json_figure((double)call->duration_ns / 1e9));
	params = json_with(params, "message", json_text("seconds of profiling"));
	put(server, rpc_notification("notifications/progress", params));
}

/* True: some call runs still. */
static bool tend_calls(struct mcp_server *server)
{
	uint64_t now_ns = clock_now_ns();
	bool running = false;

	for (size_t i = 0; i < MCP_CALLS_MAX; i++) {
		struct pending *pending = &server->pending[i];

		if (!pending->used)
			continue;
		if (call_has_ended(&pending->call)) {
			if (!pending->cancelled && !server->ending)
				put(server, protocol_result(pending->id, pending->modern,
							    call_result(&pending->call)));
			pending_end(pending);
			continue;
		}
		if (server->ending)
			call_end(&pending->call, now_ns);
		call_tend(&pending->call, now_ns);
		put_progress(server, pending, now_ns);
		running = true;
	}
	return running;
}

/* ---- messages ---- */

static void take_message(struct mcp_server *server, const char *line, size_t length)
{
	struct protocol_call wanted;
	struct rpc_message message;
	json_t *answer, *cancelled;

	rpc_message_read(line, length, &message);
	cancelled = protocol_cancelled(&message);
	answer = protocol_answer(&message, &wanted);
	if (wanted.tool)
		answer_call(server, &message, &wanted);
	else if (answer || message.kind == RPC_REQUEST)
		put(server, answer);
	else if (cancelled)
		cancel(server, cancelled);
	rpc_message_deinit(&message);
}

static void take_lines(struct mcp_server *server)
{
	int result = line_reader_fill(&server->reader);

	if (result && !server->error)
		server->error = result;
	server->ending |= result != 0;
	while (!server->ending) {
		const char *line;
		size_t length;

		switch (line_reader_next(&server->reader, &line, &length)) {
		case LINE_READ:
			take_message(server, line, length);
			continue;
		case LINE_TOO_LONG:
			put(server,
			    rpc_error(NULL, RPC_INVALID_REQUEST, "the line is too long", NULL));
			continue;
		case LINE_END:
			server->ending = true;
			return;
		case LINE_NONE:
			return;
		}
	}
}

/* ---- the loop ---- */

struct polled {
	struct pollfd files[POLLED_MAX];
	struct call *calls[POLLED_MAX];
	struct call_stream *streams[POLLED_MAX]; /* NULL: none of a call's */
	nfds_t count;
};

static void add_file(struct polled *polled, int fd, struct call *call, struct call_stream *stream)
{
	if (fd < 0)
		return;
	polled->files[polled->count] = (struct pollfd){ .fd = fd, .events = POLLIN };
	polled->calls[polled->count] = call;
	polled->streams[polled->count++] = stream;
}

/* Waits until something can be read, and reads it. */
static void take_turn(struct mcp_server *server, int timeout_ms)
{
	struct polled polled = { .count = 0 };

	if (!server->ending) {
		add_file(&polled, server->options->input, NULL, NULL);
		add_file(&polled, server->options->signals, NULL, NULL);
	}
	for (size_t i = 0; i < MCP_CALLS_MAX; i++) {
		struct call *call = &server->pending[i].call;

		if (!server->pending[i].used)
			continue;
		add_file(&polled, call->output.fd, call, &call->output);
		add_file(&polled, call->errors.fd, call, &call->errors);
	}
	if (poll(polled.files, polled.count, timeout_ms) <= 0)
		return;
	for (nfds_t i = 0; i < polled.count; i++) {
		if (!polled.files[i].revents)
			continue;
		if (polled.streams[i])
			call_read(polled.calls[i], polled.streams[i]);
		else if (polled.files[i].fd == server->options->input)
			take_lines(server);
		else
			server->ending = true;
	}
}

int mcp_server_run(const struct mcp_server_options *options)
{
	struct mcp_server *server = calloc(1, sizeof(*server));
	uint64_t ending_ns = 0;
	int result;

	if (!server)
		return -ENOMEM;
	server->options = options;
	line_reader_init(&server->reader, options->input);
	for (;;) {
		bool running = tend_calls(server);

		if (server->ending && !ending_ns)
			ending_ns = clock_now_ns();
		/* Who cannot even be killed is left to the kernel. */
		if (server->ending && (!running || clock_now_ns() - ending_ns > FAREWELL_NS))
			break;
		take_turn(server, running ? LOOK_MS : -1);
	}
	for (size_t i = 0; i < MCP_CALLS_MAX; i++)
		if (server->pending[i].used)
			pending_end(&server->pending[i]);
	/* Who reads no more has what he wanted. */
	result = server->error == -EPIPE ? 0 : server->error;
	free(server);
	return result;
}
