/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/cgroup_folder.h"

#include "attach/procfs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Where the hierarchy with the controller is; of version 2 behind "0::". */
static const char *const mounts_v2[] = { "/sys/fs/cgroup", "/sys/fs/cgroup/unified", NULL };
static const char *const mounts_v1_cpu[] = { "/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct",
					     "/sys/fs/cgroup/cpuacct,cpu", NULL };
static const char *const mounts_v1_memory[] = { "/sys/fs/cgroup/memory", NULL };

bool cgroup_folder_read(const struct cgroup_folder *folder, const char *name,
			char text[CGROUP_FILE_SIZE])
{
	char path[CGROUP_FOLDER_SIZE + 64];
	FILE *file;
	size_t size;

	snprintf(path, sizeof(path), "%s/%.60s", folder->path, name);
	file = fopen(path, "re");
	if (!file)
		return false;
	size = fread(text, 1, CGROUP_FILE_SIZE - 1, file);
	fclose(file);
	text[size] = '\0';
	return size > 0;
}

uint64_t cgroup_line_value(const char *text, const char *name)
{
	size_t length = strlen(name);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, name, length) && line[length] == ' ')
			return strtoull(line + length, NULL, 10);
	}
	return 0;
}

/*
 * As much of the group's path as leads somewhere below the mount. In a container without a
 * namespace of groups the path begins further out than what is mounted: at the host's root.
 */
static const char *seen_from_here(const char *mount, const char *group)
{
	char path[CGROUP_FOLDER_SIZE];

	for (const char *rest = group; rest; rest = strchr(rest + 1, '/'))
		if (snprintf(path, sizeof(path), "%s%s", mount, rest) < (int)sizeof(path) &&
		    !access(path, F_OK))
			return rest;
	return "";
}

static bool has_controller(const char *controllers, const char *end, const char *controller)
{
	size_t wanted = strlen(controller);

	while (controllers < end) {
		size_t length = strcspn(controllers, ",:");

		if (length == wanted && !strncmp(controllers, controller, length))
			return true;
		controllers += length + 1;
	}
	return false;
}

/*
 * Of a line of /proc/PID/cgroup, "ID:CONTROLLERS:PATH", the path, and where it may be
 * mounted. NULL: it is not about the controller, or leads nowhere that is known.
 */
static const char *find_group(const char *line, const char *controller,
			      const char *const **ret_mounts)
{
	const char *controllers = strchr(line, ':');
	const char *group = controllers ? strchr(controllers + 1, ':') : NULL;

	/* A path out of the namespace of groups. */
	if (!group || group[1] != '/' || strstr(group, "/../") || strstr(group, "/./"))
		return NULL;
	if (!strncmp(line, "0::", 3))
		*ret_mounts = mounts_v2;
	else if (has_controller(controllers + 1, group, controller))
		*ret_mounts = !strcmp(controller, "cpu") ? mounts_v1_cpu : mounts_v1_memory;
	else
		return NULL;
	return group + 1;
}

/* The group and all above it. */
static void visit_chain(const char *mount, const char *group, int version,
			cgroup_folder_visitor visit, void *context)
{
	struct cgroup_folder folder = { .version = version, .own = true };

	if (snprintf(folder.path, sizeof(folder.path), "%s%s", mount,
		     seen_from_here(mount, group)) >= (int)sizeof(folder.path))
		return;
	do {
		visit(context, &folder);
		folder.own = false;
		*strrchr(folder.path, '/') = '\0';
	} while (strlen(folder.path) >= strlen(mount));
}

void cgroup_folders_visit(pid_t pid, const char *controller, cgroup_folder_visitor visit,
			  void *context)
{
	char groups[PROCFS_CGROUPS_MAX], *saved = NULL;
	size_t size;

	if (procfs_read_cgroups(pid, groups, &size))
		return;
	groups[size < PROCFS_CGROUPS_MAX ? size : PROCFS_CGROUPS_MAX - 1] = '\0';
	for (char *line = strtok_r(groups, "\n", &saved); line;
	     line = strtok_r(NULL, "\n", &saved)) {
		const char *const *mounts;
		const char *group = find_group(line, controller, &mounts);
		int version = group && mounts == mounts_v2 ? 2 : 1;

		for (; group && *mounts; mounts++)
			visit_chain(*mounts, group, version, visit, context);
	}
}
