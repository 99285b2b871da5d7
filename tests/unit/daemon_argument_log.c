/* SPDX-License-Identifier: Apache-2.0 */
/* The log of arguments: sites found again, samples chosen fairly, and its limits. */
#include "daemon/detect/argument_log.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void test_sites(void **state)
{
	/* The same number, as of two interpreters' code objects. */
	struct python_code codes[] = { { .id = 1 }, { .id = 2 }, { .id = 1 } };
	struct argument_log log;
	struct argument_site *site;
	uint32_t ids[3][50], id;

	(void)state;
	argument_log_init(&log);
	for (unsigned c = 0; c < 3; c++)
		for (int offset = 0; offset < 50; offset++) {
			site = argument_log_site(&log, &codes[c], 2 * offset, &ids[c][offset]);
			assert_non_null(site);
			assert_ptr_equal(site->code, &codes[c]);
			assert_int_equal(site->offset, 2 * offset);
			assert_int_equal(site->samples, 0);
			site->samples = c * 100 + (unsigned)offset + 1;
		}
	assert_int_equal(log.site_count, 150);
	for (unsigned c = 0; c < 3; c++)
		for (int offset = 0; offset < 50; offset++) {
			site = argument_log_site(&log, &codes[c], 2 * offset, &id);
			assert_int_equal(id, ids[c][offset]);
			assert_int_equal(site->samples, c * 100 + (unsigned)offset + 1);
		}
	assert_int_equal(log.site_count, 150);
	argument_log_deinit(&log);
}

static void test_too_many_sites(void **state)
{
	struct python_code code = { .id = 1 };
	struct argument_log log;
	uint32_t id;

	(void)state;
	argument_log_init(&log);
	for (int i = 0; i < (int)ARGUMENT_SITES_MAX; i++)
		assert_non_null(argument_log_site(&log, &code, i, &id));
	assert_null(argument_log_site(&log, &code, ARGUMENT_SITES_MAX, &id));
	/* Those that are there are found. */
	assert_non_null(argument_log_site(&log, &code, 5, &id));
	assert_int_equal(id, 5);
	assert_int_equal(log.site_count, ARGUMENT_SITES_MAX);
	argument_log_deinit(&log);
}

static void test_all_are_kept(void **state)
{
	struct argument_sample sample = { .time_ns = 3 };
	struct argument_log log;

	(void)state;
	argument_log_init(&log);
	for (uint32_t i = 0; i < ARGUMENT_SAMPLES_MAX; i++) {
		sample.event_ns = i;
		assert_int_equal(argument_log_add(&log, &sample), 0);
	}
	assert_int_equal(log.sample_count, ARGUMENT_SAMPLES_MAX);
	assert_int_equal(log.seen, ARGUMENT_SAMPLES_MAX);
	assert_int_equal(log.seen_ns, 3 * ARGUMENT_SAMPLES_MAX);
	for (uint32_t i = 0; i < ARGUMENT_SAMPLES_MAX; i++)
		assert_int_equal(log.samples[i].event_ns, i);
	argument_log_deinit(&log);
}

#define PARTS 8

/* Of eight times as many as it holds, an eighth of each part of the run. */
static void test_reservoir(void **state)
{
	unsigned kept[PARTS] = { 0 };
	struct argument_sample sample = { .time_ns = 1 };
	struct argument_log log;

	(void)state;
	argument_log_init(&log);
	for (uint64_t i = 0; i < (uint64_t)PARTS * ARGUMENT_SAMPLES_MAX; i++) {
		sample.event_ns = i;
		assert_int_equal(argument_log_add(&log, &sample), 0);
	}
	assert_int_equal(log.sample_count, ARGUMENT_SAMPLES_MAX);
	assert_int_equal(log.seen, (uint64_t)PARTS * ARGUMENT_SAMPLES_MAX);
	assert_int_equal(log.seen_ns, log.seen);
	for (uint32_t i = 0; i < ARGUMENT_SAMPLES_MAX; i++)
		kept[log.samples[i].event_ns / ARGUMENT_SAMPLES_MAX]++;
	/* 2,048 expected of each, 42 is a standard deviation. */
	for (unsigned part = 0; part < PARTS; part++)
		assert_in_range(kept[part], 2048 - 250, 2048 + 250);
	argument_log_deinit(&log);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sites),
		cmocka_unit_test(test_too_many_sites),
		cmocka_unit_test(test_all_are_kept),
		cmocka_unit_test(test_reservoir),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
