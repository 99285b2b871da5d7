/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/detect/argument_element.h"

#include "common/text.h"

#include <stdlib.h>
#include <string.h>

#define ELEMENTS_ROW_MAX 32
/* A column that is worth a table of where its values are. */
#define COMPARED_MIN 64
/* So many numbers, and the work on them is what a call costs. */
#define BULK_MIN 64
/* Bytes, or characters, for which to find them in a dict takes less than to work on them. */
#define MUCH_BYTES 256

bool argument_is_number(uint8_t kind)
{
	return kind == CONTENT_INT || kind == CONTENT_FLOAT || kind == CONTENT_BOOL ||
	       kind == CONTENT_COMPLEX || kind == CONTENT_SCALAR;
}

/* Of "float64[48,16]", how many numbers one index of so many dimensions takes out; 0: too many
 * indices. */
uint64_t argument_numbers_taken(const char *shape, uint64_t indices)
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
bool argument_is_of_library(const char *shape)
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
		return argument_is_of_library(container->shape);
	/* Objects are asked one by one, whoever does it. */
	if (text_starts_with(container->shape, "object"))
		return false;
	numbers = argument_numbers_taken(container->shape,
					 index->kind == CONTENT_TUPLE ? index->size : 1);
	return numbers > 0 && numbers <= ELEMENTS_ROW_MAX;
}

#define SMALL_INTEGER_MAX 64

/* So many times an object was met again, and at most one in so many times it had changed. */
/* Pairs of calls in rows with the same objects and contents, none of them with others. */
#define STEADY_ROW_MIN    24
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
	if (!spread || (site->held_again >= STEADY_MIN &&
			STEADY_CHANGES_OF * site->held_changed <= site->held_again))
		return true;
	/* From one sample to the next another one may have been made in its place. */
	return site->row_held >= STEADY_ROW_MIN && !site->row_changed &&
	       2 * site->held_changed <= site->held_again;
}

/* d.values(): made for the call, and in parts as much as its dict. */
static bool is_view(const struct argument_operand *operand)
{
	return !strcmp(operand->shape, "dict_values") || !strcmp(operand->shape, "dict_keys") ||
	       !strcmp(operand->shape, "dict_items");
}

bool argument_has_part_of_object(const struct argument_site *site)
{
	bool steady = argument_parts_are_steady(site);

	for (size_t i = 0; i < site->operand_count; i++)
		if (site->operands[i].kind == CONTENT_OBJECT && !site->operands[i].whole &&
		    !is_view(&site->operands[i]) && !site->operands[i].frame &&
		    !(site->operands[i].spread && steady))
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
	       !argument_is_of_library(container->shape);
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
			/* timedelta(days=n) */
			builtin |= !strcmp(operand->shape, "builtin_function_or_method") ||
				   !strcmp(operand->shape, "type");
			continue;
		}
		if (operand->kind != CONTENT_FLOAT && operand->kind != CONTENT_BOOL &&
		    (operand->kind != CONTENT_INT || operand->size > SMALL_INTEGER_MAX))
			return false;
		numbers = true;
	}
	return builtin && numbers;
}

/* Two of them are added or compared as fast as numbers are. */
static bool is_date(const struct argument_operand *operand)
{
	return !strcmp(operand->shape, "date") || !strcmp(operand->shape, "datetime") ||
	       !strcmp(operand->shape, "timedelta") || !strcmp(operand->shape, "time");
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
		if (argument_is_number(site->operands[i].kind) || is_date(&site->operands[i]))
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
		    argument_numbers_taken(site->operands[i].shape, 0) >= BULK_MIN)
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

bool argument_compares_array(const struct argument_site *site)
{
	for (size_t i = 0; i < site->operand_count; i++) {
		const struct argument_operand *operand = &site->operands[i];

		/* The length of a column of strings is not told. */
		if (!strcmp(operand->shape, "Series"))
			return true;
		if (operand->kind == CONTENT_ARRAY || argument_is_of_library(operand->shape))
			return argument_numbers_taken(operand->shape, 0) >= COMPARED_MIN;
	}
	return false;
}

/* row.x, row["x"]: of a tuple it costs next to nothing. */
bool argument_asks_row(const struct argument_site *site)
{
	return (site->kind == OPERATION_ATTRIBUTE || site->kind == OPERATION_SUBSCRIPT) &&
	       site->operand_count && !strncmp(site->operands[0].shape, "Series", 6);
}

/* min(v, 0.3), abs(v): of a function in C. */
static bool is_call_on_numbers(const struct argument_site *site)
{
	size_t numbers = 0;

	if (site->kind != OPERATION_CALL || site->runs_python || site->of_callee)
		return false;
	for (size_t i = 0; i < site->operand_count; i++) {
		if (!site->operands[i].callable && !argument_is_number(site->operands[i].kind))
			return false;
		numbers += !site->operands[i].callable;
	}
	return numbers > 0;
}

/* Not an element, nor a short row of them. */
static bool is_many_numbers(const struct argument_operand *operand)
{
	return (operand->kind == CONTENT_ARRAY || operand->kind == CONTENT_TENSOR ||
		argument_is_of_library(operand->shape)) &&
	       argument_numbers_taken(operand->shape, 0) > ELEMENTS_ROW_MAX;
}

/* x[i] * y, by what a subscript leaves, or for v in x: v * y: a library's own kind of number; or of
 * a row as short as argument_takes_element() has. */
bool argument_works_on_elements(const struct argument_site *site, const struct call_site *call,
				bool on_loop_item)
{
	if ((!call->does.elementwise && !on_loop_item) ||
	    (site->kind != OPERATION_BINARY && site->kind != OPERATION_COMPARE &&
	     !(on_loop_item && is_call_on_numbers(site) && !argument_calls_on_scalars(site))))
		return false;
	/* x > x.max(), of all of x */
	for (size_t i = 0; i < site->operand_count; i++)
		if (is_many_numbers(&site->operands[i]))
			return false;
	for (size_t i = 0; i < site->operand_count; i++) {
		const struct argument_operand *operand = &site->operands[i];
		uint64_t numbers = operand->kind == CONTENT_ARRAY && operand->part
					   ? argument_numbers_taken(operand->shape, 0)
					   : 0;

		if (operand->kind == CONTENT_SCALAR ||
		    (on_loop_item && numbers > 0 && numbers <= ELEMENTS_ROW_MAX))
			return true;
	}
	return false;
}
