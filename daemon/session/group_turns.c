/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns, where more processes are to be sampled than may be at a time (group_options.turn_ns): who
 * has been sampled for so long gives way as soon as another one waits, and of those that wait the
 * one goes first that has waited longest; who was there at first and was never sampled, before all
 * others. So of N processes each gets the same part of the time, and none is left out. While there
 * is one that was never sampled, turns are shorter, so that all are seen once before long. Where
 * the next turn has to wait for its budget, the session whose turn is over rests.
 *
 * A newcomer, which was found later, goes before all these while group_room.newcomers lets it: the
 * newest first, as it may be gone soon. Without a session whose turn is over it has a place of its
 * own. When they are too many for that, each waits like the others, from when it was found. On a
 * machine that is overloaded it may take long to begin: an attach to what then calls exec, or is
 * no interpreter yet, would be for nothing.
 *
 * What has used no CPU time since its last turn, or since the first search, is idle: there is
 * nothing to sample, and an attach costs the same. It comes after all that have worked, ends
 * nobody's turn once it was sampled, and is counted (group_progress.idle). One system call tells.
 */
#include "common/clock.h"
#include "daemon/session/group.h"
#include "daemon/session/group_parts.h"

#include <time.h>
#include <unistd.h>

/* How soon one that begins to work is known. */
#define IDLE_LOOK_NS (5 * NS_PER_SECOND)

/* An interpreter takes twice as much to begin; one that was forked is given so long. */
#define BEGIN_CPU_NS (5 * NS_PER_MS)
#define BEGIN_NS     NS_PER_SECOND

const unsigned newcomer_wait_bounds_s[NEWCOMER_WAITS - 1] = { 1, 2, 5, 10, 30, 60 };

void group_set_room(struct group *group, const struct group_room *room)
{
	group->room = *room;
}

struct group_costs group_take_costs(struct group *group)
{
	struct group_costs costs = group->costs;

	group->costs = (struct group_costs){ 0 };
	return costs;
}

void group_meet_found(struct member *member, bool first)
{
	if (!member->found && !first) {
		member->newcomer = true;
		member->turn_ns = clock_now_ns();
	}
	member->found = true;
}

bool group_newcomer_begins(const struct member *member, uint64_t now_ns)
{
	return member->newcomer && now_ns < member->turn_ns + BEGIN_NS &&
	       member_cpu_ns(member) < BEGIN_CPU_NS;
}

void group_end_wait(struct group *group, struct member *member)
{
	uint64_t ticks = (uint64_t)sysconf(_SC_CLK_TCK);
	uint64_t began_ns = member->start_time * (NS_PER_SECOND / ticks);
	uint64_t now_ns = clock_read_ns(CLOCK_BOOTTIME), waited_ns;
	size_t i = 0;

	member->before_others = false;
	if (!member->newcomer)
		return;
	member->newcomer = false;
	/* In steps of a tick. */
	waited_ns = now_ns > began_ns ? now_ns - began_ns : 0;
	while (i < NEWCOMER_WAITS - 1 && waited_ns > newcomer_wait_bounds_s[i] * NS_PER_SECOND)
		i++;
	group->waits.counts[i]++;
	group->waits.sum_ns += waited_ns;
}

static bool waits(const struct member *member)
{
	return member->state == MEMBER_TRIED && !member->gone && member->over_limit;
}

/* One that waits, as far as it has done anything, or was never sampled. */
static bool wants_turn(const struct member *member)
{
	return waits(member) && (!member->idle || !member->turn_ns);
}

static bool was_never_sampled(const struct member *member)
{
	return member->found && (member->newcomer || !member->turn_ns);
}

/* Of those that may be tried, the one that came last; NULL: none. */
static struct member *newest(struct group *group, bool due, uint64_t now_ns)
{
	struct member *found = NULL;

	for (size_t i = 0; i < group->members.count; i++) {
		struct member *member = &group->members.items[i];
		bool ready = due ? member->due : waits(member) && member->next_try_ns <= now_ns;

		if (ready && member->newcomer && !member->gone && !member->chosen &&
		    (!found || member->start_time > found->start_time))
			found = member;
	}
	return found;
}

/* Nobody gives way to what has ended. */
static bool newcomer_waits(struct group *group, uint64_t now_ns)
{
	struct member *member;

	if (!group->room.newcomers)
		return false;
	while ((member = newest(group, false, now_ns)) != NULL) {
		group_check_member(group, member);
		if (!member->gone)
			break;
	}
	return member != NULL;
}

size_t group_count_idle(const struct group *group)
{
	size_t count = 0;

	for (size_t i = 0; i < group->members.count; i++)
		count += waits(&group->members.items[i]) && group->members.items[i].idle;
	return count;
}

/* Of those that are due, which have worked. */
static void look_who_works(struct group *group, uint64_t now_ns)
{
	for (size_t i = 0; i < group->members.count; i++) {
		struct member *member = &group->members.items[i];

		if (!member->due || now_ns - member->cpu_looked_ns < IDLE_LOOK_NS)
			continue;
		member->cpu_looked_ns = now_ns;
		member->idle = member_cpu_ns(member) == member->cpu_ns;
	}
}

/* Of those with a session, the one that began first; NULL: none. */
static struct member *longest_sampled(struct group *group, size_t *ret_live)
{
	struct member *found = NULL;

	*ret_live = 0;
	for (size_t i = 0; i < group->members.count; i++) {
		struct member *member = &group->members.items[i];

		if (!member->session)
			continue;
		++*ret_live;
		if (!found || member->began_ns < found->began_ns)
			found = member;
	}
	return found;
}

uint64_t group_turn_length(const struct group *group)
{
	uint64_t length_ns = UINT64_MAX;
	bool works = false;

	for (size_t i = 0; i < group->members.count; i++) {
		const struct member *member = &group->members.items[i];
		bool first = was_never_sampled(member);

		if (!wants_turn(member) || (works && member->idle))
			continue;
		if (first && !member->idle)
			return group->options.first_turn_ns;
		/* The first that works: those that do not come after it. */
		if (!works && !member->idle)
			length_ns = UINT64_MAX;
		works = works || !member->idle;
		if (first)
			length_ns = group->options.first_turn_ns;
		else if (length_ns == UINT64_MAX)
			length_ns = group->options.turn_ns;
	}
	return length_ns;
}

bool group_turn_is_over(struct group *group, uint64_t now_ns)
{
	size_t live;
	const struct member *member = longest_sampled(group, &live);

	return member && group->options.turn_ns &&
	       now_ns - member->began_ns >= group_turn_length(group);
}

/*
 * A turn that is over while the next one may not begin yet: the session stays, as whoever asks is
 * to find one, but samples no more, so that what it would use is there for the next one sooner.
 */
static void rest_after_turn(struct group *group, uint64_t now_ns)
{
	uint64_t length_ns = group_turn_length(group);

	for (size_t i = 0; i < group->members.count; i++) {
		struct member *member = &group->members.items[i];
		bool over = member->session && now_ns - member->began_ns >= length_ns;

		if (!member->session || over == member->resting)
			continue;
		if (over)
			session_pause(member->session);
		else
			session_resume(member->session);
		member->resting = over;
	}
}

/* One in a look: the cost of an attach is to be known before the next one. */
void group_take_turns(struct group *group, uint64_t now_ns)
{
	struct member *member;
	size_t live, max;
	bool newcomer;

	group->guest = false;
	if (!group->options.turn_ns)
		return;
	max = group_sessions_max(group);
	newcomer = newcomer_waits(group, now_ns);
	member = longest_sampled(group, &live);
	if (!member)
		return;
	if (live <= max && ((!group->room.turns && !newcomer) ||
			    now_ns - member->began_ns < group_turn_length(group))) {
		group->guest = newcomer && live == max;
		rest_after_turn(group, now_ns);
		return;
	}
	member->turn_ns = member->cpu_looked_ns = now_ns;
	member->cpu_ns = member_cpu_ns(member);
	member->idle = true;
	group_renew(group, member->session);
}

/* Puts the one that has waited longest before the others of the due; those that do nothing last. */
static bool goes_first(const struct member *a, const struct member *b)
{
	if (a->idle != b->idle)
		return b->idle;
	if (a->turn_ns != b->turn_ns)
		return a->turn_ns < b->turn_ns;
	return a->start_time < b->start_time;
}

void group_choose_by_turn(struct group *group, size_t room, uint64_t now_ns)
{
	struct member *newcomer =
		room && group->room.newcomers ? newest(group, true, now_ns) : NULL;

	look_who_works(group, now_ns);
	for (size_t left = room; left; left--) {
		struct member *chosen = newcomer;

		for (size_t i = 0; !newcomer && i < group->members.count; i++) {
			struct member *member = &group->members.items[i];

			if (member->due && !member->chosen &&
			    (!chosen || goes_first(member, chosen)))
				chosen = member;
		}
		if (!chosen)
			break;
		chosen->before_others = newcomer != NULL;
		chosen->chosen = true;
		newcomer = NULL;
	}
	for (size_t i = 0; i < group->members.count; i++) {
		struct member *member = &group->members.items[i];

		member->over_limit = member->due && !member->chosen;
		if (member->over_limit)
			member->refusal = LOSS_PROCESS_REFUSED;
		member->due = member->chosen;
		member->chosen = false;
	}
}
