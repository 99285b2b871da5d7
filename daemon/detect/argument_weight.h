/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the samples of a log (argument_log.h) stand for, where time is known better than by
 * themselves: by samples of the kernel's, ten for each that was stopped. A line's samples share
 * the line's time:
 *
 *   time by line, of the tree   |############|#####|   |##|
 *   stopped samples of the line  .  .    .     .  .      .
 *
 * So what a finding could save has the chance of a thousand samples and not of a hundred; which
 * part of a line's samples speaks for it is still theirs to say. The time of lines that no sample
 * was stopped in belongs to none.
 */
#ifndef PIEPROFD_DAEMON_DETECT_ARGUMENT_WEIGHT_H
#define PIEPROFD_DAEMON_DETECT_ARGUMENT_WEIGHT_H

#include "daemon/cct/cct.h"
#include "daemon/detect/argument_log.h"

/* May be asked again when the tree has grown. 0; -ENOMEM: some keep what they had. */
__attribute__((warn_unused_result)) int argument_log_weigh(struct argument_log *log,
							   const struct cct *cct);

#endif
