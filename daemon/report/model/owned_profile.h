/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A profile and what it owns: all its arrays and strings (one arena), except code,
 * module and line_info strings, which are borrowed from the caches behind the tree.
 */
#ifndef PIEPROFD_DAEMON_REPORT_MODEL_OWNED_PROFILE_H
#define PIEPROFD_DAEMON_REPORT_MODEL_OWNED_PROFILE_H

#include "daemon/report/model/arena.h"
#include "daemon/report/model/profile.h"
#include "daemon/report/model/source.h"

/* Behind every struct profile; profile_destroy() frees it. */
struct owned_profile {
	struct profile profile; /* first: what callers hold */
	struct arena arena;
	struct source_cache *sources; /* NULL: none */
};

#define PROFILE_ARENA_BYTES_MAX ((size_t)512 << 20)

#endif
