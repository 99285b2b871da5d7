/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where calls of Python functions are seen in an interpreter. From 3.11 on, in its handlers of the
 * instructions with which they begin and end:
 *
 *   data of the interpreter --> 256 pointers into the evaluation loop, one for each opcode
 *                           --> handlers of RESUME, RETURN_VALUE, ... --> places in them
 *
 * The table has no symbol of its own, so a stripped interpreter has it like any other. It is told
 * by what it must be: all opcodes that do not exist lead to one place, and those sought to several
 * others (3.15 has a second table, by which its JIT looks on: all that exist lead to one place).
 *
 * To 3.10 the evaluation loop is called for each of them: where it is entered and left
 * (attach/loop_place.h). 3.14 and later can be built without that table.
 */
#ifndef PIEPROFD_DAEMON_TRACE_FUNCTION_SITE_H
#define PIEPROFD_DAEMON_TRACE_FUNCTION_SITE_H

#include "attach/function_probes.h"
#include "common/error.h"

#define FUNCTION_MINOR_MIN      6
#define FUNCTION_MINOR_HANDLERS 11 /* from here on */
#define FUNCTION_MINOR_MAX      15

struct target;

struct function_site {
	int fd; /* of the interpreter's file; owned */
	struct function_place places[FUNCTION_PLACES_MAX];
	size_t count;
	struct function_config config; /* without epoch and limits */
};

/* target has a runtime. 0, or a negative errno with *error filled. */
__attribute__((warn_unused_result)) int function_site_find(const struct target *target,
							   struct function_site *ret_site,
							   struct error *error);
void function_site_deinit(struct function_site *site);

/* ---- a part, by itself for tests ---- */

#define DISPATCH_OPCODES 256

/* Is that the table of 3.minor? Pure. */
bool dispatch_table_fits(int minor, const uint64_t table[static DISPATCH_OPCODES]);

#endif
