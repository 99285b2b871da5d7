/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests that have not been taken yet, a file each in a folder:
 *
 *   open -> add, add, ...      a receiver that is away finds them all, in order
 *        -> first -> read -> remove
 *
 * A file is written beside and renamed, and has its length and a checksum: what is not whole is
 * no request. The folder is one process's at a time, and what an earlier one has left is sent
 * first. Its size is bounded: the oldest give way, and are counted.
 */
#ifndef PIEPROFD_DAEMON_PUSH_SPOOL_H
#define PIEPROFD_DAEMON_PUSH_SPOOL_H

#include "common/error.h"

#include <stddef.h>
#include <stdint.h>

#define SPOOL_ENTRIES_MAX     4096
#define SPOOL_BYTES_MAX       (256ull << 20)
#define SPOOL_ENTRY_BYTES_MAX (32ull << 20)
#define SPOOL_HEADER_BYTES    24

struct spool_entry {
	uint64_t number; /* its name: they are sent by it */
	uint64_t bytes;
};

struct spool {
	int folder; /* its descriptor */
	int lock;
	char *path;
	int temporary; /* removed at the end when it is empty */
	struct spool_entry *entries;
	size_t count, capacity;
	uint64_t bytes, bytes_max;
	uint64_t next;
	uint64_t dropped; /* requests that had to give way, or were not whole */
};

/* path: a folder, made if need be; NULL: one of its own below TMPDIR. 0, or -1 with *error
 * filled. */
__attribute__((warn_unused_result)) int spool_open(struct spool *spool, const char *path,
						   struct error *error);
void spool_close(struct spool *spool);

/* 0 or a negative errno: then it is not there. */
__attribute__((warn_unused_result)) int spool_add(struct spool *spool, const void *bytes,
						  size_t size);

/* The oldest one's bytes, to be freed. -ENOENT: there is none. One that cannot be read is removed,
 * counted, and the next one is taken. */
__attribute__((warn_unused_result)) int spool_read_first(struct spool *spool, void **ret_bytes,
							 size_t *ret_size,
							 struct spool_entry *ret_entry);
/* That one has been taken. Nothing if it had to give way meanwhile. */
void spool_remove(struct spool *spool, const struct spool_entry *entry);

/* A header into bytes, for the body that is to follow. */
void spool_header_put(unsigned char header[SPOOL_HEADER_BYTES], const void *body, size_t size);
/* Of a file: where its body begins, or 0: it is not whole. Pure. */
size_t spool_entry_body(const void *bytes, size_t size);

#endif
