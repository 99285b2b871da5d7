/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the HTTP server is asked and told. The first byte: 0 a request, as
 * libmicrohttpd takes it apart; 1 the text of --listen, which Host headers then
 * come to; 2 a token file, and an Authorization header.
 *
 * A request: u16 of enum setting, then a line each for the method, path, Host,
 * Authorization and query, in which an empty header is none; what is left is a
 * profile (profile_codec.h) that the sampler's windows have. The sampler is the
 * real one, attached to nothing: a window ends as soon as it is looked at, with
 * the profile as that of a session that has ended meanwhile.
 */
#include "daemon/report/recording/profile_codec.h"
#include "daemon/serve/endpoint.h"
#include "daemon/serve/sampler_parts.h"
#include "tests/fuzz/fuzz.h"

#include <jansson.h>
#include <strings.h>

#define TOKEN         "sixteen-letters!"
#define ARENA_MAX     ((size_t)64 << 20)
#define ARGUMENTS_MAX 8

enum setting {
	ON_UNIX = 1 << 0,
	ON_LOOPBACK = 1 << 1, /* else: on Unix, or any address */
	WITH_TOKEN = 1 << 2,
	SHOWS_TOKEN = 1 << 3, /* whatever the header's line says */
	HAS_BODY = 1 << 4,
	CLIENT_GOES = 1 << 5,
	STATE = 3 << 6, /* enum sampler_state */
	ABOUT_TO_END = 1 << 8,
	TIME_ALONE = 1 << 9,
	MANY_WINDOWS = 1 << 10,
	MANY_PAGES = 1 << 11,
};

struct argument {
	const char *name;
	const char *value; /* NULL: "?name" */
};

struct asked {
	unsigned settings;
	struct request request;
	struct argument arguments[ARGUMENTS_MAX];
	size_t argument_count;
	const struct profile *profile; /* NULL: none could be read */
	struct sampler *sampler;
};

/* ---- the request */

static const char *find_argument(void *context, const char *name)
{
	const struct asked *asked = context;

	for (size_t i = 0; i < asked->argument_count; i++)
		if (!strcmp(asked->arguments[i].name, name))
			return asked->arguments[i].value;
	return NULL;
}

/* Between two looks at a window: its session ends. */
static bool has_gone(void *context)
{
	struct asked *asked = context;
	struct sampler *sampler = asked->sampler;

	if (asked->settings & CLIENT_GOES)
		return true;
	pthread_mutex_lock(&sampler->work);
	for (size_t i = 0; i < WINDOWS_MAX; i++) {
		struct window *window = sampler->windows[i];

		if (!window || window->merged || !asked->profile)
			continue;
		window->merged = profile_merge_create();
		fuzz_must(window->merged && !profile_merge_add(window->merged, asked->profile));
	}
	windows_end(sampler);
	pthread_mutex_unlock(&sampler->work);
	return false;
}

/* Until the newline; the text is changed, *text goes behind it. */
static char *take_line(char **text)
{
	char *line = *text, *end = strchr(line, '\n');

	*text = end ? end + 1 : line + strlen(line);
	if (end)
		*end = '\0';
	return line;
}

static void split_query(char *query, struct asked *asked)
{
	while (*query && asked->argument_count < ARGUMENTS_MAX) {
		char *next = strchr(query, '&'), *value;

		if (next)
			*next = '\0';
		value = strchr(query, '=');
		if (value)
			*value++ = '\0';
		asked->arguments[asked->argument_count++] = (struct argument){ query, value };
		query = next ? next + 1 : query + strlen(query);
	}
}

static void read_request(struct asked *asked, char **text)
{
	const char *host, *authorization;

	asked->request.method = take_line(text);
	asked->request.path = take_line(text);
	host = take_line(text);
	authorization = take_line(text);
	split_query(take_line(text), asked);
	if (asked->settings & SHOWS_TOKEN)
		authorization = "Bearer " TOKEN;
	asked->request.host = *host ? host : NULL;
	asked->request.authorization = *authorization ? authorization : NULL;
	asked->request.has_body = asked->settings & HAS_BODY;
	asked->request.argument = find_argument;
	asked->request.gone = has_gone;
	asked->request.context = asked;
}

/* ---- what an answer promises */

static bool is_change(const char *path)
{
	return !strcmp(path, "/control/start") || !strcmp(path, "/control/stop") ||
	       !strcmp(path, "/control/snapshot");
}

static bool is_control(const char *path)
{
	return is_change(path) || !strcmp(path, "/control/status");
}

/* By the headers alone; without an Authorization that only looks like ours. */
static bool is_permitted(const struct asked *asked)
{
	const struct request *request = &asked->request;
	bool shown = request->authorization && !strncasecmp(request->authorization, "bearer ", 7) &&
		     !strcmp(request->authorization + 7, TOKEN);

	if (asked->settings & ON_UNIX || !strcmp(request->path, "/healthz"))
		return true;
	if (asked->settings & WITH_TOKEN)
		return shown;
	return !is_control(request->path);
}

/* A name of this machine's own: that much must be there. */
static bool looks_local(const char *host)
{
	return host &&
	       (!strncmp(host, "127.", 4) || !strncasecmp(host, "localhost", 9) || *host == '[');
}

static void check_status(const struct asked *asked, const struct answer *answer)
{
	const struct request *request = &asked->request;
	bool is_read = !strcmp(request->method, "GET") || !strcmp(request->method, "HEAD");
	bool foreign = !(asked->settings & ON_UNIX) && asked->settings & ON_LOOPBACK &&
		       !looks_local(request->host);

	switch (answer->status) {
	case 0:
		fuzz_must(asked->settings & CLIENT_GOES);
		return;
	case 401:
		fuzz_must(asked->settings & WITH_TOKEN);
		break;
	case 405:
		fuzz_must(answer->allow);
		break;
	case 413:
		fuzz_must(request->has_body);
		break;
	case 200:
		fuzz_must(!request->has_body);
		fuzz_must(is_change(request->path) ? !strcmp(request->method, "POST") : is_read);
		break;
	default:
		fuzz_must(answer->status == 400 || answer->status == 403 || answer->status == 404 ||
			  answer->status == 409 || answer->status == 501 || answer->status == 503);
	}
	if (foreign)
		fuzz_must(answer->status == 403);
	else if (!is_permitted(asked))
		fuzz_must(answer->status == 401 || answer->status == 403);
}

/* One line or two that we wrote ourselves; nothing of a page. */
static void check_words(const struct body *body)
{
	fuzz_must(body->size && body->size < 1000 && body->bytes[body->size - 1] == '\n');
	for (size_t i = 0; i < body->size; i++)
		fuzz_must(body->bytes[i] == '\n' ||
			  (body->bytes[i] >= ' ' && body->bytes[i] <= '~' &&
			   !strchr("<>&", body->bytes[i])));
}

static void check_metrics(const struct body *body)
{
	for (size_t at = 0; at < body->size;) {
		const char *line = body->bytes + at, *end = memchr(line, '\n', body->size - at);

		fuzz_must(end);
		if (!strncmp(line, "# HELP ", 7) || !strncmp(line, "# TYPE ", 7))
			line += 7;
		fuzz_must(!strncmp(line, "pieprofd_", 9) || !strncmp(line, "process_", 8));
		at = (size_t)(end - body->bytes) + 1;
	}
}

static void check_body(const struct asked *asked, const struct answer *answer)
{
	const struct body *body = &answer->body;
	const char *type = answer->content_type;
	json_t *json;

	fuzz_must(!body->file && body->size <= BODY_BYTES_MAX);
	fuzz_must(!answer->is_page &&
		  !answer->filename ==
			  (strcmp(type, "application/octet-stream") != 0 || !body->size));
	if (answer->status != 200 || !strcmp(asked->request.path, "/healthz")) {
		fuzz_must(!strncmp(type, "text/plain;", 11));
		check_words(body);
	} else if (!strcmp(type, "application/json")) {
		json = json_loadb(body->bytes, body->size, 0, NULL);
		fuzz_must(json);
		json_decref(json);
	} else if (!strncmp(type, "text/plain; version=", 20)) {
		check_metrics(body);
	} else if (!strncmp(type, "text/html;", 10)) {
		/* The list of what there is: all of it is ours. */
		fuzz_must(!strncmp(asked->request.path, "/debug/pprof", 12));
	} else {
		fuzz_must(!strcmp(type, "application/octet-stream"));
		fuzz_must(!body->size || !memcmp(body->bytes, "\x1f\x8b", 2));
	}
}

/* What was taken up is given back, and the request counted once. */
static void check_finished(const struct endpoint *endpoint, const struct asked *asked)
{
	const struct sampler *sampler = asked->sampler;
	uint64_t counted = 0;

	fuzz_must(endpoint->windows == (asked->settings & MANY_WINDOWS ? WINDOWS_MAX : 0));
	fuzz_must(endpoint->pages == (asked->settings & MANY_PAGES ? ENDPOINT_PAGES_MAX : 0));
	for (size_t i = 0; i < WINDOWS_MAX; i++)
		fuzz_must(!sampler->windows[i]);
	for (size_t i = 0; i < METRICS_ENDPOINTS_MAX; i++)
		for (size_t k = 0; k < METRICS_CODES; k++)
			counted += endpoint->requests.by_code[i][k];
	fuzz_must(counted == 1);
}

/* ---- one of each */

static struct sampler *make_sampler(struct sampler_options *options, const struct asked *asked)
{
	struct sampler *sampler;
	struct error error;

	options->several = true;
	options->session.pid = 4242;
	options->session.loads = options->session.stores = !(asked->settings & TIME_ALONE);
	sampler = sampler_create(options);
	fuzz_must(sampler);
	sampler->group =
		group_create(&(struct group_options){ .session = options->session }, &error);
	fuzz_must(sampler->group);
	sampler_set_state(sampler, (asked->settings & STATE) >> 6);
	/* Nobody polls here, who would answer to a start. */
	if (asked->settings & ABOUT_TO_END || !strcmp(asked->request.path, "/control/start"))
		sampler_refuse(sampler);
	return sampler;
}

static void answer_request(struct asked *asked)
{
	struct sampler_options options = { 0 };
	struct listener listener = { 0 };
	struct endpoint endpoint = { .listener = &listener };
	struct answer answer;

	asked->sampler = make_sampler(&options, asked);
	listener.address.is_unix = asked->settings & ON_UNIX;
	listener.address.is_loopback = !listener.address.is_unix && asked->settings & ON_LOOPBACK;
	endpoint.sampler = asked->sampler;
	endpoint.heap = heap_looks_create(0, NULL);
	fuzz_must(endpoint.heap);
	endpoint.session = &options.session;
	endpoint.token.wanted = asked->settings & WITH_TOKEN;
	sha256(TOKEN, strlen(TOKEN), endpoint.token.digest);
	endpoint.windows = asked->settings & MANY_WINDOWS ? WINDOWS_MAX : 0;
	endpoint.pages = asked->settings & MANY_PAGES ? ENDPOINT_PAGES_MAX : 0;

	endpoint_answer(&endpoint, &asked->request, &answer);
	check_status(asked, &answer);
	if (answer.status)
		check_body(asked, &answer);
	endpoint_finish(&endpoint, &answer);
	check_finished(&endpoint, asked);
	heap_looks_destroy(endpoint.heap);
	sampler_destroy(asked->sampler);
}

static void fuzz_request(struct fuzz_input *input)
{
	struct asked asked = { .settings = (unsigned)fuzz_number(input, 2) };
	struct profile profile;
	struct arena arena;
	char *text = fuzz_text(input), *rest = text;
	uint8_t *bytes;
	size_t used;

	read_request(&asked, &rest);
	used = (size_t)(rest - text);
	(void)fuzz_take(input, used, &used);
	/* Of its own size, for the sanitizer. */
	bytes = fuzz_copy(input);
	arena_init(&arena, ARENA_MAX);
	if (!profile_decode(bytes, input->left, &arena, &profile))
		asked.profile = &profile;
	free(bytes);
	answer_request(&asked);
	arena_deinit(&arena);
	free(text);
}

static void fuzz_listener(const struct fuzz_input *input)
{
	struct listener listener = { 0 };
	struct error error = { 0 };
	char *text = fuzz_text(input), *rest = text;

	if (listener_parse(take_line(&rest), &listener.address, &error)) {
		fuzz_must(error.cause[0] && error.exit_code == EXIT_USAGE);
		listener.address.is_loopback = true;
	} else {
		fuzz_must(listener.address.size <= sizeof(listener.address.socket));
		fuzz_must(!(listener.address.is_unix && listener.address.is_loopback));
	}
	while (*rest) {
		const char *host = take_line(&rest);

		if (listener_accepts_host(&listener, host))
			fuzz_must(!listener.address.is_loopback || looks_local(host));
	}
	free(text);
}

/* The first line of the file is the token, and nothing else is. */
static void fuzz_token(struct fuzz_input *input)
{
	size_t size, header_size = (size_t)fuzz_number(input, 1);
	const struct fuzz_input header = { fuzz_take(input, header_size, &size), size };
	char *shown = fuzz_text(&header), *file = fuzz_text(input), path[64];
	struct error error = { 0 };
	struct token token;
	int fd = fuzz_file(input->at, input->left);

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (token_read(path, &token, &error)) {
		fuzz_must(error.cause[0] && error.exit_code == EXIT_USAGE);
	} else {
		size_t length = strcspn(file, "\r\n");
		bool same = !strncasecmp(shown, "Bearer ", 7) && strlen(shown + 7) == length &&
			    !memcmp(shown + 7, file, length);

		fuzz_must(length >= TOKEN_BYTES_MIN && length <= TOKEN_BYTES_MAX);
		fuzz_must(token_matches(&token, shown) == same);
	}
	close(fd);
	free(file);
	free(shown);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input input = { data, size };

	switch (fuzz_number(&input, 1)) {
	case 1:
		fuzz_listener(&input);
		break;
	case 2:
		fuzz_token(&input);
		break;
	default:
		fuzz_request(&input);
	}
	return 0;
}
