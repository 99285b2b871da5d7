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

#include "symbolize/epilogue.h"
#include "symbolize/fde_table.h"
#include "symbolize/rule_cache.h"
#include "symbolize/stack_memo.h"
#include "symbolize/stack_scan.h"
#include "symbolize/stack_view.h"
#include "symbolize/unwinder_libunwind.h"

#include <stdlib.h>

/* How far up a frame without unwind information may reach: OpenBLAS's have up to 53 KB. */
#define SCAN_BYTES_MAX (56u * 1024)
/* Return addresses found by a scan that are tried, and the steps spent on all of them. */
#define SCAN_CANDIDATES_MAX 128
#define SCAN_STEPS_MAX      4096
/* Words below each that are looked at for a saved rbp; the present rbp is tried too. */
#define SCAN_RBP_WORDS 16
#define SCAN_RBP_MAX   (SCAN_RBP_WORDS + 1)
/* How far up the frame may be that such an rbp points to. */
#define SCAN_RBP_REACH (1u << 20)

/* struct ucontext of a signal frame: where the 17 saved registers begin, and their order. */
#define UCONTEXT_REGISTERS_OFFSET 40
#define UCONTEXT_RIP_INDEX        16

/*
 * Places of this size at which no file was found are remembered, in a table of
 * so many, to tell generated code from a library that has just been loaded.
 */
#define UNKNOWN_PLACE_BITS 16
#define UNKNOWN_PLACES     64

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
	uint64_t unknown_places[UNKNOWN_PLACES]; /* place number, 0: none */
	struct stack_memo memo;
	struct stack_view view; /* large: last */
};

/* Where a walk stands: the registers of the frame it looks at. */
struct walk {
	remote_addr pc;
	remote_addr sp;
	remote_addr rbp;
	bool pc_is_exact;        /* not a return address */
	bool all_registers;      /* general holds this frame's: innermost, or interrupted */
	bool is_at_start;        /* out: ended at a frame whose CFI says that it has no caller */
	bool is_complex;         /* out: ended at a frame that no rule expresses */
	uint32_t flags;          /* of the frame, enum native_frame_flag */
	struct stack_memo *memo; /* NULL: steps are not remembered */
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
	if (!unwinder->fdes || rule_cache_init(&unwinder->cache) ||
	    stack_memo_init(&unwinder->memo))
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
	stack_memo_deinit(&unwinder->memo);
	rule_cache_deinit(&unwinder->cache);
	fde_table_destroy(unwinder->fdes);
	free(unwinder);
}

void unwinder_flush(struct unwinder *unwinder)
{
	rule_cache_flush(&unwinder->cache);
	stack_memo_flush(&unwinder->memo);
	memset(unwinder->unknown_places, 0, sizeof(unwinder->unknown_places));
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
static bool is_known_place(const struct unwinder *unwinder, remote_addr address)
{
	uint64_t place = address >> UNKNOWN_PLACE_BITS;

	return place != 0 && unwinder->unknown_places[place % UNKNOWN_PLACES] == place;
}

/* The rule of generated code that only returns from where pc is. */
static bool take_epilogue(const struct unwinder *unwinder, remote_addr pc,
			  struct rule_cache_entry *entry)
{
	uint8_t code[EPILOGUE_BYTES];

	return unwinder->view.reader &&
	       !memory_read(unwinder->view.reader, pc, code, sizeof(code)) &&
	       !epilogue_rule(code, sizeof(code), &entry->rule);
}

/* The rule for an address that the cache does not hold. */
static const struct rule_cache_entry *resolve(struct unwinder *unwinder, remote_addr address,
					      bool pc_is_exact)
{
	const struct module *module = module_find(unwinder->modules, address);
	struct rule_cache_entry entry = { .start = address, .size = 1, .module = module };
	bool pc_has_cfi = false;
	struct eh_frame_fde fde;

	if (!module) {
		if (!pc_is_exact && is_known_place(unwinder, address) &&
		    take_epilogue(unwinder, address + 1, &entry))
			return rule_cache_insert(&unwinder->cache, address, &entry);
		/* Not cached: random words must not push out what is in use. */
		unwinder->unknown = entry;
		return &unwinder->unknown;
	}
	unwinder->counters.rule_misses++;
	if (fde_table_find(unwinder->fdes, module, address, &fde) == 0) {
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
	return rule_cache_insert(&unwinder->cache, address, &entry);
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
 * Where the frame pointer is saved; 0: nowhere. GCC's epilogues leave the rule
 * for rbp as it was after popping it: a slot that is no longer, or not at all,
 * in the frame means that rbp is the caller's already.
 */
static remote_addr rbp_slot(const struct walk *walk, struct cfi_rule rule, remote_addr cfa)
{
	remote_addr slot =
		(rule.rbp == CFI_RBP_AT_CFA ? cfa : walk->rbp) + (uint64_t)(int64_t)rule.rbp_offset;

	return rule.rbp != CFI_RBP_SAME && slot >= walk->sp && slot < cfa ? slot : 0;
}

/*
 * The step from the frame at address by its rule. Returns UNWIND_COMPLETE when
 * it is found, which for CFI_RULE_SIGNAL is not asked for here. step's module
 * and function are set in every case.
 */
static enum unwind_end find_step(struct unwinder *unwinder, struct walk *walk, remote_addr address,
				 struct stack_step *step, uint8_t *ret_kind)
{
	const struct rule_cache_entry *entry = rule_cache_find(&unwinder->cache, address);
	struct cfi_rule rule;
	enum unwind_end end;

	if (!entry)
		entry = resolve(unwinder, address, walk->pc_is_exact);
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
		end = find_cfa(unwinder, walk, rule, &step->cfa);
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
static int restore_caller(struct unwinder *unwinder, struct walk *walk,
			  const struct stack_step *step)
{
	int error = stack_view_read_u64(&unwinder->view, step->cfa - 8, &walk->pc);

	if (!error && step->rbp_slot)
		error = stack_view_read_u64(&unwinder->view, step->rbp_slot, &walk->rbp);
	if (error)
		return error;
	walk->sp = step->cfa;
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
		struct native_frame *frame = &frames[*count];
		enum unwind_end end = UNWIND_COMPLETE;
		uint8_t kind = CFI_RULE_REGISTER;
		const struct stack_step *step = NULL;
		struct stack_step found;
		bool is_wanted;

		if (walk->memo && !walk->pc_is_exact)
			step = stack_memo_find(walk->memo, walk->pc, walk->sp, walk->rbp);
		if (!step) {
			end = find_step(unwinder, walk, address, &found, &kind);
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
			if (leave_signal_frame(unwinder, walk))
				return UNWIND_STACK_MISSING;
			frame->cfa = walk->sp;
			walk->memo = NULL; /* the handler may have had a stack of its own */
		} else if (!is_wanted && restore_caller(unwinder, walk, step)) {
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
	size_t count = 0;

	rbps[count++] = walk->rbp;
	for (remote_addr address = slot; address - walk->sp >= 8 && count < SCAN_RBP_MAX &&
					 slot - address < 8 * SCAN_RBP_WORDS;) {
		uint64_t value;

		address -= 8;
		if (stack_view_peek(&unwinder->view, address, &value, sizeof(value)))
			break;
		if (value > slot && value - slot < SCAN_RBP_REACH)
			rbps[count++] = value;
	}
	return count;
}

/*
 * Whether a call goes straight to the start of a function with unwind
 * information that is not the one given (0: any such function is another).
 */
static bool calls_another(const struct unwinder *unwinder, remote_addr return_address,
			  remote_addr function)
{
	const struct module *module = module_find(unwinder->modules, return_address - 1);
	struct eh_frame_fde fde;
	remote_addr target;

	if (!module || stack_scan_call_target(module, return_address, &target) ||
	    target == function || !address_range_contains(module->range, target) ||
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

/* A guess: that the code without unwind information returns to pc, with this rbp. */
struct guess {
	remote_addr slot; /* where pc lies on the stack */
	remote_addr pc;
	remote_addr rbp;
};

/* How many frames there are with those from guess on; 0: it leads to no thread's start. */
static size_t walk_guess(struct unwinder *unwinder, struct guess guess, struct native_frame *frames,
			 size_t maximum, size_t count, size_t *steps)
{
	struct walk walk = {
		.pc = guess.pc,
		.sp = guess.slot + 8,
		.rbp = guess.rbp,
		.flags = NATIVE_FRAME_GUESSED,
	};
	size_t reached = count;

	/* A return address of 0 proves nothing here: the last frame must say that it is one. */
	(void)walk_frames(unwinder, &walk, NULL, frames, maximum, &reached);
	*steps += reached - count;
	return walk.is_at_start ? reached : 0;
}

/* The same for each rbp that it may be. One is better whose caller has called this function. */
static size_t try_rbps(struct unwinder *unwinder, const struct walk *stuck, struct guess guess,
		       struct native_frame *frames, size_t maximum, size_t count, size_t *steps)
{
	remote_addr rbps[SCAN_RBP_MAX];
	size_t rbp_count = rbp_candidates(unwinder, stuck, guess.slot, rbps);
	size_t doubtful = rbp_count;

	for (size_t i = 0; i < rbp_count; i++) {
		size_t reached;

		guess.rbp = rbps[i];
		reached = walk_guess(unwinder, guess, frames, maximum, count, steps);
		if (!reached)
			continue;
		if (reached == count + 1 ||
		    !calls_another(unwinder, frames[count + 1].pc, frames[count].function))
			return reached;
		if (doubtful == rbp_count)
			doubtful = i;
	}
	/* A function that was jumped to has not been called by its caller. */
	if (doubtful == rbp_count)
		return 0;
	guess.rbp = rbps[doubtful];
	return walk_guess(unwinder, guess, frames, maximum, count, steps);
}

/*
 * The last frame found has no unwind information. Goes on from the first word
 * above its stack pointer that looks like a return address and from which the
 * walk reaches the thread's start. Returns end_of_walk, and adds no frame, if
 * none does.
 */
static enum unwind_end scan(struct unwinder *unwinder, const struct walk *stuck,
			    enum unwind_end end_of_walk, const struct address_ranges *until,
			    struct native_frame *frames, size_t maximum, size_t *count)
{
	remote_addr address = (stuck->sp + 7) & ~(remote_addr)7;
	remote_addr end = address + SCAN_BYTES_MAX;
	size_t steps = 0;

	unwinder->counters.scans++;
	for (size_t tried = 0; tried < SCAN_CANDIDATES_MAX && steps < SCAN_STEPS_MAX; tried++) {
		struct guess guess = { 0 };
		size_t reached = 0;

		if (stack_scan_next(unwinder->modules, &unwinder->view, address, end, &guess.slot,
				    &guess.pc))
			break;
		/* A call to code with unwind information did not lead into code without. */
		if (!calls_another(unwinder, guess.pc, 0))
			reached = try_rbps(unwinder, stuck, guess, frames, maximum, *count, &steps);
		if (reached) {
			frames[*count - 1].cfa = guess.slot + 8;
			*count = reached;
			return cut_at(until, frames, count);
		}
		address = guess.slot + 8;
	}
	unwinder->counters.scans_failed++;
	return end_of_walk;
}

/*
 * Whether code in no module is generated code, not a library that the module
 * table does not know yet: the caller has been told of the place before, and
 * the map as it was then, or is now, has no file there.
 */
static bool is_generated_code(struct unwinder *unwinder, remote_addr address)
{
	uint64_t place = address >> UNKNOWN_PLACE_BITS;
	bool is_known = is_known_place(unwinder, address);

	unwinder->unknown_places[place % UNKNOWN_PLACES] = place;
	return is_known;
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
	stack_memo_begin(&unwinder->memo, registers->fs_base);
	walk.memo = &unwinder->memo;
	end = walk_frames(unwinder, &walk, until, frames, maximum, &count);
	stack_memo_end(&unwinder->memo);
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
	} else if (end == UNWIND_NO_CFI ||
		   (end == UNWIND_NO_MODULE && is_generated_code(unwinder, walk.pc))) {
		end = scan(unwinder, &walk, end, until, frames, maximum, &count);
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
