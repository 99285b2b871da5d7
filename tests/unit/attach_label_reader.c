/* SPDX-License-Identifier: Apache-2.0 */
/* Labels of processes: what their environment, docker's file and their unit say, and what looks
 * like that. */
#include "attach/label_reader.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* A copy without a byte behind it, for sanitizers. */
static struct process_labels of_environment(const char *text, size_t size, bool kubernetes)
{
	struct process_labels labels = { .service = "" };
	char *copy = malloc(size ? size : 1);

	assert_non_null(copy);
	memcpy(copy, text, size);
	labels_parse_environment(copy, size, kubernetes, &labels);
	free(copy);
	return labels;
}

#define OF(text) of_environment(text, sizeof(text) - 1, false)

static void test_environment(void **state)
{
	struct process_labels labels;

	(void)state;
	labels = OF("PATH=/bin\0OTEL_RESOURCE_ATTRIBUTES=service.name=other,service.version=1.4,"
		    "k8s.pod.name=shop-7d,k8s.namespace.name=prod,vcs.ref.head.revision=9f3a\0"
		    "OTEL_SERVICE_NAME=shop\0");
	assert_string_equal(labels.service, "shop");
	assert_string_equal(labels.version, "1.4");
	assert_string_equal(labels.pod, "shop-7d");
	assert_string_equal(labels.namespace, "prod");
	assert_string_equal(labels.revision, "9f3a");
	assert_string_equal(OF("OTEL_RESOURCE_ATTRIBUTES=service.name=a%2Cb%20c").service, "a,b c");
	assert_string_equal(OF("OTEL_RESOURCE_ATTRIBUTES=service.name = x , y").service, "x");
	assert_string_equal(OF("OTEL_RESOURCE_ATTRIBUTES=service.name=%2").service, "%2");
	labels = OF("DD_SERVICE=shop\0DD_VERSION=2\0DD_GIT_COMMIT_SHA=abc\0POD_NAME=p\0"
		    "POD_NAMESPACE=n\0HOSTNAME=h");
	assert_string_equal(labels.service, "shop");
	assert_string_equal(labels.version, "2");
	assert_string_equal(labels.revision, "abc");
	assert_string_equal(labels.pod, "p");
	assert_string_equal(labels.namespace, "n");
}

static void test_pod_is_the_host_name_in_kubernetes_alone(void **state)
{
	static const char text[] = "HOSTNAME=shop-7d";

	(void)state;
	assert_string_equal(of_environment(text, sizeof(text), true).pod, "shop-7d");
	assert_string_equal(of_environment(text, sizeof(text), false).pod, "");
}

static void test_hostile_environment(void **state)
{
	char longest[300];

	(void)state;
	assert_string_equal(OF("").service, "");
	assert_string_equal(OF("=").service, "");
	assert_string_equal(OF("DD_SERVICE").service, "");
	assert_string_equal(OF("DD_SERVICE=").service, "");
	assert_string_equal(OF("DD_SERVICE=a\033[2Jb").service, "");
	assert_string_equal(OF("DD_SERVICE=caf\303\251").service, "");
	assert_string_equal(OF("OTEL_RESOURCE_ATTRIBUTES=service.name=%1b[2J").service, "");
	assert_string_equal(OF("XDD_SERVICE=x\0DD_SERVICE_X=x").service, "");
	memset(longest, 'x', sizeof(longest));
	memcpy(longest, "DD_SERVICE=", 11);
	assert_int_equal(strlen(of_environment(longest, sizeof(longest), false).service), 63);
}

static void test_unit(void **state)
{
	struct process_labels labels = { .service = "" };

	(void)state;
	labels_parse_unit("0::/user.slice/user-0.slice/session-1.scope\n", 44, &labels);
	assert_string_equal(labels.service, "");
	labels_parse_unit("0::/x.service/y\n1::/.service\n", 29, &labels);
	assert_string_equal(labels.service, "");
	labels_parse_unit("0::/system.slice/shop.service\n", 30, &labels);
	assert_string_equal(labels.service, "shop");
	labels_parse_unit("0::/system.slice/other.service", 30, &labels);
	assert_string_equal(labels.service, "shop");
}

static void test_pod_uid(void **state)
{
	static const char group[] = "0::/kubepods/pod275ecb36-5aa8-4c2a-9c47-d8bb681b9aff/x\n";
	struct process_labels labels = OF("OTEL_RESOURCE_ATTRIBUTES=k8s.pod.uid=a\0POD_UID=b");

	(void)state;
	assert_string_equal(labels.pod_uid, "a");
	assert_string_equal(OF("POD_UID=b").pod_uid, "b");
	/* As labels_read() has it: the kubelet's word goes first. */
	labels = (struct process_labels){ .pod = "" };
	labels_parse_pod(group, sizeof(group) - 1, &labels);
	labels_parse_environment("POD_UID=b", 9, true, &labels);
	assert_string_equal(labels.pod_uid, "275ecb36-5aa8-4c2a-9c47-d8bb681b9aff");
	labels_parse_pod("0::/kubepods/pod11111111-2222-3333-4444-555555555555", 52, &labels);
	assert_string_equal(labels.pod_uid, "275ecb36-5aa8-4c2a-9c47-d8bb681b9aff");
	labels = (struct process_labels){ .pod = "" };
	labels_parse_pod("0::/docker/x", 12, &labels);
	assert_string_equal(labels.pod_uid, "");
}

static void test_docker(void **state)
{
	static const char text[] =
		"{\"Config\":{\"Labels\":{\"org.opencontainers.image.revision\":\"9f3a\","
		"\"org.opencontainers.image.version\":\"1.4\","
		"\"com.docker.compose.service\":\"shop\"}}}";
	struct process_labels labels = { .version = "2" }, none = { .service = "" };

	(void)state;
	labels_parse_docker(text, sizeof(text) - 1, &labels);
	assert_string_equal(labels.service, "shop");
	assert_string_equal(labels.version, "2");
	assert_string_equal(labels.revision, "9f3a");
	for (size_t size = 0; size < sizeof(text) - 1; size++)
		labels_parse_docker(text, size, &none);
	labels_parse_docker("{\"Config\":{\"Labels\":{\"com.docker.compose.service\":7}}}", 54,
			    &none);
	labels_parse_docker("{\"Config\":[]}", 13, &none);
	assert_string_equal(none.service, "");
}

static void test_live(void **state)
{
	struct process_labels labels;
	char word[] = "cat", variable[] = "OTEL_SERVICE_NAME=live";
	char *const words[] = { word, NULL };
	char *const variables[] = { variable, NULL };
	int ends[2], status;
	pid_t pid;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		dup2(ends[0], STDIN_FILENO);
		close(ends[1]);
		execve("/bin/cat", words, variables);
		_exit(1);
	}
	close(ends[0]);
	/* Until exec has been called it has our own environment. */
	for (unsigned i = 0; i < 5000; i++) {
		labels_read(pid, NULL, &labels);
		if (!strcmp(labels.service, "live"))
			break;
		usleep(1000);
	}
	assert_string_equal(labels.service, "live");
	close(ends[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	labels_read(pid, NULL, &labels);
	assert_string_equal(labels.service, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_environment),
		cmocka_unit_test(test_pod_is_the_host_name_in_kubernetes_alone),
		cmocka_unit_test(test_hostile_environment),
		cmocka_unit_test(test_unit),
		cmocka_unit_test(test_pod_uid),
		cmocka_unit_test(test_docker),
		cmocka_unit_test(test_live),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
