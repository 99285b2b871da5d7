/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/loop_place.h"

#include "attach/bpf/function_record.h"
#include "attach/probe_place.h"
#include "common/array.h"

#include <Zydis/Zydis.h>
#include <errno.h>

#define CODE_BYTES 4096
/* Of an evaluation loop: the largest known has 150 KiB. */
#define FUNCTION_BYTES_MAX (1u << 20)
/* What is sought backwards from one way out. */
#define STEPS_MAX 64
/* Of a function's beginning, what is looked at for a place. */
#define ENTRY_BYTES 64

enum flow {
	FLOW_ON,     /* to the next instruction */
	FLOW_CALL,   /* likewise, in the end */
	FLOW_BRANCH, /* there, or to target */
	FLOW_JUMP,   /* to target */
	FLOW_AWAY,   /* anywhere: a jump by a register or a table, a trap */
	FLOW_RETURN,
};

enum {
	MOVES_UNKNOWN = -1
};

struct instruction {
	remote_addr address;
	remote_addr target; /* of a jump, branch or call by a distance; 0: none */
	remote_addr slot;   /* of a jump or call by a pointer at a fixed address; 0: none */
	int32_t moves;      /* the stack pointer up by so much, or MOVES_UNKNOWN */
	uint16_t writes;    /* registers, as bits */
	uint8_t length;
	uint8_t flow;
	int8_t copied;     /* "mov %this,%rax"; -1: it is another instruction */
	bool clears;       /* "xor %eax,%eax" */
	uint8_t jumped_to; /* by how many in the loop; 255: or more */
};

struct listing {
	const struct memory_reader *code, *memory;
	const struct loop_function *function;
	ZydisDecoder decoder;
	struct instruction *items; /* by part, and in each by address */
	size_t count, capacity;
	size_t first[ADDRESS_RANGES_MAX + 1]; /* of each part, and behind the last one */
};

/* ---- one instruction ---- */

static int register_number(ZydisRegister number)
{
	ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, number);

	return whole >= ZYDIS_REGISTER_RAX && whole <= ZYDIS_REGISTER_R15
		       ? (int)(whole - ZYDIS_REGISTER_RAX)
		       : -1;
}

static enum flow flow_of(const ZydisDecodedInstruction *decoded)
{
	switch (decoded->meta.category) {
	case ZYDIS_CATEGORY_RET:
		return decoded->mnemonic == ZYDIS_MNEMONIC_RET ? FLOW_RETURN : FLOW_AWAY;
	case ZYDIS_CATEGORY_CALL:
		return FLOW_CALL;
	case ZYDIS_CATEGORY_COND_BR:
		return FLOW_BRANCH;
	case ZYDIS_CATEGORY_UNCOND_BR:
		return decoded->raw.imm[0].is_relative ? FLOW_JUMP : FLOW_AWAY;
	default:
		return decoded->mnemonic == ZYDIS_MNEMONIC_UD2 ||
				       decoded->mnemonic == ZYDIS_MNEMONIC_HLT
			       ? FLOW_AWAY
			       : FLOW_ON;
	}
}

/* By how much "pop", or "add $0x128,%rsp", moves the stack pointer. */
static int32_t moves_of(const ZydisDecodedInstruction *decoded, const ZydisDecodedOperand *operands)
{
	if (decoded->mnemonic == ZYDIS_MNEMONIC_POP &&
	    operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER && operands[0].size == 64 &&
	    operands[0].reg.value != ZYDIS_REGISTER_RSP)
		return sizeof(uint64_t);
	if (decoded->mnemonic == ZYDIS_MNEMONIC_ADD &&
	    operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
	    operands[0].reg.value == ZYDIS_REGISTER_RSP &&
	    operands[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE && operands[1].imm.value.s > 0 &&
	    operands[1].imm.value.s < (int64_t)FUNCTION_ABOVE_MAX)
		return (int32_t)operands[1].imm.value.s;
	return MOVES_UNKNOWN;
}

static uint16_t writes_of(const ZydisDecodedInstruction *decoded,
			  const ZydisDecodedOperand *operands)
{
	unsigned written = 0;

	for (unsigned i = 0; i < decoded->operand_count; i++) {
		int number = operands[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
					     operands[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE
				     ? register_number(operands[i].reg.value)
				     : -1;

		if (number >= 0)
			written |= 1u << number;
	}
	return (uint16_t)written;
}

/* "mov %r12,%rax" */
static int8_t copied_of(const ZydisDecodedInstruction *decoded, const ZydisDecodedOperand *operands)
{
	return decoded->mnemonic == ZYDIS_MNEMONIC_MOV &&
			       operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
			       operands[0].reg.value == ZYDIS_REGISTER_RAX &&
			       operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER
		       ? (int8_t)register_number(operands[1].reg.value)
		       : -1;
}

static bool clears_result(const ZydisDecodedInstruction *decoded,
			  const ZydisDecodedOperand *operands)
{
	return decoded->mnemonic == ZYDIS_MNEMONIC_XOR &&
	       operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
	       operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
	       operands[0].reg.value == operands[1].reg.value &&
	       (operands[0].reg.value == ZYDIS_REGISTER_EAX ||
		operands[0].reg.value == ZYDIS_REGISTER_RAX);
}

static struct instruction describe(remote_addr address, const ZydisDecodedInstruction *decoded,
				   const ZydisDecodedOperand *operands)
{
	struct instruction instruction = {
		.address = address,
		.writes = writes_of(decoded, operands),
		.length = decoded->length,
		.flow = (uint8_t)flow_of(decoded),
		.copied = copied_of(decoded, operands),
		.clears = clears_result(decoded, operands),
	};
	ZyanU64 absolute;
	bool goes = instruction.flow == FLOW_CALL || instruction.flow == FLOW_AWAY ||
		    instruction.flow == FLOW_JUMP || instruction.flow == FLOW_BRANCH;

	if (instruction.writes & 1u << REGISTER_RSP)
		instruction.moves = moves_of(decoded, operands);
	if (!goes ||
	    ZYAN_FAILED(ZydisCalcAbsoluteAddress(decoded, &operands[0], address, &absolute)))
		return instruction;
	if (operands[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
		instruction.target = absolute;
	else if (operands[0].mem.base == ZYDIS_REGISTER_RIP)
		instruction.slot = absolute;
	return instruction;
}

/* ---- all of them ---- */

static int list_part(struct listing *listing, struct address_range part)
{
	uint8_t bytes[CODE_BYTES];
	remote_addr at = part.start;

	while (at < part.end) {
		size_t have = part.end - at < sizeof(bytes) ? part.end - at : sizeof(bytes);
		size_t used = 0;
		int error = memory_read(listing->code, at, bytes, have);

		if (error)
			return error;
		while (used < have) {
			ZydisDecodedInstruction decoded;
			ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];

			if (ZYAN_FAILED(ZydisDecoderDecodeFull(&listing->decoder, bytes + used,
							       have - used, &decoded, operands)))
				break;
			if (!ARRAY_ROOM(listing->items, listing->count, listing->capacity))
				return -ENOMEM;
			listing->items[listing->count++] = describe(at + used, &decoded, operands);
			used += decoded.length;
		}
		/* Cut off by the buffer, unless nothing could be decoded. */
		if (!used)
			return -EILSEQ;
		at += used;
	}
	return 0;
}

/* Each instruction is to be there once. */
static bool overlaps_earlier(const struct address_ranges *parts, size_t number)
{
	const struct address_range part = parts->items[number];

	for (size_t i = 0; i < number; i++)
		if (part.start < parts->items[i].end && parts->items[i].start < part.end)
			return true;
	return false;
}

static int list_all(struct listing *listing)
{
	const struct address_ranges *parts = listing->function->parts;
	uint64_t left = FUNCTION_BYTES_MAX;
	int error = 0;

	for (size_t i = 0; i < parts->count && !error; i++) {
		uint64_t size = parts->items[i].end - parts->items[i].start;

		if (parts->items[i].end <= parts->items[i].start || size > left)
			return -E2BIG;
		if (overlaps_earlier(parts, i))
			return -ENOENT;
		left -= size;
		error = list_part(listing, parts->items[i]);
		listing->first[i + 1] = listing->count;
	}
	return error;
}

/* As many as there are: it is in none. */
static size_t part_of(const struct listing *listing, remote_addr address)
{
	const struct address_ranges *parts = listing->function->parts;
	size_t i = 0;

	while (i < parts->count && !address_range_contains(parts->items[i], address))
		i++;
	return i;
}

static struct instruction *find(const struct listing *listing, remote_addr address)
{
	size_t part = part_of(listing, address), low, high;

	if (part == listing->function->parts->count)
		return NULL;
	low = listing->first[part];
	high = listing->first[part + 1];
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (listing->items[middle].address == address)
			return &listing->items[middle];
		if (listing->items[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

/* Behind a procedure linkage table's entry, as "endbr64; bnd jmp *slot(%rip)". */
static remote_addr behind_stub(const struct listing *listing, remote_addr stub)
{
	uint8_t bytes[2 * ZYDIS_MAX_INSTRUCTION_LENGTH];
	size_t used = 0;
	remote_addr function;

	if (memory_read(listing->memory, stub, bytes, sizeof(bytes)))
		return stub;
	for (unsigned i = 0; i < 2; i++) {
		ZydisDecodedInstruction decoded;
		ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
		struct instruction instruction;

		if (ZYAN_FAILED(ZydisDecoderDecodeFull(&listing->decoder, bytes + used,
						       sizeof(bytes) - used, &decoded, operands)))
			return stub;
		instruction = describe(stub + used, &decoded, operands);
		if (instruction.flow == FLOW_AWAY && instruction.slot)
			return memory_read_u64(listing->memory, instruction.slot, &function)
				       ? stub
				       : function;
		if (decoded.mnemonic != ZYDIS_MNEMONIC_ENDBR64)
			return stub;
		used += decoded.length;
	}
	return stub;
}

/* Whether it calls, or jumps to, the function by which results are handed back. */
static bool leads_to_check(const struct listing *listing, const struct instruction *instruction)
{
	remote_addr check = listing->function->check, function = instruction->target;

	if (!check)
		return false;
	if (instruction->slot && memory_read_u64(listing->memory, instruction->slot, &function))
		return false;
	return function && (function == check || behind_stub(listing, function) == check);
}

static bool is_inside(const struct listing *listing, remote_addr address)
{
	return address_ranges_contain(listing->function->parts, address);
}

/* A jump out of the loop, to what it calls last. */
static bool is_last_call(const struct listing *listing, const struct instruction *instruction)
{
	return (instruction->flow == FLOW_JUMP && !is_inside(listing, instruction->target)) ||
	       (instruction->flow == FLOW_AWAY && instruction->slot);
}

/* Who comes from where, and that nobody goes where it is not known how the loop is left. A part
 * that no other one jumps to is a function by itself, which is entered elsewhere. */
static int link_jumps(const struct listing *listing)
{
	unsigned parts_met = 1;

	for (size_t i = 0; i < listing->count; i++) {
		const struct instruction *from = &listing->items[i];
		struct instruction *to;

		if (is_last_call(listing, from)) {
			if (!leads_to_check(listing, from))
				return -ENOENT;
			continue;
		}
		if (from->flow != FLOW_JUMP && from->flow != FLOW_BRANCH)
			continue;
		to = is_inside(listing, from->target) ? find(listing, from->target) : NULL;
		if (!to)
			return is_inside(listing, from->target) ? -EILSEQ : -ENOENT;
		to->jumped_to += to->jumped_to < UINT8_MAX;
		if (part_of(listing, from->address) != part_of(listing, to->address))
			parts_met |= 1u << part_of(listing, to->address);
	}
	return parts_met == (1u << listing->function->parts->count) - 1 ? 0 : -ENOENT;
}

/* ---- ways out ---- */

static const unsigned argument_registers[] = { REGISTER_RDI, REGISTER_RSI, REGISTER_RDX };

#define ARGUMENTS (sizeof(argument_registers) / sizeof(argument_registers[0]))

/* Places of one way out, as they are found. */
struct exit {
	struct loop_place places[LOOP_PLACES_MAX];
	size_t count;
};

static bool add_place(struct exit *exit, const struct instruction *at, unsigned number,
		      unsigned above, bool stepped)
{
	if (exit->count == LOOP_PLACES_MAX)
		return false;
	exit->places[exit->count++] = (struct loop_place){
		.address = at->address,
		.stepped = stepped,
		.number = number,
		.above = above,
	};
	return true;
}

/* The one in front of it in the same part, if control goes on to this one from there. */
static const struct instruction *before(const struct listing *listing, const struct instruction *at)
{
	const struct instruction *previous = at - 1;

	if (at == listing->items || previous->address + previous->length != at->address ||
	    previous->flow == FLOW_JUMP || previous->flow == FLOW_AWAY ||
	    previous->flow == FLOW_RETURN)
		return NULL;
	return previous;
}

/* All jumps to at are ways out of their own. False: one of them may also go on. */
static bool add_jumps(const struct listing *listing, const struct instruction *at, unsigned number,
		      unsigned above, struct exit *exit)
{
	for (size_t i = 0; i < listing->count; i++) {
		const struct instruction *from = &listing->items[i];

		if ((from->flow != FLOW_JUMP && from->flow != FLOW_BRANCH) ||
		    from->target != at->address)
			continue;
		if (from->flow == FLOW_BRANCH || !add_place(exit, from, number, above, false))
			return false;
	}
	return true;
}

/*
 * Places on all ways to an instruction from which there is but one way out. number: the register
 * that has the result there; above: as in struct loop_place. False: they cannot be told, or the
 * kernel would have to step there, too.
 */
static bool add_ways(const struct listing *listing, const struct instruction *at, struct exit *exit)
{
	unsigned number = REGISTER_RAX, above = 0;

	for (unsigned i = 0; i < STEPS_MAX; i++) {
		const struct instruction *previous = before(listing, at);
		bool joined = at->jumped_to > 0;

		/* Callers come to the first one. */
		if (at == listing->items ||
		    (joined && !add_jumps(listing, at, number, above, exit)))
			return false;
		if (!previous)
			return joined;
		if (previous->flow == FLOW_CALL)
			return number == REGISTER_RAX && leads_to_check(listing, previous) &&
			       add_place(exit, previous,
					 argument_registers[listing->function->check_argument],
					 above, previous->slot != 0);
		if (previous->flow != FLOW_ON || previous->moves == MOVES_UNKNOWN)
			return false;
		if (number == REGISTER_RAX && previous->clears)
			return joined && add_place(exit, previous, REGISTER_RSP, above, true);
		if (number == REGISTER_RAX && previous->copied >= 0)
			number = (unsigned)previous->copied;
		else if (previous->writes & 1u << number)
			return false;
		above += (unsigned)previous->moves;
		if (above > FUNCTION_ABOVE_MAX || above % sizeof(uint64_t) ||
		    number == REGISTER_RSP)
			return false;
		at = previous;
	}
	return false;
}

static int add_exit(const struct listing *listing, const struct instruction *last,
		    struct loop_place *places, size_t *count)
{
	bool is_return = last->flow == FLOW_RETURN;
	unsigned number =
		is_return ? REGISTER_RAX : argument_registers[listing->function->check_argument];
	struct exit exit = { .count = 0 };

	/* What nothing leads to is never run. */
	if (is_return && last != listing->items && !before(listing, last) && !last->jumped_to)
		return 0;
	if (!is_return || !add_ways(listing, last, &exit)) {
		exit.count = 0;
		(void)add_place(&exit, last, number, 0, is_return || last->slot);
	}
	if (exit.count > LOOP_PLACES_MAX - *count)
		return -E2BIG;
	memcpy(&places[*count], exit.places, exit.count * sizeof(places[0]));
	*count += exit.count;
	return 0;
}

/* ---- the way in ---- */

static int add_entry(const struct listing *listing, struct loop_place *place)
{
	/* As struct probe_place numbers them. */
	static const unsigned numbered[] = { REGISTER_RDI, REGISTER_RSI, REGISTER_RDX, REGISTER_RCX,
					     REGISTER_RAX };
	const struct address_range part = listing->function->parts->items[0];
	unsigned argument = listing->function->frame_argument;
	size_t size = part.end - part.start < ENTRY_BYTES ? part.end - part.start : ENTRY_BYTES;
	uint8_t bytes[ENTRY_BYTES];
	struct probe_place entry;
	int error = memory_read(listing->code, part.start, bytes, size);
	bool found;

	if (error)
		return error;
	found = probe_place_choose(bytes, size, PROBE_ARGUMENT(argument), &entry);
	/* Nothing else comes by there. */
	for (size_t i = 0;
	     found && i < listing->count && listing->items[i].address <= part.start + entry.offset;
	     i++)
		found = !listing->items[i].jumped_to;
	*place = (struct loop_place){
		.address = part.start + (found ? entry.offset : 0),
		.enters = true,
		.stepped = !found,
		.number =
			found ? numbered[entry.registers[argument]] : argument_registers[argument],
	};
	return 0;
}

static int find_places(struct listing *listing, struct loop_place *places, size_t *ret_count)
{
	size_t count = 1;
	int error = list_all(listing);

	if (!error)
		error = link_jumps(listing);
	if (!error)
		error = add_entry(listing, &places[0]);
	for (size_t i = 0; i < listing->count && !error; i++)
		if (listing->items[i].flow == FLOW_RETURN ||
		    is_last_call(listing, &listing->items[i]))
			error = add_exit(listing, &listing->items[i], places, &count);
	if (!error && count < 2)
		error = -ENOENT;
	if (!error)
		*ret_count = count;
	return error;
}

int loop_places_find(const struct memory_reader *code, const struct memory_reader *memory,
		     const struct loop_function *function,
		     struct loop_place places[static LOOP_PLACES_MAX], size_t *ret_count)
{
	struct listing listing = { .code = code, .memory = memory, .function = function };
	int error;

	if (!function->parts->count || function->frame_argument >= ARGUMENTS ||
	    function->check_argument >= ARGUMENTS ||
	    ZYAN_FAILED(ZydisDecoderInit(&listing.decoder, ZYDIS_MACHINE_MODE_LONG_64,
					 ZYDIS_STACK_WIDTH_64)))
		return -EINVAL;
	error = find_places(&listing, places, ret_count);
	free(listing.items);
	return error;
}
