/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines of the target's source files, for the report. Files are read once,
 * through an opener that knows where the target's files live. A name that leads into a file is
 * looked for in that, as an archive ("/srv/app.pyz/__main__.py").
 *
 * The files are hostile input: only regular files are read, the bytes of a
 * file, the number of files and the bytes of a line are capped, and a line
 * comes out as valid UTF-8 without control characters.
 */
#ifndef PIEPROFD_DAEMON_REPORT_MODEL_SOURCE_H
#define PIEPROFD_DAEMON_REPORT_MODEL_SOURCE_H

#include <stddef.h>
#include <stdint.h>

#define SOURCE_FILES_MAX      1024
#define SOURCE_FILE_BYTES_MAX (4u << 20)  /* lines behind it cannot be read */
#define SOURCE_BYTES_MAX      (64u << 20) /* of all files; further ones cannot be read */
#define SOURCE_LINE_BYTES_MAX 240         /* longer lines are cut */

struct source_cache;

/*
 * Of code that has no file: context is the opener's. text is malloc'ed, with a NUL behind *ret_size
 * bytes; NULL: none is known. title: what code of such a file is to be called, "In [12]"; the name
 * itself where there is nothing better; it lives as long as the profile. Both take any name, and
 * text takes titles.
 */
struct source_memory {
	char *(*text)(void *context, const char *path, size_t *ret_size);
	const char *(*title)(void *context, const char *path);
};

/*
 * open returns a descriptor, which the cache closes, or a negative errno; it
 * and context are borrowed for the cache's life. open NULL: nothing can be
 * read. NULL: out of memory.
 */
struct source_cache *source_cache_create(int (*open)(void *context, const char *path),
					 void *context);
/* Without it names are files. Before lines are asked for. */
void source_cache_use_memory(struct source_cache *cache, const struct source_memory *memory);
void source_cache_destroy(struct source_cache *cache);

/* See struct source_memory. */
const char *source_cache_title(const struct source_cache *cache, const char *path);

/*
 * The line (from 1) without white space at its ends; NULL when it cannot be
 * read. Lives as long as the cache.
 */
const char *source_cache_line(struct source_cache *cache, const char *path, int line);

/*
 * The same with the white space at its start, which may be long: each byte is at the
 * column that the compiler gives it (pyintrospect/position_table.h). NULL also for files
 * that are not UTF-8 throughout, as columns count bytes of that.
 */
const char *source_cache_columns(struct source_cache *cache, const char *path, int line);

/* How much of the latter the former lacks at its start, in bytes; -1: see NULL of the latter. */
int source_cache_indent(struct source_cache *cache, const char *path, int line);

/* Which text a file had. */
struct source_version {
	uint64_t size;
	uint64_t modified_unix_ns; /* 0: before 1970 */
	char sha256[65];           /* hexadecimal; "": longer than what was read of it */
};

/*
 * The files that could be read so far, in order of reading; index counts from
 * 0. The path of one, which lives as long as the cache; NULL: no further one.
 */
const char *source_cache_file(const struct source_cache *cache, size_t index,
			      struct source_version *ret_version);

/* Files that could not be opened, by why. */
struct source_refusals {
	uint64_t denied;     /* -EACCES: the opener's rights do not suffice */
	uint64_t refused;    /* -EKEYREJECTED: those rights were not to be had */
	uint64_t unanswered; /* -ETIMEDOUT */
};

struct source_refusals source_cache_refusals(const struct source_cache *cache);

/* Of the file that fd has open. 0, -EINVAL when it is no regular file, or another negative errno.
 */
__attribute__((warn_unused_result)) int source_version_read(int fd,
							    struct source_version *ret_version);

#endif
