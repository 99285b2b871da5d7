/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/detect/argument_work.h"

#include "common/hash.h"

/* Where in its loops a frame is; false: not all of them tell. */
static bool place_of(const struct argument_frame *frame, uint64_t *ret_key)
{
	uint64_t key = hash_mix(frame->loop_count + 1u);

	for (unsigned i = 0; i < frame->loop_count; i++) {
		if (frame->remaining[i] == ITERATOR_UNKNOWN)
			return false;
		key = hash_combine(key, (uint64_t)frame->remaining[i]);
	}
	*ret_key = key;
	return true;
}

static void count_place(struct argument_work *work, uint64_t key, uint64_t contents, uint64_t call)
{
	uint32_t i = 0;

	while (i < work->places && work->keys[i] != key)
		i++;
	if (i == ARGUMENT_WORK_PLACES)
		return;
	if (i == work->places) {
		work->places++;
		work->keys[i] = key;
	} else if (work->calls[i] != call || work->contents[i] != contents) {
		/* Other contents at one place of one call: something else tells its rounds apart.
		 */
		work->pairs++;
		work->alike += work->contents[i] == contents;
	}
	work->contents[i] = contents;
	work->calls[i] = call;
}

void argument_work_count(struct argument_work *work, const struct argument_frame *frame,
			 uint64_t call)
{
	uint64_t key;

	if (!(frame->flags & ARGUMENT_JUDGED))
		return;
	work->judged++;
	work->state += !!(frame->flags & ARGUMENT_STATE);
	if (frame->flags & ARGUMENT_DATA && !(frame->flags & ARGUMENT_OPAQUE) &&
	    place_of(frame, &key))
		count_place(work, key, frame->contents, call);
}
