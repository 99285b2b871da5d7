/* SPDX-License-Identifier: Apache-2.0 */
/* Values of a look's JSON, each within its bounds; what is not is refused with words. */
#ifndef PIEPROFD_DAEMON_HEAP_HEAP_FILE_VALUE_H
#define PIEPROFD_DAEMON_HEAP_HEAP_FILE_VALUE_H

#include "common/error.h"

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

/* Of bytes and objects: more than any machine has. */
#define HEAP_FILE_FIGURE_MAX (1ull << 46)

struct heap_reading {
	const char *name; /* of the file, fit to be shown */
	struct error *error;
};

/* Each fills the error and returns -1: what is no look; a look that is not whole. */
int heap_refuse_other(const struct heap_reading *reading, const char *what);
__attribute__((format(printf, 2, 3))) int heap_refuse_damaged(const struct heap_reading *reading,
							      const char *format, ...);
int heap_refuse_memory(const struct heap_reading *reading);

/* "types[3]" */
struct heap_where {
	char text[48];
};

struct heap_where heap_where_of(const char *list, size_t index);

/* A member of an object (NULL: missing), from 0 to most. 0, or -1: refused. */
__attribute__((warn_unused_result)) int heap_read_number(const struct heap_reading *reading,
							 const json_t *object, const char *where,
							 const char *key, uint64_t most,
							 uint64_t *ret_value);
/* Bytes or objects. */
__attribute__((warn_unused_result)) int heap_read_figure(const struct heap_reading *reading,
							 const json_t *object, const char *where,
							 const char *key, uint64_t *ret_value);
/* What older files do not have, or was not known: then 0. */
__attribute__((warn_unused_result)) int heap_read_known(const struct heap_reading *reading,
							const json_t *object, const char *where,
							const char *key, uint64_t *ret_value);

/* Shorter than most bytes; borrowed. NULL: refused. */
const char *heap_read_text(const struct heap_reading *reading, const json_t *object,
			   const char *where, const char *key, size_t most);

/* An array of at most so many; borrowed. */
__attribute__((warn_unused_result)) int heap_read_list(const struct heap_reading *reading,
						       const json_t *heap, const char *key,
						       size_t most, const json_t **ret_list);

#endif
