/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text around the lines of a profile: the functions that they are in, so that a
 * report can show code as code, also where the files are not.
 *
 * A function is found by its indentation, from the line outwards: nothing is parsed. A
 * line of a module's own has a few lines before and behind it. The program's own files
 * go first; what the limits leave out is missing, and the lines of the profile have
 * their own text all the same.
 */
#ifndef PIEPROFD_DAEMON_REPORT_MODEL_SOURCE_TEXT_H
#define PIEPROFD_DAEMON_REPORT_MODEL_SOURCE_TEXT_H

#include "daemon/report/model/arena.h"
#include "daemon/report/model/profile.h"
#include "daemon/report/model/source.h"

#define SOURCE_TEXTS_MAX 20000 /* lines, of all files */

/*
 * Sets the texts of all sources, which are in order. Strings are the cache's. 0 or
 * -ENOMEM.
 */
__attribute__((warn_unused_result)) int source_texts_collect(const struct profile *profile,
							     struct profile_source *sources,
							     size_t source_count,
							     struct source_cache *cache,
							     struct arena *arena);

/* From the first to the last line of what a line stands in, at most lines_max. */
void source_text_scope(struct source_cache *cache, const char *file, int line, int lines_max,
		       int *ret_first, int *ret_last);

#endif
