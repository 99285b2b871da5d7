/* SPDX-License-Identifier: Apache-2.0 */
/* The native frames of the evaluation loop, by libunwind on a stopped thread: a second opinion. */
#ifndef PIEPROFD_TESTS_UNIT_SUPPORT_UNWIND_H
#define PIEPROFD_TESTS_UNIT_SUPPORT_UNWIND_H

#include "tests/unit/support_live.h"

#include <libunwind-ptrace.h>
#include <string.h>
#include <sys/types.h>

struct eval_frame {
	unsigned long sp, cfa;
};

/*
 * The evaluation loop of a thread's interpreter by the symbols of its separate
 * debug file, as far as there is one: a stripped binary does not name the
 * part of the loop that the compiler split off.
 */
struct eval_parts {
	pid_t pid;
	struct address_range hot, cold;
};

__attribute__((unused)) static void eval_parts_find(struct eval_parts *parts, pid_t pid)
{
	static const char name[] = "_PyEval_EvalFrameDefault";
	struct live_binary binary;
	remote_addr hot, cold;
	uint64_t hot_size, cold_size;

	*parts = (struct eval_parts){ .pid = pid };
	if (!live_binary_find(&binary, pid))
		return;
	if (binary.debug_fd > 0 && binary.dwarf &&
	    live_symbol_in(&binary, dwarf_getelf(binary.dwarf), name, &hot, &hot_size) == 0 &&
	    live_symbol_in(&binary, dwarf_getelf(binary.dwarf), "_PyEval_EvalFrameDefault.cold",
			   &cold, &cold_size) == 0) {
		parts->hot = (struct address_range){ hot, hot + hot_size };
		parts->cold = (struct address_range){ cold, cold + cold_size };
	}
	live_binary_close(&binary);
}

/*
 * Whether an address of a process lies in the evaluation loop, by libunwind's name for it; each
 * address is asked for once, as libunwind reads all symbols of the file each time.
 */
struct eval_names {
	pid_t pid;
	struct {
		unw_word_t ip;
		bool eval;
	} known[4096];
};

__attribute__((unused)) static bool named_eval(struct eval_names *names, unw_cursor_t *cursor,
					       unw_word_t ip)
{
	size_t slot = (ip ^ ip >> 12) % 4096;
	char name[256] = "";
	unw_word_t offset;

	if (names->known[slot].ip != ip) {
		unw_get_proc_name(cursor, name, sizeof(name), &offset);
		names->known[slot].ip = ip;
		names->known[slot].eval = strncmp(name, "_PyEval_EvalFrameDefault", 24) == 0;
	}
	return names->known[slot].eval;
}

/* The process that a thread is of; -1. */
__attribute__((unused)) static pid_t process_of(pid_t tid)
{
	char path[64], line[256];
	pid_t pid = -1;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	file = fopen(path, "r");
	while (file && fgets(line, sizeof(line), file) && sscanf(line, "Tgid: %d", &pid) != 1)
		;
	if (file)
		fclose(file);
	return pid;
}

/* The child's stopped thread; innermost first. -1: libunwind did not reach the thread's start. */
__attribute__((unused)) static int native_eval_frames(pid_t tid, struct eval_frame *frames,
						      int maximum)
{
	unw_addr_space_t space = unw_create_addr_space(&_UPT_accessors, 0);
	void *context = _UPT_create(tid);
	unw_cursor_t cursor;
	int count = 0, step = unw_init_remote(&cursor, space, context) ? -1 : 1;
	bool eval = false, innermost = true;
	static struct eval_parts parts;
	static struct eval_names names;
	pid_t pid = process_of(tid);

	if (parts.pid != pid)
		eval_parts_find(&parts, pid);
	if (names.pid != pid)
		names = (struct eval_names){ .pid = pid };
	unw_set_caching_policy(space, UNW_CACHE_GLOBAL);
	while (step > 0) {
		unw_word_t sp, ip;

		unw_get_reg(&cursor, UNW_REG_SP, &sp);
		unw_get_reg(&cursor, UNW_REG_IP, &ip);
		ip -= !innermost; /* a return address may be behind the function's end */
		innermost = false;
		if (eval)
			frames[count - 1].cfa = sp;
		if (parts.hot.end) {
			eval = address_range_contains(parts.hot, ip) ||
			       address_range_contains(parts.cold, ip);
		} else {
			eval = named_eval(&names, &cursor, ip);
		}
		eval = eval && count < maximum;
		if (eval)
			frames[count++] = (struct eval_frame){ .sp = sp };
		step = unw_step(&cursor);
	}
	_UPT_destroy(context);
	unw_destroy_addr_space(space);
	return step < 0 ? -1 : count;
}

#endif
