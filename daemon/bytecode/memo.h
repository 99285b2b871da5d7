/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions that keep their results themselves: key in kept, kept[key] = result, without a loop.
 * Pure.
 */
#ifndef PIEPROFD_DAEMON_BYTECODE_MEMO_H
#define PIEPROFD_DAEMON_BYTECODE_MEMO_H

#include "daemon/bytecode/bytecode.h"

#include <stdbool.h>

bool memo_is_kept(const struct bytecode *bytecode);

#endif
