/* SPDX-License-Identifier: Apache-2.0 */
#include "pyintrospect/frame_globals.h"

#include "common/memory.h"
#include "pyintrospect/runtime_internal.h"

/* Of PyFrameObject to 3.10, _PyInterpreterFrame of 3.11, and of 3.12 and later. */
#define GLOBALS_TO_3_10   48
#define GLOBALS_3_11      8
#define GLOBALS_FROM_3_12 24

int frame_globals(const struct python_runtime *runtime, const struct python_frame *frame,
		  remote_addr *ret_dict)
{
	int minor = runtime->layout.minor;
	uint64_t offset = minor <= 10   ? GLOBALS_TO_3_10
			  : minor == 11 ? GLOBALS_3_11
					: GLOBALS_FROM_3_12;

	return memory_read_u64(runtime->reader, frame->address + offset, ret_dict);
}
