/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/push/keeper.h"

#include "common/clock.h"

#include <curl/curl.h>
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAUSE_FIRST_NS (NS_PER_SECOND / 2)
#define PAUSE_MAX_NS   (60 * NS_PER_SECOND)
#define LIVED_NS       (60 * NS_PER_SECOND)

uint64_t keeper_pause_ns(uint64_t last_ns, uint64_t lived_ns)
{
	if (!last_ns || lived_ns >= LIVED_NS)
		return PAUSE_FIRST_NS;
	return last_ns < PAUSE_MAX_NS / 2 ? last_ns * 2 : PAUSE_MAX_NS;
}

/* The first look for a name loads what looks for names: code, which a filter refuses later. */
static void look_up_once(const struct push_url *url)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
	struct addrinfo *found = NULL;

	if (!getaddrinfo(url->host, url->port, &hints, &found))
		freeaddrinfo(found);
}

/* The daemon's end is no reason to wait longer. */
static void pause_for(int socket, uint64_t ns)
{
	struct pollfd poll_fd = { .fd = socket, .events = POLLRDHUP };

	(void)poll(&poll_fd, 1, (int)(ns / NS_PER_MS));
}

/* Until it ends; its status, or -1: it could not be begun. */
static int run_sender(const struct push_options *options, struct spool *spool, int socket,
		      struct sender_shared *shared)
{
	pid_t sender = fork();
	int status;

	if (sender < 0)
		return -1;
	if (sender == 0)
		sender_run(options, spool, socket, shared);
	while (waitpid(sender, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return status;
}

static void say_end(const struct push_options *options, int status)
{
	char words[64];

	if (status < 0)
		snprintf(words, sizeof(words), "it could not be begun");
	else if (WIFSIGNALED(status))
		snprintf(words, sizeof(words), "signal %d", WTERMSIG(status));
	else
		snprintf(words, sizeof(words), "exit code %d", WEXITSTATUS(status));
	sender_say(options, "the process that sends has ended, and is begun again", words);
}

void keeper_run(const struct push_options *options, struct spool *spool, int socket,
		struct sender_shared *shared)
{
	uint64_t pause_ns = 0;

	/* They are the daemon's; the socket tells of its end. */
	(void)signal(SIGPIPE, SIG_IGN);
	(void)signal(SIGINT, SIG_IGN);
	(void)signal(SIGTERM, SIG_IGN);
	(void)signal(SIGHUP, SIG_IGN);
	(void)signal(SIGCHLD, SIG_DFL);
	(void)prctl(PR_SET_NAME, "pieprofd-push");
	look_up_once(&options->url);
	if (curl_global_init(CURL_GLOBAL_DEFAULT))
		_exit(EXIT_FAILURE);
	if (options->confine_keeper && options->confine_keeper()) {
		sender_say(options, "privileges could not be given up", NULL);
		_exit(EXIT_FAILURE);
	}
	for (;;) {
		uint64_t began_ns = clock_now_ns();
		int status = run_sender(options, spool, socket, shared);

		if (status >= 0 && WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS)
			break;
		if (!shared->ready)
			_exit(EXIT_FAILURE);
		say_end(options, status);
		__atomic_fetch_add(&shared->counts.restarts, 1, __ATOMIC_RELAXED);
		pause_ns = keeper_pause_ns(pause_ns, clock_now_ns() - began_ns);
		pause_for(socket, pause_ns);
	}
	if (!spool_look(spool))
		spool_close(spool);
	_exit(EXIT_SUCCESS);
}
