/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Offsets of every field in every minor version, in bytes; -1: not there.
 * Printed by tests/tools/offsets_table.c, not written by hand.
 */
#ifndef PIEPROFD_PYINTROSPECT_OFFSETS_VALUES_H
#define PIEPROFD_PYINTROSPECT_OFFSETS_VALUES_H

/* clang-format off */
#define PYTHON_OFFSET_VALUES(X) \
	/*                             3.6    3.7    3.8    3.9   3.10   3.11   3.12   3.13   3.14   3.15 */ \
	X(runtime_interpreters,        -1,    24,    32,    32,    32,    40,    40,   632,   808,   936) \
	X(runtime_current_thread,      -1,  1480,  1368,   568,   568,   576,    -1,    -1,    -1,    -1) \
	X(runtime_collecting,          -1,   632,   544,    -1,    -1,    -1,    -1,    -1,    -1,    -1) \
	X(interpreter_next,             0,     0,     0,     0,     0,     0,     0,  7264,  7272,  7264) \
	X(interpreter_threads,          8,     8,     8,     8,     8,    16,    72,  7344,  7344,  7336) \
	X(interpreter_gil,             -1,    -1,    -1,    -1,    -1,    -1,   384,    16,    16,    16) \
	X(interpreter_collecting,      -1,    -1,    -1,   816,   816,   848,   312,  7600,  7600,  7512) \
	X(interpreter_modules,         16,    40,    56,   856,   856,   888,   944,  7656,  7688,  7592) \
	X(interpreter_eval,           112,   464,   568,  1400,  1368,    -1,    -1,    -1,    -1,    -1) \
	X(gil_last_holder,             -1,    -1,    -1,    -1,    -1,    -1,     8,     8,     8,     8) \
	X(gil_locked,                  -1,    -1,    -1,    -1,    -1,    -1,    16,    16,    16,    16) \
	X(thread_status,               -1,    -1,    -1,    -1,    -1,    -1,    -1,    40,    44,    48) \
	X(thread_next,                  8,     8,     8,     8,     8,     8,     8,     8,     8,     8) \
	X(thread_interpreter,          16,    16,    16,    16,    16,    16,    16,    16,    16,    16) \
	X(thread_frame,                24,    24,    24,    24,    24,    -1,    -1,    72,    72,    72) \
	X(thread_cframe,               -1,    -1,    -1,    -1,    -1,    56,    56,    -1,    -1,    -1) \
	X(thread_root_cframe,          -1,    -1,    -1,    -1,    -1,   336,   272,    -1,    -1,    -1) \
	X(thread_pthread,             152,   176,   176,   176,   176,   152,   136,   152,   152,   176) \
	X(thread_native_id,            -1,    -1,    -1,    -1,    -1,   160,   144,   160,   160,   184) \
	X(thread_chunk,                -1,    -1,    -1,    -1,    -1,   296,   232,   232,   232,   256) \
	X(thread_chunk_top,            -1,    -1,    -1,    -1,    -1,   304,   240,   240,   240,   264) \
	X(chunk_previous,              -1,    -1,    -1,    -1,    -1,     0,     0,     0,     0,     0) \
	X(chunk_size,                  -1,    -1,    -1,    -1,    -1,     8,     8,     8,     8,     8) \
	X(chunk_data,                  -1,    -1,    -1,    -1,    -1,    24,    24,    24,    24,    24) \
	X(cframe_current,              -1,    -1,    -1,    -1,    -1,     8,     0,    -1,    -1,    -1) \
	X(cframe_previous,             -1,    -1,    -1,    -1,    -1,    16,     8,    -1,    -1,    -1) \
	X(frame_code,                  32,    32,    32,    32,    32,    32,     0,     0,     0,     0) \
	X(frame_previous,              24,    24,    24,    24,    24,    48,     8,     8,     8,     8) \
	X(frame_instruction,          120,   104,   104,   104,    96,    56,    56,    56,    56,    56) \
	X(frame_owner,                 -1,    -1,    -1,    -1,    -1,    69,    70,    70,    74,    74) \
	X(frame_is_entry,              -1,    -1,    -1,    -1,    -1,    68,    -1,    -1,    -1,    -1) \
	X(frame_locals,               376,   360,   360,   360,   352,    72,    72,    72,    80,    80) \
	X(frame_stack,                 64,    64,    64,    64,    64,    -1,    -1,    -1,    -1,    -1) \
	X(code_filename,               96,    96,   104,   104,   104,   112,   112,   112,   112,   112) \
	X(code_name,                  104,   104,   112,   112,   112,   120,   120,   120,   120,   120) \
	X(code_qualname,               -1,    -1,    -1,    -1,    -1,   128,   128,   128,   128,   128) \
	X(code_constants,              48,    48,    56,    56,    56,    24,    24,    24,    24,    24) \
	X(code_names,                  56,    56,    64,    64,    64,    32,    32,    32,    32,    32) \
	X(code_local_names,            64,    64,    72,    72,    72,    96,    96,    96,    96,    96) \
	X(code_cell_names,             80,    80,    88,    88,    88,    -1,    -1,    -1,    -1,    -1) \
	X(code_free_names,             72,    72,    80,    80,    80,    -1,    -1,    -1,    -1,    -1) \
	X(code_line_table,            112,   112,   120,   120,   120,   136,   136,   136,   136,   136) \
	X(code_first_line,             36,    36,    40,    40,    40,    72,    68,    68,    68,    68) \
	X(code_flags,                  32,    32,    36,    36,    36,    48,    48,    48,    48,    48) \
	X(code_bytecode,               40,    40,    48,    48,    48,   184,   192,   200,   208,   208) \
	X(code_first_traceable,        -1,    -1,    -1,    -1,    -1,   168,   176,   184,   192,   192) \
	X(code_version,                -1,    -1,    -1,    -1,    -1,    -1,    92,    92,    92,    92) \
	X(code_monitoring,             -1,    -1,    -1,    -1,    -1,    -1,   168,   176,   176,   176) \
	X(code_locals,                 -1,    -1,    -1,    -1,    -1,    76,    72,    72,    72,    72) \
	X(code_arguments,              16,    16,    16,    16,    16,    56,    52,    52,    52,    52) \
	X(code_keyword_arguments,      20,    20,    24,    24,    24,    64,    60,    60,    60,    60) \
	X(code_exceptions,             -1,    -1,    -1,    -1,    -1,    40,    40,    40,    40,    40) \
	X(code_stack_size,             -1,    -1,    -1,    -1,    -1,    68,    -1,    -1,    -1,    -1) \
	X(code_frame_size,             -1,    -1,    -1,    -1,    -1,    -1,    76,    76,    76,    76) \
	X(monitoring_lines,            -1,    -1,    -1,    -1,    -1,    -1,    40,    32,    96,   104) \
	X(monitoring_instructions,     -1,    -1,    -1,    -1,    -1,    -1,    56,    48,   112,   120) \
	X(string_length,               16,    16,    16,    16,    16,    16,    16,    16,    16,    16) \
	X(string_state,                32,    32,    32,    32,    32,    32,    32,    32,    32,    32) \
	X(string_ascii_data,           48,    48,    48,    48,    48,    48,    40,    40,    40,    40) \
	X(string_compact_data,         72,    72,    72,    72,    72,    72,    56,    56,    56,    56) \
	X(tuple_items,                 24,    24,    24,    24,    24,    24,    24,    24,    32,    32) \
	X(bytes_data,                  32,    32,    32,    32,    32,    32,    32,    32,    32,    32) \
	X(variable_size,               16,    16,    16,    16,    16,    16,    16,    16,    16,    16) \
	X(object_type,                  8,     8,     8,     8,     8,     8,     8,     8,     8,     8) \
	X(type_name,                   24,    24,    24,    24,    24,    24,    24,    24,    24,    24)
/* clang-format on */

#endif
