/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/trace/library_list.h"

#include "attach/mapped_file.h"
#include "attach/process_memory.h"
#include "attach/procfs.h"
#include "daemon/report/encode/escape.h"

#include <errno.h>
#include <string.h>

/* Of Open MPI's enumeration: MPI_Init has not returned. */
#define STATE_INITIALISED 2

void library_list_deinit(struct library_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		mpi_library_close(list->items[i]);
	list->count = 0;
}

static struct mpi_library *known_library(const struct library_list *list,
					 const struct mapping *mapping)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i]->inode == mapping->inode &&
		    list->items[i]->device == mapping->device)
			return list->items[i];
	return NULL;
}

int library_list_find(struct library_list *list, pid_t pid, struct impersonator *impersonator,
		      struct mapping_list *ret_mappings, struct mpi_library **ret_library)
{
	const struct mapped_files files = { pid, impersonator };
	const struct mapping_opener opener = mapped_files_opener(&files);
	const struct mapping *mapping;
	int error = procfs_read_mappings(pid, ret_mappings);

	if (error)
		return error;
	mapping = mpi_library_find(ret_mappings);
	if (!mapping)
		return -ENODATA;
	*ret_library = known_library(list, mapping);
	if (*ret_library)
		return 0;
	if (list->count == LIBRARIES_MAX)
		return -E2BIG;
	error = opener.open(opener.context, mapping);
	if (error >= 0)
		error = mpi_library_open(mapping, error, ret_library);
	if (!error)
		list->items[list->count++] = *ret_library;
	return error;
}

bool mpi_library_is_before_init(const struct mpi_library *library, pid_t pid,
				const struct mapping_list *mappings)
{
	uint64_t address = mpi_library_state(library, mappings);
	struct process_memory memory;
	struct memory_reader reader;
	int32_t state;
	int error;

	if (!address)
		return false;
	process_memory_init(&memory, pid);
	reader = process_memory_reader(&memory);
	error = memory_read(&reader, address, &state, sizeof(state));
	process_memory_deinit(&memory);
	return !error && state >= 0 && state < STATE_INITIALISED;
}

bool mappings_run_python(const struct mapping_list *mappings)
{
	for (size_t i = 0; i < mappings->count; i++) {
		const char *name = path_last(mappings->mappings[i].path);

		if (mappings->mappings[i].inode &&
		    (!strncmp(name, "python", 6) || !strncmp(name, "libpython", 9)))
			return true;
	}
	return false;
}
