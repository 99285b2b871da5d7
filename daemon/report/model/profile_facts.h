/* SPDX-License-Identifier: Apache-2.0 */
/* What a profile keeps of the facts it is built with. */
#ifndef PIEPROFD_DAEMON_REPORT_MODEL_PROFILE_FACTS_H
#define PIEPROFD_DAEMON_REPORT_MODEL_PROFILE_FACTS_H

#include "daemon/report/model/owned_profile.h"

/*
 * The facts' own strings belong to the session; the profile may outlive it.
 * Threads come sorted, those without time left out. 0 or -ENOMEM.
 */
__attribute__((warn_unused_result)) int profile_facts_copy(struct owned_profile *owned,
							   const struct profile_facts *facts);

/* What was resident over time, in the profile's own memory. NULL: out of memory. */
const struct resident_point *profile_facts_copy_points(struct owned_profile *owned,
						       const struct resident_figures *resident);

/* By time, then pid, then tid; for qsort. */
int profile_thread_compare(const void *left, const void *right);

/*
 * How often samples were taken, a second of CPU time, where the limit of the overhead has made
 * that less than was asked for; 0: it has not, or there are too few samples to tell.
 */
double profile_slowed_hz(const struct profile *profile);

/* Behind the number of samples: " (fewer than 100: shares are rough)", or nothing. */
const char *profile_roughness(const struct profile_facts *facts);

#endif
