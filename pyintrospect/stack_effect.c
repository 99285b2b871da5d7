/* SPDX-License-Identifier: Apache-2.0 */
#include "pyintrospect/stack_effect.h"

#include "pyintrospect/opcode.h"

#include <string.h>

static const struct {
	const char *name;
	uint8_t special;
} specials[] = {
	{ "EXTENDED_ARG", SPECIAL_PREFIX },     { "FOR_ITER", SPECIAL_FOR_ITER },
	{ "ROT_TWO", SPECIAL_REORDER_2 },       { "ROT_THREE", SPECIAL_REORDER_3 },
	{ "ROT_FOUR", SPECIAL_REORDER_4 },      { "ROT_N", SPECIAL_REORDER_ARGUMENT },
	{ "SWAP", SPECIAL_REORDER_ARGUMENT },   { "WITH_CLEANUP_START", SPECIAL_WITH_CLEANUP },
	{ "POP_FINALLY", SPECIAL_POP_FINALLY },
};

void stack_special_table(int minor, uint8_t ret_special[256])
{
	memset(ret_special, SPECIAL_NONE, 256);
	for (size_t i = 0; i < sizeof(specials) / sizeof(specials[0]); i++) {
		int number = opcode_number(minor, specials[i].name);

		if (number >= 0)
			ret_special[number] = specials[i].special;
	}
}

int stack_effect_of_argument(uint8_t form, uint32_t argument)
{
	int value =
		argument > STACK_EFFECT_ARGUMENT_MAX ? STACK_EFFECT_ARGUMENT_MAX : (int)argument;

	switch (form) {
	case EFFECT_MINUS_ARGUMENT:
		return -value;
	case EFFECT_PLUS_ARGUMENT:
		return value;
	case EFFECT_MINUS_TWICE:
		return -2 * value;
	case EFFECT_PLUS_BIT_0:
		return (int)(argument & 1);
	case EFFECT_MINUS_BIT_0:
		return -(int)(argument & 1);
	case EFFECT_MINUS_BIT_2:
		return -(int)(argument >> 2 & 1);
	case EFFECT_MINUS_BITS_0_TO_3:
		return -__builtin_popcount(argument & 15);
	case EFFECT_PLUS_BOTH_BYTES:
		return (value & 255) + (value >> 8);
	case EFFECT_MINUS_ONE_AT_3:
		return -(value == 3);
	default:
		return 0;
	}
}
