/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests that have not been taken yet, a file each in a folder:
 *
 *   open -> look -> add, add, ...      a receiver that is away finds them all, in order
 *                -> first -> read -> remove
 *
 * A file is written beside and renamed, and has its length and a checksum: what is not whole is
 * no request. The folder is one process's at a time, and what an earlier one has left is sent
 * first. Its size is bounded: the oldest give way, and are counted. What is not of the suffix is
 * another protocol's: it stays, and is not sent.
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
	const char *suffix; /* of its files, borrowed */
	char *path;
	int temporary; /* removed at the end when it is empty */
	struct spool_entry *entries;
	size_t count, capacity;
	uint64_t bytes, bytes_max;
	uint64_t next;
	/* Requests that had to give way, and ones that were not whole. */
	uint64_t gave_way, damaged;
};

/* path: a folder, made if need be; NULL: one of its own below TMPDIR. suffix: of seven characters
 * at most. 0, or -1 with *error filled. */
__attribute__((warn_unused_result)) int spool_open(struct spool *spool, const char *path,
						   const char *suffix, struct error *error);
void spool_close(struct spool *spool);

/* What is there, also when another process has changed it. 0 or a negative errno. */
__attribute__((warn_unused_result)) int spool_look(struct spool *spool);

/* number: they are sent by it; one that is there already stays as it is, and a lower one than
 * that of an earlier request becomes higher. 0 or a negative errno: then it is not there. */
__attribute__((warn_unused_result)) int spool_add(struct spool *spool, uint64_t number,
						  const void *bytes, size_t size);

/* The oldest one, to be freed: its bytes are behind SPOOL_HEADER_BYTES that are the caller's to
 * write to. -ENOENT: there is none. One that cannot be read is removed, counted, and the next one
 * is taken. */
__attribute__((warn_unused_result)) int spool_read_first(struct spool *spool, void **ret_bytes,
							 size_t *ret_size,
							 struct spool_entry *ret_entry);
/* That one is done with. Nothing if it had to give way meanwhile. */
void spool_remove(struct spool *spool, const struct spool_entry *entry);

/* A header into bytes, for the body that is to follow. */
void spool_header_put(unsigned char header[SPOOL_HEADER_BYTES], const void *body, size_t size);
/* Of a file: where its body begins, or 0: it is not whole. Pure. */
size_t spool_entry_body(const void *bytes, size_t size);

#endif
