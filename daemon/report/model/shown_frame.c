/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/model/shown_frame.h"

struct profile_frame shown_frame(const struct frame *frame, const struct place *place,
				 struct source_cache *sources)
{
	struct profile_frame shown = {
		.kind = frame->kind,
		.flags = frame->flags,
		.function = place->function,
		.file = place->file,
		.line = place->line,
	};

	if (frame->kind == FRAME_PYTHON) {
		shown.opcode =
			python_code_opcode(frame->python.code, frame->python.instruction_offset);
		shown.file = source_cache_title(sources, place->file);
		shown.source = source_cache_line(sources, place->file, place->line);
	} else {
		shown.address = frame->native.pc;
		shown.function_address = frame->native.function;
		if (frame->native.module) {
			shown.address -= frame->native.module->bias;
			if (frame->native.function)
				shown.function_address -= frame->native.module->bias;
		}
	}
	return shown;
}
