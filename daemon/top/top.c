/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/top/top.h"

#include "common/clock.h"
#include "daemon/report/model/source.h"
#include "daemon/top/layout.h"
#include "daemon/top/terminal.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define REFRESH_NS       NS_PER_SECOND
#define FIRST_REFRESH_NS (NS_PER_SECOND / 2)
/* A snapshot that is dear is taken less often: so many times its CPU time lies between two. */
#define REST_FACTOR 10
#define LOOK_MS     200 /* whether the target still runs */

struct top {
	struct session *session;
	const struct top_options *options;
	struct top_model model;
	struct profile *shown; /* by model */
	struct screen *screen;
	struct source_cache *sources;
	struct top_holders *holders; /* NULL: memory is not looked at */
	struct top_growth growth;    /* shown by model */
	int signals;
	int news; /* eventfd: there is mail */
	pthread_t thread;
	/* Guarded by lock. */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool ending;
	struct profile *mail; /* NULL: none */
};

int top_check_terminal(pid_t pid, struct error *error)
{
	const char *problem = terminal_problem();

	if (!problem)
		return 0;
	error_set(error, EXIT_USAGE, "top: %s", problem);
	if (pid)
		error_set_cure(error, "pieprofd %d profiles for ten seconds and prints a report.",
			       (int)pid);
	else
		error_set_cure(error, "pieprofd -- COMMAND profiles it and prints a report.");
	return -1;
}

/* Until that moment; true: it is time to end. */
static bool rest(struct top *top, uint64_t until_ns)
{
	struct timespec until = clock_timespec(until_ns);
	bool ending;

	pthread_mutex_lock(&top->lock);
	while (!top->ending && pthread_cond_clockwait(&top->changed, &top->lock, CLOCK_MONOTONIC,
						      &until) != ETIMEDOUT)
		;
	ending = top->ending;
	pthread_mutex_unlock(&top->lock);
	return ending;
}

static void post(struct top *top, struct profile *profile)
{
	struct profile *unread;
	uint64_t one = 1;

	pthread_mutex_lock(&top->lock);
	unread = top->mail;
	top->mail = profile;
	pthread_mutex_unlock(&top->lock);
	profile_destroy(unread);
	(void)!write(top->news, &one, sizeof(one));
}

static void *take_snapshots(void *argument)
{
	struct top *top = argument;
	uint64_t next_ns = clock_now_ns() + FIRST_REFRESH_NS;

	while (!rest(top, next_ns)) {
		uint64_t began_ns = clock_now_ns(), cpu_ns = clock_thread_cpu_ns();
		/* Without memory for it, the picture stays as it is. */
		struct profile *profile = session_snapshot(top->session, top->options->version);

		if (profile)
			post(top, profile);
		cpu_ns = REST_FACTOR * (clock_thread_cpu_ns() - cpu_ns);
		next_ns = began_ns + (cpu_ns > REFRESH_NS ? cpu_ns : REFRESH_NS);
	}
	return NULL;
}

static void draw(struct top *top)
{
	unsigned rows, columns;

	if (top->holders) {
		top_holders_read(top->holders, &top->growth);
		top->model.growth = &top->growth;
		top->model.now_ns = clock_now_ns();
	}
	terminal_size(&rows, &columns);
	screen_clear(top->screen, rows, columns, terminal_is_utf8());
	layout_draw(&top->model, top->screen);
	terminal_draw(top->screen);
}

static int read_mail(struct top *top)
{
	struct profile *profile;
	uint64_t count;
	int error;

	(void)!read(top->news, &count, sizeof(count));
	pthread_mutex_lock(&top->lock);
	profile = top->mail;
	top->mail = NULL;
	pthread_mutex_unlock(&top->lock);
	if (!profile || top->model.paused) {
		profile_destroy(profile);
		return 0;
	}
	error = top_model_update(&top->model, profile);
	profile_destroy(top->shown);
	top->shown = profile;
	return error;
}

/* true: go on. */
static bool read_signal(struct top *top)
{
	struct signalfd_siginfo info;

	if (read(top->signals, &info, sizeof(info)) != sizeof(info))
		return true;
	return info.ssi_signo == SIGWINCH;
}

/* All that were pressed; true: go on. */
static bool read_keys(struct top *top)
{
	enum top_key key;
	char character = '\0';

	while ((key = terminal_key(top->model.typing, &character)) != TOP_KEY_NONE) {
		if (key == TOP_KEY_REDRAW)
			terminal_redraw();
		if (!top_model_key(&top->model, key, character))
			return false;
	}
	return true;
}

static int top_watch(struct top *top)
{
	uint64_t began_ns = clock_now_ns(), duration_ns = top->options->duration_ns;
	struct pollfd sources[] = {
		{ .fd = STDIN_FILENO, .events = POLLIN },
		{ .fd = top->signals, .events = POLLIN },
		{ .fd = top->news, .events = POLLIN },
	};
	bool changed = true, running = true;
	int error = 0;

	while (!error && running) {
		if (changed)
			draw(top);
		changed = poll(sources, 3, LOOK_MS) > 0;
		if (!session_progress(top->session).running ||
		    (duration_ns && clock_now_ns() - began_ns >= duration_ns))
			break;
		if (!changed)
			continue;
		if (sources[0].revents & ~POLLIN)
			break; /* the terminal is gone */
		if (sources[0].revents)
			running = read_keys(top);
		if (sources[1].revents)
			running = read_signal(top) && running;
		if (sources[2].revents)
			error = read_mail(top);
	}
	return error;
}

static const char *source_line(void *context, const char *file, int line)
{
	return source_cache_line(context, file, line);
}

static int top_open_all(struct top *top)
{
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGHUP);
	sigaddset(&signals, SIGWINCH);
	top->signals = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
	top->news = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	top->screen = calloc(1, sizeof(*top->screen));
	top->sources = source_cache_create(session_open_source, top->session);
	if (top->sources)
		source_cache_use_memory(top->sources, &session_source_memory);
	if (top->signals < 0 || top->news < 0 || !top->screen || !top->sources)
		return -ENOMEM;
	top_model_init(&top->model);
	top->model.source = source_line;
	top->model.source_context = top->sources;
	if (top->options->heap_pid) {
		top->holders =
			top_holders_create(top->options->heap_pid, top->options->impersonator);
		if (!top->holders)
			return -ENOMEM;
	}
	return 0;
}

static void close_all(struct top *top)
{
	top_holders_destroy(top->holders);
	top_model_deinit(&top->model);
	profile_destroy(top->shown);
	profile_destroy(top->mail);
	if (top->sources)
		source_cache_destroy(top->sources);
	free(top->screen);
	if (top->news >= 0)
		close(top->news);
	if (top->signals >= 0)
		close(top->signals);
	pthread_cond_destroy(&top->changed);
	pthread_mutex_destroy(&top->lock);
}

/* The first of the notes, which are lines. */
static void take_notice(const struct session *session, char *notice, size_t size)
{
	const char *notes = session_notes(session);
	size_t length = strcspn(notes, "\n");

	if (length >= size)
		length = size - 1;
	memcpy(notice, notes, length);
	notice[length] = '\0';
}

int top_run(struct session *session, const struct top_options *options)
{
	struct top top = { .session = session, .options = options, .signals = -1, .news = -1 };
	char notice[256];
	int error;

	pthread_mutex_init(&top.lock, NULL);
	pthread_cond_init(&top.changed, NULL);
	take_notice(session, notice, sizeof(notice));
	error = top_open_all(&top);
	if (!error)
		error = terminal_open(options->colour);
	if (error) {
		close_all(&top);
		return error;
	}
	if (*notice)
		top.model.notice = notice;
	error = -pthread_create(&top.thread, NULL, take_snapshots, &top);
	if (!error) {
		error = top_watch(&top);
		/* Restored before anything that may take time. */
		terminal_close();
		pthread_mutex_lock(&top.lock);
		top.ending = true;
		pthread_cond_broadcast(&top.changed);
		pthread_mutex_unlock(&top.lock);
		pthread_join(top.thread, NULL);
	}
	terminal_close();
	close_all(&top);
	return error;
}
