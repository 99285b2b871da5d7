/* SPDX-License-Identifier: Apache-2.0 */
#include "pyintrospect/dict_layout.h"

#include "pyintrospect/field.h"

enum {
	/* to 3.10 */
	KEYS_OLD_SIZE = 8,
	KEYS_OLD_ENTRIES = 32,
	KEYS_OLD_INDICES = 40,
	/* 3.11+ */
	KEYS_LOG2_INDEX_BYTES = 9,
	KEYS_KIND = 10,
	KEYS_KIND_GENERAL = 0,
	KEYS_ENTRIES = 24,
	KEYS_INDICES = 32,
	TYPE_CACHED_KEYS_3_11 = 872,
	TYPE_CACHED_KEYS_3_12 = 880,
	TYPE_CACHED_KEYS_3_15 = 888,
};

bool dict_keys_parse(const uint8_t *head, remote_addr keys, int minor, struct dict_keys *ret_keys)
{
	if (minor >= 11) {
		if (head[KEYS_LOG2_INDEX_BYTES] > 32)
			return false;
		*ret_keys = (struct dict_keys){
			.entries = keys + KEYS_INDICES + (1ull << head[KEYS_LOG2_INDEX_BYTES]),
			.count = field_u64(head, KEYS_ENTRIES),
			.hashed = head[KEYS_KIND] == KEYS_KIND_GENERAL,
		};
	} else {
		uint64_t size = field_u64(head, KEYS_OLD_SIZE);
		uint64_t width = size <= UINT8_MAX ? 1 : size <= UINT16_MAX ? 2 : 4;

		if (size > UINT32_MAX)
			return false;
		*ret_keys = (struct dict_keys){
			.entries = keys + KEYS_OLD_INDICES + size * width,
			.count = field_u64(head, KEYS_OLD_ENTRIES),
			.hashed = true,
		};
	}
	return true;
}

uint64_t dict_cached_keys_offset(int minor)
{
	return minor >= 15   ? TYPE_CACHED_KEYS_3_15
	       : minor >= 12 ? TYPE_CACHED_KEYS_3_12
			     : TYPE_CACHED_KEYS_3_11;
}
