/* SPDX-License-Identifier: Apache-2.0 */
/* What all lines of a profile together could save. */
#ifndef PIEPROFD_DAEMON_REPORT_MODEL_AVOIDABLE_SUM_H
#define PIEPROFD_DAEMON_REPORT_MODEL_AVOIDABLE_SUM_H

#include "daemon/detect/interval.h"
#include "daemon/report/model/profile.h"

struct avoidable_sum {
	double ns;
	struct interval interval; /* 95%, likewise; lines are off independently of each other */
};

struct avoidable_sum avoidable_sum_of(const struct profile *profile);

#endif
