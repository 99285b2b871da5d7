/* SPDX-License-Identifier: Apache-2.0 */
/* What recordings can be told apart by: report --by LABEL. */
#ifndef PIEPROFD_DAEMON_CLI_FLEET_LABEL_H
#define PIEPROFD_DAEMON_CLI_FLEET_LABEL_H

#include "daemon/report/model/profile.h"

#include <stdio.h>

#define FLEET_LABEL_BYTES 256

struct fleet_label {
	const char *name;
	/* What a profile has of it, cut; "": not known, or not the same of all its processes. */
	void (*read)(const struct profile *profile, char *text, size_t size);
};

/* NULL: there is none of that name. */
const struct fleet_label *fleet_label_by_name(const char *name);
/* "service, version, ...". */
void fleet_label_names(FILE *file);

#endif
