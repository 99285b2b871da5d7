/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of well-known libraries that have a much faster counterpart for what
 * they are mostly called for. To call one is no finding: the time that samples
 * saw in it is. Pure.
 */
#ifndef PIEPROFD_DAEMON_DETECT_SLOW_CALL_H
#define PIEPROFD_DAEMON_DETECT_SLOW_CALL_H

#include "daemon/detect/argument_verdict.h"
#include "daemon/detect/slow_call_table.h"
#include "pyintrospect/code_object.h"

/* Number + 1; 0: none of these. */
uint8_t slow_call_find(const struct python_code *code);
/* Of a function in C, by its name: one of module builtins, or a method. */
uint8_t slow_call_find_builtin(const char *name, bool of_builtins);
/* Of a callable of numpy's type of universal functions. */
uint8_t slow_call_find_ufunc(void);
/* pandas makes a Series of one row here. */
bool slow_call_makes_row(const struct python_code *code);
/* A library's function that draws, from a state that its object keeps, or reads variables of its
 * caller. */
bool slow_call_asks(const struct python_code *code);
/* Of one that is slow on lists, what it is on rows of an array that a loop goes over; others stay.
 */
uint8_t slow_call_find_looped(uint8_t number);
/* Of one that is slow on lists, what it is on arrays of which a part is taken; others stay. */
uint8_t slow_call_find_parted(uint8_t number);
/* It is slow now and then, for its arguments; what runs inside of it may tell more. */
bool slow_call_is_weak(uint8_t number);
bool slow_call_is_builtin(uint8_t number);
/* sorted(x) */
bool slow_call_sorts(uint8_t number);
bool slow_call_sums(uint8_t number);
/* sorted(x), min(x), max(x), sum(x), heapify(x) */
bool slow_call_goes_over(uint8_t number);
/* copy.deepcopy() */
bool slow_call_copies(uint8_t number);
/* Is its advice the one for such a verdict? */
bool slow_call_speaks_for(uint8_t number, enum argument_verdict verdict);
/* By what these said. */
const struct slow_call *slow_call_get(uint8_t number);

#endif
