/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Offsets from the interpreter's own DWARF.
 *
 * One row a field and range of minors: which structure, which member. A minor
 * whose names are not listed for every field its built-in row has is refused,
 * so that a half-filled layout cannot come about.
 */
#include "pyintrospect/offsets.h"

#include <errno.h>
#include <string.h>

#define DWARF_MINOR_MAX 15

struct member_source {
	size_t position; /* of the field in struct python_offsets */
	int first_minor, last_minor;
	const char *type;
	const char *member; /* NULL: the size of type */
	bool free_threaded; /* of such builds alone */
};

#define FIELD(name, first, last, type, member)                                                     \
	{                                                                                          \
		offsetof(struct python_offsets, name), first, last, type, member, false            \
	}
#define FREE_THREADED(name, first, last, type, member)                                             \
	{                                                                                          \
		offsetof(struct python_offsets, name), first, last, type, member, true             \
	}

/* clang-format off */
static const struct member_source sources[] = {
	FIELD(runtime_interpreters, 7, 15, "pyruntimestate", "interpreters.head"),
	FIELD(runtime_current_thread, 7, 11, "pyruntimestate", "gilstate.tstate_current"),
	FIELD(runtime_collecting, 7, 8, "pyruntimestate", "gc.collecting"),
	FIELD(interpreter_gil, 12, 15, "_is", "ceval.gil"),
	FIELD(interpreter_collecting, 9, 15, "_is", "gc.collecting"),
	FIELD(interpreter_modules, 6, 11, "_is", "modules"),
	FIELD(interpreter_modules, 12, 15, "_is", "imports.modules"),
	FIELD(interpreter_eval, 6, 10, "_is", "eval_frame"),
	FIELD(gil_last_holder, 12, 15, "_gil_runtime_state", "last_holder"),
	FIELD(gil_locked, 12, 15, "_gil_runtime_state", "locked"),
	FIELD(thread_status, 13, 15, "_ts", "state"),
	FIELD(interpreter_next, 6, 15, "_is", "next"),
	FIELD(interpreter_threads, 6, 10, "_is", "tstate_head"),
	FIELD(interpreter_threads, 11, 15, "_is", "threads.head"),
	FIELD(thread_next, 6, 15, "_ts", "next"),
	FIELD(thread_interpreter, 6, 15, "_ts", "interp"),
	FIELD(thread_frame, 6, 10, "_ts", "frame"),
	FIELD(thread_frame, 13, 15, "_ts", "current_frame"),
	FIELD(thread_cframe, 11, 12, "_ts", "cframe"),
	FIELD(thread_root_cframe, 11, 12, "_ts", "root_cframe"),
	FIELD(thread_pthread, 6, 15, "_ts", "thread_id"),
	FIELD(thread_native_id, 11, 15, "_ts", "native_thread_id"),
	FIELD(thread_chunk, 11, 15, "_ts", "datastack_chunk"),
	FIELD(thread_chunk_top, 11, 15, "_ts", "datastack_top"),
	FIELD(chunk_previous, 11, 15, "_stack_chunk", "previous"),
	FIELD(chunk_size, 11, 15, "_stack_chunk", "size"),
	FIELD(chunk_data, 11, 15, "_stack_chunk", "data"),
	FIELD(cframe_current, 11, 12, "_PyCFrame", "current_frame"),
	FIELD(cframe_previous, 11, 12, "_PyCFrame", "previous"),
	FIELD(frame_code, 6, 10, "_frame", "f_code"),
	FIELD(frame_code, 11, 12, "_PyInterpreterFrame", "f_code"),
	FIELD(frame_code, 13, 15, "_PyInterpreterFrame", "f_executable"),
	FIELD(frame_previous, 6, 10, "_frame", "f_back"),
	FIELD(frame_previous, 11, 15, "_PyInterpreterFrame", "previous"),
	FIELD(frame_instruction, 6, 10, "_frame", "f_lasti"),
	FIELD(frame_instruction, 11, 12, "_PyInterpreterFrame", "prev_instr"),
	FIELD(frame_instruction, 13, 15, "_PyInterpreterFrame", "instr_ptr"),
	FIELD(frame_owner, 11, 15, "_PyInterpreterFrame", "owner"),
	FIELD(frame_is_entry, 11, 11, "_PyInterpreterFrame", "is_entry"),
	FIELD(frame_locals, 6, 10, "_frame", "f_localsplus"),
	FIELD(frame_stack, 6, 10, "_frame", "f_valuestack"),
	FIELD(frame_locals, 11, 15, "_PyInterpreterFrame", "localsplus"),
	FIELD(code_filename, 6, 15, "PyCodeObject", "co_filename"),
	FIELD(code_name, 6, 15, "PyCodeObject", "co_name"),
	FIELD(code_qualname, 11, 15, "PyCodeObject", "co_qualname"),
	FIELD(code_constants, 6, 15, "PyCodeObject", "co_consts"),
	FIELD(code_names, 6, 15, "PyCodeObject", "co_names"),
	FIELD(code_local_names, 6, 10, "PyCodeObject", "co_varnames"),
	FIELD(code_local_names, 11, 15, "PyCodeObject", "co_localsplusnames"),
	FIELD(code_cell_names, 6, 10, "PyCodeObject", "co_cellvars"),
	FIELD(code_free_names, 6, 10, "PyCodeObject", "co_freevars"),
	FIELD(code_line_table, 6, 9, "PyCodeObject", "co_lnotab"),
	FIELD(code_line_table, 10, 15, "PyCodeObject", "co_linetable"),
	FIELD(code_first_line, 6, 15, "PyCodeObject", "co_firstlineno"),
	FIELD(code_flags, 6, 15, "PyCodeObject", "co_flags"),
	FIELD(code_bytecode, 6, 10, "PyCodeObject", "co_code"),
	FIELD(code_bytecode, 11, 15, "PyCodeObject", "co_code_adaptive"),
	FIELD(code_first_traceable, 11, 15, "PyCodeObject", "_co_firsttraceable"),
	FIELD(code_version, 12, 15, "PyCodeObject", "co_version"),
	FIELD(code_monitoring, 12, 15, "PyCodeObject", "_co_monitoring"),
	FIELD(code_locals, 11, 15, "PyCodeObject", "co_nlocalsplus"),
	FIELD(code_arguments, 6, 15, "PyCodeObject", "co_argcount"),
	FIELD(code_keyword_arguments, 6, 15, "PyCodeObject", "co_kwonlyargcount"),
	FIELD(code_exceptions, 11, 15, "PyCodeObject", "co_exceptiontable"),
	FIELD(code_stack_size, 11, 11, "PyCodeObject", "co_stacksize"),
	FIELD(code_frame_size, 12, 15, "PyCodeObject", "co_framesize"),
	FIELD(monitoring_lines, 12, 15, "_PyCoMonitoringData", "lines"),
	FIELD(monitoring_instructions, 12, 15, "_PyCoMonitoringData", "per_instruction_opcodes"),
	FIELD(string_length, 6, 15, "PyASCIIObject", "length"),
	FIELD(string_state, 6, 15, "PyASCIIObject", "state"),
	FIELD(string_ascii_data, 6, 15, "PyASCIIObject", NULL),
	FIELD(string_compact_data, 6, 15, "PyCompactUnicodeObject", NULL),
	FIELD(tuple_items, 6, 15, "PyTupleObject", "ob_item"),
	FIELD(bytes_data, 6, 15, "PyBytesObject", "ob_sval"),
	FIELD(variable_size, 6, 15, "PyVarObject", "ob_size"),
	FIELD(object_type, 6, 15, "_object", "ob_type"),
	FIELD(type_name, 6, 15, "_typeobject", "tp_name"),
	FREE_THREADED(gil_enabled, 13, 15, "_gil_runtime_state", "enabled"),
	FREE_THREADED(frame_tlbc, 14, 15, "_PyInterpreterFrame", "tlbc_index"),
	FREE_THREADED(code_tlbc, 14, 15, "PyCodeObject", "co_tlbc"),
};
/* clang-format on */

static const struct {
	const char *name;
	size_t position;
} fields[] = {
#define NAME(name) { #name, offsetof(struct python_offsets, name) },
	PYTHON_OFFSET_FIELDS(NAME)
#undef NAME
};

#define FIELD_COUNT (sizeof(fields) / sizeof(fields[0]))

const char *python_offset_field(size_t index, size_t *ret_position)
{
	if (index >= FIELD_COUNT)
		return NULL;
	*ret_position = fields[index].position;
	return fields[index].name;
}

static int32_t *field_at(struct python_offsets *offsets, size_t position)
{
	return (int32_t *)((char *)offsets + position);
}

static int look_up(const struct debug_info *info, const struct member_source *source,
		   int32_t *ret_offset)
{
	uint32_t offset;
	int error = source->member ? info->member_offset(info->context, source->type,
							 source->member, &offset)
				   : info->type_size(info->context, source->type, &offset);

	if (error)
		return error;
	if (offset > OFFSET_MAX)
		return -ERANGE;
	*ret_offset = (int32_t)offset;
	return 0;
}

int python_layout_from_dwarf(const struct debug_info *info, struct python_layout *layout)
{
	struct python_offsets found;

	if (layout->minor > DWARF_MINOR_MAX || !info->member_offset || !info->type_size)
		return -ENODATA;
	memset(&found, 0xff, sizeof(found)); /* OFFSET_ABSENT everywhere */
	for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
		const struct member_source *source = &sources[i];
		int error;

		if (layout->minor < source->first_minor || layout->minor > source->last_minor ||
		    (source->free_threaded && !layout->free_threaded))
			continue;
		error = look_up(info, source, field_at(&found, source->position));
		if (error)
			return error;
	}
	/* The place of a bit is none of a member. */
	found.string_kind = layout->offsets.string_kind;
	layout->offsets = found;
	return 0;
}
