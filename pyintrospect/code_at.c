/* SPDX-License-Identifier: Apache-2.0 */
#include "pyintrospect/code_at.h"

#include "pyintrospect/code_cache.h"
#include "pyintrospect/field.h"
#include "pyintrospect/runtime_internal.h"

#include <errno.h>

int code_at(struct python_runtime *runtime, remote_addr address,
	    const struct python_code **ret_code)
{
	struct remote_copy *copy = &runtime->copy;
	const uint8_t *head;
	int error;

	remote_copy_begin(copy, NULL);
	error = remote_copy_read(copy, address, runtime->sizes.code, &head);
	if (error)
		return error;
	if (field_u64(head, runtime->layout.offsets.object_type) != runtime->code_type)
		return -EBADMSG;
	code_cache_want(runtime->codes, &runtime->layout, address, head, copy);
	error = remote_copy_fetch(copy);
	return error ? error
		     : code_cache_resolve(runtime->codes, &runtime->layout, address, head, copy,
					  ret_code);
}
