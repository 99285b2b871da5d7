/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of well-known libraries that have a much faster counterpart for what
 * they are mostly called for. To call one is no finding: the time that samples
 * saw in it is. Pure.
 */
#ifndef PIEPROFD_DAEMON_DETECT_SLOW_CALL_H
#define PIEPROFD_DAEMON_DETECT_SLOW_CALL_H

#include "daemon/detect/argument_verdict.h"
#include "pyintrospect/code_object.h"

enum slow_when {
	SLOW_ALWAYS,
	SLOW_ON_NUMBERS, /* called with single numbers instead of arrays */
	SLOW_IN_TURN,    /* its result is what it works on the next time: x = f(x, y) */
	SLOW_ON_ARRAY,   /* goes through an array by Python's own means */
	SLOW_AT_FRONT,   /* takes from the front of a long list, or puts there */
	SLOW_SEARCH,     /* goes through a list from its beginning */
	SLOW_SORT,       /* of a list that grows from call to call */
	/* Makes an object of each row, for a loop or a function: there may be frames of the library
	 * in between. */
	SLOW_ROWS,
	SLOW_COPY,        /* copies what it is given: for who gets the copy to change it */
	SLOW_ROWS_AROUND, /* calls for each row what may be one of these */
	SLOW_ON_LIST,     /* called with a short list instead of an array */
	SLOW_ON_ANY_LIST, /* the same, however long it is */
	SLOW_ON_ONE,      /* called with a list of one item, instead of all that there are */
	SLOW_IN_PIECES,   /* in a loop over positions: one call could go over all of them */
	/* Calls a Python function for each group; one that hardly does anything itself has a
	 * counterpart for all groups at once. */
	SLOW_GROUPS,
	SLOW_PREPARES, /* prepares what its first argument is, the same one each time */
	SLOW_ON_TEXT,  /* called with single texts instead of columns */
	SLOW_ITEMS,    /* calls a Python function for each item: one that works on numbers alone */
	SLOW_OF_OBJECT_ON_NUMBERS, /* a method, called with single numbers instead of arrays */
	SLOW_FOR_NUMBER,           /* asks an array for one number, instead of for all of them */
	SLOW_ON_FEW,               /* called with an array of a few numbers */
	SLOW_ON_VECTOR,            /* the same, but for rows that a loop takes out one by one */
	SLOW_OF_OBJECT_ON_FEW,     /* a method, called with one number, or one point of a few */
	SLOW_ON_ROW,               /* called for rows of an array, one by one */
	SLOW_ELEMENT,  /* of an array or tensor of one element, where that was not taken out
			  by a subscript */
	SLOW_WEIGHED,  /* draws by a list of weights, added up anew for each draw */
	SLOW_END,      /* sorts all; of which an end is taken */
	SLOW_ON_LARGE, /* called with two arrays so long that their transforms take less */
	SLOW_OF_STATE, /* always; what it gives is of the moment, whatever it is given */
	SLOW_INSIDE,   /* always; there may be frames of its library around it */
	SLOW_UFUNC,    /* numpy's, called with single numbers, and not for all items of something */
	SLOW_ROW,      /* looks a row up in a frame, and makes an object of it */
	SLOW_ENLARGES, /* copies all to add a row; there may be frames of its library around it */
};

/* A way to write it, in words; slow_pattern.h has the same ones, of stacks alone. */
struct slow_way {
	const char *does;    /* after the expression: "builds a Series for each row" */
	const char *instead; /* "work on whole columns" */
	const char *example; /* of the other way, in Python; not the target's names */
};

extern const struct slow_way slow_way_iterrows, slow_way_apply_rows, slow_way_growing_array,
	slow_way_deep_copy;

struct slow_call {
	const char *function; /* without its class, which code objects to 3.10 do not tell */
	const char *file;     /* the path's end; NULL: of CPython's builtins, or a list's method */
	const struct slow_way *way;
	enum slow_when when;
	double saved; /* of its time, what the other way saves */
};

/* Number + 1; 0: none of these. */
uint8_t slow_call_find(const struct python_code *code);
/* Of a function in C, by its name: one of module builtins, or a method. */
uint8_t slow_call_find_builtin(const char *name, bool of_builtins);
/* Of a callable of numpy's type of universal functions. */
uint8_t slow_call_find_ufunc(void);
/* pandas makes a Series of one row here. */
bool slow_call_makes_row(const struct python_code *code);
/* A library's function that draws, from a state that its object keeps. */
bool slow_call_draws(const struct python_code *code);
bool slow_call_is_builtin(uint8_t number);
/* sorted(x) */
bool slow_call_sorts(uint8_t number);
/* sorted(x), min(x), max(x), sum(x) */
bool slow_call_goes_over(uint8_t number);
/* copy.deepcopy() */
bool slow_call_copies(uint8_t number);
/* Is its advice the one for such a verdict? */
bool slow_call_speaks_for(uint8_t number, enum argument_verdict verdict);
/* By what these said. */
const struct slow_call *slow_call_get(uint8_t number);

#endif
