/* SPDX-License-Identifier: Apache-2.0 */
/* Expressions that were computed before (bytecode/common_subexpression.h): is that a waste, by what
 * samples saw of their calls? */
#ifndef PIEPROFD_DAEMON_DETECT_ARGUMENT_COMMON_H
#define PIEPROFD_DAEMON_DETECT_ARGUMENT_COMMON_H

#include "daemon/detect/argument_facts.h"

/* Sets what bytecode says of a site: common. */
void argument_common_judge(struct argument_facts *facts, const struct argument_site *site,
			   const struct bytecode *bytecode);

/* Sets the sites' common_site and is_common_first, and what callers of their code do. Facts are
 * gathered. */
void argument_common_find(struct argument_facts *facts, const struct argument_log *log);

/* Some calls of the site's function get what the one before got, and nearly all are made by places
 * of which one has the result, and the other could spare it. */
bool argument_common_calls(const struct argument_facts *facts, uint32_t site);

/* The site that speaks for all of what was computed before, of which id is part: the one that has
 * its result, where that was ever sampled. */
uint32_t argument_common_result(const struct argument_facts *facts, const struct argument_log *log,
				uint32_t id);

#endif
