/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/container.h"

#include "attach/pod.h"
#include "attach/word.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#define ID_DIGITS 64

/* How a runtime names the last folder: prefix, id, suffix. Both drivers, cgroupfs and systemd. */
static const struct {
	const char *prefix, *suffix;
	bool hexadecimal;
	const char *runtime;
} patterns[] = {
	{ "docker-", ".scope", true, "docker" },
	{ "libpod-", ".scope", true, "podman" },
	{ "libpod-payload-", "", true, "podman" },
	{ "libpod-", "", true, "podman" },
	{ "cri-containerd-", ".scope", true, "kubernetes" },
	{ "crio-", ".scope", true, "kubernetes" },
	{ "crio-", "", true, "kubernetes" },
	{ "", "", true, "container" },
	{ "lxc.payload.", "", false, "lxc" },
	{ "systemd-nspawn@", ".service", false, "nspawn" },
	{ "machine-", ".scope", false, "nspawn" },
};

bool container_is_id(const char *text, size_t size)
{
	if (size != ID_DIGITS)
		return false;
	for (size_t i = 0; i < size; i++)
		if (!isxdigit((unsigned char)text[i]))
			return false;
	return true;
}

/* systemd writes a dash in a name as \x2d: in place. */
static void unescape(char *id)
{
	static const char dash[] = "\\x2d";
	char *to = id;

	for (const char *from = id; *from; to++)
		if (!strncmp(from, dash, sizeof(dash) - 1)) {
			*to = '-';
			from += sizeof(dash) - 1;
		} else {
			*to = *from++;
		}
	*to = '\0';
}

/* systemd's machines: those of libvirt have a prefix, and one that is emulated is no container. */
static bool parse_machine(struct container *container)
{
	unescape(container->id);
	if (!strncmp(container->id, "qemu-", 5))
		return false;
	if (!strncmp(container->id, "lxc-", 4))
		container->runtime = "lxc";
	return true;
}

static bool parse_component(struct word component, struct container *ret_container)
{
	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
		size_t prefix = strlen(patterns[i].prefix), suffix = strlen(patterns[i].suffix);
		struct word id = { component.at + prefix, component.size - prefix - suffix };
		struct container container = { .runtime = patterns[i].runtime };

		if (component.size <= prefix + suffix ||
		    !word_starts(component, patterns[i].prefix) ||
		    !word_ends(component, patterns[i].suffix) ||
		    (patterns[i].hexadecimal ? !container_is_id(id.at, id.size)
					     : id.size > ID_DIGITS))
			continue;
		memcpy(container.id, id.at, id.size);
		if (!strcmp(container.runtime, "nspawn") && !parse_machine(&container))
			continue;
		*ret_container = container;
		return true;
	}
	return false;
}

/* "kubepods-podUID.slice:cri-containerd:ID": what containerd makes of systemd's names with the
 * other driver. */
static bool parse_behind_colon(struct word component, struct container *ret_container)
{
	const char *colon = memrchr(component.at, ':', component.size);
	size_t before = colon ? (size_t)(colon + 1 - component.at) : component.size;
	struct word id = { component.at + before, component.size - before };

	return colon && container_is_id(id.at, id.size) && parse_component(id, ret_container);
}

/* The innermost container on a path: they may be nested. */
static bool parse_path(struct word path, struct container *ret_container)
{
	bool found = false, orchestrated = false, docker = false, lxc = false;
	char uid[POD_UID_BYTES];

	for (size_t at = 0; at < path.size;) {
		const char *slash = memchr(path.at + at, '/', path.size - at);
		struct word component = { path.at + at,
					  slash ? (size_t)(slash - path.at) - at : path.size - at };

		at += component.size + 1;
		if (word_starts(component, "kubepods"))
			orchestrated = true;
		if (lxc && component.size && component.size <= ID_DIGITS) {
			*ret_container = (struct container){ .runtime = "lxc" };
			memcpy(ret_container->id, component.at, component.size);
			found = true;
		} else if (parse_component(component, ret_container) ||
			   parse_behind_colon(component, ret_container)) {
			found = true;
			if (docker)
				ret_container->runtime = "docker";
		}
		docker = component.size == 6 && word_starts(component, "docker");
		lxc = component.size == 3 && word_starts(component, "lxc");
	}
	if (found && (orchestrated || !pod_parse_path(path.at, path.size, uid)))
		ret_container->runtime = "kubernetes";
	return found;
}

int container_parse(const char *text, size_t size, struct container *ret_container)
{
	for (size_t at = 0; at < size;) {
		const char *end = memchr(text + at, '\n', size - at);
		size_t length = end ? (size_t)(end - text) - at : size - at;
		const char *colon = memchr(text + at, ':', length);
		struct container container = { 0 };

		/* "hierarchy:controllers:path" */
		if (colon)
			colon = memchr(colon + 1, ':', length - (size_t)(colon + 1 - (text + at)));
		if (colon && parse_path((struct word){ colon + 1,
						       length - (size_t)(colon + 1 - (text + at)) },
					&container)) {
			*ret_container = container;
			return 0;
		}
		at += length + 1;
	}
	return -ENOENT;
}
