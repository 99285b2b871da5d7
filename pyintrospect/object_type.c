/* SPDX-License-Identifier: Apache-2.0 */
#include "pyintrospect/object_type.h"

#include "pyintrospect/runtime_internal.h"

#include <errno.h>
#include <string.h>

#define TYPE_NAME_BYTES 32 /* of those asked for */

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

bool python_object_is(const struct python_runtime *runtime, remote_addr object, const char *type)
{
	remote_addr address;

	return memory_read_u64(runtime->reader,
			       object + (uint64_t)runtime->layout.offsets.object_type,
			       &address) == 0 &&
	       check_type_name(runtime, address, type) == 0;
}
