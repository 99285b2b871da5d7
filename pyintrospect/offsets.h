/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where CPython keeps what: byte offsets into its structures, one integer a
 * field, for one minor version on x86-64.
 *
 * Three sources fill a struct python_layout: the built-in table (one row a
 * minor), the binary's DWARF, and _Py_DebugOffsets (3.13+). The list of fields
 * below is the one all of them share. None of them is believed before
 * runtime.c has read a live thread by it.
 */
#ifndef PIEPROFD_PYINTROSPECT_OFFSETS_H
#define PIEPROFD_PYINTROSPECT_OFFSETS_H

#include "common/debug_info.h"
#include "common/memory.h"

enum python_offsets_source {
	PYTHON_OFFSETS_DEBUG_OFFSETS, /* _Py_DebugOffsets of 3.13+ */
	PYTHON_OFFSETS_DWARF,
	PYTHON_OFFSETS_TABLE,
};

#define OFFSET_ABSENT (-1)

/* Largest offset or size believed from DWARF or from the target. */
#define OFFSET_MAX (1 << 20)
/* The same for a structure that is read whole, from its start. */
#define OFFSET_BLOCK_MAX 1024

/* clang-format off */
#define PYTHON_OFFSET_FIELDS(X)                                                   \
	X(runtime_interpreters)	   /* _PyRuntime: first interpreter */            \
	X(runtime_current_thread)  /* 3.7 to 3.11: holder of the GIL */           \
	X(runtime_collecting)	   /* 3.7, 3.8: gc.collecting */                  \
	X(interpreter_next)                                                       \
	X(interpreter_threads)	   /* first thread state */                       \
	X(interpreter_gil)	   /* 3.12+: pointer to it */                     \
	X(interpreter_collecting)  /* 3.9+: gc.collecting */                      \
	X(interpreter_modules)	   /* sys.modules */                              \
	X(interpreter_eval)	   /* to 3.10: pointer to the evaluation loop */  \
	X(gil_last_holder)	   /* 3.12+ */                                    \
	X(gil_locked)                                                             \
	X(gil_enabled)		   /* free-threaded: 0 is no GIL */               \
	X(thread_status)	   /* 3.13+: 1 is attached */                     \
	X(thread_next)                                                            \
	X(thread_interpreter)                                                     \
	X(thread_frame)		   /* innermost frame; 3.11, 3.12: see cframe */  \
	X(thread_cframe)	   /* 3.11, 3.12: innermost _PyCFrame */          \
	X(thread_root_cframe)	   /* the outermost one, inside the structure */  \
	X(thread_pthread)	   /* what threading calls ident */               \
	X(thread_native_id)	   /* kernel tid, 3.11+ */                        \
	X(thread_chunk)		   /* newest chunk of the data stack, 3.11+ */    \
	X(thread_chunk_top)	   /* its first free byte */                      \
	X(chunk_previous)                                                         \
	X(chunk_size)                                                             \
	X(chunk_data)                                                             \
	X(cframe_current)                                                         \
	X(cframe_previous)                                                        \
	X(frame_code)                                                             \
	X(frame_previous)                                                         \
	X(frame_instruction)                                                      \
	X(frame_owner)		   /* 3.11+ */                                    \
	X(frame_is_entry)	   /* 3.11 */                                     \
	X(frame_locals)		   /* end of the fixed part */                    \
	X(frame_stack)		   /* to 3.10: pointer to the lowest value */     \
	X(frame_tlbc)		   /* free-threaded, 3.14+: which copy of code */ \
	X(code_filename)                                                          \
	X(code_name)                                                              \
	X(code_qualname)	   /* 3.11+ */                                    \
	X(code_constants)                                                         \
	X(code_names)		   /* co_names */                                 \
	X(code_local_names)	   /* co_varnames; 3.11+: co_localsplusnames */   \
	X(code_cell_names)	   /* to 3.10: co_cellvars */                     \
	X(code_free_names)	   /* to 3.10: co_freevars */                     \
	X(code_line_table)                                                        \
	X(code_first_line)                                                        \
	X(code_flags)                                                             \
	X(code_bytecode)	   /* to 3.10 a bytes object, then inline */      \
	X(code_tlbc)		   /* free-threaded, 3.14+: pointer to copies */  \
	X(code_first_traceable)	   /* 3.11+ */                                    \
	X(code_version)		   /* 3.12+ */                                    \
	X(code_monitoring)	   /* 3.12+ */                                    \
	X(code_locals)		   /* 3.11+: co_nlocalsplus */                    \
	X(code_arguments)	   /* co_argcount */                              \
	X(code_keyword_arguments)  /* co_kwonlyargcount */                        \
	X(code_exceptions)	   /* 3.11+: co_exceptiontable */                 \
	X(code_stack_size)	   /* 3.11 */                                     \
	X(code_frame_size)	   /* 3.12+, in words */                          \
	X(monitoring_lines)	   /* 3.12+ */                                    \
	X(monitoring_instructions)                                                \
	X(string_length)                                                          \
	X(string_state)                                                           \
	X(string_kind)		   /* its first bit in the state */               \
	X(string_ascii_data)                                                      \
	X(string_compact_data)                                                    \
	X(tuple_items)		   /* PyTupleObject.ob_item */                    \
	X(bytes_data)                                                             \
	X(variable_size)	   /* PyVarObject.ob_size */                      \
	X(object_type)                                                            \
	X(type_name)
/* clang-format on */

struct python_offsets {
#define DECLARE(name) int32_t name;
	PYTHON_OFFSET_FIELDS(DECLARE)
#undef DECLARE
};

/* How a thread's frames hang together. */
enum python_walk {
	PYTHON_WALK_FRAME_OBJECTS, /* 3.6 to 3.10: PyFrameObjects, each with a native frame of its
				      own */
	PYTHON_WALK_CFRAMES, /* 3.11: _PyInterpreterFrames; is_entry ends a group, one _PyCFrame
				each */
	PYTHON_WALK_SHIMS,   /* 3.12+: a shim frame on the C stack ends a group */
};

struct python_layout {
	int minor;
	bool free_threaded; /* built with --disable-gil */
	enum python_walk walk;
	uint8_t instruction_unit; /* bytes per unit of f_lasti, to 3.10 */
	uint8_t shim_owner;       /* frames with this owner or a higher one are shims; 0: none */
	struct python_offsets offsets;
};

/* The built-in row of 3.minor, or NULL. */
const struct python_layout *python_layout_builtin(int minor);
/* The same of its free-threaded build. */
const struct python_layout *python_layout_free_threaded(int minor);
/* First and last minor with a row. */
#define PYTHON_MINOR_MIN               6
#define PYTHON_MINOR_MAX               15
#define PYTHON_FREE_THREADED_MINOR_MIN 13

/*
 * Fills every field that 3.minor has from DWARF, starting from *layout, the
 * built-in row. All or nothing: -ENODATA (no DWARF, or this minor's type names
 * are not known), -ENOENT (a member is missing), -ERANGE (an offset nobody
 * would believe).
 */
__attribute__((warn_unused_result)) int python_layout_from_dwarf(const struct debug_info *info,
								 struct python_layout *layout);

/*
 * The same from _Py_DebugOffsets at the start of _PyRuntime, for the fields it
 * has. -ENODATA: none there, of an unknown layout, or of the other kind of
 * build than *layout; -ERANGE; or what the reader said.
 */
__attribute__((warn_unused_result)) int python_layout_from_debug_offsets(
	const struct memory_reader *reader, remote_addr runtime, struct python_layout *layout);

/* Does _Py_DebugOffsets say so? No where there is none: to 3.12 there is no such build. */
bool python_debug_offsets_free_threaded(const struct memory_reader *reader, remote_addr runtime,
					int minor);

/* Name of the nth field and its place in struct python_offsets; NULL past the end. For checks. */
const char *python_offset_field(size_t index, size_t *ret_position);

#endif
