/* SPDX-License-Identifier: Apache-2.0 */
/* Pods told by their control groups: what kubelets and runtimes write there, and what looks like
 * it. */
#include "attach/pod.h"

#include "attach/container.h"
#include "tests/unit/unit_random.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define ID        "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define UID       "275ecb36-5aa8-4c2a-9c47-d8bb681b9aff"
#define SLICE_UID "275ecb36_5aa8_4c2a_9c47_d8bb681b9aff"
#define OTHER     "11111111-2222-3333-4444-555555555555"
#define STATIC    "0123456789abcdef0123456789abcdef"
#define PODS      "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" SLICE_UID ".slice/"

/* NULL: none. Its exact size, so that a byte too many is seen. */
static void is(const char *text, const char *wanted)
{
	char *copy = malloc(strlen(text) + 1), uid[POD_UID_BYTES];
	int error;

	assert_non_null(copy);
	memcpy(copy, text, strlen(text));
	error = pod_parse(copy, strlen(text), uid);
	free(copy);
	if (error && wanted)
		fail_msg("none in %s", text);
	assert_int_equal(error, wanted ? 0 : -ENOENT);
	if (wanted)
		assert_string_equal(uid, wanted);
}

/* The container's id, too, and that Kubernetes has it. */
static void is_with_container(const char *text, const char *wanted)
{
	struct container container;

	is(text, wanted);
	assert_int_equal(container_parse(text, strlen(text), &container), 0);
	assert_string_equal(container.id, ID);
	assert_string_equal(container.runtime, "kubernetes");
}

static void test_systemd(void **state)
{
	(void)state;
	is_with_container("0::" PODS "cri-containerd-" ID ".scope\n", UID);
	is_with_container("0::" PODS "crio-" ID ".scope", UID);
	is_with_container("0::" PODS "crio-" ID ".scope/container", UID);
	is_with_container("0::" PODS "docker-" ID ".scope/init.scope", UID);
	is_with_container("0::/kubepods.slice/kubepods-pod" SLICE_UID ".slice/cri-containerd-" ID
			  ".scope",
			  UID);
	is_with_container("12:cpu,cpuacct:" PODS "docker-" ID ".scope\n0::/\n", UID);
	is_with_container(
		"0::/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-besteffort.slice/"
		"kubelet-kubepods-besteffort-pod" SLICE_UID ".slice/docker-" ID ".scope",
		UID);
}

static void test_cgroupfs(void **state)
{
	(void)state;
	is_with_container("0::/kubepods/burstable/pod" UID "/" ID "\n", UID);
	is_with_container("0::/kubepods/pod" UID "/" ID, UID);
	is_with_container("0::/kubepods/besteffort/pod" UID "/crio-" ID, UID);
	is_with_container("4:memory:/kubepods/besteffort/pod" UID "/" ID "/child\n", UID);
	is_with_container("0::/kubelet/kubepods/burstable/pod" UID "/" ID, UID);
}

static void test_mixed(void **state)
{
	(void)state;
	/* Either driver's half. */
	is_with_container("0::/system.slice/containerd.service/kubepods-burstable-pod" SLICE_UID
			  ".slice:cri-containerd:" ID,
			  UID);
	is_with_container("0::/kubepods-pod" SLICE_UID ".slice:cri-containerd:" ID, UID);
	/* Seen from within a container's own namespace. */
	is_with_container("0::/../../kubepods-besteffort-pod" SLICE_UID ".slice/cri-containerd-" ID
			  ".scope",
			  UID);
	is_with_container("0::/../../pod" UID "/" ID, UID);
	is("0::/../cri-containerd-" ID ".scope", NULL);
	/* Static pods; the pod itself, and what is beside its containers. */
	is_with_container("0::/kubepods/burstable/pod" STATIC "/" ID, STATIC);
	is_with_container("0::/kubepods.slice/kubepods-pod" STATIC ".slice/crio-" ID ".scope",
			  STATIC);
	is("0::" PODS, UID);
	is("0::" PODS "crio-conmon-" ID ".scope", UID);
}

/* A container may make groups below its own, not above. */
static void test_outermost(void **state)
{
	(void)state;
	is("0::/kubepods/pod" UID "/" ID "/kubepods/pod" OTHER "/" ID, UID);
	is("0::" PODS "docker-" ID ".scope/kubepods.slice/kubepods-pod"
	   "11111111_2222_3333_4444_555555555555.slice/",
	   UID);
	is("1:cpu:/\n0::/kubepods/pod" UID "\n1:x:/kubepods/pod" OTHER, UID);
}

static void test_none(void **state)
{
	(void)state;
	is("", NULL);
	is("0::/\n", NULL);
	is("0::/pod" UID "/" ID, NULL); /* no kubelet's */
	is("0::/docker/" ID, NULL);
	is("0::/machine.slice/machine-libpod_pod_" ID ".slice/libpod-" ID ".scope", NULL);
	is("0::/kubepods/burstable/podsandbox", NULL);
	is("0::/kubepods/pod275ecb36-5aa8-4c2a-9c47-d8bb681b9af/" ID, NULL);
	is("0::/kubepods/pod" UID "0/" ID, NULL);
	is("0::/kubepods/pod275ecb36-5aa8_4c2a-9c47-d8bb681b9aff/" ID, NULL);
	is("0::/kubepods/pod" STATIC "0/" ID, NULL);
	is("0::/kubepods/pod" UID ".slice/" ID, NULL);
	is("0::/kubepods.slice/kubepods-pod" SLICE_UID "/" ID, NULL);
	is("0::/kubepods.slice/kubepods-pod" SLICE_UID ".slices/" ID, NULL);
	is("0::/kubepods.slice/kubepods-podg" SLICE_UID ".slice/" ID, NULL);
	is("0::/kubepodsx-pod" SLICE_UID ".slice", NULL);
	is("0::/akubepods-pod" SLICE_UID ".slice", NULL);
	is("kubepods/pod" UID, NULL);
	is("1:kubepods/pod" UID, NULL);
}

/* Whatever it says: nothing is read beyond its end, and a uid is digits and dashes. */
static void test_any_bytes(void **state)
{
	static const char *const words[] = { "kubepods", "-pod", "/pod", "-",    "/",  ":",
					     "\n",       UID,    "_",    STATIC, "..", ".slice",
					     SLICE_UID,  "",     "\t",   "burst" };
	struct unit_random random = { 1 };
	unsigned found = 0;

	(void)state;
	for (unsigned i = 0; i < 50000; i++) {
		char text[512] = "0::/kubepods", uid[POD_UID_BYTES];
		char *copy;
		size_t size;

		for (unsigned k = 0; k < 5; k++)
			strcat(text,
			       words[unit_random_below(&random, sizeof(words) / sizeof(words[0]))]);
		size = unit_random_below(&random, 2) ? strlen(text)
						     : unit_random_below(&random, strlen(text));
		copy = malloc(size + 1);
		assert_non_null(copy);
		memcpy(copy, text, size);
		/* The byte behind it is one that would make a word longer. */
		copy[size] = 'a';
		if (!pod_parse(copy, size, uid)) {
			found++;
			assert_true(strlen(uid) == 36 || strlen(uid) == 32);
			assert_int_equal(strspn(uid, "0123456789abcdef-"), strlen(uid));
		}
		free(copy);
	}
	assert_true(found > 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_systemd), cmocka_unit_test(test_cgroupfs),
		cmocka_unit_test(test_mixed),   cmocka_unit_test(test_outermost),
		cmocka_unit_test(test_none),    cmocka_unit_test(test_any_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
