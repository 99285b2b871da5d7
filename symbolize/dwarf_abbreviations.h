/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What libdw keeps of abbreviations: a unit's own table, up to the abbreviation that an entry has,
 * also where all units name the same one. libdw has no limit for that, so the tables are counted
 * when a file is opened, those of all units, whichever will be asked for.
 */
#ifndef PIEPROFD_SYMBOLIZE_DWARF_ABBREVIATIONS_H
#define PIEPROFD_SYMBOLIZE_DWARF_ABBREVIATIONS_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of all files open at a time: 5 million abbreviations. */
#define DWARF_ABBREVIATIONS_MAX_BYTES (512ull << 20)
/* libdw 0.188 has 24 for each, and 16 for each slot of a hash table, of which there are two while
 * it grows. The bytes in the file count as well, for the time that they take. */
#define DWARF_ABBREVIATION_BYTES 80

#define DWARF_TABLES_REMEMBERED 64

/* Tables that were counted, by their place: many units name the same one. */
struct dwarf_abbreviations {
	const Elf_Data *section; /* borrowed from libelf; NULL: none */
	struct {
		uint64_t offset;
		uint64_t bytes; /* 0: nothing remembered */
	} tables[DWARF_TABLES_REMEMBERED];
	uint64_t taken;
};

/* 0, or -EEXIST, see dwarf_section_find(). */
__attribute__((warn_unused_result)) int dwarf_abbreviations_init(
	struct dwarf_abbreviations *abbreviations, Dwarf *dwarf);

/*
 * Once for each unit: 0; -ENODATA, there is no table at offset, or it is broken; -E2BIG, there
 * would be more than DWARF_ABBREVIATIONS_MAX_BYTES.
 */
__attribute__((warn_unused_result)) int dwarf_abbreviations_take(
	struct dwarf_abbreviations *abbreviations, uint64_t offset);
/* When libdw has closed the file. */
void dwarf_abbreviations_give_back(uint64_t *taken);

#endif
