/* SPDX-License-Identifier: Apache-2.0 */
/* When a file may be known again: settled, regular, and on a file system that the kernel answers
 * for. */
#include "common/file_identity.h"

#include "common/clock.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#define NOW_NS (1000 * (int64_t)NS_PER_SECOND)

static const struct stat status = {
	.st_mode = S_IFREG,
	.st_dev = 1,
	.st_ino = 2,
	.st_size = 3,
	.st_mtim = { .tv_sec = 4 },
	.st_ctim = { .tv_sec = 990, .tv_nsec = 5 },
};

static struct file_identity changed(void (*change)(struct stat *status))
{
	struct stat other = status;

	change(&other);
	return file_identity_at(&other, NOW_NS, EXT4_SUPER_MAGIC);
}

static void change_device(struct stat *other)
{
	other->st_dev++;
}

static void change_inode(struct stat *other)
{
	other->st_ino++;
}

static void change_size(struct stat *other)
{
	other->st_size++;
}

static void change_modified(struct stat *other)
{
	other->st_mtim.tv_nsec++;
}

static void change_changed(struct stat *other)
{
	other->st_ctim.tv_nsec++;
}

static void test_each_field_counts(void **state)
{
	void (*const changes[])(struct stat *) = { change_device, change_inode, change_size,
						   change_modified, change_changed };
	struct file_identity one = file_identity_at(&status, NOW_NS, EXT4_SUPER_MAGIC);

	(void)state;
	assert_true(one.known && file_identity_same(&one, &one));
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		struct file_identity other = changed(changes[i]);

		assert_true(other.known);
		assert_false(file_identity_same(&one, &other));
	}
}

static void change_kind(struct stat *other)
{
	other->st_mode = S_IFCHR;
}

static void change_just_now(struct stat *other)
{
	other->st_ctim.tv_sec = 999;
}

static void change_later(struct stat *other)
{
	other->st_ctim.tv_sec = 1001;
}

static void test_unknown(void **state)
{
	struct file_identity fuse = file_identity_at(&status, NOW_NS, FUSE_SUPER_MAGIC);

	(void)state;
	assert_false(changed(change_kind).known);
	assert_false(changed(change_just_now).known);
	assert_false(changed(change_later).known);
	assert_false(fuse.known);
	assert_false(file_identity_same(&fuse, &fuse));
}

/* A file that was written a moment ago, and a folder. */
static void test_open_files(void **state)
{
	char path[] = "/tmp/identity-XXXXXX";
	int fd = mkstemp(path), folder = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat of;

	(void)state;
	assert_true(fd >= 0 && folder >= 0);
	assert_int_equal(fstat(fd, &of), 0);
	assert_false(file_identity_of(fd, &of).known);
	assert_int_equal(fstat(folder, &of), 0);
	assert_false(file_identity_of(folder, &of).known);
	close(folder);
	close(fd);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_field_counts),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_open_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
