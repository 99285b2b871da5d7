/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Of mpi_probes.h: Python functions, as the interpreter's own code enters and leaves them
 * (bpf/function.h).
 *
 *   function_probes_configure()   where the interpreter keeps what, and what is to be left out
 *   function_probes_set()         probes at its handlers; taken out and set again at will
 *   function_probes_decide()      whether calls of a code object that was announced are wanted
 *
 * All calls of the process pass through the probes, whether they are wanted or not.
 */
#ifndef PIEPROFD_ATTACH_FUNCTION_PROBES_H
#define PIEPROFD_ATTACH_FUNCTION_PROBES_H

#include "attach/bpf/function_record.h"
#include "attach/mpi_probes.h"

#define FUNCTION_PLACES_MAX 16

struct function_place {
	uint64_t file_offset;
	enum function_probe_kind kind;
	unsigned number; /* of enum register_id: that has the frame there, or what is returned */
	unsigned above;  /* bytes from the stack pointer to where it was at the entry */
	bool stepped;    /* the kernel has to single-step there: counted by itself */
};

/* Of a process that has a place (mpi_probes_add()). An epoch of 0: nothing is recorded. 0 or a
 * negative errno. */
__attribute__((warn_unused_result)) int function_probes_configure(
	struct mpi_probes *probes, unsigned slot, const struct function_config *config);

/* Its interpreter is in file fd. 0 or a negative errno: then none is set. All
 * places are of handlers, or all of an evaluation loop. */
__attribute__((warn_unused_result)) int function_probes_set(struct mpi_probes *probes,
							    unsigned slot, pid_t pid, int fd,
							    const struct function_place *places,
							    size_t count, unsigned span);
/* What was set is taken out at once; calls under way go on as ever. */
void function_probes_remove(struct mpi_probes *probes, unsigned slot);
/* Whether all that was hit by then has been dealt with, some 30 ms later; wait: until it has. */
bool function_probes_are_out(struct mpi_probes *probes, unsigned slot, bool wait);

/* An answer to a record of a code object. 0 or a negative errno. */
__attribute__((warn_unused_result)) int function_probes_decide(
	struct mpi_probes *probes, const struct function_code_record *code,
	enum function_verdict verdict);

struct function_counts function_probes_counts(const struct mpi_probes *probes, unsigned slot);

/* Calls of that epoch that have not been left, with FUNCTION_IS_OPEN: once its probes are out, so
 * that nothing is added to them. */
void function_probes_read_open(const struct mpi_probes *probes, unsigned slot, uint32_t epoch,
			       const struct mpi_taker *taker, uint64_t now_ns);

#endif
