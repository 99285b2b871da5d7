/* SPDX-License-Identifier: Apache-2.0 */
/* Containers told by their cgroups: what each runtime writes there, and what looks like it. */
#include "attach/container.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static void is(const char *text, const char *runtime, const char *id)
{
	struct container container;
	/* Its exact size, so that a byte too many is seen. */
	char *copy = malloc(strlen(text) + 1);
	int error;

	assert_non_null(copy);
	memcpy(copy, text, strlen(text));
	error = container_parse(copy, strlen(text), &container);
	free(copy);
	if (!runtime) {
		assert_int_equal(error, -ENOENT);
		return;
	}
	if (error)
		fail_msg("none in %s", text);
	assert_string_equal(container.runtime, runtime);
	assert_string_equal(container.id, id);
}

static void test_runtimes(void **state)
{
	(void)state;
	is("0::/system.slice/docker-" ID ".scope\n", "docker", ID);
	is("12:pids:/docker/" ID "\n0::/\n", "docker", ID);
	is("0::/docker/" ID "/init.scope", "docker", ID);
	is("0::/machine.slice/libpod-" ID ".scope/container\n", "podman", ID);
	is("0::/system.slice/web.service/libpod-payload-" ID "\n", "podman", ID);
	is("0::/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" ID ".scope",
	   "podman", ID);
	is("0::/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod0b1c.slice/"
	   "cri-containerd-" ID ".scope\n",
	   "kubernetes", ID);
	is("5:cpu:/kubepods/burstable/pod0b1c/" ID "\n", "kubernetes", ID);
	is("0::/kubepods.slice/kubepods-pod0b1c.slice/crio-" ID ".scope", "kubernetes", ID);
	is("0::/kubepods.slice/kubepods-pod0b1c.slice/docker-" ID ".scope", "kubernetes", ID);
	is("0::/lxc/web/system.slice/nginx.service\n", "lxc", "web");
	is("0::/lxc.payload.web/system.slice", "lxc", "web");
	is("0::/machine.slice/systemd-nspawn@deb.service/payload", "nspawn", "deb");
	is("0::/machine.slice/systemd-nspawn@my\\x2ddeb.service/payload", "nspawn", "my-deb");
	is("0::/machine.slice/machine-web.scope/payload/system.slice/web.service\n", "nspawn",
	   "web");
	is("0::/machine.slice/machine-my\\x2dweb.scope\n", "nspawn", "my-web");
	is("0::/machine.slice/machine-web.scope/payload/docker/" ID, "docker", ID);
	is("0::/machine.slice/machine-lxc\\x2d1234\\x2dweb.scope/", "lxc", "lxc-1234-web");
	is("0::/default/" ID, "container", ID);
	/* One in another: where the process is. */
	is("0::/docker/f" ID "/docker/" ID, "docker", ID);
}

static void test_none(void **state)
{
	(void)state;
	is("", NULL, NULL);
	is("0::/\n", NULL, NULL);
	is("0::/system.slice/web.service/libpod-payload-" ID "\n", "podman", ID);
	is("0::/user.slice/user-1000.slice/session-2.scope\n", NULL, NULL);
	is("0::/system.slice/docker.service\n", NULL, NULL);
	is("0::/system.slice/docker-.scope", NULL, NULL);
	is("0::/docker/0123", NULL, NULL);
	is("0::/machine.slice/machine-qemu\\x2d1\\x2dweb.scope/libvirt/emulator", NULL, NULL);
	is("0::/machine.slice", NULL, NULL);
	is("0::/machine.slice/machine-.scope", NULL, NULL);
	is("no colons at all " ID, NULL, NULL);
	is("1:" ID, NULL, NULL);
	is("0::/lxc/" ID "0", NULL, NULL); /* longer than any name */
}

/* Whatever it says: nothing is read beyond its end, and what is told is terminated. */
static void test_any_bytes(void **state)
{
	static const char *const words[] = { "docker", "-",    "/",    ":", "\n", "lxc",    ID,
					     ".scope", "kube", "pods", "",  "\t", "libpod-" };
	uint32_t random = 1;

	(void)state;
	for (unsigned i = 0; i < 20000; i++) {
		char text[512] = "0::";
		struct container container;
		char *copy;
		size_t size;

		for (unsigned k = 0; k < 6; k++) {
			random = random * 1664525 + 1013904223;
			strcat(text, words[random % (sizeof(words) / sizeof(words[0]))]);
		}
		size = strlen(text);
		copy = malloc(size ? size : 1);
		assert_non_null(copy);
		memcpy(copy, text, size);
		if (!container_parse(copy, size, &container))
			assert_true(strlen(container.id) && strlen(container.id) <= 64);
		free(copy);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_runtimes),
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_any_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
