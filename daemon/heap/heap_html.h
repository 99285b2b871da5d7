/* SPDX-License-Identifier: Apache-2.0 */
/* What the page of a look and that of a difference have in common. */
#ifndef PIEPROFD_DAEMON_HEAP_HEAP_HTML_H
#define PIEPROFD_DAEMON_HEAP_HEAP_HTML_H

#include "daemon/heap/heap_tree.h"

#include <stdio.h>

/* Of a flame graph: more cannot be told apart, and the page is to stay small. */
#define HEAP_HTML_NODES_MAX 20000
#define HEAP_HTML_REGIONS   8

struct heap_html_region {
	const char *name, *words;
	uint64_t bytes;
};

/* The parts of what is in RAM, which add up to it. */
void heap_html_regions(const struct heap_regions *regions,
		       struct heap_html_region ret_regions[HEAP_HTML_REGIONS]);

/* A tree as members of a JSON object, without its braces: frames, depth, frame, bytes, count,
 * folded. */
void heap_html_tree(FILE *file, const struct heap_tree *tree);

#endif
