/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/serve/endpoint.h"

#include "attach/resident_memory.h"
#include "common/clock.h"
#include "daemon/report/encode/escape.h"
#include "daemon/report/format/pprof.h"
#include "daemon/report/html/html.h"
#include "daemon/report/recording/recording.h"
#include "daemon/report/writer_table.h"
#include "daemon/serve/window.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define SECONDS_DEFAULT 30
#define PLAIN           "text/plain; charset=utf-8"
#define HTML            "text/html; charset=utf-8"
#define JSON            "application/json"
#define BINARY          "application/octet-stream"
/* Prometheus asks for the version. */
#define METRICS "text/plain; version=0.0.4; charset=utf-8"

struct route {
	const char *path;
	const char *name; /* in /metrics */
	void (*handle)(struct endpoint *endpoint, const struct request *request,
		       struct answer *answer);
	enum {
		ROUTE_READ,
		ROUTE_CHANGE /* POST */
	} kind;
	bool is_open;    /* without a token */
	bool is_control; /* Unix socket or token */
};

/* ---- answers ---- */

__attribute__((format(printf, 3, 4))) static void say(struct answer *answer, unsigned status,
						      const char *format, ...)
{
	va_list arguments;

	body_deinit(&answer->body);
	answer->status = status;
	answer->content_type = PLAIN;
	answer->filename = NULL;
	answer->is_page = false;
	/* Without memory the status alone must do. */
	if (body_open(&answer->body))
		return;
	va_start(arguments, format);
	vfprintf(answer->body.file, format, arguments);
	va_end(arguments);
	fputc('\n', answer->body.file);
	(void)!body_finish(&answer->body);
}

static void finish_body(struct answer *answer, const char *content_type)
{
	int error = body_finish(&answer->body);

	if (error) {
		say(answer, 500, "no answer: %s", error == -EFBIG ? "too large" : "out of memory");
		return;
	}
	answer->status = 200;
	answer->content_type = content_type;
}

static bool hold(struct answer *answer, unsigned *counter, unsigned limit)
{
	if (__atomic_add_fetch(counter, 1, __ATOMIC_RELAXED) <= limit) {
		answer->held = counter;
		return true;
	}
	__atomic_sub_fetch(counter, 1, __ATOMIC_RELAXED);
	return false;
}

/* Why nothing is sampled. */
static const char *say_idle(enum sampler_state state)
{
	switch (state) {
	case SAMPLER_ENDED:
		return "the target has ended";
	case SAMPLER_WAITING:
		return "there is no process now: waiting for one";
	default:
		return "sampling is stopped; POST /control/start starts it";
	}
}

static void say_failure(const struct endpoint *endpoint, struct answer *answer, int error)
{
	switch (error) {
	case -EAGAIN:
		say(answer, 503, "%s", say_idle(sampler_state(endpoint->sampler)));
		break;
	case -EBUSY:
		say(answer, 503, "%d profiles are being made: try again later", WINDOWS_MAX);
		break;
	case -ENOTSUP:
		say(answer, 501,
		    "neither time asleep nor memory accesses are known here: perf events are "
		    "refused, and threads are read without stopping them");
		break;
	default:
		say(answer, 500, "no profile: %s", strerror(-error));
	}
}

/* ---- profiles ---- */

/* "30", "0.5"; 0 is no window. */
static int parse_seconds(const char *text, uint64_t *ret_ns)
{
	size_t points = 0, length = strlen(text);
	double seconds;

	for (size_t i = 0; i < length; i++) {
		if (text[i] == '.')
			points++;
		else if (text[i] < '0' || text[i] > '9')
			return -EINVAL;
	}
	if (length == 0 || length > 12 || points > 1 || points == length)
		return -EINVAL;
	seconds = strtod(text, NULL);
	if (seconds < 0.001 || seconds > ENDPOINT_SECONDS_MAX)
		return -ERANGE;
	*ret_ns = (uint64_t)(seconds * (double)NS_PER_SECOND);
	return 0;
}

struct view {
	enum pprof_view view;
	FILE *file;
};

static int endpoint_put_view(const struct profile *profile, void *context)
{
	const struct view *view = context;

	/* Readings without stops know neither. */
	if ((view->view == PPROF_WALL && !profile->facts.waits) ||
	    (view->view == PPROF_REDUNDANCY && !strcmp(profile->facts.sampler, "unstopped")))
		return -ENOTSUP;
	return pprof_write_view(profile, view->view, view->file);
}

static int take_window(struct endpoint *endpoint, const struct request *request,
		       uint64_t duration_ns, struct view *view)
{
	struct window *window;
	int error = window_open(endpoint->sampler, &window);

	if (error)
		return error;
	error = window_wait(window, duration_ns, request->gone, request->context);
	if (error) {
		(void)window_close(window, NULL, NULL);
		return error;
	}
	return window_close(window, endpoint_put_view, view);
}

static void answer_window(struct endpoint *endpoint, const struct request *request,
			  struct answer *answer, enum pprof_view view_kind)
{
	const char *text = request->argument(request->context, "seconds");
	uint64_t duration_ns = SECONDS_DEFAULT * NS_PER_SECOND;
	struct view view = { .view = view_kind };
	int error;

	if (text && parse_seconds(text, &duration_ns)) {
		say(answer, 400, "seconds: expected a number from 0.001 to %d, such as 30",
		    ENDPOINT_SECONDS_MAX);
		return;
	}
	if (!strcmp(request->method, "HEAD")) {
		answer->status = 200;
		answer->content_type = BINARY;
		return;
	}
	if (!hold(answer, &endpoint->windows, WINDOWS_MAX)) {
		say_failure(endpoint, answer, -EBUSY);
		return;
	}
	if (body_open(&answer->body)) {
		say_failure(endpoint, answer, -ENOMEM);
		return;
	}
	view.file = answer->body.file;
	error = take_window(endpoint, request, duration_ns, &view);
	if (error == -ECANCELED) {
		answer->status = 0;
		return;
	}
	if (error) {
		say_failure(endpoint, answer, error);
		return;
	}
	answer->filename = "profile.pb.gz";
	finish_body(answer, BINARY);
}

static void answer_profile(struct endpoint *endpoint, const struct request *request,
			   struct answer *answer)
{
	answer_window(endpoint, request, answer, PPROF_CPU);
}

static void answer_wall(struct endpoint *endpoint, const struct request *request,
			struct answer *answer)
{
	answer_window(endpoint, request, answer, PPROF_WALL);
}

static void answer_redundancy(struct endpoint *endpoint, const struct request *request,
			      struct answer *answer)
{
	if (!endpoint->session->loads && !endpoint->session->stores)
		say(answer, 501, "memory accesses are not watched: pieprofd runs with --mode time");
	else
		answer_window(endpoint, request, answer, PPROF_REDUNDANCY);
}

/* ---- the heap ---- */

static void answer_heap(struct endpoint *endpoint, const struct request *request,
			struct answer *answer)
{
	const struct heap_asker asker = { request->gone, request->context };
	struct heap_refusal refusal;

	if (request->argument(request->context, "seconds")) {
		say(answer, 400, "seconds: a look at the heap is of one moment");
		return;
	}
	if (sampler_state(endpoint->sampler) != SAMPLER_RUNNING) {
		say_failure(endpoint, answer, -EAGAIN);
		return;
	}
	if (!strcmp(request->method, "HEAD")) {
		answer->status = 200;
		answer->content_type = BINARY;
		return;
	}
	if (!hold(answer, &endpoint->pages, ENDPOINT_PAGES_MAX)) {
		say(answer, 503, "%d reports are being sent: try again later", ENDPOINT_PAGES_MAX);
		return;
	}
	if (body_open(&answer->body)) {
		say_failure(endpoint, answer, -ENOMEM);
		return;
	}
	if (heap_looks_write(endpoint->heap, endpoint->sampler, &asker, answer->body.file,
			     &refusal)) {
		if (refusal.status)
			say(answer, refusal.status, "%s", refusal.words);
		answer->retry_s = refusal.retry_s;
		return;
	}
	answer->filename = "heap.pb.gz";
	finish_body(answer, BINARY);
}

/* ---- what the session has seen ---- */

struct report {
	const struct writer *writer;
	FILE *file;
};

static int endpoint_put_report(const struct profile *profile, void *context)
{
	static const struct writer_options options;
	const struct report *report = context;

	return report->writer->write(profile, &options, report->file);
}

/* true: it is there, and the body not yet finished. */
static bool write_report(struct endpoint *endpoint, const struct writer *writer,
			 struct answer *answer)
{
	struct report report = { .writer = writer };
	int error = 0;

	if (!hold(answer, &endpoint->pages, ENDPOINT_PAGES_MAX)) {
		say(answer, 503, "%d reports are being sent: try again later", ENDPOINT_PAGES_MAX);
		return false;
	}
	if (body_open(&answer->body))
		error = -ENOMEM;
	report.file = answer->body.file;
	if (!error)
		error = sampler_write(endpoint->sampler, endpoint_put_report, &report);
	if (error)
		say_failure(endpoint, answer, error);
	return !error;
}

static void answer_page(struct endpoint *endpoint, const struct request *request,
			struct answer *answer)
{
	(void)request;
	if (!write_report(endpoint, &writer_html, answer))
		return;
	finish_body(answer, HTML);
	answer->is_page = answer->status == 200;
}

static void say_formats(struct answer *answer)
{
	answer->status = 400;
	answer->content_type = PLAIN;
	/* As in say(): without memory the status alone must do. */
	if (body_open(&answer->body))
		return;
	fputs("format: expected one of ", answer->body.file);
	writer_names(answer->body.file);
	fputc('\n', answer->body.file);
	(void)!body_finish(&answer->body);
}

static void answer_snapshot(struct endpoint *endpoint, const struct request *request,
			    struct answer *answer)
{
	const char *format = request->argument(request->context, "format");
	const struct writer *writer = format ? writer_by_name(format) : &writer_recording;

	if (!writer) {
		say_formats(answer);
		return;
	}
	if (write_report(endpoint, writer, answer))
		finish_body(answer, writer == &writer_json   ? JSON
				    : writer == &writer_text ? PLAIN
							     : BINARY);
}

/* ---- control ---- */

static void answer_status(struct endpoint *endpoint, const struct request *request,
			  struct answer *answer)
{
	struct sampler_counters *counters = malloc(sizeof(*counters));

	(void)request;
	if (!counters || sampler_count(endpoint->sampler, counters) || body_open(&answer->body)) {
		say_failure(endpoint, answer, -ENOMEM);
		free(counters);
		return;
	}
	fprintf(answer->body.file,
		"{\"state\": \"%s\", \"pid\": %d, \"samples\": %" PRIu64
		", \"sampled_ns\": %" PRIu64 ", \"session_ns\": %" PRIu64
		", \"rotations\": %" PRIu64
		", \"windows\": %zu, \"processes\": %zu, \"pieprofd\": \"%s\"}\n",
		sampler_state_name(sampler_state(endpoint->sampler)), (int)endpoint->session->pid,
		counters->all.samples, counters->all.sampled_ns, counters->session_ns,
		counters->rotations, counters->windows, counters->processes, PIEPROFD_VERSION);
	free(counters);
	finish_body(answer, JSON);
}

static void answer_start(struct endpoint *endpoint, const struct request *request,
			 struct answer *answer)
{
	struct error error;

	if (sampler_ask_start(endpoint->sampler, &error))
		say(answer, 409, "%s%s%s", error.cause, error.cure[0] ? "\n" : "", error.cure);
	else
		answer_status(endpoint, request, answer);
}

static void answer_stop(struct endpoint *endpoint, const struct request *request,
			struct answer *answer)
{
	sampler_stop(endpoint->sampler);
	answer_status(endpoint, request, answer);
}

/* ---- about ---- */

static void answer_health(struct endpoint *endpoint, const struct request *request,
			  struct answer *answer)
{
	enum sampler_state state = sampler_state(endpoint->sampler);

	(void)request;
	say(answer, state == SAMPLER_ENDED || state == SAMPLER_WAITING ? 503 : 200, "%s",
	    sampler_state_name(state));
}

static void answer_metrics(struct endpoint *endpoint, const struct request *request,
			   struct answer *answer);

static void answer_index(struct endpoint *endpoint, const struct request *request,
			 struct answer *answer)
{
	static const char page[] =
		"<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
		"<title>pieprofd</title></head><body><h1>pieprofd</h1>\n<ul>\n"
		"<li><a href=\"/\">report</a>: what the session has seen so far</li>\n"
		"<li><a href=\"/debug/pprof/profile?seconds=30\">profile</a>: CPU time "
		"(pprof)</li>\n"
		"<li><a href=\"/debug/pprof/redundancy?seconds=30\">redundancy</a>: memory "
		"accesses "
		"that found the value of the one before (pprof)</li>\n"
		"<li><a href=\"/debug/fgprof?seconds=30\">fgprof</a>: wall time (pprof)</li>\n"
		"<li><a href=\"/debug/pprof/heap\">heap</a>: live bytes by holder, now "
		"(pprof)</li>\n"
		"<li><a href=\"/metrics\">metrics</a> (Prometheus), "
		"<a href=\"/healthz\">healthz</a></li>\n</ul>\n"
		"<p>seconds: how long, up to 300.</p></body></html>\n";

	(void)request;
	if (body_open(&answer->body)) {
		say_failure(endpoint, answer, -ENOMEM);
		return;
	}
	fputs(page, answer->body.file);
	finish_body(answer, HTML);
}

/* What net/http/pprof has and a Python process does not. */
static void answer_not_here(struct endpoint *endpoint, const struct request *request,
			    struct answer *answer)
{
	static const struct {
		const char *path, *reason;
	} reasons[] = {
		{ "allocs", "allocations are not sampled; /debug/pprof/heap has what is live" },
		{ "block", "/debug/fgprof has time asleep, waiting for locks included" },
		{ "mutex", "/debug/fgprof has time asleep, waiting for locks included" },
		{ "goroutine", "Python has none; pieprofd dump shows every thread" },
		{ "threadcreate", "the creation of threads is not sampled" },
		{ "trace", "there is no execution trace of Python" },
		{ "cmdline", "arguments may be secret" },
		{ "symbol", "profiles have their symbols" },
	};
	const char *name = path_last(request->path);

	(void)endpoint;
	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
		if (!strcmp(name, reasons[i].path)) {
			say(answer, 404, "no %s here: %s", name, reasons[i].reason);
			return;
		}
	say(answer, 404, "there is no such page; /debug/pprof/ lists what there is");
}

/* ---- routes ---- */

#define ROUTE_UNKNOWN 0

static const struct route routes[] = {
	{ "", "unknown", answer_not_here, ROUTE_READ, false, false },
	{ "/", "report", answer_page, ROUTE_READ, false, false },
	{ "/debug/pprof/", "index", answer_index, ROUTE_READ, false, false },
	{ "/debug/pprof/profile", "profile", answer_profile, ROUTE_READ, false, false },
	{ "/debug/pprof/redundancy", "redundancy", answer_redundancy, ROUTE_READ, false, false },
	{ "/debug/fgprof", "fgprof", answer_wall, ROUTE_READ, false, false },
	{ "/debug/pprof/heap", "heap", answer_heap, ROUTE_READ, false, false },
	{ "/metrics", "metrics", answer_metrics, ROUTE_READ, false, false },
	{ "/healthz", "healthz", answer_health, ROUTE_READ, true, false },
	{ "/control/status", "status", answer_status, ROUTE_READ, false, true },
	{ "/control/start", "start", answer_start, ROUTE_CHANGE, false, true },
	{ "/control/stop", "stop", answer_stop, ROUTE_CHANGE, false, true },
	{ "/control/snapshot", "snapshot", answer_snapshot, ROUTE_CHANGE, false, true },
};

#define ROUTE_COUNT (sizeof(routes) / sizeof(routes[0]))
_Static_assert(ROUTE_COUNT <= METRICS_ENDPOINTS_MAX, "each has its counters");

/* Of all processes that are sampled: a file of /proc each. */
static uint64_t count_resident(struct sampler *sampler)
{
	pid_t pids[SAMPLER_SESSIONS_MAX];
	size_t count = sampler_processes(sampler, pids);
	uint64_t sum = 0, bytes;

	for (size_t i = 0; i < count; i++)
		if (!resident_memory_read(pids[i], &bytes))
			sum += bytes;
	return sum;
}

static void answer_metrics(struct endpoint *endpoint, const struct request *request,
			   struct answer *answer)
{
	struct sampler_counters *counters = malloc(sizeof(*counters));
	const char *names[ROUTE_COUNT];
	const struct heap_looks_counters heap = heap_looks_count(endpoint->heap);
	struct push_counts push;
	struct metrics metrics = {
		.counters = counters,
		.state = sampler_state(endpoint->sampler),
		.overhead_limit = endpoint->session->max_overhead,
		.resident_bytes = count_resident(endpoint->sampler),
		.heap = &heap,
		.requests = &endpoint->requests,
		.endpoints = names,
		.endpoint_count = ROUTE_COUNT,
	};

	(void)request;
	if (endpoint->push) {
		push = push_counts(endpoint->push);
		metrics.push = &push;
	}
	for (size_t i = 0; i < ROUTE_COUNT; i++)
		names[i] = routes[i].name;
	if (!counters || sampler_count(endpoint->sampler, counters) || body_open(&answer->body)) {
		say_failure(endpoint, answer, -ENOMEM);
		free(counters);
		return;
	}
	metrics_write(&metrics, answer->body.file);
	free(counters);
	finish_body(answer, METRICS);
}

static const struct route *find_route(const char *path)
{
	for (size_t i = 1; i < ROUTE_COUNT; i++)
		if (!strcmp(path, routes[i].path))
			return &routes[i];
	/* As Go has it. */
	return strcmp(path, "/debug/pprof") ? &routes[ROUTE_UNKNOWN] : find_route("/debug/pprof/");
}

/* false: refused, and said so. */
static bool is_permitted(const struct endpoint *endpoint, const struct request *request,
			 const struct route *route, struct answer *answer)
{
	bool is_unix = endpoint->listener->address.is_unix;

	if (!listener_accepts_host(endpoint->listener, request->host)) {
		say(answer, 403, "Host: expected localhost or a loopback address");
		return false;
	}
	if (is_unix || route->is_open)
		return true;
	if (endpoint->token.wanted) {
		if (token_matches(&endpoint->token, request->authorization))
			return true;
		say(answer, 401, "Authorization: expected Bearer and the token");
		return false;
	}
	if (!route->is_control)
		return true;
	say(answer, 403,
	    "control is for a Unix socket (--listen unix:PATH), or with a token "
	    "(--token-file)");
	return false;
}

static bool is_method_of(const struct route *route, const char *method)
{
	if (route->kind == ROUTE_CHANGE)
		return !strcmp(method, "POST");
	return !strcmp(method, "GET") || !strcmp(method, "HEAD");
}

void endpoint_answer(struct endpoint *endpoint, const struct request *request,
		     struct answer *ret_answer)
{
	const struct route *route = find_route(request->path);

	*ret_answer = (struct answer){ .route = (size_t)(route - routes) };
	if (!is_permitted(endpoint, request, route, ret_answer))
		return;
	if (!is_method_of(route, request->method)) {
		ret_answer->allow = route->kind == ROUTE_CHANGE ? "POST" : "GET, HEAD";
		say(ret_answer, 405, "expected %s", ret_answer->allow);
	} else if (request->has_body) {
		say(ret_answer, 413, "expected no body");
	} else {
		route->handle(endpoint, request, ret_answer);
	}
}

void endpoint_finish(struct endpoint *endpoint, struct answer *answer)
{
	size_t sent = answer->body.size;

	body_deinit(&answer->body);
	/* Who sees the request counted finds its place free. */
	if (answer->held)
		__atomic_sub_fetch(answer->held, 1, __ATOMIC_RELAXED);
	answer->held = NULL;
	request_count(&endpoint->requests, answer->route, answer->status ? answer->status : 499,
		      sent);
}
