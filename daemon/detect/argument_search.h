/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who looks through all of a sequence for what is equal to something, again for each
 * value: a loop with a comparison (bytecode/search_loop.h), or array == value in a loop.
 */
#ifndef PIEPROFD_DAEMON_DETECT_ARGUMENT_SEARCH_H
#define PIEPROFD_DAEMON_DETECT_ARGUMENT_SEARCH_H

#include "daemon/detect/argument_facts.h"

/* Sets what bytecode and comparisons say of a site whose call is known: searched, search_compare,
 * search_same. */
void argument_search_judge(struct argument_facts *facts, const struct argument_site *site,
			   const struct bytecode *bytecode);

/* A sample of a site: what its loop goes over, beside the sample before. */
void argument_search_count(struct argument_facts *facts, const struct argument_frame *frame);

/* Sets the sites' search_site, where samples in them are part of a search. Facts are gathered. */
void argument_search_find(struct argument_facts *facts, const struct argument_log *log);

/*
 * The site that searches, if frame f of the sample is part of a search that begins anew
 * in each round of a loop around, over the same; ID_NONE: it is not, or that is not known.
 * 0 or -ENOMEM.
 */
__attribute__((warn_unused_result)) int argument_search_site(struct argument_facts *facts,
							     const struct argument_log *log,
							     struct call_site_table *sites,
							     const struct argument_sample *sample,
							     unsigned f, uint32_t *ret_site);

#endif
