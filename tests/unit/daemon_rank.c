/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks out of environments, which are whatever a process has made of them. */
#include "daemon/trace/rank.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define PARSE(text, rank) rank_parse(text, sizeof(text) - 1, rank)

static void test_launchers(void **state)
{
	struct rank rank;

	(void)state;
	assert_int_equal(PARSE("A=b\0OMPI_COMM_WORLD_SIZE=4\0OMPI_COMM_WORLD_RANK=3\0", &rank), 0);
	assert_int_equal(rank.number, 3);
	assert_int_equal(rank.size, 4);
	assert_int_equal(PARSE("PMI_RANK=1\0PMI_SIZE=2\0", &rank), 0);
	assert_int_equal(rank.number, 1);
	assert_int_equal(rank.size, 2);
	assert_int_equal(PARSE("SLURM_PROCID=7", &rank), 0);
	assert_int_equal(rank.number, 7);
	assert_int_equal(rank.size, 0);
	/* srun's own is of the launcher that it has started. */
	assert_int_equal(PARSE("SLURM_PROCID=0\0PMIX_RANK=5\0", &rank), 0);
	assert_int_equal(rank.number, 5);
}

static void test_none(void **state)
{
	struct rank rank = { .number = 77 };

	(void)state;
	assert_int_equal(PARSE("", &rank), -ENODATA);
	assert_int_equal(PARSE("XPMI_RANK=1\0PMI_RANK\0", &rank), -ENODATA);
	assert_int_equal(PARSE("PMI_RANK=\0", &rank), -ENODATA);
	assert_int_equal(PARSE("PMI_RANK=-1\0", &rank), -ENODATA);
	assert_int_equal(PARSE("PMI_RANK=1x\0", &rank), -ENODATA);
	assert_int_equal(PARSE("PMI_RANK=99999999999999999999\0", &rank), -ENODATA);
	assert_int_equal(PARSE("PMI_RANK=1000001\0", &rank), -ENODATA);
	assert_int_equal(PARSE("\0\0\0\0=\0PMI_RANK", &rank), -ENODATA);
	assert_int_equal(rank.number, 77);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_launchers),
		cmocka_unit_test(test_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
