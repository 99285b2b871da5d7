/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loops that copy a list, text or buffer item by item (bytecode/copy_loop.h), for which a slice
 * would do. Pure.
 */
#ifndef PIEPROFD_DAEMON_DETECT_ARGUMENT_COPY_H
#define PIEPROFD_DAEMON_DETECT_ARGUMENT_COPY_H

#include "daemon/detect/argument_facts.h"

/* Sets copy_taken and copy_call, of a site whose call is known. */
void argument_copy_judge(struct argument_facts *facts, const struct argument_site *site,
			 const struct bytecode *bytecode);

/* Sets copy_site of the sites in such loops, and what is saved there. Facts are gathered. */
void argument_copy_find(struct argument_facts *facts, const struct argument_log *log);

/* Of a site whose finding is ARGUMENT_ELEMENTS: of a list or text, which can be copied alone. */
bool argument_copies(const struct argument_site *site);

#endif
