/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which memory accesses are worth watching: those that a native library makes
 * on behalf of Python code, to memory that is neither the thread's own nor the
 * head of an object. Asked while the thread waits.
 */
#ifndef PIEPROFD_DAEMON_DETECT_SAMPLE_FILTER_H
#define PIEPROFD_DAEMON_DETECT_SAMPLE_FILTER_H

#include "attach/access.h"
#include "daemon/capture/capture.h"
#include "daemon/capture/loss.h"
#include "daemon/detect/object_head.h"

struct sample_filter {
	struct target *target; /* borrowed */
	struct object_types types;
};

/* All of these: LOSS_COUNT when nothing speaks against it, else the reason. */

/* Code at this address. */
enum loss sample_filter_code(const struct sample_filter *filter, remote_addr instruction);

/* The native call in which the thread stopped; capture then has its frames. */
enum loss sample_filter_call(const struct sample_filter *filter, struct capture *capture);

enum loss sample_filter_access(struct sample_filter *filter, const struct capture *capture,
			       const struct access *access);

#endif
