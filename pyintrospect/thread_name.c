/* SPDX-License-Identifier: Apache-2.0 */
#include "pyintrospect/thread_name.h"

#include "pyintrospect/object_reader.h"
#include "pyintrospect/runtime_internal.h"

#include <errno.h>

/* The value of one attribute of a module or an instance. */
static int read_attribute(const struct python_runtime *runtime, struct object_entries *entries,
			  const char *name, remote_addr *ret_value)
{
	int error = object_find(runtime, entries, name, ret_value);

	object_entries_deinit(entries);
	return error;
}

static int find_active(const struct python_runtime *runtime, remote_addr interpreter,
		       remote_addr *ret_active)
{
	struct object_entries entries;
	int error = object_read_imported(runtime, interpreter, "threading", &entries);

	return error ? error : read_attribute(runtime, &entries, "_active", ret_active);
}

static struct python_thread *find_listed_thread(struct python_thread_list *list,
						remote_addr interpreter, uint64_t ident)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i].ident == ident && list->items[i].interpreter == interpreter)
			return &list->items[i];
	return NULL;
}

static int name_thread(const struct python_runtime *runtime, remote_addr interpreter,
		       const struct object_entry *entry, struct python_thread_list *list)
{
	struct object_entries attributes;
	struct python_thread *thread;
	remote_addr name;
	uint64_t ident;
	int error = object_read_integer(runtime, entry->key, &ident);

	if (error)
		return error;
	thread = find_listed_thread(list, interpreter, ident);
	if (!thread) /* it ended, or began later */
		return 0;
	error = object_read_attributes(runtime, entry->value, &attributes);
	if (!error)
		error = read_attribute(runtime, &attributes, "_name", &name);
	if (!error)
		error = object_read_string(runtime, name, thread->name, sizeof(thread->name));
	return error;
}

int thread_name_read(const struct python_runtime *runtime, remote_addr interpreter,
		     struct python_thread_list *list)
{
	struct object_entries active;
	remote_addr dict;
	int first_error = 0;
	int error = find_active(runtime, interpreter, &dict);

	if (!error)
		error = object_read_dict(runtime, dict, &active);
	if (error)
		return error;
	for (size_t i = 0; i < active.count && i < PYTHON_THREADS_MAX; i++) {
		error = name_thread(runtime, interpreter, &active.items[i], list);
		if (!first_error)
			first_error = error;
		if (error == -ESRCH || error == -EPERM || error == -ENOMEM)
			break;
	}
	object_entries_deinit(&active);
	return first_error;
}
