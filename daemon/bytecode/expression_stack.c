/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/bytecode/expression_stack.h"

#include <stdio.h>
#include <string.h>

static size_t character_start(const char *bytes, size_t at)
{
	while (at > 0 && ((unsigned char)bytes[at] & 0xc0) == 0x80)
		at--;
	return at;
}

void text_add(struct text *text, const char *bytes, size_t size)
{
	size_t room = EXPRESSION_BYTES_MAX - text->length;
	size_t kept = EXPRESSION_BYTES_MAX - strlen(EXPRESSION_ELLIPSIS);

	if (text->cut)
		return;
	memcpy(text->bytes + text->length, bytes, size < room ? size : room);
	text->length += size < room ? size : room;
	if (size > room) {
		text->length = character_start(text->bytes, kept);
		memcpy(text->bytes + text->length, EXPRESSION_ELLIPSIS,
		       strlen(EXPRESSION_ELLIPSIS));
		text->length += strlen(EXPRESSION_ELLIPSIS);
		text->cut = true;
	}
	text->bytes[text->length] = '\0';
}

void text_put(struct text *text, const char *string)
{
	text_add(text, string, strlen(string));
}

bool expression_is_word(char byte)
{
	return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
	       (byte >= '0' && byte <= '9') || byte == '_' || (unsigned char)byte >= 0x80;
}

static bool push(struct expression_stack *stack, const struct value *value)
{
	if (stack->count == EXPRESSION_VALUES_MAX)
		return false;
	stack->values[stack->count++] = *value;
	return true;
}

static bool push_shape(struct expression_stack *stack, enum shape shape, const char *text)
{
	struct value value = { .shape = shape };

	text_put(&value.text, text);
	return push(stack, &value);
}

/* A name of the program's; what cannot be one (".0") is not known. */
static void value_put_name(struct value *value, const struct expression_stack *stack,
			   enum python_names names, uint32_t index)
{
	const struct expression_context *context = stack->context;
	const char *name = NULL;
	size_t length = 0;

	if (context->name_of)
		name = context->name_of(context->context, names, index);
	while (name && expression_is_word(name[length]))
		length++;
	if (length == 0 || name[length]) {
		value->unnamed = true;
		text_put(&value->text, EXPRESSION_ELLIPSIS);
	} else {
		value->named = true;
		text_add(&value->text, name, length);
	}
}

/* Another value inside of this one, with the parentheses it needs there. */
static void value_put(struct value *value, const struct value *part, bool bracket)
{
	if (bracket)
		text_put(&value->text, "(");
	text_add(&value->text, part->text.bytes, part->text.length);
	if (bracket)
		text_put(&value->text, ")");
	value->named |= part->named;
	value->unnamed |= part->unnamed;
}

/* As an operand of an operator. */
static void value_put_operand(struct value *value, const struct value *part)
{
	value_put(value, part, part->shape == SHAPE_OPERATION || part->shape == SHAPE_TUPLE);
}

/* As what is called, subscripted, or has an attribute. */
static void value_put_base(struct value *value, const struct value *part)
{
	value_put(value, part, part->shape != SHAPE_ATOM);
}

/* As one of several. */
static void value_put_item(struct value *value, const struct value *part)
{
	value_put(value, part, part->shape == SHAPE_TUPLE);
}

static void value_put_items(struct value *value, const struct value *items, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (i > 0)
			text_put(&value->text, ", ");
		value_put_item(value, &items[i]);
	}
}

/* The topmost values; NULL: there are not as many. */
static struct value *top(struct expression_stack *stack, size_t count)
{
	return count <= stack->count ? &stack->values[stack->count - count] : NULL;
}

/* Puts one value in place of the topmost ones. */
static bool replace(struct expression_stack *stack, size_t count, const struct value *value)
{
	stack->count -= count;
	return push(stack, value);
}

static bool load_variables(struct expression_stack *stack,
			   const struct bytecode_instruction *instruction,
			   const struct variable read[VARIABLES_MAX], bool surplus)
{
	/* 3.11+: with the NULL for a call; an attribute of the global may be what is called. */
	bool null = read[0].storage == 'g' && stack->code->minor >= 11 && instruction->argument & 1;
	bool below = null && stack->code->minor < 13;

	if (below && !push_shape(stack, SHAPE_NOTHING, ""))
		return false;
	for (size_t v = surplus; v < VARIABLES_MAX; v++) {
		enum python_names names = PYTHON_NAMES;
		struct value value = {
			.shape = SHAPE_ATOM,
			.plain = true,
			.offset = instruction->offset,
			.shared = read[1].storage,
		};

		if (!read[v].storage)
			continue;
		if (read[v].storage == 'f' || read[v].storage == 'd')
			names = PYTHON_LOCALS;
		if (read[v].storage == 'd' && stack->code->minor < 11)
			names = PYTHON_CELLS;
		value_put_name(&value, stack, names, read[v].index);
		if (!push(stack, &value))
			return false;
	}
	return !null || below || push_shape(stack, SHAPE_NOTHING, "");
}

static bool load_attribute(struct expression_stack *stack,
			   const struct bytecode_instruction *instruction)
{
	bool method = !strcmp(instruction->name, "LOAD_METHOD");
	uint32_t index = instruction->argument;
	struct value value = { .shape = SHAPE_ATOM, .offset = instruction->offset };
	struct value *object = top(stack, 1);

	if (!object)
		return false;
	/* 3.12: LOAD_ATTR is also LOAD_METHOD. */
	if (!method && stack->code->minor >= 12) {
		method = index & 1;
		index >>= 1;
	}
	value.plain = object->plain;
	value_put_base(&value, object);
	text_put(&value.text, ".");
	value_put_name(&value, stack, PYTHON_NAMES, index);
	return replace(stack, 1, &value) && (!method || push_shape(stack, SHAPE_NOTHING, ""));
}

/* What a call calls, and its arguments by position and keyword. */
struct call {
	const struct value *callee, *arguments;
	size_t values, count; /* on the stack in all, arguments among them */
	bool keywords;        /* which of them are by keyword is not known */
};

static bool is_call(const char *name)
{
	return !strncmp(name, "CALL", 4);
}

static bool find_call(struct expression_stack *stack,
		      const struct bytecode_instruction *instruction, struct call *ret_call)
{
	const char *name = instruction->name;
	bool names = !strcmp(name, "CALL_KW") || !strcmp(name, "CALL_FUNCTION_KW");
	/* CALL_FUNCTION, to 3.10: the callable alone, else the callable and NULL or self. */
	size_t callees = strncmp(name, "CALL_FUNCTION", 13) ? 2 : 1;
	struct call call = {
		.count = instruction->argument,
		.values = callees + instruction->argument + names,
		.keywords = names || stack->keywords,
	};
	const struct value *values = top(stack, call.values);

	stack->keywords = false;
	if (!values)
		return false;
	call.callee = &values[0];
	call.arguments = &values[callees];
	if (callees == 2 && values[0].shape == SHAPE_NOTHING) {
		call.callee = &values[1];
	} else if (callees == 2 && values[1].shape != SHAPE_NOTHING) {
		/* What seems to be self is the first argument, as of decorators. */
		call.arguments--;
		call.count++;
	}
	*ret_call = call;
	return call.callee->shape != SHAPE_NOTHING;
}

static bool call(struct expression_stack *stack, const struct bytecode_instruction *instruction)
{
	struct value value = { .shape = SHAPE_ATOM, .offset = instruction->offset };
	struct call found;

	if (!find_call(stack, instruction, &found))
		return false;
	value_put_base(&value, found.callee);
	text_put(&value.text, "(");
	if (found.keywords)
		text_put(&value.text, EXPRESSION_ELLIPSIS);
	else
		value_put_items(&value, found.arguments, found.count);
	text_put(&value.text, ")");
	return replace(stack, found.values, &value);
}

static bool binary(struct expression_stack *stack, const struct bytecode_instruction *instruction,
		   const char *operator, bool inplace)
{
	struct value value = { .shape = SHAPE_OPERATION, .offset = instruction->offset };
	struct value *operands = top(stack, 2);

	if (!operands || !operator)
		return false;
	value_put_operand(&value, &operands[0]);
	text_put(&value.text, " ");
	text_put(&value.text, operator);
	text_put(&value.text, inplace ? "= " : " ");
	value_put_operand(&value, &operands[1]);
	return replace(stack, 2, &value);
}

static bool unary(struct expression_stack *stack, const struct bytecode_instruction *instruction,
		  const char *operator)
{
	struct value value = { .shape = SHAPE_OPERATION, .offset = instruction->offset };
	struct value *operand = top(stack, 1);

	if (!operand)
		return false;
	text_put(&value.text, operator);
	value_put_operand(&value, operand);
	return replace(stack, 1, &value);
}

/* values: the object, and an index or the two ends of a slice. */
static bool subscript(struct expression_stack *stack,
		      const struct bytecode_instruction *instruction, size_t values)
{
	struct value value = { .shape = SHAPE_ATOM, .offset = instruction->offset };
	struct value *operands = top(stack, values);

	if (!operands)
		return false;
	value_put_base(&value, &operands[0]);
	text_put(&value.text, "[");
	for (size_t i = 1; i < values; i++) {
		if (i > 1)
			text_put(&value.text, ":");
		value_put(&value, &operands[i], false);
	}
	text_put(&value.text, "]");
	return replace(stack, values, &value);
}

static bool expression_build(struct expression_stack *stack,
			     const struct bytecode_instruction *instruction)
{
	const char *what = instruction->name + strlen("BUILD_");
	struct value value = { .shape = SHAPE_ATOM, .offset = instruction->offset };
	size_t count = instruction->argument;
	struct value *items = top(stack, count);

	if (!items)
		return false;
	if (!strcmp(what, "TUPLE")) {
		value.shape = SHAPE_TUPLE;
		value_put_items(&value, items, count);
		if (count == 1)
			text_put(&value.text, ",");
	} else if (!strcmp(what, "LIST") || !strcmp(what, "SET")) {
		text_put(&value.text, what[0] == 'L' ? "[" : "{");
		value_put_items(&value, items, count);
		text_put(&value.text, what[0] == 'L' ? "]" : "}");
	} else if (!strcmp(what, "SLICE")) {
		for (size_t i = 0; i < count; i++) {
			if (i > 0)
				text_put(&value.text, ":");
			value_put_item(&value, &items[i]);
		}
	} else if (!strcmp(what, "STRING")) {
		value.shape = SHAPE_CONSTANT;
		text_put(&value.text, EXPRESSION_ELLIPSIS);
	} else {
		return false;
	}
	return replace(stack, count, &value);
}

struct operator_sign {
	const char *name; /* behind BINARY_ or INPLACE_ */
	const char *sign;
};

/* In the order of BINARY_OP's argument; the in-place ones follow in the same order. */
static const struct operator_sign operators[] = {
	{ "ADD", "+" },
	{ "AND", "&" },
	{ "FLOOR_DIVIDE", "//" },
	{ "LSHIFT", "<<" },
	{ "MATRIX_MULTIPLY", "@" },
	{ "MULTIPLY", "*" },
	{ "MODULO", "%" },
	{ "OR", "|" },
	{ "POWER", "**" },
	{ "RSHIFT", ">>" },
	{ "SUBTRACT", "-" },
	{ "TRUE_DIVIDE", "/" },
	{ "XOR", "^" },
};

/* In the order of COMPARE_OP's argument; those from "in" on to 3.8. */
static const char *const comparisons[] = { "<",  "<=", "==",     "!=", ">",
					   ">=", "in", "not in", "is", "is not" };

static const struct operator_sign unary_operators[] = {
	{ "UNARY_NEGATIVE", "-" },
	{ "UNARY_POSITIVE", "+" },
	{ "UNARY_INVERT", "~" },
	{ "UNARY_NOT", "not " },
};

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))
/* BINARY_OP's argument of a subscript (3.14). */
#define BINARY_OP_SUBSCRIPT (2 * COUNT_OF(operators))

static const char *comparison(int minor, uint32_t argument)
{
	if (minor >= 13)
		argument >>= 5;
	else if (minor == 12)
		argument >>= 4;
	return argument < COUNT_OF(comparisons) ? comparisons[argument] : NULL;
}

static bool operation(struct expression_stack *stack,
		      const struct bytecode_instruction *instruction)
{
	const char *name = instruction->name;
	uint32_t argument = instruction->argument;

	if (!strcmp(name, "BINARY_OP") && argument < BINARY_OP_SUBSCRIPT)
		return binary(stack, instruction, operators[argument % COUNT_OF(operators)].sign,
			      argument >= COUNT_OF(operators));
	if (!strcmp(name, "BINARY_SUBSCR") ||
	    (!strcmp(name, "BINARY_OP") && argument == BINARY_OP_SUBSCRIPT))
		return subscript(stack, instruction, 2);
	if (!strcmp(name, "BINARY_SLICE"))
		return subscript(stack, instruction, 3);
	if (!strcmp(name, "COMPARE_OP"))
		return binary(stack, instruction, comparison(stack->code->minor, argument), false);
	if (!strcmp(name, "IS_OP"))
		return binary(stack, instruction, argument ? "is not" : "is", false);
	if (!strcmp(name, "CONTAINS_OP"))
		return binary(stack, instruction, argument ? "not in" : "in", false);
	for (size_t i = 0; i < COUNT_OF(unary_operators); i++)
		if (!strcmp(name, unary_operators[i].name))
			return unary(stack, instruction, unary_operators[i].sign);
	for (size_t i = 0; i < COUNT_OF(operators); i++) {
		const char *behind = strchr(name, '_');

		if (behind && !strcmp(behind + 1, operators[i].name))
			return binary(stack, instruction, operators[i].sign,
				      !strncmp(name, "INPLACE_", 8));
	}
	return false;
}

static bool step(struct expression_stack *stack, const struct bytecode_instruction *instruction,
		 bool surplus)
{
	const char *name = instruction->name;
	struct variable read[VARIABLES_MAX];
	char number[16];

	operands_variables(stack->code, instruction, false, read);
	if (read[0].storage || read[1].storage)
		return load_variables(stack, instruction, read, surplus);
	if (!strcmp(name, "LOAD_ATTR") || !strcmp(name, "LOAD_METHOD"))
		return load_attribute(stack, instruction);
	if (!strcmp(name, "LOAD_SMALL_INT")) {
		snprintf(number, sizeof(number), "%u", instruction->argument);
		return push_shape(stack, SHAPE_CONSTANT, number);
	}
	if (!strcmp(name, "LOAD_CONST") || !strcmp(name, "LOAD_COMMON_CONSTANT") ||
	    !strcmp(name, "LOAD_CLOSURE"))
		return push_shape(stack, SHAPE_CONSTANT, EXPRESSION_ELLIPSIS);
	if (!strcmp(name, "PUSH_NULL"))
		return push_shape(stack, SHAPE_NOTHING, "");
	if (is_call(name))
		return call(stack, instruction);
	if (!strncmp(name, "BUILD_", 6))
		return expression_build(stack, instruction);
	if (!strcmp(name, "KW_NAMES")) {
		stack->keywords = true;
		return true;
	}
	if (!strcmp(name, "NOP") || !strcmp(name, "PRECALL") || !strcmp(name, "TO_BOOL"))
		return true;
	return operation(stack, instruction);
}

/*
 * The instruction at an offset, with its operands on the stack. 3.11's PRECALL is the
 * CALL behind it.
 */
const struct bytecode_instruction *expression_stack_operands(
	struct expression_stack *stack, const struct bytecode *bytecode, int offset,
	const struct expression_context *context)
{
	const struct bytecode_instruction *at = bytecode_at(bytecode, offset);
	struct operands operands;
	size_t index;

	*stack = (struct expression_stack){ .code = bytecode->code, .context = context };
	if (!at)
		return NULL;
	index = (size_t)(at - bytecode->instructions);
	if (!strcmp(at->name, "PRECALL") && index + 1 < bytecode->count)
		index++;
	if (!operands_of(bytecode, index, &operands))
		return NULL;
	for (size_t i = operands.begin; i < operands.end; i++)
		if (!step(stack, &bytecode->instructions[i],
			  i == operands.begin && operands.surplus))
			return NULL;
	return &bytecode->instructions[index];
}

const struct value *expression_stack_result(struct expression_stack *stack,
					    const struct bytecode_instruction *instruction)
{
	/* The value below is what is stored. */
	if (!strcmp(instruction->name, "STORE_SUBSCR") ? !subscript(stack, instruction, 2)
						       : !step(stack, instruction, false))
		return NULL;
	while (stack->count > 0 && stack->values[stack->count - 1].shape == SHAPE_NOTHING)
		stack->count--;
	return top(stack, 1);
}

const struct value *expression_stack_operand(struct expression_stack *stack,
					     const struct bytecode_instruction *instruction,
					     int operand)
{
	struct call found;
	size_t index;

	if (is_call(instruction->name)) {
		if (!find_call(stack, instruction, &found))
			return NULL;
		if (operand < 0)
			return found.callee;
		return (size_t)operand < found.count ? &found.arguments[operand] : NULL;
	}
	if (operand < 0 || (size_t)operand >= stack->count)
		return NULL;
	index = (size_t)operand;
	/* What is stored lies below the object and its index. */
	if (!strcmp(instruction->name, "STORE_SUBSCR"))
		index = (index + 1) % stack->count;
	return &stack->values[index];
}
