/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of a line's memory accesses, added up. */
#ifndef PIEPROFD_DAEMON_REPORT_MODEL_LINE_EVIDENCE_H
#define PIEPROFD_DAEMON_REPORT_MODEL_LINE_EVIDENCE_H

#include "daemon/cct/access_kind.h"
#include "daemon/cct/time_class.h"
#include "daemon/report/model/argument_evidence.h"
#include "daemon/report/model/category.h"

#include <stdint.h>

struct access_counts {
	uint64_t sampled;
	uint64_t reaccessed;
	uint64_t redundant; /* exact */
	uint64_t approximate;
};

/* What a line's category and avoidable time are founded on, besides its counts; all can be added
 * up. */
struct line_evidence {
	uint64_t charged_ns[TIME_CLASS_COUNT];
	uint64_t support[CATEGORY_SUPPORTED_COUNT]; /* redundant accesses that speak for each */
	uint64_t redundant_by_memory[MEMORY_CLASS_COUNT];
	uint64_t repeated;     /* of them, those that a loop repeats (line_stats.h) */
	uint64_t call_samples; /* native calls whose rest was measured */
	/* So often the logarithm of what they say of the calls' duration (line_estimate.h). */
	uint64_t call_log_sum;
	/* Made again from the very same instruction. */
	uint64_t site_loads, site_loads_redundant;
	uint64_t site_stores, site_stores_redundant;
	/* Of these stores, those whose operands seem unchanged (detect/avoidable.h). */
	uint64_t again, again_redundant;
	/* Loads of what such calls had changed, and of them: in the end it was as before. */
	uint64_t again_loads, again_loads_redundant;
	/* Stores with a later one, and of them those by calls of which some were made again. */
	uint64_t stores, again_stores;
	struct argument_evidence arguments;
};

#endif
