/* SPDX-License-Identifier: Apache-2.0 */
/* What is asked of a module's DWARF: lines and functions of a range of addresses, and layouts. */
#ifndef PIEPROFD_TESTS_FUZZ_READ_DWARF_H
#define PIEPROFD_TESTS_FUZZ_READ_DWARF_H

#include "symbolize/line_info.h"
#include "symbolize/struct_layout.h"
#include "tests/fuzz/fuzz.h"

/* Each text is read to its end. */
static void read_lines(const struct module *module, const struct debug_search *search,
		       remote_addr start, remote_addr end)
{
	struct line_info *info = line_info_create(search);
	struct line_frame frames[8];
	size_t count;

	fuzz_must(info);
	for (remote_addr at = start; at < end; at += 3) {
		if (line_info_find(info, module, at, frames, 8, &count) != 0)
			continue;
		fuzz_must(count >= 1 && count <= 8);
		for (size_t i = 0; i < count; i++) {
			fuzz_read_string(frames[i].function);
			fuzz_read_string(frames[i].file);
		}
	}
	line_info_destroy(info);
}

/* Of the seeds' structures. search: NULL, or where debug files are looked for. */
static void read_layouts(const struct module *module, const struct debug_search *search)
{
	static const char *const types[] = { "state", "state_t", "frame", "values", "missing" };
	static const char *const members[] = { "next",   "inner.value", "frame.list.next",
					       "hidden", "list.next",   "inner" };
	struct symbolizer *symbolizer = symbolizer_create();
	struct struct_layout *layout = symbolizer ? struct_layout_create(symbolizer, module) : NULL;
	struct debug_info info;
	remote_addr address;
	uint32_t number;
	uint64_t size;

	fuzz_must(layout);
	if (search)
		symbolizer_set_search(symbolizer, search);
	info = struct_layout_debug_info(layout);
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		(void)info.type_size(info.context, types[i], &number);
		for (size_t k = 0; k < sizeof(members) / sizeof(members[0]); k++)
			if (info.member_offset(info.context, types[i], members[k], &number) == 0)
				fuzz_must(number <= INT32_MAX);
	}
	(void)info.section(info.context, ".text", &address, &size);
	struct_layout_destroy(layout);
	symbolizer_destroy(symbolizer);
}

#endif
