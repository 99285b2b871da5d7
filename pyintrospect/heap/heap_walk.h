/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Breadth first through all objects, from the roots: each is counted once, where it was found
 * first. What an owner has as its storage (a list's items, a dict's keys, an array's data) is
 * raw, whatever it looks like.
 *
 *   roots -> queue of nodes -> heap_reference.h: what each refers to -> queue
 *
 * Raw memory is looked into when no object is left: what was there before it was allocated may
 * still be in it, and must not hold what a variable does.
 */
#ifndef PIEPROFD_PYINTROSPECT_HEAP_HEAP_WALK_H
#define PIEPROFD_PYINTROSPECT_HEAP_HEAP_WALK_H

#include "pyintrospect/heap/heap_mend.h"
#include "pyintrospect/heap/heap_nodes.h"
#include "pyintrospect/heap/heap_path.h"
#include "pyintrospect/heap/heap_type.h"

/* Into raw memory a reference may lead so far behind its start, where that is in use by an owner.
 */
#define HEAP_RAW_INSIDE_MAX 64

enum heap_step {
	HEAP_STEP_ITEM,    /* [*] of a list or tuple */
	HEAP_STEP_KEY,     /* {key} of a dict */
	HEAP_STEP_VALUE,   /* {*} */
	HEAP_STEP_SET,     /* <*> of a set */
	HEAP_STEP_OTHER,   /* -> */
	HEAP_STEP_CLOSURE, /* .__closure__ of a function */
	HEAP_STEPS
};

/* Arrays by numpy's type of element. */
struct heap_array_count {
	uint64_t count, bytes;
};

/* Steps of attributes that were met, by the address of their name. */
#define HEAP_STEP_CACHE 4096

struct heap_cached_step {
	remote_addr name;
	uint32_t step;
};

struct heap_walk {
	struct heap_image *image;
	struct heap_nodes *nodes;
	struct heap_types *types;
	struct heap_paths *paths;
	uint32_t *path_of; /* by node; 0: not reached */
	uint32_t *queue;
	uint64_t queue_first, queue_end; /* objects, from the array's start on */
	uint64_t raw_first, raw_end;     /* raw memory, from its end backwards */
	size_t queue_size;
	uint32_t steps[HEAP_STEPS];
	struct heap_cached_step attributes[HEAP_STEP_CACHE];
	struct heap_array_count arrays[HEAP_ARRAY_NUMBERS];
	/* While the roots are followed, the reader is asked for nothing now and then: it says when
	 * nobody waits for the look any more. */
	uint64_t visited;
	bool roots_done;
	struct heap_mends mends;
	int stopped;        /* what it said; 0: to go on */
	uint64_t absorbed;  /* objects that are part of their owners */
	uint64_t misjudged; /* nodes that were storage, and had looked like objects */
	uint64_t unheld_objects, unheld_bytes;
};

__attribute__((warn_unused_result)) int heap_walk_init(struct heap_walk *walk,
						       struct heap_nodes *nodes,
						       struct heap_types *types,
						       struct heap_paths *paths);
void heap_walk_deinit(struct heap_walk *walk);

/*
 * The node around an address, as heap_nodes_find(); where memory of an allocator that is not read
 * may be found, an object that begins there becomes one.
 */
uint32_t heap_walk_node(const struct heap_walk *walk, remote_addr address, uint64_t *ret_inside);

/* Where an object of a type begins that is at this address; HEAP_NODE_NONE. */
uint32_t heap_walk_object(const struct heap_walk *walk, remote_addr address);

/* Follows a word that may be a reference, from what was reached by path. */
void heap_walk_follow(struct heap_walk *walk, uint64_t word, uint32_t path, uint32_t step);

/* Takes an object for a path of its own, unless it has one. */
void heap_walk_take(struct heap_walk *walk, uint32_t node, uint32_t path);

/*
 * Raw memory that an owner of that path uses; scanned: it may hold references. size: what the owner
 * says, for memory of an allocator that is not read; 0: not known.
 */
void heap_walk_claim(struct heap_walk *walk, remote_addr address, uint64_t size, uint32_t path,
		     bool scanned);

/* An object that is part of its owner: no step of its own, and not looked at again. */
bool heap_walk_absorb(struct heap_walk *walk, remote_addr address, uint32_t path);

#endif
