/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Python's own objects as they lie in memory: dict, the attributes of an
 * instance, str, int. For questions asked now and then, such as the names of
 * threads; it allocates, and makes several system calls an object.
 *
 *   dict -> keys {.. indices[] entries[]}            combined: values in the entries
 *        -> values[]                                 split: keys shared by a class
 *   instance (3.11+) -> values[] and the type's keys, or a dict
 *
 * The target may change all of it while it is read: types are checked, sizes
 * bounded, and what does not fit together is an error.
 */
#ifndef PIEPROFD_PYINTROSPECT_OBJECT_READER_H
#define PIEPROFD_PYINTROSPECT_OBJECT_READER_H

#include "pyintrospect/runtime.h"

/* Of a dict with more entries, removed ones included, the first ones are read. */
#define OBJECT_ENTRIES_MAX 65536

struct object_entry {
	remote_addr key;
	remote_addr value;
};

struct object_entries {
	struct object_entry *items; /* in the order in which they were put in */
	size_t count;
	bool cut; /* there are more: see OBJECT_ENTRIES_MAX */
};

/*
 * The entries of a dict, or of an instance's attributes; freed by
 * object_entries_deinit(). 0, -EBADMSG (it is none, or not any more), -ENOMEM,
 * -EFAULT or what the reader said.
 */
__attribute__((warn_unused_result)) int object_read_dict(const struct python_runtime *runtime,
							 remote_addr dict,
							 struct object_entries *ret_entries);
/* The first ones, at most limit, of what the caller knows to be a dict, or of a type derived from
 * it. */
__attribute__((warn_unused_result)) int object_read_dict_first(const struct python_runtime *runtime,
							       remote_addr dict, size_t limit,
							       struct object_entries *ret_entries);
__attribute__((warn_unused_result)) int object_read_attributes(const struct python_runtime *runtime,
							       remote_addr instance,
							       struct object_entries *ret_entries);
void object_entries_deinit(struct object_entries *entries);

/* The value of the entry whose key is this str (ASCII); -ENOENT or what the reader said. */
__attribute__((warn_unused_result)) int object_find(const struct python_runtime *runtime,
						    const struct object_entries *entries,
						    const char *key, remote_addr *ret_value);

/* A str in UTF-8, cut to whole characters that fit; -EBADMSG: it is none. */
__attribute__((warn_unused_result)) int object_read_string(const struct python_runtime *runtime,
							   remote_addr object, char *buffer,
							   size_t size);

/* An int that is not negative and fits; -EBADMSG: it is none, or does not. */
__attribute__((warn_unused_result)) int object_read_integer(const struct python_runtime *runtime,
							    remote_addr object,
							    uint64_t *ret_value);

/* A module's dict; -EBADMSG: it is no module. */
__attribute__((warn_unused_result)) int object_read_module(const struct python_runtime *runtime,
							   remote_addr module,
							   remote_addr *ret_dict);

/* The entries of an imported module's dict, by its name in sys.modules; -ENOENT: not imported. */
__attribute__((warn_unused_result)) int object_read_imported(const struct python_runtime *runtime,
							     remote_addr interpreter,
							     const char *name,
							     struct object_entries *ret_entries);

#endif
