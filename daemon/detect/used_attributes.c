/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/detect/used_attributes.h"

#include "common/hash.h"
#include "daemon/contents/fingerprint.h"
#include "pyintrospect/class_attribute.h"
#include "pyintrospect/code_at.h"
#include "pyintrospect/code_names.h"
#include "pyintrospect/object_type.h"

#include <stdlib.h>

#define ENTRIES_KEPT    512
#define PARAMETERS_KEPT 6
/* A stop waits for it: functions that are longer, or call more, are taken to use all. */
#define BYTECODE_SIZE_MAX 4096
#define FUNCTIONS_MAX     12

static const struct used_parameter whole = { .whole = true };

/* What a function reads of one parameter when that is of this type. */
struct used_entry {
	const struct python_code *code; /* NULL: free */
	size_t number;
	remote_addr type; /* 0: it reads nothing, whatever it is */
	struct used_parameter parameter;
};

struct used_attributes {
	struct python_runtime *runtime;
	struct used_entry entries[ENTRIES_KEPT];
};

/* One question: functions of a class, from the one that was called on. */
struct used_search {
	struct python_runtime *runtime;
	const struct class_attributes *attributes;
	const struct python_code *functions[FUNCTIONS_MAX];
	size_t function_count;
	struct used_parameter found;
};

struct used_attributes *used_attributes_create(struct python_runtime *runtime)
{
	struct used_attributes *used = calloc(1, sizeof(*used));

	if (used)
		used->runtime = runtime;
	return used;
}

void used_attributes_destroy(struct used_attributes *used)
{
	free(used);
}

/* The addresses of the names of what is loaded from a parameter. */
static struct used_parameter read_names(const struct python_runtime *runtime,
					const struct python_code *code, unsigned number)
{
	struct used_parameter used = { 0 };
	struct parameter_use use;
	struct bytecode bytecode;
	struct code_names names;

	_Static_assert(PARAMETER_ATTRIBUTES_MAX <= USED_ATTRIBUTES_MAX, "all fit");
	if (number >= code->argument_count || code->bytecode_size > BYTECODE_SIZE_MAX ||
	    bytecode_init(&bytecode, code))
		return whole;
	use = parameter_use_of(&bytecode, number);
	bytecode_deinit(&bytecode);
	if (use.whole || (use.count && code_names_find(runtime, code, &names)))
		return whole;
	used.count = use.count;
	for (uint32_t i = 0; i < use.count; i++)
		if (code_names_address(&names, PYTHON_NAMES, use.names[i], &used.names[i]))
			return whole;
	return used;
}

static bool add_name(struct used_search *search, remote_addr name)
{
	struct used_parameter *found = &search->found;

	for (size_t i = 0; i < found->count; i++)
		if (found->names[i] == name)
			return true;
	if (found->count == USED_ATTRIBUTES_MAX)
		return false;
	found->names[found->count++] = name;
	return true;
}

/* A function to look into, unless it was. False: too many. */
static bool add_function(struct used_search *search, remote_addr address)
{
	const struct python_code *code;

	if (code_at(search->runtime, address, &code))
		return false;
	for (size_t i = 0; i < search->function_count; i++)
		if (search->functions[i] == code)
			return true;
	if (search->function_count == FUNCTIONS_MAX)
		return false;
	search->functions[search->function_count++] = code;
	return true;
}

static bool add_attribute(struct used_search *search, remote_addr name)
{
	struct class_attribute attribute = class_attribute_find(search->attributes, name);

	switch (attribute.kind) {
	case CLASS_HAS_NONE:
		return add_name(search, name);
	case CLASS_COMPUTES:
		return add_function(search, attribute.code);
	case CLASS_SLOT:
		return fingerprint_slot_exists(attribute.offset) &&
		       add_name(search, fingerprint_slot(attribute.offset));
	case CLASS_UNBOUND:
	case CLASS_CONSTANT:
		return true;
	case CLASS_OTHER:
		break;
	}
	return false;
}

static struct used_parameter find_all(struct python_runtime *runtime, remote_addr type,
				      const struct used_parameter *first)
{
	struct class_attributes attributes;
	struct used_search search = { .runtime = runtime, .attributes = &attributes };
	bool known = true;

	if (class_attributes_read(runtime, type, &attributes))
		return whole;
	for (size_t i = 0; known && i < first->count; i++)
		known = add_attribute(&search, first->names[i]);
	for (size_t f = 0; known && f < search.function_count; f++) {
		struct used_parameter names = read_names(runtime, search.functions[f], 0);

		known = !names.whole;
		for (size_t i = 0; known && i < names.count; i++)
			known = add_attribute(&search, names.names[i]);
	}
	class_attributes_deinit(&attributes);
	return known ? search.found : whole;
}

static struct used_entry *entry_of(struct used_attributes *used, const struct python_code *code,
				   size_t number, remote_addr type)
{
	uint64_t hash = hash_combine(hash_combine(hash_mix(code->id), number), type);

	return &used->entries[hash % ENTRIES_KEPT];
}

static bool is_for(const struct used_entry *entry, const struct python_code *code, size_t number,
		   remote_addr type)
{
	return entry->code == code && entry->number == number && entry->type == type;
}

static struct used_parameter used_of_type(struct used_attributes *used,
					  const struct python_code *code, size_t number,
					  remote_addr type, const struct used_parameter *first)
{
	struct used_entry *entry = entry_of(used, code, number, type);

	if (!is_for(entry, code, number, type))
		*entry = (struct used_entry){ code, number, type,
					      find_all(used->runtime, type, first) };
	return entry->parameter;
}

struct used_parameter used_parameter(struct used_attributes *used, const struct python_code *code,
				     size_t number, remote_addr object)
{
	struct used_parameter first;
	struct used_entry *entry;
	remote_addr type;

	if (!code || number >= PARAMETERS_KEPT)
		return whole;
	/* What it loads by itself, whatever the parameter is. */
	entry = entry_of(used, code, number, 0);
	if (!is_for(entry, code, number, 0))
		*entry = (struct used_entry){ code, number, 0,
					      read_names(used->runtime, code, (unsigned)number) };
	first = entry->parameter;
	if (first.whole || !first.count)
		return first;
	if (python_object_type(used->runtime, object, &type) || !type)
		return whole;
	return used_of_type(used, code, number, type, &first);
}
