/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known of types by their names: those of CPython 3.6 to 3.15, of numpy
 * 1 and 2, pandas 1.5 to 3, pyarrow and torch.
 */
#include "daemon/contents/fingerprint_internal.h"

#include "common/text.h"

/* A word by its offset from the start of the object. */
#define WORD(offset) (1u << ((offset)-16) / 8)

static const struct content_rule rules[] = {
	{ "object", CONTENT_OBJECT, .size = 16 },
	{ "NoneType", CONTENT_NONE, .size = 0 },
	{ "bool", CONTENT_BOOL, .size = 24 },
	{ "int", CONTENT_INT, .size = 24 },
	{ "float", CONTENT_FLOAT, .size = 24 },
	{ "complex", CONTENT_COMPLEX, .size = 32 },
	{ "str", CONTENT_STR, .size = 64 },
	{ "bytes", CONTENT_BYTES, .size = 33 },
	{ "bytearray", CONTENT_BYTEARRAY, .size = 48 },
	{ "tuple", CONTENT_TUPLE, .size = 24 },
	{ "list", CONTENT_LIST, .size = 40 },
	{ "dict", CONTENT_DICT, .size = 48 },
	{ "slice", CONTENT_SLICE, .size = 40 },
	{ "range", CONTENT_RANGE, .size = 40 },
	{ "set", CONTENT_SET, .size = 72, .parse = content_parse_set },
	{ "frozenset", CONTENT_FROZENSET, .size = 72, .parse = content_parse_set },
	{ "memoryview", CONTENT_BUFFER, .size = 128, .parse = content_parse_memoryview },
	{ "mappingproxy", CONTENT_OBJECT, .size = 24, .objects = WORD(16) },
	{ "dict_keys", CONTENT_OBJECT, .size = 24, .objects = WORD(16) },
	{ "dict_values", CONTENT_OBJECT, .size = 24, .objects = WORD(16) },
	{ "dict_items", CONTENT_OBJECT, .size = 24, .objects = WORD(16) },
	{ "list_iterator", CONTENT_ITERATOR, .raw_from = 16, .raw_to = 24, .size = 32,
	  .objects = WORD(24) },
	{ "tuple_iterator", CONTENT_ITERATOR, .raw_from = 16, .raw_to = 24, .size = 32,
	  .objects = WORD(24) },
	{ "str_iterator", CONTENT_ITERATOR, .raw_from = 16, .raw_to = 24, .size = 32,
	  .objects = WORD(24) },
	{ "str_ascii_iterator", CONTENT_ITERATOR, .raw_from = 16, .raw_to = 24, .size = 32,
	  .objects = WORD(24) },
	{ "bytes_iterator", CONTENT_ITERATOR, .raw_from = 16, .raw_to = 24, .size = 32,
	  .objects = WORD(24) },
	/* Over what has items by number alone: arrays, Series. */
	{ "iterator", CONTENT_ITERATOR, .raw_from = 16, .raw_to = 24, .size = 32,
	  .objects = WORD(24) },
	{ "range_iterator", CONTENT_ITERATOR, .raw_from = 16, .raw_to = 40, .size = 40 },
	{ "set_iterator", CONTENT_ITERATOR, .raw_from = 24, .raw_to = 40, .size = 48,
	  .objects = WORD(16) },
	{ "dict_keyiterator", CONTENT_ITERATOR, .raw_from = 24, .raw_to = 40, .size = 56,
	  .objects = WORD(16) },
	{ "dict_valueiterator", CONTENT_ITERATOR, .raw_from = 24, .raw_to = 40, .size = 56,
	  .objects = WORD(16) },
	{ "dict_itemiterator", CONTENT_ITERATOR, .raw_from = 24, .raw_to = 40, .size = 56,
	  .objects = WORD(16) },
	{ "enumerate", CONTENT_ITERATOR, .raw_from = 16, .raw_to = 24, .size = 48,
	  .objects = WORD(24) },
	{ "zip", CONTENT_ITERATOR, .size = 40, .objects = WORD(24) },
	{ "map", CONTENT_ITERATOR, .size = 32, .objects = WORD(16) | WORD(24) },
	{ "filter", CONTENT_ITERATOR, .size = 32, .objects = WORD(16) | WORD(24) },
	{ "reversed", CONTENT_ITERATOR, .raw_from = 16, .raw_to = 24, .size = 32,
	  .objects = WORD(24) },
	{ "list_reverseiterator", CONTENT_ITERATOR, .raw_from = 16, .raw_to = 24, .size = 32,
	  .objects = WORD(24) },
	{ "generator", CONTENT_GENERATOR, .size = 0, .parse = content_parse_generator },
	{ "cell", CONTENT_CELL, .size = 24 },
	{ "method", CONTENT_METHOD, .size = 32 },
	{ "builtin_function_or_method", CONTENT_METHOD, .size = 32 },
	{ "method-wrapper", CONTENT_METHOD, .size = 32 },
	{ "function", CONTENT_FUNCTION, .size = 0, .parse = content_parse_function },
	{ "builtin_function", CONTENT_CALLABLE, .size = 0 },
	{ "module", CONTENT_CALLABLE, .size = 0 },
	{ "method_descriptor", CONTENT_CALLABLE, .size = 0 },
	{ "classmethod_descriptor", CONTENT_CALLABLE, .size = 0 },
	{ "wrapper_descriptor", CONTENT_CALLABLE, .size = 0 },
	{ "getset_descriptor", CONTENT_CALLABLE, .size = 0 },
	{ "member_descriptor", CONTENT_CALLABLE, .size = 0 },
	{ "property", CONTENT_CALLABLE, .size = 0 },
	{ "staticmethod", CONTENT_CALLABLE, .size = 0 },
	{ "classmethod", CONTENT_CALLABLE, .size = 0 },
	{ "ellipsis", CONTENT_CALLABLE, .size = 0 },
	{ "NotImplementedType", CONTENT_CALLABLE, .size = 0 },
	{ "code", CONTENT_CONSTANT, .size = 0 },
	/* The standard library's. Hashes that are kept in them are filled late. */
	{ "collections.OrderedDict", CONTENT_DICT, .size = 96, .partial = true },
	{ "collections.defaultdict", CONTENT_DICT, .size = 56, .objects = WORD(48) },
	{ "collections.deque", CONTENT_DEQUE, .size = 80, .parse = content_parse_deque },
	{ "array.array", CONTENT_BUFFER, .size = 56, .parse = content_parse_array_array },
	{ "functools.partial", CONTENT_OBJECT, .size = 40,
	  .objects = WORD(16) | WORD(24) | WORD(32) },
	{ "operator.itemgetter", CONTENT_VALUE, .size = 32, .objects = WORD(24) },
	{ "operator.attrgetter", CONTENT_VALUE, .size = 32, .objects = WORD(24) },
	{ "operator.methodcaller", CONTENT_VALUE, .size = 40,
	  .objects = WORD(16) | WORD(24) | WORD(32) },
	{ "_struct.Struct", CONTENT_VALUE, .size = 48, .objects = WORD(40) },
	{ "Struct", CONTENT_VALUE, .size = 48, .objects = WORD(40) },
	{ "re.Pattern", CONTENT_VALUE, .raw_from = 56, .raw_to = 60, .size = 64,
	  .objects = WORD(48) },
	{ "_sre.SRE_Pattern", CONTENT_VALUE, .raw_from = 56, .raw_to = 60, .size = 64,
	  .objects = WORD(48) },
	{ "decimal.Decimal", CONTENT_VALUE, .size = 72, .parse = content_parse_decimal },
	{ "datetime.timedelta", CONTENT_VALUE, .raw_from = 24, .raw_to = 36, .size = 40 },
	{ "datetime.date", CONTENT_VALUE, .raw_from = 25, .raw_to = 29, .size = 32 },
	{ "datetime.time", CONTENT_VALUE, .raw_from = 24, .raw_to = 32, .size = 40,
	  .parse = content_parse_date },
	{ "datetime.datetime", CONTENT_VALUE, .raw_from = 24, .raw_to = 36, .size = 48,
	  .parse = content_parse_date },
	{ "datetime.timezone", CONTENT_VALUE, .size = 32, .objects = WORD(16) | WORD(24) },
	{ "datetime.tzinfo", CONTENT_OBJECT, .size = 16 },
	{ "zoneinfo.ZoneInfo", CONTENT_CONSTANT, .size = 0 },
	/* numpy's */
	{ "numpy.ndarray", CONTENT_ARRAY, .size = 64, .parse = content_parse_array },
	{ "numpy.ufunc", CONTENT_CALLABLE, .size = 0 },
	{ "numpy._ArrayFunctionDispatcher", CONTENT_CALLABLE, .size = 0 },
	{ "numpy.str_", CONTENT_STR, .size = 64 },
	{ "numpy.bytes_", CONTENT_BYTES, .size = 33 },
	/* pandas'; fields of what Cython made, behind a table of its methods */
	{ "pandas._libs.missing.C_NAType", CONTENT_CONSTANT, .size = 0 },
	{ "pandas._libs.tslibs.nattype._NaT", CONTENT_CONSTANT, .size = 0 },
	{ "pandas._libs.internals.BlockPlacement", CONTENT_OBJECT, .size = 48,
	  .parse = content_parse_placement },
	{ "pandas._libs.internals.BlockManager", CONTENT_OBJECT, .size = 64,
	  .objects = WORD(24) | WORD(32) },
	{ "pandas._libs.internals.Block", CONTENT_OBJECT, .size = 56,
	  .objects = WORD(24) | WORD(48) },
	{ "pandas._libs.internals.Block", CONTENT_OBJECT, .size = 48,
	  .objects = WORD(24) | WORD(40) },
	{ "pandas._libs.internals.NumpyBlock", CONTENT_OBJECT, .size = 56,
	  .objects = WORD(24) | WORD(48) },
	{ "pandas._libs.internals.NumpyBlock", CONTENT_OBJECT, .size = 48,
	  .objects = WORD(24) | WORD(40) },
	{ "pandas._libs.internals.NDArrayBackedBlock", CONTENT_OBJECT, .size = 56,
	  .objects = WORD(24) | WORD(48) },
	{ "pandas._libs.internals.NDArrayBackedBlock", CONTENT_OBJECT, .size = 48,
	  .objects = WORD(24) | WORD(40) },
	{ "pandas._libs.tslibs.timestamps._Timestamp", CONTENT_VALUE, .raw_from = 24, .raw_to = 72,
	  .size = 88 },
	{ "pandas._libs.tslibs.timedeltas._Timedelta", CONTENT_VALUE, .raw_from = 24, .raw_to = 56,
	  .size = 56 },
	{ "pandas._libs.arrays.NDArrayBacked", CONTENT_OBJECT, .size = 40,
	  .objects = WORD(24) | WORD(32) },
	/* torch's */
	{ "torch._C.TensorBase", CONTENT_TENSOR, .size = 24, .parse = content_parse_tensor },
	{ "torch._C._TensorBase", CONTENT_TENSOR, .size = 24, .parse = content_parse_tensor },
	{ "torch.Size", CONTENT_TUPLE, .size = 24 },
	{ "torch.dtype", CONTENT_CONSTANT, .size = 0 },
	{ "torch.layout", CONTENT_CONSTANT, .size = 0 },
	{ "torch.memory_format", CONTENT_CONSTANT, .size = 0 },
	{ "torch.device", CONTENT_VALUE, .raw_from = 16, .raw_to = 18, .size = 24 },
};

static const struct content_rule scalar_rule = { "numpy's", CONTENT_SCALAR, .size = 17 };
static const struct content_rule dtype_rule = { "numpy.dtype", CONTENT_VALUE, .size = 88,
						.parse = content_parse_dtype };
static const struct content_rule arrow_rule = { "pyarrow's", CONTENT_CONSTANT, .size = 0 };
static const struct content_rule arrow_array_rule = { "pyarrow's array", CONTENT_VALUE, .size = 48,
						      .parse = content_parse_arrow };
/* pandas' steps in time: how many; those of several fields hold more than is compared. */
static const struct content_rule step_rule = { "pandas.offset", CONTENT_VALUE, .raw_from = 16,
					       .raw_to = 28, .size = 40 };
static const struct content_rule steps_rule = { "pandas.offset", CONTENT_VALUE, .raw_from = 16,
						.raw_to = 28,    .size = 40,    .partial = true };

/* numpy's scalars that hold their value behind the head; not str, bytes, void and object. */
static const char *const scalars[] = { "numpy.bool",       "numpy.int",         "numpy.uint",
				       "numpy.float",      "numpy.complex",     "numpy.byte",
				       "numpy.ubyte",      "numpy.short",       "numpy.ushort",
				       "numpy.long",       "numpy.ulong",       "numpy.half",
				       "numpy.single",     "numpy.double",      "numpy.csingle",
				       "numpy.cdouble",    "numpy.clongdouble", "numpy.datetime64",
				       "numpy.timedelta64" };

/* pyarrow.lib's that nothing can change; the first have a file of their own. */
static const char *const arrow[] = { "Array", "Table", "RecordBatch", "Scalar",
				     "Type",  "Field", "Schema",      "KeyValueMetadata" };

static const struct content_rule *family(const struct content_type *type)
{
	if (!strncmp(type->name, "numpy.dtype", strlen("numpy.dtype")))
		return &dtype_rule;
	if (!strncmp(type->name, "pandas._libs.tslibs.offsets.",
		     strlen("pandas._libs.tslibs.offsets.")))
		return type->basic_size <= 48 ? &step_rule : &steps_rule;
	for (size_t i = 0; i < sizeof(arrow) / sizeof(arrow[0]); i++)
		if (!strncmp(type->name, "pyarrow.lib.", strlen("pyarrow.lib.")) &&
		    text_ends_with(type->name, arrow[i]))
			return i ? &arrow_rule : &arrow_array_rule;
	for (size_t i = 0; i < sizeof(scalars) / sizeof(scalars[0]); i++)
		if (!strncmp(type->name, scalars[i], strlen(scalars[i])) &&
		    type->basic_size > FIELD_1 && type->basic_size <= CONTENT_HEAD_SIZE)
			return &scalar_rule;
	return NULL;
}

const struct content_rule *content_rule_find(const struct content_type *type)
{
	/* What a program calls a class of its own says nothing. */
	if (type->program && !strchr(type->name, '.'))
		return NULL;
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
		if (!strcmp(type->name, rules[i].name) && type->basic_size >= rules[i].size)
			return &rules[i];
	return family(type);
}
