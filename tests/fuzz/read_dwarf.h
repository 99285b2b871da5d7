/* SPDX-License-Identifier: Apache-2.0 */
/* Lines and functions of a range of addresses, each text read to its end. */
#ifndef PIEPROFD_TESTS_FUZZ_READ_LINES_H
#define PIEPROFD_TESTS_FUZZ_READ_LINES_H

#include "symbolize/line_info.h"
#include "tests/fuzz/fuzz.h"

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

#endif
