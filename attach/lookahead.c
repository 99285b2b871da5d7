/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/lookahead.h"

#include "attach/emulator_step.h"

#include <Zydis/Zydis.h>
#include <errno.h>

/* At the limit, a breakpoint that moves the thread by less than this is not worth its stop. */
#define WORTHWHILE_INSTRUCTIONS (LOOKAHEAD_INSTRUCTIONS_MAX / 4)

#define CODE_WINDOW_BYTES 64

/* An interpreter dispatches within fewer. */
#define DISPATCH_INSTRUCTIONS_MAX 48

/* The last bytes of code read, so that most instructions need no read of their own. */
struct code_window {
	const struct memory_reader *code;
	remote_addr address;
	size_t size;
	uint8_t bytes[CODE_WINDOW_BYTES];
};

/* An instruction that the thread passes. */
struct visit {
	remote_addr address;
	unsigned skipped; /* sought accesses passed before it */
};

struct walk {
	enum access_kind sought;
	unsigned skip_count;
	unsigned skipped;
	const struct stack_snapshot *stack;
	const struct lookahead_filter *filter;
	ZydisDecoder decoder;
	struct code_window window;
	struct emulator emulator;
	struct visit visits[LOOKAHEAD_INSTRUCTIONS_MAX];
	size_t visit_count;
};

/* ---- code ---- */

/* Reads as much as there is from address, up to the end of the code. */
static void code_window_fill(struct code_window *window, remote_addr address)
{
	window->address = address;
	window->size = 0;
	for (size_t piece = CODE_WINDOW_BYTES; piece; piece /= 2)
		if (window->size + piece <= CODE_WINDOW_BYTES &&
		    !memory_read(window->code, address + window->size, window->bytes + window->size,
				 piece))
			window->size += piece;
}

static const uint8_t *code_window_at(struct code_window *window, remote_addr address,
				     size_t *ret_size)
{
	uint64_t offset = address - window->address;

	/* A short window ends where the code does: reading again would give no more. */
	if (offset >= window->size ||
	    (window->size - offset < INSTRUCTION_BYTES_MAX && window->size == CODE_WINDOW_BYTES)) {
		code_window_fill(window, address);
		offset = 0;
	}
	*ret_size = window->size - offset;
	return window->bytes + offset;
}

static bool decode_next(struct walk *walk, ZydisDecodedInstruction *decoded,
			ZydisDecodedOperand *operands)
{
	size_t size;
	const uint8_t *bytes = code_window_at(&walk->window, walk->emulator.registers.rip, &size);

	return ZYAN_SUCCESS(ZydisDecoderDecodeFull(&walk->decoder, bytes, size, decoded, operands));
}

/* ---- accesses ---- */

static bool access_is_sought(const struct walk *walk, const struct access *access)
{
	bool is_store = access->kinds & ACCESS_STORE;

	return is_store == (walk->sought == ACCESS_STORE) && !access->stack &&
	       !access->thread_local_storage && !access->indirect_branch;
}

static bool access_is_in_stack(const struct walk *walk, const struct access *access)
{
	return walk->stack && access->address - walk->stack->start < walk->stack->size;
}

enum verdict {
	VERDICT_PASS,    /* the instruction makes no access that ends the search */
	VERDICT_FOUND,   /* *ret_access */
	VERDICT_UNKNOWN, /* it may; more must be known to tell */
	VERDICT_UNSUPPORTED,
};

static enum verdict judge_accesses(struct walk *walk, const ZydisDecodedInstruction *decoded,
				   const ZydisDecodedOperand *operands, struct access *ret_access)
{
	struct instruction instruction, if_all_known;
	const struct registers *registers = &walk->emulator.registers;
	uint64_t count;

	instruction_accesses(decoded, operands, registers,
			     emulator_known_registers(&walk->emulator), &instruction);
	for (size_t i = 0; i < instruction.access_count; i++) {
		const struct access *access = &instruction.accesses[i];

		if (!access_is_sought(walk, access))
			continue;
		if (instruction.is_rep_string) {
			if (!emulator_repeat_count(&walk->emulator, decoded, &count))
				return VERDICT_UNKNOWN;
			if (count == 0)
				return VERDICT_PASS;
		}
		if (walk->skipped < walk->skip_count) {
			walk->skipped++;
			continue;
		}
		if (!access->address_known) {
			instruction_accesses(decoded, operands, registers, REGISTERS_ALL_KNOWN,
					     &if_all_known);
			return if_all_known.accesses[i].address_known ? VERDICT_UNKNOWN
								      : VERDICT_UNSUPPORTED;
		}
		if (access_is_in_stack(walk, access))
			continue;
		if (walk->filter && !walk->filter->counts(walk->filter->context, access)) {
			walk->skipped++;
			continue;
		}
		*ret_access = *access;
		return VERDICT_FOUND;
	}
	return VERDICT_PASS;
}

/* ---- where to run to ---- */

/* Whether the thread passes address before it makes the visit of that index. */
static bool visited_before(const struct walk *walk, remote_addr address, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (walk->visits[i].address == address)
			return true;
	return false;
}

/*
 * The thread cannot be followed past the last visit. A breakpoint stops it at
 * the *first* visit of an address, so the way that it comes furthest is an
 * address whose first visit is late. The instruction it is at now is out: a
 * breakpoint there would not let it start.
 */
static bool choose_run_to(const struct walk *walk, size_t visits_min, struct lookahead *ret)
{
	for (size_t i = walk->visit_count; i-- > 1 && i >= visits_min;) {
		const struct visit *visit = &walk->visits[i];

		if (visited_before(walk, visit->address, i))
			continue;
		ret->end = LOOKAHEAD_RUN_TO;
		ret->run_to = visit->address;
		ret->skipped = visit->skipped;
		return true;
	}
	return false;
}

/* Stuck at the last visit, or behind it when the thread can be let run over it. */
static void run_to_last(const struct walk *walk, enum lookahead_end otherwise,
			struct lookahead *ret)
{
	if (!choose_run_to(walk, 0, ret))
		ret->end = otherwise;
}

static void add_visit(struct walk *walk, remote_addr address)
{
	walk->visits[walk->visit_count++] = (struct visit){ address, walk->skipped };
}

/*
 * A rep string instruction whose end is not foreseen: nothing but a fault
 * leads from it to elsewhere than the instruction after it.
 */
static void run_over(struct walk *walk, const ZydisDecodedInstruction *decoded,
		     struct lookahead *ret)
{
	if (walk->visit_count < LOOKAHEAD_INSTRUCTIONS_MAX)
		add_visit(walk, walk->emulator.registers.rip + decoded->length);
	run_to_last(walk, LOOKAHEAD_UNSUPPORTED, ret);
}

/* ---- the walk ---- */

/* One instruction; true when the search has ended. */
static bool walk_step(struct walk *walk, struct lookahead *ret)
{
	ZydisDecodedInstruction decoded;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];

	if (walk->visit_count == LOOKAHEAD_INSTRUCTIONS_MAX) {
		if (!choose_run_to(walk, WORTHWHILE_INSTRUCTIONS, ret))
			ret->end = LOOKAHEAD_TOO_FAR;
		return true;
	}
	if (!decode_next(walk, &decoded, operands)) {
		ret->end = LOOKAHEAD_UNREADABLE;
		return true;
	}
	add_visit(walk, walk->emulator.registers.rip);
	ret->instructions++;
	switch (judge_accesses(walk, &decoded, operands, &ret->access)) {
	case VERDICT_PASS:
		break;
	case VERDICT_FOUND:
		ret->end = LOOKAHEAD_FOUND;
		return true;
	case VERDICT_UNKNOWN:
		run_to_last(walk, LOOKAHEAD_UNSUPPORTED, ret);
		return true;
	case VERDICT_UNSUPPORTED:
		ret->end = LOOKAHEAD_UNSUPPORTED;
		return true;
	}
	switch (emulator_step(&walk->emulator, &decoded, operands)) {
	case EMULATOR_OK:
		return false;
	case EMULATOR_UNKNOWN_BRANCH:
		run_to_last(walk, LOOKAHEAD_UNSUPPORTED, ret);
		return true;
	case EMULATOR_UNKNOWN_COUNT:
		run_over(walk, &decoded, ret);
		return true;
	case EMULATOR_SYSTEM_CALL:
		ret->end = LOOKAHEAD_SYSTEM_CALL;
		return true;
	case EMULATOR_UNSUPPORTED:
		break;
	}
	ret->end = LOOKAHEAD_UNSUPPORTED;
	return true;
}

static bool walk_init(struct walk *walk, const struct registers *registers,
		      const struct memory_reader *code, const struct stack_snapshot *stack,
		      const struct memory_reader *memory)
{
	if (ZYAN_FAILED(ZydisDecoderInit(&walk->decoder, ZYDIS_MACHINE_MODE_LONG_64,
					 ZYDIS_STACK_WIDTH_64)))
		return false;
	walk->stack = stack;
	walk->window.code = code;
	walk->window.address = walk->window.size = 0;
	emulator_init(&walk->emulator, registers, stack, memory);
	return true;
}

void lookahead_next(const struct registers *registers, enum access_kind sought, unsigned skip_count,
		    const struct memory_reader *code, const struct stack_snapshot *stack,
		    const struct memory_reader *memory, const struct lookahead_filter *filter,
		    struct lookahead *ret)
{
	struct walk walk;

	*ret = (struct lookahead){ .end = LOOKAHEAD_UNREADABLE };
	if (!walk_init(&walk, registers, code, stack, memory))
		return;
	walk.sought = sought;
	walk.skip_count = skip_count;
	walk.skipped = 0;
	walk.filter = filter;
	walk.visit_count = 0;
	while (!walk_step(&walk, ret))
		;
}

static bool is_indirect_jump(const ZydisDecodedInstruction *decoded,
			     const ZydisDecodedOperand *operands)
{
	return decoded->meta.category == ZYDIS_CATEGORY_UNCOND_BR &&
	       operands[0].type != ZYDIS_OPERAND_TYPE_IMMEDIATE;
}

/* Of the stack and elsewhere alike; the last one first. */
static int take_stores(const struct emulator *emulator,
		       struct lookahead_store ret_stores[LOOKAHEAD_STORES_MAX], size_t *ret_count)
{
	if (emulator->store_count > LOOKAHEAD_STORES_MAX)
		return -ENOTSUP;
	for (size_t i = emulator->store_count; i-- > 0;) {
		const struct emulated_store *store = &emulator->stores[i];

		if (store->everywhere)
			return -ENOTSUP;
		ret_stores[(*ret_count)++] = (struct lookahead_store){ store->address, store->size,
								       store->value, store->known };
	}
	return 0;
}

int lookahead_stores(const struct registers *registers, const struct memory_reader *code,
		     const struct stack_snapshot *stack, const struct memory_reader *memory,
		     struct lookahead_store ret_stores[LOOKAHEAD_STORES_MAX], size_t *ret_count)
{
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction decoded;
	struct walk walk;

	*ret_count = 0;
	if (!walk_init(&walk, registers, code, stack, memory))
		return -ENOTSUP;
	for (unsigned i = 0; i < DISPATCH_INSTRUCTIONS_MAX; i++) {
		if (!decode_next(&walk, &decoded, operands))
			return -ENOTSUP;
		if (is_indirect_jump(&decoded, operands))
			return take_stores(&walk.emulator, ret_stores, ret_count);
		if (emulator_step(&walk.emulator, &decoded, operands) != EMULATOR_OK)
			return -ENOTSUP;
	}
	return -ENOTSUP;
}
