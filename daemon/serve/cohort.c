/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sampler of several processes: the group (daemon/session/group.h) finds them and has
 * a session for each, which has a slot here. A process that ends leaves its
 * counters, and its part in the windows that are open then; these go on. Sessions
 * rotate one at a time, so that not all processes are attached to in one moment.
 */
#include "attach/clock_hub.h"
#include "attach/procfs.h"
#include "common/clock.h"
#include "daemon/serve/sampler.h"
#include "daemon/serve/sampler_parts.h"
#include "daemon/session/look_budget.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Of the share, for looking for processes: what is left is for sampling them. */
#define SEARCH_PART 0.1
/* The same among so many processes that new ones would be found late. */
#define SEARCH_PART_MOST 0.5

/* Of the share, for looking whether processes that wait are still what they were. */
#define LOOK_PART 0.05
/* Rings hold some 70 samples, and an idle process may begin to work. */
#define IDLE_TICK_PERIODS 20

static void note_begin(void *context, struct session *session)
{
	struct sampler *sampler = context;

	for (size_t i = 0; i < SAMPLER_SESSIONS_MAX; i++)
		if (!sampler->slots[i].session) {
			slot_begin(sampler, i, session);
			return;
		}
}

static void note_end(void *context, struct session *session)
{
	struct sampler *sampler = context;

	for (size_t i = 0; i < SAMPLER_SESSIONS_MAX; i++)
		if (sampler->slots[i].session == session) {
			slot_end(sampler, i);
			sampler->trim = true;
		}
}

static uint64_t start_time(pid_t pid)
{
	struct process_times times;

	return procfs_read_times(pid, 0, &times) ? 0 : times.start_time;
}

/*
 * At first those given; later those of them that are still there. A search finds
 * them anew; a number alone may have become another process's.
 */
static int choose_pids(struct sampler *sampler, struct pid_list *pids)
{
	const struct sampler_options *options = &sampler->options;
	bool again = sampler->began_before;

	if (again && options->query) {
		/* The group finds later what is not there now. */
		if (process_search(options->query, pids, NULL))
			pids->count = 0;
		return 0;
	}
	if (!sampler->start_times)
		sampler->start_times =
			calloc(options->pid_count + 1, sizeof(*sampler->start_times));
	if (!sampler->start_times)
		return -1;
	for (size_t i = 0; i < options->pid_count; i++) {
		uint64_t now = start_time(options->pids[i]);

		if (!again)
			sampler->start_times[i] = now;
		/* group_create() reports pids that never existed. */
		if ((!again || (now && now == sampler->start_times[i])) &&
		    pid_list_add(pids, options->pids[i]))
			return -1;
	}
	return 0;
}

/* Of the group, into all. */
static void add_newcomers(const struct sampler *sampler, struct newcomer_waits *waits)
{
	struct newcomer_waits more = group_progress(sampler->group).newcomers;

	for (size_t i = 0; i < NEWCOMER_WAITS; i++)
		waits->counts[i] += more.counts[i];
	waits->sum_ns += more.sum_ns;
}

static void drop_group(struct sampler *sampler)
{
	if (!sampler->group)
		return;
	sampler->refused = cohort_losses(sampler);
	add_newcomers(sampler, &sampler->newcomers);
	for (size_t i = 0; i < SAMPLER_SESSIONS_MAX; i++)
		slot_end(sampler, i);
	group_destroy(sampler->group);
	sampler->group = NULL;
}

/* 0, or -1 with *error filled, and no group then. */
static int open_group(struct sampler *sampler, const pid_t *pids, size_t count, struct error *error)
{
	struct group_options options = {
		.session = sampler->options.session,
		.pids = pids,
		.pid_count = count,
		.follow = sampler->options.follow,
		.watch = sampler->options.query ? &sampler->watch : NULL,
		.wait = sampler->options.wait,
		.observer = &sampler->observer,
		.sessions_max = SAMPLER_SESSIONS_MAX,
		.sessions_first = sampler->options.node_share > 0 ? 1 : 0,
		.turn_ns = sampler->options.node_share > 0 ? SAMPLER_TURN_NS : 0,
		.first_turn_ns = SAMPLER_FIRST_TURN_NS,
	};
	double cpus; /* that the daemon may use; 0: not limited */

	drop_group(sampler);
	if (!sampler->budget.processors) {
		long processors = sysconf(_SC_NPROCESSORS_ONLN);

		sampler->budget.share = sampler->options.node_share;
		sampler->budget.processors = processors > 0 ? (unsigned)processors : 1;
	}
	sampler->observer = (struct group_observer){ note_begin, note_end, sampler };
	cpus = sampler->budget.share * sampler->budget.processors;
	if (cpus > 0) {
		options.session.idle_tick_ns = IDLE_TICK_PERIODS * options.session.period_ns;
		if (LOOK_PART * cpus * LOOK_BUDGET_PART < 1)
			options.look_part = (uint64_t)(1 / (LOOK_PART * cpus));
	}
	process_watch_deinit(&sampler->watch);
	if (sampler->options.query)
		sampler->watch = (struct process_watch){
			.query = *sampler->options.query,
			.share = SEARCH_PART * cpus,
			.share_most = SEARCH_PART_MOST * cpus,
		};
	sampler->group = group_create(&options, error);
	if (!sampler->group)
		return -1;
	if (!group_start(sampler->group, error))
		return 0;
	group_finish(sampler->group);
	drop_group(sampler);
	return -1;
}

/* Windows end only with all that is sampled. */
static void cohort_judge(struct sampler *sampler)
{
	struct group_progress progress = group_progress(sampler->group);

	if (progress.running) {
		/* Between two turns there is none for a moment. */
		sampler_set_state(sampler, progress.processes || progress.over_limit
						   ? SAMPLER_RUNNING
						   : SAMPLER_WAITING);
		return;
	}
	group_finish(sampler->group);
	sampler_set_state(sampler, SAMPLER_ENDED);
	windows_end(sampler);
}

int cohort_begin(struct sampler *sampler, struct error *error)
{
	struct pid_list pids = { 0 };
	int result = -1;

	if (choose_pids(sampler, &pids)) {
		error_set(error, EXIT_INTERNAL, "out of memory");
	} else if (!pids.count && !sampler->options.query) {
		error_set(error, EXIT_NO_TARGET, "the processes have ended");
		sampler_set_state(sampler, SAMPLER_ENDED);
	} else {
		result = open_group(sampler, pids.items, pids.count, error);
	}
	pid_list_deinit(&pids);
	if (result)
		return -1;
	sampler->began_before = true;
	/* Turns end and begin. */
	clock_hub_hold();
	cohort_judge(sampler);
	return 0;
}

void cohort_stop(struct sampler *sampler)
{
	/* The sessions can be read until another start. */
	group_finish(sampler->group);
	clock_hub_release();
	sampler_set_state(sampler, SAMPLER_STOPPED);
	for (size_t i = 0; i < WINDOWS_MAX; i++)
		if (sampler->windows[i])
			window_keep_parts(sampler->windows[i]);
	windows_end(sampler);
}

void cohort_copy_notes(struct sampler *sampler, char *notes, size_t size)
{
	char *text = sampler->group ? group_take_notes(sampler->group) : NULL;

	snprintf(notes, size, "%s", text ? text : "");
	free(text);
}

/* One at a time: an attach takes a while. */
static void cohort_rotate(struct sampler *sampler, uint64_t now_ns)
{
	for (size_t i = 0; i < SAMPLER_SESSIONS_MAX; i++) {
		struct slot *slot = &sampler->slots[i];

		if (!slot->session || !session_progress(slot->session).running ||
		    !slot_is_due(sampler, slot, now_ns))
			continue;
		sampler->rotations++;
		group_renew(sampler->group, slot->session);
		return;
	}
}

/* Of the machine's CPU time. */
static void cohort_keep_share(struct sampler *sampler, uint64_t now_ns)
{
	double second_ns = sampler->budget.share * sampler->budget.processors * NS_PER_SECOND;
	size_t live = 0, room;
	struct group_costs costs = group_take_costs(sampler->group);

	if (sampler->options.node_share <= 0)
		return;
	node_budget_charge(&sampler->budget, costs.newcomers_ns, costs.others_ns);
	for (size_t i = 0; i < SAMPLER_SESSIONS_MAX; i++)
		live += sampler->slots[i].session != NULL;
	room = node_budget_room(&sampler->budget, now_ns, clock_read_ns(CLOCK_PROCESS_CPUTIME_ID),
				live, SAMPLER_SESSIONS_MAX);
	/* The little that is left is for the next one's turn: a session more would use it up as it
	 * sits. */
	if (room > live && (double)sampler->budget.left_ns < second_ns &&
	    group_turn_is_over(sampler->group, now_ns))
		room = live;
	group_set_room(sampler->group,
		       &(struct group_room){
			       .sessions = room,
			       .turns = sampler->budget.left_ns >= 0,
			       .newcomers = node_budget_has_credit(&sampler->budget),
		       });
}

void cohort_poll(struct sampler *sampler, uint64_t now_ns, char *notice, size_t size)
{
	enum sampler_state state = sampler_state(sampler);
	size_t length;

	if (state != SAMPLER_RUNNING && state != SAMPLER_WAITING)
		return;
	cohort_keep_share(sampler, now_ns);
	cohort_rotate(sampler, now_ns);
	(void)group_look(sampler->group);
	cohort_judge(sampler);
	/* Otherwise the heap keeps what the sessions had. */
	if (sampler->trim)
		malloc_trim(0);
	sampler->trim = false;
	cohort_copy_notes(sampler, notice, size);
	length = strlen(notice);
	if (length && notice[length - 1] == '\n')
		notice[length - 1] = '\0';
}

void cohort_count(const struct sampler *sampler, struct sampler_counters *counters)
{
	struct group_progress progress;

	counters->takes_turns = sampler->options.node_share > 0;
	counters->newcomers = sampler->newcomers;
	counters->budget_ns = sampler->budget.left_ns;
	if (!sampler->group)
		return;
	progress = group_progress(sampler->group);
	counters->processes_over_limit = progress.over_limit;
	counters->processes_idle = progress.idle;
	add_newcomers(sampler, &counters->newcomers);
}

struct losses cohort_losses(const struct sampler *sampler)
{
	struct losses losses = sampler->refused, more;

	if (!sampler->group)
		return losses;
	more = group_losses(sampler->group);
	for (size_t i = 0; i < LOSS_COUNT; i++)
		losses.counts[i] += more.counts[i];
	return losses;
}

void cohort_destroy(struct sampler *sampler)
{
	if (sampler->group)
		group_finish(sampler->group);
	drop_group(sampler);
	clock_hub_release();
	process_watch_deinit(&sampler->watch);
	free(sampler->start_times);
}
