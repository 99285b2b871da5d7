/* SPDX-License-Identifier: Apache-2.0 */
#include "pyintrospect/class_attribute.h"

#include "pyintrospect/object_type.h"
#include "pyintrospect/runtime_internal.h"

#include <errno.h>
#include <string.h>

/*
 * Byte offsets of x86-64 builds with the GIL (Include/cpython/object.h, funcobject.h,
 * descrobject.h, structmember.h, Objects/descrobject.c): they have not moved from 3.6 to 3.15
 * but for the function's code. In free-threaded builds what lies behind an object's
 * head is object_head_extra() further on.
 */
enum {
	TYPE_GETATTRO = 144,
	TYPE_FLAGS = 168,
	TYPE_DICT = 264,
	TYPE_MRO = 344,
	FUNCTION_CODE = 48,
	FUNCTION_CODE_TO_3_9 = 16,
	PROPERTY_GETTER = 16,
	MEMBER_DESCRIPTOR_MEMBER = 40,
	MEMBER_OFFSET = 16,
};

#define FLAG_HEAP_TYPE (1ull << 9)
/* Of larger classes the rest is not found: its names count as the instance's. */
#define CLASS_ENTRIES_MAX 1024

static int read_word(const struct python_runtime *runtime, remote_addr object, uint64_t offset,
		     uint64_t *ret_word)
{
	return memory_read_u64(runtime->reader, object + offset + object_head_extra(runtime),
			       ret_word);
}

static int add_class(struct class_attributes *attributes, remote_addr class)
{
	const struct python_runtime *runtime = attributes->runtime;
	uint64_t flags;
	remote_addr dict;
	int error = read_word(runtime, class, TYPE_FLAGS, &flags);

	if (error || !(flags & FLAG_HEAP_TYPE))
		return error;
	error = read_word(runtime, class, TYPE_DICT, &dict);
	if (!error)
		error = object_read_dict_first(runtime, dict, CLASS_ENTRIES_MAX,
					       &attributes->classes[attributes->count]);
	attributes->count += !error;
	return error;
}

/* By `object`'s way: neither __getattr__() nor __getattribute__() has a say. */
static int check_lookup(const struct python_runtime *runtime, remote_addr type, remote_addr object)
{
	uint64_t way, plain = 0;
	int error = read_word(runtime, type, TYPE_GETATTRO, &way);

	if (!error)
		error = read_word(runtime, object, TYPE_GETATTRO, &plain);
	return error || way == plain ? error : -EBADMSG;
}

int class_attributes_read(const struct python_runtime *runtime, remote_addr type,
			  struct class_attributes *ret)
{
	const struct python_offsets *offsets = &runtime->layout.offsets;
	remote_addr mro, classes[CLASS_BASES_MAX];
	uint64_t count = 0;
	int error = read_word(runtime, type, TYPE_MRO, &mro);

	*ret = (struct class_attributes){ .runtime = runtime };
	if (!error && !python_object_is(runtime, mro, "tuple"))
		error = -EBADMSG;
	if (!error)
		error = memory_read_u64(runtime->reader, mro + (uint64_t)offsets->variable_size,
					&count);
	if (!error && (!count || count > CLASS_BASES_MAX))
		error = -EBADMSG;
	if (!error)
		error = memory_read(runtime->reader, mro + (uint64_t)offsets->tuple_items, classes,
				    count * sizeof(*classes));
	if (!error)
		error = check_lookup(runtime, type, classes[count - 1]);
	for (uint64_t i = 0; !error && i < count; i++)
		error = add_class(ret, classes[i]);
	if (error)
		class_attributes_deinit(ret);
	return error;
}

void class_attributes_deinit(struct class_attributes *attributes)
{
	for (size_t i = 0; i < attributes->count; i++)
		object_entries_deinit(&attributes->classes[i]);
	attributes->count = 0;
}

static struct class_attribute computed_by(const struct python_runtime *runtime,
					  remote_addr function)
{
	uint64_t offset =
		runtime->layout.minor <= 9 ? FUNCTION_CODE_TO_3_9 : (uint64_t)FUNCTION_CODE;
	struct class_attribute found = { .kind = CLASS_COMPUTES };

	if (!python_object_is(runtime, function, "function") ||
	    read_word(runtime, function, offset, &found.code))
		return (struct class_attribute){ .kind = CLASS_OTHER };
	return found;
}

static struct class_attribute slot_of(const struct python_runtime *runtime, remote_addr descriptor)
{
	struct class_attribute found = { .kind = CLASS_SLOT };
	remote_addr member;

	if (read_word(runtime, descriptor, MEMBER_DESCRIPTOR_MEMBER, &member) ||
	    memory_read_u64(runtime->reader, member + MEMBER_OFFSET, &found.offset))
		return (struct class_attribute){ .kind = CLASS_OTHER };
	return found;
}

static bool is_constant(const struct python_runtime *runtime, remote_addr type)
{
	static const char *const names[] = { "int",   "float", "str",       "bytes",
					     "bool",  "tuple", "frozenset", "NoneType",
					     "range", "type",  "re.Pattern" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (python_type_is(runtime, type, names[i]))
			return true;
	return false;
}

static struct class_attribute attribute_of(const struct python_runtime *runtime, remote_addr value)
{
	struct class_attribute found = { .kind = CLASS_OTHER };
	remote_addr type, getter;

	if (python_object_type(runtime, value, &type))
		return found;
	if (python_type_is(runtime, type, "function"))
		return computed_by(runtime, value);
	if (python_type_is(runtime, type, "property"))
		return read_word(runtime, value, PROPERTY_GETTER, &getter)
			       ? found
			       : computed_by(runtime, getter);
	if (python_type_is(runtime, type, "member_descriptor"))
		return slot_of(runtime, value);
	/* Computed once, and kept by the instance. */
	if (python_type_is(runtime, type, "cached_property"))
		found.kind = CLASS_HAS_NONE;
	else if (python_type_is(runtime, type, "staticmethod") ||
		 python_type_is(runtime, type, "classmethod"))
		found.kind = CLASS_UNBOUND;
	else if (is_constant(runtime, type))
		found.kind = CLASS_CONSTANT;
	return found;
}

struct class_attribute class_attribute_find(const struct class_attributes *attributes,
					    remote_addr name)
{
	for (size_t i = 0; i < attributes->count; i++)
		for (size_t k = 0; k < attributes->classes[i].count; k++)
			if (attributes->classes[i].items[k].key == name)
				return attribute_of(attributes->runtime,
						    attributes->classes[i].items[k].value);
	return (struct class_attribute){ .kind = CLASS_HAS_NONE };
}
