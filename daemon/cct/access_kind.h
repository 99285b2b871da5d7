/* SPDX-License-Identifier: Apache-2.0 */
/* What is told apart of watched memory accesses. */
#ifndef PIEPROFD_DAEMON_CCT_ACCESS_KIND_H
#define PIEPROFD_DAEMON_CCT_ACCESS_KIND_H

enum pair_kind {
	PAIR_LOAD,
	PAIR_STORE,
	PAIR_KIND_COUNT
};

enum access_verdict {
	VERDICT_REDUNDANT,   /* the same bits */
	VERDICT_APPROXIMATE, /* floats within 1% of each other, not equal */
	VERDICT_NEW,         /* another value */
	VERDICT_COUNT
};

/* What lies at the watched address. */
enum memory_class {
	MEMORY_HEAP,   /* brk heap and large private mappings: array payload, malloc */
	MEMORY_OBJECT, /* inside a Python object's arena (pymalloc) */
	MEMORY_STATIC, /* a module's data: type objects, tables */
	MEMORY_OTHER,
	MEMORY_CLASS_COUNT
};

#endif
