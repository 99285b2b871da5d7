/* SPDX-License-Identifier: Apache-2.0 */
/* The members of a struct, as the debugging information of this very program has them. */
#ifndef PIEPROFD_UNIT_STRUCT_MEMBERS_H
#define PIEPROFD_UNIT_STRUCT_MEMBERS_H

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static inline bool find_in_unit(Dwarf_Die *unit, const char *name, size_t size, Dwarf_Die *ret_die)
{
	Dwarf_Die die;

	if (dwarf_child(unit, &die))
		return false;
	do {
		const char *found = dwarf_diename(&die);

		if (dwarf_tag(&die) == DW_TAG_structure_type && found && !strcmp(found, name) &&
		    dwarf_bytesize(&die) == (int)size) {
			*ret_die = die;
			return true;
		}
	} while (!dwarf_siblingof(&die, &die));
	return false;
}

static inline void find_struct(Dwarf *dwarf, const char *name, size_t size, Dwarf_Die *ret_die)
{
	Dwarf_Off offset = 0, next;
	size_t header;

	while (!dwarf_nextcu(dwarf, offset, &next, &header, NULL, NULL, NULL)) {
		Dwarf_Die unit;

		if (dwarf_offdie(dwarf, offset + header, &unit) &&
		    find_in_unit(&unit, name, size, ret_die))
			return;
		offset = next;
	}
	fail_msg("there is no struct %s", name);
}

static inline bool type_of(Dwarf_Die *die, Dwarf_Die *ret_type)
{
	Dwarf_Attribute attribute;

	return dwarf_attr_integrate(die, DW_AT_type, &attribute) &&
	       dwarf_formref_die(&attribute, ret_type) && !dwarf_peel_type(ret_type, ret_type);
}

/* Is it a uint64_t, or are there only such in it? */
static inline bool is_words(Dwarf_Die *type)
{
	Dwarf_Attribute attribute;
	Dwarf_Word encoding;
	Dwarf_Die inner;

	switch (dwarf_tag(type)) {
	case DW_TAG_base_type:
		return dwarf_bytesize(type) == 8 && dwarf_attr(type, DW_AT_encoding, &attribute) &&
		       !dwarf_formudata(&attribute, &encoding) && encoding == DW_ATE_unsigned;
	case DW_TAG_array_type:
		return type_of(type, &inner) && is_words(&inner);
	case DW_TAG_structure_type:
		if (dwarf_child(type, &inner))
			return false;
		do {
			Dwarf_Die member;

			if (dwarf_tag(&inner) == DW_TAG_member &&
			    (!type_of(&inner, &member) || !is_words(&member)))
				return false;
		} while (!dwarf_siblingof(&inner, &inner));
		return true;
	default:
		return false;
	}
}

/* To be given back with dwarf_end() and close(). */
static inline Dwarf *open_own_debug_info(int *ret_fd)
{
	Dwarf *dwarf;

	*ret_fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	dwarf = dwarf_begin(*ret_fd, DWARF_C_READ);
	assert_non_null(dwarf);
	return dwarf;
}

#endif
