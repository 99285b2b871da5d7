/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where requests come in: a Unix socket of its owner alone, a port of the
 * loopback interface, or, where that was allowed, another address.
 */
#ifndef PIEPROFD_DAEMON_SERVE_LISTENER_H
#define PIEPROFD_DAEMON_SERVE_LISTENER_H

#include "common/error.h"

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/un.h>

struct listener_address {
	struct sockaddr_storage socket;
	socklen_t size;
	bool is_unix;
	bool is_loopback;
};

/*
 * "127.0.0.1:6061", "[::1]:6061", "localhost:6061", "unix:/run/x.socket"; port 0
 * is any that is free. 0, or -1 with *error filled.
 */
__attribute__((warn_unused_result)) int listener_parse(const char *text,
						       struct listener_address *ret_address,
						       struct error *error);

struct listener {
	int fd;
	struct listener_address address;
	char name[160];                                         /* for a person: a URL */
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)]; /* "": no Unix socket */
};

/* A socket that nobody answers any more is replaced. 0, or -1 with *error filled. */
__attribute__((warn_unused_result)) int listener_open(const struct listener_address *address,
						      struct listener *ret_listener,
						      struct error *error);
/* Takes the path away. The descriptor is closed by whoever accepts on it. */
void listener_close(struct listener *listener);

/*
 * Whether a request's Host names us, as far as that can be told: on the loopback
 * interface a name that somebody else's DNS resolves to it does not, so that no
 * web page reads what is served here (DNS rebinding).
 */
bool listener_accepts_host(const struct listener *listener, const char *host);

#endif
