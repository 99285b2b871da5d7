/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/bytecode/expression.h"

#include "daemon/bytecode/expression_stack.h"

#include <string.h>

/* Is the boundary before this byte inside of a name, or of a character? */
static bool splits_word(const char *line, size_t at)
{
	return at > 0 && expression_is_word(line[at - 1]) && expression_is_word(line[at]);
}

/* Without white space at the end, and a comment if there surely is one. */
static size_t trim(const char *text, size_t size)
{
	const char *comment = memchr(text, '#', size);

	if (comment && !memchr(text, '\'', size) && !memchr(text, '"', size))
		size = (size_t)(comment - text);
	while (size > 0 && (text[size - 1] == ' ' || text[size - 1] == '\\'))
		size--;
	return size;
}

bool expression_in_line(const struct code_position *position, const char *line,
			char ret_text[EXPRESSION_SIZE])
{
	bool goes_on = position->end_line > position->line;
	size_t length = strlen(line), start, end, size;
	struct text text = { 0 };

	if (position->column < 0 || position->end_column < 0 || (size_t)position->column >= length)
		return false;
	start = (size_t)position->column;
	end = goes_on ? length : (size_t)position->end_column;
	if (end <= start || splits_word(line, start))
		return false;
	if (end > length) {
		/* A long line may have been cut, but not before what is shown. */
		if (length - start <= EXPRESSION_BYTES_MAX)
			return false;
		end = length;
	} else if (splits_word(line, end)) {
		return false;
	}
	size = goes_on ? trim(line + start, end - start) : end - start;
	if (size == 0)
		return false;
	text_add(&text, line + start, size);
	if (goes_on && !text.cut)
		text_put(&text, EXPRESSION_ELLIPSIS);
	memcpy(ret_text, text.bytes, sizeof(text.bytes));
	return true;
}

static bool in_source(const struct python_code *code, int offset,
		      const struct expression_context *context, char ret_text[EXPRESSION_SIZE])
{
	struct code_position position;
	const char *line;

	if (!context->line_of || python_code_position(code, offset, &position))
		return false;
	line = context->line_of(context->context, position.line);
	return line && expression_in_line(&position, line, ret_text);
}

static bool in_bytecode(const struct bytecode *bytecode, int offset,
			const struct expression_context *context, char ret_text[EXPRESSION_SIZE])
{
	const struct bytecode_instruction *instruction;
	const struct value *result = NULL;
	struct expression_stack stack;

	instruction = expression_stack_operands(&stack, bytecode, offset, context);
	if (instruction)
		result = expression_stack_result(&stack, instruction);
	/* Of a double load there is no telling which one is meant. */
	if (!result || !result->named || result->shared)
		return false;
	memcpy(ret_text, result->text.bytes, sizeof(result->text.bytes));
	return true;
}

bool expression_text(const struct bytecode *bytecode, int offset,
		     const struct expression_context *context, char ret_text[EXPRESSION_SIZE])
{
	return in_source(bytecode->code, offset, context, ret_text) ||
	       in_bytecode(bytecode, offset, context, ret_text);
}

/* Names with dots between them and nothing else. */
static bool is_name(const char *text)
{
	if (!expression_is_word(text[0]))
		return false;
	for (; *text; text++)
		if (!expression_is_word(*text) && (*text != '.' || !expression_is_word(text[1])))
			return false;
	return true;
}

bool expression_operand_name(const struct bytecode *bytecode, int offset, int operand,
			     const struct expression_context *context,
			     char ret_name[EXPRESSION_SIZE])
{
	const struct bytecode_instruction *instruction;
	const struct value *value;
	char name[EXPRESSION_SIZE], *dot;
	struct expression_stack stack;

	instruction = expression_stack_operands(&stack, bytecode, offset, context);
	value = instruction ? expression_stack_operand(&stack, instruction, operand) : NULL;
	if (!value || !value->plain)
		return false;
	if (!value->unnamed)
		memcpy(name, value->text.bytes, sizeof(name));
	else if (value->shared || !in_source(bytecode->code, value->offset, context, name))
		return false;
	if (!is_name(name))
		return false;
	if (operand == EXPRESSION_RECEIVER) {
		dot = strrchr(name, '.');
		if (!dot)
			return false;
		*dot = '\0';
	}
	memcpy(ret_name, name, sizeof(name));
	return true;
}
