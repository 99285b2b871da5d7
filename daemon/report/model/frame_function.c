/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/model/frame_function.h"

#include "daemon/report/encode/escape.h"

#include <stdio.h>
#include <string.h>

const char *frame_function(const struct profile_frame *frame, bool with_library, char *buffer,
			   size_t size)
{
	uint64_t address = frame->function_address ? frame->function_address : frame->address;
	char library[LIBRARY_NAME_BYTES];

	if (frame->kind != FRAME_NATIVE || strcmp(frame->function, "?") != 0 || !address)
		return frame->function;
	if (with_library && strcmp(frame->file, "?") != 0)
		snprintf(buffer, size, "%.250s+0x%llx",
			 library_name(frame->file, library, sizeof(library)),
			 (unsigned long long)address);
	else
		snprintf(buffer, size, "0x%llx", (unsigned long long)address);
	return buffer;
}
