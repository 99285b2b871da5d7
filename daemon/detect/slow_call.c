/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/detect/slow_call.h"

#include "common/text.h"

#include <string.h>

#define ON_NUMBERS(other)                                                                          \
	"is made for arrays and is called on single numbers: " other                               \
	" will do, many times faster, for "                                                        \
	"one, or give the whole array to one call"
#define COPIES                                                                                     \
	"copies all that was joined before each time: collect the parts in a list and join them "  \
	"once, after the loop"

#define COPIES_REST                                                                                \
	"copies all that is left each time: mark what is to go, and take it out in one call"

#define ELEMENT_BY_ELEMENT                                                                         \
	"makes a Python object of each element: use the array's own method, or its library's "     \
	"function"
#define FROM_THE_BEGINNING                                                                         \
	"goes through the list from its beginning each time: keep what is looked for in a set or " \
	"dict"
#define FOR_EACH_ROW                                                                               \
	"builds a Series for each row and calls a Python function with it: work on whole columns"
#define FOR_EACH_GROUP                                                                             \
	"calls a Python function for each group: name an aggregation of pandas' own (\"max\", "    \
	"\"nunique\"), which goes over all groups at once, or work on whole columns"
#define FOR_EACH_ITEM                                                                              \
	"calls a Python function for each item, which only reckons with numbers: do that with "    \
	"the whole column"
#define ON_TEXT                                                                                    \
	"is made for columns and is called on single texts: give it the whole column, or use "     \
	"datetime.fromisoformat(), float() and their like"
#define ON_LIST(other)                                                                             \
	"makes an array of a short list first, which costs more than the work: " other             \
	", or keep the numbers in an array"
#define FACTORISES(other) "factorises the same matrix each time: " other
#define COPIES_FIELDS                                                                              \
	"copies what each field holds, in Python: vars() gives the fields as they are, and a "     \
	"method of "                                                                               \
	"the class's own can copy what needs it"
#define EXACT(other) "works in exact fractions: " other
#define MOVES_ALL    "moves all that is behind it each time: use collections.deque"
#define OF_DISTRIBUTION                                                                            \
	"checks and broadcasts its arguments for each single number, which takes far longer than " \
	"the formula: give all numbers to one call, or write the formula with math"
#define BY_TRANSFORM                                                                               \
	"multiplies each number of one array by each of the other: scipy.signal.fftconvolve() "    \
	"does "                                                                                    \
	"it by their transforms"
#define DISTRIBUTION(function)                                                                     \
	{                                                                                          \
		function, "/stats/_distn_infrastructure.py", OF_DISTRIBUTION,                      \
			SLOW_OF_OBJECT_ON_NUMBERS, 0.97                                            \
	}

static const struct slow_call slow_calls[] = {
	{ "iterrows", "pandas/core/frame.py",
	  "builds a Series for each row: work on whole columns, or use itertuples()", SLOW_ROWS,
	  1 },
	{ "series_generator", "pandas/core/apply.py", FOR_EACH_ROW, SLOW_ROWS, 1 },
	{ "apply_series_generator", "pandas/core/apply.py", FOR_EACH_ROW, SLOW_ROWS_AROUND, 1 },
	{ "_aggregate_series_pure_python", "pandas/core/groupby/ops.py", FOR_EACH_GROUP,
	  SLOW_GROUPS, 0.9 },
	{ "_transform_general", "pandas/core/groupby/generic.py", FOR_EACH_GROUP, SLOW_GROUPS,
	  0.9 },
	{ "apply_groupwise", "pandas/core/groupby/ops.py", FOR_EACH_GROUP, SLOW_GROUPS, 0.8 },
	{ "map_array", "pandas/core/algorithms.py", FOR_EACH_ITEM, SLOW_ITEMS, 0.9 },
	{ "_map_values", "pandas/core/base.py", FOR_EACH_ITEM, SLOW_ITEMS, 0.9 },
	{ "to_datetime", "pandas/core/tools/datetimes.py", ON_TEXT, SLOW_ON_TEXT, 0.9 },
	{ "to_timedelta", "pandas/core/tools/timedeltas.py", ON_TEXT, SLOW_ON_TEXT, 0.9 },
	{ "to_numeric", "pandas/core/tools/numeric.py", ON_TEXT, SLOW_ON_TEXT, 0.9 },
	{ "getrow", "/sparse/_matrix.py",
	  "makes a matrix of each row: sum(axis=1) and its like go over all rows at once, and "
	  "indptr, "
	  "indices and data hold them as they are",
	  SLOW_ALWAYS, 0.9 },
	{ "deepcopy", "/copy.py",
	  "copies item by item, in Python: build the new object from its parts, or copy only what "
	  "is "
	  "changed",
	  SLOW_COPY, 1 },
	{ "mean", "/statistics.py",
	  "adds up exact fractions: statistics.fmean() does it in floating point", SLOW_ALWAYS, 1 },
	{ "stdev", "/statistics.py", EXACT("math.sqrt() of a sum of squares, or NumPy's std()"),
	  SLOW_ALWAYS, 0.8 },
	{ "pstdev", "/statistics.py", EXACT("math.sqrt() of a sum of squares, or NumPy's std()"),
	  SLOW_ALWAYS, 0.8 },
	{ "variance", "/statistics.py", EXACT("a sum of squares, or NumPy's var()"), SLOW_ALWAYS,
	  0.8 },
	{ "pvariance", "/statistics.py", EXACT("a sum of squares, or NumPy's var()"), SLOW_ALWAYS,
	  0.8 },
	{ "asdict", "/dataclasses.py", COPIES_FIELDS, SLOW_COPY, 0.9 },
	{ "astuple", "/dataclasses.py", COPIES_FIELDS, SLOW_COPY, 0.9 },
	{ "spsolve", "/linsolve.py",
	  FACTORISES("factorized() or splu() of scipy.sparse.linalg do so once"), SLOW_PREPARES,
	  0.9 },
	{ "solve", "/_basic.py", FACTORISES("lu_factor() once, and lu_solve() for each"),
	  SLOW_PREPARES, 0.8 },
	{ "solve", "/_linalg.py",
	  FACTORISES("scipy.linalg.lu_factor() once, or give all right-hand sides to one call"),
	  SLOW_PREPARES, 0.8 },
	{ "solve", "/linalg.py",
	  FACTORISES("scipy.linalg.lu_factor() once, or give all right-hand sides to one call"),
	  SLOW_PREPARES, 0.8 },
	{ "_strptime_datetime", "/_strptime.py",
	  "interprets its format anew for each text: datetime.fromisoformat() reads ISO 8601 many "
	  "times faster",
	  SLOW_ALWAYS, 1 },
	{ "_strptime_datetime_datetime", "/_strptime.py",
	  "interprets its format anew for each text: datetime.fromisoformat() reads ISO 8601 many "
	  "times faster",
	  SLOW_ALWAYS, 1 },
	{ "apply_along_axis", "/shape_base.py",
	  "calls a Python function for each row: use a function that takes the axis", SLOW_ALWAYS,
	  1 },
	{ "apply_along_axis", "/_shape_base_impl.py",
	  "calls a Python function for each row: use a function that takes the axis", SLOW_ALWAYS,
	  1 },
	{ "_vectorize_call", "/function_base.py",
	  "calls a Python function for each element: write it with operations on whole arrays",
	  SLOW_ALWAYS, 1 },
	{ "_vectorize_call", "/_function_base_impl.py",
	  "calls a Python function for each element: write it with operations on whole arrays",
	  SLOW_ALWAYS, 1 },
	{ "clip", "/fromnumeric.py", ON_NUMBERS("min() and max()"), SLOW_ON_NUMBERS, 1 },
	{ "around", "/fromnumeric.py", ON_NUMBERS("round()"), SLOW_ON_NUMBERS, 1 },
	{ "round", "/fromnumeric.py", ON_NUMBERS("round()"), SLOW_ON_NUMBERS, 1 },
	{ "round_", "/fromnumeric.py", ON_NUMBERS("round()"), SLOW_ON_NUMBERS, 1 },
	{ "isclose", "/numeric.py", ON_NUMBERS("math.isclose()"), SLOW_ON_NUMBERS, 1 },
	{ "concat", "pandas/core/reshape/concat.py", COPIES, SLOW_IN_TURN, 1 },
	{ "append", "numpy/lib/function_base.py", COPIES, SLOW_IN_TURN, 1 },
	{ "append", "/_function_base_impl.py", COPIES, SLOW_IN_TURN, 1 },
	{ "insert", "/function_base.py", COPIES, SLOW_IN_TURN, 1 },
	{ "insert", "/_function_base_impl.py", COPIES, SLOW_IN_TURN, 1 },
	{ "delete", "/function_base.py", COPIES_REST, SLOW_IN_TURN, 1 },
	{ "delete", "/_function_base_impl.py", COPIES_REST, SLOW_IN_TURN, 1 },
	{ "vstack", "/shape_base.py", COPIES, SLOW_IN_TURN, 1 },
	{ "hstack", "/shape_base.py", COPIES, SLOW_IN_TURN, 1 },
	{ "sum", NULL, ELEMENT_BY_ELEMENT, SLOW_ON_ARRAY, 1 },
	{ "max", NULL, ELEMENT_BY_ELEMENT, SLOW_ON_ARRAY, 1 },
	{ "min", NULL, ELEMENT_BY_ELEMENT, SLOW_ON_ARRAY, 1 },
	{ "any", NULL, ELEMENT_BY_ELEMENT, SLOW_ON_ARRAY, 1 },
	{ "all", NULL, ELEMENT_BY_ELEMENT, SLOW_ON_ARRAY, 1 },
	{ "sorted", NULL, ELEMENT_BY_ELEMENT, SLOW_ON_ARRAY, 1 },
	{ "pop", NULL, MOVES_ALL, SLOW_AT_FRONT, 1 },
	{ "insert", NULL, MOVES_ALL, SLOW_AT_FRONT, 1 },
	{ "index", NULL, FROM_THE_BEGINNING, SLOW_SEARCH, 1 },
	{ "count", NULL, FROM_THE_BEGINNING, SLOW_SEARCH, 1 },
	{ "remove", NULL, FROM_THE_BEGINNING, SLOW_SEARCH, 1 },
	{ "mean", "/fromnumeric.py", ON_LIST("sum(x) / len(x) will do"), SLOW_ON_LIST, 0.9 },
	{ "std", "/fromnumeric.py", ON_LIST("statistics.pstdev() or math.sqrt() of a sum will do"),
	  SLOW_ON_LIST, 0.8 },
	{ "var", "/fromnumeric.py", ON_LIST("a sum of squares will do"), SLOW_ON_LIST, 0.8 },
	{ "sum", "/fromnumeric.py", ON_LIST("sum() will do"), SLOW_ON_LIST, 0.9 },
	{ "prod", "/fromnumeric.py", ON_LIST("math.prod() will do"), SLOW_ON_LIST, 0.9 },
	{ "max", "/fromnumeric.py", ON_LIST("max() will do"), SLOW_ON_LIST, 0.9 },
	{ "amax", "/fromnumeric.py", ON_LIST("max() will do"), SLOW_ON_LIST, 0.9 },
	{ "min", "/fromnumeric.py", ON_LIST("min() will do"), SLOW_ON_LIST, 0.9 },
	{ "amin", "/fromnumeric.py", ON_LIST("min() will do"), SLOW_ON_LIST, 0.9 },
	{ "argmax", "/fromnumeric.py", ON_LIST("max() over range(len(x)) will do"), SLOW_ON_LIST,
	  0.8 },
	{ "argmin", "/fromnumeric.py", ON_LIST("min() over range(len(x)) will do"), SLOW_ON_LIST,
	  0.8 },
	{ "argsort", "/fromnumeric.py", ON_LIST("sorted() over range(len(x)) will do"),
	  SLOW_ON_LIST, 0.7 },
	{ "median", "/function_base.py", ON_LIST("statistics.median() will do"), SLOW_ON_LIST,
	  0.9 },
	{ "median", "/_function_base_impl.py", ON_LIST("statistics.median() will do"), SLOW_ON_LIST,
	  0.9 },
	{ "percentile", "/function_base.py", ON_LIST("sorted() and an index will do"), SLOW_ON_LIST,
	  0.9 },
	{ "percentile", "/_function_base_impl.py", ON_LIST("sorted() and an index will do"),
	  SLOW_ON_LIST, 0.9 },
	{ "quantile", "/_function_base_impl.py", ON_LIST("sorted() and an index will do"),
	  SLOW_ON_LIST, 0.9 },
	{ "average", "/function_base.py", ON_LIST("sums of a generator will do"), SLOW_ON_LIST,
	  0.8 },
	{ "average", "/_function_base_impl.py", ON_LIST("sums of a generator will do"),
	  SLOW_ON_LIST, 0.8 },
	{ "unique", "/arraysetops.py", ON_LIST("sorted(set()) will do"), SLOW_ON_LIST, 0.8 },
	{ "unique", "/_arraysetops_impl.py", ON_LIST("sorted(set()) will do"), SLOW_ON_LIST, 0.8 },
	DISTRIBUTION("pdf"),
	DISTRIBUTION("logpdf"),
	DISTRIBUTION("pmf"),
	DISTRIBUTION("logpmf"),
	DISTRIBUTION("cdf"),
	DISTRIBUTION("logcdf"),
	DISTRIBUTION("sf"),
	DISTRIBUTION("logsf"),
	DISTRIBUTION("ppf"),
	DISTRIBUTION("isf"),
	{ "__call__", "/interpolate/_polyint.py",
	  "is called for single numbers: give all of them to one call, or use numpy.interp() for a "
	  "linear one",
	  SLOW_OF_OBJECT_ON_NUMBERS, 0.8 },
	{ "searchsorted", "/fromnumeric.py",
	  "looks up one number a call: give all of them to one call, or use bisect on a list",
	  SLOW_FOR_NUMBER, 0.85 },
	{ "isin", "/_arraysetops_impl.py",
	  "goes through all of the array for one number: keep its items in a set", SLOW_FOR_NUMBER,
	  0.9 },
	{ "cross", "/numeric.py",
	  "is made for many vectors and is called on one pair: give all pairs to one call, or "
	  "write the "
	  "three products out",
	  SLOW_ON_FEW, 0.9 },
	{ "convolve", "/numeric.py", BY_TRANSFORM, SLOW_ON_LARGE, 0.85 },
	{ "correlate", "/numeric.py", BY_TRANSFORM, SLOW_ON_LARGE, 0.85 },
	{ "choices", "/random.py",
	  "adds up all weights for one draw: draw all at once (k=), or give cum_weights, added up "
	  "once "
	  "by itertools.accumulate()",
	  SLOW_WEIGHED, 0.85 },
	{ "sort", "/fromnumeric.py",
	  "sorts all of it to take the first or the last item: use its min() or max()", SLOW_END,
	  0.9 },
	{ "stack", "/inspect.py",
	  "reads the source of each frame: sys._getframe() gives the frames alone", SLOW_OF_STATE,
	  0.97 },
	{ "parse", "/dateutil/parser/_parser.py",
	  "guesses the format anew for each text: datetime.fromisoformat() and strptime() are told "
	  "it",
	  SLOW_ALWAYS, 0.85 },
	{ "genfromtxt", "/npyio.py",
	  "splits and converts each line in Python: numpy.loadtxt() (from NumPy 1.23 on) and "
	  "pandas.read_csv() do so in C",
	  SLOW_ALWAYS, 0.75 },
	{ "genfromtxt", "/_npyio_impl.py",
	  "splits and converts each line in Python: numpy.loadtxt() and pandas.read_csv() do so "
	  "in C",
	  SLOW_ALWAYS, 0.75 },
	{ "read", "pandas/io/parsers/python_parser.py",
	  "parses in Python: the engine \"c\", the default for a separator of one character, does "
	  "so in C",
	  SLOW_INSIDE, 0.8 },
	{ "_setitem_with_indexer_missing", "pandas/core/indexing.py",
	  "copies all rows to add one: collect the rows in a list, and make the frame of them once",
	  SLOW_ENLARGES, 1 },
	{ "reader", NULL, "is made anew for one line: give it the whole file, or all lines",
	  SLOW_ON_ONE, 0.8 },
	{ "unpack_from", NULL,
	  "reads one record a call: struct.iter_unpack() goes over all of them, numpy.frombuffer() "
	  "and array.frombytes() take them at once",
	  SLOW_IN_PIECES, 0.75 },
	{ "sort", NULL,
	  "sorts a list that grows from call to call: sort it once, or use bisect.insort() or "
	  "heapq",
	  SLOW_SORT, 1 },
};

static const char *last_name(const struct python_code *code)
{
	const char *dot = strrchr(code->function, '.');

	return dot ? dot + 1 : code->function;
}

uint8_t slow_call_find(const struct python_code *code)
{
	const char *function = last_name(code);

	for (size_t i = 0; i < sizeof(slow_calls) / sizeof(slow_calls[0]); i++)
		if (slow_calls[i].file && !strcmp(function, slow_calls[i].function) &&
		    text_ends_with(code->file, slow_calls[i].file))
			return (uint8_t)(i + 1);
	return 0;
}

bool slow_call_draws(const struct python_code *code)
{
	return !strcmp(last_name(code), "rvs") && strstr(code->file, "/scipy/stats/");
}

uint8_t slow_call_find_builtin(const char *name, bool of_builtins)
{
	for (size_t i = 0; i < sizeof(slow_calls) / sizeof(slow_calls[0]); i++)
		if (!slow_calls[i].file && !strcmp(name, slow_calls[i].function) &&
		    of_builtins == (slow_calls[i].when == SLOW_ON_ARRAY))
			return (uint8_t)(i + 1);
	return 0;
}

bool slow_call_is_builtin(uint8_t number)
{
	return number && !slow_call_get(number)->file;
}

bool slow_call_sorts(uint8_t number)
{
	return slow_call_is_builtin(number) && !strcmp(slow_call_get(number)->function, "sorted");
}

bool slow_call_goes_over(uint8_t number)
{
	const char *function = slow_call_is_builtin(number) ? slow_call_get(number)->function : "";

	return !strcmp(function, "sorted") || !strcmp(function, "min") ||
	       !strcmp(function, "max") || !strcmp(function, "sum");
}

bool slow_call_copies(uint8_t number)
{
	return number && slow_call_get(number)->when == SLOW_COPY;
}

bool slow_call_speaks_for(uint8_t number, enum argument_verdict verdict)
{
	if (!number)
		return false;
	switch (slow_call_get(number)->when) {
	case SLOW_IN_TURN:
	case SLOW_SORT:
	case SLOW_ENLARGES:
		return verdict == ARGUMENT_GROWING;
	case SLOW_END:
		return verdict == ARGUMENT_END;
	case SLOW_AT_FRONT:
		return verdict == ARGUMENT_CUT;
	case SLOW_SEARCH:
		return verdict == ARGUMENT_SEARCHED;
	case SLOW_IN_PIECES:
		return verdict == ARGUMENT_ELEMENTS;
	default:
		return verdict == ARGUMENT_SLOW;
	}
}

const struct slow_call *slow_call_get(uint8_t number)
{
	return &slow_calls[number - 1];
}
