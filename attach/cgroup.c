/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/cgroup.h"

#include "attach/container_name.h"
#include "attach/procfs.h"

#include <string.h>

#define MOUNT_POINT "/sys/fs/cgroup"
/* So many digits are what docker ps and crictl ps show. */
#define CONTAINER_DIGITS_MIN 12

/* A piece of text, not terminated. */
struct word {
	const char *at;
	size_t size;
};

static struct word word_of(const char *text)
{
	return (struct word){ text, strlen(text) };
}

static bool equals(struct word a, struct word b)
{
	return a.size == b.size && !memcmp(a.at, b.at, a.size);
}

/* Up to the separator, which is taken away, too. */
static struct word take_word(struct word *text, char separator)
{
	const char *end = text->size ? memchr(text->at, separator, text->size) : NULL;
	struct word word = { text->at, end ? (size_t)(end - text->at) : text->size };
	size_t taken = word.size + (end ? 1 : 0);

	text->at += taken;
	text->size -= taken;
	return word;
}

static struct word without_slashes(struct word path)
{
	while (path.size && path.at[0] == '/') {
		path.at++;
		path.size--;
	}
	while (path.size && path.at[path.size - 1] == '/')
		path.size--;
	return path;
}

/* The same, or below; nothing is the root. */
static bool is_below(struct word path, struct word wanted)
{
	return !wanted.size ||
	       (path.size >= wanted.size && !memcmp(path.at, wanted.at, wanted.size) &&
		(path.size == wanted.size || path.at[wanted.size] == '/'));
}

/* Is this the folder that a hierarchy of these controllers is mounted on? */
static bool is_hierarchy(struct word folder, struct word controllers)
{
	static const char named[] = "name=";

	/* Version 2, where version 1 is mounted, too. */
	if (!controllers.size)
		return equals(folder, word_of("unified"));
	if (equals(folder, controllers))
		return true;
	while (controllers.size) {
		struct word controller = take_word(&controllers, ',');

		if (controller.size > strlen(named) &&
		    !memcmp(controller.at, named, strlen(named))) {
			controller.at += strlen(named);
			controller.size -= strlen(named);
		}
		if (equals(folder, controller))
			return true;
	}
	return false;
}

static bool is_named(struct word component, struct word wanted)
{
	static const char *const suffixes[] = { "", ".service", ".scope", ".slice" };

	if (component.size < wanted.size || memcmp(component.at, wanted.at, wanted.size) != 0)
		return false;
	component.at += wanted.size;
	component.size -= wanted.size;
	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++)
		if (equals(component, word_of(suffixes[i])))
			return true;
	return false;
}

static bool has_component(struct word path, struct word wanted)
{
	while (path.size)
		if (is_named(take_word(&path, '/'), wanted))
			return true;
	return false;
}

static bool is_container_id(const char *text, size_t size, struct word wanted)
{
	struct container container;

	return wanted.size >= CONTAINER_DIGITS_MIN && !container_parse(text, size, &container) &&
	       !strncmp(container.id, wanted.at, wanted.size);
}

bool cgroup_matches(const char *text, size_t size, const char *wanted_text)
{
	struct word rest = { text, size }, wanted = word_of(wanted_text);
	bool mounted = !strncmp(wanted.at, MOUNT_POINT "/", strlen(MOUNT_POINT "/"));
	bool is_path = memchr(wanted.at, '/', wanted.size) != NULL;

	if (mounted) {
		wanted.at += strlen(MOUNT_POINT);
		wanted.size -= strlen(MOUNT_POINT);
	}
	wanted = without_slashes(wanted);
	if (!is_path && is_container_id(text, size, wanted))
		return true;
	while (rest.size) {
		/* "hierarchy:controllers:path" */
		struct word path = take_word(&rest, '\n'), below = wanted, controllers, folder;

		take_word(&path, ':');
		controllers = take_word(&path, ':');
		/* A line that is something else has no path. */
		if (!path.size || path.at[0] != '/')
			continue;
		path = without_slashes(path);
		if (is_path ? is_below(path, wanted) : has_component(path, wanted))
			return true;
		folder = take_word(&below, '/');
		if (mounted && is_hierarchy(folder, controllers) && is_below(path, below))
			return true;
	}
	return false;
}

/* Its name is in no cgroup's. */
static bool is_container(pid_t pid, const char *wanted)
{
	struct container container;

	return wanted[0] && !container_read(pid, &container) &&
	       (!strcmp(container.name, wanted) ||
		(strlen(wanted) >= CONTAINER_DIGITS_MIN &&
		 !strncmp(container.id, wanted, strlen(wanted))));
}

bool cgroup_contains(pid_t pid, const char *wanted)
{
	char text[PROCFS_CGROUPS_MAX];
	size_t size;

	if (procfs_read_cgroups(pid, text, &size))
		return false;
	return cgroup_matches(text, size, wanted) ||
	       (!strchr(wanted, '/') && is_container(pid, wanted));
}
