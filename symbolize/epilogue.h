/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The way out of a function that has no unwind information, read off its
 * instructions: from a return address to the ret, when nothing lies between
 * them but what takes down the frame. So it is in the trampolines that CPython
 * (-X perf) and others generate around a call.
 */
#ifndef PIEPROFD_SYMBOLIZE_EPILOGUE_H
#define PIEPROFD_SYMBOLIZE_EPILOGUE_H

#include "symbolize/cfi.h"

#define EPILOGUE_BYTES 48 /* of code that are looked at */

/* The rule at the first of the bytes. 0, or -ENOENT: this is no epilogue, or it is longer. */
__attribute__((warn_unused_result)) int epilogue_rule(const uint8_t *code, size_t size,
						      struct cfi_rule *ret_rule);

#endif
