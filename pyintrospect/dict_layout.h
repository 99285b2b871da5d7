/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a dict, its keys and an instance's values lie in memory: CPython 3.6 to 3.15, x86-64
 * builds with the GIL (Include/cpython/dictobject.h, Include/internal/pycore_dict.h and
 * pycore_object.h, Objects/dict-common.h before 3.11). They have not moved but at the minors
 * named here. In free-threaded builds all that lies behind an object's head is
 * object_head_extra() further on.
 */
#ifndef PIEPROFD_PYINTROSPECT_DICT_LAYOUT_H
#define PIEPROFD_PYINTROSPECT_DICT_LAYOUT_H

#include "common/address.h"

#include <stdbool.h>
#include <stdint.h>

enum {
	DICT_KEYS = 32,
	DICT_VALUES = 40,
	DICT_HEAD_SIZE = 48,
	KEYS_HEAD_SIZE = 40,
	/* 3.13+: the values of an instance lie behind a few bytes of state */
	VALUES_VALID = 3,
	VALUES_INLINE_HEAD = 8,
	/* before an instance, 3.11+ */
	MANAGED_DICT_BEFORE = 24,
	MANAGED_VALUES_BEFORE = 32, /* 3.11 */
};

/* Of a type's flags. */
#define TYPE_FLAG_INLINE_VALUES (1u << 2) /* 3.13+ */
#define TYPE_FLAG_MANAGED_DICT  (1u << 4) /* 3.11+ */

/* No instance is believed to be larger, but for its items. */
#define INSTANCE_SIZE_MAX 4096

/* Where a dict's entries are: words of hash, key and value, or of key and value alone. */
struct dict_keys {
	remote_addr entries;
	uint64_t count; /* removed ones included; as the target says, whatever it is */
	bool hashed;
};

/* From the first KEYS_HEAD_SIZE bytes of a dict's keys. False: these are no keys. */
bool dict_keys_parse(const uint8_t *head, remote_addr keys, int minor, struct dict_keys *ret_keys);

/* Where a type has the keys that its instances share, 3.11+. */
uint64_t dict_cached_keys_offset(int minor);

#endif
