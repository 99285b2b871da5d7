/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cli/message.h"

#include <stdio.h>

void message_error(const struct error *error)
{
	fprintf(stderr, "pieprofd: %s\n", error->cause);
	if (error->cure[0])
		fprintf(stderr, "  %s\n", error->cure);
	if (error->exit_code == EXIT_PERMISSION)
		fputs("  pieprofd doctor says what works here, and how to get what does not.\n",
		      stderr);
}
