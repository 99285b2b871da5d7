/* SPDX-License-Identifier: Apache-2.0 */
/* A group that has found more processes than it watches, or than it samples at a time. */
#include "daemon/session/group.h"

#include "daemon/session/group_parts.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define WATCHED 16384 /* as in docs/SECURITY.md */
#define LATER   3

static void test_too_many_members(void **state)
{
	struct group group = { .sessions = 0 };
	pid_t pids[LATER];

	(void)state;
	for (size_t i = 0; i < LATER; i++) {
		pids[i] = fork();
		assert_true(pids[i] >= 0);
		if (!pids[i])
			for (;;)
				pause();
	}
	/* The table does not ask whether one is there already. */
	for (size_t i = 0; i < WATCHED; i++)
		assert_non_null(group_add_member(&group, getppid(), 0));
	assert_null(group.notes);
	/* Each counts once, however often it is met. */
	for (size_t i = 0; i < 2 * LATER; i++) {
		assert_null(group_add_member(&group, pids[i % LATER], 0));
		assert_int_equal(group.losses.counts[LOSS_PROCESS_REFUSED],
				 i < LATER ? i + 1 : LATER);
	}
	assert_int_equal(group.members.count, WATCHED);
	assert_string_equal(group.notes, "too many processes: new ones are left out\n");
	for (size_t i = 0; i < LATER; i++) {
		kill(pids[i], SIGKILL);
		assert_int_equal(waitpid(pids[i], NULL, 0), pids[i]);
	}
	member_table_deinit(&group.members);
	free(group.left_out);
	free(group.notes);
}

/* Short while one waits that was never sampled, and was found by a search. */
static void test_turn_length(void **state)
{
	struct member members[] = {
		{ .state = MEMBER_PROFILED, .found = true },
		{ .state = MEMBER_TRIED, .found = true, .over_limit = true, .turn_ns = 7 },
		{ .state = MEMBER_TRIED, .found = true, .over_limit = true },
	};
	struct group group = {
		.options = { .turn_ns = 10, .first_turn_ns = 2 },
		.members = { .items = members, .count = 1 },
	};

	(void)state;
	assert_int_equal(group_turn_length(&group), UINT64_MAX);
	group.members.count = 2;
	assert_int_equal(group_turn_length(&group), 10);
	group.members.count = 3;
	assert_int_equal(group_turn_length(&group), 2);
	/* What cannot be sampled, is gone, or has room, waits for no turn. */
	members[2].state = MEMBER_LEFT;
	assert_int_equal(group_turn_length(&group), 10);
	members[2].state = MEMBER_TRIED;
	members[2].gone = true;
	assert_int_equal(group_turn_length(&group), 10);
	members[2].gone = false;
	members[2].over_limit = false;
	assert_int_equal(group_turn_length(&group), 10);
	/* Children come in any number. */
	members[2].over_limit = true;
	members[2].found = false;
	assert_int_equal(group_turn_length(&group), 10);
}

/* The session that began first gives way once its turn is over, if anybody waits. */
static void test_turn_is_over(void **state)
{
	struct member members[] = {
		{ .state = MEMBER_PROFILED, .session = (void *)members, .began_ns = 3 },
		{ .state = MEMBER_PROFILED, .session = (void *)members, .began_ns = 7 },
		{ .state = MEMBER_TRIED, .found = true, .over_limit = true, .turn_ns = 1 },
	};
	struct group group = {
		.options = { .turn_ns = 10, .first_turn_ns = 2 },
		.members = { .items = members, .count = 2 },
	};

	(void)state;
	assert_false(group_turn_is_over(&group, 100));
	group.members.count = 3;
	assert_false(group_turn_is_over(&group, 12));
	assert_true(group_turn_is_over(&group, 13));
	/* One that was never sampled shortens it. */
	members[2].turn_ns = 0;
	assert_true(group_turn_is_over(&group, 5));
	assert_false(group_turn_is_over(&group, 4));
	members[0].session = members[1].session = NULL;
	assert_false(group_turn_is_over(&group, 100));
}

/* Those that do nothing are waited for by nobody, once they were sampled; else after all others. */
static void test_idle(void **state)
{
	struct member members[] = {
		{ .state = MEMBER_PROFILED, .found = true },
		{ .state = MEMBER_TRIED, .found = true, .over_limit = true, .idle = true },
		{ .state = MEMBER_TRIED, .found = true, .over_limit = true, .turn_ns = 7 },
	};
	struct group group = {
		.options = { .turn_ns = 10, .first_turn_ns = 2 },
		.members = { .items = members, .count = 2 },
	};

	(void)state;
	assert_int_equal(group_turn_length(&group), 2);
	assert_int_equal(group_count_idle(&group), 1);
	/* In either order. */
	group.members.count = 3;
	assert_int_equal(group_turn_length(&group), 10);
	members[1].turn_ns = 3;
	members[1].idle = false;
	members[2].turn_ns = 0;
	members[2].idle = true;
	assert_int_equal(group_turn_length(&group), 10);
	members[2].idle = false;
	assert_int_equal(group_turn_length(&group), 2);
	assert_int_equal(group_count_idle(&group), 0);
	members[1].idle = members[2].idle = true;
	members[2].turn_ns = 4;
	assert_int_equal(group_turn_length(&group), UINT64_MAX);
	assert_int_equal(group_count_idle(&group), 2);
}

static size_t choose(struct group *group)
{
	size_t chosen = group->members.count;

	for (size_t i = 0; i < group->members.count; i++) {
		struct member *member = &group->members.items[i];

		member->due = member->state == MEMBER_TRIED;
		/* A moment ago: whether it works stays as it is here. */
		member->cpu_looked_ns = 100;
	}
	group_choose_by_turn(group, 1, 100);
	for (size_t i = 0; i < group->members.count; i++)
		if (group->members.items[i].due) {
			assert_int_equal(chosen, group->members.count);
			chosen = i;
		}
	return chosen;
}

/* Who was there at first and never sampled goes first; then who has waited longest. */
static void test_choice(void **state)
{
	struct member members[] = {
		{ .turn_ns = 5, .start_time = 1 },
		{ .turn_ns = 4, .start_time = 2 },
		{ .start_time = 3 },
		{ .start_time = 4 },
		{ .start_time = 5 },
		{ .start_time = 1, .idle = true },
	};
	const size_t expected[] = { 2, 3, 4, 1, 0, 5 };
	struct group group = {
		.options = { .turn_ns = 10 },
		.members = { .items = members, .count = sizeof(members) / sizeof(members[0]) },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		assert_int_equal(choose(&group), expected[i]);
		assert_false(members[expected[i]].over_limit);
		members[expected[i]].state = MEMBER_PROFILED;
	}
	assert_int_equal(choose(&group), group.members.count);
}

/* The newest goes before all while newcomers may; otherwise each waits from when it was found. */
static void test_newcomers_choice(void **state)
{
	struct member members[] = {
		{ .turn_ns = 5, .start_time = 1 },
		{ .start_time = 2 },
		{ .newcomer = true, .turn_ns = 4, .start_time = 8 },
		{ .newcomer = true, .turn_ns = 6, .start_time = 9 },
		{ .newcomer = true, .turn_ns = 7, .start_time = 10 },
	};
	const size_t first[] = { 4, 3 }, later[] = { 1, 2, 0 };
	struct group group = {
		.room.newcomers = true,
		.options = { .turn_ns = 10 },
		.members = { .items = members, .count = sizeof(members) / sizeof(members[0]) },
	};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(choose(&group), first[i]);
		assert_true(members[first[i]].before_others);
		members[first[i]].state = MEMBER_PROFILED;
	}
	group.room.newcomers = false;
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(choose(&group), later[i]);
		assert_false(members[later[i]].before_others);
		members[later[i]].state = MEMBER_PROFILED;
	}
}

/* A place more where no turn is over, for one that is there; those that are gone leave none. */
static void test_newcomers_place(void **state)
{
	struct member members[] = {
		{ .state = MEMBER_PROFILED, .session = (void *)members },
		{ .pid = 0x3ffff000, .start_time = 5 },
		{ .pid = getpid() },
	};
	struct group group = {
		.room = { .sessions = 1, .newcomers = true },
		.options = { .turn_ns = UINT64_MAX, .first_turn_ns = UINT64_MAX },
		.members = { .items = members, .count = 2 },
	};

	(void)state;
	assert_int_equal(member_init(&members[2], getpid(), 0, 1), 0);
	for (size_t i = 1; i < 3; i++) {
		members[i].state = MEMBER_TRIED;
		members[i].newcomer = members[i].over_limit = members[i].found = true;
	}
	members[0].began_ns = NS_PER_SECOND;
	group_take_turns(&group, 2 * NS_PER_SECOND);
	assert_int_equal(group_sessions_max(&group), 1);
	assert_true(members[1].gone);
	group.members.count = 3;
	members[2].next_try_ns = 3 * NS_PER_SECOND;
	group_take_turns(&group, 2 * NS_PER_SECOND);
	assert_int_equal(group_sessions_max(&group), 1);
	group_take_turns(&group, 3 * NS_PER_SECOND);
	assert_int_equal(group_sessions_max(&group), 2);
	/* Within what there may be at all. */
	group.options.sessions_max = 1;
	assert_int_equal(group_sessions_max(&group), 1);
	group.options.sessions_max = 0;
	/* Not while there is a place. */
	group.room.sessions = 3;
	group_take_turns(&group, 3 * NS_PER_SECOND);
	assert_int_equal(group_sessions_max(&group), 3);
	group.room = (struct group_room){ .sessions = 1 };
	group_take_turns(&group, 3 * NS_PER_SECOND);
	assert_int_equal(group_sessions_max(&group), 1);
}

/* What has hardly run is given a second. */
static void test_newcomers_begin(void **state)
{
	struct member member = { .pid = fork(), .newcomer = true, .turn_ns = NS_PER_SECOND };

	(void)state;
	assert_true(member.pid >= 0);
	if (!member.pid)
		for (;;)
			pause();
	assert_true(group_newcomer_begins(&member, NS_PER_SECOND));
	assert_true(group_newcomer_begins(&member, 2 * NS_PER_SECOND - 1));
	assert_false(group_newcomer_begins(&member, 2 * NS_PER_SECOND));
	member.newcomer = false;
	assert_false(group_newcomer_begins(&member, NS_PER_SECOND));
	kill(member.pid, SIGKILL);
	assert_int_equal(waitpid(member.pid, NULL, 0), member.pid);
	member = (struct member){ .pid = getpid(), .newcomer = true, .turn_ns = NS_PER_SECOND };
	while (member_cpu_ns(&member) < 5 * NS_PER_MS)
		;
	assert_false(group_newcomer_begins(&member, NS_PER_SECOND));
}

/* From the start of the process to its first session. */
static void test_newcomers_wait(void **state)
{
	struct group group = { .sessions = 0 };
	struct member member = { .start_time = 0 };

	(void)state;
	group_meet_found(&member, true);
	group_meet_found(&member, false);
	assert_true(member.found);
	assert_false(member.newcomer);
	group_end_wait(&group, &member);
	assert_int_equal(group.waits.sum_ns, 0);
	member = (struct member){ .start_time = 0 };
	group_meet_found(&member, false);
	assert_true(member.newcomer);
	assert_true(member.turn_ns > 0);
	group_end_wait(&group, &member);
	/* Once. */
	group_end_wait(&group, &member);
	assert_false(member.newcomer);
	/* It seems to have begun with the machine. */
	for (size_t i = 0; i < NEWCOMER_WAITS - 1; i++)
		assert_int_equal(group.waits.counts[i], 0);
	assert_int_equal(group.waits.counts[NEWCOMER_WAITS - 1], 1);
	assert_true(group.waits.sum_ns > 0);
	assert_int_equal(member_init(&member, getpid(), 0, 1), 0);
	group_meet_found(&member, false);
	group_end_wait(&group, &member);
	assert_int_equal(group.waits.counts[NEWCOMER_WAITS - 1], 1);
}

/* One that begins to work is known soon. */
static void test_who_works(void **state)
{
	struct member members[] = { { .pid = getpid() }, { .pid = getpid() } };
	struct group group = { .members = { .items = members, .count = 2 } };

	(void)state;
	members[0].due = members[1].due = true;
	/* More than it can have used. */
	members[1].cpu_ns = UINT64_MAX;
	assert_true(member_cpu_ns(&members[0]) > 0);
	group_choose_by_turn(&group, 2, 3600 * NS_PER_SECOND);
	assert_false(members[0].idle);
	assert_false(members[1].idle);
	/* Ended: nothing can come of it. */
	members[0] = (struct member){ .pid = 0x3ffff000, .due = true, .state = MEMBER_TRIED };
	group_choose_by_turn(&group, 0, 3600 * NS_PER_SECOND);
	assert_true(members[0].idle);
	assert_true(members[0].over_limit);
	assert_int_equal(group_count_idle(&group), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_too_many_members), cmocka_unit_test(test_turn_length),
		cmocka_unit_test(test_turn_is_over),     cmocka_unit_test(test_idle),
		cmocka_unit_test(test_choice),           cmocka_unit_test(test_newcomers_choice),
		cmocka_unit_test(test_newcomers_begin),  cmocka_unit_test(test_newcomers_place),
		cmocka_unit_test(test_newcomers_wait),   cmocka_unit_test(test_who_works),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
