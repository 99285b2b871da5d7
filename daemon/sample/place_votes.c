/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/sample/place_votes.h"

#include "common/hash.h"

#include <stdlib.h>

#define PLACES 4096u

struct place {
	const struct python_code *code;
	int instruction_offset;
	uint32_t native, python;
};

struct place_votes {
	struct place places[PLACES];
};

struct place_votes *place_votes_create(void)
{
	return calloc(1, sizeof(struct place_votes));
}

void place_votes_destroy(struct place_votes *votes)
{
	free(votes);
}

static size_t index_of(const struct python_frame *frame)
{
	return hash_word((uint64_t)(uintptr_t)frame->code ^ (uint64_t)frame->instruction_offset) %
	       PLACES;
}

static bool is_at(const struct place *place, const struct python_frame *frame)
{
	return place->code == frame->code && place->instruction_offset == frame->instruction_offset;
}

void place_votes_add(struct place_votes *votes, const struct python_frame *frame,
		     enum time_class time_class)
{
	struct place *place = &votes->places[index_of(frame)];

	if (!is_at(place, frame))
		*place = (struct place){ .code = frame->code,
					 .instruction_offset = frame->instruction_offset };
	if (time_class == TIME_NATIVE)
		place->native++;
	else
		place->python++;
}

enum time_class place_votes_ask(const struct place_votes *votes, const struct python_frame *frame,
				enum time_class fallback)
{
	const struct place *place = &votes->places[index_of(frame)];

	if (!is_at(place, frame) || place->native == place->python)
		return fallback;
	return place->native > place->python ? TIME_NATIVE : TIME_PYTHON;
}
