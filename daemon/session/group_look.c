/* SPDX-License-Identifier: Apache-2.0 */
/* Which processes a group has, and what becomes of each of them. */
#include "daemon/session/group.h"

#include "attach/children.h"
#include "common/clock.h"
#include "daemon/session/group_parts.h"

#include <stdlib.h>
#include <unistd.h>

/* Opening sessions may take longer than the caller's thread should be away. */
#define LOOK_LIMIT_NS (250 * NS_PER_MS)
/* New processes are looked for, whatever that costs: several times a second. */
#define NEWCOMERS_LATE_NS (300 * NS_PER_MS)
/* Rounds through all members until each is looked at as if nothing was known of it. */
#define THOROUGH_ROUNDS 32
/* The kernel gives out no greater ones. */
#define PIDS_MAX (1 << 22)
/* Of processes that the watch found: they may be refused for ever. */
#define REFUSALS_TOLD_MAX 3
/* What seems to be no interpreter: pauses between tries, as multiples of what the last one took. */
#define TRY_COSTS 4

void group_count_unseen(struct group *group, const struct member *member, uint64_t forks)
{
	if (forks > member->children_seen)
		group->losses.counts[LOSS_PROCESS_UNSEEN] += forks - member->children_seen;
}

/* It is finished. */
static void give_up_session(struct group *group, struct member *member)
{
	const struct group_observer *observer = group->options.observer;

	if (observer) {
		observer->session_ends(observer->context, member->session);
		session_destroy(member->session);
	} else if (group->sessions == 1) {
		group->kept = member->session;
	} else {
		group_merge_session(group, member->session);
	}
	member->session = NULL;
	member->profiled_before = true;
}

static void group_end_session(struct group *group, struct member *member,
			      const struct session_progress *progress)
{
	session_finish(member->session);
	group_count_unseen(group, member, progress->forks);
	give_up_session(group, member);
	if (progress->end == PROCESS_REPLACED &&
	    (group->options.follow || member->pid == group->command)) {
		group_try_again(group, member);
		return;
	}
	member->gone = true;
	if (member->pid == group->command && progress->end != PROCESS_REPLACED &&
	    progress->end_seen) {
		group->command_ended = true;
		group->command_end = progress->end;
		group->command_status = progress->end_status;
	}
}

void group_renew(struct group *group, struct session *session)
{
	for (size_t i = 0; i < group->members.count; i++) {
		struct member *member = &group->members.items[i];
		struct session_progress progress;

		if (member->session != session)
			continue;
		session_finish(session);
		progress = session_progress(session);
		if (progress.end != PROCESS_RUNNING) {
			group_end_session(group, member, &progress);
			return;
		}
		give_up_session(group, member);
		group_try_again(group, member);
		member->renewed = true;
		return;
	}
}

void group_check_member(struct group *group, struct member *member)
{
	if (!member_is_alive(member)) {
		member->gone = true;
		if (member->state == MEMBER_TRIED && !member->given && !member->profiled_before)
			group->losses.counts[LOSS_PROCESS_UNSEEN]++;
	} else if (member->state != MEMBER_PROFILED && member_runs_another_program(member)) {
		if (member->state == MEMBER_LEFT)
			group->losses.counts[member->refusal]--;
		group_try_again(group, member);
	}
}

static void check_sessions(struct group *group)
{
	for (size_t i = 0; i < group->members.count; i++) {
		struct member *member = &group->members.items[i];
		struct session_progress progress;

		if (!member->session)
			continue;
		progress = session_progress(member->session);
		if (!progress.running)
			group_end_session(group, member, &progress);
	}
}

/* Counts each process once, however often it is met. */
static void group_leave_out(struct group *group, pid_t pid)
{
	unsigned char *byte, bit = (unsigned char)(1u << pid % 8);

	if (!group->left_out) {
		group->left_out = calloc(PIDS_MAX / 8, 1);
		group_add_note(group, "too many processes: new ones are left out\n");
	}
	if (!group->left_out || pid >= PIDS_MAX)
		return;
	byte = &group->left_out[pid / 8];
	group->losses.counts[LOSS_PROCESS_REFUSED] += !(*byte & bit);
	*byte |= bit;
}

struct member *group_add_member(struct group *group, pid_t pid, pid_t parent)
{
	struct member member;

	/* A member may have started us itself. */
	if (pid == getpid())
		return NULL;
	if (member_init(&member, pid, parent, GROUP_TRY_NS))
		return NULL;
	if (group->members.count < GROUP_WATCHED_MAX)
		return member_table_add(&group->members, &member);
	group_leave_out(group, pid);
	return NULL;
}

/* Returns how many. */
static size_t add_children(struct group *group, pid_t pid)
{
	size_t added = 0;

	if (children_read(pid, &group->found))
		return 0;
	for (size_t i = 0; i < group->found.count; i++)
		if (!member_table_find(&group->members, group->found.items[i]))
			added += group_add_member(group, group->found.items[i], pid) != NULL;
	return added;
}

void group_add_children(struct group *group, pid_t pid)
{
	(void)add_children(group, pid);
}

static void look_for_children_of(struct group *group, size_t index)
{
	size_t added = add_children(group, group->members.items[index].pid);

	group->members.items[index].children_seen += added;
	group->members.items[index].children_known = true;
}

static void meet_newcomer(void *context, const struct newcomer *newcomer)
{
	struct group *group = context;
	struct member *known = member_table_find(&group->members, newcomer->pid);
	struct member *parent;

	/* Its number may be another process's by now. */
	if (known && !known->session)
		group_check_member(group, known);
	if (known && !known->gone)
		return;
	parent = member_table_find(&group->members, newcomer->parent);
	if (!parent || !group_add_member(group, newcomer->pid, newcomer->parent))
		return;
	/* It may have moved. */
	member_table_find(&group->members, newcomer->parent)->children_seen++;
}

/* Every child is met as it comes, at a cost that does not grow with the number of members. */
static void find_newcomers(struct group *group, uint64_t now_ns)
{
	/* In debt, as seldom as finding all of them within a second allows. */
	if (!group->newcomers.open ||
	    (group->budget.left_ns < 0 && now_ns - group->newcomers_ns < NEWCOMERS_LATE_NS))
		return;
	group->newcomers_ns = now_ns;
	if (newcomers_look(&group->newcomers, meet_newcomer, group))
		newcomers_close(&group->newcomers);
}

/* Once for each member: those that it had before it was known. */
static void find_first_children(struct group *group, uint64_t now_ns)
{
	for (size_t i = 0; i < group->members.count; i++) {
		if (group->members.items[i].children_known || group->members.items[i].gone)
			continue;
		if (clock_now_ns() - now_ns > LOOK_LIMIT_NS)
			return;
		look_for_children_of(group, i);
	}
}

static void look_at_member(struct group *group, size_t index)
{
	struct member *member = &group->members.items[index];
	/* By one system call; its number may be another process's all the same. */
	bool thorough = group->rounds % THOROUGH_ROUNDS == 0;

	if (!member->session && !member->gone && (thorough || !member_seems_same(member)))
		group_check_member(group, member);
	if (group->options.follow && !member->gone && (thorough || !group->newcomers.open))
		look_for_children_of(group, index);
}

/* One member after another, each once at most, as long as the budget lasts. */
static void look_at_members(struct group *group)
{
	uint64_t began_ns = clock_thread_cpu_ns();

	for (size_t left = group->members.count; left && group->budget.left_ns > 0; left--) {
		uint64_t now_ns;

		if (group->next_checked >= group->members.count) {
			group->next_checked = 0;
			group->rounds++;
		}
		look_at_member(group, group->next_checked++);
		now_ns = clock_thread_cpu_ns();
		look_budget_spend(&group->budget, now_ns - began_ns);
		began_ns = now_ns;
	}
}

void group_find_children(struct group *group)
{
	/* Those found now are not looked at. */
	size_t known = group->members.count;

	if (group->newcomers.open && !newcomers_look(&group->newcomers, meet_newcomer, group))
		return;
	for (size_t i = 0; i < known; i++)
		if (!group->members.items[i].gone)
			look_for_children_of(group, i);
}

/* What a member has become is looked at as the member's. */
static bool is_member(const void *context, pid_t pid)
{
	const struct group *group = context;
	const struct member *member = member_table_find(&group->members, pid);

	return member && member->found;
}

static void find_others(struct group *group)
{
	bool first = !group->options.watch->searched;

	group->options.watch->query.is_known = is_member;
	group->options.watch->query.context = group;
	process_watch_look(group->options.watch, &group->found);
	for (size_t i = 0; i < group->found.count; i++) {
		struct member *member = member_table_find(&group->members, group->found.items[i]);

		if (!member)
			member = group_add_member(group, group->found.items[i], 0);
		if (member)
			group_meet_found(member, first);
	}
}

static size_t live_sessions(const struct group *group)
{
	size_t count = 0;

	for (size_t i = 0; i < group->members.count; i++)
		count += group->members.items[i].session != NULL;
	return count;
}

static void leave_alone(struct group *group, struct member *member, enum loss refusal)
{
	member->state = MEMBER_LEFT;
	member->refusal = refusal;
	group->losses.counts[refusal]++;
}

void group_refuse(struct group *group, struct member *member, const struct error *error,
		  uint64_t now_ns)
{
	enum loss refusal =
		error->exit_code == EXIT_NO_TARGET || error->exit_code == EXIT_UNSUPPORTED_PYTHON
			? LOSS_PROCESS_NOT_PYTHON
			: LOSS_PROCESS_REFUSED;

	/* Nothing will change that, and the user wants to know. */
	if ((member->given || member->found) && !member->renewed &&
	    refusal == LOSS_PROCESS_REFUSED) {
		if (group->refusals_told++ < REFUSALS_TOLD_MAX)
			group_note_error(group, error);
		if (!group->refusal)
			group->refusal = error->exit_code;
		leave_alone(group, member, refusal);
		return;
	}
	/* One that was profiled a moment ago may only seem to be traced by somebody else. */
	if (now_ns >= member->give_up_ns && !member->renewed) {
		leave_alone(group, member, refusal);
		return;
	}
	member->refusal = refusal;
	member_try_later(member, now_ns);
}

void group_put_off(struct member *member, uint64_t began_ns)
{
	uint64_t now_ns = clock_now_ns(), until_ns = now_ns + TRY_COSTS * (now_ns - began_ns);

	if (!member->seems_python && member->next_try_ns < until_ns)
		member->next_try_ns = until_ns;
}

static void try_member(struct group *group, size_t index, uint64_t now_ns)
{
	struct member *member = &group->members.items[index];
	struct error error;

	if (group_open_session(group, member, false, &error)) {
		group_refuse(group, member, &error, now_ns);
		group_put_off(member, now_ns);
		return;
	}
	/* Once: what is limited is so for those that come later, too. */
	if (!group->limits_told && session_notes(member->session)[0]) {
		group_add_note(group, session_notes(member->session));
		group->limits_told = true;
	}
	if (group_start_session(group, index, &error))
		group_refuse(group, &group->members.items[index], &error, now_ns);
}

/* Threads of other sessions go on meanwhile: they take little. */
static void try_and_charge(struct group *group, size_t index, uint64_t now_ns)
{
	uint64_t began_ns = clock_read_ns(CLOCK_PROCESS_CPUTIME_ID), cost_ns;
	bool before_others = group->members.items[index].before_others;

	try_member(group, index, now_ns);
	cost_ns = clock_read_ns(CLOCK_PROCESS_CPUTIME_ID) - began_ns;
	if (before_others)
		group->costs.newcomers_ns += cost_ns;
	else
		group->costs.others_ns += cost_ns;
}

/* It waits for another one's end, and is counted as left out until then. */
static bool has_no_room(struct member *member, bool room, uint64_t now_ns)
{
	member->over_limit = !room;
	if (room)
		return false;
	member->refusal = LOSS_PROCESS_REFUSED;
	member->next_try_ns = now_ns + MEMBER_LONGEST_PAUSE_NS;
	return true;
}

/* Those whose turn it is; without room for their sessions, they wait for another one's end. */
static void choose_due(struct group *group, size_t room, uint64_t now_ns)
{
	for (size_t i = 0; i < group->members.count; i++) {
		struct member *member = &group->members.items[i];

		member->due = false;
		if (member->state != MEMBER_TRIED || member->gone || member->next_try_ns > now_ns)
			continue;
		/* Found a moment ago: it may be about to call exec. */
		if (member->looks++ == 0 && !member->given)
			continue;
		if (group_newcomer_begins(member, now_ns))
			continue;
		if (!group->options.turn_ns && has_no_room(member, room > 0, now_ns))
			continue;
		member->due = true;
	}
	if (group->options.turn_ns)
		group_choose_by_turn(group, room, now_ns);
	for (size_t i = 0; i < group->members.count; i++)
		if (group->members.items[i].due)
			group->members.items[i].seems_python =
				process_seems_python(group->members.items[i].pid);
}

/* Returns whether there was time for all of them. */
static bool try_due(struct group *group, bool python, uint64_t began_ns)
{
	/* Those found meanwhile are not due. */
	size_t known = group->members.count, live = live_sessions(group);

	for (size_t i = 0; i < known; i++) {
		struct member *member = &group->members.items[i];
		uint64_t now_ns;

		if (!member->due || member->seems_python != python)
			continue;
		now_ns = clock_now_ns();
		if (now_ns - began_ns > LOOK_LIMIT_NS)
			return false;
		if (has_no_room(member, live < group_sessions_max(group), now_ns))
			continue;
		/* It may have ended, or run another program, since its turn. */
		group_check_member(group, member);
		if (member->gone)
			continue;
		try_and_charge(group, i, now_ns);
		live += group->members.items[i].session != NULL;
	}
	return true;
}

/* Interpreters first: of what is something else, a launcher above all, it takes long to tell. */
static void try_members(struct group *group)
{
	uint64_t began_ns = clock_now_ns();
	size_t live = live_sessions(group), max = group_sessions_max(group);

	choose_due(group, live < max ? max - live : 0, began_ns);
	if (try_due(group, true, began_ns))
		(void)try_due(group, false, began_ns);
}

/* Only searching is charged to the look budget, not attaching. */
static void find_members(struct group *group)
{
	uint64_t began_ns = clock_thread_cpu_ns(), now_ns = clock_now_ns();

	look_budget_earn(&group->budget, now_ns);
	find_newcomers(group, now_ns);
	look_budget_spend(&group->budget, clock_thread_cpu_ns() - began_ns);
	look_at_members(group);
	if (group->options.follow)
		find_first_children(group, now_ns);
	if (group->options.watch)
		find_others(group);
}

uint64_t group_look(struct group *group)
{
	uint64_t look_ns = GROUP_LOOK_NS;

	check_sessions(group);
	group_take_turns(group, clock_now_ns());
	find_members(group);
	try_members(group);
	member_table_remove_gone(&group->members);
	for (size_t i = 0; i < group->members.count; i++)
		if (group->members.items[i].state == MEMBER_TRIED &&
		    group->members.items[i].given &&
		    group->members.items[i].pause_ns < MEMBER_LONGEST_PAUSE_NS)
			look_ns = MEMBER_COMMAND_LOOK_NS;
	return look_ns;
}
