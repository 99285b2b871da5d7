/* SPDX-License-Identifier: Apache-2.0 */
/* Repeated searches: what they pass over, and when the next one is due. */
#include "daemon/session/process_watch.h"

#include "common/clock.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define CHILDREN 40
#define SECOND   NS_PER_SECOND

/* A program that looks like Python: this one by another name. */
static char python[64];

static int make_python(void **state)
{
	static char buffer[1 << 16];
	FILE *from = fopen("/proc/self/exe", "re"), *to;
	size_t size;
	int fd;

	(void)state;
	snprintf(python, sizeof(python), "/tmp/python-XXXXXX");
	fd = mkstemp(python);
	to = fd >= 0 ? fdopen(fd, "w") : NULL;
	if (!from || !to)
		return -1;
	while ((size = fread(buffer, 1, sizeof(buffer), from)) > 0)
		if (fwrite(buffer, 1, size, to) != size)
			return -1;
	fclose(from);
	return fclose(to) || chmod(python, 0700);
}

static int remove_python(void **state)
{
	(void)state;
	return unlink(python);
}

struct child {
	pid_t pid;
	int go; /* a byte in it: it becomes that python */
};

static struct child child_start(void)
{
	struct child child;
	int ends[2];
	char byte;

	assert_int_equal(pipe(ends), 0);
	child.pid = fork();
	assert_true(child.pid >= 0);
	if (!child.pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(ends[1]);
		if (read(ends[0], &byte, 1) == 1)
			execl(python, "python", "wait", NULL);
		_exit(127);
	}
	close(ends[0]);
	child.go = ends[1];
	return child;
}

static void child_become_python(struct child *child)
{
	assert_int_equal(write(child->go, "", 1), 1);
	for (int i = 0; i < 5000 && !process_seems_python(child->pid); i++)
		usleep(1000);
}

static void child_end(struct child *child)
{
	close(child->go);
	kill(child->pid, SIGKILL);
	assert_int_equal(waitpid(child->pid, NULL, 0), child->pid);
}

static bool is_in(const struct pid_list *list, pid_t pid)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i] == pid)
			return true;
	return false;
}

static bool is_that_one(const void *context, pid_t pid)
{
	return pid == *(const pid_t *)context;
}

static void test_known_are_passed_over(void **state)
{
	struct child children[2] = { child_start(), child_start() };
	struct process_query query = { .is_known = is_that_one, .context = &children[0].pid };
	struct pid_list found = { 0 };

	(void)state;
	for (size_t i = 0; i < 2; i++)
		child_become_python(&children[i]);
	assert_int_equal(process_search(&query, &found, NULL), 0);
	assert_false(is_in(&found, children[0].pid));
	assert_true(is_in(&found, children[1].pid));
	query.is_known = NULL;
	assert_int_equal(process_search(&query, &found, NULL), 0);
	assert_true(is_in(&found, children[0].pid));
	assert_true(is_in(&found, children[1].pid));
	pid_list_deinit(&found);
	for (size_t i = 0; i < 2; i++)
		child_end(&children[i]);
}

/* One that was no Python, and becomes one, is found by the next search. */
static void test_stranger_becomes_python(void **state)
{
	struct child children[2] = { child_start(), child_start() };
	struct process_watch watch = { .share = 1 };
	struct pid_list found = { 0 };

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		watch.next_ns = 0;
		process_watch_look(&watch, &found);
		assert_false(is_in(&found, children[0].pid));
		assert_false(is_in(&found, children[1].pid));
	}
	child_become_python(&children[1]);
	watch.next_ns = 0;
	process_watch_look(&watch, &found);
	assert_false(is_in(&found, children[0].pid));
	assert_true(is_in(&found, children[1].pid));
	pid_list_deinit(&found);
	process_watch_deinit(&watch);
	for (size_t i = 0; i < 2; i++)
		child_end(&children[i]);
}

/* Returns how many were looked at. */
static size_t search_at(struct strangers *strangers, const struct child *children, size_t count,
			uint64_t now_ns, bool looked[CHILDREN])
{
	size_t looks = 0;

	strangers_begin(strangers, now_ns);
	for (size_t i = 0; i < count; i++) {
		if (strangers_pass(strangers, children[i].pid))
			continue;
		strangers_add(strangers);
		looks++;
		if (looked)
			looked[i] = true;
	}
	strangers_end(strangers);
	return looks;
}

/* They may load a libpython: looked at after as long as they are known, a minute at most. */
static void test_looks_get_seldom(void **state)
{
	static const struct {
		uint64_t at;
		size_t looks;
	} searches[] = {
		{ 100, 1 }, { 101, 1 }, { 101, 0 }, { 102, 1 }, { 103, 0 }, { 104, 1 }, { 107, 0 },
		{ 108, 1 }, { 116, 1 }, { 200, 1 }, { 259, 0 }, { 260, 1 }, { 319, 0 }, { 320, 1 },
	};
	struct strangers strangers = { 0 };
	struct child child = child_start();

	(void)state;
	for (size_t i = 0; i < sizeof(searches) / sizeof(searches[0]); i++)
		assert_int_equal(search_at(&strangers, &child, 1, searches[i].at * SECOND, NULL),
				 searches[i].looks);
	/* One that a search did not meet is forgotten. */
	assert_int_equal(search_at(&strangers, &child, 0, 321 * SECOND, NULL), 0);
	assert_int_equal(search_at(&strangers, &child, 1, 322 * SECOND, NULL), 1);
	/* Another program. */
	assert_int_equal(search_at(&strangers, &child, 1, 323 * SECOND, NULL), 1);
	assert_int_equal(search_at(&strangers, &child, 1, 323 * SECOND, NULL), 0);
	child_become_python(&child);
	assert_int_equal(search_at(&strangers, &child, 1, 323 * SECOND, NULL), 1);
	child_end(&child);
	/* One that is no more cannot be told from others, and is not remembered. */
	assert_int_equal(search_at(&strangers, &child, 1, 324 * SECOND, NULL), 1);
	assert_int_equal(strangers.met.count, 0);
	strangers_deinit(&strangers);
}

static int compare_children(const void *left, const void *right)
{
	return ((const struct child *)left)->pid < ((const struct child *)right)->pid ? -1 : 1;
}

/* A search looks at a few of those known, and within some searches at all. */
static void test_many_strangers(void **state)
{
	struct strangers strangers = { 0 };
	struct child children[CHILDREN];
	bool looked[CHILDREN] = { false };
	size_t searches = 0, left = CHILDREN;

	(void)state;
	for (size_t i = 0; i < CHILDREN; i++)
		children[i] = child_start();
	/* As the kernel lists them. */
	qsort(children, CHILDREN, sizeof(children[0]), compare_children);
	assert_int_equal(search_at(&strangers, children, CHILDREN, 100 * SECOND, NULL), CHILDREN);
	while (left && searches < CHILDREN) {
		/* Each time all are due. */
		assert_in_range(search_at(&strangers, children, CHILDREN,
					  (1000 + 100 * searches) * SECOND, looked),
				1, STRANGERS_LOOKS_MAX);
		searches++;
		left = 0;
		for (size_t i = 0; i < CHILDREN; i++)
			left += !looked[i];
	}
	assert_int_equal(searches, (CHILDREN + STRANGERS_LOOKS_MAX - 1) / STRANGERS_LOOKS_MAX);
	for (size_t i = 0; i < CHILDREN; i++)
		child_end(&children[i]);
	strangers_deinit(&strangers);
}

/* A search whose pauses are of interest, not what it finds: the nanoseconds until the next one. */
static uint64_t pause_of(struct process_watch *watch, uint64_t *ret_spent_ns)
{
	struct pid_list found = { 0 };
	uint64_t spent_ns = clock_thread_cpu_ns(), now_ns;

	watch->next_ns = 0;
	process_watch_look(watch, &found);
	now_ns = clock_now_ns();
	*ret_spent_ns = clock_thread_cpu_ns() - spent_ns;
	pid_list_deinit(&found);
	return watch->next_ns > now_ns ? watch->next_ns - now_ns : 0;
}

static void test_share(void **state)
{
	struct process_watch watch = { .share = 1e-9 };
	struct pid_list found = { 0 };
	uint64_t spent_ns, next_ns;

	(void)state;
	/* The first one tells nothing of the next ones. */
	assert_true(pause_of(&watch, &spent_ns) <= 2 * SECOND);
	/* It takes a microsecond at least. */
	assert_true(pause_of(&watch, &spent_ns) > 900 * SECOND);
	/* Not due. */
	next_ns = watch.next_ns;
	process_watch_look(&watch, &found);
	assert_int_equal(watch.next_ns, next_ns);
	/* More where it would be late, but no more than that. */
	watch.share_most = 1;
	assert_true(pause_of(&watch, &spent_ns) <= 2 * SECOND + spent_ns);
	watch.share_most = 1e-8;
	assert_true(pause_of(&watch, &spent_ns) > 90 * SECOND);
	/* All of a processor: five times a second, unless a search itself takes longer. */
	watch.share = 1;
	watch.share_most = 0;
	next_ns = pause_of(&watch, &spent_ns);
	assert_true(next_ns <= 200 * NS_PER_MS + spent_ns);
	/* A hundredth. */
	watch.share = 0;
	next_ns = pause_of(&watch, &spent_ns);
	assert_true(next_ns <= 200 * NS_PER_MS + 100 * spent_ns);
	pid_list_deinit(&found);
	process_watch_deinit(&watch);
}

/* Looks until it is found, or so many. */
static size_t look_for(struct process_watch *watch, pid_t pid)
{
	struct pid_list found = { 0 };
	size_t looks = 0;

	do {
		/* Each is due. */
		watch->next_births_ns = 0;
		process_watch_look(watch, &found);
		looks++;
	} while (!is_in(&found, pid) && looks < 2 * BIRTHS_LOOKS);
	pid_list_deinit(&found);
	return looks;
}

/* Between two searches, one that begins is found, and one that becomes a Python soon; once known
 * it is passed over. */
static void test_births(void **state)
{
	struct process_watch watch = { .share = 0.01 };
	struct pid_list found = { 0 };
	struct child child, late;

	(void)state;
	process_watch_look(&watch, &found);
	pid_list_deinit(&found);
	assert_true(watch.searched && watch.births.fd > 0);
	watch.next_ns = UINT64_MAX;
	child = child_start();
	child_become_python(&child);
	assert_int_equal(look_for(&watch, child.pid), 2);
	late = child_start();
	for (size_t i = 0; i < 3; i++) {
		watch.next_births_ns = 0;
		process_watch_look(&watch, &found);
		assert_false(is_in(&found, late.pid));
	}
	child_become_python(&late);
	assert_int_equal(look_for(&watch, late.pid), 1);
	watch.query.is_known = is_that_one;
	watch.query.context = &late.pid;
	/* A look that takes a microsecond costs a wait of a second. */
	watch.share = 1e-6;
	assert_int_equal(look_for(&watch, late.pid), (size_t)2 * BIRTHS_LOOKS);
	assert_true(watch.next_births_ns > clock_now_ns());
	process_watch_look(&watch, &found);
	assert_int_equal(found.count, 0);
	child_end(&child);
	child_end(&late);
	pid_list_deinit(&found);
	process_watch_deinit(&watch);
	assert_int_equal(watch.births.fd, -1);
}

int main(int count, char **words)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known_are_passed_over),
		cmocka_unit_test(test_stranger_becomes_python),
		cmocka_unit_test(test_looks_get_seldom),
		cmocka_unit_test(test_many_strangers),
		cmocka_unit_test(test_share),
		cmocka_unit_test(test_births),
	};

	if (count == 2 && !strcmp(words[1], "wait"))
		for (;;)
			pause();
	return cmocka_run_group_tests(tests, make_python, remove_python);
}
