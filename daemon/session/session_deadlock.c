/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the target's threads wait for each other, at the end of a session that looked at waiting.
 */
#include "attach/procfs.h"
#include "daemon/report/encode/escape.h"
#include "daemon/report/model/place.h"
#include "daemon/sample/deadlock.h"
#include "daemon/session/session_parts.h"
#include "pyintrospect/gil.h"
#include "pyintrospect/python_stack.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS_MAX 4096

static bool same_sleep(const struct process_sleep *a, const struct process_sleep *b)
{
	return a->system_call == b->system_call && a->ip == b->ip && a->sp == b->sp;
}

/* Notes the thread when it sleeps for a lock, and did not wake up while it was read. */
static void look_at(struct session *session, const struct address_ranges *gil_locks, pid_t tid,
		    struct deadlock_search *search)
{
	struct python_stack *stack = &session->pipeline.capture.python;
	pid_t pid = session->options.pid;
	struct process_sleep before, after;
	struct deadlock_thread thread;
	struct process_status status;

	if (procfs_read_sleep(pid, tid, &before) || procfs_read_status(pid, tid, &status) ||
	    python_stack_read_running(session->target.runtime, status.inner_pid, stack) ||
	    stack->flags & PYTHON_STACK_TORN ||
	    deadlock_thread_read(session->target.runtime, gil_locks, &before, stack, &thread) ||
	    procfs_read_sleep(pid, tid, &after) || !same_sleep(&before, &after))
		return;
	/* Without memory a circle is missed. */
	(void)!deadlock_search_add(search, tid, status.inner_pid, &thread);
}

static const char *thread_name(const struct session *session,
			       const struct python_thread_list *threads, pid_t tid)
{
	struct process_status status;

	if (procfs_read_status(session->options.pid, tid, &status))
		return "?";
	for (size_t i = 0; i < threads->count; i++)
		if (threads->items[i].tid == status.inner_pid && threads->items[i].name[0])
			return threads->items[i].name;
	return "?";
}

static void put_place(FILE *file, const struct deadlock_place *at)
{
	const struct frame frame = {
		.kind = FRAME_PYTHON,
		.python = { .code = at->code, .instruction_offset = at->offset },
	};

	escape_put(file, at->code->file);
	fprintf(file, ":%d in ", place_line(&frame));
	escape_put(file, at->code->function);
}

static void put_wait(FILE *file, const struct session *session,
		     const struct python_thread_list *threads, const struct deadlock_wait *wait)
{
	fprintf(file, "Thread %d (", (int)wait->tid);
	escape_put(file, thread_name(session, threads, wait->tid));
	fputs(") waits at ", file);
	put_place(file, &wait->waits_at);
	if (wait->lock)
		fprintf(file, " for the %s at 0x%" PRIx64 ", which thread %d (",
			wait->recursive ? "RLock" : "lock", wait->lock, (int)wait->holder);
	else
		fprintf(file, " for thread %d (", (int)wait->holder);
	escape_put(file, thread_name(session, threads, wait->holder));
	fputs(wait->lock ? ") has" : ") to end", file);
	if (wait->held_at.code) {
		fputs(" since ", file);
		put_place(file, &wait->held_at);
	}
	fputs(".\n", file);
}

/* A line a sentence: names are escaped, and have no ends of lines. */
static char *words_of(const struct session *session, const struct python_thread_list *threads,
		      const struct deadlocks *deadlocks)
{
	char *words = NULL;
	size_t size = 0;
	FILE *file = deadlocks->count ? open_memstream(&words, &size) : NULL;

	if (!file)
		return NULL;
	for (size_t i = 0; i < deadlocks->count; i++)
		put_wait(file, session, threads, &deadlocks->waits[i]);
	if (fclose(file)) {
		free(words);
		return NULL;
	}
	return words;
}

char *session_find_deadlock(struct session *session)
{
	pid_t *tids = malloc(THREADS_MAX * sizeof(*tids));
	struct address_ranges gil_locks = { 0 };
	struct deadlock_search search = { 0 };
	struct python_thread_list threads;
	struct deadlocks deadlocks;
	char *words = NULL;
	size_t count = 0;

	if (!tids || !session->target.runtime ||
	    procfs_read_threads(session->options.pid, tids, THREADS_MAX, &count) ||
	    python_thread_list_read(session->target.runtime, &threads)) {
		free(tids);
		return NULL;
	}
	if (gil_read_locks(session->target.runtime, &gil_locks))
		gil_locks.count = 0;
	for (size_t i = 0; i < count && i < THREADS_MAX; i++)
		look_at(session, &gil_locks, tids[i], &search);
	deadlock_search_find(&search, &threads, &deadlocks);
	words = words_of(session, &threads, &deadlocks);
	deadlock_search_deinit(&search);
	python_thread_list_deinit(&threads);
	free(tids);
	return words;
}
