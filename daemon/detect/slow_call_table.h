/* SPDX-License-Identifier: Apache-2.0 */
/* How the tables of slow_call.h are written: slow_call_arrays.c, slow_call_python.c. */
#ifndef PIEPROFD_DAEMON_DETECT_SLOW_CALL_TABLE_H
#define PIEPROFD_DAEMON_DETECT_SLOW_CALL_TABLE_H

#include <stddef.h>
#include <stdint.h>

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
	SLOW_OF_OBJECT_ON_LIST, /* a method, called with a short list, or one row */
	SLOW_ON_LOOP_ROW,       /* called for rows of an array that a loop goes over */
	SLOW_MANY,              /* called with more than two operands, by *args */
	SLOW_TALL,              /* called with a matrix that is much longer one way, and a flag */
	SLOW_INVERTS,           /* makes the inverse of a matrix, which is multiplied by at once */
	SLOW_ON_LONG_TEXT,      /* called with more text than it needs */
	SLOW_LOOKS,             /* goes through what it is asked for, from the first on */
	SLOW_ON_ARRAYS,         /* called with a list of arrays, instead of one of them all */
	SLOW_ON_PIECES,         /* a hash's, called with a few bytes */
	SLOW_ON_VALUE,          /* called with a format and one number, in a loop */
	SLOW_COPY_BACK,         /* reads back what has just been written: loads(dumps(x)) */
	SLOW_PART,              /* sorts all of an array; of which a part is taken */
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

/* Of ways that a table has but once, in place: what it does, what to do instead, an example. */
#define WAY(...) (&(const struct slow_way){ __VA_ARGS__ })
#define SQUARES(root, count)                                                                       \
	"mean = sum(x) / len(x); " root "sum((v - mean) ** 2 for v in x) / " count

/* Names that no function in C has: of a callable of a type, and of operators. */
#define UFUNC "numpy.ufunc"

extern const struct slow_way slow_way_looped, slow_way_part;

/* Together they fit into a number. */
#define SLOW_CALLS_OF_ARRAYS_MAX 180
#define SLOW_CALLS_OF_PYTHON_MAX (UINT8_MAX - SLOW_CALLS_OF_ARRAYS_MAX)

/* Of numpy, scipy, pandas and their like; of the standard library, and what reads and writes text.
 */
extern const struct slow_call slow_calls_of_arrays[], slow_calls_of_python[];
extern const size_t slow_calls_of_arrays_count, slow_calls_of_python_count;

#endif
