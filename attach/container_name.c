/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/container_name.h"

#include "attach/procfs.h"
#include "common/root_file.h"
#include "common/whole_file.h"

#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Between a process and its monitor: what started it in the container. */
#define ANCESTORS_MAX 64
/* Docker's file has the image's labels and environment. */
#define FILE_BYTES_MAX  ((size_t)4 << 20)
#define DOCKER_SETTINGS "/etc/docker/daemon.json"
#define DOCKER_ROOT     "/var/lib/docker"

static bool is_name(const char *text)
{
	size_t size = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				   "_.-");

	return size && size < CONTAINER_NAME_BYTES && !text[size] &&
	       isalnum((unsigned char)text[0]);
}

/* ---- conmon ---- */

/* The word behind an option, or behind its "=". NULL: it is not there. */
static const char *value_of(const char *const *words, const char *letter, const char *longer)
{
	size_t size = strlen(longer);

	for (size_t i = 0; words[i]; i++) {
		if (!strcmp(words[i], letter) || !strcmp(words[i], longer))
			return words[i + 1];
		if (!strncmp(words[i], longer, size) && words[i][size] == '=')
			return words[i] + size + 1;
		/* What follows is for podman, when the container has ended. */
		if (!strcmp(words[i], "--exit-command"))
			break;
	}
	return NULL;
}

int container_parse_monitor(const char *const *words, struct container *ret_container)
{
	struct container container = { .runtime = "podman" };
	const char *slash = words[0] ? strrchr(words[0], '/') : NULL, *id, *name;

	if (!words[0] || strcmp(slash ? slash + 1 : words[0], "conmon") != 0)
		return -ENOENT;
	id = value_of(words, "-c", "--cid");
	name = value_of(words, "-n", "--name");
	if (!id || !container_is_id(id, strlen(id)))
		return -ENOENT;
	memcpy(container.id, id, sizeof(container.id));
	if (name && is_name(name))
		strcpy(container.name, name);
	*ret_container = container;
	return 0;
}

static int monitor_read(pid_t pid, struct container *ret_container)
{
	char **words;
	int error = procfs_read_command(pid, &words);

	if (error)
		return error;
	error = container_parse_monitor((const char *const *)words, ret_container);
	free(words);
	return error;
}

int container_read_monitor(pid_t pid, struct container *ret_container)
{
	struct process_status status;

	for (unsigned i = 0; i < ANCESTORS_MAX && !procfs_read_status(pid, 0, &status); i++) {
		if (!strcmp(status.name, "conmon") && !monitor_read(pid, ret_container))
			return 0;
		pid = status.parent;
		if (pid <= 1)
			break;
	}
	return -ENOENT;
}

/* ---- docker ---- */

static json_t *parse_object(const char *text, size_t size)
{
	json_t *object = size <= FILE_BYTES_MAX ? json_loadb(text, size, 0, NULL) : NULL;

	if (json_is_object(object))
		return object;
	json_decref(object);
	return NULL;
}

int container_parse_docker(const char *text, size_t size, char name[CONTAINER_NAME_BYTES])
{
	json_t *object = parse_object(text, size);
	const char *found = json_string_value(json_object_get(object, "Name"));
	int error = object ? -ENOENT : -EPROTO;

	if (found && found[0] == '/')
		found++;
	if (found && is_name(found)) {
		strcpy(name, found);
		error = 0;
	}
	json_decref(object);
	return error;
}

int container_parse_docker_root(const char *text, size_t size, char *path, size_t path_size)
{
	json_t *object = parse_object(text, size);
	const char *found = json_string_value(json_object_get(object, "data-root"));
	int error = -ENOENT;

	if (found && found[0] == '/' && strlen(found) < path_size) {
		strcpy(path, found);
		error = 0;
	}
	json_decref(object);
	return error;
}

/* A regular file of our own root. The caller frees. */
static int read_text(const char *path, char **ret_text, size_t *ret_size)
{
	int fd = root_file_open(ROOT_OWN, path, ROOT_LINK_FOLLOW);
	char *text;
	ssize_t got;

	if (fd < 0)
		return fd;
	text = malloc(FILE_BYTES_MAX + 1);
	got = text ? whole_file_fill(fd, text, FILE_BYTES_MAX + 1) : -ENOMEM;
	close(fd);
	if (got < 0) {
		free(text);
		return (int)got;
	}
	*ret_text = text;
	*ret_size = (size_t)got;
	return 0;
}

int container_read_docker(const struct container *container, char **ret_text, size_t *ret_size)
{
	char root[256] = DOCKER_ROOT, path[sizeof(root) + 128], *text;
	size_t size;

	if (!container_is_id(container->id, strlen(container->id)))
		return -ENOENT;
	if (!read_text(DOCKER_SETTINGS, &text, &size)) {
		(void)!container_parse_docker_root(text, size, root, sizeof(root));
		free(text);
	}
	snprintf(path, sizeof(path), "%s/containers/%s/config.v2.json", root, container->id);
	return read_text(path, ret_text, ret_size);
}

static int read_docker(struct container *container)
{
	char *text;
	size_t size;
	int error = container_read_docker(container, &text, &size);

	if (error)
		return error;
	error = container_parse_docker(text, size, container->name);
	free(text);
	return error;
}

int container_read_name(pid_t pid, struct container *container)
{
	struct container monitored;

	if (!container_is_id(container->id, strlen(container->id)))
		return -ENOENT;
	if (!container_read_monitor(pid, &monitored)) {
		if (strcmp(monitored.id, container->id) != 0 || !monitored.name[0])
			return -ENOENT;
		strcpy(container->name, monitored.name);
		return 0;
	}
	return read_docker(container);
}

int container_read(pid_t pid, struct container *ret_container)
{
	char text[PROCFS_CGROUPS_MAX];
	struct container container;
	struct process_status status;
	size_t size;
	int error = procfs_read_cgroups(pid, text, &size);

	if (error)
		return error;
	error = container_parse(text, size, &container);
	if (!error) {
		(void)!container_read_name(pid, &container);
	} else {
		/* Whoever has process ids of its own may be in one all the same. */
		error = procfs_read_status(pid, 0, &status);
		if (!error)
			error = status.inner_pid != pid ? container_read_monitor(pid, &container)
							: -ENOENT;
	}
	if (!error)
		*ret_container = container;
	return error;
}
