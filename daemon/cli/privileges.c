/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cli/privileges.h"

#include "daemon/cli/confinement.h"
#include "daemon/cli/message.h"

bool privileges_are_kept(int failure)
{
	struct error error;

	if (!confinement_has_failed(failure))
		return false;
	confinement_explain(failure, &error);
	message_error(&error);
	return true;
}
