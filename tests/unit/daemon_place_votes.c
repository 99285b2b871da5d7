/* SPDX-License-Identifier: Apache-2.0 */
/* Whose time is spent at an instruction, when the address recorded does not say it? */
#include "daemon/sample/place_votes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* Never looked into: it tells places apart. */
static struct python_frame frame_at(uintptr_t code, int offset)
{
	return (struct python_frame){ .code = (const struct python_code *)code,
				      .instruction_offset = offset };
}

static void test_most_votes_at_the_same_instruction(void **state)
{
	struct place_votes *votes = place_votes_create();
	struct python_frame call = frame_at(0x1000, 20), next = frame_at(0x1000, 22),
			    other = frame_at(0x2000, 20);

	(void)state;
	assert_non_null(votes);
	assert_int_equal(place_votes_ask(votes, &call, TIME_PYTHON), TIME_PYTHON);
	assert_int_equal(place_votes_ask(votes, &call, TIME_NATIVE), TIME_NATIVE);
	place_votes_add(votes, &call, TIME_NATIVE);
	assert_int_equal(place_votes_ask(votes, &call, TIME_PYTHON), TIME_NATIVE);
	place_votes_add(votes, &call, TIME_PYTHON);
	assert_int_equal(place_votes_ask(votes, &call, TIME_PYTHON), TIME_PYTHON);
	assert_int_equal(place_votes_ask(votes, &call, TIME_NATIVE), TIME_NATIVE);
	place_votes_add(votes, &call, TIME_PYTHON);
	assert_int_equal(place_votes_ask(votes, &call, TIME_NATIVE), TIME_PYTHON);
	assert_int_equal(place_votes_ask(votes, &next, TIME_NATIVE), TIME_NATIVE);
	assert_int_equal(place_votes_ask(votes, &other, TIME_NATIVE), TIME_NATIVE);
	place_votes_destroy(votes);
	place_votes_destroy(NULL);
}

/* More places than there is room for: one that was driven out is asked as if never seen. */
static void test_bounded(void **state)
{
	struct place_votes *votes = place_votes_create();
	unsigned known = 0;

	(void)state;
	assert_non_null(votes);
	for (int i = 0; i < 100000; i++) {
		struct python_frame frame = frame_at(0x1000, i);

		place_votes_add(votes, &frame, TIME_NATIVE);
	}
	for (int i = 0; i < 100000; i++) {
		struct python_frame frame = frame_at(0x1000, i);

		known += place_votes_ask(votes, &frame, TIME_PYTHON) == TIME_NATIVE;
	}
	assert_in_range(known, 2000, 4096);
	place_votes_destroy(votes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_most_votes_at_the_same_instruction),
		cmocka_unit_test(test_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
