/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which of a sample's sites are to be looked at next, call by call: what is known
 * least of. Pure.
 */
#ifndef PIEPROFD_DAEMON_DETECT_ARGUMENT_CHOICE_H
#define PIEPROFD_DAEMON_DETECT_ARGUMENT_CHOICE_H

#include "daemon/detect/argument_log.h"

/* Comparisons of a site's calls with the ones before, after which enough is known. */
#define ARGUMENT_COMPARISONS 24

/* The same for calls in a row: what recurs after a while is only seen among many. */
#define ARGUMENT_ROWS 8

/* What argument_watch.h is to compare next. */
struct argument_choice {
	const struct python_frame *frame; /* NULL: nothing needs to be */
	uint32_t site;
	unsigned row;  /* it is worth so many calls in a row; 0: it is not */
	bool at_entry; /* calls of the frame's function, not those of its instruction */
};

/*
 * Is less known of the calls that the sample's innermost own frame makes than the time in them
 * would have it? Native code offers an access to watch at every sample, and would take all of them.
 */
bool argument_is_behind(const struct argument_log *log, const struct argument_sample *sample);

/*
 * own: of each frame of the sample, its number among the stack's frames. busy: a site that is being
 * watched, and is none to choose; ID_NONE: there is none. The effort is counted in the log.
 */
struct argument_choice argument_choose(struct argument_log *log,
				       const struct argument_sample *sample, const size_t *own,
				       const struct python_frame *frames, uint32_t busy);

#endif
