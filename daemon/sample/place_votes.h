/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who runs at an instruction of Python code, the interpreter or a library that it called? Of a
 * thread that is not stopped there is the address that its clock recorded and no stack:
 *
 *   in the evaluation loop   the interpreter    --> a vote
 *   in a library             that               --> a vote
 *   elsewhere                a function of the interpreter's or of libc, called by either
 *                            --> as most votes at the same instruction have it
 *
 * numpy's short calls are a quarter to a third in such functions: taken for Python's all of
 * them, twice its share came out. A table of fixed size; a new instruction may take the place
 * of an old one.
 */
#ifndef PIEPROFD_DAEMON_SAMPLE_PLACE_VOTES_H
#define PIEPROFD_DAEMON_SAMPLE_PLACE_VOTES_H

#include "daemon/cct/time_class.h"
#include "pyintrospect/python_frame.h"

struct place_votes;

/* NULL: out of memory. */
struct place_votes *place_votes_create(void);
void place_votes_destroy(struct place_votes *votes);

void place_votes_add(struct place_votes *votes, const struct python_frame *frame,
		     enum time_class time_class);
/* fallback where there is no vote, or as many for either. */
enum time_class place_votes_ask(const struct place_votes *votes, const struct python_frame *frame,
				enum time_class fallback);

#endif
