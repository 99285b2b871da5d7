/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cli/session_settings.h"

#include "common/clock.h"

#define WATCH_TIMEOUT_NS (1 * NS_PER_SECOND)

struct session_options session_settings(const struct options *options)
{
	return (struct session_options){
		.pid = options->pid,
		.engine = options->engine,
		.period_ns = (uint64_t)(1e9 / options->rate_hz),
		.waits = options->waits,
		.memory = options->memory,
		.allocations = options->allocations,
		.loads = options->loads,
		.stores = options->stores,
		.breakpoints_required = options->redundancy_required,
		.max_overhead = options->max_overhead,
		.stop_signal = options->stop_signal,
		.timeout_ns = WATCH_TIMEOUT_NS,
		.patterns = &options->patterns,
		.native_lines = options->native_lines,
		.start_frames = options->start_frames,
		.no_kernel_frames = options->no_kernel_frames,
		.no_source = options->no_source,
		.download = options->debuginfod,
	};
}
