/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What files have answered to questions about structures (struct_layout.h), kept from one process
 * to the next: to index an interpreter's DWARF takes longer than all else in an attach, and the
 * same few hundred questions are asked of every process of one interpreter.
 *
 * Answers are those of a pair of files, each told by its identity (common/file_identity.h): the
 * module's and the debug file that was found for it, since another process with the same module
 * may have another debug file in its root. So what a process may put into its files is asked of
 * no other one, unless that has the very same two files. A file that is replaced or written has
 * another identity, and its old answers are never found again; they go when there is no room.
 *
 * Any thread may call any of these.
 */
#ifndef PIEPROFD_SYMBOLIZE_LAYOUT_CACHE_H
#define PIEPROFD_SYMBOLIZE_LAYOUT_CACHE_H

#include "symbolize/layout_source.h"

#include <stddef.h>

#define LAYOUT_CACHE_FILES_MAX   64   /* pairs; of more, the one goes that was asked longest ago */
#define LAYOUT_CACHE_ANSWERS_MAX 512  /* of a pair; further ones are not kept */
#define LAYOUT_CACHE_TEXT_MAX    4096 /* of a question; a longer one is not kept */

struct layout_cache;
struct function_cache;

/* member NULL: the size of the type. */
struct layout_question {
	const char *type, *member;
};

struct layout_answer {
	int error; /* 0, or -ENOENT: there is no such type or member */
	uint32_t value;
};

/* NULL: out of memory. */
struct layout_cache *layout_cache_create(void);
void layout_cache_destroy(struct layout_cache *cache);

/* What else is kept of the same files (function_cache.h); it belongs to the cache. NULL: nothing.
 */
struct function_cache *layout_cache_functions(struct layout_cache *cache);

/* cache NULL, or a source that cannot be told: nothing is found, and nothing is kept. */
bool layout_cache_find(struct layout_cache *cache, const struct layout_source *source,
		       const struct layout_question *question, struct layout_answer *ret_answer);
void layout_cache_keep(struct layout_cache *cache, const struct layout_source *source,
		       const struct layout_question *question, const struct layout_answer *answer);

#endif
