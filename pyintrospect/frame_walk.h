/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The chain of a thread's frames as it lies in memory, before any code object
 * is looked at. One function a kind of chain (enum python_walk); all fill
 * runtime->raw_frames, innermost first.
 *
 *   3.6 to 3.10   ts.frame -> frame -> frame -> 0               every frame an entry
 *   3.11          ts.cframe -> cframe -> ... -> root cframe     k-th cframe: k-th group
 *                    `-> frame -> frame(is_entry) -> frame -> ...
 *                 in a greenlet: ... -> a cframe without a frame -> root cframe
 *   3.12+         ts... -> frame -> frame -> shim -> frame -> shim -> 0
 */
#ifndef PIEPROFD_PYINTROSPECT_FRAME_WALK_H
#define PIEPROFD_PYINTROSPECT_FRAME_WALK_H

#include "common/address.h"

#include <stddef.h>
#include <stdint.h>

struct python_layout;
struct python_runtime;

/* Where a walk starts, as the thread state has it. */
struct frame_walk_start {
	remote_addr thread;    /* its PyThreadState */
	remote_addr cframe;    /* 3.11, 3.12 */
	remote_addr frame;     /* others */
	remote_addr chunk;     /* newest chunk of the data stack; 0: none */
	remote_addr chunk_top; /* first free byte of it */
};

enum frame_walk_end {
	FRAME_WALK_COMPLETE,
	FRAME_WALK_TRUNCATED, /* too many frames, a cycle or an unreadable link */
	FRAME_WALK_BROKEN,    /* links that contradict each other: not before frame number valid */
};

struct frame_walk {
	enum frame_walk_end end;
	size_t valid; /* FRAME_WALK_BROKEN: frames of the groups inside the wrong one */
	size_t visits;
	int error; /* FRAME_WALK_TRUNCATED: -EFAULT, -ELOOP, ...; 0: too many frames */
};

void frame_walk_start_parse(const struct python_runtime *runtime, remote_addr thread,
			    const uint8_t *thread_bytes, struct frame_walk_start *ret_start);

/* Asks for the data stack, where most frames of 3.11+ lie. */
void frame_walk_want_chunk(struct python_runtime *runtime, const struct frame_walk_start *start);

struct frame_walk frame_walk(struct python_runtime *runtime, const struct frame_walk_start *start);

/*
 * The chain of a greenlet that is suspended, from its innermost frame on. It has
 * no groups: what ends them lies on the C stack, which is another's meanwhile.
 */
struct frame_walk frame_walk_suspended(struct python_runtime *runtime, remote_addr frame);

/* A frame's code object and the offset of its instruction, from its fixed part. */
remote_addr frame_code(const struct python_layout *layout, const uint8_t *bytes);
int64_t frame_instruction(const struct python_layout *layout, const uint8_t *bytes);

/* One frame's fixed part, from wherever it is; 0 or a negative errno. */
__attribute__((warn_unused_result)) int frame_read(struct python_runtime *runtime,
						   const struct frame_walk_start *start,
						   remote_addr frame, const uint8_t **ret_bytes);

#endif
