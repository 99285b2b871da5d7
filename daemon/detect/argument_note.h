/* SPDX-License-Identifier: Apache-2.0 */
/* What one operand adds to what is noted of a sample's frame and of its site. Pure. */
#ifndef PIEPROFD_DAEMON_DETECT_ARGUMENT_NOTE_H
#define PIEPROFD_DAEMON_DETECT_ARGUMENT_NOTE_H

#include "daemon/detect/argument_log.h"

/* A role of what is called, not of what it works on. */
bool argument_is_callee(uint8_t role);

void argument_note_operand(struct argument_frame *frame, struct argument_site *site, size_t index,
			   const struct operand_value *value, const struct fingerprint *print);

/* One that the interpreter has no object for (3.14 on). */
/* It works on an object by a few of its attributes, and a cache would be kept by these. */
bool argument_reads_attributes(const struct argument_site *site);
/* A parameter that the function does not read: any is as good. */
void argument_note_unused(struct argument_frame *frame, struct argument_site *site, size_t index,
			  const struct operand_value *value, const struct fingerprint *print);
void argument_note_integer(struct argument_frame *frame, struct argument_site *site, size_t index,
			   const struct operand_value *value);

/*
 * All operands being noted: text.count("x", 0, end) goes over a part of the text, which is what it
 * is as long as.
 */
void argument_note_range(struct argument_frame *frame, const struct argument_site *site);

/* To 3.10 a Python function is called through C, which takes no operands from the stack. */
bool argument_calls_function(const struct argument_site *site);

/* functools.lru_cache: it keeps results by argument, and who calls it pays for the others alone. */
bool argument_calls_cache(const struct argument_site *site);

/* A C function of ctypes, given numbers alone: one of them may be a handle of what it works on. */
bool argument_is_foreign(const struct argument_site *site);

#endif
