/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/inspect/suspended_frames.h"

#include "daemon/report/model/place.h"
#include "daemon/report/model/shown_frame.h"

#include <stdlib.h>

struct profile_frame *suspended_frames_show(const struct python_frame *frames, size_t count,
					    struct source_cache *sources)
{
	struct profile_frame *shown = calloc(count + 1, sizeof(shown[0]));

	for (size_t i = 0; shown && i < count; i++) {
		const struct frame frame = {
			.kind = FRAME_PYTHON,
			.python = { .code = frames[i].code,
				    .instruction_offset = frames[i].instruction_offset },
		};
		const struct place place = {
			.kind = FRAME_PYTHON,
			.function = frame.python.code->function,
			.file = frame.python.code->file,
			.line = place_line(&frame),
		};

		shown[i] = shown_frame(&frame, &place, sources);
	}
	return shown;
}
