/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A fleet out of a few real recordings: the same profiles under other hosts, pods, process ids and
 * times of day, whose figures stay what was measured. For measuring how report and engines take
 * many recordings; not for judging findings by.
 *
 *   build/fleet FOLDER COUNT HOSTS RECORDING...
 *
 * Writes FOLDER/000000.pieprof and so on: COUNT recordings of HOSTS nodes over a day. Labels that a
 * recording has of its own (service, version) stay.
 */
#include "daemon/report/recording/recording.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DAY_NS (24ull * 3600 * 1000000000)

static int write_as(const struct profile *profile, unsigned long index, unsigned long count,
		    unsigned long hosts, const char *folder)
{
	const struct writer_options options = { 0 };
	struct profile copy = *profile;
	struct profile_target *target = &copy.facts.target;
	char path[4096];

	snprintf(target->host, sizeof(target->host), "node-%04lu", index % hosts);
	snprintf(target->labels.namespace, sizeof(target->labels.namespace), "prod");
	snprintf(target->labels.pod, sizeof(target->labels.pod), "%.63s-%06lx",
		 target->labels.service, (index * 2654435761ul) & 0xffffff);
	target->pid = (pid_t)(1000 + index % 30000);
	target->start_time += index;
	copy.facts.started_unix_ns += DAY_NS / count * index;
	snprintf(path, sizeof(path), "%s/%06lu.pieprof", folder, index);
	return writer_write_file(&writer_recording, &copy, &options, path);
}

int main(int argc, char **argv)
{
	unsigned long count, hosts, sources = argc > 4 ? (unsigned long)argc - 4 : 0;

	if (!sources) {
		fprintf(stderr, "usage: fleet FOLDER COUNT HOSTS RECORDING...\n");
		return 2;
	}
	count = strtoul(argv[2], NULL, 10);
	hosts = strtoul(argv[3], NULL, 10);
	for (unsigned long source = 0; source < sources && count && hosts; source++) {
		struct error error;
		struct recording *recording = recording_open(argv[4 + source], &error);

		if (!recording) {
			fprintf(stderr, "fleet: %s\n", error.cause);
			return 1;
		}
		for (unsigned long i = source; i < count; i += sources)
			if (write_as(&recording->profile, i, count, hosts, argv[1])) {
				fprintf(stderr, "fleet: %s cannot be written to\n", argv[1]);
				return 1;
			}
		recording_close(recording);
	}
	return 0;
}
