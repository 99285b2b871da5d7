/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/cgroup_mount.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A container may be given any number of mounts. */
#define LINES_MAX 65536

/* The same, or a folder that it is in. */
static bool contains(const char *point, const char *folder)
{
	size_t length = strlen(point);

	return !strncmp(folder, point, length) &&
	       (folder[length] == '/' || !folder[length] || !strcmp(point, "/"));
}

/* The next word of the line, which it is moved behind. False: there is none, or it is too long. */
static bool take_word(const char **line, char word[CGROUP_PATH_SIZE])
{
	size_t length = strcspn(*line, " ");

	if (!length || length >= CGROUP_PATH_SIZE)
		return false;
	memcpy(word, *line, length);
	word[length] = '\0';
	*line += length + ((*line)[length] == ' ');
	return true;
}

/* "ID PARENT DEVICE ROOT POINT OPTIONS [more] - TYPE SOURCE ..." */
void cgroup_mount_take(struct cgroup_mount *mount, const char *line, const char *folder)
{
	const char *type = strstr(line, " - ");
	char root[CGROUP_PATH_SIZE], point[CGROUP_PATH_SIZE];

	for (int i = 0; i < 3; i++)
		if (!take_word(&line, root))
			return;
	if (!type || !take_word(&line, root) || !take_word(&line, point) ||
	    !contains(point, folder))
		return;
	strcpy(mount->point, point);
	strcpy(mount->root, strncmp(type, " - cgroup", strlen(" - cgroup")) != 0 ? "" : root);
}

bool cgroup_mount_path(const struct cgroup_mount *mount, const char *folder,
		       char path[CGROUP_PATH_SIZE])
{
	/* Nor out of the namespace of groups, nor with bytes that the kernel writes as \040. */
	if (mount->root[0] != '/' || !mount->root[1] || !strncmp(mount->root, "/..", 3) ||
	    strchr(mount->root, '\\') || !contains(mount->point, folder))
		return false;
	return snprintf(path, CGROUP_PATH_SIZE, "%s%s", mount->root,
			folder + strlen(mount->point)) < CGROUP_PATH_SIZE;
}

bool cgroup_mount_find(const char *folder, char path[CGROUP_PATH_SIZE])
{
	struct cgroup_mount mount = { 0 };
	char resolved[PATH_MAX], *line = NULL;
	size_t size = 0;
	FILE *file;

	/* Of version 1, some folders are links to what several controllers are mounted on. */
	if (realpath(folder, resolved))
		folder = resolved;
	file = fopen("/proc/self/mountinfo", "re");
	if (!file)
		return false;
	for (unsigned lines = 0; lines < LINES_MAX && getline(&line, &size, file) > 0; lines++)
		cgroup_mount_take(&mount, line, folder);
	free(line);
	fclose(file);
	return cgroup_mount_path(&mount, folder, path);
}
