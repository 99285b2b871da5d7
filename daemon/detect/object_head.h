/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is an address a Python object's reference count or type pointer, inside an
 * object, in a module's static data, or none of these?
 *
 * An object is known by the pointer at the end of its head: it points to a type,
 * whose own type is PyType_Type or a metaclass whose type is PyType_Type.
 *
 *   with the GIL   count, type
 *   free-threaded  thread, flags and the owner's count, count of the others, type
 */
#ifndef PIEPROFD_DAEMON_DETECT_OBJECT_HEAD_H
#define PIEPROFD_DAEMON_DETECT_OBJECT_HEAD_H

#include "daemon/capture/target.h"
#include "daemon/cct/pair_table.h"

#define OBJECT_TYPES_CACHED 1024

struct object_types {
	remote_addr types[OBJECT_TYPES_CACHED]; /* known type objects, by hash; 0: empty */
};

/* Does [address, address + size) lie in an object's head? One to five reads, two more without GIL.
 */
bool object_head_at(struct object_types *types, const struct target *target, remote_addr address,
		    uint32_t size);

/* What lies at address. May read up to 20 words: not while a thread is stopped. */
enum memory_class object_memory_class(struct object_types *types, const struct target *target,
				      remote_addr address);

#endif
