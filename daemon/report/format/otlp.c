/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/format/otlp.h"

#include "common/array.h"
#include "common/hash.h"
#include "daemon/report/format/otlp_fields.h"
#include "daemon/report/format/stack_sample.h"
#include "daemon/report/model/service_name.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Stacks beyond these are written once more rather than looked for. */
#define KNOWN_LOCATIONS_MAX (1u << 22)

/* A process, and its samples by kind of value. */
struct resource {
	pid_t pid;
	struct protobuf samples[SAMPLE_VALUE_COUNT];
};

struct attribute {
	uint32_t key, text; /* strings: of the dictionary, and of texts */
};

struct stack {
	size_t first, depth; /* of locations */
};

struct otlp {
	const struct profile *profile;
	const struct otlp_options *options;
	struct pprof_table table;
	struct resource *resources;
	size_t resource_count, resource_capacity, last;
	struct string_table texts;    /* of attributes */
	struct attribute *attributes; /* ids are positions plus one */
	size_t attribute_count, attribute_capacity;
	struct id_table attribute_ids;
	struct protobuf attribute_table, stack_table; /* fields of the dictionary, as they come */
	uint64_t *locations;                          /* of the stacks that are known again */
	size_t location_count, location_capacity;
	struct stack *stacks; /* ids likewise */
	size_t stack_count, stack_capacity;
	struct id_table stack_ids;
	size_t profile_count;
	struct protobuf inner, value; /* scratch */
	int error;
};

static void fail(struct otlp *otlp, int error)
{
	if (!otlp->error)
		otlp->error = error;
}

/* The inner message as a field of outer. */
static void put_inner(struct otlp *otlp, struct protobuf *outer, unsigned field)
{
	protobuf_submessage(outer, field, &otlp->inner);
	protobuf_clear(&otlp->inner);
}

/* An AnyValue into the inner message: number where there is no text. */
static void put_value(struct otlp *otlp, const char *text, uint64_t number)
{
	if (text)
		protobuf_text(&otlp->value, OTLP_VALUE_STRING, text);
	else
		protobuf_present_number(&otlp->value, OTLP_VALUE_INT, number);
	protobuf_submessage(&otlp->inner, OTLP_ATTRIBUTE_VALUE, &otlp->value);
	protobuf_clear(&otlp->value);
}

/* ---- attributes of samples, mappings and locations ---- */

/* Its id; 0: no memory. Numbers are numbers in the message, too. */
static uint32_t find_attribute(struct otlp *otlp, const char *key, const char *text, bool number)
{
	struct attribute wanted = { pprof_table_string(&otlp->table, key), 0 };
	size_t probe = 0;
	uint64_t hash;
	uint32_t id;

	if (string_table_find(&otlp->texts, text, &wanted.text)) {
		fail(otlp, -ENOMEM);
		return 0;
	}
	hash = hash_mix((uint64_t)wanted.key << 32 | wanted.text);
	while ((id = id_table_next(&otlp->attribute_ids, hash, &probe)) != ID_NONE)
		if (otlp->attributes[id].key == wanted.key &&
		    otlp->attributes[id].text == wanted.text)
			return id + 1;
	if (!ARRAY_ROOM(otlp->attributes, otlp->attribute_count, otlp->attribute_capacity) ||
	    id_table_reserve(&otlp->attribute_ids)) {
		fail(otlp, -ENOMEM);
		return 0;
	}
	id_table_add(&otlp->attribute_ids, hash, (uint32_t)otlp->attribute_count);
	otlp->attributes[otlp->attribute_count++] = wanted;
	protobuf_number(&otlp->inner, OTLP_ATTRIBUTE_KEY, wanted.key);
	put_value(otlp, number ? NULL : text, number ? strtoull(text, NULL, 10) : 0);
	put_inner(otlp, &otlp->attribute_table, OTLP_DICTIONARY_ATTRIBUTE);
	return (uint32_t)otlp->attribute_count;
}

/* What a label is called here; NULL: it is the resource's. */
static const char *attribute_key(const char *label)
{
	static const struct {
		const char *label, *key;
	} keys[] = {
		{ "thread", "thread.name" },     { "tid", "thread.id" },
		{ "task", "pieprofd.task" },     { "waiting", "pieprofd.waiting" },
		{ "access", "pieprofd.access" }, { "category", "pieprofd.category" },
	};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (!strcmp(keys[i].label, label))
			return keys[i].key;
	return NULL;
}

/* ---- samples ---- */

static struct resource *find_resource(struct otlp *otlp, pid_t pid)
{
	if (otlp->last < otlp->resource_count && otlp->resources[otlp->last].pid == pid)
		return &otlp->resources[otlp->last];
	for (otlp->last = 0; otlp->last < otlp->resource_count; otlp->last++)
		if (otlp->resources[otlp->last].pid == pid)
			return &otlp->resources[otlp->last];
	if (!ARRAY_ROOM(otlp->resources, otlp->resource_count, otlp->resource_capacity)) {
		fail(otlp, -ENOMEM);
		return NULL;
	}
	otlp->resources[otlp->resource_count] = (struct resource){ .pid = pid };
	return &otlp->resources[otlp->resource_count++];
}

static uint64_t stack_hash(const struct stack_sample *sample)
{
	uint64_t hash = sample->depth;

	for (size_t i = 0; i < sample->depth; i++)
		hash = hash_combine(hash, sample->stack[i]);
	return hash_mix(hash);
}

static bool same_stack(const struct otlp *otlp, const struct stack *stack,
		       const struct stack_sample *sample)
{
	return stack->depth == sample->depth &&
	       !memcmp(otlp->locations + stack->first, sample->stack,
		       sample->depth * sizeof(sample->stack[0]));
}

static bool keep_locations(struct otlp *otlp, const struct stack_sample *sample)
{
	size_t wanted = otlp->location_count + sample->depth;

	if (wanted > otlp->location_capacity) {
		uint64_t *larger = reallocarray(otlp->locations, wanted * 2, sizeof(*larger));

		if (!larger)
			return false;
		otlp->locations = larger;
		otlp->location_capacity = wanted * 2;
	}
	memcpy(otlp->locations + otlp->location_count, sample->stack,
	       sample->depth * sizeof(sample->stack[0]));
	otlp->location_count = wanted;
	return true;
}

/* Its id. */
static uint64_t find_stack(struct otlp *otlp, const struct stack_sample *sample)
{
	uint64_t hash = stack_hash(sample);
	size_t probe = 0, first = otlp->location_count;
	uint32_t id;

	while ((id = id_table_next(&otlp->stack_ids, hash, &probe)) != ID_NONE)
		if (same_stack(otlp, &otlp->stacks[id], sample))
			return id + 1;
	if (!ARRAY_ROOM(otlp->stacks, otlp->stack_count, otlp->stack_capacity)) {
		fail(otlp, -ENOMEM);
		return 0;
	}
	if (first + sample->depth <= KNOWN_LOCATIONS_MAX) {
		if (id_table_reserve(&otlp->stack_ids) || !keep_locations(otlp, sample)) {
			fail(otlp, -ENOMEM);
			return 0;
		}
		id_table_add(&otlp->stack_ids, hash, (uint32_t)otlp->stack_count);
	}
	otlp->stacks[otlp->stack_count++] = (struct stack){ first, sample->depth };
	protobuf_numbers(&otlp->inner, OTLP_STACK_LOCATION, sample->stack, sample->depth);
	put_inner(otlp, &otlp->stack_table, OTLP_DICTIONARY_STACK);
	return otlp->stack_count;
}

static int otlp_put_sample(void *context, const struct stack_sample *sample)
{
	struct otlp *otlp = context;
	struct resource *resource = find_resource(otlp, sample->pid);
	uint64_t stack = find_stack(otlp, sample), attributes[STACK_SAMPLE_LABELS_MAX];
	size_t count = 0;

	for (size_t i = 0; i < sample->label_count; i++) {
		const char *key = attribute_key(sample->labels[i].key);

		if (key)
			attributes[count++] = find_attribute(otlp, key, sample->labels[i].text,
							     !strcmp(sample->labels[i].key, "tid"));
	}
	for (size_t i = 0; i < SAMPLE_VALUE_COUNT && !otlp->error; i++) {
		uint64_t value = sample->values[i] < INT64_MAX ? sample->values[i] : INT64_MAX;

		if (!value || !sample_view_has(otlp->profile, PPROF_ALL, (enum sample_value)i))
			continue;
		protobuf_number(&otlp->inner, OTLP_SAMPLE_STACK, stack);
		protobuf_numbers(&otlp->inner, OTLP_SAMPLE_ATTRIBUTE, attributes, count);
		protobuf_numbers(&otlp->inner, OTLP_SAMPLE_VALUE, &value, 1);
		put_inner(otlp, &resource->samples[i], OTLP_PROFILE_SAMPLE);
	}
	return otlp->error;
}

/* ---- resources ---- */

/* An attribute of a resource: a number where there is no text. Nothing of "". */
static void put_attribute(struct otlp *otlp, struct protobuf *resource, const char *key,
			  const char *text, uint64_t number)
{
	if (text && !text[0])
		return;
	protobuf_text(&otlp->inner, OTLP_ATTRIBUTE_KEY, key);
	put_value(otlp, text, number);
	put_inner(otlp, resource, OTLP_RESOURCE_ATTRIBUTE);
}

static const struct profile_process *process_of(const struct profile *profile, pid_t pid)
{
	for (size_t i = 0; i < profile->process_count; i++)
		if (pid && profile->processes[i].pid == pid)
			return &profile->processes[i];
	return NULL;
}

static void put_attributes(struct otlp *otlp, struct protobuf *resource, pid_t pid)
{
	const struct profile_target *target = &otlp->profile->facts.target;
	const struct profile_process *process = process_of(otlp->profile, pid);
	const struct profile_container *container =
		process ? &process->container : &target->container;
	const struct process_labels *labels = process ? &process->labels : &target->labels;
	struct service_name name = service_name_of(otlp->profile, process);
	char version[40];

	put_attribute(otlp, resource, "service.name",
		      otlp->options->service ? otlp->options->service : name.text, 0);
	if (pid)
		put_attribute(otlp, resource, "process.pid", NULL, (uint64_t)pid);
	put_attribute(otlp, resource, "host.name", target->host, 0);
	put_attribute(otlp, resource, "k8s.node.name",
		      otlp->options->node ? otlp->options->node : "", 0);
	if (process || !otlp->profile->process_count) {
		put_attribute(otlp, resource, "container.id", container->id, 0);
		put_attribute(otlp, resource, "container.name", container->name, 0);
		put_attribute(otlp, resource, "container.runtime.name", container->runtime, 0);
		put_attribute(otlp, resource, "service.version", labels->version, 0);
		put_attribute(otlp, resource, "vcs.ref.head.revision", labels->revision, 0);
		put_attribute(otlp, resource, "k8s.namespace.name", labels->namespace, 0);
		put_attribute(otlp, resource, "k8s.pod.name", labels->pod, 0);
		put_attribute(otlp, resource, "k8s.pod.uid", labels->pod_uid, 0);
	}
	put_attribute(otlp, resource, "process.runtime.name", "cpython", 0);
	snprintf(version, sizeof(version), "%d.%d.%d", target->python.major, target->python.minor,
		 target->python.micro);
	/* Of several processes it is that of the first. */
	if (!otlp->profile->process_count)
		put_attribute(otlp, resource, "process.runtime.version", version, 0);
}

static void put_type(struct otlp *otlp, struct protobuf *profile, unsigned field,
		     enum sample_value value)
{
	const struct sample_value_type *type = &sample_value_types[value];

	protobuf_number(&otlp->inner, OTLP_TYPE_TYPE, pprof_table_string(&otlp->table, type->type));
	protobuf_number(&otlp->inner, OTLP_TYPE_UNIT, pprof_table_string(&otlp->table, type->unit));
	put_inner(otlp, profile, field);
}

static void put_profile(struct otlp *otlp, struct protobuf *scope, const struct protobuf *samples,
			enum sample_value value)
{
	const struct profile_facts *facts = &otlp->profile->facts;
	unsigned char id[OTLP_ID_BYTES];
	struct protobuf profile = { 0 };
	size_t number = ++otlp->profile_count;

	memcpy(id, otlp->options->id, sizeof(id));
	for (size_t i = 0; i < 4; i++)
		id[OTLP_ID_BYTES - 1 - i] = (unsigned char)(number >> 8 * i);
	put_type(otlp, &profile, OTLP_PROFILE_SAMPLE_TYPE, value);
	/* They are fields of it already. */
	protobuf_append(&profile, samples);
	protobuf_fixed64(&profile, OTLP_PROFILE_TIME, facts->started_unix_ns);
	protobuf_number(&profile, OTLP_PROFILE_DURATION, facts->duration_ns);
	put_type(otlp, &profile, OTLP_PROFILE_PERIOD_TYPE, SAMPLE_VALUE_CPU);
	protobuf_number(&profile, OTLP_PROFILE_PERIOD,
			facts->period_ns < INT64_MAX ? facts->period_ns : INT64_MAX);
	protobuf_bytes(&profile, OTLP_PROFILE_ID, id, sizeof(id));
	protobuf_submessage(scope, OTLP_SCOPE_PROFILE, &profile);
	protobuf_deinit(&profile);
}

static void put_resource(struct otlp *otlp, struct protobuf *request, struct resource *from)
{
	struct protobuf resource = { 0 }, scope = { 0 };

	put_attributes(otlp, &scope, from->pid);
	protobuf_submessage(&resource, OTLP_RESOURCE_RESOURCE, &scope);
	protobuf_clear(&scope);
	protobuf_text(&otlp->inner, OTLP_SCOPE_NAME, "pieprofd");
	protobuf_text(&otlp->inner, OTLP_SCOPE_VERSION, otlp->profile->facts.version);
	put_inner(otlp, &scope, OTLP_SCOPE_SCOPE);
	for (size_t i = 0; i < SAMPLE_VALUE_COUNT; i++) {
		if (from->samples[i].size || from->samples[i].failed)
			put_profile(otlp, &scope, &from->samples[i], (enum sample_value)i);
		/* Another one begins to grow in the request. */
		protobuf_deinit(&from->samples[i]);
	}
	protobuf_submessage(&resource, OTLP_RESOURCE_SCOPE, &scope);
	protobuf_submessage(request, OTLP_REQUEST_RESOURCE, &resource);
	protobuf_deinit(&resource);
	protobuf_deinit(&scope);
}

/* ---- the dictionary: the first of each table stands for none ---- */

static void put_mappings(struct otlp *otlp, struct protobuf *dictionary)
{
	put_inner(otlp, dictionary, OTLP_DICTIONARY_MAPPING);
	for (size_t i = 0; i < otlp->table.mapping_count; i++) {
		const struct pprof_mapping *mapping = &otlp->table.mappings[i];
		uint64_t build_id = 0;

		if (mapping->build_id)
			build_id = find_attribute(otlp, "process.executable.build_id.gnu",
						  otlp->table.strings.strings[mapping->build_id],
						  false);
		protobuf_number(&otlp->inner, OTLP_MAPPING_LIMIT, mapping->limit);
		protobuf_number(&otlp->inner, OTLP_MAPPING_FILE, mapping->file);
		protobuf_numbers(&otlp->inner, OTLP_MAPPING_ATTRIBUTE, &build_id, build_id != 0);
		put_inner(otlp, dictionary, OTLP_DICTIONARY_MAPPING);
	}
}

static const char *frame_type(const struct otlp *otlp, const struct pprof_location *location)
{
	if (location->kind == FRAME_PYTHON)
		return "cpython";
	if (location->kind != FRAME_NATIVE)
		return NULL;
	if (location->mapping) {
		uint32_t file = otlp->table.mappings[location->mapping - 1].file;

		if (!strcmp(otlp->table.strings.strings[file], FRAME_KERNEL_FILE))
			return "kernel";
	}
	return "native";
}

static void put_locations(struct otlp *otlp, struct protobuf *dictionary)
{
	put_inner(otlp, dictionary, OTLP_DICTIONARY_LOCATION);
	for (size_t i = 0; i < otlp->table.location_count && !otlp->error; i++) {
		const struct pprof_location *location = &otlp->table.locations[i];
		const char *type = frame_type(otlp, location);
		uint64_t attribute =
			type ? find_attribute(otlp, "profile.frame.type", type, false) : 0;

		protobuf_number(&otlp->inner, OTLP_LOCATION_MAPPING, location->mapping);
		protobuf_number(&otlp->inner, OTLP_LOCATION_ADDRESS, location->address);
		protobuf_number(&otlp->value, OTLP_LINE_FUNCTION, location->function);
		protobuf_number(&otlp->value, OTLP_LINE_LINE,
				location->line > 0 ? (uint64_t)location->line : 0);
		protobuf_submessage(&otlp->inner, OTLP_LOCATION_LINE, &otlp->value);
		protobuf_clear(&otlp->value);
		protobuf_numbers(&otlp->inner, OTLP_LOCATION_ATTRIBUTE, &attribute, attribute != 0);
		put_inner(otlp, dictionary, OTLP_DICTIONARY_LOCATION);
	}
	put_inner(otlp, dictionary, OTLP_DICTIONARY_FUNCTION);
	for (size_t i = 0; i < otlp->table.function_count; i++) {
		protobuf_number(&otlp->inner, OTLP_FUNCTION_NAME, otlp->table.functions[i].name);
		protobuf_number(&otlp->inner, OTLP_FUNCTION_FILE, otlp->table.functions[i].file);
		put_inner(otlp, dictionary, OTLP_DICTIONARY_FUNCTION);
	}
}

static void put_dictionary(struct otlp *otlp, struct protobuf *request)
{
	struct protobuf dictionary = { 0 };

	put_mappings(otlp, &dictionary);
	put_locations(otlp, &dictionary);
	put_inner(otlp, &dictionary, OTLP_DICTIONARY_LINK);
	put_inner(otlp, &dictionary, OTLP_DICTIONARY_ATTRIBUTE);
	protobuf_append(&dictionary, &otlp->attribute_table);
	put_inner(otlp, &dictionary, OTLP_DICTIONARY_STACK);
	protobuf_append(&dictionary, &otlp->stack_table);
	for (size_t i = 0; i < otlp->table.strings.count; i++)
		protobuf_text(&dictionary, OTLP_DICTIONARY_STRING, otlp->table.strings.strings[i]);
	protobuf_submessage(request, OTLP_REQUEST_DICTIONARY, &dictionary);
	protobuf_deinit(&dictionary);
}

static void otlp_deinit(struct otlp *otlp)
{
	for (size_t i = 0; i < otlp->resource_count; i++)
		for (size_t k = 0; k < SAMPLE_VALUE_COUNT; k++)
			protobuf_deinit(&otlp->resources[i].samples[k]);
	free(otlp->resources);
	string_table_deinit(&otlp->texts);
	free(otlp->attributes);
	id_table_deinit(&otlp->attribute_ids);
	protobuf_deinit(&otlp->attribute_table);
	protobuf_deinit(&otlp->stack_table);
	free(otlp->locations);
	free(otlp->stacks);
	id_table_deinit(&otlp->stack_ids);
	protobuf_deinit(&otlp->inner);
	protobuf_deinit(&otlp->value);
	pprof_table_deinit(&otlp->table);
}

int otlp_encode(const struct profile *profile, const struct otlp_options *options,
		struct protobuf *ret_request)
{
	struct otlp otlp = { .profile = profile, .options = options };

	*ret_request = (struct protobuf){ 0 };
	pprof_table_init(&otlp.table);
	otlp.error =
		stack_samples_put(profile, PPROF_ALL, NULL, &otlp.table, otlp_put_sample, &otlp);
	if (!otlp.resource_count)
		fail(&otlp, -ENODATA);
	for (size_t i = 0; i < otlp.resource_count && !otlp.error; i++)
		put_resource(&otlp, ret_request, &otlp.resources[i]);
	if (!otlp.error)
		put_dictionary(&otlp, ret_request);
	if (ret_request->failed || otlp.table.failed || otlp.inner.failed || otlp.value.failed)
		fail(&otlp, -ENOMEM);
	otlp_deinit(&otlp);
	return otlp.error;
}
