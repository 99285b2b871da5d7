/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes, at a time sample, what the program's own frames work on, into the
 * argument log. While the thread waits: what its calls work on changes as soon
 * as it runs. Two to ten system calls, and more for contents; so these are
 * read of a site that is well known in one sample of ARGUMENT_RARE.
 */
#ifndef PIEPROFD_DAEMON_DETECT_ARGUMENT_SAMPLER_H
#define PIEPROFD_DAEMON_DETECT_ARGUMENT_SAMPLER_H

#include "daemon/capture/capture.h"
#include "daemon/cct/cct.h"
#include "daemon/detect/argument_choice.h"
#include "daemon/detect/argument_compared.h"
#include "daemon/detect/argument_log.h"

#define ARGUMENT_KNOWN_SAMPLES 32
#define ARGUMENT_RARE          8
/* What could be keys of a cache is read fast, and may come back long after. */
#define ARGUMENT_KEYED_SAMPLES 128

struct argument_sampler;

/* target has a runtime; borrowed. NULL: no memory. */
struct argument_sampler *argument_sampler_create(struct target *target);
void argument_sampler_destroy(struct argument_sampler *sampler);

/* In the stop, after capture_take(). */
void argument_sampler_take(struct argument_sampler *sampler, const struct capture *capture);

/*
 * The same of a thread that nobody has stopped, its stack just read. moves: it may have run on
 * meanwhile. Then what its calls work on is read again at the end, and counts where it is still the
 * same: of long calls more often than of short ones, so that such a sample stands for no time.
 */
void argument_sampler_peek(struct argument_sampler *sampler, const struct python_stack *stack,
			   bool moves);

/* Afterwards: what was taken is logged as this sample's. Without a taking: nothing. */
void argument_sampler_log(struct argument_sampler *sampler, uint64_t event_ns, uint64_t time_ns,
			  uint32_t node);

/* In the stop after a sample was taken: argument_is_behind() of it. */
bool argument_sampler_is_behind(const struct argument_sampler *sampler);

/*
 * In the stop after a sample was taken: of its frames with operands that can be
 * compared, and of its functions that are called from several places, the one that
 * has been compared least.
 */
struct argument_choice argument_sampler_choose(struct argument_sampler *sampler,
					       const struct capture *capture, uint32_t busy);

/* Of an instruction that the innermost frame is about to begin. False: some cannot be compared. */
bool argument_sampler_read_next(struct argument_sampler *sampler, const struct capture *capture,
				int offset, struct argument_contents *ret_contents);
/* Is the innermost frame's function called there, or the site no place of a call? */
bool argument_sampler_is_called_from(const struct argument_sampler *sampler,
				     const struct capture *capture, uint32_t id);
/* Of the call that the innermost frame has begun with: its arguments. The same. */
bool argument_sampler_read_entry(struct argument_sampler *sampler, const struct capture *capture,
				 struct argument_contents *ret_contents);
/* A call of the site, and the one before it. */
void argument_sampler_compared(struct argument_sampler *sampler, uint32_t site,
			       struct argument_contents contents, struct argument_contents before);
/* A row of calls is over: the contents of each, and the thread's CPU time when it began. */
void argument_sampler_row(struct argument_sampler *sampler, uint32_t site,
			  const struct argument_contents *contents, const uint64_t *running_ns,
			  unsigned count);
struct operand_reader *argument_sampler_operands(const struct argument_sampler *sampler);

/* Its samples stand for the tree's time from now on (argument_weight.h), as far as memory goes. */
void argument_sampler_weigh(struct argument_sampler *sampler, const struct cct *cct);
const struct argument_log *argument_sampler_argument_log(const struct argument_sampler *sampler);

#endif
