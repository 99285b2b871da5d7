/* SPDX-License-Identifier: Apache-2.0 */
/* Control groups told by what the kernel writes of them, in both versions and mixed. */
#include "attach/cgroup.h"

#include "tests/unit/unit_random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static bool matches(const char *text, const char *wanted)
{
	/* Its exact size, so that a byte too many is seen. */
	char *copy = malloc(strlen(text) + 1);
	bool result;

	assert_non_null(copy);
	memcpy(copy, text, strlen(text));
	result = cgroup_matches(copy, strlen(text), wanted);
	free(copy);
	return result;
}

static void in(const char *text, const char *wanted)
{
	if (!matches(text, wanted))
		fail_msg("'%s' is not in '%s'", text, wanted);
}

static void not_in(const char *text, const char *wanted)
{
	if (matches(text, wanted))
		fail_msg("'%s' is in '%s'", text, wanted);
}

static void test_paths(void **state)
{
	static const char text[] = "0::/system.slice/web.service/worker\n";

	(void)state;
	in(text, "/system.slice/web.service/worker");
	in(text, "/system.slice/web.service");
	in(text, "/system.slice/web.service/");
	in(text, "system.slice/web.service");
	in(text, "/sys/fs/cgroup/system.slice/web.service");
	in(text, "/sys/fs/cgroup/system.slice/");
	in(text, "/");
	not_in(text, "/system.slice/web");
	not_in(text, "/system.slice/web.service/work");
	not_in(text, "/web.service");
	not_in(text, "/sys/fs/cgroup/web.service");
	not_in(text, "/system.slice/web.service/worker/more");
}

static void test_names(void **state)
{
	static const char text[] = "0::/system.slice/web.service/worker";

	(void)state;
	in(text, "web.service");
	in(text, "web");
	in(text, "worker");
	in(text, "system");
	not_in(text, "web.serv");
	not_in(text, "we");
	not_in(text, "eb.service");
	in("0::/user.slice/session-4.scope", "session-4");
}

static void test_first_version(void **state)
{
	static const char text[] = "12:name=systemd:/init.scope\n"
				   "4:cpu,cpuacct:/batch/night\n"
				   "3:memory:/small\n"
				   "0::/\n";

	(void)state;
	in(text, "/batch/night");
	in(text, "/batch");
	in(text, "/small");
	in(text, "night");
	in(text, "/sys/fs/cgroup/cpu,cpuacct/batch");
	in(text, "/sys/fs/cgroup/cpu/batch");
	in(text, "/sys/fs/cgroup/cpuacct/batch/night");
	in(text, "/sys/fs/cgroup/systemd/init.scope");
	in(text, "/sys/fs/cgroup/unified");
	not_in(text, "/sys/fs/cgroup/memory/batch");
	not_in(text, "/sys/fs/cgroup/name=systemd/batch");
	not_in(text, "/sys/fs/cgroup/unified/batch");
	/* Without the mount point in front it is a path, not a controller's folder. */
	not_in(text, "/cpu/batch");
}

static void test_containers(void **state)
{
	static const char text[] = "0::/system.slice/docker-" ID ".scope\n";

	(void)state;
	in(text, ID);
	in(text, "0123456789ab");
	not_in(text, "0123456789a"); /* too short to be meant as an id */
	not_in(text, "123456789abc");
	in("0::/kubepods/burstable/pod1/" ID, "0123456789abcdef");
}

static void test_damaged(void **state)
{
	static const char text[] = "4:cpu,cpuacct:/batch/night\n0::/system.slice/web.service\n";
	static const char *const wanted[] = { "/batch", "web", "/sys/fs/cgroup/cpu/batch", ID,
					      "/" };
	struct unit_random random = { 1 };

	(void)state;
	not_in("", "/");
	not_in("\n\n", "/");
	not_in("0:", "web");
	not_in("web", "web");
	not_in("0::web", "web");
	for (unsigned i = 0; i < 2000; i++) {
		size_t size = unit_random_below(&random, sizeof(text));
		char *copy = malloc(size + 1);

		assert_non_null(copy);
		memcpy(copy, text, size);
		for (unsigned k = 0; k < 3 && size; k++)
			copy[unit_random_below(&random, size)] =
				"/:,\n\0a"[unit_random_below(&random, 6)];
		for (size_t k = 0; k < sizeof(wanted) / sizeof(wanted[0]); k++)
			(void)cgroup_matches(copy, size, wanted[k]);
		free(copy);
	}
}

static void test_of_this_process(void **state)
{
	(void)state;
	assert_true(cgroup_contains(getpid(), "/"));
	assert_false(cgroup_contains(getpid(), "no such cgroup"));
	assert_false(cgroup_contains(-1, "/"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_paths),         cmocka_unit_test(test_names),
		cmocka_unit_test(test_first_version), cmocka_unit_test(test_containers),
		cmocka_unit_test(test_damaged),       cmocka_unit_test(test_of_this_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
