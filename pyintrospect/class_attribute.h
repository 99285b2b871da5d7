/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an attribute of an instance means by its class: a method that is called with the
 * instance, a property, a slot, a constant. Classes written in Python, 3.7 to 3.15.
 *
 *   type -> mro -> each class's dict -> name -> function -> code
 */
#ifndef PIEPROFD_PYINTROSPECT_CLASS_ATTRIBUTE_H
#define PIEPROFD_PYINTROSPECT_CLASS_ATTRIBUTE_H

#include "pyintrospect/object_reader.h"

/* Classes on the way up to `object`, more than which are not looked at. */
#define CLASS_BASES_MAX 16

/* A class's own attributes and those it inherits, in the order in which they are looked up. */
struct class_attributes {
	const struct python_runtime *runtime; /* borrowed */
	size_t count;
	struct object_entries classes[CLASS_BASES_MAX];
};

enum class_attribute_kind {
	CLASS_HAS_NONE, /* it is the instance's own, if anybody's */
	CLASS_COMPUTES, /* a function that is given the instance, or a property's */
	CLASS_SLOT,     /* its value lies in the instance */
	CLASS_UNBOUND,  /* a static or class method: it is not given the instance */
	CLASS_CONSTANT, /* a number, a text, ...: not changed in place */
	CLASS_OTHER,
};

struct class_attribute {
	enum class_attribute_kind kind;
	remote_addr code; /* of what computes it */
	uint64_t offset;  /* of a slot */
};

/*
 * Reads the classes of a type; freed by class_attributes_deinit(). Types in C have nothing here.
 * 0, -EBADMSG (it is no type, has too many bases, or a way of its own to look attributes up),
 * -ENOMEM or what the reader said.
 */
__attribute__((warn_unused_result)) int class_attributes_read(const struct python_runtime *runtime,
							      remote_addr type,
							      struct class_attributes *ret);
void class_attributes_deinit(struct class_attributes *attributes);

/* By the name's address, as names are interned. */
struct class_attribute class_attribute_find(const struct class_attributes *attributes,
					    remote_addr name);

#endif
