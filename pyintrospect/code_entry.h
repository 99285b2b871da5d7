/* SPDX-License-Identifier: Apache-2.0 */
/* Where a call of a Python function begins. Pure; the bytes are hostile. */
#ifndef PIEPROFD_PYINTROSPECT_CODE_ENTRY_H
#define PIEPROFD_PYINTROSPECT_CODE_ENTRY_H

#include "pyintrospect/code_object.h"

/*
 * Offset of the first instruction that a call runs with its frame complete: the one
 * behind RESUME from 3.11 on, before that the first one. -1: a generator or a
 * coroutine, which begins when it is first resumed; a loop that starts at the first
 * one; or no such instruction.
 */
int code_entry(const struct python_code *code);

#endif
