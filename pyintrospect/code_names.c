/* SPDX-License-Identifier: Apache-2.0 */
#include "pyintrospect/code_names.h"

#include "pyintrospect/code_cache.h"
#include "pyintrospect/field.h"
#include "pyintrospect/object_reader.h"
#include "pyintrospect/object_type.h"
#include "pyintrospect/runtime_internal.h"

#include <errno.h>

static remote_addr tuple_at(const uint8_t *head, int32_t offset)
{
	return offset == OFFSET_ABSENT ? 0 : field_u64(head, offset);
}

int code_names_find(const struct python_runtime *runtime, const struct python_code *code,
		    struct code_names *ret_names)
{
	const struct python_offsets *offsets = &runtime->layout.offsets;
	uint8_t head[OFFSET_BLOCK_MAX];
	int error;

	error = code_cache_find(runtime, code, head);
	if (error)
		return error;
	*ret_names = (struct code_names){
		.runtime = runtime,
		.names = tuple_at(head, offsets->code_names),
		.locals = tuple_at(head, offsets->code_local_names),
		.cells = tuple_at(head, offsets->code_cell_names),
		.free = tuple_at(head, offsets->code_free_names),
	};
	return 0;
}

static int tuple_size(const struct python_runtime *runtime, remote_addr tuple, uint64_t *ret_size)
{
	if (!tuple)
		return -ENOENT;
	if (!python_object_is(runtime, tuple, "tuple"))
		return -EBADMSG;
	return memory_read_u64(runtime->reader,
			       tuple + (uint64_t)runtime->layout.offsets.variable_size, ret_size);
}

int code_names_read(const struct code_names *names, enum python_names kind, uint32_t index,
		    char *buffer, size_t size)
{
	const struct python_runtime *runtime = names->runtime;
	remote_addr tuple = names->names, name;
	uint64_t count, place = index;
	int error;

	if (kind == PYTHON_LOCALS)
		tuple = names->locals;
	else if (kind == PYTHON_CELLS)
		tuple = names->cells;
	error = tuple_size(runtime, tuple, &count);
	if (!error && kind == PYTHON_CELLS && place >= count) {
		place -= count;
		tuple = names->free;
		error = tuple_size(runtime, tuple, &count);
	}
	if (error)
		return error;
	if (place >= count)
		return -ENOENT;
	error = memory_read_u64(runtime->reader,
				tuple + (uint64_t)runtime->layout.offsets.tuple_items +
					place * sizeof(uint64_t),
				&name);
	return error ? error : object_read_string(runtime, name, buffer, size);
}
