/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolize/stack_guess.h"

#include "symbolize/stack_scan.h"

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

/* Words in [sp, slot) that could be the rbp which the code without CFI has saved. */
static size_t rbp_candidates(const struct stack_walker *walker, const struct stack_walk *walk,
			     remote_addr slot, remote_addr *rbps)
{
	size_t count = 0;

	rbps[count++] = walk->rbp;
	for (remote_addr address = slot; address - walk->sp >= 8 && count < SCAN_RBP_MAX &&
					 slot - address < 8 * SCAN_RBP_WORDS;) {
		uint64_t value;

		address -= 8;
		if (stack_view_peek(&walker->view, address, &value, sizeof(value)))
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
static bool calls_another(const struct stack_walker *walker, remote_addr return_address,
			  remote_addr function)
{
	const struct module *module = module_find(walker->modules, return_address - 1);
	struct eh_frame_fde fde;
	remote_addr target;

	if (!module || stack_scan_call_target(module, return_address, &target) ||
	    target == function || !address_range_contains(module->range, target) ||
	    fde_table_find(walker->fdes, module, target, &fde))
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
static size_t walk_guess(struct stack_walker *walker, struct guess guess,
			 struct native_frame *frames, size_t maximum, size_t count, size_t *steps)
{
	struct stack_walk walk = {
		.pc = guess.pc,
		.sp = guess.slot + 8,
		.rbp = guess.rbp,
		.flags = NATIVE_FRAME_GUESSED,
	};
	size_t reached = count;

	/* A return address of 0 proves nothing here: the last frame must say that it is one. */
	(void)stack_walk_frames(walker, &walk, NULL, frames, maximum, &reached);
	*steps += reached - count;
	return walk.is_at_start ? reached : 0;
}

/* The same for each rbp that it may be. One is better whose caller has called this function. */
static size_t try_rbps(struct stack_walker *walker, const struct stack_walk *stuck,
		       struct guess guess, struct native_frame *frames, size_t maximum,
		       size_t count, size_t *steps)
{
	remote_addr rbps[SCAN_RBP_MAX];
	size_t rbp_count = rbp_candidates(walker, stuck, guess.slot, rbps);
	size_t doubtful = rbp_count;

	for (size_t i = 0; i < rbp_count; i++) {
		size_t reached;

		guess.rbp = rbps[i];
		reached = walk_guess(walker, guess, frames, maximum, count, steps);
		if (!reached)
			continue;
		if (reached == count + 1 ||
		    !calls_another(walker, frames[count + 1].pc, frames[count].function))
			return reached;
		if (doubtful == rbp_count)
			doubtful = i;
	}
	/* A function that was jumped to has not been called by its caller. */
	if (doubtful == rbp_count)
		return 0;
	guess.rbp = rbps[doubtful];
	return walk_guess(walker, guess, frames, maximum, count, steps);
}

void stack_guess(struct stack_walker *walker, const struct stack_walk *stuck,
		 const struct address_ranges *until, struct native_frame *frames, size_t maximum,
		 size_t *count, enum unwind_end *ret_end)
{
	remote_addr address = (stuck->sp + 7) & ~(remote_addr)7;
	remote_addr end = address + SCAN_BYTES_MAX;
	size_t steps = 0;

	for (size_t tried = 0; tried < SCAN_CANDIDATES_MAX && steps < SCAN_STEPS_MAX; tried++) {
		struct guess guess = { 0 };
		size_t reached = 0;

		if (stack_scan_next(walker->modules, &walker->view, address, end, &guess.slot,
				    &guess.pc))
			break;
		/* A call to code with unwind information did not lead into code without. */
		if (!calls_another(walker, guess.pc, 0))
			reached = try_rbps(walker, stuck, guess, frames, maximum, *count, &steps);
		if (reached) {
			frames[*count - 1].cfa = guess.slot + 8;
			*count = reached;
			*ret_end = cut_at(until, frames, count);
			return;
		}
		address = guess.slot + 8;
	}
}
