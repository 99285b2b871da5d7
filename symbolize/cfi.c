/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolize/cfi.h"

#include "common/registers.h"

#include <dwarf.h>
#include <errno.h>

/* DWARF's numbers for x86-64, System V ABI 3.6.2. */
enum {
	DWARF_RBP = 6,
	DWARF_RSP = 7,
	DWARF_GENERAL_COUNT = 16,
	DWARF_RIP = 16,
};

static const uint8_t register_of_dwarf[DWARF_GENERAL_COUNT] = {
	REGISTER_RAX, REGISTER_RDX, REGISTER_RCX, REGISTER_RBX, REGISTER_RSI, REGISTER_RDI,
	REGISTER_RBP, REGISTER_RSP, REGISTER_R8,  REGISTER_R9,  REGISTER_R10, REGISTER_R11,
	REGISTER_R12, REGISTER_R13, REGISTER_R14, REGISTER_R15,
};

/* GCC nests these two deep. */
#define REMEMBERED_ROWS_MAX 16

/* Where the kernel puts these into the struct ucontext of a signal frame. */
enum {
	UCONTEXT_RBP = 120,
	UCONTEXT_RSP = 160,
	UCONTEXT_RIP = 168,
};

enum saved_kind {
	SAVED_SAME,
	SAVED_UNDEFINED,
	SAVED_AT_CFA,      /* at CFA + offset */
	SAVED_AT_REGISTER, /* at base + offset, by an expression */
	SAVED_OTHER,
};

struct saved {
	uint8_t kind;
	uint8_t base; /* DWARF number */
	int64_t offset;
};

enum cfa_kind {
	CFA_UNSET,
	CFA_REGISTER,
	CFA_DEREFERENCE,
	CFA_DEREFERENCE_8,
	CFA_PLT,
	CFA_OTHER,
};

/* One row of the table that the program describes, as far as it is of use here. */
struct row {
	enum cfa_kind cfa_kind;
	uint64_t cfa_register; /* DWARF number */
	int64_t cfa_offset;
	struct saved rbp;
	struct saved rsp;
	struct saved rip;
};

struct machine {
	const struct eh_frame_cie *cie;
	const struct row *initial; /* what DW_CFA_restore goes back to */
	struct row row;
	struct row remembered[REMEMBERED_ROWS_MAX];
	size_t remembered_count;
	uint64_t location; /* where the row begins */
	uint64_t wanted;   /* stop before the location passes it */
	uint64_t row_end;
	bool is_unsafe; /* see cfi_is_safe_for_libunwind() */
};

static struct saved *row_saved(struct row *row, uint64_t dwarf_register)
{
	switch (dwarf_register) {
	case DWARF_RBP:
		return &row->rbp;
	case DWARF_RSP:
		return &row->rsp;
	case DWARF_RIP:
		return &row->rip;
	default:
		return NULL;
	}
}

static void set_saved(struct machine *machine, uint64_t dwarf_register, enum saved_kind kind,
		      int64_t offset)
{
	struct saved *saved = row_saved(&machine->row, dwarf_register);

	if (saved)
		*saved = (struct saved){ .kind = kind, .offset = offset };
}

static void restore_saved(struct machine *machine, uint64_t dwarf_register)
{
	struct saved *saved = row_saved(&machine->row, dwarf_register);

	if (saved) {
		struct row initial = machine->initial ? *machine->initial : (struct row){ 0 };

		*saved = *row_saved(&initial, dwarf_register);
	}
}

/* An unsigned factored offset; one that overflows fails the cursor. */
static int64_t factored(struct machine *machine, struct byte_cursor *cursor, int64_t value)
{
	int64_t product;

	if (__builtin_mul_overflow(value, machine->cie->data_alignment, &product)) {
		byte_cursor_fail(cursor);
		return 0;
	}
	return product;
}

static int64_t read_unsigned_offset(struct byte_cursor *cursor)
{
	uint64_t value = byte_cursor_uleb128(cursor);

	if (value > INT64_MAX) {
		byte_cursor_fail(cursor);
		return 0;
	}
	return (int64_t)value;
}

/* A CFA expression: the few shapes that compilers, linkers and assembly use. */
static void set_cfa_expression(struct row *row, const uint8_t *bytes, size_t size)
{
	static const uint8_t plt_head[] = {
		DW_OP_breg7, 8, DW_OP_breg16, 0, DW_OP_lit15, DW_OP_and
	};
	static const uint8_t plt_tail[] = { DW_OP_ge, DW_OP_lit3, DW_OP_shl, DW_OP_plus };
	struct byte_cursor cursor = byte_cursor_over(bytes, size);
	uint8_t operation = byte_cursor_u8(&cursor);
	int64_t offset;

	row->cfa_kind = CFA_OTHER;
	if (operation < DW_OP_breg0 || operation > DW_OP_breg15)
		return;
	offset = byte_cursor_sleb128(&cursor);
	if (cursor.failed)
		return;
	row->cfa_register = operation - DW_OP_breg0;
	row->cfa_offset = offset;
	if (byte_cursor_left(&cursor) == 0) {
		row->cfa_kind = CFA_REGISTER;
	} else if (byte_cursor_left(&cursor) == 1 && cursor.position[0] == DW_OP_deref) {
		row->cfa_kind = CFA_DEREFERENCE;
	} else if (byte_cursor_left(&cursor) == 3 && cursor.position[0] == DW_OP_deref &&
		   cursor.position[1] == DW_OP_plus_uconst && cursor.position[2] == 8) {
		row->cfa_kind = CFA_DEREFERENCE_8;
	} else if (size == sizeof(plt_head) + 1 + sizeof(plt_tail) &&
		   memcmp(bytes, plt_head, sizeof(plt_head)) == 0 &&
		   memcmp(bytes + sizeof(plt_head) + 1, plt_tail, sizeof(plt_tail)) == 0 &&
		   bytes[sizeof(plt_head)] >= DW_OP_lit0 &&
		   bytes[sizeof(plt_head)] <= DW_OP_lit15) {
		row->cfa_kind = CFA_PLT;
		row->cfa_offset = bytes[sizeof(plt_head)] - DW_OP_lit0;
	}
}

/*
 * Whether an expression only computes: every operation known, no jump (which
 * could lead out of it, or into an operand), no division (INT64_MIN / -1).
 */
static bool expression_is_plain(const uint8_t *bytes, size_t size)
{
	struct byte_cursor cursor = byte_cursor_over(bytes, size);

	while (byte_cursor_left(&cursor) > 0) {
		uint8_t operation = byte_cursor_u8(&cursor);

		switch (operation) {
		case DW_OP_deref:
		case DW_OP_dup:
		case DW_OP_drop:
		case DW_OP_over:
		case DW_OP_swap:
		case DW_OP_rot:
		case DW_OP_abs:
		case DW_OP_and:
		case DW_OP_minus:
		case DW_OP_mul:
		case DW_OP_neg:
		case DW_OP_not:
		case DW_OP_or:
		case DW_OP_plus:
		case DW_OP_shl:
		case DW_OP_shr:
		case DW_OP_shra:
		case DW_OP_xor:
		case DW_OP_eq:
		case DW_OP_ge:
		case DW_OP_gt:
		case DW_OP_le:
		case DW_OP_lt:
		case DW_OP_ne:
		case DW_OP_lit0 ... DW_OP_lit31:
		case DW_OP_nop:
			break;
		case DW_OP_const1u:
		case DW_OP_const1s:
		case DW_OP_pick:
			(void)byte_cursor_skip(&cursor, 1);
			break;
		case DW_OP_const2u:
		case DW_OP_const2s:
			(void)byte_cursor_skip(&cursor, 2);
			break;
		case DW_OP_const4u:
		case DW_OP_const4s:
			(void)byte_cursor_skip(&cursor, 4);
			break;
		case DW_OP_const8u:
		case DW_OP_const8s:
			(void)byte_cursor_skip(&cursor, 8);
			break;
		case DW_OP_constu:
		case DW_OP_consts:
		case DW_OP_plus_uconst:
		case DW_OP_breg0 ... DW_OP_breg16:
			(void)byte_cursor_uleb128(&cursor);
			break;
		default:
			return false;
		}
	}
	return size > 0 && !cursor.failed;
}

static void set_saved_expression(struct machine *machine, uint64_t dwarf_register,
				 const uint8_t *bytes, size_t size)
{
	struct byte_cursor cursor = byte_cursor_over(bytes, size);
	uint8_t operation = byte_cursor_u8(&cursor);
	int64_t offset = byte_cursor_sleb128(&cursor);
	struct saved *saved = row_saved(&machine->row, dwarf_register);

	if (!saved)
		return;
	*saved = (struct saved){ .kind = SAVED_OTHER };
	if (operation >= DW_OP_breg0 && operation <= DW_OP_breg15 && !cursor.failed &&
	    byte_cursor_left(&cursor) == 0)
		*saved = (struct saved){ .kind = SAVED_AT_REGISTER,
					 .base = operation - DW_OP_breg0,
					 .offset = offset };
}

/* A new offset or register means something only while the CFA is register + offset. */
static void set_cfa_part(struct machine *machine, const uint64_t *new_register,
			 const int64_t *new_offset)
{
	struct row *row = &machine->row;

	if (row->cfa_kind == CFA_UNSET && !new_register)
		machine->is_unsafe = true;
	if (row->cfa_kind != CFA_REGISTER)
		row->cfa_kind = CFA_OTHER;
	if (new_register)
		row->cfa_register = *new_register;
	if (new_offset)
		row->cfa_offset = *new_offset;
}

/* Returns false when the row that covers the wanted address is complete. */
static bool advance(struct machine *machine, struct byte_cursor *cursor, uint64_t delta)
{
	uint64_t location;

	if (__builtin_mul_overflow(delta, machine->cie->code_alignment, &delta) ||
	    __builtin_add_overflow(machine->location, delta, &location)) {
		byte_cursor_fail(cursor);
		return false;
	}
	if (location > machine->wanted) {
		machine->row_end = location;
		return false;
	}
	machine->location = location;
	return true;
}

/* The operations without an operand in their own byte. Returns false as advance() does. */
static bool run_extended(struct machine *machine, struct byte_cursor *cursor, uint8_t operation,
			 uint64_t address)
{
	struct row *row = &machine->row;
	uint64_t dwarf_register, size;
	int64_t offset;
	const uint8_t *bytes;

	switch (operation) {
	case DW_CFA_nop:
		return true;
	case DW_CFA_set_loc: {
		uint64_t location =
			eh_frame_pointer(cursor, machine->cie->pointer_encoding, address);

		if (location < machine->location)
			byte_cursor_fail(cursor);
		if (cursor->failed)
			return false;
		if (location > machine->wanted) {
			machine->row_end = location;
			return false;
		}
		machine->location = location;
		return true;
	}
	case DW_CFA_advance_loc1:
		return advance(machine, cursor, byte_cursor_unsigned(cursor, 1));
	case DW_CFA_advance_loc2:
		return advance(machine, cursor, byte_cursor_unsigned(cursor, 2));
	case DW_CFA_advance_loc4:
		return advance(machine, cursor, byte_cursor_unsigned(cursor, 4));
	case DW_CFA_offset_extended:
		dwarf_register = byte_cursor_uleb128(cursor);
		offset = factored(machine, cursor, read_unsigned_offset(cursor));
		set_saved(machine, dwarf_register, SAVED_AT_CFA, offset);
		return true;
	case DW_CFA_offset_extended_sf:
		dwarf_register = byte_cursor_uleb128(cursor);
		offset = factored(machine, cursor, byte_cursor_sleb128(cursor));
		set_saved(machine, dwarf_register, SAVED_AT_CFA, offset);
		return true;
	case DW_CFA_GNU_negative_offset_extended:
		dwarf_register = byte_cursor_uleb128(cursor);
		offset = factored(machine, cursor, -read_unsigned_offset(cursor));
		set_saved(machine, dwarf_register, SAVED_AT_CFA, offset);
		return true;
	case DW_CFA_restore_extended:
		restore_saved(machine, byte_cursor_uleb128(cursor));
		return true;
	case DW_CFA_undefined:
		set_saved(machine, byte_cursor_uleb128(cursor), SAVED_UNDEFINED, 0);
		return true;
	case DW_CFA_same_value:
		set_saved(machine, byte_cursor_uleb128(cursor), SAVED_SAME, 0);
		return true;
	case DW_CFA_register:
		dwarf_register = byte_cursor_uleb128(cursor);
		if (byte_cursor_uleb128(cursor) > DWARF_RIP)
			machine->is_unsafe = true;
		set_saved(machine, dwarf_register, SAVED_OTHER, 0);
		return true;
	case DW_CFA_val_offset:
	case DW_CFA_val_offset_sf: /* a number of the same length */
		dwarf_register = byte_cursor_uleb128(cursor);
		(void)byte_cursor_uleb128(cursor);
		machine->is_unsafe = true;
		set_saved(machine, dwarf_register, SAVED_OTHER, 0);
		return true;
	case DW_CFA_remember_state:
		if (machine->remembered_count == REMEMBERED_ROWS_MAX)
			byte_cursor_fail(cursor);
		else
			machine->remembered[machine->remembered_count++] = *row;
		return true;
	case DW_CFA_restore_state:
		if (machine->remembered_count == 0)
			byte_cursor_fail(cursor);
		else
			*row = machine->remembered[--machine->remembered_count];
		return true;
	case DW_CFA_def_cfa:
		row->cfa_register = byte_cursor_uleb128(cursor);
		row->cfa_offset = read_unsigned_offset(cursor);
		row->cfa_kind = CFA_REGISTER;
		return true;
	case DW_CFA_def_cfa_sf:
		row->cfa_register = byte_cursor_uleb128(cursor);
		row->cfa_offset = factored(machine, cursor, byte_cursor_sleb128(cursor));
		row->cfa_kind = CFA_REGISTER;
		return true;
	case DW_CFA_def_cfa_register:
		dwarf_register = byte_cursor_uleb128(cursor);
		set_cfa_part(machine, &dwarf_register, NULL);
		return true;
	case DW_CFA_def_cfa_offset:
		offset = read_unsigned_offset(cursor);
		set_cfa_part(machine, NULL, &offset);
		return true;
	case DW_CFA_def_cfa_offset_sf:
		offset = factored(machine, cursor, byte_cursor_sleb128(cursor));
		set_cfa_part(machine, NULL, &offset);
		return true;
	case DW_CFA_def_cfa_expression:
		size = byte_cursor_uleb128(cursor);
		bytes = byte_cursor_skip(cursor, size);
		if (cursor->failed)
			return true;
		if (!expression_is_plain(bytes, size))
			machine->is_unsafe = true;
		set_cfa_expression(row, bytes, size);
		return true;
	case DW_CFA_expression:
	case DW_CFA_val_expression:
		dwarf_register = byte_cursor_uleb128(cursor);
		size = byte_cursor_uleb128(cursor);
		bytes = byte_cursor_skip(cursor, size);
		if (cursor->failed)
			return true;
		if (!expression_is_plain(bytes, size))
			machine->is_unsafe = true;
		if (operation == DW_CFA_expression)
			set_saved_expression(machine, dwarf_register, bytes, size);
		else
			set_saved(machine, dwarf_register, SAVED_OTHER, 0);
		return true;
	case DW_CFA_GNU_args_size:
		(void)byte_cursor_uleb128(cursor);
		return true;
	default:
		byte_cursor_fail(cursor);
		return true;
	}
}

/* 0, or -EINVAL for a program that makes no sense. */
static int run_program(struct machine *machine, const uint8_t *program, size_t size,
		       uint64_t address)
{
	struct byte_cursor cursor = byte_cursor_over(program, size);
	bool more = true;

	while (more && byte_cursor_left(&cursor) > 0) {
		uint8_t operation = byte_cursor_u8(&cursor);
		uint8_t operand = operation & 0x3f;

		switch (operation & 0xc0) {
		case DW_CFA_advance_loc:
			more = advance(machine, &cursor, operand);
			break;
		case DW_CFA_offset: {
			int64_t offset = factored(machine, &cursor, read_unsigned_offset(&cursor));

			set_saved(machine, operand, SAVED_AT_CFA, offset);
			break;
		}
		case DW_CFA_restore:
			restore_saved(machine, operand);
			break;
		default:
			more = run_extended(machine, &cursor, operation,
					    address + (uint64_t)(cursor.position - program));
		}
	}
	return cursor.failed ? -EINVAL : 0;
}

static bool is_at_rsp(const struct saved *saved, int64_t offset)
{
	return saved->kind == SAVED_AT_REGISTER && saved->base == DWARF_RSP &&
	       saved->offset == offset;
}

/* glibc's __restore_rt: the kernel left a struct ucontext at rsp. */
static bool row_is_signal_frame(const struct row *row)
{
	return row->cfa_kind == CFA_DEREFERENCE && row->cfa_register == DWARF_RSP &&
	       row->cfa_offset == UCONTEXT_RSP && is_at_rsp(&row->rsp, UCONTEXT_RSP) &&
	       is_at_rsp(&row->rbp, UCONTEXT_RBP) && is_at_rsp(&row->rip, UCONTEXT_RIP);
}

static struct cfi_rule rule_of_row(const struct row *row, const struct eh_frame_cie *cie)
{
	static const struct cfi_rule complex = { .kind = CFI_RULE_COMPLEX };
	struct cfi_rule rule = { 0 };

	if (row->rip.kind == SAVED_UNDEFINED)
		return (struct cfi_rule){ .kind = CFI_RULE_END };
	if (cie->is_signal_frame && row_is_signal_frame(row))
		return (struct cfi_rule){ .kind = CFI_RULE_SIGNAL };
	if (cie->is_signal_frame)
		return complex;
	if (row->rip.kind != SAVED_AT_CFA || row->rip.offset != -8 || row->rsp.kind != SAVED_SAME)
		return complex;

	switch (row->cfa_kind) {
	case CFA_REGISTER:
		rule.kind = CFI_RULE_REGISTER;
		break;
	case CFA_DEREFERENCE:
		rule.kind = CFI_RULE_DEREFERENCE;
		break;
	case CFA_DEREFERENCE_8:
		rule.kind = CFI_RULE_DEREFERENCE_8;
		break;
	case CFA_PLT:
		rule.kind = CFI_RULE_PLT;
		break;
	default:
		return complex;
	}
	if (row->cfa_register >= DWARF_GENERAL_COUNT || row->cfa_offset != (int32_t)row->cfa_offset)
		return complex;
	rule.cfa_register = register_of_dwarf[row->cfa_register] & 0xf;
	rule.cfa_offset = (int32_t)row->cfa_offset;

	switch (row->rbp.kind) {
	case SAVED_SAME:
	case SAVED_UNDEFINED:
		rule.rbp = CFI_RBP_SAME;
		break;
	case SAVED_AT_CFA:
		rule.rbp = CFI_RBP_AT_CFA;
		break;
	case SAVED_AT_REGISTER:
		if (row->rbp.base != DWARF_RBP)
			return complex;
		rule.rbp = CFI_RBP_AT_RBP;
		break;
	default:
		return complex;
	}
	if (row->rbp.offset != (int16_t)row->rbp.offset)
		return complex;
	rule.rbp_offset = (int16_t)row->rbp.offset;
	return rule;
}

/* Runs both programs up to an address, 0 or -EINVAL. initial is the row that the CIE's leads to. */
static int machine_run(struct machine *machine, struct row *initial, const struct eh_frame_fde *fde,
		       uint64_t wanted)
{
	/* Field by field: clearing the remembered rows would cost more than most programs. */
	machine->cie = &fde->cie;
	machine->initial = NULL;
	machine->row = (struct row){ 0 };
	machine->remembered_count = 0;
	machine->location = fde->start;
	machine->wanted = wanted;
	machine->is_unsafe = false;
	if (fde->cie.return_register != DWARF_RIP ||
	    run_program(machine, fde->cie.program, fde->cie.program_size, 0))
		return -EINVAL;
	/* An advance in a CIE means nothing, and is not taken alike by everyone. */
	if (machine->location != fde->start)
		machine->is_unsafe = true;
	*initial = machine->row;
	machine->initial = initial;
	machine->remembered_count = 0;
	machine->location = fde->start;
	machine->row_end = fde->end;
	return run_program(machine, fde->program, fde->program_size, fde->program_address);
}

struct cfi_row cfi_row_at(const struct eh_frame_fde *fde, uint64_t address)
{
	struct machine machine;
	struct row initial;

	if (machine_run(&machine, &initial, fde, address))
		return (struct cfi_row){
			.start = address,
			.end = address + 1,
			.rule = { .kind = CFI_RULE_COMPLEX },
		};
	return (struct cfi_row){
		.start = machine.location,
		.end = machine.row_end < fde->end ? machine.row_end : fde->end,
		.rule = rule_of_row(&machine.row, &fde->cie),
	};
}

bool cfi_is_safe_for_libunwind(const struct eh_frame_fde *fde)
{
	struct machine machine;
	struct row initial;

	return machine_run(&machine, &initial, fde, UINT64_MAX) == 0 && !machine.is_unsafe &&
	       initial.cfa_kind != CFA_UNSET;
}

bool cfi_rule_is_mid_function(struct cfi_rule rule)
{
	if (rule.kind == CFI_RULE_REGISTER)
		return rule.cfa_register != REGISTER_RSP || rule.cfa_offset != 8;
	return rule.kind == CFI_RULE_DEREFERENCE;
}
