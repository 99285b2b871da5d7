/* SPDX-License-Identifier: Apache-2.0 */
/*
 * First comes what is reached without an exception, then handlers. Each
 * instruction has the depth that it is first reached with, its state. Where it
 * is reached with another one, that conflict is followed, too, up to where both
 * agree again, and no depth is known on its way:
 *
 *   3.8   BEGIN_FINALLY         1 value  -.
 *         an exception          6 values  +-> body of finally -> END_FINALLY -> goes on, or not
 */
#include "pyintrospect/stack_depth.h"

#include "pyintrospect/exception_table.h"
#include "pyintrospect/opcode.h"
#include "pyintrospect/stack_effect.h"

#include <errno.h>
#include <stdlib.h>

#define UNIT_BYTES 2
/* What a handler of 3.6 to 3.10 finds on the stack: two exceptions, three values each. */
#define EXCEPTION_VALUES 6
/* 3.11+: entries of the exception table that are followed, and handlers of handlers of ... */
#define ENTRIES_MAX        65536
#define HANDLER_ROUNDS_MAX 16
#define CONFLICTS_MAX      1024
/* Instructions that are followed for conflicts, in all. */
#define CONFLICT_STEPS_MAX (1u << 18)
/* From here on jumps are counted in units, exception tables exist, a loop has two slots. */
#define FIRST_MINOR_UNITS      10
#define FIRST_MINOR_EXCEPTIONS 11
#define FIRST_MINOR_TWO_SLOTS  15

#define NO_INSTRUCTION UINT32_MAX

/* An instruction is reached with so many values on the stack, and these among them. */
struct arrival {
	uint32_t number; /* of the instruction; NO_INSTRUCTION: none starts there */
	int depth;
	uint16_t list;
};

/* Where the flow goes from an instruction. */
struct arrivals {
	struct arrival items[3];
	size_t count;
};

/* Tables of the analysis, an entry for each unit of code or instruction. */
struct scratch {
	uint32_t at;    /* by unit: number of the instruction that starts there */
	uint32_t work;  /* instructions to follow, each at most once */
	uint32_t setup; /* those with FLOW_HANDLER that were reached */
	uint32_t walk;  /* by instruction: the last conflict that was followed through it, */
	int walk_depth; /* and how */
	uint16_t walk_list;
	uint16_t made;                /* by instruction: the list that it made last */
	bool queued, listed, unclear; /* by instruction: in work, in setup, of several depths */
};

struct analysis {
	const struct python_code *code;
	struct stack_depths *depths;
	const struct opcode_info *opcodes;
	const struct stack_effect *effects;
	uint8_t special[256];
	struct scratch *scratch;
	size_t units, work_count, setup_count, conflict_count;
	struct arrival *conflicts;
	uint32_t conflict_steps;
};

/* Ends at the first opcode that cannot be told; -ENOTSUP follows only when it is reached. */
static void decode(struct analysis *analysis)
{
	const struct python_code *code = analysis->code;
	struct stack_depths *depths = analysis->depths;
	uint32_t offset = 0, start = 0, prefix = 0;

	for (size_t i = 0; i < analysis->units; i++)
		analysis->scratch[i].at = NO_INSTRUCTION;
	while (offset + UNIT_BYTES <= code->bytecode_size) {
		const struct opcode_info *info = &analysis->opcodes[code->bytecode[offset]];
		uint32_t argument = prefix | code->bytecode[offset + 1];

		if (!info->name || info->caches == OPCODE_CACHES_UNKNOWN)
			return;
		offset += UNIT_BYTES + info->caches * UNIT_BYTES;
		if (analysis->special[info->base] == SPECIAL_PREFIX) {
			prefix = argument << 8;
			continue;
		}
		analysis->scratch[start / UNIT_BYTES].at = (uint32_t)depths->count;
		depths->instructions[depths->count++] = (struct stack_instruction){
			.offset = start,
			.end = offset < code->bytecode_size ? offset : code->bytecode_size,
			.argument = argument,
			.depth = STACK_DEPTH_UNKNOWN,
			.opcode = info->base,
		};
		prefix = 0;
		start = offset;
	}
}

static uint32_t instruction_at(const struct analysis *analysis, int64_t offset)
{
	if (offset < 0 || offset % UNIT_BYTES || offset / UNIT_BYTES >= (int64_t)analysis->units)
		return NO_INSTRUCTION;
	return analysis->scratch[offset / UNIT_BYTES].at;
}

static uint32_t jump_target(const struct analysis *analysis,
			    const struct stack_instruction *instruction)
{
	int64_t distance = instruction->argument;

	if (analysis->code->minor >= FIRST_MINOR_UNITS)
		distance *= UNIT_BYTES;
	switch (analysis->effects[instruction->opcode].target) {
	case TARGET_FORWARD:
		return instruction_at(analysis, (int64_t)instruction->end + distance);
	case TARGET_BACKWARD:
		return instruction_at(analysis, (int64_t)instruction->end - distance);
	default:
		return instruction_at(analysis, distance);
	}
}

static const struct stack_effect *effect_of(const struct analysis *analysis, uint32_t number)
{
	return &analysis->effects[analysis->depths->instructions[number].opcode];
}

/* The node that an instruction puts before a list, with what it made last as a hint. */
static int push_node(struct analysis *analysis, uint32_t number, struct stack_node node,
		     uint16_t *ret_list)
{
	uint16_t *made = &analysis->scratch[number].made;
	int error = stack_list_push(&analysis->depths->lists, node, *made, ret_list);

	if (!error && *ret_list != node.outer)
		*made = *ret_list;
	return error;
}

static void add_arrival(struct arrivals *arrivals, uint32_t number, int depth, uint16_t list)
{
	arrivals->items[arrivals->count++] = (struct arrival){ number, depth, list };
}

/* The next instruction; none: off the end, or at what could not be decoded. */
static uint32_t next_number(const struct analysis *analysis, uint32_t number)
{
	return number + 1 < analysis->depths->count ? number + 1 : NO_INSTRUCTION;
}

/* The list behind an instruction that may have moved what is on it. */
static uint16_t list_behind(const struct analysis *analysis, const struct arrival *state)
{
	const struct stack_instruction *instruction =
		&analysis->depths->instructions[state->number];
	uint8_t special = analysis->special[instruction->opcode];
	int moved = 0;

	if (special >= SPECIAL_REORDER_2 && special <= SPECIAL_REORDER_4)
		moved = special - SPECIAL_REORDER_2 + 2;
	else if (special == SPECIAL_REORDER_ARGUMENT)
		moved = instruction->argument > STACK_DEPTH_MAX ? STACK_DEPTH_MAX
								: (int)instruction->argument;
	return moved ? stack_list_below(&analysis->depths->lists, state->list, state->depth - moved)
		     : state->list;
}

static int loop_head_arrivals(struct analysis *analysis, const struct arrival *state,
			      struct arrivals *arrivals)
{
	const struct stack_effect *effect = effect_of(analysis, state->number);
	int slot = state->depth - (analysis->code->minor >= FIRST_MINOR_TWO_SLOTS ? 2 : 1);
	const struct stack_instruction *instruction =
		&analysis->depths->instructions[state->number];
	uint16_t outside, inside;
	int error;

	if (slot < 0)
		return -EBADMSG;
	outside = stack_list_below(&analysis->depths->lists, state->list, slot);
	error = push_node(analysis, state->number,
			  (struct stack_node){ .head = instruction->offset,
					       .slot = (uint16_t)slot,
					       .outer = outside },
			  &inside);
	if (error)
		return error;
	add_arrival(arrivals, next_number(analysis, state->number), state->depth + effect->next,
		    inside);
	add_arrival(arrivals, jump_target(analysis, instruction), state->depth + effect->jump,
		    outside);
	return 0;
}

/*
 * To 3.8: what a handler found lies on top of the stack, but for some values
 * above: END_FINALLY raises again, or goes back to where CALL_FINALLY was.
 */
static const struct stack_node *handled(const struct analysis *analysis,
					const struct arrival *state, int above)
{
	const struct stack_node *top = &analysis->depths->lists.nodes[state->list];

	return top->handler_values && top->slot + top->handler_values + above == state->depth
		       ? top
		       : NULL;
}

/* Where the flow goes from an instruction in this state, handlers apart. */
static int find_arrivals(struct analysis *analysis, const struct arrival *state,
			 struct arrivals *arrivals)
{
	const struct stack_instruction *instruction =
		&analysis->depths->instructions[state->number];
	const struct stack_effect *effect = effect_of(analysis, state->number);
	int depth = state->depth + effect->next +
		    stack_effect_of_argument(effect->form, instruction->argument);
	uint16_t list = list_behind(analysis, state);
	const struct stack_node *top;

	arrivals->count = 0;
	if (effect->form == EFFECT_UNKNOWN)
		return -ENOTSUP;
	if (effect->flow == FLOW_END ||
	    (effect->flow == FLOW_END_FINALLY && handled(analysis, state, 0)))
		return 0;
	if (analysis->special[instruction->opcode] == SPECIAL_FOR_ITER)
		return loop_head_arrivals(analysis, state, arrivals);
	if (analysis->special[instruction->opcode] == SPECIAL_WITH_CLEANUP &&
	    (top = handled(analysis, state, 0))) {
		/* __exit__ is gone, its result is there; it may suppress the exception. */
		add_arrival(arrivals, next_number(analysis, state->number),
			    top->slot + 1 + effect->next, top->outer);
		depth++;
	}
	if (analysis->special[instruction->opcode] == SPECIAL_POP_FINALLY &&
	    (top = handled(analysis, state, (int)(instruction->argument & 1)))) {
		depth = top->slot + (int)(instruction->argument & 1);
		list = top->outer;
	}
	if (effect->flow == FLOW_BRANCH || effect->flow == FLOW_JUMP)
		add_arrival(arrivals, jump_target(analysis, instruction),
			    state->depth + effect->jump, list);
	if (effect->flow != FLOW_JUMP)
		add_arrival(arrivals, next_number(analysis, state->number), depth, list);
	return 0;
}

/* 3.6 to 3.10: how the handler of SETUP_FINALLY and its like is reached. */
static int find_handler(struct analysis *analysis, const struct arrival *state,
			struct arrival *ret_arrival)
{
	const struct stack_instruction *instruction =
		&analysis->depths->instructions[state->number];
	int jump = effect_of(analysis, state->number)->jump;
	/* CALL_FINALLY leaves one value, where to go back to. */
	int values = jump > 1 ? EXCEPTION_VALUES : 1;
	int slot = state->depth + jump - values;
	struct stack_node node = { .slot = (uint16_t)slot, .handler_values = (uint8_t)values };

	if (slot < 0)
		return -EBADMSG;
	node.outer = stack_list_below(&analysis->depths->lists, state->list, slot);
	ret_arrival->number = jump_target(analysis, instruction);
	ret_arrival->depth = state->depth + jump;
	return push_node(analysis, state->number, node, &ret_arrival->list);
}

static void queue(struct analysis *analysis, uint32_t number)
{
	if (analysis->scratch[number].queued)
		return;
	analysis->scratch[number].queued = true;
	analysis->scratch[analysis->work_count++].work = number;
}

static int add_conflict(struct analysis *analysis, const struct arrival *arrival)
{
	for (size_t i = 0; i < analysis->conflict_count; i++)
		if (analysis->conflicts[i].number == arrival->number &&
		    analysis->conflicts[i].depth == arrival->depth &&
		    stack_list_equal(&analysis->depths->lists, analysis->conflicts[i].list,
				     arrival->list))
			return 0;
	if (analysis->conflict_count == CONFLICTS_MAX)
		return -E2BIG;
	analysis->conflicts[analysis->conflict_count++] = *arrival;
	return 0;
}

/*
 * The flow comes to an instruction; what is above its depth is off the list
 * then. *ret_conflict: it was there before, with another depth.
 */
static int arrive(struct analysis *analysis, struct arrival *arrival, bool *ret_conflict)
{
	struct stack_lists *lists = &analysis->depths->lists;
	struct stack_instruction *instruction;
	uint16_t common;

	*ret_conflict = false;
	if (arrival->number == NO_INSTRUCTION)
		return analysis->depths->instructions[analysis->depths->count - 1].end <
				       analysis->code->bytecode_size
			       ? -ENOTSUP
			       : -EBADMSG;
	if (arrival->depth < 0)
		return -EBADMSG;
	if (arrival->depth > STACK_DEPTH_MAX)
		return -E2BIG;
	instruction = &analysis->depths->instructions[arrival->number];
	arrival->list = stack_list_below(lists, arrival->list, arrival->depth);
	if (instruction->depth == STACK_DEPTH_UNKNOWN) {
		instruction->depth = (int16_t)arrival->depth;
		instruction->inner = arrival->list;
		queue(analysis, arrival->number);
		return 0;
	}
	if (instruction->depth != arrival->depth) {
		*ret_conflict = true;
		return 0;
	}
	common = stack_list_common(lists, instruction->inner, arrival->list);
	if (lists->nodes[common].length < lists->nodes[instruction->inner].length) {
		instruction->inner = common; /* lists only become shorter: this comes to an end */
		queue(analysis, arrival->number);
	}
	return 0;
}

static int arrive_or_conflict(struct analysis *analysis, struct arrival *arrival)
{
	bool conflict;
	int error = arrive(analysis, arrival, &conflict);

	return !error && conflict ? add_conflict(analysis, arrival) : error;
}

static struct arrival state_of(const struct analysis *analysis, uint32_t number)
{
	const struct stack_instruction *instruction = &analysis->depths->instructions[number];

	return (struct arrival){ number, instruction->depth, instruction->inner };
}

static int follow_work(struct analysis *analysis)
{
	int error = 0;

	while (!error && analysis->work_count) {
		uint32_t number = analysis->scratch[--analysis->work_count].work;
		struct arrival state = state_of(analysis, number);
		struct arrivals arrivals;

		analysis->scratch[number].queued = false;
		error = find_arrivals(analysis, &state, &arrivals);
		for (size_t i = 0; !error && i < arrivals.count; i++)
			error = arrive_or_conflict(analysis, &arrivals.items[i]);
		if (effect_of(analysis, number)->flow == FLOW_HANDLER &&
		    !analysis->scratch[number].listed) {
			analysis->scratch[number].listed = true;
			analysis->scratch[analysis->setup_count++].setup = number;
		}
	}
	return error;
}

/* One step of a conflict: on to all that is reached with yet another depth. */
static int walk_on(struct analysis *analysis, uint32_t walk, struct arrival *arrival,
		   struct arrival *stack, size_t *count)
{
	struct scratch *scratch;
	bool conflict;
	int error = arrive(analysis, arrival, &conflict);

	if (error || !conflict)
		return error;
	scratch = &analysis->scratch[arrival->number];
	if (scratch->walk == walk)
		return scratch->walk_depth == arrival->depth &&
				       stack_list_equal(&analysis->depths->lists,
							scratch->walk_list, arrival->list)
			       ? 0
			       : add_conflict(analysis, arrival);
	scratch->walk = walk;
	scratch->walk_depth = arrival->depth;
	scratch->walk_list = arrival->list;
	scratch->unclear = true;
	stack[(*count)++] = *arrival;
	return 0;
}

static int follow_conflict(struct analysis *analysis, size_t index)
{
	/* An instruction is on it once, and has come there by another. */
	struct arrival *stack = calloc(analysis->depths->count + 1, sizeof(*stack));
	uint32_t walk = (uint32_t)index + 1;
	size_t count = 0;
	int error;

	if (!stack)
		return -ENOMEM;
	error = walk_on(analysis, walk, &analysis->conflicts[index], stack, &count);
	while (!error && count) {
		struct arrival state = stack[--count], handler;
		struct arrivals arrivals;

		if (++analysis->conflict_steps > CONFLICT_STEPS_MAX) {
			error = -E2BIG;
			break;
		}
		error = find_arrivals(analysis, &state, &arrivals);
		for (size_t i = 0; !error && i < arrivals.count; i++)
			error = walk_on(analysis, walk, &arrivals.items[i], stack, &count);
		if (!error && effect_of(analysis, state.number)->flow == FLOW_HANDLER) {
			error = find_handler(analysis, &state, &handler);
			if (!error)
				error = walk_on(analysis, walk, &handler, stack, &count);
		}
	}
	free(stack);
	return error ? error : follow_work(analysis);
}

/*
 * What SETUP_FINALLY and its like name, after everything that is reached
 * without; then conflicts, which may come to what was not reached.
 */
static int follow_setups(struct analysis *analysis)
{
	size_t setups = 0, conflicts = 0;
	int error = 0;

	while (!error && (setups < analysis->setup_count || conflicts < analysis->conflict_count)) {
		struct arrival state, handler;

		if (setups == analysis->setup_count) {
			error = follow_conflict(analysis, conflicts++);
			continue;
		}
		state = state_of(analysis, analysis->scratch[setups++].setup);
		error = find_handler(analysis, &state, &handler);
		if (!error)
			error = arrive_or_conflict(analysis, &handler);
		if (!error)
			error = follow_work(analysis);
	}
	return error;
}

/*
 * 3.11+: the handlers of the exception table whose first covered instruction
 * was reached, or all of them that are left. *ret_new: one was new.
 */
static int follow_table(struct analysis *analysis, bool all, bool *ret_new)
{
	const struct stack_instruction *instructions = analysis->depths->instructions;
	const uint8_t *position = analysis->code->exception_table;
	const uint8_t *end = position + analysis->code->exception_table_size;
	struct exception_entry entry;
	int error = 0;

	*ret_new = false;
	for (size_t i = 0; !error && position != end && i < ENTRIES_MAX; i++) {
		struct arrival handler = { 0 };
		uint32_t covered;

		if (!exception_table_next(&position, end, &entry))
			return -EBADMSG;
		handler.number = instruction_at(analysis, entry.target);
		handler.depth = entry.depth;
		if (handler.number == NO_INSTRUCTION)
			continue; /* behind what could not be decoded */
		covered = instruction_at(analysis, entry.start);
		if (covered != NO_INSTRUCTION && instructions[covered].depth != STACK_DEPTH_UNKNOWN)
			/* Below the entry's depth lies what lay there when its code was entered. */
			handler.list =
				stack_list_below(&analysis->depths->lists,
						 instructions[covered].inner, entry.depth - 1);
		else if (!all)
			continue;
		*ret_new |= instructions[handler.number].depth == STACK_DEPTH_UNKNOWN;
		error = arrive_or_conflict(analysis, &handler);
		if (!error)
			error = follow_work(analysis);
	}
	return error;
}

static int follow_handlers(struct analysis *analysis)
{
	bool more = analysis->code->minor >= FIRST_MINOR_EXCEPTIONS;
	int error = 0;

	for (unsigned round = 0; !error && more && round < HANDLER_ROUNDS_MAX; round++)
		error = follow_table(analysis, false, &more);
	if (!error && analysis->code->minor >= FIRST_MINOR_EXCEPTIONS)
		error = follow_table(analysis, true, &more);
	return error ? error : follow_setups(analysis);
}

static int analyse(struct analysis *analysis)
{
	struct stack_depths *depths = analysis->depths;
	struct arrival start = { 0 };
	int error;

	stack_special_table(analysis->code->minor, analysis->special);
	decode(analysis);
	if (!depths->count)
		return -ENOTSUP;
	error = arrive_or_conflict(analysis, &start);
	if (!error)
		error = follow_work(analysis);
	if (!error)
		error = follow_handlers(analysis);
	for (size_t i = 0; !error && i < depths->count; i++) {
		if (!analysis->scratch[i].unclear)
			continue;
		depths->instructions[i].depth = STACK_DEPTH_UNKNOWN;
		depths->instructions[i].inner = 0;
	}
	return error;
}

int stack_depths_init(struct stack_depths *depths, const struct python_code *code)
{
	struct analysis analysis = {
		.code = code,
		.depths = depths,
		.opcodes = opcode_table(code->minor),
		.effects = stack_effect_table(code->minor),
		.units = code->bytecode_size / UNIT_BYTES,
	};
	int error;

	*depths = (struct stack_depths){ .minor = code->minor };
	if (!analysis.opcodes || !analysis.effects || !code->bytecode || !analysis.units)
		return -ENOTSUP;
	if (code->bytecode_size > STACK_DEPTH_BYTES_MAX)
		return -E2BIG;
	depths->instructions = calloc(analysis.units, sizeof(depths->instructions[0]));
	analysis.scratch = calloc(analysis.units, sizeof(analysis.scratch[0]));
	analysis.conflicts = calloc(CONFLICTS_MAX, sizeof(analysis.conflicts[0]));
	error = stack_lists_init(&depths->lists);
	if (!error && (!depths->instructions || !analysis.scratch || !analysis.conflicts))
		error = -ENOMEM;
	if (!error)
		error = analyse(&analysis);
	free(analysis.scratch);
	free(analysis.conflicts);
	if (error)
		stack_depths_deinit(depths);
	return error;
}

void stack_depths_deinit(struct stack_depths *depths)
{
	free(depths->instructions);
	stack_lists_deinit(&depths->lists);
	*depths = (struct stack_depths){ 0 };
}

const struct stack_instruction *stack_depths_at(const struct stack_depths *depths, int offset)
{
	size_t low = 0, high = depths->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if ((int64_t)depths->instructions[middle].offset <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low && (uint32_t)offset < depths->instructions[low - 1].end
		       ? &depths->instructions[low - 1]
		       : NULL;
}

size_t stack_depths_loops(const struct stack_depths *depths,
			  const struct stack_instruction *instruction,
			  struct stack_loop ret_loops[STACK_LOOPS_MAX])
{
	const struct stack_node *nodes = depths->lists.nodes;
	size_t count = 0;

	for (uint16_t i = instruction->inner; i && count < STACK_LOOPS_MAX; i = nodes[i].outer)
		if (!nodes[i].handler_values)
			ret_loops[count++] =
				(struct stack_loop){ .head = nodes[i].head, .slot = nodes[i].slot };
	return count;
}
