/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/heap/heap_site.h"

#include "daemon/cct/library_path.h"

#include <stdio.h>
#include <string.h>

static struct heap_site_place place_of(const struct python_frame *frame)
{
	struct heap_site_place place = {
		.line = python_code_line(frame->code, frame->instruction_offset),
	};

	snprintf(place.file, sizeof(place.file), "%s", frame->code->file);
	snprintf(place.function, sizeof(place.function), "%s", frame->code->function);
	return place;
}

void heap_site_find(const struct python_stack *stack, struct heap_site *ret_site)
{
	size_t own = 0;

	*ret_site = (struct heap_site){ .caller_count = 0 };
	while (own < stack->count && path_is_library(stack->frames[own].code->file))
		own++;
	if (own == stack->count)
		own = 0;
	ret_site->place = place_of(&stack->frames[own]);
	if (own)
		ret_site->through = place_of(&stack->frames[0]);
	for (size_t i = own + 1; i < stack->count && ret_site->caller_count < HEAP_SITE_CALLERS_MAX;
	     i++)
		ret_site->callers[ret_site->caller_count++] = place_of(&stack->frames[i]);
}

bool heap_site_same(const struct heap_site *a, const struct heap_site *b)
{
	return a->place.line == b->place.line && !strcmp(a->place.file, b->place.file) &&
	       !strcmp(a->place.function, b->place.function);
}
