/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cli/message.h"

#include "daemon/cli/confinement.h"

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

bool message_privileges_are_kept(int failure)
{
	struct error error;

	if (!confinement_has_failed(failure))
		return false;
	confinement_explain(failure, &error);
	message_error(&error);
	return true;
}
