/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolize/libunwind_accessors.h"

static int get_dyn_info_list_addr(unw_addr_space_t address_space, unw_word_t *ret_address,
				  void *argument)
{
	(void)address_space;
	(void)ret_address;
	(void)argument;
	return -UNW_ENOINFO;
}

static int access_fpreg(unw_addr_space_t address_space, unw_regnum_t number, unw_fpreg_t *value,
			int write, void *argument)
{
	(void)address_space;
	(void)number;
	(void)value;
	(void)write;
	(void)argument;
	return -UNW_EBADREG;
}

static int resume(unw_addr_space_t address_space, unw_cursor_t *cursor, void *argument)
{
	(void)address_space;
	(void)cursor;
	(void)argument;
	return -UNW_EINVAL;
}

static int get_proc_name(unw_addr_space_t address_space, unw_word_t address, char *buffer,
			 size_t size, unw_word_t *ret_offset, void *argument)
{
	(void)address_space;
	(void)address;
	(void)buffer;
	(void)size;
	(void)ret_offset;
	(void)argument;
	return -UNW_ENOINFO;
}

unw_accessors_t libunwind_accessors_refusing(void)
{
	return (unw_accessors_t){
		.get_dyn_info_list_addr = get_dyn_info_list_addr,
		.access_fpreg = access_fpreg,
		.resume = resume,
		.get_proc_name = get_proc_name,
	};
}
