/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Probes at the functions of a process's allocators, for a short time now and then: what is
 * allocated, where, and what of that is given back at once (bpf/allocation.bpf.c).
 *
 *   allocation_probes_create()           the program in the kernel; nothing is in the process
 *   allocation_probes_open(), _close()   a window: the probes are there
 *
 * A probe is a breakpoint that the kernel writes into the process's own copy of the code (a
 * uprobe). Each is owned by a descriptor: when the daemon ends, however it ends, the kernel takes
 * it out. What stays in the process is one page, [uprobes], until it ends.
 *
 * Samples come with those of the clocks, by the same ring.
 */
#ifndef PIEPROFD_ATTACH_ALLOCATION_PROBES_H
#define PIEPROFD_ATTACH_ALLOCATION_PROBES_H

#include "attach/bpf/allocation_record.h"
#include "common/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define ALLOCATION_PLACES_MAX 32

struct allocation_place {
	int fd; /* the file; borrowed, for as long as the probes */
	uint64_t file_offset;
	uint64_t cookie; /* ALLOCATION_COOKIE() */
};

struct allocation_probes;

/*
 * For one process; ring_fd: where records go, borrowed. config: where its interpreter keeps what.
 * NULL with *error filled: not permitted (CAP_BPF and CAP_PERFMON), or the kernel lacks something
 * (6.10).
 */
struct allocation_probes *allocation_probes_create(pid_t pid, const struct clock_config *config,
						   int ring_fd,
						   const struct allocation_place *places,
						   size_t count, struct error *error);
void allocation_probes_destroy(struct allocation_probes *probes);

/*
 * What a hit of such a probe costs here, by some thousand on a function of our own: the trap and
 * the program, without a sample. stepped: at an instruction that the kernel does not emulate
 * (probe_place.h). 0: it cannot be measured.
 */
uint64_t allocation_probes_hit_ns(struct allocation_probes *probes, bool stepped);

/*
 * From now on a sample stands for so many bytes, where each object counts as if it had object_bytes
 * more; at most so many a window. bytes: up to 4 GiB.
 */
void allocation_probes_set_interval(struct allocation_probes *probes, uint64_t bytes,
				    uint64_t object_bytes, uint32_t samples_most);
/* How much is copied of stacks: at most CLOCK_STACK_PAGES_MAX pages. */
void allocation_probes_set_stack(struct allocation_probes *probes, unsigned pages);

/* 0, or a negative errno: then there are none. */
__attribute__((warn_unused_result)) int allocation_probes_open(struct allocation_probes *probes);
void allocation_probes_close(struct allocation_probes *probes);

/*
 * Sampled blocks that were not seen to be given back in any window so far: where each is, and its
 * sample's number. What comes and goes meanwhile may be missing, or told twice; of very many, those
 * sampled first are forgotten. Any thread.
 */
void allocation_probes_blocks(const struct allocation_probes *probes,
			      void (*take)(void *context, uint64_t address, uint32_t number),
			      void *context);

/* What the program has counted so far; any thread. */
struct allocation_counts allocation_probes_counts(const struct allocation_probes *probes);

#endif
