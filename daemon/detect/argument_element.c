/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/detect/argument_element.h"

#include "common/text.h"

#include <stdlib.h>
#include <string.h>

#define ELEMENTS_ROW_MAX 32
/* An array that is worth its library's function; a list that is dear to move. */
#define ARRAY_MIN    16
#define MOVED_MIN    256
#define COMPARED_MIN 64
/* So many numbers, and the work on them is what a call costs. */
#define BULK_MIN 64
/* A list is not worth the way into an array and back below so many items. */
#define LIST_MAX 64
/* Items that are worth more than to be sorted. */
#define SORTED_MIN 8
/* A vector, not an array of them. */
#define FEW_NUMBERS 4
/* Of a longer row the work outweighs the call. */
#define ROW_NUMBERS_MAX 512
/* From there on (docs/MEASURED.md, "Library functions with a faster counterpart"). */
#define LARGE_MIN         256
#define LARGE_PRODUCT_MIN 2.5e6
/* To add up fewer takes no longer than the rest of a draw. */
#define WEIGHTS_MIN 32
/* Bytes, or characters, for which to find them in a dict takes less than to work on them. */
#define MUCH_BYTES 256

bool argument_is_number(uint8_t kind)
{
	return kind == CONTENT_INT || kind == CONTENT_FLOAT || kind == CONTENT_BOOL ||
	       kind == CONTENT_COMPLEX || kind == CONTENT_SCALAR;
}

/* Of "float64[48,16]", how many numbers one index of so many dimensions takes out; 0: too many
 * indices. */
static uint64_t numbers_taken(const char *shape, uint64_t indices)
{
	const char *at = strchr(shape, '[');
	uint64_t count = 1;

	while (at && *at && *at != ']' && at[1] != ']') {
		char *end;
		uint64_t length = strtoull(at + 1, &end, 10);

		if (indices)
			indices--;
		else if (length < UINT32_MAX && count < UINT32_MAX)
			count *= length;
		at = *end == ',' || *end == ']' ? end : NULL;
	}
	return indices ? 0 : count;
}

/* Libraries' arrays and tables that are no numpy.ndarray. */
static bool is_of_library(const char *shape)
{
	static const char *const names[] = {
		"Tensor",     "DataFrame",   "Series", "_iLocIndexer", "_LocIndexer",
		"_AtIndexer", "_iAtIndexer", "csr_",   "csc_",         "lil_",
		"coo_",       "dok_",        "bsr_",   "dia_",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strncmp(shape, names[i], strlen(names[i])))
			return true;
	return false;
}

/*
 * x[i], x[i, j] of an array: one number, or a row so short that the call costs more
 * than the work on it.
 */
bool argument_takes_element(const struct argument_site *site)
{
	const struct argument_operand *container = NULL, *index = NULL;
	uint64_t numbers;

	if (site->kind != OPERATION_SUBSCRIPT && site->kind != OPERATION_STORE_SUBSCRIPT)
		return false;
	for (size_t i = 0; i < site->operand_count; i++) {
		if (site->operands[i].role == OPERAND_CONTAINER)
			container = &site->operands[i];
		else if (site->operands[i].role == OPERAND_INDEX)
			index = &site->operands[i];
	}
	/* What __getitem__() was called with. */
	if (site->of_callee && site->operand_count >= 2) {
		container = &site->operands[0];
		index = &site->operands[1];
	}
	if (!container || !index)
		return false;
	if (!argument_is_number(index->kind) && index->kind != CONTENT_TUPLE)
		return false;
	/* A parser goes through bytes as it finds them. */
	if (container->kind == CONTENT_BYTES || container->kind == CONTENT_BYTEARRAY ||
	    container->kind == CONTENT_BUFFER)
		return argument_is_number(index->kind) && site->counted;
	if (container->kind != CONTENT_ARRAY)
		return is_of_library(container->shape);
	/* Objects are asked one by one, whoever does it. */
	if (text_starts_with(container->shape, "object"))
		return false;
	numbers = numbers_taken(container->shape, index->kind == CONTENT_TUPLE ? index->size : 1);
	return numbers > 0 && numbers <= ELEMENTS_ROW_MAX;
}

#define SMALL_INTEGER_MAX 64

#define COPIES_COMPARED_MIN 4

/* So many times an object was met again, and at most one in so many times it had changed. */
#define STEADY_MIN        12
#define STEADY_CHANGES_OF 50

bool argument_is_known_data(const struct argument_operand *operand)
{
	switch (operand->kind) {
	/* A loop that goes over the same few large arrays is how programs are measured: there is
	 * nothing to keep. */
	case CONTENT_BYTEARRAY:
	case CONTENT_ARRAY:
	case CONTENT_BUFFER:
	case CONTENT_TENSOR:
		return operand->whole;
	case CONTENT_LIST:
	case CONTENT_DICT:
	case CONTENT_SET:
	case CONTENT_OBJECT: /* with all of its attributes */
		return operand->whole || (operand->spread && !operand->frame);
	default:
		return false;
	}
}

bool argument_parts_are_steady(const struct argument_site *site)
{
	bool spread = false;

	for (size_t i = 0; i < site->operand_count; i++)
		spread |= site->operands[i].spread && !site->operands[i].callable;
	return !spread || (site->held_again >= STEADY_MIN &&
			   STEADY_CHANGES_OF * site->held_changed <= site->held_again);
}

bool argument_has_part_of_object(const struct argument_site *site)
{
	bool steady = argument_parts_are_steady(site);

	for (size_t i = 0; i < site->operand_count; i++)
		if (site->operands[i].kind == CONTENT_OBJECT && !site->operands[i].whole &&
		    !site->operands[i].frame && !(site->operands[i].spread && steady))
			return true;
	return false;
}

size_t argument_first_given(const struct argument_site *site)
{
	size_t first = 0;

	while (first < site->operand_count && site->operands[first].callable)
		first++;
	return first;
}

bool argument_is_given_much(const struct argument_site *site)
{
	bool much = false;

	if (site->kind != OPERATION_CALL)
		return false;
	for (size_t i = 0; i < site->operand_count; i++) {
		const struct argument_operand *operand = &site->operands[i];

		if (operand->callable)
			continue;
		if (!operand->whole || operand->kind == CONTENT_OBJECT)
			return false;
		much |= (operand->kind == CONTENT_BYTES || operand->kind == CONTENT_STR ||
			 operand->kind == CONTENT_ARRAY) &&
			operand->size >= MUCH_BYTES;
	}
	return much;
}

/* All but those that run code of a library, or of the program. */
static bool is_indexed_at_once(const struct argument_operand *container)
{
	return container->kind != CONTENT_ARRAY && container->kind != CONTENT_TENSOR &&
	       container->kind != CONTENT_OBJECT && container->kind != CONTENT_OTHER &&
	       !is_of_library(container->shape);
}

/* min(x, 0.3), math.sqrt(x): a function in C on single numbers, and small ones where they are
 * integers: some take long for large ones (math.comb()). */
static bool is_called_at_once(const struct argument_site *site)
{
	bool builtin = false, numbers = false;

	if (site->kind != OPERATION_CALL || site->runs_python)
		return false;
	for (size_t i = 0; i < site->operand_count; i++) {
		const struct argument_operand *operand = &site->operands[i];

		if (operand->callable) {
			builtin |= !strcmp(operand->shape, "builtin_function_or_method");
			continue;
		}
		if (operand->kind != CONTENT_FLOAT && operand->kind != CONTENT_BOOL &&
		    (operand->kind != CONTENT_INT || operand->size > SMALL_INTEGER_MAX))
			return false;
		numbers = true;
	}
	return builtin && numbers;
}

bool argument_is_trivial(const struct argument_site *site)
{
	bool at_once = false, numbers = false;

	if (site->of_callee)
		return false;
	if (is_called_at_once(site))
		return true;
	if (site->kind == OPERATION_SUBSCRIPT) {
		for (size_t i = 0; i < site->operand_count; i++) {
			const struct argument_operand *operand = &site->operands[i];

			at_once |=
				operand->role == OPERAND_CONTAINER && is_indexed_at_once(operand);
			if (operand->role == OPERAND_INDEX && operand->kind == CONTENT_SLICE)
				return false;
		}
		return at_once || argument_takes_element(site);
	}
	if (site->kind != OPERATION_BINARY && site->kind != OPERATION_COMPARE &&
	    site->kind != OPERATION_UNARY && site->kind != OPERATION_TRUTH)
		return false;
	for (size_t i = 0; i < site->operand_count; i++) {
		if (argument_is_number(site->operands[i].kind))
			numbers = true;
		else if (strcmp(site->operands[i].shape, "?") != 0) /* it was gone already */
			return false;
	}
	return numbers;
}

bool argument_computes(const struct argument_site *site)
{
	return (site->kind == OPERATION_CALL || site->kind == OPERATION_CALL_UNPACKED ||
		site->kind == OPERATION_BINARY || site->kind == OPERATION_COMPARE ||
		site->kind == OPERATION_UNARY) &&
	       !argument_is_trivial(site);
}

bool argument_works_in_bulk(const struct argument_site *site)
{
	if (argument_takes_element(site))
		return false;
	for (size_t i = 0; i < site->operand_count; i++)
		if (site->operands[i].kind == CONTENT_ARRAY &&
		    numbers_taken(site->operands[i].shape, 0) >= BULK_MIN)
			return true;
	return false;
}

/* *args and **kwargs of so many. */
#define GIVEN_FEW 4

/* f(x, mu, sigma), where f takes x alone by name. */
static bool is_few_given(const struct argument_operand *operand)
{
	return (operand->kind == CONTENT_TUPLE || operand->kind == CONTENT_DICT) &&
	       operand->size <= GIVEN_FEW;
}

/* Or what numpy makes of one on the way: an array without dimensions. */
static bool is_one_number(const struct argument_operand *operand)
{
	return (argument_is_number(operand->kind) && operand->kind != CONTENT_BOOL) ||
	       (operand->kind == CONTENT_ARRAY && strstr(operand->shape, "[]"));
}

/* A Python function's arguments, of which those left out are None, a flag or empty. */
bool argument_is_called_on_numbers(const struct argument_site *site)
{
	bool of_object = site->slow && slow_call_get(site->slow)->when == SLOW_OF_OBJECT_ON_NUMBERS;
	size_t numbers = 0;

	for (size_t i = 0; i < site->operand_count; i++) {
		const struct argument_operand *operand = &site->operands[i];

		/* The object itself. */
		if (of_object && !i && !argument_is_number(operand->kind))
			continue;
		if (is_one_number(operand))
			numbers++;
		else if (of_object && numbers && is_few_given(operand))
			continue;
		else if (!operand->callable && operand->kind != CONTENT_NONE &&
			 operand->kind != CONTENT_BOOL &&
			 !(operand->kind == CONTENT_DICT && !operand->size))
			return false;
	}
	return numbers > 0;
}

/* A library's call on single numbers alone, as np.sqrt(x[i]) is. */
bool argument_calls_on_scalars(const struct argument_site *site)
{
	size_t numbers = 0;

	if (site->kind != OPERATION_CALL || site->of_callee)
		return false;
	for (size_t i = 0; i < site->operand_count; i++) {
		if (site->operands[i].callable) {
			if (!strstr(site->operands[i].shape, "ufunc"))
				return false;
			continue;
		}
		if (!argument_is_number(site->operands[i].kind))
			return false;
		numbers++;
	}
	return numbers > 0;
}

static const struct argument_operand *operand_of(const struct argument_site *site,
						 enum operand_role role)
{
	for (size_t i = 0; i < site->operand_count; i++)
		if (site->operands[i].role == role && !site->operands[i].callable)
			return &site->operands[i];
	return NULL;
}

/* A list's method: the list, if it has so many items. */
static bool is_of_list(const struct argument_site *site, uint64_t items)
{
	const struct argument_operand *list = operand_of(site, OPERAND_SELF);

	return list && (list->kind == CONTENT_LIST || list->kind == CONTENT_DEQUE) &&
	       list->size >= items;
}

static bool is_short_list(const struct argument_operand *operand)
{
	return (operand->kind == CONTENT_LIST || operand->kind == CONTENT_TUPLE ||
		operand->kind == CONTENT_DEQUE) &&
	       operand->size > 0 && operand->size <= LIST_MAX;
}

bool argument_sorts_few(const struct argument_site *site)
{
	const struct argument_operand *sorted = operand_of(site, OPERAND_VALUE);

	return sorted && sorted->size < SORTED_MIN &&
	       (sorted->kind == CONTENT_LIST || sorted->kind == CONTENT_TUPLE ||
		sorted->kind == CONTENT_SET || sorted->kind == CONTENT_DICT);
}

/* Of a call, or of the Python function that it calls. */
static bool is_first_short_list(const struct argument_site *site)
{
	size_t first = 0;

	while (first < site->operand_count && site->operands[first].callable)
		first++;
	return first < site->operand_count && is_short_list(&site->operands[first]);
}

static bool is_first_text(const struct argument_site *site)
{
	size_t first = argument_first_given(site);

	return first < site->operand_count && (site->operands[first].kind == CONTENT_STR ||
					       site->operands[first].kind == CONTENT_BYTES);
}

/* searchsorted(array, 3), isin(3, array): the first two that are given. */
static bool asks_for_number(const struct argument_site *site)
{
	size_t first = argument_first_given(site);

	return first + 1 < site->operand_count &&
	       argument_is_number(site->operands[first].kind) !=
		       argument_is_number(site->operands[first + 1].kind);
}

/* cross(a, b) of two vectors. */
static bool is_first_of_few(const struct argument_site *site)
{
	size_t first = argument_first_given(site);
	uint64_t numbers;

	if (first >= site->operand_count)
		return false;
	if (site->operands[first].kind != CONTENT_ARRAY)
		return is_short_list(&site->operands[first]) &&
		       site->operands[first].size <= FEW_NUMBERS;
	numbers = numbers_taken(site->operands[first].shape, 0);
	return numbers > 0 && numbers <= FEW_NUMBERS;
}

/* One number, or one point. */
static bool is_of_few(const struct argument_operand *operand)
{
	uint64_t numbers;

	if (argument_is_number(operand->kind))
		return true;
	if (operand->kind != CONTENT_ARRAY)
		return is_short_list(operand) && operand->size <= FEW_NUMBERS;
	numbers = numbers_taken(operand->shape, 0);
	return numbers > 0 && numbers <= FEW_NUMBERS;
}

/* tree.query(point), matrix[i, j] */
static bool is_asked_for_few(const struct argument_site *site)
{
	size_t given = argument_first_given(site) + 1;

	return given < site->operand_count && is_of_few(&site->operands[given]);
}

/* A short array of one dimension, and none that is larger. */
static bool is_of_row(const struct argument_site *site)
{
	bool row = false;

	for (size_t i = 0; i < site->operand_count; i++) {
		const struct argument_operand *operand = &site->operands[i];

		if (operand->callable || operand->kind != CONTENT_ARRAY)
			continue;
		if (strchr(operand->shape, ',') ||
		    numbers_taken(operand->shape, 0) > ROW_NUMBERS_MAX)
			return false;
		row = true;
	}
	return row;
}

static bool is_of_element(const struct argument_site *site)
{
	const struct argument_operand *self = operand_of(site, OPERAND_SELF);

	return self && (self->kind == CONTENT_TENSOR || self->kind == CONTENT_ARRAY) &&
	       self->size <= sizeof(uint64_t);
}

/* convolve(a, v) */
static bool is_of_large(const struct argument_site *site)
{
	size_t first = argument_first_given(site);
	uint64_t a, b;

	if (first + 1 >= site->operand_count || site->operands[first].kind != CONTENT_ARRAY ||
	    site->operands[first + 1].kind != CONTENT_ARRAY)
		return false;
	a = numbers_taken(site->operands[first].shape, 0);
	b = numbers_taken(site->operands[first + 1].shape, 0);
	return a >= LARGE_MIN && b >= LARGE_MIN && (double)a * (double)b >= LARGE_PRODUCT_MIN;
}

/* choices(self, population, weights, ..., k) */
static bool is_weighed(const struct argument_site *site)
{
	const struct argument_operand *weights = &site->operands[2], *k = &site->operands[4];

	return site->of_callee && site->operand_count > 4 &&
	       (weights->kind == CONTENT_LIST || weights->kind == CONTENT_TUPLE ||
		weights->kind == CONTENT_ARRAY) &&
	       weights->size >= WEIGHTS_MIN && k->kind == CONTENT_INT && k->size <= 1;
}

bool argument_joins_lists(const struct argument_site *site)
{
	const struct argument_operand *lists = operand_of(site, OPERAND_VALUE), *start;

	if (!lists || !slow_call_is_builtin(site->slow) ||
	    strcmp(slow_call_get(site->slow)->function, "sum"))
		return false;
	start = &lists[1];
	return start < site->operands + site->operand_count &&
	       (start->kind == CONTENT_LIST || start->kind == CONTENT_TUPLE);
}

/* Python's sum(x) of a library's array. */
static bool goes_over_array(const struct argument_site *site)
{
	const struct argument_operand *array = operand_of(site, OPERAND_VALUE);

	if (!array)
		return false;
	return array->kind == CONTENT_ARRAY ? numbers_taken(array->shape, 0) >= ARRAY_MIN
					    : is_of_library(array->shape);
}

bool argument_compares_array(const struct argument_site *site)
{
	for (size_t i = 0; i < site->operand_count; i++) {
		const struct argument_operand *operand = &site->operands[i];

		/* The length of a column of strings is not told. */
		if (!strcmp(operand->shape, "Series"))
			return true;
		if (operand->kind == CONTENT_ARRAY || is_of_library(operand->shape))
			return numbers_taken(operand->shape, 0) >= COMPARED_MIN;
	}
	return false;
}

/*
 * deepcopy() of lists and dicts can be written out; of objects that keep others it is how one says
 * that they are about to change, unless the same one is copied again. asdict() has fields, and no
 * more.
 */
static bool is_copied_in_vain(const struct argument_site *site)
{
	size_t first = argument_first_given(site);

	if (strcmp(slow_call_get(site->slow)->function, "deepcopy") != 0 ||
	    first == site->operand_count || site->operands[first].kind != CONTENT_OBJECT)
		return true;
	return site->compared >= COPIES_COMPARED_MIN && 2 * site->repeated >= site->compared;
}

bool argument_meets(const struct argument_site *site, enum slow_when when)
{
	const struct argument_operand *first = operand_of(site, OPERAND_VALUE);

	switch (when) {
	case SLOW_ALWAYS:
	case SLOW_ROWS:
	case SLOW_GROUPS:
	case SLOW_ITEMS:
	case SLOW_OF_STATE:
	case SLOW_INSIDE:
		return true;
	case SLOW_COPY:
		return is_copied_in_vain(site);
	case SLOW_ROW:
		return site->makes_row;
	case SLOW_ON_TEXT:
		return is_first_text(site);
	case SLOW_ON_NUMBERS:
	case SLOW_OF_OBJECT_ON_NUMBERS:
		return 2 * site->on_numbers > site->read;
	case SLOW_ON_ARRAY:
		return goes_over_array(site);
	case SLOW_AT_FRONT:
		return first && first->zero && is_of_list(site, MOVED_MIN);
	case SLOW_SEARCH:
		return is_of_list(site, ARGUMENT_SEARCHED_MIN);
	case SLOW_ON_LIST:
		return is_first_short_list(site);
	case SLOW_ON_ONE:
		return first && first->kind == CONTENT_LIST && first->size <= 1;
	case SLOW_FOR_NUMBER:
		return asks_for_number(site);
	case SLOW_ON_FEW:
	case SLOW_ON_VECTOR:
		return is_first_of_few(site);
	case SLOW_ON_LARGE:
		return is_of_large(site);
	case SLOW_OF_OBJECT_ON_FEW:
		return is_asked_for_few(site);
	case SLOW_ON_ROW:
		return is_of_row(site);
	case SLOW_ELEMENT:
		return is_of_element(site);
	case SLOW_WEIGHED:
		return is_weighed(site);
	case SLOW_END:
	case SLOW_ENLARGES:
	case SLOW_IN_TURN:
	case SLOW_PREPARES:
	case SLOW_IN_PIECES:
	case SLOW_UFUNC:
	case SLOW_SORT:
	case SLOW_ROWS_AROUND:
		break;
	}
	return false;
}

/* row.x, row["x"]: of a tuple it costs next to nothing. */
bool argument_asks_row(const struct argument_site *site)
{
	return (site->kind == OPERATION_ATTRIBUTE || site->kind == OPERATION_SUBSCRIPT) &&
	       site->operand_count && !strncmp(site->operands[0].shape, "Series", 6);
}

/* x[i] * y, by what a subscript leaves: a library's own kind of number. */
bool argument_works_on_elements(const struct argument_site *site, const struct call_site *call)
{
	if (!call->does.elementwise ||
	    (site->kind != OPERATION_BINARY && site->kind != OPERATION_COMPARE))
		return false;
	for (size_t i = 0; i < site->operand_count; i++)
		if (site->operands[i].kind == CONTENT_SCALAR)
			return true;
	return false;
}
