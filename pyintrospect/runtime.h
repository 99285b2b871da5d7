/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A CPython interpreter in the target: which version it is, where its runtime
 * state lives, and the offsets by which its structures are read.
 *
 * Offsets come from the interpreter itself (_Py_DebugOffsets of 3.13 and 3.14),
 * else from the binary's DWARF when it has any, else from a built-in table, one
 * row a minor version. Either way they are checked on the live process before
 * use; on doubt the runtime is refused, never guessed.
 */
#ifndef PIEPROFD_PYINTROSPECT_RUNTIME_H
#define PIEPROFD_PYINTROSPECT_RUNTIME_H

#include "common/debug_info.h"
#include "common/error.h"
#include "common/memory.h"
#include "pyintrospect/offsets.h"
#include "pyintrospect/version.h"

struct python_runtime;

/*
 * Does this binary hold an interpreter: the symbol _PyRuntime, the section
 * .PyRuntime (3.10+), or _PyThreadState_Current of 3.6? Used to choose the
 * module among all of the target's.
 */
bool python_runtime_in(const struct debug_info *info);

/*
 * The same for a binary without any symbol, such as a program that an
 * interpreter was linked into statically and that was stripped: by strings and
 * data of the live process, which takes milliseconds a megabyte. To be asked
 * when no module has the symbols.
 */
bool python_runtime_hidden_in(const struct debug_info *info, const struct memory_reader *reader);

/*
 * Locates and validates the interpreter. info and reader are borrowed for the
 * runtime's life. NULL with *error filled: exit code EXIT_UNSUPPORTED_PYTHON
 * or EXIT_NO_TARGET.
 */
struct python_runtime *python_runtime_create(const struct debug_info *info,
					     const struct memory_reader *reader,
					     struct error *error);
void python_runtime_destroy(struct python_runtime *runtime);

struct python_version python_runtime_version(const struct python_runtime *runtime);
enum python_offsets_source python_runtime_offsets_source(const struct python_runtime *runtime);

/*
 * The range of the evaluation loop by its symbol (_PyEval_EvalFrameDefault),
 * without its .cold part, which only unwind information tells. Without the
 * symbol, to 3.10: its first byte alone, the interpreter has a pointer to it;
 * unwind information tells its end, too. -ENOENT.
 */
int python_runtime_eval_function(const struct python_runtime *runtime,
				 struct address_range *ret_range);

/* &PyType_Type in the target, by which objects are told from other memory; 0: not found. */
remote_addr python_runtime_type_type(const struct python_runtime *runtime);
/* Bytes of an object's head, whose last word leads to the type: 16, of free-threaded builds 32. */
uint32_t python_runtime_object_head(const struct python_runtime *runtime);
/* Code objects that there was no room for; "?" stands for them. */
uint64_t python_runtime_codes_dropped(const struct python_runtime *runtime);

#endif
