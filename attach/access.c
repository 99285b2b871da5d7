/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory operands of one x86-64 instruction, explicit and hidden.
 *
 * Zydis names the operands; what is added here is the arithmetic of their
 * addresses, and the places where Zydis 4.0's tables and the processor differ:
 *
 *   push, call, enter   write below rsp, Zydis gives the operand at rsp
 *   pop [rsp+n]         addresses with rsp as it is after the pop
 *   xlat                adds al to rbx
 *   bt [m], reg         reaches beyond the operand by the bit offset
 *   nop, prefetch, ...  have a memory operand that they do not access
 *   movhpd, unpcklps    hold floats, Zydis types them as integers
 */
#include "attach/access.h"

#include <Zydis/Zydis.h>

#include <errno.h>

#define ACCESS_BYTES_MAX 64

static int general_register(ZydisRegister zydis_register)
{
	ZydisRegister whole;

	if (zydis_register == ZYDIS_REGISTER_NONE)
		return -1;
	whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, zydis_register);
	/* Zydis numbers RAX to R15 in encoding order, as enum register_id does. */
	if (whole < ZYDIS_REGISTER_RAX || whole > ZYDIS_REGISTER_R15)
		return -1;
	return (int)(whole - ZYDIS_REGISTER_RAX);
}

int operand_register(const ZydisDecodedOperand *operand)
{
	if (operand->type != ZYDIS_OPERAND_TYPE_REGISTER)
		return -1;
	return general_register(operand->reg.value);
}

static bool register_value(ZydisRegister zydis_register, const struct registers *registers,
			   unsigned known_registers, uint64_t *ret_value)
{
	int general = general_register(zydis_register);

	if (general < 0 || !(known_registers & 1u << general))
		return false;
	*ret_value = registers->general[general];
	return true;
}

/* push, pop, call, ret, leave, enter: the operand that is not written in the source. */
static bool operand_is_implicit_stack(const ZydisDecodedOperand *operand)
{
	return operand->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN &&
	       (operand->mem.base == ZYDIS_REGISTER_RSP || operand->mem.base == ZYDIS_REGISTER_RBP);
}

static bool instruction_is_bit_string(const ZydisDecodedInstruction *decoded)
{
	switch (decoded->mnemonic) {
	case ZYDIS_MNEMONIC_BT:
	case ZYDIS_MNEMONIC_BTC:
	case ZYDIS_MNEMONIC_BTR:
	case ZYDIS_MNEMONIC_BTS:
		return true;
	default:
		return false;
	}
}

/*
 * bt [m], reg takes the register as a signed bit offset from the operand. The
 * operand of a bit string is always operand 0, the register follows it.
 */
static bool bit_string_offset(const ZydisDecodedOperand *offset_operand,
			      const struct registers *registers, unsigned known_registers,
			      uint64_t *ret_bytes)
{
	int64_t bits;
	uint64_t value;

	if (offset_operand->type != ZYDIS_OPERAND_TYPE_REGISTER) {
		*ret_bytes = 0;
		return true;
	}
	if (!register_value(offset_operand->reg.value, registers, known_registers, &value))
		return false;
	switch (offset_operand->size) {
	case 16:
		bits = (int16_t)value >> 4;
		break;
	case 32:
		bits = (int32_t)value >> 5;
		break;
	default:
		bits = (int64_t)value >> 6;
		break;
	}
	*ret_bytes = (uint64_t)bits * (offset_operand->size / 8);
	return true;
}

/* Which bytes it touches depends on a vector or mask register, which nobody has copied. */
static bool operand_depends_on_mask(const ZydisDecodedInstruction *decoded)
{
	switch (decoded->mnemonic) {
	case ZYDIS_MNEMONIC_MASKMOVDQU:
	case ZYDIS_MNEMONIC_VMASKMOVDQU:
	case ZYDIS_MNEMONIC_MASKMOVQ:
	case ZYDIS_MNEMONIC_VMASKMOVPS:
	case ZYDIS_MNEMONIC_VMASKMOVPD:
	case ZYDIS_MNEMONIC_VPMASKMOVD:
	case ZYDIS_MNEMONIC_VPMASKMOVQ:
		return true;
	default:
		/* k0 as a mask is "no mask", and has a mode of its own. */
		return decoded->avx.mask.mode >= ZYDIS_MASK_MODE_MERGING;
	}
}

static uint64_t implicit_adjustment(const ZydisDecodedInstruction *decoded,
				    const ZydisDecodedOperand *operand)
{
	bool hidden = operand->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN;

	if (operand->mem.base != ZYDIS_REGISTER_RSP)
		return 0;
	switch (decoded->meta.category) {
	case ZYDIS_CATEGORY_PUSH:
	case ZYDIS_CATEGORY_CALL:
		return hidden ? -(uint64_t)(operand->size / 8) : 0;
	case ZYDIS_CATEGORY_POP:
		return hidden ? 0 : operand->size / 8;
	default:
		if (decoded->mnemonic == ZYDIS_MNEMONIC_ENTER && hidden)
			return -(uint64_t)(operand->size / 8);
		return 0;
	}
}

bool operand_address(const ZydisDecodedInstruction *decoded, const ZydisDecodedOperand *operand,
		     const struct registers *registers, unsigned known_registers,
		     remote_addr *ret_address)
{
	uint64_t address = (uint64_t)operand->mem.disp.value, value;

	if (operand->mem.type == ZYDIS_MEMOP_TYPE_VSIB)
		return false;
	if (operand->mem.base == ZYDIS_REGISTER_RIP || operand->mem.base == ZYDIS_REGISTER_EIP) {
		address += registers->rip + decoded->length;
	} else if (operand->mem.base != ZYDIS_REGISTER_NONE) {
		if (!register_value(operand->mem.base, registers, known_registers, &value))
			return false;
		address += value + implicit_adjustment(decoded, operand);
	}
	if (operand->mem.index != ZYDIS_REGISTER_NONE) {
		if (!register_value(operand->mem.index, registers, known_registers, &value))
			return false;
		address += value * operand->mem.scale;
	}
	if (decoded->mnemonic == ZYDIS_MNEMONIC_XLAT) {
		if (!register_value(ZYDIS_REGISTER_AL, registers, known_registers, &value))
			return false;
		address += value & 0xff;
	}
	if (instruction_is_bit_string(decoded)) {
		if (!bit_string_offset(operand + 1, registers, known_registers, &value))
			return false;
		address += value;
	}
	/* The implicit stack goes by the stack's width, whatever the address size. */
	if (decoded->address_width == 32 && !operand_is_implicit_stack(operand))
		address = (uint32_t)address;
	if (operand->mem.segment == ZYDIS_REGISTER_FS)
		address += registers->fs_base;
	else if (operand->mem.segment == ZYDIS_REGISTER_GS)
		address += registers->gs_base;
	*ret_address = address;
	return true;
}

static bool operand_is_accessed(const ZydisDecodedInstruction *decoded,
				const ZydisDecodedOperand *operand)
{
	if (operand->type != ZYDIS_OPERAND_TYPE_MEMORY ||
	    operand->mem.type == ZYDIS_MEMOP_TYPE_AGEN || operand->mem.type == ZYDIS_MEMOP_TYPE_MIB)
		return false;
	switch (decoded->meta.category) {
	case ZYDIS_CATEGORY_NOP:
	case ZYDIS_CATEGORY_WIDENOP:
	case ZYDIS_CATEGORY_PREFETCH:
	case ZYDIS_CATEGORY_PREFETCHWT1:
	case ZYDIS_CATEGORY_CLDEMOTE:
	case ZYDIS_CATEGORY_CLFLUSHOPT:
	case ZYDIS_CATEGORY_CLWB:
	case ZYDIS_CATEGORY_MPX: /* no-ops since Linux 5.6 turned MPX off */
		return false;
	default:
		return decoded->mnemonic != ZYDIS_MNEMONIC_CLFLUSH &&
		       decoded->mnemonic != ZYDIS_MNEMONIC_INVLPG;
	}
}

/* Instructions on packed floats whose memory operand Zydis 4.0 types as integers; bytes, or 0. */
static uint8_t mistyped_float_bytes(ZydisMnemonic mnemonic)
{
	switch (mnemonic) {
	case ZYDIS_MNEMONIC_ANDPS:
	case ZYDIS_MNEMONIC_ANDNPS:
	case ZYDIS_MNEMONIC_ORPS:
	case ZYDIS_MNEMONIC_XORPS:
	case ZYDIS_MNEMONIC_VANDPS:
	case ZYDIS_MNEMONIC_VANDNPS:
	case ZYDIS_MNEMONIC_VORPS:
	case ZYDIS_MNEMONIC_VXORPS:
	case ZYDIS_MNEMONIC_UNPCKLPS:
	case ZYDIS_MNEMONIC_UNPCKHPS:
	case ZYDIS_MNEMONIC_VUNPCKLPS:
	case ZYDIS_MNEMONIC_VUNPCKHPS:
	case ZYDIS_MNEMONIC_INSERTPS:
	case ZYDIS_MNEMONIC_VINSERTPS:
	case ZYDIS_MNEMONIC_EXTRACTPS:
	case ZYDIS_MNEMONIC_VEXTRACTPS:
	case ZYDIS_MNEMONIC_MOVLPS:
	case ZYDIS_MNEMONIC_MOVHPS:
	case ZYDIS_MNEMONIC_VMOVLPS:
	case ZYDIS_MNEMONIC_VMOVHPS:
	case ZYDIS_MNEMONIC_MOVNTPS:
	case ZYDIS_MNEMONIC_VMOVNTPS:
		return 4;
	case ZYDIS_MNEMONIC_ANDPD:
	case ZYDIS_MNEMONIC_ANDNPD:
	case ZYDIS_MNEMONIC_ORPD:
	case ZYDIS_MNEMONIC_XORPD:
	case ZYDIS_MNEMONIC_VANDPD:
	case ZYDIS_MNEMONIC_VANDNPD:
	case ZYDIS_MNEMONIC_VORPD:
	case ZYDIS_MNEMONIC_VXORPD:
	case ZYDIS_MNEMONIC_UNPCKLPD:
	case ZYDIS_MNEMONIC_UNPCKHPD:
	case ZYDIS_MNEMONIC_VUNPCKLPD:
	case ZYDIS_MNEMONIC_VUNPCKHPD:
	case ZYDIS_MNEMONIC_MOVLPD:
	case ZYDIS_MNEMONIC_MOVHPD:
	case ZYDIS_MNEMONIC_VMOVLPD:
	case ZYDIS_MNEMONIC_VMOVHPD:
	case ZYDIS_MNEMONIC_MOVNTPD:
	case ZYDIS_MNEMONIC_VMOVNTPD:
	case ZYDIS_MNEMONIC_MOVDDUP:
	case ZYDIS_MNEMONIC_VMOVDDUP:
		return 8;
	default:
		return 0;
	}
}

static uint8_t float_bytes(const ZydisDecodedInstruction *decoded,
			   const ZydisDecodedOperand *operand)
{
	switch (operand->element_type) {
	case ZYDIS_ELEMENT_TYPE_FLOAT32:
		return 4;
	case ZYDIS_ELEMENT_TYPE_FLOAT64:
		return 8;
	default:
		return mistyped_float_bytes(decoded->mnemonic);
	}
}

/* The operand's length is not what its definition says, or the address is not that of all of it. */
static bool operand_is_irregular(const ZydisDecodedInstruction *decoded,
				 const ZydisDecodedOperand *operand)
{
	return operand->size == 0 || operand->size / 8 > ACCESS_BYTES_MAX ||
	       operand_depends_on_mask(decoded) ||
	       (decoded->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR &&
		decoded->meta.category == ZYDIS_CATEGORY_CALL);
}

void instruction_accesses(const ZydisDecodedInstruction *decoded,
			  const ZydisDecodedOperand *operands, const struct registers *registers,
			  unsigned known_registers, struct instruction *ret_instruction)
{
	bool is_string = decoded->meta.category == ZYDIS_CATEGORY_STRINGOP ||
			 decoded->meta.category == ZYDIS_CATEGORY_IOSTRINGOP;
	bool is_branch = decoded->meta.category == ZYDIS_CATEGORY_CALL ||
			 decoded->meta.category == ZYDIS_CATEGORY_RET ||
			 decoded->meta.category == ZYDIS_CATEGORY_UNCOND_BR;

	ret_instruction->address = registers->rip;
	ret_instruction->length = decoded->length;
	ret_instruction->is_rep_string =
		is_string && (decoded->attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE |
						     ZYDIS_ATTRIB_HAS_REPNE));
	ret_instruction->access_count = 0;
	for (size_t i = 0; i < decoded->operand_count; i++) {
		const ZydisDecodedOperand *operand = &operands[i];
		struct access access;

		if (!operand_is_accessed(decoded, operand))
			continue;
		access = (struct access){ .instruction = registers->rip };
		if (operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ)
			access.kinds |= ACCESS_LOAD;
		if (operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
			access.kinds |= ACCESS_STORE;
		if (!access.kinds || ret_instruction->access_count == INSTRUCTION_ACCESSES_MAX)
			continue;
		access.size = operand->size / 8;
		if (access.size == 0 || access.size > ACCESS_BYTES_MAX)
			access.size = ACCESS_BYTES_MAX;
		access.address_known = !operand_is_irregular(decoded, operand) &&
				       operand_address(decoded, operand, registers, known_registers,
						       &access.address);
		access.stack = operand_is_implicit_stack(operand) ||
			       operand->mem.base == ZYDIS_REGISTER_RSP ||
			       operand->mem.base == ZYDIS_REGISTER_ESP;
		access.thread_local_storage = operand->mem.segment == ZYDIS_REGISTER_FS ||
					      operand->mem.segment == ZYDIS_REGISTER_GS;
		access.indirect_branch = is_branch && access.kinds == ACCESS_LOAD;
		access.element_size = float_bytes(decoded, operand);
		access.floating_point = access.element_size != 0;
		ret_instruction->accesses[ret_instruction->access_count++] = access;
	}
}

int instruction_decode(const struct registers *registers, const uint8_t *bytes, size_t size,
		       struct instruction *ret_instruction)
{
	ZydisDecoder decoder;
	ZydisDecodedInstruction decoded;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];

	if (size > INSTRUCTION_BYTES_MAX)
		size = INSTRUCTION_BYTES_MAX;
	if (ZYAN_FAILED(
		    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)) ||
	    ZYAN_FAILED(ZydisDecoderDecodeFull(&decoder, bytes, size, &decoded, operands)))
		return -EILSEQ;
	instruction_accesses(&decoded, operands, registers, REGISTERS_ALL_KNOWN, ret_instruction);
	return 0;
}
