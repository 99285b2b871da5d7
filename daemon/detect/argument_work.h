/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions that do the same work in each call, whatever they are called with, or
 * without any argument: at each place of their loops they work on what they worked on
 * there in a call before.
 *
 *   def table():
 *       for size in SIZES:              places: how many sizes are left
 *           rows.append(price(size))    price() gets the same size at the same place
 *
 * Pure.
 */
#ifndef PIEPROFD_DAEMON_DETECT_ARGUMENT_WORK_H
#define PIEPROFD_DAEMON_DETECT_ARGUMENT_WORK_H

#include "daemon/detect/argument_log.h"

#define ARGUMENT_WORK_PLACES 128

/* Of a site. */
struct argument_work {
	uint32_t places; /* seen */
	uint64_t keys[ARGUMENT_WORK_PLACES];
	uint64_t contents[ARGUMENT_WORK_PLACES];
	uint64_t calls[ARGUMENT_WORK_PLACES]; /* the one that was seen there last */
	uint32_t pairs, alike;                /* of two calls at one place; of the same contents */
	uint32_t judged, state; /* samples, and those that work on what cannot be read */
	/* Of the first site of a code: one of its sites mostly works on others, or on state. */
	bool refuted;
	bool same; /* of the first site of a code: the function does the same in each call */
};

/* A sample of the site that was read, in order of time. call: which one of its function's. */
void argument_work_count(struct argument_work *work, const struct argument_frame *frame,
			 uint64_t call);

#endif
