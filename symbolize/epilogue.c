/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolize/epilogue.h"

#include "common/registers.h"
#include "symbolize/byte_cursor.h"

#include <errno.h>

#define FRAME_BYTES_MAX (1 << 20)

/* What the instructions so far have done. */
struct epilogue {
	int32_t popped; /* bytes above the stack pointer at the start; from rbp after leave */
	bool from_rbp;
	bool has_rbp;
	int32_t rbp_at; /* where the caller's rbp was popped from, likewise */
};

static bool pop(struct epilogue *epilogue, unsigned number)
{
	if (number == REGISTER_RSP)
		return false;
	if (number == REGISTER_RBP) {
		epilogue->has_rbp = true;
		epilogue->rbp_at = epilogue->popped;
	}
	epilogue->popped += 8;
	return true;
}

/* add rsp, n: 48 83 c4 n, or 48 81 c4 and four bytes. */
static bool add_to_rsp(struct byte_cursor *code, struct epilogue *epilogue)
{
	uint8_t operation = byte_cursor_u8(code), operand = byte_cursor_u8(code);
	int64_t amount;

	if (operand != 0xc4 || (operation != 0x83 && operation != 0x81))
		return false;
	amount = byte_cursor_signed(code, operation == 0x83 ? 1 : 4);
	if (amount < 0 || amount > FRAME_BYTES_MAX)
		return false;
	epilogue->popped += (int32_t)amount;
	return true;
}

/* One instruction; *ret_done: it was the return. */
static bool epilogue_step(struct byte_cursor *code, struct epilogue *epilogue, bool *ret_done)
{
	uint8_t byte = byte_cursor_u8(code);

	switch (byte) {
	case 0xc3: /* ret */
		*ret_done = true;
		return true;
	case 0xc9: /* leave: rsp = rbp, pop rbp */
		if (epilogue->has_rbp)
			return false;
		*epilogue = (struct epilogue){ .from_rbp = true };
		return pop(epilogue, REGISTER_RBP);
	case 0x48:
		return add_to_rsp(code, epilogue);
	case 0x41: /* pop r8 to r15 */
		byte = byte_cursor_u8(code);
		return byte >= 0x58 && byte <= 0x5f && pop(epilogue, byte - 0x58u + 8);
	case 0x90: /* nop */
		return true;
	default:
		return byte >= 0x58 && byte <= 0x5f && pop(epilogue, byte - 0x58u);
	}
}

int epilogue_rule(const uint8_t *code, size_t size, struct cfi_rule *ret_rule)
{
	struct byte_cursor cursor = byte_cursor_over(code, size);
	struct epilogue epilogue = { 0 };
	bool done = false;

	while (!done)
		if (!epilogue_step(&cursor, &epilogue, &done) || cursor.failed ||
		    epilogue.popped > FRAME_BYTES_MAX)
			return -ENOENT;
	*ret_rule = (struct cfi_rule){
		.kind = CFI_RULE_REGISTER,
		.cfa_register = epilogue.from_rbp ? REGISTER_RBP : REGISTER_RSP,
		.cfa_offset = epilogue.popped + 8,
	};
	if (epilogue.has_rbp) {
		/* From the CFA, downwards. */
		int32_t offset = epilogue.rbp_at - (epilogue.popped + 8);

		if (offset < INT16_MIN)
			return -ENOENT;
		ret_rule->rbp = CFI_RBP_AT_CFA;
		ret_rule->rbp_offset = (int16_t)offset;
	}
	return 0;
}
