/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which asynchronous task a stack is of, by the coroutine that the event loop runs: the outermost
 * one on the stack. It is there in every sample, of whatever loop (asyncio, uvloop, trio, curio),
 * and nothing is read for it; the code object says whether it is a coroutine.
 *
 * It is no task's name. asyncio's own (Task-17, or what set_name() gave) would take three reads
 * that depend on each other in every stop, and most of them are numbers.
 */
#ifndef PIEPROFD_DAEMON_REPORT_MODEL_TASK_H
#define PIEPROFD_DAEMON_REPORT_MODEL_TASK_H

#include "daemon/report/model/profile.h"

/* The coroutine's name; NULL: the stack is of none, or was cut before it would be seen. */
const char *task_of_node(const struct profile_tree *tree, const struct profile_node *node);

#endif
