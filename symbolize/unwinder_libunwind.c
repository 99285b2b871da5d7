/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolize/unwinder_libunwind.h"

#include "symbolize/cfi.h"
#include "symbolize/libunwind_accessors.h"

#include <stdlib.h>

/*
 * Words libunwind may ask for in one unwind. It reads programs byte by byte,
 * each with one request: 1,000 a frame. An expression that loops for ever ends
 * here.
 */
#define MEMORY_ACCESSES_MAX (1u << 20)

struct unwinder_libunwind {
	const struct module_table *modules;
	const struct fde_table *fdes;
	unw_addr_space_t address_space;

	/* Of the unwind under way. */
	const struct registers *registers;
	struct stack_view *view;
	unsigned int accesses_left;
	struct libunwind_shown shown;
	enum unwind_end missing; /* why a procedure was not found; UNWIND_COMPLETE: all were */
	bool stack_missing;
};

static int find_kept_info(unw_addr_space_t address_space, unw_word_t address,
			  unw_proc_info_t *ret_info, int need_unwind_info, void *argument)
{
	struct unwinder_libunwind *unwinder = argument;
	const struct module *module = module_find(unwinder->modules, address);
	struct eh_frame_fde fde;
	int error;

	if (!module || fde_table_find(unwinder->fdes, module, address, &fde) ||
	    !cfi_is_safe_for_libunwind(&fde)) {
		unwinder->missing = module ? UNWIND_NO_CFI : UNWIND_NO_MODULE;
		return -UNW_ENOINFO;
	}
	error = libunwind_show(&unwinder->shown, &fde, module->bias, address_space, address,
			       ret_info, need_unwind_info, argument);
	if (error == -UNW_ENOINFO)
		unwinder->missing = UNWIND_NO_CFI;
	return error;
}

/* A word of a module's file; what lies behind the file's end reads as 0. */
static bool read_module_word(const struct unwinder_libunwind *unwinder, remote_addr address,
			     unw_word_t *ret_value)
{
	const struct module *module = module_find(unwinder->modules, address);
	const uint8_t *bytes;
	size_t available;
	unw_word_t value = 0;

	if (!module || !module->image)
		return false;
	bytes = elf_image_at(module->image, address - module->bias, &available);
	if (!bytes)
		return false;
	memcpy(&value, bytes, available < sizeof(value) ? available : sizeof(value));
	*ret_value = value;
	return true;
}

static int access_view(unw_addr_space_t address_space, unw_word_t address, unw_word_t *value,
		       int write, void *argument)
{
	struct unwinder_libunwind *unwinder = argument;

	(void)address_space;
	if (write || unwinder->accesses_left == 0)
		return -UNW_EINVAL;
	unwinder->accesses_left--;
	if (libunwind_shown_word(&unwinder->shown, address, value))
		return 0;
	if (stack_view_peek(unwinder->view, address, value, sizeof(*value)) == 0)
		return 0;
	/* Tables and code; data may differ from the file, but no rule ever reads any. */
	if (read_module_word(unwinder, address, value))
		return 0;
	if (stack_view_fetch(unwinder->view, address, value, sizeof(*value)) == 0)
		return 0;
	unwinder->stack_missing = true;
	return -UNW_EINVAL;
}

static int access_kept_register(unw_addr_space_t address_space, unw_regnum_t number,
				unw_word_t *value, int write, void *argument)
{
	static const uint8_t register_of_number[] = {
		[UNW_X86_64_RAX] = REGISTER_RAX, [UNW_X86_64_RDX] = REGISTER_RDX,
		[UNW_X86_64_RCX] = REGISTER_RCX, [UNW_X86_64_RBX] = REGISTER_RBX,
		[UNW_X86_64_RSI] = REGISTER_RSI, [UNW_X86_64_RDI] = REGISTER_RDI,
		[UNW_X86_64_RBP] = REGISTER_RBP, [UNW_X86_64_RSP] = REGISTER_RSP,
		[UNW_X86_64_R8] = REGISTER_R8,   [UNW_X86_64_R9] = REGISTER_R9,
		[UNW_X86_64_R10] = REGISTER_R10, [UNW_X86_64_R11] = REGISTER_R11,
		[UNW_X86_64_R12] = REGISTER_R12, [UNW_X86_64_R13] = REGISTER_R13,
		[UNW_X86_64_R14] = REGISTER_R14, [UNW_X86_64_R15] = REGISTER_R15,
	};
	const struct unwinder_libunwind *unwinder = argument;

	(void)address_space;
	if (write)
		return -UNW_EREADONLYREG;
	if (number == UNW_X86_64_RIP)
		*value = unwinder->registers->rip;
	else if (number >= UNW_X86_64_RAX && number <= UNW_X86_64_R15)
		*value = unwinder->registers->general[register_of_number[number]];
	else
		return -UNW_EBADREG;
	return 0;
}

struct unwinder_libunwind *unwinder_libunwind_create(const struct module_table *modules,
						     const struct fde_table *fdes, bool with_cache)
{
	/* Not const in libunwind's interface; it copies them. */
	unw_accessors_t accessors = libunwind_accessors_refusing();
	struct unwinder_libunwind *unwinder = calloc(1, sizeof(*unwinder));

	if (!unwinder)
		return NULL;
	accessors.find_proc_info = find_kept_info;
	accessors.put_unwind_info = libunwind_put_shown;
	accessors.access_mem = access_view;
	accessors.access_reg = access_kept_register;
	unwinder->modules = modules;
	unwinder->fdes = fdes;
	unwinder->address_space = unw_create_addr_space(&accessors, 0);
	if (!unwinder->address_space) {
		free(unwinder);
		return NULL;
	}
	(void)unw_set_caching_policy(unwinder->address_space,
				     with_cache ? UNW_CACHE_GLOBAL : UNW_CACHE_NONE);
	return unwinder;
}

void unwinder_libunwind_destroy(struct unwinder_libunwind *unwinder)
{
	if (!unwinder)
		return;
	unw_destroy_addr_space(unwinder->address_space);
	free(unwinder);
}

void unwinder_libunwind_flush(struct unwinder_libunwind *unwinder)
{
	unw_flush_cache(unwinder->address_space, 0, 0);
}

/* Where a frame belongs, for what libunwind does not tell. */
static void describe_frame(const struct unwinder_libunwind *unwinder, struct native_frame *frame,
			   bool innermost)
{
	remote_addr address = native_frame_lookup_address(frame, innermost);
	struct eh_frame_fde fde;

	frame->module = module_find(unwinder->modules, address);
	if (frame->module && !fde_table_find(unwinder->fdes, frame->module, address, &fde))
		frame->function = fde.start + frame->module->bias;
}

static enum unwind_end libunwind_end(const struct unwinder_libunwind *unwinder, int step)
{
	if (unwinder->missing != UNWIND_COMPLETE)
		return unwinder->missing;
	if (step == 0)
		return UNWIND_COMPLETE;
	return unwinder->stack_missing ? UNWIND_STACK_MISSING : UNWIND_CORRUPT;
}

enum unwind_end unwinder_libunwind_unwind(struct unwinder_libunwind *unwinder,
					  const struct registers *registers,
					  struct stack_view *view,
					  const struct address_ranges *until,
					  struct native_frame *frames, size_t maximum,
					  size_t *ret_count)
{
	enum unwind_end end = UNWIND_TOO_DEEP;
	bool interrupted = false;
	unw_cursor_t cursor;
	size_t count = 0;

	unwinder->registers = registers;
	unwinder->view = view;
	unwinder->accesses_left = MEMORY_ACCESSES_MAX;
	unwinder->missing = UNWIND_COMPLETE;
	unwinder->stack_missing = false;
	if (unw_init_remote(&cursor, unwinder->address_space, unwinder) < 0) {
		*ret_count = 0;
		return UNWIND_CORRUPT;
	}
	while (count < maximum) {
		struct native_frame *frame = &frames[count];
		unw_word_t pc = 0, sp = 0, caller_sp = 0;
		bool is_signal_frame, is_wanted;
		int step;

		(void)unw_get_reg(&cursor, UNW_REG_IP, &pc);
		(void)unw_get_reg(&cursor, UNW_REG_SP, &sp);
		if (pc == 0) {
			end = UNWIND_COMPLETE;
			break;
		}
		*frame = (struct native_frame){
			.pc = pc,
			.sp = sp,
			.flags = interrupted ? NATIVE_FRAME_SIGNAL : 0,
		};
		describe_frame(unwinder, frame, count == 0);
		is_wanted = until && address_ranges_contain(
					     until, native_frame_lookup_address(frame, count == 0));
		count++;
		is_signal_frame = unw_is_signal_frame(&cursor) > 0;
		step = unw_step(&cursor);
		/* After a look-up that failed, what step says is a guess. */
		if (step <= 0 || unwinder->missing != UNWIND_COMPLETE) {
			end = libunwind_end(unwinder, step);
			if (is_wanted && end == UNWIND_COMPLETE)
				end = UNWIND_STOPPED;
			break;
		}
		(void)unw_get_reg(&cursor, UNW_REG_SP, &caller_sp);
		if (!is_signal_frame && caller_sp <= sp) {
			end = UNWIND_CORRUPT;
			break;
		}
		frame->cfa = caller_sp;
		if (is_wanted) {
			end = UNWIND_STOPPED;
			break;
		}
		interrupted = is_signal_frame;
	}
	*ret_count = count;
	return end;
}
