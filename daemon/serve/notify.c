/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/serve/notify.h"

#include "common/clock.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

void notify_send(const char *state)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const char *path = getenv("NOTIFY_SOCKET");
	size_t length = path ? strlen(path) : 0;
	int fd;

	if ((length < 2 || (*path != '/' && *path != '@')) || length >= sizeof(address.sun_path))
		return;
	memcpy(address.sun_path, path, length);
	/* An abstract name. */
	if (*path == '@')
		address.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return;
	/* Nobody is there to hear that it failed. */
	(void)!sendto(fd, state, strlen(state), MSG_NOSIGNAL, (const struct sockaddr *)&address,
		      (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length));
	close(fd);
}

uint64_t notify_watchdog_ns(void)
{
	const char *interval = getenv("WATCHDOG_USEC"), *pid = getenv("WATCHDOG_PID");
	unsigned long long us;

	if (!interval || (pid && strtol(pid, NULL, 10) != getpid()))
		return 0;
	us = strtoull(interval, NULL, 10);
	return us < UINT64_MAX / NS_PER_US ? us * NS_PER_US / 2 : 0;
}
