/* SPDX-License-Identifier: Apache-2.0 */
#include "pyintrospect/object_type.h"

#include "pyintrospect/runtime_internal.h"

#include <errno.h>
#include <string.h>

#define TYPE_NAME_BYTES 32 /* of those asked for */
#define TYPE_BASE       256
#define PAGE_BYTES      4096

/* Is the type object at this address called name? */
static int check_type_name(const struct python_runtime *runtime, remote_addr type, const char *name)
{
	char text[TYPE_NAME_BYTES];
	size_t size = strlen(name) + 1;
	remote_addr address;
	int error;

	if (size > sizeof(text))
		return -EBADMSG;
	error = memory_read_u64(runtime->reader, type + (uint64_t)runtime->layout.offsets.type_name,
				&address);
	if (!error)
		error = memory_read(runtime->reader, address, text, size);
	if (error)
		return error;
	return memcmp(text, name, size) == 0 ? 0 : -EBADMSG;
}

bool python_type_is(const struct python_runtime *runtime, remote_addr type, const char *name)
{
	return check_type_name(runtime, type, name) == 0;
}

int python_object_type(const struct python_runtime *runtime, remote_addr object,
		       remote_addr *ret_type)
{
	return memory_read_u64(runtime->reader,
			       object + (uint64_t)runtime->layout.offsets.object_type, ret_type);
}

bool python_object_is(const struct python_runtime *runtime, remote_addr object, const char *type)
{
	remote_addr address;

	return python_object_type(runtime, object, &address) == 0 &&
	       check_type_name(runtime, address, type) == 0;
}

int python_type_base(const struct python_runtime *runtime, remote_addr type, remote_addr *ret_base)
{
	return memory_read_u64(runtime->reader, type + TYPE_BASE + object_head_extra(runtime),
			       ret_base);
}

int python_type_name(const struct python_runtime *runtime, remote_addr type, char *name,
		     size_t size)
{
	remote_addr address;
	size_t used = 0;
	int error = memory_read_u64(runtime->reader,
				    type + (uint64_t)runtime->layout.offsets.type_name, &address);

	/* Page by page: what lies behind its end may be unreadable. */
	while (!error && used + 1 < size && !memchr(name, '\0', used)) {
		size_t piece = PAGE_BYTES - (address + used) % PAGE_BYTES;

		if (piece > size - 1 - used)
			piece = size - 1 - used;
		error = memory_read(runtime->reader, address + used, name + used, piece);
		used += error ? 0 : piece;
	}
	name[used] = '\0';
	return error;
}
