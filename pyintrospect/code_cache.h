/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code objects seen so far, in two tables:
 *
 *   places[]   address in the target, key -> record     is it still the same?
 *   records[]  content hash -> record                   have we had one like it?
 *
 * Addresses are reused as code objects come and go, so a place is trusted only
 * while its key, the fields that never change in the life of a code object,
 * is what it was. Records are interned by content, so that a program which
 * compiles the same source again and again does not grow the table. A record
 * is never changed or freed before the cache is.
 */
#ifndef PIEPROFD_PYINTROSPECT_CODE_CACHE_H
#define PIEPROFD_PYINTROSPECT_CODE_CACHE_H

#include "pyintrospect/code_object.h"
#include "pyintrospect/offsets.h"
#include "pyintrospect/remote_copy.h"

#define CODE_CACHE_RECORDS_MAX (1u << 16)
#define CODE_CACHE_PLACES_MAX  (1u << 16)
#define CODE_CACHE_BYTES_MAX   (32u << 20)

struct code_cache;

struct code_cache *code_cache_create(void);
void code_cache_destroy(struct code_cache *cache);

/*
 * Asks copy for what code_cache_resolve() will look at besides the head, when
 * the object at this address is known and its head unchanged.
 */
void code_cache_want(struct code_cache *cache, const struct python_layout *layout,
		     remote_addr address, const uint8_t *head, struct remote_copy *copy);

/*
 * The code object at address, whose first bytes are head (it has been checked
 * to be one). Reads it from the target when it is new. 0, -EFAULT, -EBADMSG
 * (its parts are not what they must be), -ENOMEM or what the reader said.
 * When the cache is full, a record named "?" stands for all that are new.
 */
__attribute__((warn_unused_result)) int code_cache_resolve(struct code_cache *cache,
							   const struct python_layout *layout,
							   remote_addr address, const uint8_t *head,
							   struct remote_copy *copy,
							   const struct python_code **ret_code);

/*
 * Reads the object at this address anew when it is resolved next: a frame does not fit it. To 3.10
 * the key does not tell the bytecode's size, which may have been read while the object went away.
 */
void code_cache_doubt(struct code_cache *cache, remote_addr address);

/*
 * Reads the head of a code object in the target that is this one to the last byte:
 * OFFSET_BLOCK_MAX bytes suffice. -ENOENT: there is none any more where it was seen.
 */
struct python_runtime;
__attribute__((warn_unused_result)) int code_cache_find(const struct python_runtime *runtime,
							const struct python_code *code,
							uint8_t *ret_head);

/* For reports and tests: how many records there are, and the bytes they take. */
size_t code_cache_count(const struct code_cache *cache);
/* How often one was left out because the cache was full. */
uint64_t code_cache_dropped(const struct code_cache *cache);

#endif
