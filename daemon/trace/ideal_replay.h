/* SPDX-License-Identifier: Apache-2.0 */
/* Plays a trace again in which messages take no time (ideal_run.h). Pure. */
#ifndef PIEPROFD_DAEMON_TRACE_IDEAL_REPLAY_H
#define PIEPROFD_DAEMON_TRACE_IDEAL_REPLAY_H

#include "daemon/trace/ideal_run.h"
#include "daemon/trace/trace_analysis.h"

#include <stdbool.h>

static inline bool ideal_is_in_window(const struct trace_analysis *analysis,
				      const struct trace_event *event)
{
	return event->end_ns > analysis->begin_ns && event->begin_ns < analysis->end_ns;
}

/* It went on when the time was over: nothing is waited for. */
static inline bool ideal_is_cut(const struct trace_analysis *analysis,
				const struct trace_event *call)
{
	return call->end_ns >= analysis->end_ns;
}

/* The operations' calls are sorted by process and event. Sets state, count and ns. 0 or -ENOMEM. */
__attribute__((warn_unused_result)) int ideal_replay(struct ideal_run *ideal,
						     const struct trace_analysis *analysis);

#endif
