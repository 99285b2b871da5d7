/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes, at a time sample, what the program's own frames work on, into the
 * argument log. While the thread waits: what its calls work on changes as soon
 * as it runs. Two to ten system calls, 20 to 60 us; so of a site that is well
 * known only one sample in ARGUMENT_RARE is looked into.
 */
#ifndef PIEPROFD_DAEMON_DETECT_ARGUMENT_SAMPLER_H
#define PIEPROFD_DAEMON_DETECT_ARGUMENT_SAMPLER_H

#include "daemon/capture/capture.h"
#include "daemon/detect/argument_log.h"

#define ARGUMENT_KNOWN_SAMPLES 64
#define ARGUMENT_RARE          8

struct argument_sampler;

/* target has a runtime; borrowed. NULL: no memory. */
struct argument_sampler *argument_sampler_create(struct target *target);
void argument_sampler_destroy(struct argument_sampler *sampler);

/* In the stop, after capture_take(). */
void argument_sampler_take(struct argument_sampler *sampler, const struct capture *capture);

/* Afterwards: what was taken is logged as this sample's. Without a taking: nothing. */
void argument_sampler_log(struct argument_sampler *sampler, uint64_t event_ns, uint64_t time_ns,
			  uint32_t node);

const struct argument_log *argument_sampler_argument_log(const struct argument_sampler *sampler);

#endif
