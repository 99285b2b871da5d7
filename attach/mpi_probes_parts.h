/* SPDX-License-Identifier: Apache-2.0 */
/* Between mpi_probes.c, span_probes.c, switch_probes.c, fault_probes.c and function_probes.c: what
 * probes are made of. */
#ifndef PIEPROFD_ATTACH_MPI_PROBES_PARTS_H
#define PIEPROFD_ATTACH_MPI_PROBES_PARTS_H

#include "attach/bpf/mpi_record.h"
#include "attach/link_closer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

struct mpi_probes;
struct mpi_taker;

#define PROBE_PATH_BYTES 64
/* Of calls and of spans that are under way, what is read at the end. */
#define CALLS_OPEN_MAX 8192
/* Of a process, in the interpreter's code (function_probes.h). */
#define FUNCTION_PROBES_MAX LINK_CLOSER_MAX

struct span_link {
	int fd;
	unsigned span;
};

struct bpf_link;

struct probed_process {
	uint32_t switches_of; /* whose switches are noted; 0: not */
	uint32_t faults_of;   /* likewise */
	int *links;           /* each keeps one probe alive, or all of one kind */
	size_t count;
	int functions[FUNCTION_PROBES_MAX]; /* likewise */
	size_t function_count;
	struct link_closer closer; /* of those that were taken out */
	struct span_link *spans;   /* likewise */
	size_t span_count, span_capacity;
};

struct mpi_probes {
	struct bpf_object *object;
	struct mpi_target *targets; /* the program's, mapped */
	struct ring_buffer *ring;
	int calls_fd, pythons_fd, enter_fd, return_fd;
	int spans_fd, configs_fd, counters_fd, begin_fd, end_fd; /* of spans */
	int switches, faults;                                    /* as struct mpi_wanted has them */
	bool functions;
	int switched_fd, switch_targets_fd;
	int fault_targets_fd;
	int *fault_links; /* one for each processor and counter */
	size_t fault_link_count;
	int function_fd, function_loop_fd, function_stacks_fd, function_codes_fd,
		function_configs_fd, function_counters_fd;
	struct bpf_link *switch_links[2];
	bool by_links; /* MPI_PROBES_LINK */
	int uprobe_type;
	uint64_t return_bit;
	struct probed_process processes[MPI_TARGETS_MAX];
	unsigned count;
	const struct mpi_taker *taker; /* while it reads */
};

struct probe {
	pid_t pid;
	const char *path;
	int program_fd;
	bool at_return;
};

static inline uint64_t probe_cookie(unsigned slot, unsigned function)
{
	return (uint64_t)slot << 16 | function;
}

/* The file that was looked at, whatever its name leads to by now. */
static inline void probe_path(int fd, char path[static PROBE_PATH_BYTES])
{
	snprintf(path, PROBE_PATH_BYTES, "/proc/self/fd/%d", fd);
}

/*
 * Probes at offsets of a file, one where links do not exist; counters: NULL: none. The descriptor
 * that keeps them alive, or a negative errno.
 */
int mpi_probes_open(const struct mpi_probes *probes, const struct probe *probe,
		    const uint64_t *offsets, const uint64_t *cookies, const uint64_t *counters,
		    size_t count);

/* Of the program that has been loaded. 0 or -ENOENT. */
int mpi_probes_find_spans(struct mpi_probes *probes);
/* Before the program is loaded: whether it is to note switches. 0 or a negative errno. */
int mpi_probes_choose_switches(struct mpi_probes *probes);
/* Once it is: from then on it looks at each. 0 or a negative errno. */
int mpi_probes_find_switches(struct mpi_probes *probes);
void mpi_probes_remove_switches(struct mpi_probes *probes, unsigned slot);
void mpi_probes_end_switches(struct mpi_probes *probes);
void mpi_probes_read_open_switches(const struct mpi_probes *probes, const struct mpi_taker *taker,
				   uint64_t now_ns);
/* Likewise, of fault_probes.c. */
int mpi_probes_choose_faults(struct mpi_probes *probes);
int mpi_probes_find_faults(struct mpi_probes *probes);
void mpi_probes_remove_faults(struct mpi_probes *probes, unsigned slot);
void mpi_probes_end_faults(struct mpi_probes *probes);
/* Before the program is loaded, and once it is: of function_probes.c. 0 or a negative errno. */
int mpi_probes_choose_functions(struct mpi_probes *probes);
int mpi_probes_find_functions(struct mpi_probes *probes);
void mpi_probes_remove_functions(struct mpi_probes *probes, unsigned slot);

void mpi_probes_read_open_spans(const struct mpi_probes *probes, const struct mpi_taker *taker,
				uint64_t now_ns);

#endif
