/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One look at the memory of a running CPython: where it is, which types of objects, and who
 * holds them. Nothing is stopped, written or traced.
 *
 *   mappings, pages -> image -> nodes (pools, chunks) -> types -> walk from the roots
 *                                                             -> regions, types, holders
 *
 * It is plain data: two of them can be compared. A type is known again by its address and name, a
 * path by its steps and their types.
 */
#ifndef PIEPROFD_PYINTROSPECT_HEAP_HEAP_SNAPSHOT_H
#define PIEPROFD_PYINTROSPECT_HEAP_HEAP_SNAPSHOT_H

#include "common/error.h"
#include "common/mapping.h"
#include "common/memory.h"
#include "common/page_state.h"
#include "pyintrospect/heap/heap_answer.h"
#include "pyintrospect/heap/heap_container.h"
#include "pyintrospect/heap/heap_path.h"
#include "pyintrospect/heap/heap_regions.h"
#include "pyintrospect/heap/heap_sizes.h"
#include "pyintrospect/heap/heap_used_pools.h"
#include "pyintrospect/runtime.h"

#define HEAP_NAME_BYTES 192

struct heap_type_count {
	remote_addr address;
	char name[HEAP_NAME_BYTES]; /* with its module */
	uint64_t count;
	uint64_t bytes;         /* the objects' blocks */
	uint64_t storage_bytes; /* memory that they alone use: items, keys, tables, data */
	uint32_t prefix;        /* of a block, before the object */
	bool of_python;         /* a class that Python code made */
	bool of_one_size;       /* its objects have no items in themselves */
};

struct heap_array_type {
	const char *name; /* of the elements */
	uint64_t count, bytes;
};

/* Why there are no holders. */
enum heap_holders_state {
	HEAP_HOLDERS_KNOWN,
	HEAP_HOLDERS_UNWANTED,
	HEAP_HOLDERS_TOO_LARGE, /* the copy would be larger than was allowed */
};

struct heap_quality {
	uint64_t pools, torn_pools, reread_pools;
	uint64_t pool_block_bytes; /* of their blocks, those in use */
	uint64_t broken_heaps;     /* of glibc, whose row of chunks was not whole */
	uint64_t unheld_objects;   /* that no root leads to */
	uint64_t unheld_bytes;
	uint64_t unheld_reached_bytes; /* of these, and of all that they lead to */
	uint64_t misjudged_blocks;     /* storage that looked like objects */
	uint64_t young_objects;        /* not in the copy, and read for what they refer to */
	uint64_t young_left_out;
	/* In memory of an allocator that is not read, by references: objects; these and storage. */
	uint64_t found_objects, found_bytes;
	uint64_t copied_bytes, skipped_bytes, swapped_bytes;
	uint64_t copy_ns, total_ns;
	bool cut_types, cut_paths, cut_blocks;
};

struct heap_snapshot {
	const char *allocator; /* whose memory is not read (heap_allocator.h); NULL: none's */
	struct heap_regions regions;
	struct heap_type_count *types; /* the largest first */
	size_t type_count;
	struct heap_size_count *sizes; /* with holders alone */
	size_t size_count;
	struct heap_array_type arrays[32];
	size_t array_count;
	enum heap_holders_state holders;
	struct heap_paths paths;             /* their types are numbers in all_types */
	uint64_t *held_bytes;                /* by path: of all that it leads to */
	uint64_t *held_counts;               /* objects */
	char (*type_names)[HEAP_NAME_BYTES]; /* by a path's type */
	size_t type_name_count;
	struct heap_containers containers; /* the longest; none where holders are not known */
	struct heap_used_pools used_pools; /* where the next blocks are; with holders alone */
	/* Words with the addresses at which glibc's heaps end; with holders alone. */
	remote_addr ends[HEAP_ENDS_MAX];
	uint32_t end_count;
	struct heap_answer *answers; /* in the order of the questions; NULL: none, or no holders */
	struct heap_quality quality;
};

struct heap_source {
	struct python_runtime *runtime;
	const struct memory_reader *reader;
	const struct page_reader *pages;
	const struct mapping_list *mappings;
	const remote_addr *stacks; /* addresses in threads' stacks */
	size_t stack_count;
	uint64_t anonymous_bytes; /* of its own in RAM, as the kernel counts; 0: not known */
	const remote_addr
		*asked; /* what there is by now is to be told of: malloc() returned them */
	size_t asked_count;
	bool asked_within; /* they may be anywhere in a block, not where it begins alone */
};

struct heap_limits {
	bool no_holders;
	uint64_t memory_bytes; /* that the look may take, about: a copy and what is known of it */
};

/* 0, or -1 with *error filled: exit code EXIT_UNSUPPORTED_PYTHON, EXIT_NO_TARGET or EXIT_INTERNAL.
 */
__attribute__((warn_unused_result)) int heap_snapshot_take(const struct heap_source *source,
							   const struct heap_limits *limits,
							   struct heap_snapshot *ret_snapshot,
							   struct error *error);
void heap_snapshot_deinit(struct heap_snapshot *snapshot);

/* The steps of a path from its root on: their numbers, at most limit; how many there are. */
size_t heap_snapshot_steps(const struct heap_snapshot *snapshot, uint32_t path, uint32_t *ret_paths,
			   size_t limit);

#endif
