/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/session/group.h"

#include "attach/children.h"
#include "attach/preflight.h"
#include "common/clock.h"
#include "daemon/session/descendants.h"
#include "daemon/session/group_parts.h"
#include "daemon/session/process_search.h"

#include <errno.h>
#include <stdlib.h>

void group_add_note(struct group *group, const char *text)
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

size_t group_sessions_max(const struct group *group)
{
	size_t max = group->options.sessions_max ? group->options.sessions_max : GROUP_SESSIONS_MAX;

	if (group->room.sessions && group->room.sessions + group->guest < max)
		return group->room.sessions + group->guest;
	return max;
}

void group_note_error(struct group *group, const struct error *error)
{
	group_add_note(group, error->cause);
	group_add_note(group, "\n");
	if (error->cure[0]) {
		group_add_note(group, "  ");
		group_add_note(group, error->cure);
		group_add_note(group, "\n");
	}
}

int group_open_session(struct group *group, struct member *member, bool lenient,
		       struct error *error)
{
	struct session_options options = group->options.session;

	options.pid = member->pid;
	options.python_required = options.python_required || !lenient;
	options.count_forks = group->options.follow;
	member->session = session_create(&options, error);
	return member->session ? 0 : -1;
}

/* The end of a session: what it found is kept without it. */
void group_merge_session(struct group *group, struct session *session)
{
	struct profile *profile = session_profile_for_merge(session, PIEPROFD_VERSION);

	if (!group->merged)
		group->merged = profile_merge_create();
	if (!profile || !group->merged || profile_merge_add(group->merged, profile))
		group_add_note(group, "out of memory: the profile of a process is incomplete\n");
	group->merged_samples += session_progress(session).samples;
	profile_destroy(profile);
	session_destroy(session);
}

int group_start_session(struct group *group, size_t index, struct error *error)
{
	struct member *member;

	/* Those it has now are not counted among the forks that its session will see. */
	if (group->options.follow)
		group_add_children(group, group->members.items[index].pid);
	member = &group->members.items[index];
	if (session_start(member->session, error)) {
		session_destroy(member->session);
		member->session = NULL;
		return -1;
	}
	if (group->kept) {
		group_merge_session(group, group->kept);
		group->kept = NULL;
	}
	group->degraded = group->degraded || session_is_degraded(member->session);
	member->children_seen = 0;
	member->state = MEMBER_PROFILED;
	member->began_ns = clock_now_ns();
	member->renewed = false;
	member->resting = false;
	group_end_wait(group, member);
	group->sessions++;
	if (group->options.observer)
		group->options.observer->session_began(group->options.observer->context,
						       member->session);
	return 0;
}

void group_try_again(const struct group *group, struct member *member)
{
	/* What was started here has no time limit. */
	member_try_again(member, member->pid == group->command ? UINT64_MAX : GROUP_TRY_NS);
}

/*
 * A shell that started the interpreter is a good target when its children are followed;
 * so is another user's launcher of processes of ours.
 */
static bool is_good_parent(struct group *group, struct member *member, const struct error *error)
{
	if (!group->options.follow)
		return false;
	if (error->exit_code == EXIT_NO_TARGET)
		return !children_read(member->pid, &group->found) && group->found.count;
	if (error->exit_code != EXIT_PERMISSION ||
	    descendants_read_python(member->pid, &group->found) || !group->found.count)
		return false;
	group_refuse(group, member, error, clock_now_ns());
	return true;
}

/* Of those that the user named. A launcher is not searched again before its children are tried. */
static int open_given(struct group *group, struct member *member, struct error *error)
{
	uint64_t began_ns = clock_now_ns();

	if (!group_open_session(group, member, true, error))
		return 0;
	if (!is_good_parent(group, member, error))
		return -1;
	member->seems_python = process_seems_python(member->pid);
	group_put_off(member, began_ns);
	return 0;
}

/*
 * Those that the search has found: each may have ended since, or be refused, as
 * long as one is left. -1 with *error filled when all are refused.
 */
static int open_found(struct group *group, const struct group_options *options, struct error *error)
{
	struct error first = { 0 };
	size_t opened = 0;

	for (size_t i = 0; i < options->pid_count; i++) {
		struct member *member = group_add_member(group, options->pids[i], 0);
		struct error why;

		if (!member)
			continue;
		member->found = true;
		/* What it did before is nobody's to see; of later ones, all that they do counts. */
		member->cpu_ns = member_cpu_ns(member);
		/* Those that come when another one goes. */
		if (opened >= group_sessions_max(group))
			continue;
		if (!group_open_session(group, member, true, &why)) {
			group_add_note(group, session_notes(member->session));
			group->limits_told = true;
			opened++;
		} else if (why.exit_code != EXIT_NO_TARGET) {
			if (!first.exit_code)
				first = why;
			group_refuse(group, member, &why, clock_now_ns());
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
	group->room.sessions = options->sessions_first;
	group->room.turns = true;
	group->budget.part = options->look_part;
	/* Before any child is looked for. Else they are found by their parents, more slowly. */
	if (options->follow)
		(void)!newcomers_open(&group->newcomers);
	if (options->started_here && options->pid_count)
		group->command = options->pids[0];
	if (options->watch) {
		if (open_found(group, options, error))
			goto fail;
		return group;
	}
	for (size_t i = 0; i < options->pid_count; i++) {
		pid_t pid = options->pids[i];
		struct member *member = group_add_member(group, pid, 0);

		if (!member) {
			preflight_explain_seize(pid, -ESRCH, error);
			goto fail;
		}
		member->given = true;
		if (options->started_here)
			group_try_again(group, member);
		else if (i >= group_sessions_max(group))
			continue;
		else if (open_given(group, member, error))
			goto fail;
		if (member->session) {
			group_add_note(group, session_notes(member->session));
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
	for (size_t i = 0; i < group->members.count; i++)
		session_destroy(group->members.items[i].session);
	session_destroy(group->kept);
	profile_merge_destroy(group->merged);
	profile_merge_destroy(group->shown);
	member_table_deinit(&group->members);
	pid_list_deinit(&group->found);
	newcomers_close(&group->newcomers);
	free(group->left_out);
	free(group->notes);
	free(group);
}

int group_start(struct group *group, struct error *error)
{
	size_t given = group->members.count;

	group->started = true;
	for (size_t i = 0; i < given; i++)
		if (group->members.items[i].session && group_start_session(group, i, error))
			return -1;
	return 0;
}

struct group_progress group_progress(struct group *group)
{
	struct group_progress progress = { .samples = group->merged_samples,
					   .idle = group_count_idle(group),
					   .newcomers = group->waits };

	if (group->kept)
		progress.samples += session_progress(group->kept).samples;
	for (size_t i = 0; i < group->members.count; i++) {
		const struct member *member = &group->members.items[i];

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

struct losses group_losses(const struct group *group)
{
	return group->losses;
}

void group_describe(const struct group *group, FILE *file)
{
	for (size_t i = 0; i < group->members.count; i++)
		if (group->members.items[i].session)
			session_describe(group->members.items[i].session, file);
}

void group_let_go(struct group *group)
{
	for (size_t i = 0; i < group->members.count; i++)
		if (group->members.items[i].session)
			session_let_go(group->members.items[i].session);
	group->finished = true;
}

void group_finish(struct group *group)
{
	if (!group->started || group->finished)
		return;
	group->finished = true;
	if (group->options.follow)
		group_find_children(group);
	for (size_t i = 0; i < group->members.count; i++)
		if (group->members.items[i].session)
			session_ask_finish(group->members.items[i].session);
	for (size_t i = 0; i < group->members.count; i++) {
		struct member *member = &group->members.items[i];

		if (member->session) {
			struct session_progress progress;

			session_finish(member->session);
			progress = session_progress(member->session);
			group_count_unseen(group, member, progress.forks);
			if (member->pid == group->command && progress.end_seen &&
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
	for (size_t i = 0; i < group->members.count; i++)
		if (group->members.items[i].session)
			return group->members.items[i].session;
	return NULL;
}

static int add_live(struct group *group, struct profile_merge *merge)
{
	int result = 0;

	for (size_t i = 0; i < group->members.count && !result; i++) {
		struct session *session = group->members.items[i].session;
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
