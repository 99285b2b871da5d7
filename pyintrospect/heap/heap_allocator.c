/* SPDX-License-Identifier: Apache-2.0 */
#include "pyintrospect/heap/heap_allocator.h"

#include <string.h>

static const struct {
	const char *file; /* how its name begins */
	const char *name;
} allocators[] = {
	{ "libjemalloc.", "jemalloc" },    { "libtcmalloc.", "tcmalloc" },
	{ "libtcmalloc_", "tcmalloc" },    { "libmimalloc.", "mimalloc" },
	{ "libmimalloc-", "mimalloc" },    { "ld-musl-", "musl's malloc" },
	{ "libc.musl-", "musl's malloc" },
};

const char *heap_allocator_find(const struct mapping_list *mappings)
{
	for (size_t i = 0; i < mappings->count; i++) {
		const char *path = mappings->mappings[i].path, *slash = strrchr(path, '/');

		if (!slash)
			continue;
		for (size_t k = 0; k < sizeof(allocators) / sizeof(allocators[0]); k++)
			if (!strncmp(slash + 1, allocators[k].file, strlen(allocators[k].file)))
				return allocators[k].name;
	}
	return NULL;
}
