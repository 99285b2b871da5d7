/* SPDX-License-Identifier: Apache-2.0 */
/* Which files something was read from (layout_cache.h, function_cache.h): a module and its debug
 * file. */
#ifndef PIEPROFD_SYMBOLIZE_LAYOUT_SOURCE_H
#define PIEPROFD_SYMBOLIZE_LAYOUT_SOURCE_H

#include "common/file_identity.h"

struct layout_source {
	struct file_identity module;
	struct file_identity debug;
	bool has_debug; /* the DWARF is in a file of its own */
};

/* Whether it is the same files, in the same state. */
bool layout_source_same(const struct layout_source *a, const struct layout_source *b);
/* Not, where one of them is like no other. */
bool layout_source_is_known(const struct layout_source *source);

#endif
