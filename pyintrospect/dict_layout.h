/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a dict, its keys and an instance's values lie in memory: CPython 3.6 to 3.15,
 * x86-64 builds with the GIL; see object_reader.c for those without
 * (Include/cpython/dictobject.h,
 * Include/internal/pycore_dict.h, Objects/dict-common.h before 3.11).
 */
#ifndef PIEPROFD_PYINTROSPECT_DICT_LAYOUT_H
#define PIEPROFD_PYINTROSPECT_DICT_LAYOUT_H

enum {
	DICT_KEYS = 32,
	DICT_VALUES = 40,
	DICT_HEAD_SIZE = 48,
	/* to 3.10 */
	KEYS_OLD_SIZE = 8,
	KEYS_OLD_ENTRIES = 32,
	KEYS_OLD_INDICES = 40,
	/* 3.11+ */
	KEYS_LOG2_INDEX_BYTES = 9,
	KEYS_KIND = 10,
	KEYS_ENTRIES = 24,
	KEYS_INDICES = 32,
	KEYS_HEAD_SIZE = 40,
	/* 3.13+: the values of an instance lie behind a few bytes of state */
	VALUES_VALID = 3,
	VALUES_INLINE_HEAD = 8,
};

#endif
