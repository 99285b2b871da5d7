/* SPDX-License-Identifier: Apache-2.0 */
#include "pyintrospect/operation.h"

#include "common/text.h"
#include "pyintrospect/opcode.h"

#include <string.h>

/* BINARY_OP's arguments: 13 to 25 are the in-place operators (3.11), 26 is a subscript (3.14). */
#define BINARY_OP_INPLACE_FIRST 13
#define BINARY_OP_INPLACE_LAST  25
#define BINARY_OP_SUBSCRIPT     26
/* COMPARE_OP's arguments "in" and "not in", to 3.8. */
#define COMPARE_OP_IN     6
#define COMPARE_OP_NOT_IN 7

#define ANY_MINOR 99

/*
 * Operands from the lowest slot up, a letter each:
 *
 *   v value  f callable  s self  m method  k keywords  t argument tuple  d argument dict
 *   c container  i index  a start  z stop  w stored  o object  r iterator  p position
 *   0 a NULL that means nothing
 *   * values, as many as the argument says; 2 twice as many
 *   ? argument dict when the argument is odd
 *   @ a value, which lies as many slots below the rest as the argument says
 */
struct shape {
	const char *name;
	uint8_t first, last; /* minors */
	uint8_t kind;
	const char *operands;
};

static const struct shape shapes[] = {
	{ "CALL_FUNCTION", 6, 10, OPERATION_CALL, "f*" },
	{ "CALL_FUNCTION_KW", 6, 10, OPERATION_CALL, "f*k" },
	{ "CALL_METHOD", 7, 10, OPERATION_CALL, "ms*" },
	{ "PRECALL", 11, 11, OPERATION_CALL, "ms*" },
	{ "CALL", 11, 12, OPERATION_CALL, "ms*" },
	{ "CALL", 13, ANY_MINOR, OPERATION_CALL, "fs*" },
	{ "CALL_KW", 13, ANY_MINOR, OPERATION_CALL, "fs*k" },
	{ "CALL_FUNCTION_EX", 6, 10, OPERATION_CALL_UNPACKED, "ft?" },
	{ "CALL_FUNCTION_EX", 11, 12, OPERATION_CALL_UNPACKED, "0ft?" },
	{ "CALL_FUNCTION_EX", 13, 13, OPERATION_CALL_UNPACKED, "fst?" },
	{ "CALL_FUNCTION_EX", 14, ANY_MINOR, OPERATION_CALL_UNPACKED, "fstd" },
	{ "CALL_INTRINSIC_1", 12, ANY_MINOR, OPERATION_UNARY, "v" },
	{ "CALL_INTRINSIC_2", 12, ANY_MINOR, OPERATION_BINARY, "vv" },
	{ "BINARY_SUBSCR", 6, 13, OPERATION_SUBSCRIPT, "ci" },
	{ "BINARY_SLICE", 12, ANY_MINOR, OPERATION_SLICE, "caz" },
	{ "STORE_SUBSCR", 6, ANY_MINOR, OPERATION_STORE_SUBSCRIPT, "wci" },
	{ "STORE_SLICE", 12, ANY_MINOR, OPERATION_STORE_SLICE, "wcaz" },
	{ "DELETE_SUBSCR", 6, ANY_MINOR, OPERATION_DELETE_SUBSCRIPT, "ci" },
	{ "COMPARE_OP", 6, ANY_MINOR, OPERATION_COMPARE, "vv" },
	{ "CONTAINS_OP", 9, ANY_MINOR, OPERATION_CONTAINS, "vc" },
	{ "LOAD_ATTR", 6, ANY_MINOR, OPERATION_ATTRIBUTE, "o" },
	{ "LOAD_METHOD", 7, 11, OPERATION_ATTRIBUTE, "o" },
	{ "LOAD_SUPER_ATTR", 12, ANY_MINOR, OPERATION_ATTRIBUTE, "fvo" },
	{ "STORE_ATTR", 6, ANY_MINOR, OPERATION_STORE_ATTRIBUTE, "wo" },
	{ "DELETE_ATTR", 6, ANY_MINOR, OPERATION_DELETE_ATTRIBUTE, "o" },
	{ "GET_ITER", 6, ANY_MINOR, OPERATION_ITERATE, "v" },
	{ "GET_YIELD_FROM_ITER", 6, ANY_MINOR, OPERATION_ITERATE, "v" },
	{ "GET_AITER", 6, ANY_MINOR, OPERATION_ITERATE, "v" },
	{ "FOR_ITER", 6, 14, OPERATION_NEXT, "r" },
	{ "FOR_ITER", 15, ANY_MINOR, OPERATION_NEXT, "rp" },
	{ "UNPACK_SEQUENCE", 6, ANY_MINOR, OPERATION_UNPACK, "v" },
	{ "UNPACK_EX", 6, ANY_MINOR, OPERATION_UNPACK, "v" },
	{ "LIST_EXTEND", 9, ANY_MINOR, OPERATION_EXTEND, "@v" },
	{ "SET_UPDATE", 9, ANY_MINOR, OPERATION_EXTEND, "@v" },
	{ "DICT_UPDATE", 9, ANY_MINOR, OPERATION_EXTEND, "@v" },
	{ "DICT_MERGE", 9, ANY_MINOR, OPERATION_EXTEND, "@v" },
	{ "LIST_APPEND", 6, ANY_MINOR, OPERATION_COLLECT, "@v" },
	{ "SET_ADD", 6, ANY_MINOR, OPERATION_COLLECT, "@v" },
	{ "MAP_ADD", 6, ANY_MINOR, OPERATION_COLLECT, "@vv" },
	{ "FORMAT_SIMPLE", 13, ANY_MINOR, OPERATION_FORMAT, "v" },
	{ "FORMAT_WITH_SPEC", 13, ANY_MINOR, OPERATION_FORMAT, "vv" },
	{ "CONVERT_VALUE", 13, ANY_MINOR, OPERATION_FORMAT, "v" },
	{ "BUILD_TUPLE", 6, ANY_MINOR, OPERATION_BUILD, "*" },
	{ "BUILD_LIST", 6, ANY_MINOR, OPERATION_BUILD, "*" },
	{ "BUILD_SET", 6, ANY_MINOR, OPERATION_BUILD, "*" },
	{ "BUILD_MAP", 6, ANY_MINOR, OPERATION_BUILD, "2" },
	{ "BUILD_CONST_KEY_MAP", 6, 13, OPERATION_BUILD, "*k" },
	{ "BUILD_STRING", 6, ANY_MINOR, OPERATION_BUILD, "*" },
	{ "BUILD_SLICE", 6, ANY_MINOR, OPERATION_BUILD, "*" },
	{ "BUILD_TUPLE_UNPACK", 6, 8, OPERATION_BUILD, "*" },
	{ "BUILD_LIST_UNPACK", 6, 8, OPERATION_BUILD, "*" },
	{ "BUILD_SET_UNPACK", 6, 8, OPERATION_BUILD, "*" },
	{ "BUILD_MAP_UNPACK", 6, 8, OPERATION_BUILD, "*" },
	{ "BUILD_TUPLE_UNPACK_WITH_CALL", 6, 8, OPERATION_BUILD, "*" },
	{ "BUILD_MAP_UNPACK_WITH_CALL", 6, 8, OPERATION_BUILD, "*" },
	{ "LIST_TO_TUPLE", 9, 11, OPERATION_BUILD, "v" },
	{ "TO_BOOL", 13, ANY_MINOR, OPERATION_TRUTH, "v" },
	{ "UNARY_NOT", 6, 12, OPERATION_TRUTH, "v" },
	{ "POP_JUMP_IF_TRUE", 6, 12, OPERATION_TRUTH, "v" },
	{ "POP_JUMP_IF_FALSE", 6, 12, OPERATION_TRUTH, "v" },
	{ "JUMP_IF_TRUE_OR_POP", 6, 11, OPERATION_TRUTH, "v" },
	{ "JUMP_IF_FALSE_OR_POP", 6, 11, OPERATION_TRUTH, "v" },
	{ "POP_JUMP_FORWARD_IF_TRUE", 11, 11, OPERATION_TRUTH, "v" },
	{ "POP_JUMP_FORWARD_IF_FALSE", 11, 11, OPERATION_TRUTH, "v" },
	{ "POP_JUMP_BACKWARD_IF_TRUE", 11, 11, OPERATION_TRUTH, "v" },
	{ "POP_JUMP_BACKWARD_IF_FALSE", 11, 11, OPERATION_TRUTH, "v" },
	{ "SETUP_WITH", 6, 10, OPERATION_ENTER, "" },
	{ "BEFORE_WITH", 11, 13, OPERATION_ENTER, "" },
	{ "BEFORE_ASYNC_WITH", 6, 13, OPERATION_ENTER, "" },
	{ "LOAD_SPECIAL", 14, ANY_MINOR, OPERATION_ATTRIBUTE, "o" },
	{ "IMPORT_NAME", 6, ANY_MINOR, OPERATION_IMPORT, "vv" },
};

static struct shape shape_of(int minor, const char *name, uint32_t argument)
{
	if (minor <= 8 && !strcmp(name, "COMPARE_OP") &&
	    (argument == COMPARE_OP_IN || argument == COMPARE_OP_NOT_IN))
		return (struct shape){ .kind = OPERATION_CONTAINS, .operands = "vc" };
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
		if (minor >= shapes[i].first && minor <= shapes[i].last &&
		    !strcmp(name, shapes[i].name))
			return shapes[i];
	if (!strcmp(name, "FORMAT_VALUE"))
		return (struct shape){ .kind = OPERATION_FORMAT,
				       .operands = argument & 4 ? "vv" : "v" };
	if (!strcmp(name, "BINARY_OP") && argument == BINARY_OP_SUBSCRIPT && minor >= 14)
		return (struct shape){ .kind = OPERATION_SUBSCRIPT, .operands = "ci" };
	if (text_starts_with(name, "BINARY_") || text_starts_with(name, "INPLACE_"))
		return (struct shape){ .kind = OPERATION_BINARY, .operands = "vv" };
	if (text_starts_with(name, "UNARY_"))
		return (struct shape){ .kind = OPERATION_UNARY, .operands = "v" };
	return (struct shape){ .kind = OPERATION_OTHER, .operands = "" };
}

static enum operand_role role_of(char letter)
{
	static const struct {
		char letter;
		uint8_t role;
	} roles[] = {
		{ 'f', OPERAND_CALLABLE },       { 's', OPERAND_SELF },
		{ 'm', OPERAND_METHOD },         { 'k', OPERAND_KEYWORDS },
		{ 't', OPERAND_ARGUMENT_TUPLE }, { 'd', OPERAND_ARGUMENT_DICT },
		{ '?', OPERAND_ARGUMENT_DICT },  { 'c', OPERAND_CONTAINER },
		{ 'i', OPERAND_INDEX },          { 'a', OPERAND_START },
		{ 'z', OPERAND_STOP },           { 'w', OPERAND_STORED },
		{ 'o', OPERAND_OBJECT },         { 'r', OPERAND_ITERATOR },
		{ 'p', OPERAND_POSITION },
	};

	for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++)
		if (roles[i].letter == letter)
			return roles[i].role;
	return OPERAND_VALUE;
}

/* How many slots a letter stands for. */
static uint32_t letter_slots(char letter, uint32_t argument)
{
	switch (letter) {
	case '*':
		return argument;
	case '2':
		return argument > UINT32_MAX / 2 ? UINT32_MAX : 2 * argument;
	case '?':
		return argument & 1;
	case '@':
		return 0;
	default:
		return 1;
	}
}

static void operation_add_place(struct operation *operation, int64_t slot, char letter)
{
	operation->total++;
	if (operation->count < OPERANDS_MAX)
		operation->places[operation->count++] = (struct operand_place){
			.slot = (uint16_t)slot,
			.role = (uint8_t)role_of(letter),
		};
}

bool operation_of(const struct stack_depths *depths, const struct stack_instruction *instruction,
		  struct operation *ret_operation)
{
	const char *name = opcode_table(depths->minor)[instruction->opcode].name;
	uint32_t argument = instruction->argument;
	struct shape shape = shape_of(depths->minor, name, argument);
	struct operation operation = { .kind = shape.kind };
	int64_t slot = instruction->depth;

	if (instruction->depth == STACK_DEPTH_UNKNOWN)
		return false;
	operation.in_place = text_starts_with(name, "INPLACE_") ||
			     (!strcmp(name, "BINARY_OP") && argument >= BINARY_OP_INPLACE_FIRST &&
			      argument <= BINARY_OP_INPLACE_LAST);
	for (const char *letter = shape.operands; *letter; letter++)
		slot -= letter_slots(*letter, argument);
	if (slot < 0)
		return false;
	for (const char *letter = shape.operands; *letter; letter++) {
		uint32_t slots = letter_slots(*letter, argument);

		if (*letter == '@') {
			/* What is added to: as deep as the argument says below what is added. */
			if ((int64_t)argument > slot || argument == 0)
				return false;
			operation_add_place(&operation, slot - argument, *letter);
		}
		for (uint32_t i = 0; i < slots; i++, slot++)
			if (*letter != '0')
				operation_add_place(&operation, slot, *letter);
	}
	*ret_operation = operation;
	return true;
}
