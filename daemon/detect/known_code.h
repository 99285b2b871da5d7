/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a code object is to the detection: the program's own or a library's, whether it draws
 * random numbers, which slow call it is. Told by its path and name, remembered by code object.
 */
#ifndef PIEPROFD_DAEMON_DETECT_KNOWN_CODE_H
#define PIEPROFD_DAEMON_DETECT_KNOWN_CODE_H

#include "pyintrospect/python_stack.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KNOWN_CODES 1024

struct known_code {
	const struct python_code *code;
	bool is_library;
	bool asks;
	bool makes_row;
	bool keeps;   /* its results, by itself (bytecode/memo.h) */
	uint8_t slow; /* slow_call_get() knows it; 0: none */
};

/* All zeroes: none known yet. */
struct known_codes {
	struct known_code items[KNOWN_CODES];
};

/* Valid until the next call. */
const struct known_code *known_codes_get(struct known_codes *codes, const struct python_code *code);

/*
 * The slow call that runs in frame callee of a stack, or where rows are made, further in, as
 * slow_call_get() takes it; 0: none.
 */
uint8_t known_codes_slow_below(struct known_codes *codes, const struct python_stack *stack,
			       size_t callee);

/* Does that frame, or one of its library further in, make a Series of one row? */
bool known_codes_makes_row(struct known_codes *codes, const struct python_stack *stack,
			   size_t callee);

#endif
