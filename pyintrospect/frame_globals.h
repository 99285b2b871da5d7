/* SPDX-License-Identifier: Apache-2.0 */
/* The globals that a frame's function sees: its module's dict. */
#ifndef PIEPROFD_PYINTROSPECT_FRAME_GLOBALS_H
#define PIEPROFD_PYINTROSPECT_FRAME_GLOBALS_H

#include "pyintrospect/python_frame.h"
#include "pyintrospect/runtime.h"

/* Where the dict lies. Whether it is one, object_reader.h tells. 0 or what the reader said. */
__attribute__((warn_unused_result)) int frame_globals(const struct python_runtime *runtime,
						      const struct python_frame *frame,
						      remote_addr *ret_dict);

#endif
