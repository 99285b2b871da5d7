/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/model/start_frame.h"

#include <string.h>

/* What such a file's name begins with. */
static const char *const beginnings[] = { "python", "libpython", "libc.so", "libc-", "libpthread" };

static bool of_interpreter(const char *file)
{
	const char *slash = strrchr(file, '/');
	const char *name = slash ? slash + 1 : file;

	for (size_t i = 0; i < sizeof(beginnings) / sizeof(beginnings[0]); i++)
		if (!strncmp(name, beginnings[i], strlen(beginnings[i])))
			return true;
	return false;
}

bool start_frame_is(enum frame_kind kind, uint32_t flags, const char *function, const char *file)
{
	return kind == FRAME_NATIVE && !flags && (!strcmp(function, "?") || of_interpreter(file));
}

size_t start_frames_count(const struct profile_frame *frames, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (frames[i].kind == FRAME_PYTHON)
			return i;
		if (!start_frame_is(frames[i].kind, frames[i].flags, frames[i].function,
				    frames[i].file))
			break;
	}
	return 0;
}
