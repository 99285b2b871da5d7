/* SPDX-License-Identifier: Apache-2.0 */
/* What the other way saves: docs/MEASURED.md, "Library functions with a faster counterpart". */
#include "daemon/detect/slow_call_table.h"

#define ON_NUMBERS(other, ...)                                                                     \
	WAY("is made for arrays and is called on single numbers",                                  \
	    other " will do, many times faster, for one, or give the whole array to one call",     \
	    __VA_ARGS__)
#define ON_LIST(other, ...)                                                                        \
	WAY("makes an array of a short list first, which costs more than the work",                \
	    other ", or keep the numbers in an array", __VA_ARGS__)
#define ON_LONG_LIST(other, ...)                                                                   \
	WAY("makes an array of a list first, which costs more than the work",                      \
	    other ", or keep the numbers in an array", __VA_ARGS__)
#define FACTORISES(...) WAY("factorises the same matrix each time", __VA_ARGS__)

const struct slow_way slow_way_iterrows = {
	"builds a Series for each row",
	"work on whole columns, or use itertuples()",
	"total = (df.price * df.amount).sum(), without a loop",
};
const struct slow_way slow_way_apply_rows = {
	"builds a Series for each row and calls a Python function with it",
	"work on whole columns",
	"df[\"total\"] = df.price * df.amount; for conditions numpy.where()",
};
const struct slow_way slow_way_growing_array = {
	"copies all that was joined before each time",
	"collect the parts in a list and join them once, after the loop",
	"parts.append(part) in the loop; behind it numpy.concatenate(parts), or "
	"pandas.concat(parts)",
};
static const struct slow_way cut_array = {
	"copies all that is left each time",
	"mark what is to go, and take it out in one call",
	"keep[i] = False in the loop; behind it a = a[keep]",
};
const struct slow_way slow_way_part = {
	"sorts all of it to take a part",
	"argpartition() finds the first ones, PyTorch's topk() does, argmin() and argmax() find "
	"one",
	"best = numpy.argpartition(x, 10)[:10]; or torch.topk(x, 10).indices",
};
static const struct slow_way by_group = {
	"calls a Python function for each group",
	"name an aggregation of pandas' own (\"max\", \"nunique\"), which goes over all groups at "
	"once, or work on whole columns",
	"df.groupby(\"city\").price.agg(\"max\")",
};
static const struct slow_way by_item = {
	"calls a Python function for each item, which only reckons with numbers",
	"do that with the whole column",
	"df.price * 1.19 in place of df.price.map(lambda price: price * 1.19)",
};
static const struct slow_way on_text = {
	"is made for columns and is called on single texts",
	"give it the whole column, or use datetime.fromisoformat(), float() and their like",
	"df[\"day\"] = pandas.to_datetime(df.day), once",
};
static const struct slow_way along_axis = {
	"calls a Python function for each row",
	"use a function that takes the axis",
	"a.max(axis=1) in place of numpy.apply_along_axis(max, 1, a)",
};
static const struct slow_way vectorize = {
	"calls a Python function for each element",
	"write it with operations on whole arrays",
	"numpy.where(a > 0, a, 0) in place of numpy.vectorize(f)(a)",
};
static const struct slow_way of_distribution = {
	"checks and broadcasts its arguments for each single number, which takes far longer than "
	"the formula",
	"give all numbers to one call, or write the formula with math",
	"p = norm.pdf(values), with an array, in place of a loop",
};
static const struct slow_way of_vector = {
	"is made for large arrays and is called on a few numbers",
	"math.hypot() or math.dist() will do, or give all vectors to one call (axis=1)",
	"math.dist(p, q) in place of numpy.linalg.norm(p - q)",
};
static const struct slow_way by_transform = {
	"multiplies each number of one array by each of the other",
	"scipy.signal.fftconvolve() does it by their transforms",
	"c = scipy.signal.fftconvolve(a, b)",
};
static const struct slow_way of_pair = {
	"is called for one pair, which checks its arguments for longer than it reckons",
	"scipy.spatial.distance.cdist() takes all pairs at once, math.dist() one of few numbers",
	"d = scipy.spatial.distance.cdist(points, others), without a loop",
};
static const struct slow_way of_row = {
	"is called for one row",
	"give it all rows at once, and the axis",
	"smooth = scipy.signal.savgol_filter(rows, 13, 3, axis=1), without a loop",
};
static const struct slow_way of_point = {
	"is asked for one point",
	"give it all points at once",
	"distances, places = tree.query(points), without a loop",
};
static const struct slow_way of_curve = {
	"is called for single numbers",
	"give all of them to one call",
	"y = spline(x), with the array x",
};
static const struct slow_way of_sparse = {
	"makes a matrix of each row",
	"indptr, indices and data hold them as they are; for single elements build it from "
	"triples, "
	"or use todok()",
	"found = m.indices[m.indptr[i]:m.indptr[i + 1]]",
};
static const struct slow_way of_pixel = {
	"goes to one pixel a call",
	"numpy.asarray(image) has all of them, and Image.fromarray() takes them back",
	"pixels = numpy.asarray(image), once; then pixels[y, x]",
};
const struct slow_way slow_way_looped = {
	"is called for each row",
	"give it all rows at once, and the axis",
	"means = rows.mean(axis=1), without a loop",
};
static const struct slow_way looks_up_number = {
	"looks up one number a call",
	"give all of them to one call",
	"y = numpy.interp(x, known_x, known_y), with the array x",
};
static const struct slow_way all_vectors = {
	"makes all vectors of the longer side, most of which belong to no singular value",
	"full_matrices=False leaves these out, compute_uv=False all vectors",
	"u, s, v = numpy.linalg.svd(a, full_matrices=False)",
};
static const struct slow_way by_inverse = {
	"inverts a matrix to multiply by it",
	"solve() takes less than half of the time, and is more exact",
	"x = numpy.linalg.solve(a, b) in place of numpy.linalg.inv(a) @ b",
};
static const struct slow_way of_matrices_looped = {
	"is called for each matrix",
	"give it all of them at once, as an array of three dimensions",
	"d = numpy.linalg.det(matrices), of shape (n, 3, 3), without a loop",
};
#define MATRIX(function)                                                                           \
	{                                                                                          \
		function, "/_linalg.py", &of_matrices_looped, SLOW_ON_LOOP_ROW, 0.95               \
	}
/* Of torch, and numpy. */
#define ROW_IN_C(function)                                                                         \
	{                                                                                          \
		function, NULL, &slow_way_looped, SLOW_ON_LOOP_ROW, 0.9                            \
	}
#define LOOPED(function)                                                                           \
	{                                                                                          \
		function, "/_methods.py", &slow_way_looped, SLOW_ON_LOOP_ROW, 0.95                 \
	}
#define PAIR(function)                                                                             \
	{                                                                                          \
		function, "/spatial/distance.py", &of_pair, SLOW_ALWAYS, 0.95                      \
	}
#define ROW(function, file)                                                                        \
	{                                                                                          \
		function, file, &of_row, SLOW_ON_ROW, 0.9                                          \
	}
#define CURVE(file)                                                                                \
	{                                                                                          \
		"__call__", file, &of_curve, SLOW_OF_OBJECT_ON_NUMBERS, 0.97                       \
	}
#define DISTRIBUTION(function)                                                                     \
	{                                                                                          \
		function, "/stats/_distn_infrastructure.py", &of_distribution,                     \
			SLOW_OF_OBJECT_ON_NUMBERS, 0.97                                            \
	}

const struct slow_call slow_calls_of_arrays[] = {
	{ "iterrows", "pandas/core/frame.py", &slow_way_iterrows, SLOW_ROWS, 1 },
	{ "series_generator", "pandas/core/apply.py", &slow_way_apply_rows, SLOW_ROWS, 1 },
	{ "apply_series_generator", "pandas/core/apply.py", &slow_way_apply_rows, SLOW_ROWS_AROUND,
	  1 },
	{ "_aggregate_series_pure_python", "pandas/core/groupby/ops.py", &by_group, SLOW_GROUPS,
	  0.9 },
	{ "_transform_general", "pandas/core/groupby/generic.py", &by_group, SLOW_GROUPS, 0.9 },
	{ "apply_groupwise", "pandas/core/groupby/ops.py", &by_group, SLOW_GROUPS, 0.8 },
	{ "map_array", "pandas/core/algorithms.py", &by_item, SLOW_ITEMS, 0.9 },
	{ "_map_values", "pandas/core/base.py", &by_item, SLOW_ITEMS, 0.9 },
	{ "to_datetime", "pandas/core/tools/datetimes.py", &on_text, SLOW_ON_TEXT, 0.9 },
	{ "to_timedelta", "pandas/core/tools/timedeltas.py", &on_text, SLOW_ON_TEXT, 0.9 },
	{ "to_numeric", "pandas/core/tools/numeric.py", &on_text, SLOW_ON_TEXT, 0.9 },
	{ "getrow", "/sparse/_matrix.py",
	  WAY("makes a matrix of each row",
	      "sum(axis=1) and its like go over all rows at once, and indptr, indices and data "
	      "hold them as they are",
	      "sums = matrix.sum(axis=1), without a loop"),
	  SLOW_ALWAYS, 0.9 },
	{ "spsolve", "/linsolve.py",
	  FACTORISES("factorized() or splu() of scipy.sparse.linalg do so once",
		     "solve = scipy.sparse.linalg.factorized(a), once; then solve(b)"),
	  SLOW_PREPARES, 0.9 },
	{ "solve", "/_basic.py",
	  FACTORISES("lu_factor() once, and lu_solve() for each",
		     "lu = scipy.linalg.lu_factor(a), once; then lu_solve(lu, b)"),
	  SLOW_PREPARES, 0.8 },
	{ "solve", "/_linalg.py",
	  FACTORISES("scipy.linalg.lu_factor() once, or give all right-hand sides to one call",
		     "lu = scipy.linalg.lu_factor(a), once; then lu_solve(lu, b)"),
	  SLOW_PREPARES, 0.8 },
	{ "solve", "/linalg.py",
	  FACTORISES("scipy.linalg.lu_factor() once, or give all right-hand sides to one call",
		     "lu = scipy.linalg.lu_factor(a), once; then lu_solve(lu, b)"),
	  SLOW_PREPARES, 0.8 },
	{ "apply_along_axis", "/shape_base.py", &along_axis, SLOW_ALWAYS, 1 },
	{ "apply_along_axis", "/_shape_base_impl.py", &along_axis, SLOW_ALWAYS, 1 },
	{ "_vectorize_call", "/function_base.py", &vectorize, SLOW_ITEMS, 0.9 },
	{ "_vectorize_call", "/_function_base_impl.py", &vectorize, SLOW_ITEMS, 0.9 },
	{ "clip", "/fromnumeric.py", ON_NUMBERS("min() and max()", "min(max(x, low), high)"),
	  SLOW_ON_NUMBERS, 1 },
	{ "around", "/fromnumeric.py", ON_NUMBERS("round()", "round(x, 2)"), SLOW_ON_NUMBERS, 1 },
	{ "round", "/fromnumeric.py", ON_NUMBERS("round()", "round(x, 2)"), SLOW_ON_NUMBERS, 1 },
	{ "round_", "/fromnumeric.py", ON_NUMBERS("round()", "round(x, 2)"), SLOW_ON_NUMBERS, 1 },
	{ "isclose", "/numeric.py", ON_NUMBERS("math.isclose()", "math.isclose(x, y)"),
	  SLOW_ON_NUMBERS, 1 },
	{ "concat", "pandas/core/reshape/concat.py", &slow_way_growing_array, SLOW_IN_TURN, 1 },
	{ "append", "numpy/lib/function_base.py", &slow_way_growing_array, SLOW_IN_TURN, 1 },
	{ "append", "/_function_base_impl.py", &slow_way_growing_array, SLOW_IN_TURN, 1 },
	{ "insert", "/function_base.py", &slow_way_growing_array, SLOW_IN_TURN, 1 },
	{ "insert", "/_function_base_impl.py", &slow_way_growing_array, SLOW_IN_TURN, 1 },
	{ "delete", "/function_base.py", &cut_array, SLOW_IN_TURN, 1 },
	{ "delete", "/_function_base_impl.py", &cut_array, SLOW_IN_TURN, 1 },
	{ "vstack", "/shape_base.py", &slow_way_growing_array, SLOW_IN_TURN, 1 },
	{ "hstack", "/shape_base.py", &slow_way_growing_array, SLOW_IN_TURN, 1 },
	{ "mean", "/fromnumeric.py", ON_LONG_LIST("sum(x) / len(x) will do", "sum(x) / len(x)"),
	  SLOW_ON_ANY_LIST, 0.85 },
	{ "std", "/fromnumeric.py",
	  ON_LIST("math.sqrt() of a sum of squares will do", SQUARES("math.sqrt(", "len(x))")),
	  SLOW_ON_LIST, 0.8 },
	{ "var", "/fromnumeric.py", ON_LIST("a sum of squares will do", SQUARES("(", "len(x))")),
	  SLOW_ON_LIST, 0.8 },
	{ "sum", "/fromnumeric.py", ON_LONG_LIST("sum() will do", "sum(x)"), SLOW_ON_ANY_LIST,
	  0.85 },
	{ "prod", "/fromnumeric.py", ON_LIST("math.prod() will do", "math.prod(x)"), SLOW_ON_LIST,
	  0.9 },
	{ "max", "/fromnumeric.py", ON_LIST("max() will do", "max(x)"), SLOW_ON_LIST, 0.9 },
	{ "amax", "/fromnumeric.py", ON_LIST("max() will do", "max(x)"), SLOW_ON_LIST, 0.9 },
	{ "min", "/fromnumeric.py", ON_LIST("min() will do", "min(x)"), SLOW_ON_LIST, 0.9 },
	{ "amin", "/fromnumeric.py", ON_LIST("min() will do", "min(x)"), SLOW_ON_LIST, 0.9 },
	{ "argmax", "/fromnumeric.py",
	  ON_LIST("max() over range(len(x)) will do", "max(range(len(x)), key=x.__getitem__)"),
	  SLOW_ON_LIST, 0.8 },
	{ "argmin", "/fromnumeric.py",
	  ON_LIST("min() over range(len(x)) will do", "min(range(len(x)), key=x.__getitem__)"),
	  SLOW_ON_LIST, 0.8 },
	{ "argsort", "/fromnumeric.py",
	  ON_LIST("sorted() over range(len(x)) will do",
		  "sorted(range(len(x)), key=x.__getitem__)"),
	  SLOW_ON_LIST, 0.7 },
	{ "median", "/function_base.py",
	  ON_LIST("statistics.median() will do", "statistics.median(x)"), SLOW_ON_LIST, 0.9 },
	{ "median", "/_function_base_impl.py",
	  ON_LIST("statistics.median() will do", "statistics.median(x)"), SLOW_ON_LIST, 0.9 },
	{ "percentile", "/function_base.py",
	  ON_LIST("sorted() and an index will do", "sorted(x)[len(x) * 9 // 10]"), SLOW_ON_LIST,
	  0.9 },
	{ "percentile", "/_function_base_impl.py",
	  ON_LIST("sorted() and an index will do", "sorted(x)[len(x) * 9 // 10]"), SLOW_ON_LIST,
	  0.9 },
	{ "quantile", "/_function_base_impl.py",
	  ON_LIST("sorted() and an index will do", "sorted(x)[len(x) * 9 // 10]"), SLOW_ON_LIST,
	  0.9 },
	{ "average", "/function_base.py",
	  ON_LIST("sums of a generator will do",
		  "sum(v * w for v, w in zip(x, weights)) / sum(weights)"),
	  SLOW_ON_LIST, 0.8 },
	{ "average", "/_function_base_impl.py",
	  ON_LIST("sums of a generator will do",
		  "sum(v * w for v, w in zip(x, weights)) / sum(weights)"),
	  SLOW_ON_LIST, 0.8 },
	{ "unique", "/arraysetops.py", ON_LIST("sorted(set()) will do", "sorted(set(x))"),
	  SLOW_ON_LIST, 0.8 },
	{ "unique", "/_arraysetops_impl.py", ON_LIST("sorted(set()) will do", "sorted(set(x))"),
	  SLOW_ON_LIST, 0.8 },
	{ "__call__", "/stats/_distn_infrastructure.py",
	  WAY("makes an object of a distribution with its parameters",
	      "give the parameters to the function itself, all at once",
	      "p = norm.cdf(x, mean, deviation), with arrays"),
	  SLOW_ALWAYS, 0.95 },
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
	  WAY("is called for single numbers",
	      "give all of them to one call, or use numpy.interp() for a linear one",
	      "y = numpy.interp(x, known_x, known_y), with the array x"),
	  SLOW_OF_OBJECT_ON_NUMBERS, 0.8 },
	{ "searchsorted", "/fromnumeric.py",
	  WAY("looks up one number a call", "give all of them to one call, or use bisect on a list",
	      "places = numpy.searchsorted(edges, values), without a loop"),
	  SLOW_FOR_NUMBER, 0.85 },
	{ "isin", "/_arraysetops_impl.py",
	  WAY("goes through all of the array for one number", "keep its items in a set",
	      "known = set(a.tolist()), once; then x in known"),
	  SLOW_FOR_NUMBER, 0.9 },
	{ "cross", "/numeric.py",
	  WAY("is made for many vectors and is called on one pair",
	      "give all pairs to one call, or write the three products out",
	      "numpy.cross(a, b), with a row for each vector in a and b"),
	  SLOW_ON_FEW, 0.9 },
	{ "norm", "/linalg.py", &of_vector, SLOW_ON_VECTOR, 0.6 },
	{ "norm", "/_linalg.py", &of_vector, SLOW_ON_VECTOR, 0.6 },
	{ "convolve", "/numeric.py", &by_transform, SLOW_ON_LARGE, 0.85 },
	{ "correlate", "/numeric.py", &by_transform, SLOW_ON_LARGE, 0.85 },
	{ "argsort", "/fromnumeric.py", &slow_way_part, SLOW_PART, 0.87 },
	{ "argsort", NULL, &slow_way_part, SLOW_PART, 0.92 },
	{ "sort", "/fromnumeric.py",
	  WAY("sorts all of it to take the first or the last item", "use its min() or max()",
	      "a.max() in place of numpy.sort(a)[-1]"),
	  SLOW_END, 0.9 },
	{ "genfromtxt", "/npyio.py",
	  WAY("splits and converts each line in Python",
	      "numpy.loadtxt() (from NumPy 1.23 on) and pandas.read_csv() do so in C",
	      "a = numpy.loadtxt(name, delimiter=\",\")"),
	  SLOW_ALWAYS, 0.75 },
	{ "genfromtxt", "/_npyio_impl.py",
	  WAY("splits and converts each line in Python",
	      "numpy.loadtxt() and pandas.read_csv() do so in C",
	      "a = numpy.loadtxt(name, delimiter=\",\")"),
	  SLOW_ALWAYS, 0.75 },
	{ "read", "pandas/io/parsers/python_parser.py",
	  WAY("parses in Python",
	      "the engine \"c\", the default for a separator of one character, does so in C",
	      "df = pandas.read_csv(name, sep=\";\", engine=\"c\")"),
	  SLOW_INSIDE, 0.8 },
	{ "__getitem__", "pandas/core/indexing.py",
	  WAY("makes a Series of one row",
	      "take the rows as plain values once (itertuples(), to_dict(\"index\")), or work on "
	      "whole "
	      "columns",
	      "rows = df.to_dict(\"index\"), once; then rows[label][\"price\"]"),
	  SLOW_ROW, 0.9 },
	{ "_setitem_with_indexer_missing", "pandas/core/indexing.py",
	  WAY("copies all rows to add one",
	      "collect the rows in a list, and make the frame of them once",
	      "rows.append(row) in the loop; behind it pandas.DataFrame(rows)"),
	  SLOW_ENLARGES, 1 },
	{ "item", NULL,
	  WAY("makes a Python number of one element",
	      "tolist() makes all of them at once, and operations on the whole need none",
	      "values = tensor.tolist(), without a loop"),
	  SLOW_ELEMENT, 0.9 },
	PAIR("euclidean"),
	PAIR("sqeuclidean"),
	PAIR("cityblock"),
	PAIR("chebyshev"),
	PAIR("cosine"),
	PAIR("correlation"),
	PAIR("hamming"),
	PAIR("jaccard"),
	{ "pearsonr", "/stats/_stats_py.py",
	  WAY("is called for one pair of rows", "numpy.corrcoef() takes all pairs at once",
	      "r = numpy.corrcoef(rows)"),
	  SLOW_ALWAYS, 0.95 },
	ROW("savgol_filter", "/signal/_savitzky_golay.py"),
	ROW("sosfiltfilt", "/signal/_signaltools.py"),
	ROW("filtfilt", "/signal/_signaltools.py"),
	ROW("detrend", "/signal/_signaltools.py"),
	ROW("hilbert", "/signal/_signaltools.py"),
	ROW("welch", "/signal/_spectral_py.py"),
	ROW("softmax", "/special/_logsumexp.py"),
	ROW("logsumexp", "/special/_logsumexp.py"),
	ROW("zscore", "/stats/_stats_py.py"),
	{ "query", "/spatial/_kdtree.py", &of_point, SLOW_OF_OBJECT_ON_FEW, 0.95 },
	{ "query_ball_point", "/spatial/_kdtree.py", &of_point, SLOW_OF_OBJECT_ON_FEW, 0.75 },
	{ "__call__", "/interpolate/_rgi.py", &of_point, SLOW_OF_OBJECT_ON_FEW, 0.97 },
	CURVE("/interpolate/_interpolate.py"),
	CURVE("/interpolate/_fitpack2.py"),
	CURVE("/interpolate/_bsplines.py"),
	{ "splev", "/interpolate/_fitpack_py.py", &of_curve, SLOW_FOR_NUMBER, 0.97 },
	{ "__getitem__", "/sparse/_index.py", &of_sparse, SLOW_OF_OBJECT_ON_FEW, 0.95 },
	{ "__setitem__", "/sparse/_index.py", &of_sparse, SLOW_OF_OBJECT_ON_FEW, 0.95 },
	{ "getpixel", "/PIL/Image.py", &of_pixel, SLOW_ALWAYS, 0.85 },
	{ "putpixel", "/PIL/Image.py", &of_pixel, SLOW_ALWAYS, 0.9 },
	{ "get_group", "pandas/core/groupby/groupby.py",
	  WAY("picks the rows of one group", "go through the groups once",
	      "for key, rows in df.groupby(\"city\"):"),
	  SLOW_ALWAYS, 0.8 },
	{ "isna", "pandas/core/dtypes/missing.py",
	  WAY("is made for columns and is called on single numbers",
	      "x != x is true of NaN alone, or give it the whole column", "missing = x != x"),
	  SLOW_ON_NUMBERS, 0.7 },
	{ "intersect1d", "/arraysetops.py", ON_LIST("set(x) & set(y) will do", "set(x) & set(y)"),
	  SLOW_ON_LIST, 0.9 },
	{ "intersect1d", "/_arraysetops_impl.py",
	  ON_LIST("set(x) & set(y) will do", "set(x) & set(y)"), SLOW_ON_LIST, 0.9 },
	{ "setdiff1d", "/arraysetops.py", ON_LIST("set(x) - set(y) will do", "set(x) - set(y)"),
	  SLOW_ON_LIST, 0.9 },
	{ "setdiff1d", "/_arraysetops_impl.py",
	  ON_LIST("set(x) - set(y) will do", "set(x) - set(y)"), SLOW_ON_LIST, 0.9 },
	MATRIX("det"),
	MATRIX("eig"),
	MATRIX("eigh"),
	MATRIX("eigvals"),
	MATRIX("eigvalsh"),
	MATRIX("pinv"),
	{ "tensor", NULL,
	  WAY("goes through the arrays number by number", "stack them first, which copies each",
	      "x = torch.from_numpy(numpy.stack(arrays))"),
	  SLOW_ON_ARRAYS, 0.75 },
	ROW_IN_C("softmax"),
	ROW_IN_C("log_softmax"),
	ROW_IN_C("sigmoid"),
	ROW_IN_C("matmul"),
	ROW_IN_C("mv"),
	ROW_IN_C("dot"),
	ROW_IN_C("topk"),
	ROW_IN_C("cumsum"),
	LOOPED("_sum"),
	LOOPED("_prod"),
	LOOPED("_mean"),
	LOOPED("_std"),
	LOOPED("_var"),
	LOOPED("_amax"),
	LOOPED("_amin"),
	LOOPED("_any"),
	LOOPED("_all"),
	{ "interp", "/function_base.py", &looks_up_number, SLOW_FOR_NUMBER, 0.9 },
	{ "interp", "/_function_base_impl.py", &looks_up_number, SLOW_FOR_NUMBER, 0.9 },
	{ "digitize", "/function_base.py", &looks_up_number, SLOW_FOR_NUMBER, 0.9 },
	{ "digitize", "/_function_base_impl.py", &looks_up_number, SLOW_FOR_NUMBER, 0.9 },
	{ "polyval", "/polynomial.py", &of_curve, SLOW_FOR_NUMBER, 0.9 },
	{ "polyval", "/_polynomial_impl.py", &of_curve, SLOW_FOR_NUMBER, 0.9 },
	{ "einsum", "/einsumfunc.py",
	  WAY("goes over all indices of all operands at once",
	      "optimize=True multiplies them two by two",
	      "numpy.einsum(\"ij,jk,kl->il\", a, b, c, optimize=True)"),
	  SLOW_MANY, 0.9 },
	{ "svd", "/_linalg.py", &all_vectors, SLOW_TALL, 0.7 },
	{ "svd", "/linalg.py", &all_vectors, SLOW_TALL, 0.7 },
	{ "svd", "/_decomp_svd.py", &all_vectors, SLOW_TALL, 0.7 },
	{ "inv", "/_linalg.py", &by_inverse, SLOW_INVERTS, 0.6 },
	{ "inv", "/linalg.py", &by_inverse, SLOW_INVERTS, 0.6 },
	{ "inv", "/_basic.py", &by_inverse, SLOW_INVERTS, 0.6 },
	{ "_array2string", "/arrayprint.py",
	  WAY("makes text of each number, in Python",
	      "tobytes() is a key of what an array holds, tolist() gives its numbers",
	      "seen[a.tobytes()] = place"),
	  SLOW_INSIDE, 0.9 },
	{ "generic_filter", "/ndimage/_filters.py",
	  WAY("calls a Python function for each place",
	      "uniform_filter(), maximum_filter(), percentile_filter() and their like do so in C",
	      "smooth = scipy.ndimage.uniform_filter(image, size=3)"),
	  SLOW_ALWAYS, 0.95 },
	{ "apply", "pandas/core/window/rolling.py",
	  WAY("calls a Python function for each window",
	      "mean(), std(), quantile() and their like go over all windows in C",
	      "smooth = df.price.rolling(20).mean()"),
	  SLOW_INSIDE, 0.9 },
	{ "objects_to_datetime64", "pandas/core/arrays/datetimes.py",
	  WAY("finds out the form of each text by itself", "tell it the format",
	      "df[\"day\"] = pandas.to_datetime(df.day, format=\"%d.%m.%Y\")"),
	  SLOW_INSIDE, 0.75 },
	{ "strftime", "pandas/core/arrays/datetimelike.py",
	  WAY("makes a text of each time",
	      "dt.normalize(), dt.hour and their like give times and numbers, which compare and "
	      "group as well",
	      "df.groupby(df.time.dt.normalize())"),
	  SLOW_INSIDE, 0.8 },
	{ "__init__", "pandas/core/frame.py",
	  WAY("makes a frame of a row or a few",
	      "collect the rows, and make one frame of all, or work on plain values",
	      "rows.append(row) in the loop; behind it pandas.DataFrame(rows)"),
	  SLOW_OF_OBJECT_ON_LIST, 0.9 },
	{ "__init__", "pandas/core/series.py",
	  WAY("makes a Series of a few numbers, which costs more than the work",
	      "use sum(), max(), statistics and their like, or one frame for all",
	      "sum(x) / len(x) in place of pandas.Series(x).mean()"),
	  SLOW_OF_OBJECT_ON_LIST, 0.9 },
	{ "__init__", "pandas/core/computation/expr.py",
	  WAY("parses its expression each time, in Python", "write it with the frame's columns",
	      "df[(df.id == key) & (df.price > 5)]"),
	  SLOW_INSIDE, 1 },
	{ UFUNC, NULL,
	  WAY("is made for arrays and is called on single numbers",
	      "the function of that name in math will do, many times faster, or give the whole "
	      "array to one call",
	      "math.sqrt(x) in place of numpy.sqrt(x)"),
	  SLOW_UFUNC, 0.75 },
};

const size_t slow_calls_of_arrays_count =
	sizeof(slow_calls_of_arrays) / sizeof(slow_calls_of_arrays[0]);

_Static_assert(sizeof(slow_calls_of_arrays) / sizeof(slow_calls_of_arrays[0]) <
		       SLOW_CALLS_OF_ARRAYS_MAX,
	       "numbers fit");
