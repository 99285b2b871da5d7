/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looking up a stack for return addresses, past code that has no unwind
 * information (hand-written kernels: a third of OpenBLAS).
 *
 * What it finds is a guess: a word that points behind a call instruction may
 * be left over from an earlier call. The caller unwinds from it and believes
 * it only when that leads to the end.
 */
#ifndef PIEPROFD_SYMBOLIZE_STACK_SCAN_H
#define PIEPROFD_SYMBOLIZE_STACK_SCAN_H

#include "symbolize/module.h"
#include "symbolize/stack_view.h"

/* Where the call that ends at return_address goes, when the instruction says so; -ENOENT. */
__attribute__((warn_unused_result)) int stack_scan_call_target(const struct module *module,
							       remote_addr return_address,
							       remote_addr *ret_target);

/*
 * Finds the next word in [address, end) of the stack that holds a return
 * address. *ret_slot is where it lies, *ret_value what it says; -ENOENT.
 */
__attribute__((warn_unused_result)) int stack_scan_next(const struct module_table *modules,
							struct stack_view *view,
							remote_addr address, remote_addr end,
							remote_addr *ret_slot,
							remote_addr *ret_value);

#endif
