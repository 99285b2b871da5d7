/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolize/stack_walk.h"

#include "symbolize/epilogue.h"

#include <string.h>

/* struct ucontext of a signal frame: where the 17 saved registers begin, and their order. */
#define UCONTEXT_REGISTERS_OFFSET 40
#define UCONTEXT_RIP_INDEX        16

/* Places of this size at which no file was found are remembered. */
#define UNKNOWN_PLACE_BITS 16

static const uint8_t ucontext_order[REGISTER_COUNT] = {
	REGISTER_R8,  REGISTER_R9,  REGISTER_R10, REGISTER_R11, REGISTER_R12, REGISTER_R13,
	REGISTER_R14, REGISTER_R15, REGISTER_RDI, REGISTER_RSI, REGISTER_RBP, REGISTER_RBX,
	REGISTER_RDX, REGISTER_RAX, REGISTER_RCX, REGISTER_RSP,
};

int stack_walker_init(struct stack_walker *walker, const struct module_table *modules,
		      const struct memory_reader *reader)
{
	walker->modules = modules;
	walker->view.reader = reader;
	walker->fdes = fde_table_create(modules);
	if (!walker->fdes || rule_cache_init(&walker->cache) || stack_memo_init(&walker->memo))
		return -ENOMEM;
	return 0;
}

void stack_walker_deinit(struct stack_walker *walker)
{
	stack_memo_deinit(&walker->memo);
	rule_cache_deinit(&walker->cache);
	fde_table_destroy(walker->fdes);
}

void stack_walker_flush(struct stack_walker *walker)
{
	rule_cache_flush(&walker->cache);
	stack_memo_flush(&walker->memo);
	memset(walker->unknown_places, 0, sizeof(walker->unknown_places));
}

/*
 * mov $__NR_rt_sigreturn, %rax; syscall: where a signal handler returns to.
 * glibc describes the place by CFI, musl does not.
 */
static bool is_signal_trampoline(const struct module *module, remote_addr address)
{
	static const uint8_t code[] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 };
	const uint8_t *bytes;
	size_t available;

	if (!module->image)
		return false;
	bytes = elf_image_at(module->image, address - module->bias, &available);
	return bytes && available >= sizeof(code) && memcmp(bytes, code, sizeof(code)) == 0;
}

/*
 * Takes over the row around an address that the FDE covers. An FDE's last byte
 * stands alone: as the look-up address of a return address it may belong to
 * what lies behind the FDE.
 */
static void take_row(struct rule_cache_entry *entry, remote_addr address,
		     const struct eh_frame_fde *fde)
{
	uint64_t bias = entry->module->bias;
	struct cfi_row row = cfi_row_at(fde, address - bias);
	uint64_t size;

	if (address - bias == fde->end - 1)
		row.start = address - bias;
	else if (row.end == fde->end)
		row.end--;
	size = row.end - row.start;
	if (row.start - fde->start > UINT32_MAX || size > UINT32_MAX)
		return;
	entry->start = row.start + bias;
	entry->size = (uint32_t)size;
	entry->function_offset = (uint32_t)(row.start - fde->start);
	entry->rule = row.rule;
}

/* Was the caller told before that no file is known here? Then it is generated code. */
static bool is_known_place(const struct stack_walker *walker, remote_addr address)
{
	uint64_t place = address >> UNKNOWN_PLACE_BITS;

	return place != 0 && walker->unknown_places[place % STACK_WALKER_PLACES] == place;
}

/* The rule of generated code that only returns from where pc is. */
static bool take_epilogue(const struct stack_walker *walker, remote_addr pc,
			  struct rule_cache_entry *entry)
{
	uint8_t code[EPILOGUE_BYTES];

	return walker->view.reader && !memory_read(walker->view.reader, pc, code, sizeof(code)) &&
	       !epilogue_rule(code, sizeof(code), &entry->rule);
}

/* The rule for an address that the cache does not hold. */
static const struct rule_cache_entry *resolve(struct stack_walker *walker, remote_addr address,
					      bool pc_is_exact)
{
	const struct module *module = module_find(walker->modules, address);
	struct rule_cache_entry entry = { .start = address, .size = 1, .module = module };
	bool pc_has_cfi = false;
	struct eh_frame_fde fde;

	if (!module) {
		if (!pc_is_exact && is_known_place(walker, address) &&
		    take_epilogue(walker, address + 1, &entry))
			return rule_cache_insert(&walker->cache, address, &entry);
		/* Not cached: random words must not push out what is in use. */
		walker->unknown = entry;
		return &walker->unknown;
	}
	walker->rule_misses++;
	if (fde_table_find(walker->fdes, module, address, &fde) == 0) {
		take_row(&entry, address, &fde);
		pc_has_cfi = pc_is_exact || address + 1 - module->bias < fde.end;
	}
	/* Looked for last: reading code costs a page fault, rules do not need it. */
	if (!pc_has_cfi && is_signal_trampoline(module, address + !pc_is_exact))
		entry = (struct rule_cache_entry){
			.start = address,
			.size = 1,
			.module = module,
			.rule = { .kind = CFI_RULE_SIGNAL },
		};
	return rule_cache_insert(&walker->cache, address, &entry);
}

/* Takes over the registers that the kernel saved when it delivered a signal. */
static int leave_signal_frame(struct stack_walker *walker, struct stack_walk *walk)
{
	uint64_t saved[REGISTER_COUNT + 1];
	int error = stack_view_read(&walker->view, walk->sp + UCONTEXT_REGISTERS_OFFSET, saved,
				    sizeof(saved));

	if (error)
		return error;
	for (size_t i = 0; i < REGISTER_COUNT; i++)
		walk->general[ucontext_order[i]] = saved[i];
	walk->pc = saved[UCONTEXT_RIP_INDEX];
	walk->sp = walk->general[REGISTER_RSP];
	walk->rbp = walk->general[REGISTER_RBP];
	walk->pc_is_exact = true;
	walk->all_registers = true;
	walk->flags = NATIVE_FRAME_SIGNAL;
	return 0;
}

/* The canonical frame address. Returns UNWIND_COMPLETE when it is found. */
static enum unwind_end find_cfa(struct stack_walker *walker, struct stack_walk *walk,
				struct cfi_rule rule, remote_addr *ret_cfa)
{
	uint64_t offset = (uint64_t)(int64_t)rule.cfa_offset;
	remote_addr cfa;

	switch (rule.cfa_register) {
	case REGISTER_RSP:
		cfa = walk->sp;
		break;
	case REGISTER_RBP:
		cfa = walk->rbp;
		break;
	default:
		if (!walk->all_registers) {
			walk->is_complex = true;
			return UNWIND_NO_CFI;
		}
		cfa = walk->general[rule.cfa_register];
	}
	switch (rule.kind) {
	case CFI_RULE_REGISTER:
		cfa += offset;
		break;
	case CFI_RULE_DEREFERENCE:
	case CFI_RULE_DEREFERENCE_8:
		if (stack_view_read_u64(&walker->view, cfa + offset, &cfa))
			return UNWIND_STACK_MISSING;
		if (rule.kind == CFI_RULE_DEREFERENCE_8)
			cfa += 8;
		break;
	default: /* CFI_RULE_PLT */
		cfa = walk->sp + 8 + ((walk->pc & 15) >= offset ? 8 : 0);
	}
	if (cfa <= walk->sp)
		return UNWIND_CORRUPT;
	*ret_cfa = cfa;
	return UNWIND_COMPLETE;
}

/*
 * Where the frame pointer is saved; 0: nowhere. GCC's epilogues leave the rule
 * for rbp as it was after popping it: a slot that is no longer, or not at all,
 * in the frame means that rbp is the caller's already. Not where the frame itself is
 * found by rbp: ffi_call_unix64 raises rsp above the slot before it takes rbp from it.
 */
static remote_addr rbp_slot(const struct stack_walk *walk, struct cfi_rule rule, remote_addr cfa)
{
	remote_addr slot =
		(rule.rbp == CFI_RBP_AT_CFA ? cfa : walk->rbp) + (uint64_t)(int64_t)rule.rbp_offset;

	remote_addr lowest = walk->sp;

	if (walk->pc_is_exact && rule.cfa_register == REGISTER_RBP &&
	    rule.kind == CFI_RULE_REGISTER && lowest > STACK_RED_ZONE_BYTES)
		lowest -= STACK_RED_ZONE_BYTES;
	return rule.rbp != CFI_RBP_SAME && slot >= lowest && slot < cfa ? slot : 0;
}

/*
 * The step from the frame at address by its rule. Returns UNWIND_COMPLETE when
 * it is found, which for CFI_RULE_SIGNAL is not asked for here. step's module
 * and function are set in every case.
 */
static enum unwind_end find_step(struct stack_walker *walker, struct stack_walk *walk,
				 remote_addr address, struct stack_step *step, uint8_t *ret_kind)
{
	const struct rule_cache_entry *entry = rule_cache_find(&walker->cache, address);
	struct cfi_rule rule;
	enum unwind_end end;

	if (!entry)
		entry = resolve(walker, address, walk->pc_is_exact);
	rule = entry->rule;
	*ret_kind = rule.kind;
	*step = (struct stack_step){ .pc = walk->pc, .sp = walk->sp, .module = entry->module };
	if (rule.kind == CFI_RULE_NONE)
		return entry->module ? UNWIND_NO_CFI : UNWIND_NO_MODULE;
	/* Generated code has no start that is known. */
	step->function = entry->module ? entry->start - entry->function_offset : 0;
	switch (rule.kind) {
	case CFI_RULE_END:
		step->kind = STACK_STEP_END;
		break;
	case CFI_RULE_COMPLEX:
		walk->is_complex = true;
		return UNWIND_NO_CFI;
	case CFI_RULE_SIGNAL:
		return UNWIND_COMPLETE;
	default:
		end = find_cfa(walker, walk, rule, &step->cfa);
		if (end != UNWIND_COMPLETE)
			return end;
		step->rbp = walk->rbp;
		step->rbp_slot = rbp_slot(walk, rule, step->cfa);
		step->uses_rbp = rule.cfa_register == REGISTER_RBP || rule.rbp == CFI_RBP_AT_RBP;
	}
	/* The others depend on more than a step says. */
	if (walk->memo && !walk->pc_is_exact &&
	    (rule.kind == CFI_RULE_REGISTER || rule.kind == CFI_RULE_END))
		stack_memo_add(walk->memo, step);
	return UNWIND_COMPLETE;
}

/* Return address and frame pointer of the caller. */
static int restore_caller(struct stack_walker *walker, struct stack_walk *walk,
			  const struct stack_step *step)
{
	int error = stack_view_read_u64(&walker->view, step->cfa - 8, &walk->pc);

	if (!error && step->rbp_slot)
		error = stack_view_read_u64(&walker->view, step->rbp_slot, &walk->rbp);
	if (error)
		return error;
	walk->sp = step->cfa;
	walk->pc_is_exact = false;
	walk->all_registers = false;
	walk->flags = 0;
	return 0;
}

enum unwind_end stack_walk_frames(struct stack_walker *walker, struct stack_walk *walk,
				  const struct address_ranges *until, struct native_frame *frames,
				  size_t maximum, size_t *count)
{
	while (*count < maximum) {
		remote_addr address = walk->pc - !walk->pc_is_exact;
		struct native_frame *frame = &frames[*count];
		enum unwind_end end = UNWIND_COMPLETE;
		uint8_t kind = CFI_RULE_REGISTER;
		const struct stack_step *step = NULL;
		struct stack_step found;
		bool is_wanted;

		if (walk->memo && !walk->pc_is_exact)
			step = stack_memo_find(walk->memo, walk->pc, walk->sp, walk->rbp);
		if (!step) {
			end = find_step(walker, walk, address, &found, &kind);
			step = &found;
		}
		frame->pc = walk->pc;
		frame->sp = walk->sp;
		frame->cfa = step->cfa;
		frame->function = step->function;
		frame->module = step->module;
		frame->flags = walk->flags;
		++*count;
		if (end != UNWIND_COMPLETE)
			return end;
		is_wanted = until && address_ranges_contain(until, address);
		if (step->kind == STACK_STEP_END) {
			walk->is_at_start = true;
			return is_wanted ? UNWIND_STOPPED : UNWIND_COMPLETE;
		}
		if (kind == CFI_RULE_SIGNAL) {
			if (leave_signal_frame(walker, walk))
				return UNWIND_STACK_MISSING;
			frame->cfa = walk->sp;
			walk->memo = NULL; /* the handler may have had a stack of its own */
		} else if (!is_wanted && restore_caller(walker, walk, step)) {
			/* Where wanted, the caller is of no interest and need not be readable. */
			return UNWIND_STACK_MISSING;
		}
		if (is_wanted)
			return UNWIND_STOPPED;
		if (walk->pc == 0)
			return UNWIND_COMPLETE;
	}
	return UNWIND_TOO_DEEP;
}

struct stack_walk stack_walk_from(const struct registers *registers)
{
	struct stack_walk walk = {
		.pc = registers->rip,
		.sp = registers->general[REGISTER_RSP],
		.rbp = registers->general[REGISTER_RBP],
		.pc_is_exact = true,
		.all_registers = true,
	};

	memcpy(walk.general, registers->general, sizeof(walk.general));
	return walk;
}

bool stack_walker_knows_generated_code(struct stack_walker *walker, remote_addr address)
{
	uint64_t place = address >> UNKNOWN_PLACE_BITS;
	bool is_known = is_known_place(walker, address);

	walker->unknown_places[place % STACK_WALKER_PLACES] = place;
	return is_known;
}
