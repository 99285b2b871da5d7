/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is a native call made from the same Python code as an earlier one? Asked in the
 * stop, when the later one has no calling context yet.
 */
#ifndef PIEPROFD_DAEMON_DETECT_SAME_CALL_H
#define PIEPROFD_DAEMON_DETECT_SAME_CALL_H

#include "daemon/capture/capture.h"
#include "daemon/cct/cct.h"

/* The innermost Python frame is at the same instruction. first may be NULL: false. */
bool same_call_python(const struct cct_node *first, const struct capture *capture);

/* The innermost one outside of libraries is: some function of a library's makes both. */
bool same_call_user(const struct cct_node *first, const struct capture *capture);

#endif
