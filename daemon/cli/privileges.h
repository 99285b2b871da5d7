/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a command that could not give up what it may do (confinement.h). */
#ifndef PIEPROFD_DAEMON_CLI_PRIVILEGES_H
#define PIEPROFD_DAEMON_CLI_PRIVILEGES_H

#include <stdbool.h>

/* failure: of a function of confinement.h. True, and said: who cannot give it up goes no further.
 */
bool privileges_are_kept(int failure);

#endif
