/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Variables that are in no dict of their owner's, by their names:
 *
 *   function -> __closure__ (tuple) -> cell -> what is in it    .__closure__.count
 *   threading.local -> dict of a dict for each thread           .attribute, of all threads
 *
 * The names of a closure's variables are those of the function's code, the last ones of it from
 * 3.11 on.
 */
#ifndef PIEPROFD_PYINTROSPECT_HEAP_HEAP_VARIABLE_H
#define PIEPROFD_PYINTROSPECT_HEAP_HEAP_VARIABLE_H

#include "pyintrospect/heap/heap_walk.h"

#define HEAP_CLOSURE_MAX 256 /* variables of a closure that get names */

/* Of a function of so many bytes, whose __closure__ may be one. */
void heap_variable_follow_closure(struct heap_walk *walk, remote_addr function, uint64_t size,
				  remote_addr closure, uint32_t path);

/* Of a threading.local. */
void heap_variable_follow_threads(struct heap_walk *walk, remote_addr local, uint64_t size,
				  uint32_t path);

#endif
