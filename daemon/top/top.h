/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `pieprofd top`: a running session, shown live in the terminal.
 *
 * Two threads: the caller's draws and answers keys at once; another one takes
 * snapshots of the session and makes profiles of them, which may take longer,
 * and leaves the newest in a mailbox. A third one, where that is wanted, looks at memory.
 */
#ifndef PIEPROFD_DAEMON_TOP_TOP_H
#define PIEPROFD_DAEMON_TOP_TOP_H

#include "daemon/session/session.h"

#include <signal.h>
#include <stdbool.h>

struct top_options {
	const char *version; /* of pieprofd */
	bool colour;
	uint64_t duration_ns; /* 0: until somebody wants an end */
	/* Also which containers of this process grow (holders.h); 0: none is looked at. */
	pid_t heap_pid;
	struct impersonator *impersonator; /* borrowed, for that */
};

/* Before anything is attached; pid 0: of a command. 0, or -1 with *error filled when this is no
 * terminal for it. */
__attribute__((warn_unused_result)) int top_check_terminal(pid_t pid, struct error *error);

/*
 * Shows the session, which has been started, until a key, a signal, the time or
 * the target ends it; the terminal is then as it was before. SIGINT, SIGTERM,
 * SIGHUP and SIGWINCH must be blocked in all threads. 0 or a negative errno.
 */
__attribute__((warn_unused_result)) int top_run(struct session *session,
						const struct top_options *options);

#endif
