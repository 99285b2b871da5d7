/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of MPI functions of one process, as the program in the kernel reports them, made events:
 * each call is one, and so is each message that it sends or receives.
 *
 *   MPI_Irecv --> a request, kept by its handle
 *   MPI_Waitall, with that handle among others --> TRACE_RECEIVE, posted then, completed now
 *
 * All that comes is the target's word: handles may be anything, and arrays are bounded. Pure.
 */
#ifndef PIEPROFD_DAEMON_TRACE_MPI_DECODER_H
#define PIEPROFD_DAEMON_TRACE_MPI_DECODER_H

#include "attach/bpf/mpi_record.h"
#include "daemon/trace/group_table.h"
#include "daemon/trace/mpi_library.h"
#include "daemon/trace/request_table.h"
#include "daemon/trace/trace_event.h"

#include <stdbool.h>

#define MPI_ARRAY_MAX         (MPI_CHUNKS_MAX * MPI_CHUNK_WORDS)
#define MPI_THREADS_MAX       64
#define MPI_COMMUNICATORS_MAX 4096

/* What has come of the arrays of a call that is under way. */
struct mpi_arrays {
	uint32_t tid;
	uint64_t begin_ns;
	uint64_t *handles; /* MPI_ARRAY_MAX each, once there are any */
	int32_t *sources, *tags;
	int32_t *indices;
	uint32_t handle_count, status_count, index_count;
};

struct mpi_decoder {
	const struct mpi_library *library;
	void (*take)(void *context, const struct trace_event *event);
	void *context;
	uint64_t order;
	struct request_table requests; /* and messages that MPI_Mprobe has found */
	struct mpi_arrays arrays[MPI_THREADS_MAX];
	unsigned thread_count;
	struct {
		uint64_t handle;
		uint32_t number;
	} communicators[MPI_COMMUNICATORS_MAX];
	unsigned communicator_count;
	uint32_t next_communicator;
	struct group_table groups;
	uint64_t world, self, null; /* handles; 0: not known yet */
	uint64_t init_ns;           /* when MPI_Init returned; 0: not seen */
	uint64_t finalize_ns;       /* when MPI_Finalize began */
	uint64_t left_out;          /* arrays, communicators */
};

/* library and context are borrowed. */
void mpi_decoder_init(struct mpi_decoder *decoder, const struct mpi_library *library,
		      void (*take)(void *context, const struct trace_event *event), void *context);
void mpi_decoder_deinit(struct mpi_decoder *decoder);

void mpi_decoder_chunk(struct mpi_decoder *decoder, const struct mpi_chunk *chunk);
/* Its path is a number of call_path.h, in place of the program's. */
void mpi_decoder_call(struct mpi_decoder *decoder, const struct mpi_record *call);

#endif
