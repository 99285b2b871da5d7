/* SPDX-License-Identifier: Apache-2.0 */
/* The native frames of the evaluation loop, by libunwind on a stopped thread: a second opinion. */
#ifndef PIEPROFD_TESTS_UNIT_SUPPORT_UNWIND_H
#define PIEPROFD_TESTS_UNIT_SUPPORT_UNWIND_H

#include <libunwind-ptrace.h>
#include <string.h>
#include <sys/types.h>

struct eval_frame {
	unsigned long sp, cfa;
};

/* The child's stopped thread; innermost first. -1: libunwind did not reach the thread's start. */
__attribute__((unused)) static int native_eval_frames(pid_t tid, struct eval_frame *frames,
						      int maximum)
{
	unw_addr_space_t space = unw_create_addr_space(&_UPT_accessors, 0);
	void *context = _UPT_create(tid);
	unw_cursor_t cursor;
	int count = 0, step = unw_init_remote(&cursor, space, context) ? -1 : 1;
	bool eval = false;

	while (step > 0) {
		unw_word_t sp, offset;
		char name[256] = "";

		unw_get_reg(&cursor, UNW_REG_SP, &sp);
		if (eval)
			frames[count - 1].cfa = sp;
		unw_get_proc_name(&cursor, name, sizeof(name), &offset);
		eval = strncmp(name, "_PyEval_EvalFrameDefault", 24) == 0 && count < maximum;
		if (eval)
			frames[count++] = (struct eval_frame){ .sp = sp };
		step = unw_step(&cursor);
	}
	_UPT_destroy(context);
	unw_destroy_addr_space(space);
	return step < 0 ? -1 : count;
}

#endif
