/* SPDX-License-Identifier: Apache-2.0 */
/* What is opened for a mapping: exactly its file, or what its path says and the target may read. */
#include "attach/mapped_file.h"

#include "attach/procfs.h"
#include "tests/unit/replaced_open.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cmocka.h>

#define NOBODY 65534

static bool map_files_refused;

/* For whoever has no privilege, map_files is refused. */
static bool decide_open(const char *path, int *ret_result)
{
	errno = EPERM;
	*ret_result = -1;
	return map_files_refused && strstr(path, "/map_files/");
}

static void test_file(void **state)
{
	pid_t pid = getpid();
	struct mapped_files files = { .pid = pid };
	struct mapping_opener opener = mapped_files_opener(&files);
	struct mapping_list list = { 0 };
	const struct mapping *mapping;
	struct stat status;
	int fd;

	(void)state;
	assert_int_equal(procfs_read_mappings(pid, &list), 0);
	mapping = mapping_find(&list, (remote_addr)(uintptr_t)&test_file);
	fd = opener.open(opener.context, mapping);
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &status), 0);
	assert_int_equal(status.st_ino, mapping->inode);
	close(fd);
	assert_true(opener.open(opener.context,
				mapping_find(&list, (remote_addr)(uintptr_t)&list)) < 0);
	mapping_list_deinit(&list);
}

/* A device that is mapped is not opened, by neither of the two ways. */
static void test_device(void **state)
{
	pid_t pid = getpid();
	struct mapped_files files = { .pid = pid };
	struct mapping_opener opener = mapped_files_opener(&files);
	struct mapping_list list = { 0 };
	const struct mapping *mapping;
	int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	void *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);

	(void)state;
	assert_ptr_not_equal(page, MAP_FAILED);
	close(fd);
	assert_int_equal(procfs_read_mappings(pid, &list), 0);
	mapping = mapping_find(&list, (remote_addr)(uintptr_t)page);
	assert_string_equal(mapping->path, "/dev/zero");
	assert_int_equal(opener.open(opener.context, mapping), -EINVAL);
	mapping_list_deinit(&list);
	munmap(page, 4096);
}

/* A child with a page of this file, as another user where we may be one. */
static pid_t map_apart(const char *path, uint64_t *ret_page)
{
	int ends[2];
	pid_t pid;

	assert_int_equal(pipe(ends), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		int fd = open(path, O_RDONLY | O_CLOEXEC);
		uint64_t page =
			(uint64_t)(uintptr_t)mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);

		if (geteuid() == 0 &&
		    (setresgid(NOBODY, NOBODY, NOBODY) || setresuid(NOBODY, NOBODY, NOBODY)))
			_exit(1);
		if (write(ends[1], &page, sizeof(page)) == sizeof(page))
			pause();
		_exit(1);
	}
	assert_int_equal(read(ends[0], ret_page, sizeof(*ret_page)), sizeof(*ret_page));
	close(ends[0]);
	close(ends[1]);
	return pid;
}

/* By its path, the target's rights decide, as they are now. */
static void test_path(void **state)
{
	struct impersonator *impersonator = impersonator_create();
	char path[] = "/tmp/pieprofd-mapped-XXXXXX", page[4096] = "";
	struct mapping_list list = { 0 };
	struct mapped_files files = { .impersonator = impersonator };
	struct mapping_opener opener = mapped_files_opener(&files);
	const struct mapping *mapping;
	int file = mkstemp(path), fd;
	uint64_t address;

	(void)state;
	assert_non_null(impersonator);
	assert_int_equal(write(file, page, sizeof(page)), sizeof(page));
	assert_int_equal(fchmod(file, 0644), 0);
	files.pid = map_apart(path, &address);
	assert_int_equal(procfs_read_mappings(files.pid, &list), 0);
	mapping = mapping_find(&list, address);
	assert_non_null(mapping);
	map_files_refused = true;
	fd = opener.open(opener.context, mapping);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(fchmod(file, 0000), 0);
	assert_int_equal(opener.open(opener.context, mapping), -EACCES);
	/* With nobody to act with its rights. */
	files.impersonator = NULL;
	assert_int_equal(fchmod(file, 0640), 0);
	assert_int_equal(opener.open(opener.context, mapping), -ESTALE);
	assert_int_equal(fchmod(file, 0644), 0);
	fd = opener.open(opener.context, mapping);
	assert_true(fd >= 0);
	close(fd);
	files.impersonator = impersonator;
	/* Another file by that name. */
	assert_int_equal(unlink(path), 0);
	fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(opener.open(opener.context, mapping), -ESTALE);
	map_files_refused = false;
	unlink(path);
	close(file);
	kill(files.pid, SIGKILL);
	assert_int_equal(waitpid(files.pid, NULL, 0), files.pid);
	mapping_list_deinit(&list);
	impersonator_destroy(impersonator);
}

/* A program that was deleted while it runs, without privilege. */
static void test_deleted_program(void **state)
{
	char folder[] = "/tmp/pieprofd-mapped-XXXXXX", path[64], link[64], name[64] = "";
	struct mapping_list list = { 0 };
	struct mapped_files files = { 0 };
	struct mapping_opener opener = mapped_files_opener(&files);
	const struct mapping *mapping = NULL;
	struct stat status;
	int fd;

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/sleep", folder);
	files.pid = fork();
	if (!files.pid) {
		execlp("sh", "sh", "-c", "cp /bin/sleep \"$0\" && exec \"$0\" 60", path, NULL);
		_exit(1);
	}
	snprintf(link, sizeof(link), "/proc/%d/exe", (int)files.pid);
	while (strcmp(name, path) != 0) {
		ssize_t size = readlink(link, name, sizeof(name) - 1);

		/* In the middle of an exec there is none. */
		name[size > 0 ? size : 0] = '\0';
		usleep(1000);
		assert_int_equal(waitpid(files.pid, NULL, WNOHANG), 0);
	}
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(folder), 0);
	assert_int_equal(procfs_read_mappings(files.pid, &list), 0);
	for (size_t i = 0; i < list.count && !mapping; i++)
		if (!strcmp(list.mappings[i].path, path))
			mapping = &list.mappings[i];
	assert_non_null(mapping);
	assert_true(mapping->deleted);
	map_files_refused = true;
	fd = opener.open(opener.context, mapping);
	map_files_refused = false;
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &status), 0);
	assert_int_equal(status.st_ino, mapping->inode);
	close(fd);
	mapping_list_deinit(&list);
	kill(files.pid, SIGKILL);
	assert_int_equal(waitpid(files.pid, NULL, 0), files.pid);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_file),
		cmocka_unit_test(test_device),
		cmocka_unit_test(test_path),
		cmocka_unit_test(test_deleted_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
