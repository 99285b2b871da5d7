/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/detect/argument_note.h"

#include "common/hash.h"
#include "daemon/detect/slow_call.h"

#include <string.h>

/* What is called says little by its contents; which one it is counts. */
static bool is_callable(const struct operand_value *value, const struct fingerprint *print)
{
	/* To 3.6 a bound method's place is taken by what it is bound to. */
	return print->kind == CONTENT_CALLABLE ||
	       (value->role == OPERAND_CALLABLE && print->kind != CONTENT_OBJECT);
}

static bool is_sequence(const struct fingerprint *print)
{
	switch (print->kind) {
	case CONTENT_STR:
	case CONTENT_BYTES:
	case CONTENT_BYTEARRAY:
	case CONTENT_TUPLE:
	case CONTENT_LIST:
	case CONTENT_ARRAY:
	case CONTENT_BUFFER:
	case CONTENT_DEQUE:
	case CONTENT_TENSOR:
		return true;
	default:
		return false;
	}
}

/* {**d}, {*s}, s | {x}: all of it, as of a sequence. */
static bool is_copied(const struct argument_site *site, const struct fingerprint *print)
{
	return (site->kind == OPERATION_EXTEND ||
		(site->kind == OPERATION_BINARY && !site->in_place)) &&
	       (print->kind == CONTENT_DICT || print->kind == CONTENT_SET);
}

/* min(s), max(d, key=d.get) */
static bool is_gone_over(const struct argument_site *site, const struct fingerprint *print)
{
	return print->sketch && slow_call_goes_over(site->slow);
}

/* Could be a key of a cache: functools.lru_cache refuses the others. */
static bool is_hashable(const struct fingerprint *print)
{
	switch (print->kind) {
	case CONTENT_DICT:
		/* **kwargs of a call without any. */
		return !print->size && print->whole;
	case CONTENT_LIST:
	case CONTENT_BYTEARRAY:
	case CONTENT_ARRAY:
	case CONTENT_SET:
	case CONTENT_DEQUE:
	case CONTENT_BUFFER:
	case CONTENT_TENSOR:
	case CONTENT_FUNCTION: /* one made anew each time is another key each time */
	case CONTENT_ITERATOR:
	case CONTENT_GENERATOR:
	case CONTENT_OTHER:
	case CONTENT_UNREADABLE:
		return false;
	case CONTENT_OBJECT:
		/* What a method reads of its object. */
		return print->keyed && !print->opaque;
	default:
		return !print->opaque || print->kind == CONTENT_CALLABLE;
	}
}

/* "list_iterator", "generator", "zip": made for one call, and used up by it. */
static bool is_iterator(const struct fingerprint *print)
{
	static const char *const names[] = { "generator", "zip",      "map",  "filter",
					     "enumerate", "reversed", "range" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(print->shape, names[i]))
			return true;
	return strstr(print->shape, "iterator") != NULL;
}

/* What a search has found: made for one call, and never changed. */
static bool is_match(const struct fingerprint *print)
{
	return print->opaque &&
	       (!strcmp(print->shape, "Match") || !strcmp(print->shape, "SRE_Match"));
}

bool argument_is_callee(uint8_t role)
{
	return role == OPERAND_CALLABLE || role == OPERAND_METHOD;
}

static void describe(struct argument_site *site, size_t index, const struct operand_value *value,
		     const struct fingerprint *print, bool callable)
{
	struct argument_operand *known = &site->operands[index];

	/* One sample in the middle of a change does not make a site another one. */
	if (known->shape[0] && known->kind != print->kind && !known->doubted) {
		known->doubted = true;
		return;
	}
	*known = (struct argument_operand){
		.role = value->role,
		.kind = print->kind,
		.whole = print->whole,
		.spread = print->spread,
		.frame = print->frame,
		.part = print->part != 0,
		.of_arrays = print->largest_item > 0,
		.hashable = callable || is_hashable(print),
		.keyed = print->keyed,
		.zero = print->kind == CONTENT_INT && !print->size,
		.callable = callable,
		.size = print->size,
	};
	memcpy(known->shape, print->shape, sizeof(print->shape));
}

static void note_last(struct argument_site *site, size_t index, const struct fingerprint *print)
{
	struct argument_last *last = &site->last[index];
	bool changed = last->object && last->content != print->content;

	if (site->operands[index].hashable) {
		site->keys_changed += changed;
	} else {
		bool again = last->object == print->object;

		site->held_met++;
		site->held_again += again;
		site->held_changed += again && changed;
	}
	*last = (struct argument_last){ print->object, print->content };
}

void argument_note_unused(struct argument_frame *frame, struct argument_site *site, size_t index,
			  const struct operand_value *value, const struct fingerprint *print)
{
	frame->contents = hash_combine(frame->contents, 0);
	frame->objects = hash_combine(frame->objects, 0);
	frame->operands[index] = 0;
	describe(site, index, value, print, false);
	/* No cache needs it for a key. */
	site->operands[index].whole = site->operands[index].hashable = true;
}

void argument_note_operand(struct argument_frame *frame, struct argument_site *site, size_t index,
			   const struct operand_value *value, const struct fingerprint *print)
{
	bool callable = is_callable(value, print);
	bool closure = callable && print->kind == CONTENT_FUNCTION;
	uint64_t content = print->content;

	/* A class's method is made anew each time it is asked for, and so is a function within
	 * another one, a comprehension to 3.11: contents say which one it is. */
	if (callable && print->kind != CONTENT_METHOD && print->kind != CONTENT_CALLABLE &&
	    !(closure && !print->opaque))
		content = hash_mix(print->object);
	frame->contents = hash_combine(frame->contents, content);
	frame->operands[index] = hash_word(hash_mix(content));
	describe(site, index, value, print, callable);
	/* What could be a key is the same wherever it lies. */
	frame->objects = hash_combine(frame->objects,
				      site->operands[index].hashable ? content : print->object);
	if (!callable)
		note_last(site, index, print);
	if ((is_sequence(print) || is_copied(site, print) || is_gone_over(site, print)) &&
	    print->size > frame->largest) {
		frame->largest = print->size;
		frame->sketch = print->sketch;
		frame->part = print->part;
	}
	/* numpy.concatenate([x, y]) goes over x. */
	if (print->largest_item > frame->largest)
		frame->largest = print->largest_item;
	if (print->kind == CONTENT_NONE ||
	    (callable && !closure && print->kind != CONTENT_METHOD) ||
	    (print->kind == CONTENT_FUNCTION && !print->opaque))
		return;
	if (is_match(print))
		frame->flags |= ARGUMENT_OPAQUE;
	else if (print->opaque || print->kind == CONTENT_OTHER || print->kind == CONTENT_UNREADABLE)
		frame->flags |=
			ARGUMENT_OPAQUE | (is_iterator(print) ? ARGUMENT_ITERATOR : ARGUMENT_STATE);
	else
		frame->flags |= ARGUMENT_DATA;
	if (!print->whole)
		frame->flags |= ARGUMENT_PARTIAL;
}

void argument_note_integer(struct argument_frame *frame, struct argument_site *site, size_t index,
			   const struct operand_value *value)
{
	uint64_t content = hash_mix((uint64_t)value->integer);

	frame->contents = hash_combine(frame->contents, content);
	frame->operands[index] = hash_word(content);
	frame->flags |= ARGUMENT_DATA;
	site->operands[index] = (struct argument_operand){
		.role = value->role,
		.kind = CONTENT_INT,
		.whole = true,
		.zero = !value->integer,
		.size = value->integer < 0 ? 0 - (uint64_t)value->integer
					   : (uint64_t)value->integer,
		.shape = "int",
	};
}

void argument_note_range(struct argument_frame *frame, const struct argument_site *site)
{
	const struct argument_operand *text = NULL, *last = NULL, *before = NULL;

	for (size_t k = 0; site->kind == OPERATION_CALL && k < site->operand_count; k++) {
		const struct argument_operand *operand = &site->operands[k];

		if (operand->role == OPERAND_SELF)
			text = operand;
		else if (!operand->callable) {
			before = last;
			last = operand;
		}
	}
	if (!text || !before || last->kind != CONTENT_INT || before->kind != CONTENT_INT ||
	    (text->kind != CONTENT_STR && text->kind != CONTENT_BYTES &&
	     text->kind != CONTENT_BYTEARRAY))
		return;
	if (before->size < last->size && last->size <= text->size)
		frame->largest = last->size - before->size;
}

/* To 3.10 a Python function is called through C, which takes no operands from the stack. */
bool argument_calls_function(const struct argument_site *site)
{
	for (size_t k = 0; k < site->operand_count; k++) {
		const struct argument_operand *operand = &site->operands[k];

		if (argument_is_callee(operand->role) &&
		    (!strcmp(operand->shape, "function") || !strcmp(operand->shape, "method")))
			return true;
	}
	return false;
}

bool argument_reads_attributes(const struct argument_site *site)
{
	for (size_t k = 0; k < site->operand_count; k++)
		if (site->operands[k].keyed)
			return true;
	return false;
}

bool argument_calls_cache(const struct argument_site *site)
{
	for (size_t k = 0; k < site->operand_count; k++)
		if (argument_is_callee(site->operands[k].role) &&
		    strstr(site->operands[k].shape, "lru_cache_wrapper"))
			return true;
	return false;
}

/* A C function of ctypes, given numbers alone: one of them may be a handle of what it works on. */
bool argument_is_foreign(const struct argument_site *site)
{
	bool foreign = false;

	for (size_t k = 0; k < site->operand_count; k++) {
		const struct argument_operand *operand = &site->operands[k];

		if (operand->callable)
			foreign |= strstr(operand->shape, "FuncPtr") != NULL;
		else if (operand->kind != CONTENT_INT && operand->kind != CONTENT_FLOAT &&
			 operand->kind != CONTENT_BOOL && operand->kind != CONTENT_NONE)
			return false;
	}
	return foreign;
}
