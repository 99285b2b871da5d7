/* SPDX-License-Identifier: Apache-2.0 */
/* Containers in /metrics, and in the labels of processes. */
#include "daemon/report/model/container_text.h"
#include "daemon/serve/metrics.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

/* The lines of /metrics that begin with the name. */
static char *metrics_of(const struct sampler_counters *counters, const char *name)
{
	const struct request_counts requests = { .bytes = 0 };
	static const struct heap_looks_counters heap;
	const struct metrics metrics = { .counters = counters,
					 .requests = &requests,
					 .heap = &heap };
	char *text = NULL, *found = calloc(1, 8192);
	size_t size = 0, used = 0;
	FILE *file = open_memstream(&text, &size);

	assert_non_null(file);
	assert_non_null(found);
	metrics_write(&metrics, file);
	assert_int_equal(fclose(file), 0);
	for (const char *line = text; *line; line = strchr(line, '\n') + 1) {
		size_t length = (size_t)(strchr(line, '\n') + 1 - line);

		if (strncmp(line, name, strlen(name)) != 0)
			continue;
		assert_true(used + length < 8192);
		memcpy(found + used, line, length);
		used += length;
	}
	free(text);
	return found;
}

static void test_containers(void **state)
{
	struct sampler_counters counters = {
		.containers = { { { "podman", ID, "web" }, 3 }, { { "docker", ID, "" }, 1 } },
		.container_count = 2,
	};
	char *text = metrics_of(&counters, "pieprofd_container_processes");

	(void)state;
	assert_string_equal(text, "pieprofd_container_processes{runtime=\"podman\",id=\"" ID
				  "\",name=\"web\"} 3\n"
				  "pieprofd_container_processes{runtime=\"docker\",id=\"" ID
				  "\",name=\"\"} 1\n");
	free(text);
	counters.container_count = 0;
	text = metrics_of(&counters, "pieprofd_container_processes");
	assert_string_equal(text, "");
	free(text);
}

/* Whoever may make a cgroup chooses what looks like an id. */
static void test_hostile_labels(void **state)
{
	const struct sampler_counters counters = {
		.containers = { { { "lxc", "a\"} 1\nb\xff", "" }, 1 } },
		.container_count = 1,
	};
	char *text = metrics_of(&counters, "pieprofd_container_processes");

	(void)state;
	assert_string_equal(text, "pieprofd_container_processes{runtime=\"lxc\",id=\"a\\\"} "
				  "1\\\\nb\\\\xff\",name=\"\"} 1\n");
	free(text);
}

/* Of a daemon that takes turns alone. */
static void test_newcomers(void **state)
{
	struct sampler_counters counters = {
		.newcomers = { { 3, 2, 0, 0, 1, 0, 4 }, 123456789012 },
		.budget_ns = -5000000,
	};
	char *text = metrics_of(&counters, "pieprofd_newcomer_wait");

	(void)state;
	assert_string_equal(text, "");
	free(text);
	counters.takes_turns = true;
	text = metrics_of(&counters, "pieprofd_newcomer_wait");
	assert_string_equal(text, "pieprofd_newcomer_wait_seconds_bucket{le=\"1\"} 3\n"
				  "pieprofd_newcomer_wait_seconds_bucket{le=\"2\"} 5\n"
				  "pieprofd_newcomer_wait_seconds_bucket{le=\"5\"} 5\n"
				  "pieprofd_newcomer_wait_seconds_bucket{le=\"10\"} 5\n"
				  "pieprofd_newcomer_wait_seconds_bucket{le=\"30\"} 6\n"
				  "pieprofd_newcomer_wait_seconds_bucket{le=\"60\"} 6\n"
				  "pieprofd_newcomer_wait_seconds_bucket{le=\"+Inf\"} 10\n"
				  "pieprofd_newcomer_wait_seconds_sum 123.456789012\n"
				  "pieprofd_newcomer_wait_seconds_count 10\n");
	free(text);
	text = metrics_of(&counters, "pieprofd_budget_seconds");
	assert_string_equal(text, "pieprofd_budget_seconds -0.005\n");
	free(text);
}

static void test_services(void **state)
{
	const struct sampler_counters counters = {
		.services = { { { "shop", "v3", "abc", "store", "shop-\"x", "" }, 2 },
			      { { "web.service", "", "", "", "", "" }, 1 } },
		.service_count = 2,
	};
	char *text = metrics_of(&counters, "pieprofd_service_processes");

	(void)state;
	assert_string_equal(text, "pieprofd_service_processes{service=\"shop\",version=\"v3\","
				  "revision=\"abc\",namespace=\"store\",pod=\"shop-\\\"x\"} 2\n"
				  "pieprofd_service_processes{service=\"web.service\",version=\"\","
				  "revision=\"\",namespace=\"\",pod=\"\"} 1\n");
	free(text);
}

static void test_suffix(void **state)
{
	const struct profile_container none = { "", "", "" }, named = { "podman", ID, "web" },
				       bare = { "docker", ID, "" }, lxc = { "lxc", "db", "" };

	(void)state;
	assert_string_equal(container_suffix(&none).text, "");
	assert_string_equal(container_suffix(&named).text, " in web (0123456789ab)");
	assert_string_equal(container_suffix(&bare).text, " in 0123456789ab");
	assert_string_equal(container_suffix(&lxc).text, " in db");
	assert_string_equal(container_words(&named).text, "web (podman 0123456789ab)");
	assert_string_equal(container_words(&bare).text, "docker 0123456789ab");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_containers), cmocka_unit_test(test_hostile_labels),
		cmocka_unit_test(test_newcomers),  cmocka_unit_test(test_services),
		cmocka_unit_test(test_suffix),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
