/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/heap/heap_trial.h"

#include "pyintrospect/field.h"
#include "pyintrospect/heap/heap_layout.h"

#include <string.h>

#define STAY_NS (200 * NS_PER_MS)

void heap_trials_add(struct heap_trials *trials, remote_addr object, unsigned site, uint64_t now_ns)
{
	if (trials->count < HEAP_TRIALS_MAX)
		trials->items[trials->count++] = (struct heap_trial){
			.object = object,
			.due_ns = now_ns + HEAP_TRIAL_SETTLE_NS,
			.site = site,
		};
}

static bool read_contents(const struct heap_trials *trials, const struct memory_reader *reader,
			  remote_addr object, uint8_t contents[HEAP_TRIAL_BYTES])
{
	uint8_t bytes[OBJECT_HEAD + HEAP_TRIAL_BYTES] = { 0 };
	uint32_t size = trials->object_bytes < sizeof(bytes) ? trials->object_bytes : sizeof(bytes);

	if (size < OBJECT_HEAD || memory_read(reader, object, bytes, size) ||
	    field_u64(bytes, OBJECT_TYPE) != trials->type || !field_u64(bytes, 0))
		return false;
	memcpy(contents, bytes + OBJECT_HEAD, HEAP_TRIAL_BYTES);
	return true;
}

static void look(struct heap_trials *trials, struct heap_trial *trial,
		 const struct memory_reader *reader, uint64_t now_ns)
{
	uint8_t contents[HEAP_TRIAL_BYTES];

	if (!read_contents(trials, reader, trial->object, contents)) {
		trial->state = HEAP_TRIAL_GONE;
	} else if (trial->state == HEAP_TRIAL_MADE) {
		memcpy(trial->contents, contents, sizeof(contents));
		trial->state = HEAP_TRIAL_SETTLED;
		trial->due_ns = now_ns + STAY_NS;
	} else {
		trial->state = memcmp(trial->contents, contents, sizeof(contents))
				       ? HEAP_TRIAL_GONE
				       : HEAP_TRIAL_STAYED;
	}
}

static bool is_over(const struct heap_trial *trial)
{
	return trial->state == HEAP_TRIAL_STAYED || trial->state == HEAP_TRIAL_GONE;
}

void heap_trials_look(struct heap_trials *trials, const struct memory_reader *reader,
		      uint64_t now_ns)
{
	for (unsigned i = 0; i < trials->count; i++)
		if (!is_over(&trials->items[i]) && now_ns >= trials->items[i].due_ns)
			look(trials, &trials->items[i], reader, now_ns);
}

bool heap_trials_unsettled(const struct heap_trials *trials)
{
	for (unsigned i = 0; i < trials->count; i++)
		if (trials->items[i].state == HEAP_TRIAL_MADE)
			return true;
	return false;
}

unsigned heap_trials_done(const struct heap_trials *trials)
{
	unsigned done = 0;

	for (unsigned i = 0; i < trials->count; i++)
		done += is_over(&trials->items[i]);
	return done;
}

bool heap_trials_are_over(const struct heap_trials *trials)
{
	return heap_trials_done(trials) == trials->count;
}

unsigned heap_trials_stayed(const struct heap_trials *trials, int site)
{
	unsigned stayed = 0;

	for (unsigned i = 0; i < trials->count; i++)
		stayed += trials->items[i].state == HEAP_TRIAL_STAYED &&
			  (site < 0 || trials->items[i].site == (unsigned)site);
	return stayed;
}
