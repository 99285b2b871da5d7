/* SPDX-License-Identifier: Apache-2.0 */
/* What kinds of frame there are, and what is to be said of one. */
#ifndef PIEPROFD_DAEMON_CCT_FRAME_KIND_H
#define PIEPROFD_DAEMON_CCT_FRAME_KIND_H

enum frame_kind {
	FRAME_PYTHON,
	FRAME_NATIVE,
	FRAME_PROCESS, /* in reports of several processes alone: the outermost frame of each */
};

/* The file of native frames in the kernel, which have no address. */
#define FRAME_KERNEL_FILE "[kernel]"

enum frame_flag {
	FRAME_GUESSED = 1,         /* native, found by scanning the stack */
	FRAME_UNMATCHED = 2,       /* a Python group without its native evaluation loop */
	FRAME_EVAL = 4,            /* an evaluation loop that has no Python frame yet, or no more */
	FRAME_TRUNCATED_ABOVE = 8, /* outermost frame of a stack that ended early */
	FRAME_COROUTINE = 16,      /* Python, in a profile's tree: of an async def */
};

#endif
