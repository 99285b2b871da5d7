/* SPDX-License-Identifier: Apache-2.0 */
/* Where profiles are pushed to. */
#ifndef PIEPROFD_DAEMON_PUSH_PUSH_URL_H
#define PIEPROFD_DAEMON_PUSH_PUSH_URL_H

#include "common/error.h"
#include "daemon/push/push_protocol.h"

#define PUSH_URL_BYTES 1024

struct push_url {
	char text[PUSH_URL_BYTES]; /* to be asked: a URL without a path gets the protocol's */
	char host[256];
	char port[8];
};

/* "http://collector:4318", "https://host/v1development/profiles"; of gRPC, no path but its own. No
 * user or password is taken:
 * command lines are public. 0, or -1 with *error filled. */
__attribute__((warn_unused_result)) int push_url_parse(const char *text,
						       enum push_protocol protocol,
						       struct push_url *ret_url,
						       struct error *error);

#endif
