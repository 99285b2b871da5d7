/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What became of watched memory accesses, by calling context: for each
 * earlier path how often it was sampled, and for each pair of paths what the
 * later one found.
 */
#ifndef PIEPROFD_DAEMON_CCT_PAIR_TABLE_H
#define PIEPROFD_DAEMON_CCT_PAIR_TABLE_H

#include "daemon/cct/cct.h"

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

struct pair_evidence {
	uint64_t
		call_ns; /* on-CPU time from the sample to the end of its native call; 0: unknown */
	uint64_t distance_ns; /* on-CPU time from there to the later access; 0: unknown */
	enum memory_class memory;
	bool same_instruction;
	uint32_t bytes; /* compared */
	/* What the later call left there in the end was compared too: was it the same, bit by bit?
	 */
	bool settled, settled_same;
};

struct pair {
	enum pair_kind kind;
	const struct cct_node *first;  /* earlier access */
	const struct cct_node *second; /* later access */
	uint64_t verdicts[VERDICT_COUNT];
	uint64_t same_instruction; /* how many of them */
	uint64_t distance_ns_sum;
	uint64_t bytes; /* redundant bytes observed */
	/* New values in calls whose end was seen too, and of them: it left what had been there. */
	uint64_t settled, settled_same;
};

/* Per earlier path: everything sampled there, with its sum of verdicts. */
struct pair_origin {
	enum pair_kind kind;
	const struct cct_node *node;
	uint64_t sampled; /* watches that were armed and came to an end */
	uint64_t never;   /* never re-accessed before the time-out */
	uint64_t verdicts[VERDICT_COUNT];
	uint64_t by_memory[MEMORY_CLASS_COUNT];
	uint64_t redundant_by_memory[MEMORY_CLASS_COUNT]; /* exact and approximate */
	uint64_t call_count;                              /* samples whose call_ns is known */
	uint64_t call_ns_sum;
	uint64_t *call_ns; /* a uniform choice of them, unsorted, at most PAIR_ORIGIN_CALLS_MAX */
	size_t call_ns_kept;
};

#define PAIR_ORIGIN_CALLS_MAX 512

struct pair_table;

/* limit caps pairs and origins, each. NULL: out of memory. */
struct pair_table *pair_table_create(size_t limit);
void pair_table_destroy(struct pair_table *table);

/* A re-access ended a watch. 0, or -ENOSPC when the limit is reached, -ENOMEM. */
int pair_table_add(struct pair_table *table, enum pair_kind kind, const struct cct_node *first,
		   const struct cct_node *second, enum access_verdict verdict,
		   const struct pair_evidence *evidence);
/* A watch timed out without a re-access. */
int pair_table_add_never(struct pair_table *table, enum pair_kind kind,
			 const struct cct_node *first, const struct pair_evidence *evidence);

/*
 * Brings pairs, or origins, [first, first + count) of a copy up to date, those
 * that it has not yet included; first is at most its number of them. The copy is
 * a table by pair_table_create() that is for reading: nothing may be added to
 * it. It points to the nodes of tree, a copy of the original's that has all of
 * them. 0 or -ENOMEM.
 *
 * Pairs go before origins, so that each origin counts at least what its pairs do.
 */
__attribute__((warn_unused_result)) int pair_table_copy_pairs(struct pair_table *copy,
							      const struct pair_table *table,
							      const struct cct *tree, size_t first,
							      size_t count);
__attribute__((warn_unused_result)) int pair_table_copy_origins(struct pair_table *copy,
								const struct pair_table *table,
								const struct cct *tree,
								size_t first, size_t count);

/*
 * Takes the figures of an earlier copy of the same table out of this one, which
 * then shows what came after. Durations of calls stay those of the whole run,
 * where there were any since. An origin then counts what its pairs do and
 * nothing else: the earlier copy may have had them from different moments. 0 or
 * -ENOMEM.
 */
__attribute__((warn_unused_result)) int pair_table_subtract(struct pair_table *copy,
							    const struct pair *pairs,
							    size_t pair_count,
							    const struct pair_origin *origins,
							    size_t origin_count, size_t node_count);

/* In order of first sight; the pointers are good until the table is added to. NULL: no such index.
 */
size_t pair_table_pair_count(const struct pair_table *table);
const struct pair *pair_table_pair(const struct pair_table *table, size_t index);
size_t pair_table_origin_count(const struct pair_table *table);
const struct pair_origin *pair_table_origin(const struct pair_table *table, size_t index);

#endif
