/* SPDX-License-Identifier: Apache-2.0 */
/* What commands give up that read files alone: recordings and looks, which may come from anywhere.
 */
#ifndef PIEPROFD_DAEMON_CLI_FILE_CONFINEMENT_H
#define PIEPROFD_DAEMON_CLI_FILE_CONFINEMENT_H

#include "common/error.h"
#include "daemon/cli/options.h"

/*
 * Keeps what is needed for the files to read and the outputs of the options, and filters system
 * calls where that is possible. EXIT_OK, or else why is said.
 */
enum exit_code file_confinement_begin(const struct options *options, const char *const *read,
				      size_t read_count);

#endif
