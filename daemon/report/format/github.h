/* SPDX-License-Identifier: Apache-2.0 */
/* Workflow commands of GitHub's runners, one by one. */
#ifndef PIEPROFD_DAEMON_REPORT_FORMAT_GITHUB_H
#define PIEPROFD_DAEMON_REPORT_FORMAT_GITHUB_H

#include "daemon/report/model/finding.h"

#include <stdio.h>

struct github_note {
	const char *sentence; /* said first, ours; NULL: none */
	bool mild;            /* a notice, however sure it is */
};

/* root: of the paths in it; NULL: none. 0 or -ENOMEM. */
__attribute__((warn_unused_result)) int github_put_finding(FILE *file,
							   const struct finding *finding,
							   const struct github_note *note,
							   const char *root);

/* That shares are rough, where there are few samples. 0 or -ENOMEM. */
__attribute__((warn_unused_result)) int github_put_roughness(FILE *file,
							     const struct profile *profile);

/* Of no line. 0 or -ENOMEM. */
__attribute__((warn_unused_result)) int github_put_notice(FILE *file, const char *words);

#endif
