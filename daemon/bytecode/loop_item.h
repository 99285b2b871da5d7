/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a loop goes over, item by item, and what is done with an item. Read from
 * bytecode. Pure.
 *
 *   for row in rows:  totals.append(row.sum())
 */
#ifndef PIEPROFD_DAEMON_BYTECODE_LOOP_ITEM_H
#define PIEPROFD_DAEMON_BYTECODE_LOOP_ITEM_H

#include "daemon/bytecode/loop.h"

/*
 * Does the instruction at an offset work on an item that the loop around it takes? Not on what it
 * finds by one, as x[i] is. False where it cannot be told.
 */
bool loop_item_is_used(const struct bytecode *bytecode, int offset, const struct loop *loop);

/*
 * Is that instruction part of a statement whose result depends on that of the round before, as
 * level = 0.9 * level + x does? A sum does not count: total += x.
 */
bool loop_item_recurs(const struct bytecode *bytecode, int offset, const struct loop *loop);

/* x.f(...): is x the same variable's value in all rounds, as far as names tell? */
bool loop_keeps_receiver(const struct bytecode *bytecode, int offset, const struct loop *loop);

#endif
