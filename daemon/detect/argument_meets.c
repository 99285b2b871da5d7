/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/detect/argument_meets.h"

#include "daemon/detect/argument_element.h"

#include <stdio.h>
#include <string.h>

/* An array that is worth its library's function; a list that is dear to move. */
#define ARRAY_MIN 16
#define MOVED_MIN 256
/* A list is not worth the way into an array and back below so many items. */
#define LIST_MAX 64
/* Items that are worth more than to be sorted. */
#define SORTED_MIN 8
/* A vector, not an array of them. */
#define FEW_NUMBERS 4
/* Of a longer row the work outweighs the call. */
#define ROW_NUMBERS_MAX 512
/* A frame of so few rows is made for one of them; a Series of so few numbers, too. */
#define FEW_ROWS    16
#define MANY_ARRAYS 3
/* Of smaller operands the plan takes longer than the products. */
#define MANY_NUMBERS 400
/* Longer than what tells how a file is written. */
#define LONG_TEXT 4096
/* Of larger pieces the work outweighs the call. */
#define PIECE_BYTES 16
/* Of smaller matrices solve() takes as long as inv() (docs/MEASURED.md, as above). */
#define SOLVED_MIN (64 * 64)
/* A matrix so much longer one way than the other. */
#define TALL 4
/* From there on (docs/MEASURED.md, "Library functions with a faster counterpart"). */
/* Of shorter ones a part takes half as long to find as all of them to sort. */
#define PARTED_MIN        1000
#define LARGE_MIN         256
#define LARGE_PRODUCT_MIN 2.5e6
/* To add up fewer takes no longer than the rest of a draw. */
#define WEIGHTS_MIN 32
/* Of copies compared with the ones before, so many tell. */
#define COPIES_COMPARED_MIN 4

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

/* max(items, key=items.count) */
static bool is_asked_by_key(const struct argument_site *site)
{
	const struct argument_operand *items = operand_of(site, OPERAND_VALUE);
	bool key = false;

	for (size_t i = 0; i < site->operand_count; i++)
		key |= !site->operands[i].callable && site->operands[i].kind == CONTENT_METHOD;
	return key && items && items->size >= ARGUMENT_SEARCHED_MIN &&
	       (items->kind == CONTENT_LIST || items->kind == CONTENT_TUPLE ||
		items->kind == CONTENT_SET || items->kind == CONTENT_DICT);
}

static bool is_list(const struct argument_operand *operand)
{
	return (operand->kind == CONTENT_LIST || operand->kind == CONTENT_TUPLE ||
		operand->kind == CONTENT_DEQUE) &&
	       operand->size > 0;
}

static bool is_short_list(const struct argument_operand *operand)
{
	return is_list(operand) && operand->size <= LIST_MAX;
}

bool argument_sorts_few(const struct argument_site *site)
{
	const struct argument_operand *sorted = operand_of(site, OPERAND_VALUE);

	return sorted && sorted->size < SORTED_MIN &&
	       (sorted->kind == CONTENT_LIST || sorted->kind == CONTENT_TUPLE ||
		sorted->kind == CONTENT_SET || sorted->kind == CONTENT_DICT);
}

/* Of a call, or of the Python function that it calls. */
static bool is_first_list(const struct argument_site *site, bool of_any_length)
{
	size_t first = argument_first_given(site);

	return first < site->operand_count && is_list(&site->operands[first]) &&
	       (of_any_length || is_short_list(&site->operands[first]));
}

static bool is_first_text(const struct argument_site *site)
{
	size_t first = argument_first_given(site);

	return first < site->operand_count && (site->operands[first].kind == CONTENT_STR ||
					       site->operands[first].kind == CONTENT_BYTES);
}

static bool is_of_long_text(const struct argument_site *site)
{
	for (size_t i = 0; i < site->operand_count; i++)
		if (site->operands[i].kind == CONTENT_STR && site->operands[i].size >= LONG_TEXT)
			return true;
	return false;
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
	numbers = argument_numbers_taken(site->operands[first].shape, 0);
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
	numbers = argument_numbers_taken(operand->shape, 0);
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
		    argument_numbers_taken(operand->shape, 0) > ROW_NUMBERS_MAX)
			return false;
		row = true;
	}
	return row;
}

static const struct argument_operand *first_array(const struct argument_site *site)
{
	for (size_t i = 0; i < site->operand_count; i++)
		if ((site->operands[i].kind == CONTENT_ARRAY ||
		     site->operands[i].kind == CONTENT_TENSOR) &&
		    !site->operands[i].callable)
			return &site->operands[i];
	return NULL;
}

/* A short row of a larger array; of a tensor it is not told whether it is one. */
static bool is_of_part(const struct argument_site *site)
{
	const struct argument_operand *row = first_array(site);
	uint64_t numbers;

	if (!row || (row->kind == CONTENT_ARRAY && !row->part))
		return false;
	numbers = argument_numbers_taken(row->shape, 0);
	return numbers > 0 && numbers <= ROW_NUMBERS_MAX;
}

/* DataFrame([row]), Series(numbers) */
static bool is_made_of_few(const struct argument_site *site)
{
	/* Behind the object that is being made. */
	size_t given = site->of_callee ? 1 : argument_first_given(site);

	return given < site->operand_count && is_list(&site->operands[given]) &&
	       site->operands[given].size <= FEW_ROWS;
}

/* einsum("ij,jk,kl->il", a, b, c), without more words or flags, as its caller has it. */
static bool is_of_many(const struct argument_site *site)
{
	size_t arrays = 0, large = 0, texts = 0;

	for (size_t i = 0; i < site->operand_count; i++) {
		const struct argument_operand *operand = &site->operands[i];

		arrays += operand->kind == CONTENT_ARRAY;
		large += operand->kind == CONTENT_ARRAY &&
			 argument_numbers_taken(operand->shape, 0) >= MANY_NUMBERS;
		texts += operand->kind == CONTENT_STR;
		if (operand->kind == CONTENT_BOOL && operand->size)
			return false;
	}
	return !site->of_callee && arrays >= MANY_ARRAYS && large >= MANY_ARRAYS - 1 && texts <= 1;
}

/* svd(a), svd(a, full_matrices=True, compute_uv=True) */
static bool is_of_tall(const struct argument_site *site)
{
	const struct argument_operand *matrix = first_array(site);
	unsigned long long rows, columns;

	if (!matrix || sscanf(strchrnul(matrix->shape, '['), "[%llu,%llu]", &rows, &columns) != 2)
		return false;
	for (size_t i = 0; i < site->operand_count && i < 3; i++)
		if (site->operands[i].kind == CONTENT_BOOL && !site->operands[i].size)
			return false;
	return rows >= TALL * columns || columns >= TALL * rows;
}

/* hash.update(data[i:i + 4]); other objects have a method of that name, too. */
static bool is_piece_hashed(const struct argument_site *site)
{
	const struct argument_operand *self = operand_of(site, OPERAND_SELF);
	const struct argument_operand *piece = operand_of(site, OPERAND_VALUE);

	return self && piece && piece->kind == CONTENT_BYTES && piece->size <= PIECE_BYTES &&
	       (strstr(self->shape, "HASH") || strstr(self->shape, "HMAC") ||
		strstr(self->shape, "sha") || strstr(self->shape, "md5") ||
		strstr(self->shape, "blake2"));
}

/* struct.pack("<d", x), packer.pack(x) */
static bool is_value_written(const struct argument_site *site)
{
	size_t numbers = 0, others = 0;

	for (size_t i = 0; i < site->operand_count; i++) {
		const struct argument_operand *operand = &site->operands[i];

		if (operand->callable || operand->role == OPERAND_SELF)
			continue;
		numbers += argument_is_number(operand->kind);
		others += !argument_is_number(operand->kind) && operand->kind != CONTENT_STR &&
			  operand->kind != CONTENT_BYTES;
	}
	return numbers == 1 && !others;
}

static bool is_worth_solving(const struct argument_site *site)
{
	const struct argument_operand *matrix = first_array(site);

	return matrix && argument_numbers_taken(matrix->shape, 0) >= SOLVED_MIN;
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
	a = argument_numbers_taken(site->operands[first].shape, 0);
	b = argument_numbers_taken(site->operands[first + 1].shape, 0);
	return a >= LARGE_MIN && b >= LARGE_MIN && (double)a * (double)b >= LARGE_PRODUCT_MIN;
}

/* argsort(a) */
static bool is_worth_parting(const struct argument_site *site)
{
	for (size_t i = 0; i < site->operand_count; i++)
		if (site->operands[i].kind == CONTENT_ARRAY ||
		    site->operands[i].kind == CONTENT_TENSOR)
			return argument_numbers_taken(site->operands[i].shape, 0) >= PARTED_MIN;
	return false;
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
	return array->kind == CONTENT_ARRAY ? argument_numbers_taken(array->shape, 0) >= ARRAY_MIN
					    : argument_is_of_library(array->shape);
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
	case SLOW_ON_LONG_TEXT:
		return is_of_long_text(site);
	case SLOW_ON_NUMBERS:
	case SLOW_OF_OBJECT_ON_NUMBERS:
		return 2 * site->on_numbers > site->read;
	case SLOW_ON_ARRAY:
		return goes_over_array(site);
	case SLOW_AT_FRONT:
		return first && first->zero && is_of_list(site, MOVED_MIN);
	case SLOW_SEARCH:
		return is_of_list(site, ARGUMENT_SEARCHED_MIN) || is_asked_by_key(site);
	case SLOW_ON_LIST:
		return is_first_list(site, false);
	case SLOW_ON_ANY_LIST:
		return is_first_list(site, true);
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
	case SLOW_ON_LOOP_ROW:
		return is_of_part(site);
	case SLOW_OF_OBJECT_ON_LIST:
		return is_made_of_few(site);
	case SLOW_MANY:
		return is_of_many(site);
	case SLOW_TALL:
		return is_of_tall(site);
	case SLOW_ELEMENT:
		return is_of_element(site);
	case SLOW_WEIGHED:
		return is_weighed(site);
	case SLOW_ON_ARRAYS:
		return first && first->of_arrays && first->size > 1;
	case SLOW_ON_PIECES:
		return is_piece_hashed(site);
	case SLOW_ON_VALUE:
		return is_value_written(site);
	case SLOW_LOOKS:
		return true;
	case SLOW_PART:
		return is_worth_parting(site);
	case SLOW_INVERTS:
		return is_worth_solving(site);
	case SLOW_END:
	case SLOW_COPY_BACK:
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
