/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/trace/span.h"

#include "daemon/report/encode/escape.h"
#include "daemon/trace/system_call.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

static const char *const kind_names[] = {
	[SPAN_FUNCTION] = "function", [SPAN_COLLECTION] = "gc", [SPAN_GIL] = "gil",
	[SPAN_SWITCH] = "sched",      [SPAN_FAULT] = "faults",  [SPAN_PYTHON] = "python",
};

/* As the user reads them. */
static const char *const titles[] = {
	[SPAN_FUNCTION] = "",        [SPAN_COLLECTION] = "garbage collection",
	[SPAN_GIL] = "GIL wait",     [SPAN_SWITCH] = "off the processor",
	[SPAN_FAULT] = "page fault", [SPAN_PYTHON] = "Python functions",
};

const char *span_kind_name(enum span_kind kind)
{
	return kind_names[kind];
}

static int add(struct span_list *list, const struct span *span)
{
	for (unsigned i = 0; i < list->count; i++)
		if (!strcmp(list->items[i].name, span->name))
			return -EEXIST;
	if (list->count == SPANS_MAX)
		return -E2BIG;
	list->items[list->count++] = *span;
	return 0;
}

int span_list_add(struct span_list *list, enum span_kind kind)
{
	struct span span = { .kind = kind,
			     .least_ns = kind == SPAN_GIL      ? SPAN_GIL_LEAST_NS
					 : kind == SPAN_SWITCH ? SPAN_SWITCH_LEAST_NS
							       : 0 };

	snprintf(span.name, sizeof(span.name), "%s", titles[kind]);
	return add(list, &span);
}

/* A path may have colons in it, and a function's name has none. */
int span_list_add_function(struct span_list *list, const char *text)
{
	const char *colon = strrchr(text, ':');
	struct span span = { .kind = SPAN_FUNCTION };
	size_t length = colon ? (size_t)(colon - text) : 0;

	if (!length || !colon[1] || length >= sizeof(span.library) ||
	    strlen(colon + 1) >= sizeof(span.function))
		return -EINVAL;
	memcpy(span.library, text, length);
	snprintf(span.function, sizeof(span.function), "%s", colon + 1);
	snprintf(span.name, sizeof(span.name), "%s:%s", path_last(span.library), span.function);
	return add(list, &span);
}

int span_list_find(const struct span_list *list, enum span_kind kind)
{
	for (unsigned i = 0; i < list->count; i++)
		if (list->items[i].kind == kind)
			return (int)i;
	return -1;
}

bool span_kind_is_kernel(enum span_kind kind)
{
	return kind == SPAN_SWITCH || kind == SPAN_FAULT;
}

int span_list_add_pattern(struct span_list *list, const char *pattern)
{
	struct function_choice *choice = &list->functions;
	int error = span_list_add(list, SPAN_PYTHON);

	if (error && error != -EEXIST)
		return error;
	if (choice->pattern_count == FUNCTION_PATTERNS_MAX)
		return -E2BIG;
	choice->patterns[choice->pattern_count++] = pattern;
	return 0;
}

bool function_choice_fits(const struct function_choice *choice, const char *function,
			  const char *file)
{
	for (unsigned i = 0; i < choice->pattern_count; i++)
		if (!fnmatch(choice->patterns[i], function, 0) ||
		    !fnmatch(choice->patterns[i], file, 0) ||
		    !fnmatch(choice->patterns[i], path_last(file), 0))
			return true;
	return false;
}

bool span_list_is_empty(const struct span_list *list)
{
	return !list->count && !list->counters;
}

bool span_list_has_probes(const struct span_list *list)
{
	for (unsigned i = 0; i < list->count; i++)
		if (!span_kind_is_kernel(list->items[i].kind))
			return true;
	return false;
}

static void switch_words(int32_t detail, char ret_words[static SPAN_NAME_BYTES])
{
	const char *call = detail >= 0 ? system_call_name((unsigned)detail) : NULL;

	if (call)
		snprintf(ret_words, SPAN_NAME_BYTES, "waiting in %s", call);
	else if (detail >= 0)
		snprintf(ret_words, SPAN_NAME_BYTES, "waiting in system call %d", (int)detail);
	else
		snprintf(ret_words, SPAN_NAME_BYTES, "%s",
			 detail == SWITCH_PREEMPTED ? "preempted"
			 : detail == SWITCH_READY   ? "waiting for a processor"
						    : "waiting");
}

void span_detail_words(enum span_kind kind, int32_t detail, char ret_words[static SPAN_NAME_BYTES])
{
	if (kind == SPAN_FAULT)
		snprintf(ret_words, SPAN_NAME_BYTES, "%s",
			 detail == FAULT_MAJOR ? "major page fault" : "minor page fault");
	else
		switch_words(detail, ret_words);
}

bool span_library_is(const char *library, const char *path)
{
	size_t length = strlen(library);
	const char *name;

	if (library[0] == '/')
		return !strcmp(library, path);
	name = path_last(path);
	return !strncmp(name, library, length) && (!name[length] || name[length] == '.');
}
