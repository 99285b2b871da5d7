/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MPI's functions that are traced, as the standard declares them (MPI 4.1, C bindings): which
 * argument is what, and what a call means for messages. Those that neither communicate nor wait,
 * such as MPI_Comm_rank, are left out: a probe would cost more than the call.
 */
#ifndef PIEPROFD_DAEMON_TRACE_MPI_FUNCTION_H
#define PIEPROFD_DAEMON_TRACE_MPI_FUNCTION_H

#include "attach/bpf/mpi_record.h"

#include <stdbool.h>
#include <stddef.h>

enum mpi_class {
	MPI_OTHER,
	MPI_INIT,
	MPI_FINALIZE,
	MPI_SEND,         /* buffer, count, type, peer, tag, communicator */
	MPI_SEND_REQUEST, /* the same, and a request that nobody need follow */
	MPI_SEND_INIT,    /* likewise, to be started */
	MPI_RECEIVE,
	MPI_RECEIVE_REQUEST,
	MPI_RECEIVE_INIT,
	MPI_START,
	MPI_START_ALL,
	MPI_SENDRECV,
	MPI_SENDRECV_REPLACE,
	MPI_PROBE, /* of a message that is then received as such */
	MPI_RECEIVE_MESSAGE,
	MPI_RECEIVE_MESSAGE_REQUEST,
	MPI_WAIT,
	MPI_WAIT_ALL,
	MPI_WAIT_ANY,
	MPI_WAIT_SOME,
	MPI_FORGET,     /* a request that is given up */
	MPI_COLLECTIVE, /* nobody leaves before all have come */
	MPI_FROM_ROOT,  /* nobody leaves before the root has come */
	MPI_TO_ROOT,    /* the root does not leave before all have come */
	MPI_SCAN,
	MPI_COMMUNICATOR_DUP,    /* of all members, in the same order */
	MPI_COMMUNICATOR_SPLIT,  /* by colour and key */
	MPI_COMMUNICATOR_CREATE, /* of a group */
	MPI_COMMUNICATOR_OTHER,  /* of whom is not followed */
	MPI_COMMUNICATOR_FREE,   /* its handle may be another one's from then on */
	MPI_GROUP_WHOLE,         /* all ranks of a communicator */
	MPI_GROUP_SOME,          /* some of a group */
	MPI_GROUP_FREE,
};

struct mpi_function {
	const char *name;
	enum mpi_class class;
	struct mpi_shape shape;
	unsigned char communicator; /* argument; MPI_ABSENT */
	unsigned char counts[2];    /* of the items of shape.types */
	unsigned char root;         /* argument of MPI_FROM_ROOT and MPI_TO_ROOT */
};

extern const struct mpi_function mpi_functions[];
extern const size_t mpi_function_count;

/*
 * Many functions are there twice since MPI 4.0: MPI_Send_c is MPI_Send with counts of 64 bits. Its
 * number is that of MPI_Send and mpi_function_count more.
 */
#define MPI_FUNCTION_NUMBERS (2 * mpi_function_count)

/* The number of a function by its name; false: it is not traced. */
bool mpi_function_find(const char *name, unsigned *ret_number);

/* "MPI_?" of a number that is none. */
const char *mpi_function_name(unsigned number);

bool mpi_class_is_collective(enum mpi_class class);

#endif
