/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/serve/listener.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define BACKLOG     64
#define UNIX_PREFIX "unix:"

static bool is_loopback(const struct sockaddr_storage *address)
{
	struct in6_addr v6;

	if (address->ss_family == AF_INET)
		return ntohl(((const struct sockaddr_in *)address)->sin_addr.s_addr) >> 24 == 127;
	v6 = ((const struct sockaddr_in6 *)address)->sin6_addr;
	return IN6_IS_ADDR_LOOPBACK(&v6) || (IN6_IS_ADDR_V4MAPPED(&v6) && v6.s6_addr[12] == 127);
}

/* A number from 0 to 65535 and nothing else. */
static int parse_port(const char *text, in_port_t *ret_port)
{
	unsigned port = 0;

	if (!*text || strlen(text) > 5)
		return -EINVAL;
	for (; *text; text++) {
		if (*text < '0' || *text > '9')
			return -EINVAL;
		port = port * 10 + (unsigned)(*text - '0');
	}
	if (port > UINT16_MAX)
		return -EINVAL;
	*ret_port = htons((uint16_t)port);
	return 0;
}

/* Host and port, the host without brackets. */
static int split(const char *text, char *host, size_t size, const char **ret_port)
{
	const char *colon = strrchr(text, ':');
	size_t length = colon ? (size_t)(colon - text) : 0;

	if (!length || length >= size)
		return -EINVAL;
	if (*text == '[') {
		if (length < 3 || text[length - 1] != ']')
			return -EINVAL;
		text++;
		length -= 2;
	} else if (memchr(text, ':', length)) {
		return -EINVAL;
	}
	memcpy(host, text, length);
	host[length] = '\0';
	*ret_port = colon + 1;
	return 0;
}

static int parse_internet(const char *text, struct listener_address *address)
{
	struct sockaddr_in *v4 = (struct sockaddr_in *)&address->socket;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&address->socket;
	char host[64];
	const char *port;
	in_port_t number;

	if (split(text, host, sizeof(host), &port) || parse_port(port, &number))
		return -EINVAL;
	if (!strcasecmp(host, "localhost"))
		snprintf(host, sizeof(host), "127.0.0.1");
	if (inet_pton(AF_INET, host, &v4->sin_addr) == 1) {
		v4->sin_family = AF_INET;
		v4->sin_port = number;
		address->size = sizeof(*v4);
	} else if (inet_pton(AF_INET6, host, &v6->sin6_addr) == 1) {
		v6->sin6_family = AF_INET6;
		v6->sin6_port = number;
		address->size = sizeof(*v6);
	} else {
		return -EINVAL;
	}
	address->is_loopback = is_loopback(&address->socket);
	return 0;
}

static int parse_unix(const char *path, struct listener_address *address)
{
	struct sockaddr_un *socket = (struct sockaddr_un *)&address->socket;

	if (!*path || strlen(path) >= sizeof(socket->sun_path))
		return -ENAMETOOLONG;
	socket->sun_family = AF_UNIX;
	memcpy(socket->sun_path, path, strlen(path));
	address->size = sizeof(*socket);
	address->is_unix = true;
	return 0;
}

int listener_parse(const char *text, struct listener_address *ret_address, struct error *error)
{
	struct listener_address address = { 0 };
	bool is_unix = !strncmp(text, UNIX_PREFIX, strlen(UNIX_PREFIX));

	if (is_unix ? parse_unix(text + strlen(UNIX_PREFIX), &address)
		    : parse_internet(text, &address)) {
		error_set(error, EXIT_USAGE,
			  is_unix ? "--listen %s: expected a path of up to 107 bytes"
				  : "--listen %s: expected 127.0.0.1:6061, [::1]:6061 or unix:PATH",
			  text);
		return -1;
	}
	*ret_address = address;
	return 0;
}

/* A Unix socket that nobody listens on any more. */
static void remove_stale(const struct listener_address *address)
{
	const struct sockaddr_un *socket_address = (const struct sockaddr_un *)&address->socket;
	struct stat status;
	int fd;

	if (lstat(socket_address->sun_path, &status) < 0 || !S_ISSOCK(status.st_mode))
		return;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return;
	if (connect(fd, (const struct sockaddr *)&address->socket, address->size) < 0 &&
	    errno == ECONNREFUSED)
		(void)unlink(socket_address->sun_path);
	close(fd);
}

static int bind_address(int fd, const struct listener_address *address)
{
	mode_t mask;
	int result, one = 1;

	if (!address->is_unix) {
		(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
		return bind(fd, (const struct sockaddr *)&address->socket, address->size) ? -errno
											  : 0;
	}
	remove_stale(address);
	/* From the first moment: nobody else is to connect before a chmod. */
	mask = umask(0177);
	result = bind(fd, (const struct sockaddr *)&address->socket, address->size) ? -errno : 0;
	(void)umask(mask);
	return result;
}

static void write_name(struct listener *listener)
{
	const struct sockaddr_storage *address = &listener->address.socket;
	char host[INET6_ADDRSTRLEN] = "";

	if (listener->address.is_unix) {
		const struct sockaddr_un *path = (const struct sockaddr_un *)address;

		snprintf(listener->path, sizeof(listener->path), "%s", path->sun_path);
		snprintf(listener->name, sizeof(listener->name), "unix:%s", path->sun_path);
	} else if (address->ss_family == AF_INET) {
		const struct sockaddr_in *v4 = (const struct sockaddr_in *)address;

		inet_ntop(AF_INET, &v4->sin_addr, host, sizeof(host));
		snprintf(listener->name, sizeof(listener->name), "http://%s:%u/", host,
			 ntohs(v4->sin_port));
	} else {
		const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)address;

		inet_ntop(AF_INET6, &v6->sin6_addr, host, sizeof(host));
		snprintf(listener->name, sizeof(listener->name), "http://[%s]:%u/", host,
			 ntohs(v6->sin6_port));
	}
}

int listener_open(const struct listener_address *address, struct listener *ret_listener,
		  struct error *error)
{
	struct listener listener = { .address = *address };
	socklen_t size = sizeof(listener.address.socket);
	int failure = 0;

	listener.fd =
		socket(address->socket.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (listener.fd < 0)
		failure = -errno;
	if (!failure)
		failure = bind_address(listener.fd, address);
	if (!failure && listen(listener.fd, BACKLOG) < 0)
		failure = -errno;
	/* Which port it has become. */
	if (!failure && !address->is_unix &&
	    getsockname(listener.fd, (struct sockaddr *)&listener.address.socket, &size) < 0)
		failure = -errno;
	if (failure) {
		write_name(&listener);
		error_set(error, failure == -EACCES ? EXIT_PERMISSION : EXIT_USAGE,
			  "cannot listen on %s: %s", listener.name, strerror(-failure));
		if (listener.fd >= 0)
			close(listener.fd);
		return -1;
	}
	write_name(&listener);
	*ret_listener = listener;
	return 0;
}

void listener_close(struct listener *listener)
{
	if (listener->path[0])
		(void)unlink(listener->path);
	listener->path[0] = '\0';
}

bool listener_accepts_host(const struct listener *listener, const char *host)
{
	struct listener_address named = { 0 };
	char text[128];

	if (!listener->address.is_loopback)
		return true; /* a Unix socket, or a token decides */
	if (!host || strlen(host) > 80)
		return false;
	/* The port may be another one: that of a tunnel. It may be missing, too. */
	snprintf(text, sizeof(text), "%s%s", host,
		 strrchr(host, ':') && host[strlen(host) - 1] != ']' ? "" : ":80");
	return !parse_internet(text, &named) && named.is_loopback;
}
