/* SPDX-License-Identifier: Apache-2.0 */
/* A look at a heap, or the difference of two, into all files that are asked for, and for a person.
 */
#ifndef PIEPROFD_DAEMON_CLI_HEAP_OUTPUT_H
#define PIEPROFD_DAEMON_CLI_HEAP_OUTPUT_H

#include "common/error.h"
#include "daemon/cli/options.h"
#include "daemon/heap/heap_diff.h"

enum exit_code heap_output_look(const struct options *options, const struct heap_look *look);
enum exit_code heap_output_difference(const struct options *options, const struct heap_file *base,
				      const struct heap_file *now);

#endif
