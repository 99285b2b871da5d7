/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Probes at the functions of an MPI library, and the calls that they report: when, with what
 * arguments, and what each call left behind (bpf/mpi.bpf.c).
 *
 *   mpi_probes_create()     the program in the kernel, one for all processes
 *   mpi_probes_add()        its probes for one process: two a function, entry and return
 *   mpi_probes_read()       what has been called
 *
 * A probe is a breakpoint that the kernel writes into the process's own copy of the library's code
 * (a uprobe), which is more than the rest of the daemon does to a target: so only the command that
 * is asked for it does it. Each is owned by a descriptor. When the daemon ends, however it ends,
 * the kernel takes it out again, and calls under way return as if nothing had been there. What
 * stays in the process is one page, [uprobes], until it ends or runs another program.
 */
#ifndef PIEPROFD_ATTACH_MPI_PROBES_H
#define PIEPROFD_ATTACH_MPI_PROBES_H

#include "attach/bpf/function_record.h"
#include "attach/bpf/mpi_record.h"
#include "attach/bpf/span_record.h"
#include "common/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct mpi_probes;

/*
 * Two ways lead to probes. Linux 6.10 sets all of a process by one call (a BPF link of many
 * uprobes). Before, each is a perf event of its own: setting them takes longer, and on kernels that
 * have both, taking them out takes a tenth of a second each.
 */
enum mpi_probes_way {
	MPI_PROBES_AUTO,
	MPI_PROBES_LINK,
	MPI_PROBES_EVENTS,
};

/* What is noted beside calls. */
struct mpi_wanted {
	int switches;   /* the span that threads off the processor are; -1: they are not noted */
	int faults;     /* likewise page faults */
	bool functions; /* whether those of Python will be traced (function_probes.h) */
};

/* NULL with *error filled: not permitted (CAP_BPF and CAP_PERFMON), or the kernel lacks something
 * (5.17). */
struct mpi_probes *mpi_probes_create(const struct mpi_shape *shapes, size_t count,
				     enum mpi_probes_way way, const struct mpi_wanted *wanted,
				     struct error *error);
/* Whether further probes ask for CAP_SYS_ADMIN: those that are perf events do (Linux 6.18). */
bool mpi_probes_need_admin(const struct mpi_probes *probes);
void mpi_probes_destroy(struct mpi_probes *probes);

/* Where a function begins in a file. */
struct mpi_place {
	unsigned function; /* number of its shape */
	uint64_t file_offset;
};

/*
 * Probes for one process, which need not have mapped the file yet, nor run the program that will;
 * count may be 0.
 * layout: what the program is to know of its library. Nothing is recorded yet. 0 with the place
 * of the process, or a negative errno: -EUSERS: there are MPI_TARGETS_MAX already, -EACCES, -EMFILE
 * and others of perf_event_open(2).
 */
__attribute__((warn_unused_result)) int mpi_probes_add(struct mpi_probes *probes, pid_t pid, int fd,
						       const struct mpi_place *places, size_t count,
						       const struct mpi_target *layout,
						       unsigned *ret_slot);
/* Likewise, of a process that has been added without any: its library has been found by now. */
__attribute__((warn_unused_result)) int mpi_probes_add_places(struct mpi_probes *probes,
							      unsigned slot, pid_t pid, int fd,
							      const struct mpi_place *places,
							      size_t count,
							      const struct mpi_target *layout);
/* It has ended, or is to be left alone. Its place is not used again. */
void mpi_probes_remove(struct mpi_probes *probes, unsigned slot);

void mpi_probes_record(struct mpi_probes *probes, unsigned slot, bool record);

/* Where its interpreter keeps what: from then on calls come with the Python lines that made them.
 */
__attribute__((warn_unused_result)) int mpi_probes_set_python(struct mpi_probes *probes,
							      unsigned slot,
							      const struct clock_config *python);

/* What the program has counted of it so far. */
struct mpi_target mpi_probes_counts(const struct mpi_probes *probes, unsigned slot);

/* ---- other functions, or what lies between two places ---- */

/* Of one span in a file; offsets in it. */
struct span_place {
	uint64_t begin;
	bool between; /* it ends at a place; else when the function that begins there returns */
	uint64_t end; /* that place */
	/* Counters that the program asks whether anybody listens (USDT), of begin and end; 0: none.
	 * The kernel counts up while the probe is there. */
	uint64_t counters[2];
};

/* Shorter ones are counted alone. 0 or a negative errno. */
__attribute__((warn_unused_result)) int mpi_probes_configure_span(struct mpi_probes *probes,
								  unsigned span, uint64_t least_ns);

/*
 * Probes of a span, below SPANS_MAX, in a process that has a place here; it may have several, such
 * as versions of one function. 0 or a negative errno: -EINVAL, -EOPNOTSUPP: not at that
 * instruction.
 */
__attribute__((warn_unused_result)) int mpi_probes_add_span(struct mpi_probes *probes,
							    unsigned slot, pid_t pid, int fd,
							    const struct span_place *place,
							    unsigned span);
/* Takes its probes out of that process; what is under way returns as ever. */
void mpi_probes_remove_span(struct mpi_probes *probes, unsigned slot, unsigned span);
struct span_counts mpi_probes_span_counts(const struct mpi_probes *probes, unsigned slot,
					  unsigned span);

/* ---- threads off the processor ---- */

/*
 * From now on, of all threads of a process that has a place here, until that is removed: as the
 * span that was told when the program was loaded. 0, -ENOTSUP: none was, or another negative errno.
 */
__attribute__((warn_unused_result)) int mpi_probes_add_switches(struct mpi_probes *probes,
								unsigned slot, pid_t pid);

/* ---- page faults ---- */

/* Likewise. */
__attribute__((warn_unused_result)) int mpi_probes_add_faults(struct mpi_probes *probes,
							      unsigned slot, pid_t pid);

struct mpi_taker {
	void (*call)(void *context, const struct mpi_record *call);
	void (*chunk)(void *context, const struct mpi_chunk *chunk);
	void (*span)(void *context, const struct span_record *span);
	/* NULL where no functions are traced. */
	void (*function)(void *context, const struct function_record *function);
	void (*code)(void *context, const struct function_code_record *code);
	void *context;
};

/* All that has been reported since the last call, as it came; waits so long when that is nothing.
 */
void mpi_probes_read(struct mpi_probes *probes, const struct mpi_taker *taker, int timeout_ms);

/* Calls that have not returned, with MPI_IS_OPEN, and spans that have not ended, with SPAN_IS_OPEN;
 * once nothing is recorded any more. */
void mpi_probes_read_open(struct mpi_probes *probes, const struct mpi_taker *taker);

#endif
