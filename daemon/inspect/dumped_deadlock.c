/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/inspect/dumped_deadlock.h"

#include "daemon/report/model/place.h"
#include "daemon/report/model/shown_frame.h"

#include <errno.h>
#include <stdlib.h>

static struct profile_frame dumped_frame(const struct deadlock_place *at,
					 struct source_cache *sources)
{
	const struct frame frame = {
		.kind = FRAME_PYTHON,
		.python = { .code = at->code, .instruction_offset = at->offset },
	};
	const struct place place = {
		.kind = FRAME_PYTHON,
		.function = at->code->function,
		.file = at->code->file,
		.line = place_line(&frame),
	};

	return shown_frame(&frame, &place, sources);
}

int dumped_deadlocks_init(struct dumped_deadlocks *dumped, const struct deadlocks *deadlocks,
			  struct source_cache *sources)
{
	dumped->count = 0;
	dumped->waits = calloc(deadlocks->count + 1, sizeof(*dumped->waits));
	if (!dumped->waits)
		return -ENOMEM;
	for (; dumped->count < deadlocks->count; dumped->count++) {
		const struct deadlock_wait *wait = &deadlocks->waits[dumped->count];
		struct dumped_wait *shown = &dumped->waits[dumped->count];

		*shown = (struct dumped_wait){
			.circle = wait->circle,
			.tid = wait->tid,
			.holder = wait->holder,
			.lock = wait->lock,
			.recursive = wait->recursive,
			.held_known = wait->held_at.code != NULL,
			.waits_at = dumped_frame(&wait->waits_at, sources),
		};
		if (shown->held_known)
			shown->held_at = dumped_frame(&wait->held_at, sources);
	}
	return 0;
}

void dumped_deadlocks_deinit(struct dumped_deadlocks *dumped)
{
	free(dumped->waits);
	*dumped = (struct dumped_deadlocks){ 0 };
}
