/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The target's memory map at one moment, as /proc/PID/maps lists it.
 *
 * attach/ fills it, symbolize/ and pyintrospect/ look things up in it. The
 * generation rises with every re-read that changed something.
 */
#ifndef PIEPROFD_COMMON_MAPPING_H
#define PIEPROFD_COMMON_MAPPING_H

#include "common/address.h"

struct mapping {
	remote_addr start;
	remote_addr end;
	uint64_t file_offset;
	uint64_t device; /* makedev(major, minor) */
	uint64_t inode;  /* 0: not a file */
	int protection;  /* PROT_READ | PROT_WRITE | PROT_EXEC */
	bool deleted;    /* the file was unlinked; path is without " (deleted)" */
	const char
		*path; /* "" anonymous, "[stack]", "[vdso]" ..., or a path in the target's root */
};

struct mapping_list {
	struct mapping *mappings; /* sorted by start, not overlapping */
	size_t count;
	size_t left_out; /* of the map, as there were too many */
	uint32_t generation;
	char *paths; /* storage of the path strings */
};

/* The mapping that holds address, or NULL. Borrowed from the list. */
const struct mapping *mapping_find(const struct mapping_list *list, remote_addr address);

/* Frees what the list owns and empties it; the list itself is the caller's. */
void mapping_list_deinit(struct mapping_list *list);

/*
 * Opens the file behind a mapping of the target, wherever it lives (another
 * mount namespace, deleted). Returns a read-only descriptor the caller
 * closes, or a negative errno.
 */
struct mapping_opener {
	int (*open)(void *context, const struct mapping *mapping);
	void *context;
};

#endif
