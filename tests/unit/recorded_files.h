/* SPDX-License-Identifier: Apache-2.0 */
/* Recordings in a folder of their own, and every writer that there is. */
#ifndef PIEPROFD_TESTS_UNIT_RECORDED_FILES_H
#define PIEPROFD_TESTS_UNIT_RECORDED_FILES_H

#include "daemon/report/html/html.h"
#include "daemon/report/recording/recording.h"
#include "report_sample.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>

#include <cmocka.h>

#define ARENA_MAX ((size_t)64 << 20)

static char folder[] = "/tmp/pieprofd-recording-XXXXXX";
static const struct writer_options defaults;
static const struct writer *const all_writers[] = {
	&writer_text,       &writer_json,    &writer_collapsed, &writer_pprof,
	&writer_speedscope, &writer_firefox, &writer_html,      &writer_recording,
};

#define WRITERS (sizeof(all_writers) / sizeof(all_writers[0]))

static inline const char *path_of(const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static inline int make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static inline int remove_folder(void **state)
{
	char command[160];

	(void)state;
	snprintf(command, sizeof(command), "rm -r '%s'", folder);
	return system(command);
}

static inline struct recording *recorded(const struct profile *profile, const char *path)
{
	struct recording *recording;
	struct error error;

	assert_int_equal(writer_write_file(&writer_recording, profile, &defaults, path), 0);
	recording = recording_open(path, &error);
	if (!recording)
		print_error("%s\n", error.cause);
	assert_non_null(recording);
	return recording;
}

static inline void write_file(const char *path, const char *bytes, size_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_int_equal(write(fd, bytes, size), size);
	close(fd);
}

#endif
