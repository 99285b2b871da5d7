/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cli/fleet_groups.h"

#include "common/array.h"
#include "daemon/report/model/profile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum exit_code refuse_memory(void)
{
	fprintf(stderr, "pieprofd: out of memory\n");
	return EXIT_INTERNAL;
}

static int note_recording(struct fleet_groups *groups, const struct fleet_label *label,
			  size_t index, const struct profile *profile)
{
	char text[FLEET_LABEL_BYTES];
	struct fleet_group *group;
	uint32_t number;

	label->read(profile, text, sizeof(text));
	if (string_table_find(&groups->strings, text, &number))
		return -ENOMEM;
	/* Texts are numbered as groups are. */
	if (number == groups->count) {
		if (!ARRAY_ROOM(groups->items, groups->count, groups->capacity))
			return -ENOMEM;
		groups->items[groups->count++] =
			(struct fleet_group){ .value = groups->strings.strings[number] };
	}
	group = &groups->items[number];
	group->recordings++;
	group->cpu_ns += time_sum(profile->time_ns);
	group->duration_ns += profile->facts.duration_ns;
	groups->cpu_ns += time_sum(profile->time_ns);
	groups->group_of[index] = number;
	return 0;
}

enum exit_code fleet_groups_find(struct fleet_groups *groups, const struct fleet_label *label,
				 const struct recording_list *list)
{
	*groups = (struct fleet_groups){ .list = list };
	groups->group_of = calloc(list->count, sizeof(groups->group_of[0]));
	if (!groups->group_of)
		return refuse_memory();
	for (size_t i = 0; i < list->count; i++) {
		enum exit_code code = EXIT_OK;
		struct recording *recording = recording_fold_read(list->paths[i], &code);
		int failure;

		if (!recording)
			return code;
		failure = note_recording(groups, label, i, &recording->profile);
		recording_close(recording);
		if (failure)
			return refuse_memory();
	}
	return EXIT_OK;
}

void fleet_groups_deinit(struct fleet_groups *groups)
{
	string_table_deinit(&groups->strings);
	free(groups->items);
	free(groups->group_of);
}

enum exit_code fleet_group_fold(const struct fleet_groups *groups, const struct fleet_group *group,
				bool with_spread, struct recording_fold *fold)
{
	const char **paths = calloc(group->recordings, sizeof(*paths));
	size_t count = 0;
	enum exit_code code;

	if (!paths)
		return refuse_memory();
	for (size_t i = 0; i < groups->list->count; i++)
		if (groups->group_of[i] == (size_t)(group - groups->items))
			paths[count++] = groups->list->paths[i];
	code = recording_fold_open(fold, paths, count, with_spread, true);
	free(paths);
	if (code)
		recording_fold_close(fold);
	return code;
}
