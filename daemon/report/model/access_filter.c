/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/model/access_filter.h"

#include <fnmatch.h>
#include <string.h>

/*
 * PyGC_Collect, _PyGC_CollectNoFail; gc_collect_main, gc_collect_with_callback ..., which to 3.8
 * are called collect_with_callback and collect_generations.
 */
static bool is_collector_function(const char *function)
{
	return strcasestr(function, "gc_collect") != NULL ||
	       !strncmp(function, "collect_generations", 19) ||
	       !strncmp(function, "collect_with_callback", 21);
}

/*
 * The C library's entries and those of jemalloc and tcmalloc. What they call
 * has no name in a stripped library, and needs none: it is inside of them.
 */
static bool is_allocator_function(const char *function)
{
	static const char *const names[] = {
		"malloc",
		"free",
		"calloc",
		"realloc",
		"reallocarray",
		"memalign",
		"posix_memalign",
		"aligned_alloc",
		"_int_malloc",
		"_int_free",
		"malloc_consolidate",
	};

	if (!strncmp(function, "__libc_", 7))
		function += 7;
	else if (!strncmp(function, "je_", 3) || !strncmp(function, "tc_", 3))
		function += 3;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(function, names[i]))
			return true;
	return false;
}

static bool matches_any(const char *const *patterns, size_t count, const struct place *place)
{
	const char *name = strrchr(place->file, '/');

	for (size_t i = 0; i < count; i++)
		if (!fnmatch(patterns[i], place->function, 0) ||
		    !fnmatch(patterns[i], place->file, 0) ||
		    (name && !fnmatch(patterns[i], name + 1, 0)))
			return true;
	return false;
}

struct access_filter access_filter_step(struct access_filter outer, const struct frame *frame,
					const struct place *place,
					const struct access_patterns *patterns)
{
	struct access_filter filter = { 0 };

	/* A finaliser that the collector runs is Python code like any other. */
	if (frame->kind == FRAME_NATIVE && !(frame->flags & FRAME_EVAL)) {
		filter = outer;
		filter.collector |= is_collector_function(place->function);
		filter.allocator |= is_allocator_function(place->function);
	} else if (frame->kind == FRAME_NATIVE) {
		return filter;
	}
	if (patterns) {
		filter.included |= matches_any(patterns->include, patterns->include_count, place);
		filter.excluded |= matches_any(patterns->exclude, patterns->exclude_count, place);
	}
	return filter;
}

enum loss access_filter_reason(struct access_filter filter, const struct access_patterns *patterns)
{
	if (filter.collector)
		return LOSS_FILTER_COLLECTOR;
	if (filter.allocator)
		return LOSS_FILTER_ALLOCATOR;
	if (filter.excluded || (patterns && patterns->include_count && !filter.included))
		return LOSS_FILTER_USER;
	return LOSS_COUNT;
}
