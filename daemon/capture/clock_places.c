/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/capture/clock_places.h"

#include "pyintrospect/frame_places.h"
#include "pyintrospect/offsets.h"

_Static_assert((uint32_t)OFFSET_ABSENT == CLOCK_ABSENT, "absent is absent");
_Static_assert(FRAME_PLACES_WORDS_MAX <= CLOCK_WORDS_MAX, "all words fit");

struct clock_config clock_places_of(const struct target *target)
{
	struct clock_config config = { 0 };
	struct frame_places places;
	const struct python_offsets *offsets;

	if (!target->runtime)
		return config;
	frame_places_of(target->runtime, &places);
	if (places.thread_bytes > CLOCK_STATE_BYTES_MAX ||
	    places.frame_bytes > CLOCK_FRAME_BYTES_MAX ||
	    places.cframe_bytes > CLOCK_FRAME_BYTES_MAX)
		return config;
	offsets = places.offsets;
	config = (struct clock_config){
		.has_python = 1,
		.state_bytes = (uint32_t)places.thread_bytes,
		.frame_bytes = (uint32_t)places.frame_bytes,
		.cframe_bytes = (uint32_t)places.cframe_bytes,
		.interpreters = places.interpreters,
		.interpreter_next = (uint32_t)offsets->interpreter_next,
		.interpreter_threads = (uint32_t)offsets->interpreter_threads,
		.thread_next = (uint32_t)offsets->thread_next,
		.thread_pthread = (uint32_t)offsets->thread_pthread,
		.thread_native_id = (uint32_t)offsets->thread_native_id,
		.thread_frame = (uint32_t)offsets->thread_frame,
		.thread_cframe = (uint32_t)offsets->thread_cframe,
		.cframe_current = (uint32_t)offsets->cframe_current,
		.cframe_previous = (uint32_t)offsets->cframe_previous,
		.thread_chunk = (uint32_t)offsets->thread_chunk,
		.thread_chunk_top = (uint32_t)offsets->thread_chunk_top,
		.frame_previous = (uint32_t)offsets->frame_previous,
		.frame_code = (uint32_t)offsets->frame_code,
		.frame_instruction = (uint32_t)offsets->frame_instruction,
		.word_count = (uint32_t)places.word_count,
	};
	for (size_t i = 0; i < places.word_count; i++) {
		config.words[i].address = places.words[i].start;
		config.words[i].bytes = places.words[i].end - places.words[i].start;
	}
	return config;
}
