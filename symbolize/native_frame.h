/* SPDX-License-Identifier: Apache-2.0 */
/* One frame of a native stack, and how the unwinding of a stack ended. */
#ifndef PIEPROFD_SYMBOLIZE_NATIVE_FRAME_H
#define PIEPROFD_SYMBOLIZE_NATIVE_FRAME_H

#include "common/address.h"
#include "symbolize/module.h"

enum native_frame_flag {
	NATIVE_FRAME_SIGNAL =
		1, /* this frame was interrupted by the signal frame inside it: pc is exact */
	NATIVE_FRAME_GUESSED = 2, /* found by scanning the stack: behind it is code without CFI */
};

struct native_frame {
	remote_addr pc;  /* innermost: next instruction; others: return address, look up pc - 1 */
	remote_addr sp;  /* stack pointer in this frame at pc */
	remote_addr cfa; /* stack pointer of the caller after return; 0 when unknown (outermost) */
	remote_addr function; /* start of the function by its FDE or symbol, in the target; 0:
				 unknown */
	const struct module *module; /* NULL: no file behind pc */
	uint32_t flags;
};

/* The address to look this frame up by: inside the calling instruction. */
static inline remote_addr native_frame_lookup_address(const struct native_frame *frame,
						      bool innermost)
{
	return innermost || (frame->flags & NATIVE_FRAME_SIGNAL) ? frame->pc : frame->pc - 1;
}

enum unwind_end {
	UNWIND_COMPLETE,      /* reached the thread's start */
	UNWIND_STOPPED,       /* reached the function asked for */
	UNWIND_TOO_DEEP,      /* the caller's array is full */
	UNWIND_NO_MODULE,     /* a pc in no known module: the mapping list may be old. Said once
				 for each place since the last flush; then it is generated code,
				 and the stack is scanned as behind code without CFI */
	UNWIND_NO_CFI,        /* code without unwind information */
	UNWIND_STACK_MISSING, /* the stack is not in the snapshot and cannot be read */
	UNWIND_CORRUPT,       /* the stack pointer does not rise */
	UNWIND_END_COUNT
};

#endif
