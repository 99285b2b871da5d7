/* SPDX-License-Identifier: Apache-2.0 */
/* What happens inside of a function of the program's own, which may speak against its calls. Pure.
 */
#ifndef PIEPROFD_DAEMON_DETECT_ARGUMENT_INSIDE_H
#define PIEPROFD_DAEMON_DETECT_ARGUMENT_INSIDE_H

#include "daemon/detect/argument_facts.h"

/* Room for one a site. */
struct argument_inside {
	uint32_t samples; /* of this inner site */
	uint32_t under;   /* of them, with the outer one around */
	uint32_t looped;  /* and of these, in a loop or a library in between: many a call of it */
};

/*
 * Takes back same, again, few, and an entry's calls, where equal arguments do not make
 * a function's work the same: it works on state that cannot be read, or on other values.
 */
void argument_refute_inside(struct argument_facts *facts, struct argument_inside *inside,
			    const struct argument_log *log);

#endif
