/* SPDX-License-Identifier: Apache-2.0 */
#include "pyintrospect/frame_places.h"

#include "pyintrospect/gil.h"
#include "pyintrospect/runtime_internal.h"

void frame_places_of(const struct python_runtime *runtime, struct frame_places *ret_places)
{
	struct frame_places places = {
		.offsets = &runtime->layout.offsets,
		.interpreters = runtime->interpreters,
		.current_thread = runtime->current_thread,
		.thread_bytes = runtime->sizes.thread,
		.frame_bytes = runtime->sizes.frame,
		.cframe_bytes = runtime->sizes.cframe,
	};

	places.word_count = gil_words(runtime, places.words, FRAME_PLACES_WORDS_MAX);
	*ret_places = places;
}
