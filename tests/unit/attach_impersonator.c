/* SPDX-License-Identifier: Apache-2.0 */
/* Files of three owners, opened with the rights of several; as root, and as nobody in particular.
 */
#include "attach/impersonator.h"

#include "attach/target_files.h"
#include "tests/must.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define USER   4321
#define GROUP  4322
#define MEMBER 4323

static char folder[64];

static const char *path_of(const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static void make_file(const char *name, mode_t mode, uid_t user, gid_t group)
{
	int fd = open(path_of(name), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	must(fd >= 0);
	must(write(fd, "text\n", 5) == 5);
	must(fchmod(fd, mode) == 0);
	must(geteuid() != 0 || fchown(fd, user, group) == 0);
	close(fd);
}

static int setup(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/impersonatorXXXXXX");
	must(mkdtemp(folder));
	must(chmod(folder, 0755) == 0);
	make_file("everybody", 0644, 0, 0);
	make_file("root", 0600, 0, 0);
	make_file("user", 0600, USER, 0);
	make_file("group", 0640, 0, GROUP);
	make_file("member", 0640, 0, MEMBER);
	must(mkdir(path_of("closed"), 0700) == 0);
	make_file("closed/file", 0644, 0, 0);
	return 0;
}

static int teardown(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	return system(command);
}

static int try_open(struct impersonator *impersonator, const struct process_credentials *as,
		    const char *name)
{
	int fd = impersonator_open(impersonator, as, ROOT_OWN, path_of(name), ROOT_LINK_FOLLOW);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

static void needs_root(void)
{
	if (geteuid() == 0)
		return;
	print_message("skipped: not root\n");
	skip();
}

static void test_rights(void **state)
{
	struct impersonator *impersonator;
	struct process_credentials as = {
		.user = USER, .group = GROUP, .groups = { MEMBER }, .group_count = 1
	};

	(void)state;
	needs_root();
	impersonator = impersonator_create();
	assert_non_null(impersonator);
	assert_int_equal(try_open(impersonator, &as, "everybody"), 0);
	assert_int_equal(try_open(impersonator, &as, "user"), 0);
	assert_int_equal(try_open(impersonator, &as, "group"), 0);
	assert_int_equal(try_open(impersonator, &as, "member"), 0);
	assert_int_equal(try_open(impersonator, &as, "root"), -EACCES);
	assert_int_equal(try_open(impersonator, &as, "closed/file"), -EACCES);
	as.group_count = 0;
	assert_int_equal(try_open(impersonator, &as, "member"), -EACCES);
	as.group = MEMBER;
	assert_int_equal(try_open(impersonator, &as, "group"), -EACCES);
	/* Root without capabilities, as in a container, and with. */
	as = (struct process_credentials){ 0 };
	assert_int_equal(try_open(impersonator, &as, "root"), 0);
	assert_int_equal(try_open(impersonator, &as, "user"), -EACCES);
	as.capabilities = 1ull << 1; /* CAP_DAC_OVERRIDE */
	assert_int_equal(try_open(impersonator, &as, "user"), 0);
	/* A user whom a capability lets read everything. */
	as = (struct process_credentials){ .user = USER,
					   .group = GROUP,
					   .capabilities = 1ull << 2 }; /* CAP_DAC_READ_SEARCH */
	assert_int_equal(try_open(impersonator, &as, "root"), 0);
	as.capabilities = 0;
	assert_int_equal(try_open(impersonator, &as, "root"), -EACCES);
	/* More groups than are known: no rights are the right ones. */
	as.groups_cut = true;
	assert_int_equal(try_open(impersonator, &as, "everybody"), IMPERSONATOR_REFUSED);
	/* The rights of the other threads are what they were. */
	assert_int_equal(setfsuid((uid_t)-1), 0);
	assert_int_equal(try_open(NULL, &as, "everybody"), IMPERSONATOR_REFUSED);
	impersonator_destroy(impersonator);
}

/* In a child that has become an ordinary user: 0 when all is as it should be. */
static int as_ordinary_user(void)
{
	struct process_credentials self, other = { .user = USER + 1, .group = GROUP };
	struct impersonator *impersonator;
	int result = 0;

	if (setgroups(0, NULL) || setgid(GROUP) || setuid(USER))
		return 1;
	impersonator = impersonator_create();
	if (!impersonator || procfs_read_credentials(getpid(), &self))
		return 2;
	if (try_open(impersonator, &self, "user") || try_open(impersonator, &self, "group"))
		result = 3;
	else if (try_open(impersonator, &self, "root") != -EACCES)
		result = 4;
	else if (try_open(impersonator, &other, "everybody") != IMPERSONATOR_REFUSED)
		result = 5;
	other = self;
	other.group = GROUP + 1;
	/* A group of ours that the other has not. */
	if (!result && try_open(impersonator, &other, "everybody") != IMPERSONATOR_REFUSED)
		result = 6;
	impersonator_destroy(impersonator);
	return result;
}

static void test_ordinary_user(void **state)
{
	pid_t child;
	int status;

	(void)state;
	needs_root();
	child = fork();
	if (!child)
		_exit(as_ordinary_user());
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

/* A copy of the process has no such thread: who asks there must not wait for it. */
static void test_forked(void **state)
{
	struct impersonator *impersonator = impersonator_create();
	struct process_credentials self;
	pid_t child;
	int status;

	(void)state;
	assert_int_equal(procfs_read_credentials(getpid(), &self), 0);
	assert_int_equal(try_open(impersonator, &self, "everybody"), 0);
	child = fork();
	if (!child)
		_exit(try_open(impersonator, &self, "everybody") == IMPERSONATOR_REFUSED ? 0 : 1);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	impersonator_destroy(impersonator);
}

struct asker {
	pthread_t thread;
	struct impersonator *impersonator;
	struct process_credentials as;
	const char *path;
	int expected;
	unsigned wrong;
};

static void *ask_often(void *context)
{
	struct asker *asker = context;

	for (int i = 0; i < 200; i++) {
		int fd = impersonator_open(asker->impersonator, &asker->as, ROOT_OWN, asker->path,
					   ROOT_LINK_FOLLOW);

		asker->wrong += (fd < 0 ? fd : 0) != asker->expected;
		if (fd >= 0)
			close(fd);
	}
	return NULL;
}

/* Two users' requests at the same time are never answered with each other's rights. */
static void test_many_askers(void **state)
{
	struct impersonator *impersonator;
	struct asker askers[4];
	char root_file[128], user_file[128];

	(void)state;
	needs_root();
	impersonator = impersonator_create();
	strcpy(root_file, path_of("root"));
	strcpy(user_file, path_of("user"));
	for (int i = 0; i < 4; i++) {
		askers[i] = (struct asker){ .impersonator = impersonator,
					    .as = { .user = i < 2 ? 0 : USER },
					    .path = i % 2 ? user_file : root_file,
					    .expected = i == 0 || i == 3 ? 0 : -EACCES };
		must(!pthread_create(&askers[i].thread, NULL, ask_often, &askers[i]));
	}
	for (int i = 0; i < 4; i++) {
		pthread_join(askers[i].thread, NULL);
		assert_int_equal(askers[i].wrong, 0);
	}
	impersonator_destroy(impersonator);
}

/* A target that gives up its rights, and ends: what it could read last is what is read. */
static void test_target_that_gives_up(void **state)
{
	struct impersonator *impersonator;
	struct target_files files;
	int to_child[2], from_child[2], status, fd;
	char byte = 0;
	pid_t child;

	(void)state;
	needs_root();
	impersonator = impersonator_create();
	must(!pipe(to_child) && !pipe(from_child));
	child = fork();
	if (!child) {
		must(read(to_child[0], &byte, 1) == 1);
		must(!setgroups(0, NULL) && !setgid(GROUP) && !setuid(USER));
		must(write(from_child[1], &byte, 1) == 1);
		must(read(to_child[0], &byte, 1) == 1);
		_exit(0);
	}
	target_files_init(&files, child, impersonator);
	fd = target_files_open_source(&files, path_of("root"));
	assert_true(fd >= 0);
	close(fd);
	must(write(to_child[1], &byte, 1) == 1 && read(from_child[0], &byte, 1) == 1);
	assert_int_equal(target_files_open_source(&files, path_of("root")), -EACCES);
	must(write(to_child[1], &byte, 1) == 1);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(target_files_open_source(&files, path_of("root")), -EACCES);
	fd = target_files_open_source(&files, path_of("user"));
	assert_true(fd >= 0);
	close(fd);
	target_files_deinit(&files);
	impersonator_destroy(impersonator);
}

/* Rights that come with another program are not those of the one that named the files. */
static void test_target_that_gains(void **state)
{
	struct impersonator *impersonator;
	struct target_files files;
	int to_child[2], from_child[2], status;
	char byte = 0;
	pid_t child;

	(void)state;
	needs_root();
	impersonator = impersonator_create();
	must(!pipe(to_child) && !pipe(from_child));
	child = fork();
	if (!child) {
		/* Its number is root's again after it was looked at: as by exec of a set-id
		 * program. */
		must(!setegid(GROUP) && !seteuid(USER));
		must(read(to_child[0], &byte, 1) == 1);
		must(!seteuid(0) && !setegid(0));
		must(write(from_child[1], &byte, 1) == 1);
		must(read(to_child[0], &byte, 1) == 1);
		_exit(0);
	}
	usleep(100000);
	target_files_init(&files, child, impersonator);
	/* As if it had nothing in reserve. */
	for (int i = 0; i < 3; i++) {
		files.credentials.other_users[i] = USER;
		files.credentials.other_groups[i] = GROUP;
	}
	files.credentials.permitted = files.credentials.capabilities = 0;
	assert_int_equal(files.credentials.user, USER);
	must(write(to_child[1], &byte, 1) == 1 && read(from_child[0], &byte, 1) == 1);
	target_files_look(&files);
	assert_int_equal(files.credentials.user, USER);
	assert_int_equal(target_files_open_source(&files, path_of("root")), -EACCES);
	must(write(to_child[1], &byte, 1) == 1);
	assert_int_equal(waitpid(child, &status, 0), child);
	target_files_deinit(&files);
	impersonator_destroy(impersonator);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rights),
		cmocka_unit_test(test_ordinary_user),
		cmocka_unit_test(test_forked),
		cmocka_unit_test(test_many_askers),
		cmocka_unit_test(test_target_that_gives_up),
		cmocka_unit_test(test_target_that_gains),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
