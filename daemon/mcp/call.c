/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/mcp/call.h"

#include "common/clock.h"
#include "common/printable.h"
#include "daemon/report/format/json_value.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define READ_BYTES (16u << 10)
/*
 * The first signal ends a profile; once the target is let go of, the next one gives its report up.
 * Nothing of ours takes longer to let go than this; who is stuck in the kernel is ended, upon which
 * the kernel lets go.
 */
#define SIGNAL_EVERY_NS (NS_PER_SECOND / 20)
#define END_LIMIT_NS    (10 * NS_PER_SECOND)

/* ---- the child ---- */

static void become_call(struct tool_line *line, call_run *run, const sigset_t *mask,
			const int output[2], const int errors[2], pid_t parent)
{
	int nowhere = open("/dev/null", O_RDONLY | O_CLOEXEC);
	int code;

	/* Whoever ends us ends it, by the signal that lets go of a target. */
	(void)prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent || nowhere < 0 || dup2(nowhere, STDIN_FILENO) < 0 ||
	    dup2(output[1], STDOUT_FILENO) < 0 || dup2(errors[1], STDERR_FILENO) < 0)
		_exit(EXIT_INTERNAL);
	closefrom(STDERR_FILENO + 1);
	(void)signal(SIGPIPE, SIG_DFL);
	(void)sigprocmask(SIG_SETMASK, mask, NULL);
	code = run(line);
	exit(code);
}

static void stream_init(struct call_stream *stream, int fd, size_t limit)
{
	*stream = (struct call_stream){ .fd = fd, .limit = limit };
}

static void close_both(const int ends[2])
{
	close(ends[0]);
	close(ends[1]);
}

int call_start(struct call *call, const struct tool *tool, struct tool_line *line, call_run *run,
	       const sigset_t *mask, uint64_t now_ns)
{
	pid_t parent = getpid(), pid;
	int output[2], errors[2];

	if (pipe2(output, O_CLOEXEC) < 0)
		return -errno;
	if (pipe2(errors, O_CLOEXEC) < 0) {
		int failure = -errno;

		close_both(output);
		return failure;
	}
	pid = fork();
	if (pid == 0)
		become_call(line, run, mask, output, errors, parent);
	if (pid < 0) {
		int failure = -errno;

		close_both(output);
		close_both(errors);
		return failure;
	}
	close(output[1]);
	close(errors[1]);
	*call = (struct call){
		.tool = tool,
		.pid = pid,
		.began_ns = now_ns,
		.duration_ns = line->duration_ns,
		.limit_ns = line->limit_ns,
	};
	stream_init(&call->output, output[0], CALL_TEXT_BYTES_MAX + 1 + CALL_JSON_BYTES_MAX);
	stream_init(&call->errors, errors[0], CALL_NOTES_BYTES_MAX);
	return 0;
}

/* ---- what it writes ---- */

static void stream_close(struct call_stream *stream)
{
	if (stream->fd >= 0)
		close(stream->fd);
	stream->fd = -1;
}

/* Room for more; what there is none for is read all the same, so that the child can end. */
static size_t stream_room(struct call_stream *stream)
{
	size_t wanted = stream->used + READ_BYTES;
	char *bytes;

	if (wanted > stream->limit)
		wanted = stream->limit;
	if (wanted > stream->capacity) {
		size_t larger = 2 * stream->capacity > wanted ? 2 * stream->capacity : wanted;

		if (larger > stream->limit)
			larger = stream->limit;
		bytes = realloc(stream->bytes, larger);
		if (bytes) {
			stream->bytes = bytes;
			stream->capacity = larger;
		}
	}
	return stream->capacity - stream->used;
}

void call_read(struct call *call, struct call_stream *stream)
{
	size_t room = stream_room(stream);
	char spare[READ_BYTES];
	ssize_t count;

	(void)call;
	count = read(stream->fd, room ? stream->bytes + stream->used : spare,
		     room ? room : sizeof(spare));
	if (count < 0 && errno == EINTR)
		return;
	if (count <= 0)
		stream_close(stream);
	else if (room)
		stream->used += (size_t)count;
	else
		stream->cut = true;
}

/* ---- its end ---- */

void call_end(struct call *call, uint64_t now_ns)
{
	if (!call->ending_ns)
		call->ending_ns = call->next_signal_ns = now_ns;
}

void call_tend(struct call *call, uint64_t now_ns)
{
	if (!call->ending_ns && now_ns - call->began_ns > call->limit_ns) {
		call->expired = true;
		call_end(call, now_ns);
	}
	if (!call->ending_ns || !call->pid || now_ns < call->next_signal_ns)
		return;
	(void)kill(call->pid, now_ns - call->ending_ns > END_LIMIT_NS ? SIGKILL : SIGTERM);
	call->next_signal_ns = now_ns + SIGNAL_EVERY_NS;
}

bool call_has_ended(struct call *call)
{
	if (call->pid && waitpid(call->pid, &call->status, WNOHANG) != 0)
		call->pid = 0;
	/* What it forked as its last resort may still write. */
	return !call->pid && ((call->output.fd < 0 && call->errors.fd < 0) || call->ending_ns);
}

void call_deinit(struct call *call)
{
	stream_close(&call->output);
	stream_close(&call->errors);
	free(call->output.bytes);
	free(call->errors.bytes);
	*call = (struct call){ .output.fd = -1, .errors.fd = -1 };
}

/* ---- what is answered ---- */

static json_t *content_text(json_t *text)
{
	json_t *item = json_with(json_object(), "type", json_text("text"));

	return json_with(item, "text", text);
}

static json_t *content_words(const char *words)
{
	return content_text(json_text(words));
}

/* Whole characters of it, at most limit bytes. */
static json_t *bounded_text(const char *bytes, size_t size, size_t limit)
{
	size_t used = size < limit ? size : limit;
	char *text;
	json_t *value;

	while (used < size && used && ((unsigned char)bytes[used] & 0xc0) == 0x80)
		used--;
	text = strndup(bytes, used);
	value = text ? json_text(text) : NULL;
	free(text);
	return value;
}

/* Without "pieprofd: " and white space around it. */
static json_t *notes_text(const struct call_stream *errors)
{
	static const char prefix[] = "pieprofd: ";
	const char *from = errors->bytes;
	size_t size = errors->used;

	if (size >= strlen(prefix) && !memcmp(from, prefix, strlen(prefix))) {
		from += strlen(prefix);
		size -= strlen(prefix);
	}
	while (size && (from[size - 1] == '\n' || from[size - 1] == ' '))
		size--;
	return size ? bounded_text(from, size, CALL_NOTES_BYTES_MAX) : NULL;
}

static size_t text_size_of(const struct call_stream *output)
{
	const char *nul = output->used ? memchr(output->bytes, '\0', output->used) : NULL;

	return nul ? (size_t)(nul - output->bytes) : output->used;
}

/* What a person would have been shown. */
static json_t *with_output(json_t *content, const struct call_stream *output)
{
	size_t size = text_size_of(output);
	const char *text = output->bytes ? output->bytes : "";

	content =
		json_appended(content, content_text(bounded_text(text, size, CALL_TEXT_BYTES_MAX)));
	if (size > CALL_TEXT_BYTES_MAX)
		content =
			json_appended(content, content_words("The text goes on: it was cut here."));
	return content;
}

static json_t *call_failure(const struct call *call)
{
	int code = WIFEXITED(call->status) ? WEXITSTATUS(call->status) : EXIT_INTERNAL;
	json_t *content = json_array(), *notes = notes_text(&call->errors), *object;
	char words[128];

	if (notes)
		content = json_appended(content, content_text(notes));
	snprintf(words, sizeof(words), "%s took longer than %llu s and was ended.",
		 call->tool->name, (unsigned long long)(call->limit_ns / NS_PER_SECOND));
	if (call->expired)
		content = json_appended(content, content_words(words));
	else if (!notes)
		content = json_appended(content, content_words("It ended without a word."));
	/* A profile without samples says why. */
	if (!call->expired && text_size_of(&call->output))
		content = with_output(content, &call->output);
	object = json_with(json_object(), "content", content);
	object = json_with(object, "structuredContent",
			   json_with(json_object(), "exit_code", json_integer(code)));
	return json_with(object, "isError", json_true());
}

/* The value behind the NUL; NULL: it is too long, or was cut. */
static json_t *structured(const struct call_stream *output, size_t text_size)
{
	const char *from = output->bytes + text_size + 1;
	json_error_t error;

	if (output->cut || output->used <= text_size ||
	    output->used - text_size - 1 > CALL_JSON_BYTES_MAX)
		return NULL;
	return json_loadb(from, output->used - text_size - 1, 0, &error);
}

static json_t *call_success(const struct call *call)
{
	json_t *content = with_output(json_array(), &call->output), *object;
	json_t *notes = notes_text(&call->errors);
	json_t *value = structured(&call->output, text_size_of(&call->output));

	if (!value)
		content = json_appended(content, content_words("Left out as too long: the same as "
							       "structured content."));
	if (notes)
		content = json_appended(content, content_text(notes));
	object = json_with(json_object(), "content", content);
	if (value)
		object = json_with(object, "structuredContent", value);
	return json_with(object, "isError", json_false());
}

json_t *call_result(const struct call *call)
{
	if (call->expired || !WIFEXITED(call->status) || WEXITSTATUS(call->status) != EXIT_OK)
		return call_failure(call);
	return call_success(call);
}

json_t *call_refusal(const struct error *error)
{
	char words[sizeof(error->cause) + sizeof(error->cure) + 4];
	json_t *object;

	snprintf(words, sizeof(words), "%s.%s%s", error->cause, error->cure[0] ? " " : "",
		 error->cure);
	object = json_with(json_object(), "content",
			   json_appended(json_array(), content_words(words)));
	object = json_with(object, "structuredContent",
			   json_with(json_object(), "exit_code", json_integer(error->exit_code)));
	return json_with(object, "isError", json_true());
}
