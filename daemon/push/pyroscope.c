/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/push/pyroscope.h"

#include "common/clock.h"
#include "daemon/report/format/pprof.h"
#include "daemon/report/model/service_name.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_BYTES  1024
#define QUERY_BYTES (3 * NAME_BYTES + 256)

/* What is called the same. */
struct series {
	char name[NAME_BYTES];
	const struct series_list *list;
	size_t number;
};

struct series_list {
	const struct profile *profile;
	struct series *items;
	size_t *of_process; /* the number of its series */
	size_t of_others;   /* of samples of no process in particular */
	size_t count;
};

/* ---- names */

/* Those that its parser takes in the name of a service. */
static void add_service(char name[NAME_BYTES], const char *text)
{
	size_t used = 0;

	for (; *text && used < 128; text++)
		name[used++] = isalnum((unsigned char)*text) || strchr("-._/", *text) ? *text : '_';
	name[used] = '\0';
}

/* A value ends with a comma or a brace, and nothing stands for these. */
static void add_label(char name[NAME_BYTES], const char *key, const char *value)
{
	size_t used = strlen(name), length = strlen(value);

	if (!length || used + strlen(key) + length + 4 > NAME_BYTES)
		return;
	used += (size_t)sprintf(name + used, "%c%s=", strchr(name, '{') ? ',' : '{', key);
	for (; *value; value++)
		name[used++] =
			*value < ' ' || *value > '~' || strchr(",{}=\"\\", *value) ? '_' : *value;
	name[used] = '\0';
}

static void name_series(const struct profile *profile, const struct profile_process *process,
			const struct pyroscope_options *options, char name[NAME_BYTES])
{
	const struct profile_target *target = &profile->facts.target;
	bool one = process || !profile->process_count;
	const struct process_labels *labels = process ? &process->labels : &target->labels;
	const struct profile_container *container =
		process ? &process->container : &target->container;
	struct service_name service = service_name_of(profile, process);
	char id[13];

	add_service(name, options->service ? options->service : service.text);
	add_label(name, "namespace", labels->namespace);
	add_label(name, "pod", labels->pod);
	snprintf(id, sizeof(id), "%.12s", container->id);
	if (one)
		add_label(name, "container", container->name[0] ? container->name : id);
	add_label(name, "version", labels->version);
	add_label(name, "service_git_ref", labels->revision);
	add_label(name, "host", target->host);
	add_label(name, "node", options->node ? options->node : "");
	strcat(name, strchr(name, '{') ? "}" : "{}");
}

/* The number of the series of that process. */
static size_t find_series(struct series_list *list, const struct profile_process *process,
			  const struct pyroscope_options *options)
{
	struct series *next = &list->items[list->count];
	size_t i = 0;

	name_series(list->profile, process, options, next->name);
	while (i < list->count && strcmp(list->items[i].name, next->name) != 0)
		i++;
	next->number = i;
	next->list = list;
	list->count += i == list->count;
	return i;
}

/* ---- requests */

static bool is_of_series(const void *context, pid_t pid)
{
	const struct series *series = context;
	const struct series_list *list = series->list;

	for (size_t i = 0; i < list->profile->process_count; i++)
		if (pid && list->profile->processes[i].pid == pid)
			return list->of_process[i] == series->number;
	return list->of_others == series->number;
}

/* Each value of a label makes a series of its own. */
static bool has_few_values(const char *key)
{
	return !strcmp(key, "waiting") || !strcmp(key, "access") || !strcmp(key, "category");
}

static void put_escaped(FILE *file, const char *text)
{
	for (; *text; text++)
		if (isalnum((unsigned char)*text) || strchr("-._~", *text))
			fputc(*text, file);
		else
			fprintf(file, "%%%02X", (unsigned char)*text);
}

static int write_request(const struct series *series, FILE *file)
{
	const struct profile_facts *facts = &series->list->profile->facts;
	const struct pprof_part part = { { is_of_series, series }, has_few_values };
	uint64_t until_ns = facts->started_unix_ns + facts->duration_ns;
	uint64_t rate = facts->period_ns ? NS_PER_SECOND / facts->period_ns : 0;

	fputs("name=", file);
	put_escaped(file, series->name);
	fprintf(file, "&from=%" PRIu64 "&until=%" PRIu64 "&spyName=pieprofd&sampleRate=%" PRIu64,
		facts->started_unix_ns, until_ns, rate ? rate : 1);
	fputc('\0', file);
	return pprof_write_part(series->list->profile, PPROF_ALL, &part, file);
}

static int put_series(const struct series *series, pyroscope_put *put, void *context)
{
	char *bytes = NULL;
	size_t size = 0;
	FILE *file = open_memstream(&bytes, &size);
	int result = file ? write_request(series, file) : -ENOMEM;

	if (file && fclose(file) && !result)
		result = -ENOMEM;
	if (!result)
		result = put(context, bytes, size);
	free(bytes);
	return result;
}

static int put_all(const struct series_list *list, pyroscope_put *put, void *context)
{
	int result = -ENODATA;

	for (size_t i = 0; i < list->count; i++) {
		int one = put_series(&list->items[i], put, context);

		if (one != -ENODATA && (one || result == -ENODATA))
			result = one;
	}
	return result;
}

int pyroscope_encode(const struct profile *profile, const struct pyroscope_options *options,
		     pyroscope_put *put, void *context)
{
	struct series_list list = {
		.profile = profile,
		.items = calloc(profile->process_count + 1, sizeof(list.items[0])),
		.of_process = calloc(profile->process_count + 1, sizeof(list.of_process[0])),
	};
	int result = -ENOMEM;

	if (list.items && list.of_process) {
		for (size_t i = 0; i < profile->process_count; i++)
			list.of_process[i] = find_series(&list, &profile->processes[i], options);
		list.of_others = find_series(&list, NULL, options);
		result = put_all(&list, put, context);
	}
	free(list.items);
	free(list.of_process);
	return result;
}

size_t pyroscope_query_length(const void *bytes, size_t size)
{
	const char *text = bytes, *end = size ? memchr(text, '\0', size) : NULL;
	size_t length = end ? (size_t)(end - text) : 0;

	if (length < 5 || length >= QUERY_BYTES || strncmp(text, "name=", 5) != 0)
		return 0;
	for (size_t i = 0; i < length; i++)
		if (!isalnum((unsigned char)text[i]) && !strchr("-._~%=&", text[i]))
			return 0;
	return length;
}

void pyroscope_sample_types(char text[PYROSCOPE_SAMPLE_TYPES_BYTES])
{
	size_t used = 0;

	for (size_t i = 0; i < SAMPLE_VALUE_COUNT; i++)
		used += (size_t)snprintf(text + used, PYROSCOPE_SAMPLE_TYPES_BYTES - used,
					 "%c\"%s\":{\"units\":\"samples\",\"aggregation\":\"sum\","
					 "\"display-name\":\"%s\",\"sampled\":true}",
					 i ? ',' : '{', sample_value_types[i].type,
					 sample_value_types[i].type);
	(void)snprintf(text + used, PYROSCOPE_SAMPLE_TYPES_BYTES - used, "}");
}
