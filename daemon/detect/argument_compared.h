/* SPDX-License-Identifier: Apache-2.0 */
/* A call beside the one before it: what their contents say of the site that makes them. Pure. */
#ifndef PIEPROFD_DAEMON_DETECT_ARGUMENT_COMPARED_H
#define PIEPROFD_DAEMON_DETECT_ARGUMENT_COMPARED_H

#include "daemon/detect/argument_log.h"

/* What the operands of a call hold. */
struct argument_contents {
	uint64_t number;  /* equal for equal contents */
	uint64_t objects; /* equal for the same objects */
	uint64_t items;   /* or bytes, of the largest operand that is a sequence; 0: none is */
	uint64_t sketch;  /* of that operand, and where it begins (contents/content_kind.h) */
	remote_addr part;
	uint32_t first; /* of what it is given first: equal for equal contents; 0: not told */
};

void argument_site_compared(struct argument_site *site, struct argument_contents contents,
			    struct argument_contents before);

#endif
