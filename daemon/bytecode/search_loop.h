/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loops that look for what is equal to something, from the first item on: which
 * a dict would find at once; or for what is below or above, which bisection finds in
 * what is sorted. Read from bytecode. Pure.
 *
 *   for key in keys:                        around
 *       for item in items:                  loop over the same in each of its rounds
 *           if item.key == key: ...         comparison; nothing is done where it is false
 */
#ifndef PIEPROFD_DAEMON_BYTECODE_SEARCH_LOOP_H
#define PIEPROFD_DAEMON_BYTECODE_SEARCH_LOOP_H

#include "daemon/bytecode/loop.h"

/*
 * Is the instruction at an offset x == y, one of which is the same in all rounds of the
 * loop, and the other one is not? *ret_kept: 0 or 1, the one that is the same.
 */
bool search_loop_compares(const struct bytecode *bytecode, int offset, const struct loop *loop,
			  unsigned *ret_kept);

struct search_loop {
	int compare;  /* offset of the comparison that decides whether a round does anything */
	bool ordered; /* x < y and its like, of items as they are, or parts of them; else x == y */
	/* x[j] == y: all of x, which is the same in each round of the loop around. */
	bool indexed_same;
};

/* Is there one in the loop? around: the loop around it, NULL: none in this code object. */
bool search_loop_find(const struct bytecode *bytecode, const struct loop *loop,
		      const struct loop *around, struct search_loop *ret);

/* x[j], the instruction at an index: does j change in the loop, and x stay the same in around? */
bool search_loop_indexes(const struct bytecode *bytecode, size_t subscript, const struct loop *loop,
			 const struct loop *around);

/* Offset of the instruction that begins to go over what the loop goes over; -1: not seen. */
int search_loop_begin(const struct bytecode *bytecode, const struct loop *loop);

/* The same of a comprehension or generator expression, by the call that runs it. */
int search_loop_begin_of_call(const struct bytecode *bytecode, int offset);

/* Does it go over the same in all rounds of the loop around, as far as names tell? */
bool search_loop_keeps(const struct bytecode *bytecode, int begin, const struct loop *around);

#endif
