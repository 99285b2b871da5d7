/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One hybrid stack from a native one and a Python one: each native frame of
 * the evaluation loop is replaced by the group of Python frames it ran.
 *
 *   native (innermost first)        Python groups          hybrid (outermost first)
 *   array_subscript                 g0: inner, outer       main, <module>, _PyObject_Call,
 *   eval  <------------------------ g0                     outer, inner, array_subscript
 *   _PyObject_Call                  g1: <module>
 *   eval  <------------------------ g1
 *   main
 *
 * Pure; the arrays are the caller's.
 */
#ifndef PIEPROFD_DAEMON_CCT_STITCH_H
#define PIEPROFD_DAEMON_CCT_STITCH_H

#include "daemon/cct/frame.h"
#include "pyintrospect/python_stack.h"
#include "symbolize/unwinder.h"

enum stitch_flag {
	STITCH_COUNTED = 1, /* no anchors: matched by counting, see below */
	/*
	 * Some group or evaluation loop found no partner; marked, not dropped.
	 * What is expected is not counted: an innermost evaluation loop that has
	 * no Python frame yet, or no more, and the groups outside of a walk that
	 * ended where it was asked to (UNWIND_STOPPED).
	 */
	STITCH_UNMATCHED = 2,
	STITCH_TRUNCATED =
		4, /* did not fit into the caller's array: outermost frames are missing */
};

/*
 * eval is the evaluation loop's code (all parts). end says how the native
 * walk ended.
 *
 * A group with an anchor belongs to the evaluation loop whose frame holds it.
 * Groups without are counted between their anchored neighbours: from the
 * outermost end, as a surplus is always the innermost loop; but from the
 * innermost end when the outermost is not there because the native walk or the
 * Python one ended early.
 *
 * No frame is lost but by STITCH_TRUNCATED, and both kinds keep their order. A
 * group without partner is put where its anchor says, else as far outside as
 * its neighbours allow.
 *
 * Writes at most maximum frames, outermost first, sets *ret_count and returns
 * stitch flags.
 */
uint32_t stitch(const struct native_frame *native, size_t native_count, enum unwind_end end,
		const struct python_stack *python, const struct address_ranges *eval,
		struct frame *frames, size_t maximum, size_t *ret_count);

#endif
