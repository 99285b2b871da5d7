/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/detect/known_code.h"

#include "daemon/bytecode/memo.h"
#include "daemon/cct/library_path.h"
#include "daemon/detect/slow_call.h"

/* A stop waits for it: longer functions are none. */
#define MEMO_BYTES_MAX 512

static bool keeps_results(const struct python_code *code)
{
	struct bytecode bytecode;
	bool keeps;

	if (code->bytecode_size > MEMO_BYTES_MAX || bytecode_init(&bytecode, code))
		return false;
	keeps = memo_is_kept(&bytecode);
	bytecode_deinit(&bytecode);
	return keeps;
}

const struct known_code *known_codes_get(struct known_codes *codes, const struct python_code *code)
{
	struct known_code *known = &codes->items[code->id % KNOWN_CODES];

	if (known->code != code)
		*known = (struct known_code){ code,
					      path_is_library(code->file),
					      slow_call_asks(code),
					      slow_call_makes_row(code),
					      keeps_results(code),
					      slow_call_find(code) };
	return known;
}

/* Frames of its library may be around it. */
static bool is_further_in(enum slow_when when)
{
	return when == SLOW_ROWS || when == SLOW_GROUPS || when == SLOW_ITEMS ||
	       when == SLOW_INSIDE || when == SLOW_ENLARGES;
}

bool known_codes_makes_row(struct known_codes *codes, const struct python_stack *stack,
			   size_t callee)
{
	const struct known_code *known;

	do {
		known = known_codes_get(codes, stack->frames[callee].code);
		if (known->makes_row)
			return true;
	} while (known->is_library && callee-- > 0);
	return false;
}

uint8_t known_codes_slow_below(struct known_codes *codes, const struct python_stack *stack,
			       size_t callee)
{
	const struct known_code *known = known_codes_get(codes, stack->frames[callee].code);
	uint8_t around = 0;

	/* Whether it is slow is told by what is inside of it, too. */
	if (known->slow && slow_call_is_weak(known->slow))
		around = known->slow;
	else if (known->slow)
		return known->slow;
	while (known->is_library && callee-- > 0) {
		known = known_codes_get(codes, stack->frames[callee].code);
		if (known->slow && is_further_in(slow_call_get(known->slow)->when))
			return known->slow;
		if (known->slow && slow_call_get(known->slow)->when == SLOW_ROWS_AROUND)
			around = known->slow;
	}
	return around;
}
