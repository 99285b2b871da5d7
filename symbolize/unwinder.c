/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From one frame to the next by the rule for its pc, which comes from the rule
 * cache or from running one FDE's program. Stacks that hold a frame no rule
 * expresses are left to libunwind; past code without unwind information the
 * stack is scanned.
 *
 * No locks, no allocation; no system call except through stack_view when the
 * snapshot ends too early, and in libunwind.
 */
#include "symbolize/unwinder.h"

#include "symbolize/fde_table.h"
#include "symbolize/rule_cache.h"
#include "symbolize/stack_scan.h"
#include "symbolize/stack_view.h"
#include "symbolize/unwinder_libunwind.h"

#include <stdlib.h>

/* How far up a frame without unwind information may reach. */
#define SCAN_BYTES_MAX 16384
/* Return addresses found by a scan that are tried, and the steps spent on all of them. */
#define SCAN_CANDIDATES_MAX 64
#define SCAN_STEPS_MAX      2048
/* Words above the stack pointer that are tried as a saved rbp for each. */
#define SCAN_RBP_MAX 6

/* struct ucontext of a signal frame: where the 17 saved registers begin, and their order. */
#define UCONTEXT_REGISTERS_OFFSET 40
#define UCONTEXT_RIP_INDEX        16

static const uint8_t ucontext_order[REGISTER_COUNT] = {
	REGISTER_R8,  REGISTER_R9,  REGISTER_R10, REGISTER_R11, REGISTER_R12, REGISTER_R13,
	REGISTER_R14, REGISTER_R15, REGISTER_RDI, REGISTER_RSI, REGISTER_RBP, REGISTER_RBX,
	REGISTER_RDX, REGISTER_RAX, REGISTER_RCX, REGISTER_RSP,
};

struct unwinder {
	const struct module_table *modules;
	struct fde_table *fdes;
	struct rule_cache cache;
	struct rule_cache_entry unknown; /* the answer for an address in no module */
	struct unwinder_libunwind *libunwind;
	struct unwinder_counters counters;
	struct stack_view view; /* large: last */
};

/* Where a walk stands: the registers of the frame it looks at. */
struct walk {
	remote_addr pc;
	remote_addr sp;
	remote_addr rbp;
	bool pc_is_exact;   /* not a return address */
	bool all_registers; /* general holds this frame's: innermost, or interrupted */
	bool is_at_start;   /* out: ended at a frame whose CFI says that it has no caller */
	bool is_complex;    /* out: ended at a frame that no rule expresses */
	uint32_t flags;     /* of the frame, enum native_frame_flag */
	uint64_t general[REGISTER_COUNT];
};

struct unwinder *unwinder_create(const struct module_table *modules,
				 const struct memory_reader *reader)
{
	struct unwinder *unwinder = calloc(1, sizeof(*unwinder));

	if (!unwinder)
		return NULL;
	unwinder->modules = modules;
	unwinder->view.reader = reader;
	unwinder->fdes = fde_table_create(modules);
	if (!unwinder->fdes || rule_cache_init(&unwinder->cache))
		goto fail;
	unwinder->libunwind = unwinder_libunwind_create(modules, unwinder->fdes, false);
	if (!unwinder->libunwind)
		goto fail;
	return unwinder;
fail:
	unwinder_destroy(unwinder);
	return NULL;
}

void unwinder_destroy(struct unwinder *unwinder)
{
	if (!unwinder)
		return;
	unwinder_libunwind_destroy(unwinder->libunwind);
	rule_cache_deinit(&unwinder->cache);
	fde_table_destroy(unwinder->fdes);
	free(unwinder);
}

void unwinder_flush(struct unwinder *unwinder)
{
	rule_cache_flush(&unwinder->cache);
	unwinder_libunwind_flush(unwinder->libunwind);
	fde_table_prepare(unwinder->fdes);
}

struct unwinder_counters unwinder_counters(const struct unwinder *unwinder)
{
	struct unwinder_counters counters = unwinder->counters;

	counters.stack_reads = unwinder->view.reads;
	return counters;
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

/* The rule for an address that the cache does not hold. */
static const struct rule_cache_entry *resolve(struct unwinder *unwinder, remote_addr address,
					      bool pc_is_exact)
{
	const struct module *module = module_find(unwinder->modules, address);
	struct rule_cache_entry entry = { .address = address, .module = module };
	bool pc_has_cfi = false;
	struct eh_frame_fde fde;

	if (!module) {
		/* Not cached: random words must not push out what is in use. */
		unwinder->unknown = entry;
		return &unwinder->unknown;
	}
	unwinder->counters.rule_misses++;
	if (fde_table_find(unwinder->fdes, module, address, &fde) == 0 &&
	    address - module->bias - fde.start <= UINT32_MAX) {
		entry.function_offset = (uint32_t)(address - module->bias - fde.start);
		entry.rule = cfi_rule_at(&fde, address - module->bias);
		pc_has_cfi = pc_is_exact || address + 1 - module->bias < fde.end;
	}
	/* Looked for last: reading code costs a page fault, rules do not need it. */
	if (!pc_has_cfi && is_signal_trampoline(module, address + !pc_is_exact))
		entry.rule = (struct cfi_rule){ .kind = CFI_RULE_SIGNAL };
	return rule_cache_insert(&unwinder->cache, &entry);
}

/* Takes over the registers that the kernel saved when it delivered a signal. */
static int leave_signal_frame(struct unwinder *unwinder, struct walk *walk)
{
	uint64_t saved[REGISTER_COUNT + 1];
	int error = stack_view_read(&unwinder->view, walk->sp + UCONTEXT_REGISTERS_OFFSET, saved,
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
static enum unwind_end find_cfa(struct unwinder *unwinder, struct walk *walk, struct cfi_rule rule,
				remote_addr *ret_cfa)
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
		if (stack_view_read_u64(&unwinder->view, cfa + offset, &cfa))
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
 * Return address and frame pointer of the caller. GCC's epilogues leave the
 * rule for rbp as it was after popping it: a slot that is no longer, or not
 * at all, in the frame means that rbp is the caller's already.
 */
static int restore_caller(struct unwinder *unwinder, struct walk *walk, struct cfi_rule rule,
			  remote_addr cfa)
{
	remote_addr slot =
		(rule.rbp == CFI_RBP_AT_CFA ? cfa : walk->rbp) + (uint64_t)(int64_t)rule.rbp_offset;
	int error = stack_view_read_u64(&unwinder->view, cfa - 8, &walk->pc);

	if (!error && rule.rbp != CFI_RBP_SAME && slot >= walk->sp && slot < cfa)
		error = stack_view_read_u64(&unwinder->view, slot, &walk->rbp);
	if (error)
		return error;
	walk->sp = cfa;
	walk->pc_is_exact = false;
	walk->all_registers = false;
	walk->flags = 0;
	return 0;
}

/* Appends frames from where walk stands; *count is both in and out. */
static enum unwind_end walk_frames(struct unwinder *unwinder, struct walk *walk,
				   const struct address_ranges *until, struct native_frame *frames,
				   size_t maximum, size_t *count)
{
	while (*count < maximum) {
		remote_addr address = walk->pc - !walk->pc_is_exact;
		const struct rule_cache_entry *entry = rule_cache_find(&unwinder->cache, address);
		struct native_frame *frame = &frames[*count];
		struct cfi_rule rule;
		enum unwind_end end;
		bool is_wanted;

		if (!entry)
			entry = resolve(unwinder, address, walk->pc_is_exact);
		rule = entry->rule;
		frame->pc = walk->pc;
		frame->sp = walk->sp;
		frame->cfa = 0;
		frame->function = rule.kind == CFI_RULE_NONE ? 0 : address - entry->function_offset;
		frame->module = entry->module;
		frame->flags = walk->flags;
		++*count;
		is_wanted = until && address_ranges_contain(until, address);

		switch (rule.kind) {
		case CFI_RULE_NONE:
			return entry->module ? UNWIND_NO_CFI : UNWIND_NO_MODULE;
		case CFI_RULE_END:
			walk->is_at_start = true;
			return is_wanted ? UNWIND_STOPPED : UNWIND_COMPLETE;
		case CFI_RULE_COMPLEX:
			walk->is_complex = true;
			return UNWIND_NO_CFI;
		case CFI_RULE_SIGNAL:
			if (leave_signal_frame(unwinder, walk))
				return UNWIND_STACK_MISSING;
			frame->cfa = walk->sp;
			break;
		default:
			end = find_cfa(unwinder, walk, rule, &frame->cfa);
			if (end != UNWIND_COMPLETE)
				return end;
			/* The caller is of no interest then, and need not be readable. */
			if (!is_wanted && restore_caller(unwinder, walk, rule, frame->cfa))
				return UNWIND_STACK_MISSING;
		}
		if (is_wanted)
			return UNWIND_STOPPED;
		if (walk->pc == 0)
			return UNWIND_COMPLETE;
	}
	return UNWIND_TOO_DEEP;
}

static struct walk walk_from(const struct registers *registers)
{
	struct walk walk = {
		.pc = registers->rip,
		.sp = registers->general[REGISTER_RSP],
		.rbp = registers->general[REGISTER_RBP],
		.pc_is_exact = true,
		.all_registers = true,
	};

	memcpy(walk.general, registers->general, sizeof(walk.general));
	return walk;
}

/* Words in [sp, slot) that could be the rbp which the code without CFI has saved. */
static size_t rbp_candidates(const struct unwinder *unwinder, const struct walk *walk,
			     remote_addr slot, remote_addr *rbps)
{
	const struct stack_snapshot *stack = &unwinder->view.snapshot;
	size_t count = 0;

	rbps[count++] = walk->rbp;
	for (remote_addr address = slot;
	     address - walk->sp >= 8 && count < SCAN_RBP_MAX && slot - address < 8 * 16;) {
		uint64_t value;

		address -= 8;
		if (stack_view_peek(&unwinder->view, address, &value, sizeof(value)))
			break;
		if (value > slot && value - stack->start < stack->size)
			rbps[count++] = value;
	}
	return count;
}

/*
 * Whether a call cannot be the one that led into code without unwind
 * information: it goes straight to the start of a function that has some.
 */
static bool calls_other_code(const struct unwinder *unwinder, remote_addr return_address)
{
	const struct module *module = module_find(unwinder->modules, return_address - 1);
	struct eh_frame_fde fde;
	remote_addr target;

	if (!module || stack_scan_call_target(module, return_address, &target) ||
	    !address_range_contains(module->range, target) ||
	    fde_table_find(unwinder->fdes, module, target, &fde))
		return false;
	/* One FDE covers all of the PLT, which leads anywhere. */
	return fde.start + module->bias == target &&
	       cfi_rule_at(&fde, fde.end - 1).kind != CFI_RULE_PLT;
}

/* Ends the frames at the first one asked for, if there is one. */
static enum unwind_end cut_at(const struct address_ranges *until, const struct native_frame *frames,
			      size_t *count)
{
	for (size_t i = 0; until && i < *count; i++) {
		if (address_ranges_contain(until,
					   native_frame_lookup_address(&frames[i], i == 0))) {
			*count = i + 1;
			return UNWIND_STOPPED;
		}
	}
	return UNWIND_COMPLETE;
}

/*
 * The last frame found has no unwind information. Goes on from the first word
 * above its stack pointer that looks like a return address and from which the
 * walk reaches the thread's start (a frame that says so: a return address of 0
 * proves nothing here). Returns UNWIND_NO_CFI, and adds no frame, if none does.
 */
static enum unwind_end scan(struct unwinder *unwinder, const struct walk *stuck,
			    const struct address_ranges *until, struct native_frame *frames,
			    size_t maximum, size_t *count)
{
	remote_addr address = (stuck->sp + 7) & ~(remote_addr)7;
	remote_addr end = address + SCAN_BYTES_MAX;
	size_t steps = 0;

	unwinder->counters.scans++;
	for (size_t tried = 0; tried < SCAN_CANDIDATES_MAX && steps < SCAN_STEPS_MAX; tried++) {
		remote_addr rbps[SCAN_RBP_MAX];
		remote_addr slot, value;
		size_t rbp_count = 0;

		if (stack_scan_next(unwinder->modules, &unwinder->view, address, end, &slot,
				    &value))
			break;
		if (!calls_other_code(unwinder, value))
			rbp_count = rbp_candidates(unwinder, stuck, slot, rbps);
		for (size_t i = 0; i < rbp_count; i++) {
			struct walk walk = {
				.pc = value,
				.sp = slot + 8,
				.rbp = rbps[i],
				.flags = NATIVE_FRAME_GUESSED,
			};
			size_t reached = *count;

			(void)walk_frames(unwinder, &walk, NULL, frames, maximum, &reached);
			steps += reached - *count;
			if (walk.is_at_start) {
				frames[*count - 1].cfa = slot + 8;
				*count = reached;
				return cut_at(until, frames, count);
			}
		}
		address = slot + 8;
	}
	unwinder->counters.scans_failed++;
	return UNWIND_NO_CFI;
}

enum unwind_end unwinder_unwind(struct unwinder *unwinder, const struct registers *registers,
				const struct stack_snapshot *stack,
				const struct address_ranges *until, struct native_frame *frames,
				size_t maximum, size_t *ret_count)
{
	struct walk walk = walk_from(registers);
	enum unwind_end end;
	size_t count = 0;

	stack_view_begin(&unwinder->view, stack);
	end = walk_frames(unwinder, &walk, until, frames, maximum, &count);
	if (walk.is_complex) {
		size_t own_count = count;

		/* From the start again: it needs registers that our rules do not keep. */
		unwinder->counters.libunwind++;
		stack_view_begin(&unwinder->view, stack);
		end = unwinder_libunwind_unwind(unwinder->libunwind, registers, &unwinder->view,
						until, frames, maximum, &count);
		if (count < own_count) {
			walk = walk_from(registers);
			count = 0;
			stack_view_begin(&unwinder->view, stack);
			end = walk_frames(unwinder, &walk, until, frames, maximum, &count);
		}
	} else if (end == UNWIND_NO_CFI) {
		end = scan(unwinder, &walk, until, frames, maximum, &count);
	}
	*ret_count = count;
	return end;
}

int unwinder_function_range(struct unwinder *unwinder, remote_addr address,
			    struct address_range *ret_range)
{
	const struct module *module = module_find(unwinder->modules, address);
	struct eh_frame_fde fde;

	if (!module || fde_table_find(unwinder->fdes, module, address, &fde))
		return -ENOENT;
	*ret_range = (struct address_range){
		.start = fde.start + module->bias,
		.end = fde.end + module->bias,
	};
	return 0;
}

int unwinder_function_parts(struct unwinder *unwinder, struct address_range function,
			    struct address_ranges *ret_parts)
{
	const struct module *module = module_find(unwinder->modules, function.start);
	struct address_ranges parts = { .items = { function }, .count = 1 };
	struct eh_frame_fde fde, next;

	if (!module || fde_table_find(unwinder->fdes, module, function.start, &fde) ||
	    fde.start + module->bias != function.start)
		return -ENOENT;
	/* A symbol may lack its size; the FDE never does. */
	if (function.end - function.start < fde.end - fde.start)
		parts.items[0].end = fde.end + module->bias;
	/*
	 * The compiler emits a function's two FDEs one after the other. Control
	 * comes into the cold part by a jump from the middle of the hot one, so
	 * it begins with registers pushed already.
	 */
	if (eh_frame_fde_after(module->image, fde.next, &next) == 0 &&
	    fde_is_in_module(&next, module) &&
	    cfi_rule_is_mid_function(cfi_rule_at(&next, next.start)))
		parts.items[parts.count++] = (struct address_range){
			.start = next.start + module->bias,
			.end = next.end + module->bias,
		};
	*ret_parts = parts;
	return 0;
}
