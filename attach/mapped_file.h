/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files behind a target's mappings: /proc/PID/map_files has exactly what is
 * mapped, deleted files too, for who has the privilege. Else the path that the
 * target's memory map names is opened in its root, when the inodes agree. A
 * path may have come to mean another file, so that one is opened with the
 * target's rights; where these cannot be had, it must be one that everybody may
 * read. The program itself, last of all, is had from /proc/PID/exe: an upgrade of
 * the interpreter deletes it. Regular files alone.
 */
#ifndef PIEPROFD_ATTACH_MAPPED_FILE_H
#define PIEPROFD_ATTACH_MAPPED_FILE_H

#include "attach/impersonator.h"
#include "common/mapping.h"

#include <sys/types.h>

struct mapped_files {
	pid_t pid;
	struct impersonator *impersonator; /* borrowed; NULL: nobody acts with other rights */
};

/* Lives as long as files. */
struct mapping_opener mapped_files_opener(const struct mapped_files *files);

#endif
