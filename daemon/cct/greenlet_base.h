/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where on a native stack a greenlet begins.
 *
 * greenlet runs each greenlet on the same C stack, inside of the call that
 * started it, and gives it Python frames of its own. What lies further out
 * belongs to another greenlet, not always the one that made the call: another
 * may be there by now. So a greenlet's stack ends here.
 *
 *   native (innermost first)          Python groups
 *   array_subscript
 *   eval                              g0
 *   PyObject_Call
 *   inner_bootstrap, g_initialstub,
 *   g_switch, green_switch            <- the base: code of the module greenlet
 *   eval, PyEval_EvalCode, main       another greenlet's
 */
#ifndef PIEPROFD_DAEMON_CCT_GREENLET_BASE_H
#define PIEPROFD_DAEMON_CCT_GREENLET_BASE_H

#include "pyintrospect/python_stack.h"
#include "symbolize/native_frame.h"

/*
 * How many of count native frames belong to the greenlet that runs, its base
 * included; count: it is the main one, or this cannot be told. eval is the
 * evaluation loop's code, greenlet the module's.
 *
 * Frames of the module are also on a stack that is just being switched away
 * from: those have fewer evaluation loops inside of them than there are groups.
 */
size_t greenlet_base_find(const struct native_frame *native, size_t count,
			  const struct python_stack *python, const struct address_ranges *eval,
			  const struct address_ranges *greenlet);

#endif
