/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cli/autosave.h"

#include "common/clock.h"
#include "daemon/report/format/output_file.h"
#include "daemon/report/recording/profile_codec.h"
#include "daemon/report/recording/recording.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The first one reads the names of all functions, and costs most. */
#define FIRST_NS (2 * NS_PER_SECOND)
/* Waits, as multiples of what the last one cost: 1% and a margin. */
#define WAIT_COSTS 120

struct encoded {
	uint8_t *bytes;
	size_t size;
};

void autosave_init(struct autosave *autosave, const struct options *options, struct group *group)
{
	*autosave = (struct autosave){ options, group, .next_ns = UINT64_MAX };
	for (unsigned i = 0; i < options->output_count; i++)
		if (options->outputs[i].writer == &writer_recording)
			autosave->next_ns = FIRST_NS;
}

static int put_encoded(void *context, FILE *file)
{
	const struct encoded *encoded = context;

	return recording_put(encoded->bytes, encoded->size, file);
}

/* The profile is to be done with before the group is asked for anything else. */
static int autosave_encode(struct group *group, struct encoded *ret_encoded)
{
	struct profile *profile = group_profile(group);
	int result = -ENOMEM;

	if (profile)
		result = profile_encode(profile, &ret_encoded->bytes, &ret_encoded->size);
	profile_destroy(profile);
	return result;
}

static int save(const struct autosave *autosave)
{
	const struct options *options = autosave->options;
	struct encoded encoded;
	int result = autosave_encode(autosave->group, &encoded);

	if (result)
		return result;
	for (unsigned i = 0; i < options->output_count; i++) {
		const struct options_output *output = &options->outputs[i];
		int failure = 0;

		if (output->writer == &writer_recording && output_file_is_replaced(output->path))
			failure = output_file_write(output->path, put_encoded, &encoded);
		if (failure && !result)
			result = failure;
	}
	free(encoded.bytes);
	return result;
}

void autosave_poll(struct autosave *autosave, uint64_t elapsed_ns)
{
	uint64_t began_ns;
	int failure;

	if (elapsed_ns < autosave->next_ns)
		return;
	if (group_is_empty(autosave->group)) {
		autosave->next_ns = elapsed_ns + FIRST_NS;
		return;
	}
	began_ns = clock_now_ns();
	failure = save(autosave);
	if (failure && !autosave->failed) {
		fprintf(stderr, "pieprofd: the recording could not be updated: %s\n",
			strerror(-failure));
		autosave->failed = true;
	}
	autosave->next_ns = elapsed_ns + (clock_now_ns() - began_ns) * WAIT_COSTS;
}
