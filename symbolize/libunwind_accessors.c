/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolize/libunwind_accessors.h"

/*
 * Exported by libunwind and used by every debugger that brings its own
 * find_proc_info, but declared in none of its installed headers.
 */
int _Ux86_64_dwarf_search_unwind_table(unw_addr_space_t, unw_word_t, unw_dyn_info_t *,
				       unw_proc_info_t *, int, void *);

/* Where no process has memory. */
#define SHOWN_TABLE_ADDRESS (~(unw_word_t)0 - 15)

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

static int refuse_resume(unw_addr_space_t address_space, unw_cursor_t *cursor, void *argument)
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
		.resume = refuse_resume,
		.get_proc_name = get_proc_name,
	};
}

int libunwind_show(struct libunwind_shown *shown, const struct eh_frame_fde *fde, uint64_t bias,
		   unw_addr_space_t address_space, unw_word_t address, unw_proc_info_t *ret_info,
		   int need_unwind_info, void *argument)
{
	unw_dyn_info_t table = { .format = UNW_INFO_FORMAT_REMOTE_TABLE };
	/* Offsets count from the FDE itself. */
	int64_t function_offset = (int64_t)(fde->start - fde->address);

	if (function_offset != (int32_t)function_offset)
		return -UNW_ENOINFO;
	shown->table = (uint32_t)function_offset;
	table.start_ip = fde->start + bias;
	table.end_ip = fde->end + bias;
	table.u.rti.segbase = fde->address + bias;
	table.u.rti.table_data = SHOWN_TABLE_ADDRESS;
	table.u.rti.table_len = 1;
	return _Ux86_64_dwarf_search_unwind_table(address_space, address, &table, ret_info,
						  need_unwind_info, argument);
}

bool libunwind_shown_word(const struct libunwind_shown *shown, unw_word_t address,
			  unw_word_t *ret_value)
{
	if (address != SHOWN_TABLE_ADDRESS)
		return false;
	*ret_value = shown->table;
	return true;
}

void libunwind_put_shown(unw_addr_space_t address_space, unw_proc_info_t *info, void *argument)
{
	(void)address_space;
	(void)info;
	(void)argument;
}
