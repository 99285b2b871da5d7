/* SPDX-License-Identifier: Apache-2.0 */
/* Folders of control groups by lines of mountinfo, as a machine and containers on it have them. */
#include "attach/cgroup_mount.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define TMPFS "30 25 0:26 / /sys/fs/cgroup rw,nosuid - tmpfs tmpfs rw,mode=755\n"

static const struct cgroup_mount none;

/* The path, or NULL when there is nothing to be translated. */
static const char *path_of(const char *const *lines, const char *folder)
{
	static char path[CGROUP_PATH_SIZE];
	static struct cgroup_mount mount;

	mount = none;
	for (; *lines; lines++)
		cgroup_mount_take(&mount, *lines, folder);
	return cgroup_mount_path(&mount, folder, path) ? path : NULL;
}

static void test_on_a_machine(void **state)
{
	static const char *const lines[] = {
		"25 1 254:0 / / rw - ext4 /dev/vda rw\n",
		"29 25 0:25 / /sys rw - sysfs sysfs rw\n",
		"30 29 0:26 / /sys/fs/cgroup rw shared:9 - cgroup2 cgroup2 rw\n",
		NULL,
	};

	(void)state;
	assert_null(path_of(lines, "/sys/fs/cgroup/a/b"));
	assert_null(path_of(lines, "/a/b"));
}

static void test_in_a_container(void **state)
{
	static const char *const second[] = {
		"29 25 0:25 / /sys ro - sysfs sysfs ro\n",
		"30 29 0:26 /machine/web /sys/fs/cgroup ro master:1 shared:9 - cgroup2 cgroup2 "
		"rw\n",
		NULL,
	};
	static const char *const first[] = {
		TMPFS,
		"31 30 0:27 /pods/web /sys/fs/cgroup/cpu,cpuacct ro - cgroup cgroup "
		"rw,cpu,cpuacct\n",
		"32 30 0:28 / /sys/fs/cgroup/pids ro - cgroup cgroup rw,pids\n",
		"33 30 0:29 /web /sys/fs/cgroup/unified ro - cgroup2 cgroup2 rw\n",
		NULL,
	};

	(void)state;
	assert_string_equal(path_of(second, "/sys/fs/cgroup/a/b"), "/machine/web/a/b");
	assert_string_equal(path_of(second, "/sys/fs/cgroup/"), "/machine/web/");
	assert_string_equal(path_of(second, "/sys/fs/cgroup"), "/machine/web");
	assert_null(path_of(second, "/sys/fs/cgroups/a"));
	assert_null(path_of(second, "/a/b"));
	assert_string_equal(path_of(first, "/sys/fs/cgroup/cpu,cpuacct/a"), "/pods/web/a");
	assert_string_equal(path_of(first, "/sys/fs/cgroup/unified/a"), "/web/a");
	assert_null(path_of(first, "/sys/fs/cgroup/pids/a"));
	assert_null(path_of(first, "/sys/fs/cgroup/memory/a"));
}

static void test_covered(void **state)
{
	static const char *const covered[] = {
		"30 29 0:26 /web /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
		"31 30 0:40 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n",
		NULL,
	};
	static const char *const twice[] = {
		"30 29 0:26 /web /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
		"31 30 0:26 /web/inner /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
		NULL,
	};

	(void)state;
	assert_null(path_of(covered, "/sys/fs/cgroup/a"));
	assert_string_equal(path_of(twice, "/sys/fs/cgroup/a"), "/web/inner/a");
}

/* Out of the namespace of groups, escaped, cut short, too long, something else. */
static void test_not_understood(void **state)
{
	static char longest[3 * CGROUP_PATH_SIZE];
	static const char *const lines[] = {
		"30 29 0:26 /.. /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
		"30 29 0:26 /../web /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
		"30 29 0:26 /a\\040b /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
		"30 29 0:26 /web /sys/fs/cgroup rw\n",
		"30 29 0:26 /web /sys/fs/cgroup",
		"30 29 0:26  /web /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
		"30 29\n",
		"",
		" - cgroup",
		"30 29 0:26 /web /sys/fs/cgroup rw - cgrou\n",
		longest,
	};

	(void)state;
	strcpy(longest, "30 29 0:26 /");
	memset(longest + strlen(longest), 'a', CGROUP_PATH_SIZE);
	strcat(longest, " /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		assert_null(path_of((const char *const[]){ lines[i], NULL }, "/sys/fs/cgroup/a"));
	assert_null(path_of((const char *const[]){ NULL }, "/sys/fs/cgroup/a"));
	/* The two together have no room. */
	memcpy(longest, "30 29 0:26 /", strlen("30 29 0:26 /"));
	strcpy(longest + CGROUP_PATH_SIZE - 100, " /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
	assert_non_null(path_of((const char *const[]){ longest, NULL }, "/sys/fs/cgroup/a"));
	{
		static char folder[CGROUP_PATH_SIZE] = "/sys/fs/cgroup/";

		memset(folder + strlen(folder), 'b', 200);
		assert_null(path_of((const char *const[]){ longest, NULL }, folder));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_on_a_machine),
		cmocka_unit_test(test_in_a_container),
		cmocka_unit_test(test_covered),
		cmocka_unit_test(test_not_understood),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
