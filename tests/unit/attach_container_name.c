/* SPDX-License-Identifier: Apache-2.0 */
/* Names of containers: what podman's monitor and docker's file say, and what looks like them. */
#include "attach/container_name.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define ID    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define OTHER "f123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

/* What docker 20.10.24 wrote, shortened: other members are called Name, too. */
static const char docker_file[] =
	"{\"StreamConfig\":{},\"State\":{\"Running\":true,\"Paused\":false,\"Pid\":10632,"
	"\"Error\":\"\",\"StartedAt\":\"2026-11-23T04:32:37.560600637Z\",\"Health\":null},"
	"\"ID\":\"" ID "\",\"Managed\":false,\"Path\":\"/usr/bin/python3\","
	"\"Args\":[\"/app.py\"],\"Config\":{\"Hostname\":\"0123456789ab\",\"Labels\":{}},"
	"\"LogPath\":\"/var/lib/docker/containers/" ID "/" ID "-json.log\",\"Name\":\"/web\","
	"\"Driver\":\"vfs\",\"RestartCount\":0,\"MountPoints\":{\"/app.py\":{\"Source\":"
	"\"/srv/app.py\",\"Destination\":\"/app.py\",\"RW\":false,\"Name\":\"\",\"Driver\":\"\"}},"
	"\"SeccompProfile\":\"\",\"NoNewPrivileges\":false}";

static void docker_is(const char *text, size_t size, int result, const char *name)
{
	char found[CONTAINER_NAME_BYTES] = "untouched";
	char *copy = malloc(size + 1);

	assert_non_null(copy);
	memcpy(copy, text, size);
	assert_int_equal(container_parse_docker(copy, size, found), result);
	assert_string_equal(found, result ? "untouched" : name);
	free(copy);
}

static void test_docker(void **state)
{
	char name[300], longest[CONTAINER_NAME_BYTES];

	(void)state;
	docker_is(docker_file, strlen(docker_file), 0, "web");
	for (size_t size = 0; size < strlen(docker_file); size++)
		docker_is(docker_file, size, -EPROTO, NULL);
#define DOCKER_IS(text, result, name) docker_is(text, strlen(text), result, name)
	DOCKER_IS("{\"Name\":\"web-1.b_2\"}", 0, "web-1.b_2");
	DOCKER_IS("{}", -ENOENT, NULL);
	DOCKER_IS("{\"Name\":7}", -ENOENT, NULL);
	DOCKER_IS("{\"Name\":\"/\"}", -ENOENT, NULL);
	DOCKER_IS("{\"Name\":\"//web\"}", -ENOENT, NULL);
	DOCKER_IS("{\"Name\":\"we\\u001bb\"}", -ENOENT, NULL);
	DOCKER_IS("{\"Name\":\"..\"}", -ENOENT, NULL);
	DOCKER_IS("[\"Name\"]", -EPROTO, NULL);
	DOCKER_IS("\"web\"", -EPROTO, NULL);
	/* 127 characters, and one more. */
	snprintf(name, sizeof(name), "{\"Name\":\"%0127d\"}", 1);
	snprintf(longest, sizeof(longest), "%0127d", 1);
	DOCKER_IS(name, 0, longest);
	snprintf(name, sizeof(name), "{\"Name\":\"%0128d\"}", 1);
	DOCKER_IS(name, -ENOENT, NULL);
}

static void test_docker_root(void **state)
{
	char path[16] = "";

	(void)state;
#define ROOT_IS(text, result)                                                                      \
	assert_int_equal(container_parse_docker_root(text, strlen(text), path, sizeof(path)),      \
			 result)
	ROOT_IS("{\"data-root\": \"/srv/docker\"}", 0);
	assert_string_equal(path, "/srv/docker");
	ROOT_IS("{\"data-root\": \"/fifteen/letter\"}", 0);
	ROOT_IS("{\"data-root\": \"/sixteen/letters\"}", -ENOENT);
	ROOT_IS("{\"data-root\": \"srv\"}", -ENOENT);
	ROOT_IS("{\"debug\": true}", -ENOENT);
	ROOT_IS("", -ENOENT);
}

static void monitor_is(const char *const *words, const char *id, const char *name)
{
	struct container container;
	int error = container_parse_monitor(words, &container);

	assert_int_equal(error, id ? 0 : -ENOENT);
	if (!id)
		return;
	assert_string_equal(container.id, id);
	assert_string_equal(container.name, name);
	assert_string_equal(container.runtime, "podman");
}

#define MONITOR_IS(id, name, ...) monitor_is((const char *const[]){ __VA_ARGS__, NULL }, id, name)

static void test_monitor(void **state)
{
	(void)state;
	/* As podman 4.3.1 starts it. */
	MONITOR_IS(ID, "web", "/usr/bin/conmon", "--api-version", "1", "-c", ID, "-u", ID, "-r",
		   "/usr/bin/runc", "-b",
		   "/var/lib/containers/storage/overlay-containers/" ID "/userdata", "-n", "web",
		   "--exit-dir", "/run/libpod/exits", "--full-attach", "--exit-command",
		   "/usr/bin/podman", "--exit-command-arg", "-n");
	MONITOR_IS(ID, "web", "conmon", "--cid=" ID, "--name=web");
	MONITOR_IS(ID, "", "conmon", "-c", ID);
	MONITOR_IS(ID, "", "conmon", "-c", ID, "-n");
	MONITOR_IS(ID, "", "conmon", "-c", ID, "-n", "we\033b");
	/* What is for podman, when the container has ended. */
	MONITOR_IS(ID, "", "conmon", "-c", ID, "--exit-command", "podman", "-n", "web");
	MONITOR_IS(NULL, NULL, "conmon", "-n", "web");
	MONITOR_IS(NULL, NULL, "conmon", "-c", "0123456789ab", "-n", "web");
	MONITOR_IS(NULL, NULL, "conmon", "-c");
	MONITOR_IS(NULL, NULL, "/usr/bin/podman", "-c", ID, "-n", "web");
	MONITOR_IS(NULL, NULL, "");
	monitor_is((const char *const[]){ NULL }, NULL, NULL);
}

static void test_none(void **state)
{
	struct container container = { .runtime = "docker", .id = "web" };

	(void)state;
	/* A name of lxc's is no id, and no path is made of it. */
	assert_int_equal(container_read_name(getpid(), &container), -ENOENT);
	assert_int_equal(container_read_monitor(getpid(), &container), -ENOENT);
	strcpy(container.id, OTHER);
	assert_true(container_read_name(getpid(), &container) < 0);
	assert_string_equal(container.name, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_docker),
		cmocka_unit_test(test_docker_root),
		cmocka_unit_test(test_monitor),
		cmocka_unit_test(test_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
