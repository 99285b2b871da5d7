/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists of functions, kept from one process to the next with the very same files: to sort an
 * interpreter's symbols takes a millisecond or two of every attach. Files are told as by
 * layout_cache.h, with what follows from that.
 *
 * Any thread may call any of these.
 */
#ifndef PIEPROFD_SYMBOLIZE_FUNCTION_CACHE_H
#define PIEPROFD_SYMBOLIZE_FUNCTION_CACHE_H

#include "symbolize/function_list.h"
#include "symbolize/layout_source.h"

/* Of more, or of more bytes together, those go that were asked for longest ago. */
#define FUNCTION_CACHE_LISTS_MAX 64
#define FUNCTION_CACHE_BYTES_MAX ((size_t)32 << 20)

struct function_cache;

/* NULL: out of memory. */
struct function_cache *function_cache_create(void);
/* Lists that somebody holds stay. */
void function_cache_destroy(struct function_cache *cache);

/* Held for the caller. NULL: there is none; also without a cache, or of files that cannot be told.
 */
struct function_list *function_cache_find(struct function_cache *cache,
					  const struct layout_source *source);
void function_cache_keep(struct function_cache *cache, const struct layout_source *source,
			 struct function_list *list);

#endif
