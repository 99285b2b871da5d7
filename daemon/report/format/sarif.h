/* SPDX-License-Identifier: Apache-2.0 */
/* SARIF of findings that somebody else has chosen: what changed between two profiles. */
#ifndef PIEPROFD_DAEMON_REPORT_FORMAT_SARIF_H
#define PIEPROFD_DAEMON_REPORT_FORMAT_SARIF_H

#include "daemon/report/format/writer.h"
#include "daemon/report/model/finding.h"

/* Of two profiles. */
#define SARIF_RESULTS_MAX (2 * FINDINGS_MAX)

struct sarif_result {
	/* The finding, in the list that its profile has: of those alike it tells which one it is.
	 */
	const struct finding *findings;
	size_t index;
	/* NULL: it is compared with nothing, and what follows is not written. */
	const char *baseline_state; /* "new", "unchanged", "updated", "absent" */
	const char *change, *sentence;
	bool by_chance;
	double share_before, share_now;
};

/* At most SARIF_RESULTS_MAX of them. 0 or a negative errno. */
__attribute__((warn_unused_result)) int sarif_write_results(const struct profile *profile,
							    const struct sarif_result *results,
							    size_t count,
							    const struct writer_options *options,
							    FILE *file);

#endif
