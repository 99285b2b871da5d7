/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does a site work on an array number by number, or on a list in a way that a better
 * one is known of? By its operands as last seen. Pure.
 */
#ifndef PIEPROFD_DAEMON_DETECT_ARGUMENT_ELEMENT_H
#define PIEPROFD_DAEMON_DETECT_ARGUMENT_ELEMENT_H

#include "daemon/bytecode/call_site.h"
#include "daemon/detect/argument_log.h"
#include "daemon/detect/slow_call.h"

/* What is searched from its beginning matters from so many items on. */
#define ARGUMENT_SEARCHED_MIN 32

/* A single number: Python's own kinds, or a library's. */
bool argument_is_number(uint8_t kind);

/* Of "float64[48,16]", how many numbers one index of so many dimensions takes out; 0: too many
 * indices. */
uint64_t argument_numbers_taken(const char *shape, uint64_t indices);
/* By its type's name: a frame, a tensor. */
bool argument_is_of_library(const char *shape);

/* x[i], where a call costs more than the work on what it takes out. */
bool argument_takes_element(const struct argument_site *site);

/* A library's call on single numbers alone, as np.sqrt(x[i]) is. */
bool argument_is_called_on_numbers(const struct argument_site *site);
bool argument_calls_on_scalars(const struct argument_site *site);

/* row.x or row["x"] of a row that is an object of its own. */
bool argument_asks_row(const struct argument_site *site);

/* x[i] * y, by what a subscript leaves: a library's own kind of number. */
bool argument_works_on_elements(const struct argument_site *site, const struct call_site *call,
				bool on_loop_item);

/* Compared as a whole, or a container in parts all over it, and no key of a cache: an array, a
 * list. Who holds it can keep what was made of it. */
bool argument_is_known_data(const struct argument_operand *operand);

/*
 * Those that were compared in parts never changed in these: nor has the rest, or so rarely that it
 * is no matter. Of two calls in a row that could not be told: the one entry of a hundred that
 * changes between them is in no part. True where there are none.
 */
bool argument_parts_are_steady(const struct argument_site *site);

/* An object, no frame, that was compared in part: what its methods change may be in the
 * rest, as a net's weights are. */
bool argument_has_part_of_object(const struct argument_site *site);

/* The first operand that is not what is called: its number, or how many there are. */
size_t argument_first_given(const struct argument_site *site);

/* A call of a function in C that is given so much that a cache's look at it is little beside it. */
bool argument_is_given_much(const struct argument_site *site);

/* It costs no more than to keep its result would: x[i] of a list, a + b of two numbers. */
bool argument_is_trivial(const struct argument_site *site);

/* A call, or an operation that is not trivial. */
bool argument_computes(const struct argument_site *site);

/* It works on an array of many numbers, not on one of its elements. */
bool argument_works_in_bulk(const struct argument_site *site);

/* x == value of a whole array or column, of a size that matters. */
bool argument_compares_array(const struct argument_site *site);

#endif
