/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/detect/argument_copy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum {
	TAKEN,
	CALL,
	OTHER,
	SITES
};

/* for i in range(n): out.append(xs[i]) */
struct loop_sites {
	struct python_code code;
	struct argument_log log;
	struct argument_facts facts[SITES];
	struct argument_summary summaries[SITES];
};

static void set_up(struct loop_sites *sites)
{
	*sites = (struct loop_sites){ .code = { .minor = 11 } };
	argument_log_init(&sites->log);
	for (uint32_t i = 0; i < SITES; i++) {
		uint32_t id;

		assert_non_null(
			argument_log_site(&sites->log, &sites->code, 10 * (int)(i + 1), &id));
		assert_int_equal(id, i);
		sites->summaries[i].trips = 100;
		sites->facts[i] = (struct argument_facts){ .summary = &sites->summaries[i],
							   .copy_taken = 10,
							   .copy_call = 20 };
	}
	sites->log.sites[TAKEN].kind = OPERATION_SUBSCRIPT;
	sites->log.sites[TAKEN].operand_count = 2;
	sites->log.sites[TAKEN].operands[0] =
		(struct argument_operand){ .role = OPERAND_CONTAINER, .kind = CONTENT_LIST };
	sites->log.sites[TAKEN].operands[1] =
		(struct argument_operand){ .role = OPERAND_INDEX, .kind = CONTENT_INT };
	sites->log.sites[CALL].appends = true;
}

static uint32_t found(struct loop_sites *sites)
{
	argument_copy_find(sites->facts, &sites->log);
	assert_int_equal(sites->facts[OTHER].copy_site, sites->facts[CALL].copy_site);
	return sites->facts[OTHER].copy_site;
}

static void test_copies(void **state)
{
	struct loop_sites sites;

	(void)state;
	set_up(&sites);
	assert_int_equal(found(&sites), TAKEN);
	assert_true(sites.summaries[TAKEN].elements.middle > 0.9);
	assert_true(argument_copies(&sites.log.sites[TAKEN]));
	/* Whatever the loop gives them to. */
	sites.log.sites[CALL].appends = false;
	assert_int_equal(found(&sites), ID_NONE);
	for (int i = 0; i < SITES; i++)
		sites.facts[i].copy_call = -1;
	assert_int_equal(found(&sites), TAKEN);
	/* Arrays are told of otherwise. */
	sites.log.sites[TAKEN].operands[0].kind = CONTENT_ARRAY;
	assert_int_equal(found(&sites), ID_NONE);
	assert_false(argument_copies(&sites.log.sites[TAKEN]));
	sites.log.sites[TAKEN].operands[0].kind = CONTENT_DICT;
	assert_int_equal(found(&sites), ID_NONE);
	sites.log.sites[TAKEN].operands[0].kind = CONTENT_STR;
	assert_int_equal(found(&sites), TAKEN);
	/* A few. */
	for (int i = 0; i < SITES; i++)
		sites.summaries[i].trips = 3;
	assert_int_equal(found(&sites), ID_NONE);
	argument_log_deinit(&sites.log);
}

static void test_no_loop(void **state)
{
	struct loop_sites sites;

	(void)state;
	set_up(&sites);
	for (int i = 0; i < SITES; i++)
		sites.facts[i].copy_taken = -1;
	assert_int_equal(found(&sites), ID_NONE);
	/* What takes the items was never seen. */
	for (int i = 0; i < SITES; i++)
		sites.facts[i].copy_taken = 50;
	assert_int_equal(found(&sites), ID_NONE);
	argument_log_deinit(&sites.log);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_copies),
		cmocka_unit_test(test_no_loop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
