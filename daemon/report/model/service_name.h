/* SPDX-License-Identifier: Apache-2.0 */
/* What a process is called among services. */
#ifndef PIEPROFD_DAEMON_REPORT_MODEL_SERVICE_NAME_H
#define PIEPROFD_DAEMON_REPORT_MODEL_SERVICE_NAME_H

#include "daemon/report/model/profile.h"

struct service_name {
	char text[128];
};

/* Of a command, its words with spaces between them: "web" of "python3 -u /srv/web.py --port 1",
 * "http.server" of "python3 -m http.server", "gunicorn" of "/usr/bin/gunicorn app:app"; else what
 * OpenTelemetry has for it, "unknown_service:python". */
struct service_name service_name_of_command(const char *command);

/* Of its label (process_labels.h), or else of a container's name, or else of the command. process:
 * NULL: the profile's one. */
struct service_name service_name_of(const struct profile *profile,
				    const struct profile_process *process);

#endif
