/* SPDX-License-Identifier: Apache-2.0 */
/* What group.c, sessions and their profiles, and group_look.c, which processes there are, share. */
#ifndef PIEPROFD_DAEMON_SESSION_GROUP_PARTS_H
#define PIEPROFD_DAEMON_SESSION_GROUP_PARTS_H

#include "attach/newcomers.h"
#include "daemon/report/merge/profile_merge.h"
#include "daemon/session/group_options.h"
#include "daemon/session/group_room.h"
#include "daemon/session/look_budget.h"
#include "daemon/session/member_table.h"

struct group {
	struct group_options options;
	struct member_table members;
	struct session *kept;         /* ended, and the only one so far: not merged */
	struct profile_merge *merged; /* of ended sessions; NULL: none yet */
	struct profile_merge *shown;  /* behind the last group_profile() */
	struct group_room room;       /* group_set_room(); no sessions: no other limit */
	bool guest;                   /* in this look there is a place more, for a newcomer */
	struct group_costs costs;     /* since they were last taken */
	struct newcomer_waits waits;  /* of those that had a turn */
	size_t sessions;              /* ever started */
	uint64_t merged_samples;
	struct losses losses;
	char *notes;
	struct pid_list found; /* scratch */
	struct newcomers newcomers;
	struct look_budget budget;
	uint64_t newcomers_ns; /* when they were last looked for */
	size_t next_checked;   /* the member whose turn it is, in rounds */
	unsigned rounds;
	unsigned char *left_out; /* a bit for each pid there was no room for; NULL: none */
	bool started, finished, degraded, limits_told;
	unsigned refusals_told;
	enum exit_code refusal;
	pid_t command; /* 0: none was started here */
	bool command_ended;
	enum process_end command_end;
	int command_status;
};

void group_add_note(struct group *group, const char *text);
void group_note_error(struct group *group, const struct error *error);
size_t group_sessions_max(const struct group *group);

/* group_turns.c. How long a turn is now; UINT64_MAX: nobody waits for one. */
uint64_t group_turn_length(const struct group *group);
/* Ends the sessions whose turn is over. */
void group_take_turns(struct group *group, uint64_t now_ns);
/* Of those that are due, so many stay it: a newcomer, while these go first, and those that have
 * waited longest. */
void group_choose_by_turn(struct group *group, size_t room, uint64_t now_ns);
/* The watch has found it: at first, or as a newcomer. */
void group_meet_found(struct member *member, bool first);
/* A newcomer that is hardly more than a fork: it may be about to call exec, or no interpreter yet.
 */
bool group_newcomer_begins(const struct member *member, uint64_t now_ns);
/* It has a session. */
void group_end_wait(struct group *group, struct member *member);
/* Of those that wait, how many do nothing. */
size_t group_count_idle(const struct group *group);

/* It has no session: whether it has ended, or runs another program. */
void group_check_member(struct group *group, struct member *member);
/* NULL: it is gone, or there is no memory or room. May move all members. */
struct member *group_add_member(struct group *group, pid_t pid, pid_t parent);
/* Those that a process has now, as far as they are not known. */
void group_add_children(struct group *group, pid_t pid);
/* The same, of all members: until then they have been found by looking now and then. */
void group_find_children(struct group *group);

int group_open_session(struct group *group, struct member *member, bool lenient,
		       struct error *error);
int group_start_session(struct group *group, size_t index, struct error *error);
/* The end of a session: what it found is kept without it. */
void group_merge_session(struct group *group, struct session *session);
void group_try_again(const struct group *group, struct member *member);
void group_refuse(struct group *group, struct member *member, const struct error *error,
		  uint64_t now_ns);
/*
 * It was no interpreter, if it does not seem one: to search all the data of all the libraries
 * of an mpirun takes longer than to open the ranks that it has started. began_ns: of that search.
 */
void group_put_off(struct member *member, uint64_t began_ns);
/* Forks that no look has found: they came and went. */
void group_count_unseen(struct group *group, const struct member *member, uint64_t forks);

#endif
