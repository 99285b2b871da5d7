/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/label_reader.h"

#include "attach/container_name.h"
#include "attach/pod.h"
#include "attach/procfs.h"
#include "common/root_file.h"
#include "common/whole_file.h"

#include <ctype.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAMESPACE_FILE "/var/run/secrets/kubernetes.io/serviceaccount/namespace"
#define UNIT_SUFFIX    ".service"
/* The first of the machine: PROC_UTS_INIT_INO of linux/proc_ns.h, the same since Linux 3.8. */
#define MACHINE_UTS "uts:[4026531838]"

/* A piece of text, not terminated. */
struct piece {
	const char *at;
	size_t size;
};

/* Where a value goes. */
struct source {
	const char *name;
	size_t offset, size;
};

#define SOURCE(name, member)                                                                       \
	{                                                                                          \
		name, offsetof(struct process_labels, member),                                     \
			sizeof(((struct process_labels *)0)->member)                               \
	}

static const struct source attributes[] = {
	SOURCE("service.name", service),
	SOURCE("service.version", version),
	SOURCE("vcs.ref.head.revision", revision),
	SOURCE("k8s.namespace.name", namespace),
	SOURCE("k8s.pod.name", pod),
	SOURCE("k8s.pod.uid", pod_uid),
};

/* Those that go before OTEL_RESOURCE_ATTRIBUTES, as OpenTelemetry has it, and those behind it. */
static const struct source first_variables[] = { SOURCE("OTEL_SERVICE_NAME", service) };
static const struct source variables[] = {
	SOURCE("DD_SERVICE", service),
	SOURCE("DD_VERSION", version),
	SOURCE("DD_GIT_COMMIT_SHA", revision),
	SOURCE("POD_NAMESPACE", namespace),
	SOURCE("POD_NAME", pod),
	SOURCE("POD_UID", pod_uid),
};
static const struct source pod_variables[] = { SOURCE("HOSTNAME", pod) };

static const struct source image_labels[] = {
	SOURCE("com.docker.compose.service", service),
	SOURCE("org.opencontainers.image.version", version),
	SOURCE("org.opencontainers.image.revision", revision),
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static int hexadecimal(char digit)
{
	return isdigit((unsigned char)digit) ? digit - '0'
					     : tolower((unsigned char)digit) - 'a' + 10;
}

/* The next character of a value, "%2C" being one where the value is encoded. */
static char take(struct piece *value, bool encoded)
{
	char c = value->at[0];
	size_t taken = 1;

	if (encoded && c == '%' && value->size >= 3 && isxdigit((unsigned char)value->at[1]) &&
	    isxdigit((unsigned char)value->at[2])) {
		c = (char)(hexadecimal(value->at[1]) * 16 + hexadecimal(value->at[2]));
		taken = 3;
	}
	value->at += taken;
	value->size -= taken;
	return c;
}

static struct piece trimmed(struct piece piece)
{
	while (piece.size && (piece.at[0] == ' ' || piece.at[0] == '\n')) {
		piece.at++;
		piece.size--;
	}
	while (piece.size && (piece.at[piece.size - 1] == ' ' || piece.at[piece.size - 1] == '\n'))
		piece.size--;
	return piece;
}

/* Where the label has no value yet. */
static void set(struct process_labels *labels, const struct source *to, struct piece value,
		bool encoded)
{
	char *label = (char *)labels + to->offset, text[sizeof(*labels)];
	size_t used = 0;

	value = trimmed(value);
	if (label[0])
		return;
	while (value.size) {
		char c = take(&value, encoded);

		if (c < ' ' || c > '~')
			return;
		if (used < to->size - 1)
			text[used++] = c;
	}
	memcpy(label, text, used);
	label[used] = '\0';
}

/* "name=value" of one of the sources. */
static void set_assigned(struct process_labels *labels, const struct source *sources, size_t count,
			 struct piece assigned, bool encoded)
{
	const char *equals = memchr(assigned.at, '=', assigned.size);
	struct piece name = { assigned.at, equals ? (size_t)(equals - assigned.at) : 0 };

	name = trimmed(name);
	for (size_t i = 0; equals && i < count; i++)
		if (strlen(sources[i].name) == name.size &&
		    !memcmp(sources[i].name, name.at, name.size)) {
			size_t before = (size_t)(equals + 1 - assigned.at);

			set(labels, &sources[i],
			    (struct piece){ equals + 1, assigned.size - before }, encoded);
		}
}

/* Calls for each piece up to the next end, or the end of the text. */
static bool next_piece(struct piece *rest, char end, struct piece *ret_piece)
{
	const char *found;

	if (!rest->size)
		return false;
	found = memchr(rest->at, end, rest->size);
	*ret_piece = (struct piece){ rest->at, found ? (size_t)(found - rest->at) : rest->size };
	rest->at += ret_piece->size + (found != NULL);
	rest->size -= ret_piece->size + (found != NULL);
	return true;
}

static void parse_variables(struct piece text, const struct source *sources, size_t count,
			    struct process_labels *labels)
{
	struct piece variable;

	while (next_piece(&text, '\0', &variable))
		set_assigned(labels, sources, count, variable, false);
}

/* "service.name=shop,service.version=1.4". */
static void parse_attributes(struct piece text, struct process_labels *labels)
{
	static const char name[] = "OTEL_RESOURCE_ATTRIBUTES=";
	struct piece variable, attribute;

	while (next_piece(&text, '\0', &variable)) {
		if (variable.size < sizeof(name) - 1 || memcmp(variable.at, name, sizeof(name) - 1))
			continue;
		variable.at += sizeof(name) - 1;
		variable.size -= sizeof(name) - 1;
		while (next_piece(&variable, ',', &attribute))
			set_assigned(labels, attributes, COUNT(attributes), attribute, true);
	}
}

void labels_parse_environment(const char *text, size_t size, bool kubernetes,
			      struct process_labels *labels)
{
	const struct piece all = { text, size };

	parse_variables(all, first_variables, COUNT(first_variables), labels);
	parse_attributes(all, labels);
	parse_variables(all, variables, COUNT(variables), labels);
	if (kubernetes)
		parse_variables(all, pod_variables, COUNT(pod_variables), labels);
}

void labels_parse_unit(const char *text, size_t size, struct process_labels *labels)
{
	static const struct source service = SOURCE("", service);
	struct piece rest = { text, size }, line;
	const size_t suffix = sizeof(UNIT_SUFFIX) - 1;

	while (next_piece(&rest, '\n', &line)) {
		const char *slash = memrchr(line.at, '/', line.size);
		struct piece unit = { slash, slash ? line.size - (size_t)(slash - line.at) : 0 };

		if (unit.size <= suffix + 1 ||
		    memcmp(unit.at + unit.size - suffix, UNIT_SUFFIX, suffix))
			continue;
		unit.at++;
		unit.size -= suffix + 1;
		set(labels, &service, unit, false);
	}
}

void labels_parse_pod(const char *text, size_t size, struct process_labels *labels)
{
	char uid[POD_UID_BYTES];

	if (!labels->pod_uid[0] && !pod_parse(text, size, uid))
		strcpy(labels->pod_uid, uid);
}

void labels_parse_docker(const char *text, size_t size, struct process_labels *labels)
{
	json_t *object = json_loadb(text, size, 0, NULL);
	const json_t *found = json_object_get(json_object_get(object, "Config"), "Labels");

	for (size_t i = 0; i < COUNT(image_labels); i++) {
		const json_t *value = json_object_get(found, image_labels[i].name);

		if (json_is_string(value))
			set(labels, &image_labels[i],
			    (struct piece){ json_string_value(value), json_string_length(value) },
			    false);
	}
	json_decref(object);
}

/* The file lies in the container's own root, whose links lead nowhere else. */
static void read_namespace(pid_t pid, struct process_labels *labels)
{
	static const struct source namespace = SOURCE("", namespace);
	char path[32], text[sizeof(labels->namespace)];
	ssize_t got = -1;
	int root, fd;

	snprintf(path, sizeof(path), "/proc/%d/root", (int)pid);
	root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return;
	fd = root_file_open(root, NAMESPACE_FILE, ROOT_LINK_FOLLOW);
	if (fd >= 0) {
		got = whole_file_fill(fd, text, sizeof(text));
		close(fd);
	}
	close(root);
	if (got > 0)
		set(labels, &namespace, (struct piece){ text, (size_t)got }, false);
}

static void read_environment(pid_t pid, bool kubernetes, struct process_labels *labels)
{
	char path[32], *text;
	size_t size;

	snprintf(path, sizeof(path), "/proc/%d/environ", (int)pid);
	if (whole_file_read(path, LABEL_ENVIRONMENT_MAX, &text, &size))
		return;
	labels_parse_environment(text, size, kubernetes, labels);
	free(text);
}

static void read_docker_labels(const struct container *container, struct process_labels *labels)
{
	size_t size;
	char *text;

	if (container_read_docker(container, &text, &size))
		return;
	labels_parse_docker(text, size, labels);
	free(text);
}

static void read_cgroups(pid_t pid, void (*parse)(const char *, size_t, struct process_labels *),
			 struct process_labels *labels)
{
	char text[PROCFS_CGROUPS_MAX];
	size_t size;

	if (!procfs_read_cgroups(pid, text, &size))
		parse(text, size, labels);
}

/* A pod in the node's network has the node's host name, too: containerd and CRI-O give it no other.
 */
static bool is_named_as_machine(pid_t pid)
{
	char path[32], link[sizeof(MACHINE_UTS)];
	ssize_t got;

	snprintf(path, sizeof(path), "/proc/%d/ns/uts", (int)pid);
	got = readlink(path, link, sizeof(link));
	return got == sizeof(MACHINE_UTS) - 1 && !memcmp(link, MACHINE_UTS, (size_t)got);
}

void labels_read(pid_t pid, const struct container *container, struct process_labels *ret_labels)
{
	bool kubernetes = container && !strcmp(container->runtime, "kubernetes");

	*ret_labels = (struct process_labels){ .service = "" };
	/* What the kubelet called it, rather than what the process was told. */
	if (kubernetes)
		read_cgroups(pid, labels_parse_pod, ret_labels);
	read_environment(pid, kubernetes && !is_named_as_machine(pid), ret_labels);
	if (kubernetes)
		read_namespace(pid, ret_labels);
	if (container && !strcmp(container->runtime, "docker"))
		read_docker_labels(container, ret_labels);
	if (!container)
		read_cgroups(pid, labels_parse_unit, ret_labels);
}
