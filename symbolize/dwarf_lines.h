/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What libdw makes room for when it is asked for the lines or the files of a
 * unit: 104 bytes for a row, which one byte of the line program may make, and
 * for every file a name with its folder's before it, which may be long and
 * named by all. libdw has no limit for either, so the table is counted first.
 *
 * The counting goes by the rules of libdw 0.188, and refuses what libdw would
 * not understand, or might in another way: lines are missing there.
 */
#ifndef PIEPROFD_SYMBOLIZE_DWARF_LINES_H
#define PIEPROFD_SYMBOLIZE_DWARF_LINES_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of all units that this process has lines of at a time: 5 million rows. */
#define DWARF_LINES_MAX_BYTES (512ull << 20)
#define DWARF_LINES_ROW_BYTES 104 /* 64 of them only while the unit is read */

/* The sections of one file that tables of lines are made of; borrowed from libelf. */
struct dwarf_lines {
	const Elf_Data *programs; /* NULL: none */
	const Elf_Data *line_strings;
	const Elf_Data *strings;
	bool is_ambiguous; /* two of a kind: libdw's choice is not known */
	uint64_t taken;
};

void dwarf_lines_init(struct dwarf_lines *lines, Dwarf *dwarf);

/*
 * Once for each unit, before libdw is asked: 0; -ENODATA, there are none, or
 * they are broken; -E2BIG, they would be more than DWARF_LINES_MAX_BYTES, and
 * take nothing.
 */
__attribute__((warn_unused_result)) int dwarf_lines_take(struct dwarf_lines *lines,
							 Dwarf_Die *unit);
/* When libdw has closed the file. */
void dwarf_lines_give_back(struct dwarf_lines *lines);

#endif
