/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The MPI library of a process: its file, where its functions begin in it, and what its handles
 * look like. Open MPI, and those with MPICH's ABI (MPICH, Intel MPI, MVAPICH, Cray MPICH).
 *
 * Nothing is taken from a table of versions but what the two ABIs promise to programs. Where Open
 * MPI keeps the size of a datatype is told by the library itself: at one offset, those of
 * MPI_DOUBLE, MPI_INT, MPI_BYTE and others must all be right. The file is hostile input
 * (symbolize/elf_image.h).
 */
#ifndef PIEPROFD_DAEMON_TRACE_MPI_LIBRARY_H
#define PIEPROFD_DAEMON_TRACE_MPI_LIBRARY_H

#include "attach/mpi_probes.h"
#include "common/mapping.h"

#include <stdint.h>

enum mpi_kind {
	MPI_KIND_OPEN_MPI,
	MPI_KIND_MPICH,
};

struct mpi_library {
	int fd; /* owned */
	uint64_t device, inode;
	char path[512]; /* as the process has it, for people */
	enum mpi_kind kind;
	struct mpi_place places[MPI_FUNCTIONS_MAX];
	size_t place_count;
	uint64_t addresses[MPI_FUNCTIONS_MAX]; /* ELF addresses, by function; 0: has none */
	struct mpi_target layout;
	/* ELF addresses, 0: none. */
	uint64_t world_address, self_address, null_address, state_address;
};

/* What the program in the kernel is to know of a process without such a library. */
extern const struct mpi_target mpi_no_library;

/* The first mapping that may be of such a library, NULL: none. */
const struct mapping *mpi_library_find(const struct mapping_list *mappings);

/* Of that file, which the library owns from then on, also on failure. 0 or a negative errno:
 * -ENOEXEC: it is none. */
__attribute__((warn_unused_result)) int mpi_library_open(const struct mapping *mapping, int fd,
							 struct mpi_library **ret_library);
void mpi_library_close(struct mpi_library *library);

/*
 * What stands for MPI_COMM_WORLD and MPI_COMM_SELF in a process in which a function of the library
 * is at this address.
 */
uint64_t mpi_library_world(const struct mpi_library *library, unsigned function, uint64_t address);
uint64_t mpi_library_self(const struct mpi_library *library, unsigned function, uint64_t address);
uint64_t mpi_library_null(const struct mpi_library *library, unsigned function, uint64_t address);
/* Where it keeps whether MPI_Init has returned; 0: not known. */
uint64_t mpi_library_state(const struct mpi_library *library, const struct mapping_list *mappings);

/* Of the library's constants. */
int32_t mpi_library_any_source(const struct mpi_library *library);
int32_t mpi_library_proc_null(const struct mpi_library *library);
#define MPI_ANY_TAG_VALUE (-1) /* of both */

/* "Open MPI" or "MPICH". */
const char *mpi_library_kind_name(const struct mpi_library *library);

#endif
