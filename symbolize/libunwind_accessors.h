/* SPDX-License-Identifier: Apache-2.0 */
/* What every user of libunwind here refuses it: it has no business in the target but reading. */
#ifndef PIEPROFD_SYMBOLIZE_LIBUNWIND_ACCESSORS_H
#define PIEPROFD_SYMBOLIZE_LIBUNWIND_ACCESSORS_H

#include "symbolize/eh_frame.h"

#include <libunwind-x86_64.h>

/* Accessors that refuse: code registered at run time, vector registers, resuming, names. */
unw_accessors_t libunwind_accessors_refusing(void);

/*
 * A search table of one entry, the one that was found: libunwind reads it and
 * the FDE through the accessors, and so opens and maps no file by itself.
 */
struct libunwind_shown {
	uint64_t table; /* {function, FDE}, two 32-bit offsets */
};

/* Finds a procedure by its FDE, as the accessor find_proc_info does. */
int libunwind_show(struct libunwind_shown *shown, const struct eh_frame_fde *fde, uint64_t bias,
		   unw_addr_space_t address_space, unw_word_t address, unw_proc_info_t *ret_info,
		   int need_unwind_info, void *argument);

/* Whether libunwind asks for the table; then *ret_value is it. */
bool libunwind_shown_word(const struct libunwind_shown *shown, unw_word_t address,
			  unw_word_t *ret_value);

/* The accessor put_unwind_info, for procedures that were shown. */
void libunwind_put_shown(unw_addr_space_t address_space, unw_proc_info_t *info, void *argument);

#endif
