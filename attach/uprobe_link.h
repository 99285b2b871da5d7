/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A BPF link of many uprobes: breakpoints that the kernel writes into one process's copy of a
 * file's code, all by one call, and takes out when the link's descriptor is closed, however that
 * comes. As linux/bpf.h has it; older headers have not.
 */
#ifndef PIEPROFD_ATTACH_UPROBE_LINK_H
#define PIEPROFD_ATTACH_UPROBE_LINK_H

#include <stdbool.h>
#include <stdint.h>

/* What a program for it has to be loaded for (enum bpf_attach_type). */
#define UPROBE_LINK_MULTI 48 /* Linux 6.6 */
#define UPROBE_LINK_SESSION                                                                        \
	57 /* 6.13: at each entry the program says whether it wants the return */

#define UPROBE_LINK_AT_RETURN 1

/* Of union bpf_attr, what makes such a link. */
struct uprobe_link {
	uint32_t program_fd, target_fd;
	uint32_t attach_type, flags;
	uint64_t path;
	uint64_t offsets;
	uint64_t reference_counters;
	uint64_t cookies;
	uint32_t count;
	uint32_t multi_flags;
	uint32_t pid;
	uint32_t unused[5];
};

/* Its descriptor or a negative errno. */
int uprobe_link_create(const struct uprobe_link *link);

/*
 * Does this kernel have such links for the program, loaded for that type? Before 6.10 some see
 * calls of the process's first thread alone: then it has none.
 */
bool uprobe_link_possible(int program_fd, uint32_t attach_type);

#endif
