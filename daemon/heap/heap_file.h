/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A look at a heap that is over, of a file that heap -o NAME.json wrote: as the look was, but for
 * what the file does not have (containers, most of the quality, small holders and types).
 *
 * The file may come from anywhere. Every number, string and list in it has a bound; numbers are
 * small enough that sums of all of them do not overflow.
 */
#ifndef PIEPROFD_DAEMON_HEAP_HEAP_FILE_H
#define PIEPROFD_DAEMON_HEAP_HEAP_FILE_H

#include "common/error.h"
#include "daemon/heap/heap_look.h"

#include <jansson.h>

/* More is read than is written: 5,000 types, and 1,000 holders of 64 steps. */
#define HEAP_FILE_BYTES_MAX   (64u << 20)
#define HEAP_FILE_TYPES_MAX   16384
#define HEAP_FILE_HOLDERS_MAX 10000

struct heap_file {
	struct heap_look look;
	/* A path that is not in it held no more than so many bytes; 0: there is no such path. */
	uint64_t unlisted_bytes;
	uint64_t types_omitted;
	json_t *json; /* strings of the look may lie in it */
};

/* NULL with *error filled. */
struct heap_file *heap_file_open(const char *path, struct error *error);

/* What a file of the look would have been, but for more of its holders: two of which one comes from
 * a file have the same names for the same things. Likewise. */
struct heap_file *heap_file_of(const struct heap_look *look, struct error *error);

void heap_file_close(struct heap_file *file);

#endif
