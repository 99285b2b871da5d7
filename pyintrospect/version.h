/* SPDX-License-Identifier: Apache-2.0 */
/* Which CPython a binary holds. */
#ifndef PIEPROFD_PYINTROSPECT_VERSION_H
#define PIEPROFD_PYINTROSPECT_VERSION_H

#include "common/debug_info.h"
#include "common/memory.h"

struct python_version {
	int major, minor, micro; /* micro is -1 when it could not be found (to 3.10) */
	bool free_threaded;      /* built with --disable-gil; known of a runtime alone */
};

/* What to say behind the number. */
static inline const char *python_version_build(const struct python_version *version)
{
	return version->free_threaded ? " free-threaded" : "";
}

/* What a report of it says. */
#define PYTHON_FREE_THREADED_LIMITS                                                                \
	"a free-threaded build has no GIL; arguments of calls are not compared, asyncio's "        \
	"tasks, greenlets and locks not read"

/*
 * 3.11 and later export their version; older ones are told by the functions
 * they export, and their micro version by a string, -1 when it is not found.
 * Of those before 3.6 only the string tells. 0; -ENOENT: unknown; or what the
 * reader said.
 */
__attribute__((warn_unused_result)) int python_version_find(const struct debug_info *info,
							    const struct memory_reader *reader,
							    struct python_version *ret_version);

/*
 * Looks for the string "MAJOR.MINOR.MICRO" (or with a final "+") that ends with
 * a zero. Returns micro, -1: none, -2: several that differ. Pure.
 */
int python_version_scan(const char *bytes, size_t size, int major, int minor);

#endif
