/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The local variables of a frame: which objects they are, and their names. Read apart,
 * as objects are taken while the thread waits, and names can be afterwards.
 *
 *   to 3.10   co_varnames, co_cellvars, co_freevars    one after the other
 *   3.11+     co_localsplusnames                       all of them
 *
 * A module's own variables, and those of a class's body, are in a dict: such frames
 * have none here.
 */
#ifndef PIEPROFD_PYINTROSPECT_LOCAL_SLOTS_H
#define PIEPROFD_PYINTROSPECT_LOCAL_SLOTS_H

#include "pyintrospect/code_names.h"
#include "pyintrospect/operand_reader.h"

/* Of a frame; further ones are left out. */
#define LOCAL_SLOTS_MAX 64

struct local_slots {
	size_t count, left_out;
	struct operand_value values[LOCAL_SLOTS_MAX]; /* by number, those without a value, too */
};

/*
 * Of a frame of a thread that is stopped or asleep, in one system call from 3.11 on, in
 * two before. 0, -ESTALE (the frame has gone on), or what the memory reader said.
 */
__attribute__((warn_unused_result)) int local_slots_read(const struct python_runtime *runtime,
							 const struct python_frame *frame,
							 struct local_slots *ret_slots);

/* The name of a variable by its number. As code_names_read(). */
__attribute__((warn_unused_result)) int local_slots_name(const struct code_names *names,
							 uint32_t number, char *buffer,
							 size_t size);

#endif
