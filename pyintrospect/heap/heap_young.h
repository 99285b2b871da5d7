/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects that are younger than the copy of their page: memory is copied one page
 * after the other while the process runs, so that an owner may know what its page does not.
 *
 *   time    --------------------------------------------------------->
 *           page of links copied            page of the head copied
 *                            a new first link is made: head -> new -> old -> older ...
 *
 * In the copy nothing leads from the head to the old links then. When all else is done, such an
 * object is read of the process itself for what it refers to, from which it goes on in the copy. It
 * is not counted: nor is what took its place since the copy left out.
 *
 * Where the new link's block had another object when its page was copied, nothing looks wrong. So
 * when much is reached by nobody, all that was reached is compared with what the process has by
 * now, and what differs is followed as it is now.
 */
#ifndef PIEPROFD_PYINTROSPECT_HEAP_HEAP_YOUNG_H
#define PIEPROFD_PYINTROSPECT_HEAP_HEAP_YOUNG_H

#include "pyintrospect/heap/heap_walk.h"

/* Notes what was reached and has changed since, if much was not reached. 0 or -ENOMEM. */
__attribute__((warn_unused_result)) int heap_young_compare(struct heap_walk *walk);

/* Reads all that is noted (heap_mend.h), and follows what that refers to. */
void heap_young_follow(struct heap_walk *walk);

#endif
