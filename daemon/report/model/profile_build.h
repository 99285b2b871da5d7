/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A profile from the calling context tree and the pair table. Equal input gives an
 * equal profile, in the same order: nothing is sorted by pointer.
 */
#ifndef PIEPROFD_DAEMON_REPORT_MODEL_PROFILE_BUILD_H
#define PIEPROFD_DAEMON_REPORT_MODEL_PROFILE_BUILD_H

#include "daemon/cct/pair_table.h"
#include "daemon/report/model/profile.h"
#include "symbolize/symbol.h"

/*
 * NULL: out of memory. cct, pairs and symbolizer must outlive the profile;
 * symbolizer may be NULL, then native functions have no names. The strings of
 * facts are copied, open_source is called only here.
 */
struct profile *profile_build(const struct cct *cct, const struct pair_table *pairs,
			      struct symbolizer *symbolizer, const struct profile_facts *facts);

#endif
