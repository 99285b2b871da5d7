/* SPDX-License-Identifier: Apache-2.0 */
/* What to call a frame's function. */
#ifndef PIEPROFD_DAEMON_REPORT_MODEL_FRAME_FUNCTION_H
#define PIEPROFD_DAEMON_REPORT_MODEL_FRAME_FUNCTION_H

#include "daemon/report/model/profile.h"

/*
 * Its name, or for a native one without name its address, the function's start
 * where that is known, with its library ("libfoo.so+0x2b72") or without
 * ("0x2b72"). Returns the name or the buffer. Not escaped.
 */
const char *frame_function(const struct profile_frame *frame, bool with_library, char *buffer,
			   size_t size);

#define FRAME_FUNCTION_BYTES 280 /* a longest file name and an address */

#endif
