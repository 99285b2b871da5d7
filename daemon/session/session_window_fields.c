/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/session/session_window_fields.h"

#include "daemon/report/model/profile.h"

static const struct window_field thread_fields[] = {
	WINDOW_FIELD(profile_thread, pid, WINDOW_SAME),
	WINDOW_FIELD(profile_thread, tid, WINDOW_SAME),
	WINDOW_FIELD(profile_thread, name, WINDOW_SAME),
	WINDOW_FIELD(profile_thread, time_ns, WINDOW_SUBTRACT),
	WINDOW_FIELD(profile_thread, side, WINDOW_SUBTRACT),
	WINDOW_FIELD(profile_thread, gil_ns, WINDOW_SUBTRACT),
	WINDOW_FIELD(profile_thread, gil_asleep_ns, WINDOW_SUBTRACT),
	WINDOW_FIELD(profile_thread, unstopped_ns, WINDOW_SUBTRACT),
};

static const struct window_field facts_fields[] = {
	WINDOW_FIELD(profile_facts, target, WINDOW_SAME),
	WINDOW_FIELD(profile_facts, version, WINDOW_SAME),
	WINDOW_FIELD(profile_facts, sampler, WINDOW_SAME),
	WINDOW_FIELD(profile_facts, sampler_limits, WINDOW_SAME),
	WINDOW_FIELD(profile_facts, deadlock, WINDOW_SAME), /* none in a window */
	WINDOW_FIELD(profile_facts, period_ns, WINDOW_SAME),
	WINDOW_FIELD(profile_facts, wanted_period_ns, WINDOW_SAME),
	WINDOW_FIELD(profile_facts, started_unix_ns, WINDOW_BY_HAND), /* the mark's moment */
	WINDOW_FIELD(profile_facts, process_started_unix_ns, WINDOW_SAME),
	WINDOW_FIELD(profile_facts, duration_ns, WINDOW_SUBTRACT),
	WINDOW_FIELD(profile_facts, samples, WINDOW_SUBTRACT),
	WINDOW_FIELD(profile_facts, losses,
		     WINDOW_BY_HAND), /* some are states, which do not only grow */
	WINDOW_FIELD(profile_facts, stops, WINDOW_BY_HAND), /* of the histograms of the window */
	WINDOW_FIELD(profile_facts, sample_stops, WINDOW_BY_HAND),
	WINDOW_FIELD(profile_facts, breakpoint_stops, WINDOW_BY_HAND),
	WINDOW_FIELD(profile_facts, stop_histograms,
		     WINDOW_SAME), /* their place; the contents by hand */
	WINDOW_FIELD(profile_facts, lost_ns, WINDOW_SUBTRACT),
	WINDOW_FIELD(profile_facts, cpu_ns, WINDOW_SUBTRACT),
	WINDOW_FIELD(profile_facts, queued_ns, WINDOW_SUBTRACT),
	WINDOW_FIELD(profile_facts, throttled_ns, WINDOW_SUBTRACT),
	WINDOW_FIELD(profile_facts, machine_idle_ns, WINDOW_SUBTRACT),
	WINDOW_FIELD(profile_facts, machine_ns, WINDOW_SUBTRACT),
	WINDOW_FIELD(profile_facts, peeks, WINDOW_SUBTRACT),
	WINDOW_FIELD(profile_facts, peeks_seen, WINDOW_SUBTRACT),
	WINDOW_FIELD(profile_facts, peeks_waited, WINDOW_SUBTRACT),
	WINDOW_FIELD(profile_facts, overhead, WINDOW_BY_HAND), /* of the above */
	WINDOW_FIELD(profile_facts, overhead_limit, WINDOW_SAME),
	WINDOW_FIELD(profile_facts, target_exited, WINDOW_SAME),
	WINDOW_FIELD(profile_facts, unfinished,
		     WINDOW_BY_HAND), /* a window has an end of its own */
	WINDOW_FIELD(profile_facts, other_root, WINDOW_SAME),
	WINDOW_FIELD(profile_facts, waits, WINDOW_SAME),
	WINDOW_FIELD(profile_facts, memory, WINDOW_SAME),
	WINDOW_FIELD(profile_facts, copies, WINDOW_SAME),
	WINDOW_FIELD(profile_facts, allocations, WINDOW_SAME),
	WINDOW_FIELD(profile_facts, malloc_unseen, WINDOW_SAME),
	WINDOW_FIELD(profile_facts, small_objects, WINDOW_SAME),
	WINDOW_FIELD(profile_facts, allocation_counts, WINDOW_SUBTRACT),
	WINDOW_FIELD(profile_facts, resident, WINDOW_SAME), /* none in a window */
	WINDOW_FIELD(profile_facts, gil_known, WINDOW_SAME),
	WINDOW_FIELD(profile_facts, native_unknown, WINDOW_SAME),
	WINDOW_FIELD(profile_facts, queued_known, WINDOW_SAME),
	WINDOW_FIELD(profile_facts, kernel_time_refused, WINDOW_SAME),
	WINDOW_FIELD(profile_facts, all_pairs, WINDOW_SAME),
	WINDOW_FIELD(profile_facts, patterns, WINDOW_SAME),
	WINDOW_FIELD(profile_facts, line_info, WINDOW_SAME),
	WINDOW_FIELD(profile_facts, arguments, WINDOW_SAME),
	WINDOW_FIELD(profile_facts, threads,
		     WINDOW_SAME), /* their place; the contents by their table */
	WINDOW_FIELD(profile_facts, thread_count, WINDOW_SAME),
	WINDOW_FIELD(profile_facts, thread_timeline, WINDOW_SAME), /* none in a window */
	WINDOW_FIELD(profile_facts, node_timeline, WINDOW_SAME),   /* likewise */
	WINDOW_FIELD(profile_facts, stacks, WINDOW_SAME),          /* as threads */
	WINDOW_FIELD(profile_facts, stack_count, WINDOW_SAME),
	WINDOW_FIELD(profile_facts, stack_timeline, WINDOW_SAME),
	WINDOW_FIELD(profile_facts, start_frames, WINDOW_SAME),
	WINDOW_FIELD(profile_facts, open_source, WINDOW_SAME),
	WINDOW_FIELD(profile_facts, open_source_context, WINDOW_SAME),
	WINDOW_FIELD(profile_facts, source_memory, WINDOW_SAME),
};

static const struct window_field stack_fields[] = {
	WINDOW_FIELD(profile_stack, thread, WINDOW_SAME),
	WINDOW_FIELD(profile_stack, node, WINDOW_SAME),
	WINDOW_FIELD(profile_stack, samples, WINDOW_SUBTRACT),
	WINDOW_FIELD(profile_stack, time_ns, WINDOW_SUBTRACT),
	WINDOW_FIELD(profile_stack, waiting_ns, WINDOW_SUBTRACT),
};

const struct window_table window_profile_stack = WINDOW_TABLE(profile_stack, stack_fields);
const struct window_table window_profile_thread = WINDOW_TABLE(profile_thread, thread_fields);
const struct window_table window_profile_facts = WINDOW_TABLE(profile_facts, facts_fields);
