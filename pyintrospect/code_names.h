/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names that a code object's instructions refer to by number: read from the target
 * one by one when they are asked for, as a report has use for few of them.
 */
#ifndef PIEPROFD_PYINTROSPECT_CODE_NAMES_H
#define PIEPROFD_PYINTROSPECT_CODE_NAMES_H

#include "pyintrospect/code_object.h"
#include "pyintrospect/runtime.h"

struct code_names {
	const struct python_runtime *runtime; /* borrowed */
	/* Tuples in the target; 0: none. cells are followed by free. */
	remote_addr names, locals, cells, free;
};

/*
 * Of a code object that the runtime has read. For the thread that reads stacks. 0, -ENOENT
 * (it is not in the target any more), -ENOMEM or what the reader said.
 */
__attribute__((warn_unused_result)) int code_names_find(const struct python_runtime *runtime,
							const struct python_code *code,
							struct code_names *ret_names);

/* In UTF-8, cut to whole characters that fit. -ENOENT: no such name; -EBADMSG: it is none. */
__attribute__((warn_unused_result)) int code_names_read(const struct code_names *names,
							enum python_names kind, uint32_t index,
							char *buffer, size_t size);

/* Where the name itself lies. Errors as code_names_read(). */
__attribute__((warn_unused_result)) int code_names_address(const struct code_names *names,
							   enum python_names kind, uint32_t index,
							   remote_addr *ret_name);

/* How many of a kind there are, of cells without the free ones. -ENOENT: it has none of that kind.
 */
__attribute__((warn_unused_result)) int code_names_count(const struct code_names *names,
							 enum python_names kind,
							 uint32_t *ret_count);

#endif
