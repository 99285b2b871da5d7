/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cli/commands.h"

#include "attach/impersonator.h"
#include "common/clock.h"
#include "daemon/cli/confinement.h"
#include "daemon/cli/file_limit.h"
#include "daemon/cli/hint.h"
#include "daemon/cli/message.h"
#include "daemon/cli/profile_push.h"
#include "daemon/cli/session_settings.h"
#include "daemon/cli/signals.h"
#include "daemon/cli/target_choice.h"
#include "daemon/serve/notify.h"
#include "daemon/serve/pusher.h"
#include "daemon/serve/server.h"
#include "symbolize/layout_cache.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define POLL_NS (NS_PER_SECOND / 10)
/* So long after the target's end /healthz says so, and open profiles can be fetched. */
#define LINGER_NS (5 * NS_PER_SECOND)
/* So long what was asked for may take to be sent once an end is wanted. */
#define FAREWELL_NS (3 * NS_PER_SECOND)

struct service {
	struct endpoint endpoint;
	struct listener listener;
	struct server *server;
	struct push *push; /* NULL: not asked for; likewise: */
	struct pusher *pusher;
	const struct options *options;
	const struct pid_list *targets; /* those given or found at first */
	struct process_query query;
	uint64_t watchdog_ns;
	uint64_t next_watchdog_ns;
};

/* Whoever may connect from elsewhere must show a token. */
static int check_address(const struct options *options, const struct listener_address *address,
			 struct error *error)
{
	if (address->is_unix || address->is_loopback)
		return 0;
	if (!options->allow_remote) {
		error_set(error, EXIT_USAGE, "--listen %s: other machines could connect",
			  options->listen);
		error_set_cure(error, "--allow-remote with --token-file FILE allows it; "
				      "127.0.0.1 and unix:PATH need neither.");
		return -1;
	}
	if (options->token_file)
		return 0;
	error_set(error, EXIT_USAGE, "--allow-remote needs a token (--token-file FILE)");
	error_set_cure(error, "openssl rand -hex 32 makes one.");
	return -1;
}

static void beat(struct service *service, uint64_t now_ns)
{
	if (!service->watchdog_ns || now_ns < service->next_watchdog_ns)
		return;
	notify_send("WATCHDOG=1");
	service->next_watchdog_ns = now_ns + service->watchdog_ns;
}

/* Of several processes, which come and go. */
static bool is_several(const struct service *service)
{
	const struct options *options = service->options;

	return options->follow || options->wait || options->all || options->cgroup ||
	       service->targets->count > 1;
}

static const char *describe_targets(const struct service *service, char *text, size_t size)
{
	size_t count = service->targets->count;

	if (!is_several(service))
		snprintf(text, size, "process %d", (int)service->options->pid);
	else if (sampler_state(service->endpoint.sampler) == SAMPLER_WAITING)
		snprintf(text, size, "waiting for a process");
	else
		snprintf(text, size, "%zu process%s%s", count, count == 1 ? "" : "es",
			 service->options->follow ? " with children" : "");
	return text;
}

/* A change that whoever reads the log, or systemctl status, wants to know. */
static void tell_state(struct service *service, enum sampler_state state)
{
	const char *words = state == SAMPLER_WAITING   ? "No process is left; waiting for another."
			    : state == SAMPLER_RUNNING ? "Sampling."
						       : "Sampling is stopped.";
	char status[64];

	snprintf(status, sizeof(status), "STATUS=%s", words);
	notify_send(status);
	if (!service->options->quiet)
		fprintf(stderr, "pieprofd: %s\n", words);
}

static void tell_end(const struct service *service)
{
	notify_send("STATUS=The target has ended.");
	if (service->options->quiet)
		return;
	if (is_several(service))
		fprintf(stderr, "pieprofd: all processes have ended\n");
	else
		fprintf(stderr, "pieprofd: process %d has ended\n", (int)service->options->pid);
}

/* Until a signal comes, or the target has been gone for a while. */
static void attend(struct service *service, const sigset_t *signals)
{
	struct timespec timeout = { .tv_nsec = (long)POLL_NS };
	enum sampler_state before = sampler_state(service->endpoint.sampler), state;
	uint64_t ended_ns = 0;
	char notice[1024];
	int signal = 0;

	if (service->watchdog_ns && service->watchdog_ns < POLL_NS)
		timeout.tv_nsec = (long)service->watchdog_ns;
	while (signal <= 0 || signal == SIGUSR1) {
		uint64_t now_ns = clock_now_ns();

		beat(service, now_ns);
		sampler_poll(service->endpoint.sampler, notice, sizeof(notice));
		if (*notice)
			fprintf(stderr, "pieprofd: %s\n", notice);
		server_reap(service->server);
		state = sampler_state(service->endpoint.sampler);
		if (!ended_ns && state == SAMPLER_ENDED) {
			ended_ns = now_ns;
			tell_end(service);
		} else if (state != before && is_several(service)) {
			tell_state(service, state);
		}
		before = state;
		if (ended_ns && now_ns - ended_ns >= LINGER_NS)
			break;
		signal = sigtimedwait(signals, NULL, &timeout);
	}
}

/* What is being answered is finished, if that does not take long. */
static void say_goodbye(struct service *service)
{
	struct timespec pause = { .tv_nsec = (long)(NS_PER_SECOND / 50) };
	uint64_t end_ns = clock_now_ns() + FAREWELL_NS;

	notify_send("STOPPING=1");
	server_quiesce(service->server);
	pusher_stop(service->pusher);
	listener_close(&service->listener);
	sampler_refuse(service->endpoint.sampler);
	heap_looks_refuse(service->endpoint.heap);
	while (server_busy(service->server) && clock_now_ns() < end_ns)
		(void)nanosleep(&pause, NULL);
	server_stop(service->server);
}

static void announce(struct service *service)
{
	char notes[1024], targets[64];

	sampler_copy_notes(service->endpoint.sampler, notes, sizeof(notes));
	if (*notes)
		fprintf(stderr, "pieprofd: %s", notes);
	if (!service->options->quiet)
		fprintf(stderr, "pieprofd: %s on %s\n",
			describe_targets(service, targets, sizeof(targets)),
			service->listener.name);
	notify_send("READY=1");
}

/* Of the threads that answer. */
static int filter_http(void)
{
	int failure = confinement_filter_http(true);

	return confinement_has_failed(failure) ? failure : 0;
}

static int serve_open_all(struct service *service, const struct session_options *session,
			  struct error *error)
{
	const struct options *options = service->options;
	struct sampler_options sampler = {
		.session = *session,
		.rotate_ns = options->rotate_ns,
		.several = is_several(service),
		.pids = service->targets->items,
		.pid_count = service->targets->count,
		.node_share = options->node_overhead / 2,
		.follow = options->follow,
		.wait = options->wait,
		.query = options->cgroup || options->wait ? &service->query : NULL,
	};
	struct listener_address address;
	int failure;

	service->query = (struct process_query){ .name = options->name, .cgroup = options->cgroup };
	/* fgprof asks for time asleep. */
	sampler.session.waits = true;
	if (listener_parse(options->listen, &address, error) ||
	    check_address(service->options, &address, error))
		return -1;
	if (service->options->token_file &&
	    token_read(service->options->token_file, &service->endpoint.token, error))
		return -1;
	service->endpoint.sampler = sampler_create(&sampler);
	service->endpoint.heap = heap_looks_create(options->max_memory, session->impersonator);
	if (!service->endpoint.sampler || !service->endpoint.heap) {
		error_set(error, EXIT_INTERNAL, "out of memory");
		return -1;
	}
	/* Before anything is attached: whether there is a place to serve. */
	if (listener_open(&address, &service->listener, error))
		return -1;
	failure = confinement_give_up(CONFINEMENT_READS_TARGETS | CONFINEMENT_EVENTS |
				      CONFINEMENT_WRITES_FILES);
	if (!failure && !session->download)
		failure = server_try_filter(filter_http);
	if (confinement_has_failed(failure)) {
		listener_close(&service->listener);
		confinement_explain(failure, error);
		return -1;
	}
	/* Who downloads debug files makes sockets. */
	service->server = server_start(&service->endpoint, &service->listener,
				       session->download ? NULL : filter_http);
	if (!service->server) {
		listener_close(&service->listener);
		error_set(error, EXIT_INTERNAL, "no HTTP server could be started");
		return -1;
	}
	if (sampler_start(service->endpoint.sampler, error))
		return -1;
	if (!service->push)
		return 0;
	service->pusher =
		pusher_start(service->endpoint.sampler, service->push,
			     options->push_every_ns ? options->push_every_ns
						    : PUSH_EVERY_DEFAULT_S * NS_PER_SECOND,
			     session->download ? NULL : filter_http);
	if (service->pusher)
		return 0;
	error_set(error, EXIT_INTERNAL, "out of memory");
	return -1;
}

/*
 * Of these processes, until one of the signals, which are blocked in all threads, or the target's
 * end. 0, or -1 with *error filled.
 */
static int run_service(const struct options *options, const struct pid_list *targets,
		       const struct session_options *session, struct push *push,
		       const sigset_t *signals, struct error *error)
{
	struct service *service = calloc(1, sizeof(*service));
	int result;

	if (!service) {
		error_set(error, EXIT_INTERNAL, "out of memory");
		return -1;
	}
	service->options = options;
	service->targets = targets;
	service->push = push;
	service->endpoint.push = push;
	service->endpoint.session = session;
	service->endpoint.listener = &service->listener;
	service->watchdog_ns = notify_watchdog_ns();
	result = serve_open_all(service, session, error);
	if (!result) {
		announce(service);
		attend(service, signals);
	}
	if (service->server)
		say_goodbye(service);
	sampler_destroy(service->endpoint.sampler);
	heap_looks_destroy(service->endpoint.heap);
	free(service);
	return result;
}

enum exit_code serve_command(struct options *options)
{
	struct pid_list targets = { 0 };
	enum exit_code code = target_choice(options, &targets);
	struct session_options session_options = session_settings(options);
	struct push *push = NULL;
	struct error error;
	sigset_t signals;

	/* The sender is forked off while there is one thread. */
	if (!code && profile_push_start(options, &push, &error)) {
		message_error(&error);
		code = error.exit_code;
	}
	if (!code) {
		signals_block(&signals);
		file_limit_raise();
		session_options.impersonator = impersonator_create();
		/* Without memory for it, every attach takes as long as the first. */
		session_options.layouts = layout_cache_create();
		if (run_service(options, &targets, &session_options, push, &signals, &error)) {
			hint_python_child(options, &error);
			message_error(&error);
			code = error.exit_code;
		}
		layout_cache_destroy(session_options.layouts);
		impersonator_destroy(session_options.impersonator);
	}
	push_end(push);
	pid_list_deinit(&targets);
	return code;
}
