/* SPDX-License-Identifier: Apache-2.0 */
/* OpenTelemetry's message; what is in it is decoded by opentelemetry-proto in
 * tests/e2e/test_push.py. */
#include "report_sample.h"

#include "daemon/report/format/otlp.h"
#include "daemon/report/model/service_name.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const struct otlp_options options = { .service = "shop", .id = "0123456789abcdef" };

static size_t count_of(const struct protobuf *message, const void *bytes, size_t size)
{
	size_t count = 0;

	for (size_t i = 0; i + size <= message->size; i++)
		count += !memcmp(message->bytes + i, bytes, size);
	return count;
}

static void test_each_thing_once(void **state)
{
	struct profile profile = sample_profile();
	struct protobuf first, second;

	(void)state;
	assert_int_equal(otlp_encode(&profile, &options, &first), 0);
	assert_int_equal(otlp_encode(&profile, &options, &second), 0);
	assert_int_equal(first.size, second.size);
	assert_memory_equal(first.bytes, second.bytes, first.size);
	assert_int_equal(count_of(&first, "array_subscript", 15), 1);
	assert_int_equal(count_of(&first, SAMPLE_FILE, strlen(SAMPLE_FILE)), 1);
	assert_int_equal(count_of(&first, "shop", 4), 1);
	/* Profiles: their ids differ in the last four bytes. */
	assert_true(count_of(&first, "0123456789ab", 12) > 3);
	assert_int_equal(count_of(&first, "0123456789ab\0\0\0\1", 16), 1);
	assert_int_equal(count_of(&first, "0123456789ab\0\0\0\2", 16), 1);
	protobuf_deinit(&first);
	protobuf_deinit(&second);
}

static void test_no_samples(void **state)
{
	struct profile profile = { 0 };
	struct protobuf request;

	(void)state;
	assert_int_equal(otlp_encode(&profile, &options, &request), -ENODATA);
	protobuf_deinit(&request);
}

static void test_service_names(void **state)
{
	static const char *const names[][2] = {
		{ "python3 -u /srv/web.py --port 1", "web" },
		{ "/usr/bin/python3.11 -X utf8 -W error app/main.py", "main" },
		{ "python3 -m http.server 80", "http.server" },
		{ "python3 -Im celery worker", "celery" },
		{ "python3 -c pass", "unknown_service:python" },
		{ "python3", "unknown_service:python" },
		{ "python3 -m", "unknown_service:python" },
		{ "/usr/bin/gunicorn app:app", "gunicorn" },
		{ "", "unknown_service:python" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_string_equal(service_name_of_command(names[i][0]).text, names[i][1]);
}

static void test_service_of_container(void **state)
{
	const struct profile_process process = { .command = "python3 a.py",
						 .container = { .name = "web" } };
	struct profile profile = { 0 };

	(void)state;
	assert_string_equal(service_name_of(&profile, &process).text, "web");
	assert_string_equal(service_name_of(&profile, NULL).text, "unknown_service:python");
	snprintf(profile.facts.target.labels.service, sizeof(profile.facts.target.labels.service),
		 "shop");
	assert_string_equal(service_name_of(&profile, NULL).text, "shop");
}

static void test_labels(void **state)
{
	const struct otlp_options unnamed = { .node = "node-7", .id = "0123456789abcdef" };
	struct profile profile = sample_profile();
	struct protobuf request;
	static const char *const wanted[] = {
		"shop",
		"service.version",
		"v3",
		"vcs.ref.head.revision",
		"abc1234",
		"k8s.namespace.name",
		"market",
		"k8s.pod.name",
		"shop-5f7-x",
		"k8s.pod.uid",
		"275ecb36-5aa8",
		"k8s.node.name",
		"node-7",
	};

	(void)state;
	profile.facts.target.labels =
		(struct process_labels){ "shop",   "v3",         "abc1234",
					 "market", "shop-5f7-x", "275ecb36-5aa8" };
	assert_int_equal(otlp_encode(&profile, &unnamed, &request), 0);
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		assert_int_equal(count_of(&request, wanted[i], strlen(wanted[i])),
				 strcmp(wanted[i], "shop") ? 1 : 2);
	protobuf_deinit(&request);
	/* What is not known is left out. */
	profile.facts.target.labels = (struct process_labels){ .service = "" };
	assert_int_equal(otlp_encode(&profile, &options, &request), 0);
	assert_int_equal(count_of(&request, "k8s.", 4), 0);
	protobuf_deinit(&request);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_thing_once), cmocka_unit_test(test_no_samples),
		cmocka_unit_test(test_service_names),   cmocka_unit_test(test_service_of_container),
		cmocka_unit_test(test_labels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
