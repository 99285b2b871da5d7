/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cli/fleet_label.h"

#include "daemon/report/model/target_text.h"

#include <string.h>

static void read_service(const struct profile *profile, char *text, size_t size)
{
	snprintf(text, size, "%s", profile->facts.target.labels.service);
}

static void read_version(const struct profile *profile, char *text, size_t size)
{
	snprintf(text, size, "%s", profile->facts.target.labels.version);
}

static void read_revision(const struct profile *profile, char *text, size_t size)
{
	snprintf(text, size, "%s", profile->facts.target.labels.revision);
}

static void read_namespace(const struct profile *profile, char *text, size_t size)
{
	snprintf(text, size, "%s", profile->facts.target.labels.namespace);
}

static void read_pod(const struct profile *profile, char *text, size_t size)
{
	snprintf(text, size, "%s", profile->facts.target.labels.pod);
}

static void read_pod_uid(const struct profile *profile, char *text, size_t size)
{
	snprintf(text, size, "%s", profile->facts.target.labels.pod_uid);
}

static void read_container(const struct profile *profile, char *text, size_t size)
{
	const struct profile_container *container = &profile->facts.target.container;

	snprintf(text, size, "%s",
		 profile->process_count ? ""
		 : container->name[0]   ? container->name
					: container->id);
}

static void read_host(const struct profile *profile, char *text, size_t size)
{
	snprintf(text, size, "%s", profile->facts.target.host);
}

static void read_pid(const struct profile *profile, char *text, size_t size)
{
	text[0] = '\0';
	if (!profile->process_count)
		snprintf(text, size, "%d", (int)profile->facts.target.pid);
}

static void read_command(const struct profile *profile, char *text, size_t size)
{
	text[0] = '\0';
	if (!profile->process_count)
		target_command_text(&profile->facts.target, text, size);
}

static void read_python(const struct profile *profile, char *text, size_t size)
{
	target_python_text(&profile->facts.target, text, size);
}

static const struct fleet_label labels[] = {
	{ "service", read_service },     { "version", read_version }, { "revision", read_revision },
	{ "namespace", read_namespace }, { "pod", read_pod },         { "pod_uid", read_pod_uid },
	{ "container", read_container }, { "host", read_host },       { "pid", read_pid },
	{ "command", read_command },     { "python", read_python },
};

#define LABEL_COUNT (sizeof(labels) / sizeof(labels[0]))

const struct fleet_label *fleet_label_by_name(const char *name)
{
	for (size_t i = 0; i < LABEL_COUNT; i++)
		if (!strcmp(labels[i].name, name))
			return &labels[i];
	return NULL;
}

void fleet_label_names(FILE *file)
{
	for (size_t i = 0; i < LABEL_COUNT; i++)
		fprintf(file, "%s%s", i ? ", " : "", labels[i].name);
}
