/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether the source text that a report shows is what the process ran: a file
 * that was modified after the process had started may be newer than the code,
 * and a recording may be read when the file has changed again.
 */
#ifndef PIEPROFD_DAEMON_REPORT_MODEL_PROFILE_SOURCES_H
#define PIEPROFD_DAEMON_REPORT_MODEL_PROFILE_SOURCES_H

#include "daemon/report/model/arena.h"
#include "daemon/report/model/profile.h"
#include "daemon/report/model/source.h"

/* The files that the cache could read, with their texts, into profile->sources. 0 or -ENOMEM. */
__attribute__((warn_unused_result)) int profile_sources_collect(struct profile *profile,
								struct source_cache *cache,
								struct arena *arena);

/*
 * Sets differs_now of files that lie here under the same path with other
 * contents; those that do not, or cannot be read, say nothing. 0 or -ENOMEM.
 */
__attribute__((warn_unused_result)) int profile_sources_compare(struct profile *profile,
								struct arena *arena);

/*
 * For people: a sentence about the files of either kind, with the name of the
 * first one as the target has it. NULL: there are none, or no memory. The
 * caller frees.
 */
char *profile_sources_newer(const struct profile *profile);
char *profile_sources_differing(const struct profile *profile);

#endif
