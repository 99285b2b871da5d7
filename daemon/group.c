/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/group.h"

#include "attach/children.h"
#include "attach/preflight.h"
#include "common/array.h"
#include "common/clock.h"
#include "daemon/group_member.h"
#include "daemon/report/profile_merge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CHILDREN_MAX 4096
/* Opening sessions may take longer than the caller's thread should be away. */
#define LOOK_BUDGET_NS (250 * NS_PER_MS)
/* Of processes that the watch found: they may be refused for ever. */
#define REFUSALS_TOLD_MAX 3

struct group {
	struct group_options options;
	struct member *members;
	size_t count, capacity;
	struct session *kept;         /* ended, and the only one so far: not merged */
	struct profile_merge *merged; /* of ended sessions; NULL: none yet */
	struct profile_merge *shown;  /* behind the last group_profile() */
	size_t sessions;              /* ever started */
	uint64_t merged_samples;
	struct losses losses;
	char *notes;
	pid_t children[CHILDREN_MAX]; /* scratch */
	bool started, finished, degraded, limits_told;
	unsigned refusals_told;
	enum exit_code refusal;
	pid_t command; /* 0: none was started here */
	bool command_ended;
	enum process_end command_end;
	int command_status;
};

static void add_note(struct group *group, const char *text)
{
	char *joined;

	if (!text[0] || asprintf(&joined, "%s%s", group->notes ? group->notes : "", text) < 0)
		return;
	free(group->notes);
	group->notes = joined;
}

char *group_take_notes(struct group *group)
{
	char *notes = group->notes;

	group->notes = NULL;
	return notes;
}

static size_t sessions_max(const struct group *group)
{
	return group->options.sessions_max ? group->options.sessions_max : GROUP_SESSIONS_MAX;
}

static void note_error(struct group *group, const struct error *error)
{
	add_note(group, error->cause);
	add_note(group, "\n");
	if (error->cure[0]) {
		add_note(group, "  ");
		add_note(group, error->cure);
		add_note(group, "\n");
	}
}

static struct member *find_member(struct group *group, pid_t pid)
{
	for (size_t i = 0; i < group->count; i++)
		if (group->members[i].pid == pid && !group->members[i].gone)
			return &group->members[i];
	return NULL;
}

/* NULL: it is gone, or there is no memory or room. */
static struct member *add_member(struct group *group, pid_t pid, pid_t parent)
{
	struct member member, *grown;

	if (member_init(&member, pid, parent, GROUP_TRY_NS))
		return NULL;
	if (group->count >= GROUP_WATCHED_MAX) {
		group->losses.counts[LOSS_PROCESS_REFUSED]++;
		return NULL;
	}
	grown = array_reserve(group->members, group->count, &group->capacity, sizeof(*grown));
	if (!grown)
		return NULL;
	group->members = grown;
	grown += group->count++;
	*grown = member;
	return grown;
}

static int open_session(struct group *group, struct member *member, bool lenient,
			struct error *error)
{
	struct session_options options = group->options.session;

	options.pid = member->pid;
	options.python_required = options.python_required || !lenient;
	options.count_forks = group->options.follow;
	member->session = session_create(&options, error);
	return member->session ? 0 : -1;
}

/* Those it has now are not counted among the forks that its session will see. */
static void note_children(struct group *group, struct member *member)
{
	pid_t pid = member->pid;
	size_t count;

	if (!group->options.follow || children_read(pid, group->children, CHILDREN_MAX, &count))
		return;
	for (size_t i = 0; i < count; i++)
		if (!find_member(group, group->children[i]))
			(void)add_member(group, group->children[i], pid);
}

/* The end of a session: what it found is kept without it. */
static void merge_session(struct group *group, struct session *session)
{
	struct profile *profile = session_profile_for_merge(session, PIEPROFD_VERSION);

	if (!group->merged)
		group->merged = profile_merge_create();
	if (!profile || !group->merged || profile_merge_add(group->merged, profile))
		add_note(group, "out of memory: the profile of a process is incomplete\n");
	group->merged_samples += session_progress(session).samples;
	profile_destroy(profile);
	session_destroy(session);
}

static int start_session(struct group *group, size_t index, struct error *error)
{
	struct member *member;

	note_children(group, &group->members[index]); /* may move members */
	member = &group->members[index];
	if (session_start(member->session, error)) {
		session_destroy(member->session);
		member->session = NULL;
		return -1;
	}
	if (group->kept) {
		merge_session(group, group->kept);
		group->kept = NULL;
	}
	group->degraded = group->degraded || session_is_degraded(member->session);
	member->children_seen = 0;
	member->state = MEMBER_PROFILED;
	member->renewed = false;
	group->sessions++;
	if (group->options.observer)
		group->options.observer->session_began(group->options.observer->context,
						       member->session);
	return 0;
}

static void try_again(const struct group *group, struct member *member)
{
	/* What was started here has no time limit. */
	member_try_again(member, member->pid == group->command ? UINT64_MAX : GROUP_TRY_NS);
}

/* A shell that started the interpreter is a good target when its children are followed. */
static bool may_have_children(struct group *group, pid_t pid)
{
	size_t count;

	return group->options.follow &&
	       !children_read(pid, group->children, CHILDREN_MAX, &count) && count;
}

static void refuse(struct group *group, struct member *member, const struct error *error,
		   uint64_t now_ns);

/*
 * Those that the search has found: each may have ended since, or be refused, as
 * long as one is left. -1 with *error filled when all are refused.
 */
static int open_found(struct group *group, const struct group_options *options, struct error *error)
{
	struct error first = { 0 };
	size_t opened = 0;

	for (size_t i = 0; i < options->pid_count; i++) {
		struct member *member = add_member(group, options->pids[i], 0);
		struct error why;

		if (!member)
			continue;
		member->found = true;
		/* Those that come when another one goes. */
		if (opened >= sessions_max(group))
			continue;
		if (!open_session(group, member, true, &why)) {
			add_note(group, session_notes(member->session));
			group->limits_told = true;
			opened++;
		} else if (why.exit_code != EXIT_NO_TARGET) {
			if (!first.exit_code)
				first = why;
			refuse(group, member, &why, clock_now_ns());
		}
	}
	if (opened || !first.exit_code)
		return 0;
	*error = first;
	return -1;
}

struct group *group_create(const struct group_options *options, struct error *error)
{
	struct group *group = calloc(1, sizeof(*group));

	if (!group) {
		error_set(error, EXIT_INTERNAL, "out of memory");
		return NULL;
	}
	group->options = *options;
	group->options.pids = NULL; /* the caller's */
	if (options->started_here && options->pid_count)
		group->command = options->pids[0];
	if (options->watch) {
		if (open_found(group, options, error))
			goto fail;
		return group;
	}
	for (size_t i = 0; i < options->pid_count; i++) {
		pid_t pid = options->pids[i];
		struct member *member = add_member(group, pid, 0);

		if (!member) {
			preflight_explain_seize(pid, -ESRCH, error);
			goto fail;
		}
		member->given = true;
		if (options->started_here)
			try_again(group, member);
		else if (i >= sessions_max(group))
			continue;
		else if (open_session(group, member, true, error) &&
			 !(error->exit_code == EXIT_NO_TARGET && may_have_children(group, pid)))
			goto fail;
		if (member->session) {
			add_note(group, session_notes(member->session));
			group->limits_told = true;
		}
	}
	return group;
fail:
	group_destroy(group);
	return NULL;
}

void group_destroy(struct group *group)
{
	if (!group)
		return;
	group_finish(group);
	for (size_t i = 0; i < group->count; i++)
		session_destroy(group->members[i].session);
	session_destroy(group->kept);
	profile_merge_destroy(group->merged);
	profile_merge_destroy(group->shown);
	free(group->members);
	free(group->notes);
	free(group);
}

int group_start(struct group *group, struct error *error)
{
	size_t given = group->count;

	group->started = true;
	for (size_t i = 0; i < given; i++)
		if (group->members[i].session && start_session(group, i, error))
			return -1;
	return 0;
}

struct group_progress group_progress(struct group *group)
{
	struct group_progress progress = { .samples = group->merged_samples };

	if (group->kept)
		progress.samples += session_progress(group->kept).samples;
	for (size_t i = 0; i < group->count; i++) {
		const struct member *member = &group->members[i];

		if (member->gone)
			continue;
		progress.over_limit += member->over_limit;
		if (member->session) {
			struct session_progress session = session_progress(member->session);

			progress.samples += session.samples;
			progress.processes += session.running;
			progress.running = progress.running || session.running;
		}
		/* Others may come of these. */
		if (group->options.follow || member->state == MEMBER_TRIED)
			progress.running = true;
	}
	if (group->options.wait)
		progress.running = true;
	return progress;
}

/* Forks that no look has found: they came and went. */
static void count_unseen(struct group *group, const struct member *member, uint64_t forks)
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
		merge_session(group, member->session);
	}
	member->session = NULL;
	member->profiled_before = true;
}

static void end_session(struct group *group, struct member *member,
			const struct session_progress *progress)
{
	session_finish(member->session);
	count_unseen(group, member, progress->forks);
	give_up_session(group, member);
	if (progress->end == PROCESS_REPLACED &&
	    (group->options.follow || member->pid == group->command)) {
		try_again(group, member);
		return;
	}
	member->gone = true;
	if (member->pid == group->command && progress->end != PROCESS_REPLACED) {
		group->command_ended = true;
		group->command_end = progress->end;
		group->command_status = progress->end_status;
	}
}

void group_renew(struct group *group, struct session *session)
{
	for (size_t i = 0; i < group->count; i++) {
		struct member *member = &group->members[i];
		struct session_progress progress;

		if (member->session != session)
			continue;
		session_finish(session);
		progress = session_progress(session);
		if (progress.end != PROCESS_RUNNING) {
			end_session(group, member, &progress);
			return;
		}
		give_up_session(group, member);
		try_again(group, member);
		member->renewed = true;
		return;
	}
}

struct losses group_losses(const struct group *group)
{
	return group->losses;
}

static void check_member(struct group *group, struct member *member)
{
	if (member->session) {
		struct session_progress progress = session_progress(member->session);

		if (!progress.running)
			end_session(group, member, &progress);
		return;
	}
	if (!member_is_alive(member)) {
		member->gone = true;
		if (member->state == MEMBER_TRIED && !member->given && !member->profiled_before)
			group->losses.counts[LOSS_PROCESS_UNSEEN]++;
	} else if (member->state != MEMBER_PROFILED && member_runs_another_program(member)) {
		if (member->state == MEMBER_LEFT)
			group->losses.counts[member->refusal]--;
		try_again(group, member);
	}
}

static void remove_gone(struct group *group)
{
	size_t kept = 0;

	for (size_t i = 0; i < group->count; i++)
		if (!group->members[i].gone)
			group->members[kept++] = group->members[i];
	group->count = kept;
}

static void find_children(struct group *group)
{
	/* Those found now are looked at the next time. */
	size_t known = group->count;

	for (size_t i = 0; i < known; i++) {
		pid_t pid = group->members[i].pid;
		size_t count;

		if (group->members[i].gone ||
		    children_read(pid, group->children, CHILDREN_MAX, &count))
			continue;
		for (size_t k = 0; k < count; k++)
			if (!find_member(group, group->children[k]) &&
			    add_member(group, group->children[k], pid))
				group->members[i].children_seen++;
	}
}

static void find_others(struct group *group)
{
	size_t count = process_watch_look(group->options.watch, group->children, CHILDREN_MAX);

	for (size_t i = 0; i < count; i++) {
		struct member *member = find_member(group, group->children[i]);

		if (!member)
			member = add_member(group, group->children[i], 0);
		if (member)
			member->found = true;
	}
}

static size_t live_sessions(const struct group *group)
{
	size_t count = 0;

	for (size_t i = 0; i < group->count; i++)
		count += group->members[i].session != NULL;
	return count;
}

static void leave_alone(struct group *group, struct member *member, enum loss refusal)
{
	member->state = MEMBER_LEFT;
	member->refusal = refusal;
	group->losses.counts[refusal]++;
}

static void refuse(struct group *group, struct member *member, const struct error *error,
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
			note_error(group, error);
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

static void try_member(struct group *group, size_t index, uint64_t now_ns)
{
	struct member *member = &group->members[index];
	struct error error;

	member->over_limit = live_sessions(group) >= sessions_max(group);
	if (member->over_limit) {
		member->refusal = LOSS_PROCESS_REFUSED;
		member->next_try_ns = now_ns + MEMBER_LONGEST_PAUSE_NS;
		return;
	}
	if (open_session(group, member, false, &error)) {
		refuse(group, member, &error, now_ns);
		return;
	}
	/* Once: what is limited is so for those that come later, too. */
	if (!group->limits_told && session_notes(member->session)[0]) {
		add_note(group, session_notes(member->session));
		group->limits_told = true;
	}
	if (start_session(group, index, &error))
		refuse(group, &group->members[index], &error, now_ns);
}

static void try_members(struct group *group)
{
	uint64_t began_ns = clock_now_ns();
	size_t known = group->count;

	for (size_t i = 0; i < known; i++) {
		struct member *member = &group->members[i];
		uint64_t now_ns = clock_now_ns();

		if (now_ns - began_ns > LOOK_BUDGET_NS)
			return;
		if (member->state != MEMBER_TRIED || member->gone || member->next_try_ns > now_ns)
			continue;
		/* Found a moment ago: it may be about to call exec. */
		if (member->looks++ == 0 && !member->given)
			continue;
		try_member(group, i, now_ns);
	}
}

uint64_t group_look(struct group *group)
{
	uint64_t look_ns = GROUP_LOOK_NS;

	for (size_t i = 0; i < group->count; i++)
		check_member(group, &group->members[i]);
	if (group->options.follow)
		find_children(group);
	if (group->options.watch)
		find_others(group);
	try_members(group);
	remove_gone(group);
	for (size_t i = 0; i < group->count; i++)
		if (group->members[i].state == MEMBER_TRIED && group->members[i].given &&
		    group->members[i].pause_ns < MEMBER_LONGEST_PAUSE_NS)
			look_ns = MEMBER_COMMAND_LOOK_NS;
	return look_ns;
}

void group_describe(const struct group *group, FILE *file)
{
	for (size_t i = 0; i < group->count; i++)
		if (group->members[i].session)
			session_describe(group->members[i].session, file);
}

void group_let_go(struct group *group)
{
	for (size_t i = 0; i < group->count; i++)
		if (group->members[i].session)
			session_let_go(group->members[i].session);
	group->finished = true;
}

void group_finish(struct group *group)
{
	if (!group->started || group->finished)
		return;
	group->finished = true;
	if (group->options.follow)
		find_children(group);
	for (size_t i = 0; i < group->count; i++)
		if (group->members[i].session)
			session_ask_finish(group->members[i].session);
	for (size_t i = 0; i < group->count; i++) {
		struct member *member = &group->members[i];

		if (member->session) {
			struct session_progress progress;

			session_finish(member->session);
			progress = session_progress(member->session);
			count_unseen(group, member, progress.forks);
			if (member->pid == group->command &&
			    (progress.end == PROCESS_EXITED || progress.end == PROCESS_KILLED)) {
				group->command_ended = true;
				group->command_end = progress.end;
				group->command_status = progress.end_status;
			}
		} else if (member->state == MEMBER_TRIED && !member->given &&
			   !member->profiled_before) {
			group->losses.counts[member_is_alive(member) ? member->refusal
								     : LOSS_PROCESS_UNSEEN]++;
		}
	}
}

bool group_is_empty(const struct group *group)
{
	return !group->sessions;
}

bool group_is_degraded(const struct group *group)
{
	return group->degraded;
}

enum exit_code group_refusal(const struct group *group)
{
	return group->refusal;
}

bool group_command_end(const struct group *group, enum process_end *ret_end, int *ret_status)
{
	if (!group->command_ended)
		return false;
	*ret_end = group->command_end;
	*ret_status = group->command_status;
	return true;
}

static struct session *only_session(struct group *group)
{
	if (group->kept)
		return group->kept;
	for (size_t i = 0; i < group->count; i++)
		if (group->members[i].session)
			return group->members[i].session;
	return NULL;
}

static int add_live(struct group *group, struct profile_merge *merge)
{
	int result = 0;

	for (size_t i = 0; i < group->count && !result; i++) {
		struct session *session = group->members[i].session;
		struct profile *profile;

		if (!session)
			continue;
		session_pause(session);
		profile = session_profile_for_merge(session, PIEPROFD_VERSION);
		session_resume(session);
		result = profile ? profile_merge_add(merge, profile) : -ENOMEM;
		profile_destroy(profile);
	}
	return result;
}

static struct profile *merge_all(struct group *group)
{
	struct profile *merged;
	int result = 0;

	profile_merge_destroy(group->shown);
	group->shown = profile_merge_create();
	if (!group->shown)
		return NULL;
	if (group->merged) {
		merged = profile_merge_build(group->merged, true);
		result = merged ? profile_merge_add(group->shown, merged) : -ENOMEM;
		profile_destroy(merged);
	}
	if (result || add_live(group, group->shown))
		return NULL;
	return profile_merge_build(group->shown, false);
}

struct profile *group_profile(struct group *group)
{
	struct session *session = only_session(group);
	struct profile *profile;

	if (group->sessions != 1) {
		profile = merge_all(group);
	} else {
		session_pause(session);
		profile = session_profile(session, PIEPROFD_VERSION);
		session_resume(session);
	}
	for (size_t i = 0; profile && i < LOSS_COUNT; i++)
		profile->facts.losses.counts[i] += group->losses.counts[i];
	return profile;
}
