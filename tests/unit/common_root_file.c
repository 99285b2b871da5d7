/* SPDX-License-Identifier: Apache-2.0 */
/* A root with everything in it that a hostile owner can make; each case by openat2(2) and without.
 */
#include "common/root_file.h"

#include "tests/must.h"
#include "tests/unit/under_valgrind.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

struct place {
	char folder[64];
	int root;
};

static int setup(void **state)
{
	static const char script[] =
		"echo host >outside; mkdir -p root/tmp/deep/er root/etc; cd root\n"
		"echo in >tmp/file; echo root >outside; echo etc >etc/source\n"
		"ln -s file tmp/link; ln -s tmp folder; ln -s /proc/self/exe tmp/magic\n"
		"ln -s /outside tmp/absolute; ln -s ../../../../../outside tmp/deep/up\n"
		"ln -s /tmp/deep/.. middle; ln -s loop loop; ln -s a b; ln -s b a\n"
		"ln -s /etc/ slash; ln -s '' empty 2>/dev/null; ln -s tmp/none dangling\n"
		"mkfifo tmp/fifo; ln -s fifo tmp/to_fifo\n"
		"i=0; ln -s outside chain0\n"
		"while [ $i -lt 45 ]; do ln -s chain$i chain$((i + 1)); i=$((i + 1)); done\n";
	struct place *place = calloc(1, sizeof(*place));
	char command[2048], path[128];

	must(place);
	strcpy(place->folder, "/tmp/root_fileXXXXXX");
	must(mkdtemp(place->folder));
	snprintf(command, sizeof(command), "cd %s && %s", place->folder, script);
	must(system(command) == 0);
	snprintf(path, sizeof(path), "%s/root", place->folder);
	place->root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	must(place->root >= 0);
	*state = place;
	return 0;
}

static int teardown(void **state)
{
	struct place *place = *state;
	char command[128];

	close(place->root);
	snprintf(command, sizeof(command), "rm -rf %s", place->folder);
	must(system(command) == 0);
	free(place);
	return 0;
}

typedef int (*opener)(int root, const char *path, enum root_link link);

/* What the file says, or the error, by name. */
static const char *content(opener open_file, int root, const char *path, enum root_link link)
{
	static char text[64];
	int fd = open_file(root, path, link);
	ssize_t size;

	if (fd < 0)
		return strerrorname_np(-fd);
	size = read(fd, text, sizeof(text) - 1);
	must(size > 0);
	close(fd);
	text[size] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return text;
}

static void check(opener open_file, const struct place *place)
{
	static const struct {
		const char *path;
		const char *expected;
		enum root_link link;
	} cases[] = {
		{ "/tmp/file", "in", ROOT_LINK_REFUSE },
		{ "//tmp/./file", "in", ROOT_LINK_REFUSE },
		{ "/folder/file", "in", ROOT_LINK_REFUSE },
		{ "/tmp/link", "in", ROOT_LINK_FOLLOW },
		{ "/tmp/link", "ELOOP", ROOT_LINK_REFUSE },
		{ "/tmp/none", "ENOENT", ROOT_LINK_REFUSE },
		{ "/dangling", "ENOENT", ROOT_LINK_FOLLOW },
		{ "/tmp", "EINVAL", ROOT_LINK_FOLLOW },
		{ "/", "EINVAL", ROOT_LINK_FOLLOW },
		{ "/..", "EINVAL", ROOT_LINK_FOLLOW },
		{ "/tmp/file/", "ENOTDIR", ROOT_LINK_FOLLOW },
		{ "/tmp/file/x", "ENOTDIR", ROOT_LINK_FOLLOW },
		{ "tmp/file", "EINVAL", ROOT_LINK_FOLLOW },
		{ "", "EINVAL", ROOT_LINK_FOLLOW },
		/* Links of somebody in the root mean the root's files. */
		{ "/tmp/absolute", "root", ROOT_LINK_FOLLOW },
		{ "/tmp/deep/up", "root", ROOT_LINK_FOLLOW },
		{ "/../../../outside", "root", ROOT_LINK_FOLLOW },
		{ "/tmp/../../outside", "root", ROOT_LINK_FOLLOW },
		{ "/tmp/deep/er/../../../outside", "root", ROOT_LINK_FOLLOW },
		{ "/middle/file", "in", ROOT_LINK_FOLLOW },
		{ "/slash/source", "etc", ROOT_LINK_FOLLOW },
		{ "/loop", "ELOOP", ROOT_LINK_FOLLOW },
		{ "/a", "ELOOP", ROOT_LINK_FOLLOW },
		{ "/chain39", "root", ROOT_LINK_FOLLOW },
		{ "/chain45", "ELOOP", ROOT_LINK_FOLLOW },
		{ "/tmp/fifo", "EINVAL", ROOT_LINK_FOLLOW },
		{ "/tmp/to_fifo", "EINVAL", ROOT_LINK_FOLLOW },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *found = content(open_file, place->root, cases[i].path, cases[i].link);

		if (strcmp(found, cases[i].expected) != 0)
			fail_msg("'%s': %s, not %s", cases[i].path, found, cases[i].expected);
	}
}

static void test_by_openat2(void **state)
{
	/* It has no openat2(2). */
	if (under_valgrind())
		skip();
	check(root_file_open, *state);
}

static void test_by_steps(void **state)
{
	check(root_file_open_by_steps, *state);
}

/* Links of the kernel's lead to files, not to names: none is followed out of a root. */
static void test_magic_links(void **state)
{
	int own = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);

	(void)state;
	assert_int_equal(root_file_open_by_steps(own, "/proc/self/exe", ROOT_LINK_FOLLOW), -ELOOP);
	close(own);
	assert_true(root_file_open(ROOT_OWN, "/proc/self/exe", ROOT_LINK_FOLLOW) < 0);
	assert_int_equal(root_file_open(ROOT_OWN, "/dev/null", ROOT_LINK_FOLLOW), -EINVAL);
}

static void test_long_paths(void **state)
{
	struct place *place = *state;
	char path[PATH_MAX + 16];

	memset(path, '/', sizeof(path));
	strcpy(path + sizeof(path) - 9, "tmp/file");
	assert_int_equal(root_file_open_by_steps(place->root, path, ROOT_LINK_FOLLOW),
			 -ENAMETOOLONG);
	assert_int_equal(root_file_open(place->root, path, ROOT_LINK_FOLLOW), -ENAMETOOLONG);
	/* Folder in folder, as deep as names may go. */
	memset(path, 0, sizeof(path));
	for (size_t i = 0; i < 1000; i++)
		strcat(path, "/a");
	assert_true(root_file_open_by_steps(place->root, path, ROOT_LINK_FOLLOW) < 0);
}

/* Who looks what a FIFO is does not open it: its owner would see that, and could act on it. */
static void test_not_opened(void **state)
{
	struct place *place = *state;
	char path[128], events[4096];
	int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC), fd;

	snprintf(path, sizeof(path), "%s/root/tmp", place->folder);
	assert_true(inotify_add_watch(watch, path, IN_OPEN) >= 0);
	assert_int_equal(root_file_open_by_steps(place->root, "/tmp/fifo", ROOT_LINK_FOLLOW),
			 -EINVAL);
	assert_int_equal(root_file_open(place->root, "/tmp/fifo", ROOT_LINK_FOLLOW), -EINVAL);
	assert_int_equal(read(watch, events, sizeof(events)), -1);
	assert_int_equal(errno, EAGAIN);
	fd = root_file_open_by_steps(place->root, "/tmp/file", ROOT_LINK_FOLLOW);
	assert_true(fd >= 0);
	assert_true(read(watch, events, sizeof(events)) > 0);
	close(fd);
	close(watch);
}

static volatile sig_atomic_t broken;

static void note_break(int signal)
{
	(void)signal;
	broken = 1;
}

/* Whoever holds a lease would have us wait for 45 s, or die of the signal that tells him. */
static void test_lease(void **state)
{
	struct place *place = *state;
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/root/tmp/file", place->folder);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	signal(SIGIO, note_break);
	if (fcntl(fd, F_SETLEASE, F_WRLCK)) {
		print_message("skipped: no leases on this file system\n");
		close(fd);
		skip();
		return;
	}
	assert_int_equal(root_file_open_by_steps(place->root, "/tmp/file", ROOT_LINK_FOLLOW),
			 -EAGAIN);
	assert_int_equal(root_file_open(place->root, "/tmp/file", ROOT_LINK_FOLLOW), -EAGAIN);
	assert_false(broken);
	/* What would tell, tells. */
	assert_int_equal(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), -1);
	assert_true(broken);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_by_openat2, setup, teardown),
		cmocka_unit_test_setup_teardown(test_by_steps, setup, teardown),
		cmocka_unit_test(test_magic_links),
		cmocka_unit_test_setup_teardown(test_long_paths, setup, teardown),
		cmocka_unit_test_setup_teardown(test_not_opened, setup, teardown),
		cmocka_unit_test_setup_teardown(test_lease, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
