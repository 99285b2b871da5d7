/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recordings by name, any number of them: the words of a command line, of which "@FILE" stands for
 * the names in a file and "@-" for those on standard input, one a line, or with NULs between them
 * as find -print0 writes. An empty line is none.
 */
#ifndef PIEPROFD_DAEMON_CLI_RECORDING_LIST_H
#define PIEPROFD_DAEMON_CLI_RECORDING_LIST_H

#include "common/error.h"

#include <stddef.h>

#define RECORDING_LIST_MAX       (1u << 20)
#define RECORDING_LIST_BYTES_MAX (256u << 20) /* of one file of names */

struct recording_list { /* all zeros: empty */
	const char **paths;
	size_t count, capacity;
	char **texts; /* what @FILE held */
	size_t text_count, text_capacity;
};

/* Words are borrowed. 0, or -1 with *error filled. */
__attribute__((warn_unused_result)) int recording_list_add(struct recording_list *list,
							   const char *word, struct error *error);
void recording_list_deinit(struct recording_list *list);

#endif
