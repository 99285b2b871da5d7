/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One process of a group (group.h): which one it is, how it stands with its
 * session, and when it is tried next. By its start time it is told apart from
 * another process that gets its number later, by its program from what it runs
 * after an exec.
 *
 * Looks at /proc alone; the group makes and ends the sessions.
 */
#ifndef PIEPROFD_DAEMON_SESSION_GROUP_MEMBER_H
#define PIEPROFD_DAEMON_SESSION_GROUP_MEMBER_H

#include "daemon/capture/loss.h"
#include "daemon/session/session.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* A started command is tried soon and often: every moment until then is missed. */
#define MEMBER_COMMAND_LOOK_NS  (5 * 1000000ull)
#define MEMBER_LONGEST_PAUSE_NS (1000 * 1000000ull)

enum member_state {
	MEMBER_TRIED,    /* not yet known whether it can be profiled */
	MEMBER_PROFILED, /* has a session, which may have ended */
	MEMBER_LEFT,     /* not profiled; looked at for children and exec */
};

struct member {
	pid_t pid;
	uint64_t start_time; /* with the pid, what tells processes apart */
	pid_t parent;
	enum member_state state;
	struct session *session; /* the group's to destroy */
	bool given;              /* by the user, not found */
	bool found;              /* by the watch, not as a child */
	bool gone;               /* to be removed */
	bool profiled_before;    /* it has had a session that ended */
	bool children_known;     /* those it had before it was known have been looked for */
	bool renewed;            /* its session gave way to one that is still to come */
	bool over_limit;         /* has no session, as there are too many */
	uint64_t began_ns;       /* its session */
	bool resting;            /* it samples no more, its turn being over */
	bool newcomer;           /* it came, or was found, after the first search; had no turn */
	bool before_others;      /* it is tried before its time, as a newcomer */
	/* When its last turn ended, or a newcomer was found; 0: it had none, and was there at first
	 * (group_turns.c). */
	uint64_t turn_ns;
	uint64_t cpu_ns;        /* of the process, when its last turn ended, or it was found */
	uint64_t cpu_looked_ns; /* when that was last compared with what it has used */
	bool idle;              /* no difference */
	bool chosen;            /* of those that are due, by turn */
	bool due;               /* is to be tried in this look */
	bool seems_python;      /* by its look, when it was last due */
	unsigned looks;         /* that found it waiting to be tried */
	dev_t device;           /* of the program it runs */
	ino_t inode;
	uint64_t next_try_ns, give_up_ns, pause_ns;
	uint64_t children_seen; /* since the session began */
	enum loss refusal;      /* counted, should it stay so */
};

/* To be tried, for try_ns at most. 0; a negative errno: it is gone, or a child that has ended. */
__attribute__((warn_unused_result)) int member_init(struct member *member, pid_t pid, pid_t parent,
						    uint64_t try_ns);

/* From now on, for so long at most; UINT64_MAX: until it succeeds. Whatever it runs is its program.
 */
void member_try_again(struct member *member, uint64_t try_ns);
/* It could not be profiled: not before a while, which gets longer each time. */
void member_try_later(struct member *member, uint64_t now_ns);

/* Whether the process is there, and the same. */
bool member_is_alive(const struct member *member);
/* CPU time that it has used so far; 0: it is gone. */
uint64_t member_cpu_ns(const struct member *member);
/* There is a process, by its look the same: not certain, but one system call. */
bool member_seems_same(const struct member *member);
/* Another one than when it was last tried anew; false also when that cannot be told. */
bool member_runs_another_program(const struct member *member);

#endif
