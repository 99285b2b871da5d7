/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of well-known libraries that have a much faster counterpart for what
 * they are mostly called for. To call one is no finding: the time that samples
 * saw in it is. Pure.
 */
#ifndef PIEPROFD_DAEMON_DETECT_SLOW_CALL_H
#define PIEPROFD_DAEMON_DETECT_SLOW_CALL_H

#include "pyintrospect/code_object.h"

enum slow_when {
	SLOW_ALWAYS,
	SLOW_ON_NUMBERS, /* called with single numbers instead of arrays */
	SLOW_IN_TURN,    /* its result is what it works on the next time: x = f(x, y) */
};

struct slow_call {
	const char *function; /* without its class, which code objects to 3.10 do not tell */
	const char *file;     /* the path's end */
	const char *advice;   /* "does this: do that", after the expression that calls it */
	enum slow_when when;
};

/* Number + 1; 0: none of these. */
uint8_t slow_call_find(const struct python_code *code);
/* By what slow_call_find() said. */
const struct slow_call *slow_call_get(uint8_t number);

#endif
