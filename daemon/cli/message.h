/* SPDX-License-Identifier: Apache-2.0 */
/* What went wrong, said to a person on standard error. */
#ifndef PIEPROFD_DAEMON_CLI_MESSAGE_H
#define PIEPROFD_DAEMON_CLI_MESSAGE_H

#include "common/error.h"

void message_error(const struct error *error);

#endif
