/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libunwind's own ptrace accessors for memory and registers, each behind one
 * of ours: so that nothing is ever written, reads are counted, and a look-up
 * that failed is noticed (libunwind then guesses and says nothing). Its own
 * way to find a procedure opens and maps the module's file once more, which
 * may be another by now or be truncated while it reads: it is shown the FDE
 * that we have found.
 *
 * With rules cached by address a stack takes a tenth of the time. The price is
 * that libunwind 1.6 takes an address reached by a call and by a signal or a
 * stop for the same place, which differ where a call is a block's last
 * instruction.
 */
#include "symbolize/unwinder_live.h"

#include "symbolize/cfi.h"
#include "symbolize/fde_table.h"
#include "symbolize/libunwind_accessors.h"

#include <libunwind-ptrace.h>
#include <stdlib.h>

/*
 * Reads of one unwind, at about a microsecond each. libunwind reads call frame
 * programs byte by byte, some hundred a frame not cached yet; an expression
 * that loops for ever ends here.
 */
#define MEMORY_ACCESSES_MAX (1u << 14)

struct unwinder_live {
	const struct module_table *modules;
	struct fde_table *fdes;
	unw_addr_space_t address_space;

	/* Of the unwind under way. */
	void *ptrace_argument; /* what _UPT_create() returned */
	unsigned int accesses_left;
	struct libunwind_shown shown;
	enum unwind_end missing; /* why the last procedure was not found, or UNWIND_COMPLETE */
	bool memory_missing;
};

static int find_live_info(unw_addr_space_t address_space, unw_word_t address,
			  unw_proc_info_t *ret_info, int need_unwind_info, void *argument)
{
	struct unwinder_live *unwinder = argument;
	const struct module *module = module_find(unwinder->modules, address);
	struct eh_frame_fde fde;
	int error;

	if (!module) {
		unwinder->missing = UNWIND_NO_MODULE;
		return -UNW_ENOINFO;
	}
	error = fde_table_find(unwinder->fdes, module, address, &fde) == 0 &&
				cfi_is_safe_for_libunwind(&fde)
			? libunwind_show(&unwinder->shown, &fde, module->bias, address_space,
					 address, ret_info, need_unwind_info, argument)
			: -UNW_ENOINFO;
	if (error < 0)
		unwinder->missing = UNWIND_NO_CFI;
	return error;
}

static int access_live_memory(unw_addr_space_t address_space, unw_word_t address, unw_word_t *value,
			      int write, void *argument)
{
	struct unwinder_live *unwinder = argument;
	int error;

	if (write || unwinder->accesses_left == 0)
		return -UNW_EINVAL;
	unwinder->accesses_left--;
	if (libunwind_shown_word(&unwinder->shown, address, value))
		return 0;
	error = _UPT_access_mem(address_space, address, value, 0, unwinder->ptrace_argument);
	if (error < 0)
		unwinder->memory_missing = true;
	return error;
}

static int access_live_register(unw_addr_space_t address_space, unw_regnum_t number,
				unw_word_t *value, int write, void *argument)
{
	struct unwinder_live *unwinder = argument;
	int error;

	if (write)
		return -UNW_EREADONLYREG;
	error = _UPT_access_reg(address_space, number, value, 0, unwinder->ptrace_argument);
	if (error < 0)
		unwinder->memory_missing = true;
	return error;
}

struct unwinder_live *unwinder_live_create(const struct module_table *modules)
{
	/* Not const in libunwind's interface; it copies them. */
	unw_accessors_t accessors = libunwind_accessors_refusing();
	struct unwinder_live *unwinder = calloc(1, sizeof(*unwinder));

	if (!unwinder)
		return NULL;
	accessors.find_proc_info = find_live_info;
	accessors.put_unwind_info = libunwind_put_shown;
	accessors.access_mem = access_live_memory;
	accessors.access_reg = access_live_register;
	unwinder->modules = modules;
	unwinder->fdes = fde_table_create(modules);
	unwinder->address_space = unw_create_addr_space(&accessors, 0);
	if (!unwinder->fdes || !unwinder->address_space) {
		unwinder_live_destroy(unwinder);
		return NULL;
	}
	(void)unw_set_caching_policy(unwinder->address_space, UNW_CACHE_GLOBAL);
	return unwinder;
}

void unwinder_live_destroy(struct unwinder_live *unwinder)
{
	if (!unwinder)
		return;
	if (unwinder->address_space)
		unw_destroy_addr_space(unwinder->address_space);
	fde_table_destroy(unwinder->fdes);
	free(unwinder);
}

void unwinder_live_flush(struct unwinder_live *unwinder)
{
	unw_flush_cache(unwinder->address_space, 0, 0);
	fde_table_prepare(unwinder->fdes);
}

/* The frame that the cursor is at. */
static struct native_frame frame_at(const struct unwinder_live *unwinder, unw_cursor_t *cursor,
				    bool innermost, uint32_t flags)
{
	struct native_frame frame = { .flags = flags };
	unw_word_t pc = 0, sp = 0;
	struct eh_frame_fde fde;
	remote_addr address;

	(void)unw_get_reg(cursor, UNW_REG_IP, &pc);
	(void)unw_get_reg(cursor, UNW_REG_SP, &sp);
	frame.pc = pc;
	frame.sp = sp;
	address = native_frame_lookup_address(&frame, innermost);
	frame.module = module_find(unwinder->modules, address);
	/* unw_get_proc_info() does not look into the cache: it would read the FDE again. */
	if (frame.module && fde_table_find(unwinder->fdes, frame.module, address, &fde) == 0)
		frame.function = fde.start + frame.module->bias;
	return frame;
}

/* Why a step led nowhere. */
static enum unwind_end live_end(const struct unwinder_live *unwinder, int step)
{
	if (unwinder->missing != UNWIND_COMPLETE)
		return unwinder->missing;
	if (step == 0)
		return UNWIND_COMPLETE;
	return unwinder->memory_missing ? UNWIND_STACK_MISSING : UNWIND_CORRUPT;
}

/*
 * Appends frames from the cursor on. *ret_known of them come before the first
 * guess, and *ret_guess is why that one was made.
 */
static enum unwind_end walk_frames(struct unwinder_live *unwinder, unw_cursor_t *cursor,
				   const struct address_ranges *until, struct native_frame *frames,
				   size_t maximum, size_t *ret_count, size_t *ret_known,
				   enum unwind_end *ret_guess)
{
	bool is_guess = false;
	uint32_t flags = 0;
	size_t count = 0;

	while (count < maximum) {
		struct native_frame *frame = &frames[count];
		unw_word_t caller_pc = 0, caller_sp = 0;
		bool is_signal_frame, is_wanted;
		int step;

		*frame = frame_at(unwinder, cursor, count == 0, flags);
		is_wanted = until && address_ranges_contain(
					     until, native_frame_lookup_address(frame, count == 0));
		*ret_count = ++count;
		if (!is_guess)
			*ret_known = count;

		is_signal_frame = unw_is_signal_frame(cursor) > 0;
		unwinder->missing = UNWIND_COMPLETE;
		unwinder->memory_missing = false;
		step = unw_step(cursor);
		/* The function asked for is one with unwind information. */
		if (step <= 0 || (is_wanted && unwinder->missing != UNWIND_COMPLETE)) {
			enum unwind_end end = live_end(unwinder, step);

			return is_wanted && end == UNWIND_COMPLETE ? UNWIND_STOPPED : end;
		}
		(void)unw_get_reg(cursor, UNW_REG_SP, &caller_sp);
		/* A signal handler may have a stack of its own. */
		if (!is_signal_frame && caller_sp <= frame->sp)
			return UNWIND_CORRUPT;
		frame->cfa = caller_sp;
		if (is_wanted)
			return UNWIND_STOPPED;
		(void)unw_get_reg(cursor, UNW_REG_IP, &caller_pc);
		if (caller_pc == 0)
			return unwinder->missing;
		flags = is_signal_frame ? NATIVE_FRAME_SIGNAL : 0;
		/* Signal frames are known by their code, where no CFI describes them. */
		if (unwinder->missing != UNWIND_COMPLETE && !is_signal_frame) {
			flags = NATIVE_FRAME_GUESSED;
			if (!is_guess)
				*ret_guess = unwinder->missing;
			is_guess = true;
		}
	}
	return UNWIND_TOO_DEEP;
}

/* Whether a frame's CFI says that it has no caller: a return address of 0 proves nothing. */
static bool is_at_start(const struct unwinder_live *unwinder, const struct native_frame *frame)
{
	remote_addr address = native_frame_lookup_address(frame, false);
	struct eh_frame_fde fde;

	return frame->module && fde_table_find(unwinder->fdes, frame->module, address, &fde) == 0 &&
	       cfi_rule_at(&fde, address - frame->module->bias).kind == CFI_RULE_END;
}

enum unwind_end unwinder_live_unwind(struct unwinder_live *unwinder, pid_t tid,
				     const struct address_ranges *until,
				     struct native_frame *frames, size_t maximum, size_t *ret_count)
{
	enum unwind_end end = UNWIND_STACK_MISSING, guess = UNWIND_COMPLETE;
	size_t count = 0, known = 0;
	unw_cursor_t cursor;

	unwinder->ptrace_argument = _UPT_create(tid);
	unwinder->accesses_left = MEMORY_ACCESSES_MAX;
	if (unwinder->ptrace_argument &&
	    unw_init_remote(&cursor, unwinder->address_space, unwinder) == 0)
		end = walk_frames(unwinder, &cursor, until, frames, maximum, &count, &known,
				  &guess);
	if (unwinder->ptrace_argument)
		_UPT_destroy(unwinder->ptrace_argument);
	unwinder->ptrace_argument = NULL;
	if (guess != UNWIND_COMPLETE && end != UNWIND_STOPPED &&
	    !(end == UNWIND_COMPLETE && is_at_start(unwinder, &frames[count - 1]))) {
		frames[known - 1].cfa = 0;
		count = known;
		end = guess;
	}
	*ret_count = count;
	return end;
}
