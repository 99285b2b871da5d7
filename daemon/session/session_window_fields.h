/* SPDX-License-Identifier: Apache-2.0 */
/* What of a session's own figures a window subtracts. */
#ifndef PIEPROFD_DAEMON_SESSION_SESSION_WINDOW_FIELDS_H
#define PIEPROFD_DAEMON_SESSION_SESSION_WINDOW_FIELDS_H

#include "daemon/cct/window_fields.h"

extern const struct window_table window_profile_thread, window_profile_stack, window_profile_facts;

#endif
