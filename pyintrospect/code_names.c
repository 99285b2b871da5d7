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

static remote_addr tuple_of(const struct code_names *names, enum python_names kind)
{
	return kind == PYTHON_LOCALS  ? names->locals
	       : kind == PYTHON_CELLS ? names->cells
				      : names->names;
}

int code_names_count(const struct code_names *names, enum python_names kind, uint32_t *ret_count)
{
	uint64_t count;
	int error = tuple_size(names->runtime, tuple_of(names, kind), &count);

	if (!error && count > UINT32_MAX)
		error = -EBADMSG;
	if (!error)
		*ret_count = (uint32_t)count;
	return error;
}

int code_names_address(const struct code_names *names, enum python_names kind, uint32_t index,
		       remote_addr *ret_name)
{
	const struct python_runtime *runtime = names->runtime;
	remote_addr tuple = tuple_of(names, kind);
	uint64_t count, place = index;
	int error = tuple_size(runtime, tuple, &count);

	if (!error && kind == PYTHON_CELLS && place >= count) {
		place -= count;
		tuple = names->free;
		error = tuple_size(runtime, tuple, &count);
	}
	if (error)
		return error;
	if (place >= count)
		return -ENOENT;
	return memory_read_u64(runtime->reader,
			       tuple + (uint64_t)runtime->layout.offsets.tuple_items +
				       place * sizeof(uint64_t),
			       ret_name);
}

int code_names_read(const struct code_names *names, enum python_names kind, uint32_t index,
		    char *buffer, size_t size)
{
	remote_addr name;
	int error = code_names_address(names, kind, index, &name);

	return error ? error : object_read_string(names->runtime, name, buffer, size);
}
