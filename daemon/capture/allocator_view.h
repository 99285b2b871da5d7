/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PIEPROFD_DAEMON_CAPTURE_ALLOCATOR_VIEW_H
#define PIEPROFD_DAEMON_CAPTURE_ALLOCATOR_VIEW_H

/* What of the interpreter's own allocator probes can see. */
enum allocator_view {
	ALLOCATOR_SEEN,
	ALLOCATOR_INLINED,   /* it lies in its callers: objects of up to 512 bytes are not seen */
	ALLOCATOR_NOT_FOUND, /* there is no table of that kind: likewise */
	ALLOCATOR_VIEW_COUNT
};

#endif
