/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/trace/mpi_function.h"

#include <stdint.h>
#include <string.h>

#define NO MPI_ABSENT

/* in, out, status, flag, index, array, count, statuses, indices, types */
#define SHAPE(in, out, status, flag, index, array, count, statuses, indices, first, second)        \
	{                                                                                          \
		in, out, status, flag, index, array, count, statuses, indices, { first, second },  \
			0                                                                          \
	}
#define PLAIN                SHAPE(NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO)
#define TYPED(first, second) SHAPE(NO, NO, NO, NO, NO, NO, NO, NO, NO, first, second)
#define MAKES(out)           SHAPE(NO, out, NO, NO, NO, NO, NO, NO, NO, NO, NO)

#define SENDS(name)                                                                                \
	{                                                                                          \
		name, MPI_SEND, TYPED(2, NO), 5, { 1, NO }, NO                                     \
	}
#define SENDS_REQUEST(name, class)                                                                 \
	{                                                                                          \
		name, class, SHAPE(NO, 6, NO, NO, NO, NO, NO, NO, NO, 2, NO), 5, { 1, NO }, NO     \
	}
/* A collective operation: its communicator, and what each member gives: counts and types. */
#define ALL(name, communicator, count, type)                                                       \
	{                                                                                          \
		name, MPI_COLLECTIVE, TYPED(type, NO), communicator, { count, NO }, NO             \
	}
#define ROOTED(name, class, communicator, count, type, root)                                       \
	{                                                                                          \
		name, class, TYPED(type, NO), communicator, { count, NO }, root                    \
	}
/* One that returns at once, with a request. */
#define BEGINS(name, communicator, count, type)                                                    \
	{                                                                                          \
		name, MPI_OTHER, TYPED(type, NO), communicator, { count, NO }, NO                  \
	}
#define COMMUNICATOR(name, class, out)                                                             \
	{                                                                                          \
		name, class, MAKES(out), 0, { NO, NO }, NO                                         \
	}
#define OTHER(name)                                                                                \
	{                                                                                          \
		name, MPI_OTHER, PLAIN, NO, { NO, NO }, NO                                         \
	}
/* Of those, in this order: handle_in to indices of struct mpi_shape. */
#define OF_HANDLES(name, class, ...)                                                               \
	{                                                                                          \
		name, class, SHAPE(__VA_ARGS__, NO, NO), NO, { NO, NO }, NO                        \
	}

const struct mpi_function mpi_functions[] = {
	{ "MPI_Init", MPI_INIT, PLAIN, NO, { NO, NO }, NO },
	{ "MPI_Init_thread", MPI_INIT, PLAIN, NO, { NO, NO }, NO },
	{ "MPI_Finalize", MPI_FINALIZE, PLAIN, NO, { NO, NO }, NO },

	SENDS("MPI_Send"),
	SENDS("MPI_Ssend"),
	SENDS("MPI_Bsend"),
	SENDS("MPI_Rsend"),
	SENDS_REQUEST("MPI_Isend", MPI_SEND_REQUEST),
	SENDS_REQUEST("MPI_Issend", MPI_SEND_REQUEST),
	SENDS_REQUEST("MPI_Ibsend", MPI_SEND_REQUEST),
	SENDS_REQUEST("MPI_Irsend", MPI_SEND_REQUEST),
	SENDS_REQUEST("MPI_Send_init", MPI_SEND_INIT),
	SENDS_REQUEST("MPI_Ssend_init", MPI_SEND_INIT),
	SENDS_REQUEST("MPI_Bsend_init", MPI_SEND_INIT),
	SENDS_REQUEST("MPI_Rsend_init", MPI_SEND_INIT),

	{ "MPI_Recv",
	  MPI_RECEIVE,
	  SHAPE(NO, NO, 6, NO, NO, NO, NO, NO, NO, 2, NO),
	  5,
	  { 1, NO },
	  NO },
	SENDS_REQUEST("MPI_Irecv", MPI_RECEIVE_REQUEST),
	SENDS_REQUEST("MPI_Recv_init", MPI_RECEIVE_INIT),
	{ "MPI_Mprobe",
	  MPI_PROBE,
	  SHAPE(NO, 3, 4, NO, NO, NO, NO, NO, NO, NO, NO),
	  2,
	  { NO, NO },
	  NO },
	{ "MPI_Improbe",
	  MPI_PROBE,
	  SHAPE(NO, 4, 5, 3, NO, NO, NO, NO, NO, NO, NO),
	  2,
	  { NO, NO },
	  NO },
	{ "MPI_Mrecv",
	  MPI_RECEIVE_MESSAGE,
	  SHAPE(3, NO, NO, NO, NO, NO, NO, NO, NO, 2, NO),
	  NO,
	  { 1, NO },
	  NO },
	{ "MPI_Imrecv",
	  MPI_RECEIVE_MESSAGE_REQUEST,
	  SHAPE(3, 4, NO, NO, NO, NO, NO, NO, NO, 2, NO),
	  NO,
	  { 1, NO },
	  NO },
	{ "MPI_Sendrecv",
	  MPI_SENDRECV,
	  SHAPE(NO, NO, 11, NO, NO, NO, NO, NO, NO, 2, 7),
	  10,
	  { 1, 6 },
	  NO },
	{ "MPI_Sendrecv_replace",
	  MPI_SENDRECV_REPLACE,
	  SHAPE(NO, NO, 8, NO, NO, NO, NO, NO, NO, 2, NO),
	  7,
	  { 1, NO },
	  NO },
	OTHER("MPI_Probe"),
	OTHER("MPI_Iprobe"),

	OF_HANDLES("MPI_Start", MPI_START, 0, NO, NO, NO, NO, NO, NO, NO, NO),
	OF_HANDLES("MPI_Startall", MPI_START_ALL, NO, NO, NO, NO, NO, 1, 0, NO, NO),
	OF_HANDLES("MPI_Wait", MPI_WAIT, 0, NO, 1, NO, NO, NO, NO, NO, NO),
	OF_HANDLES("MPI_Test", MPI_WAIT, 0, NO, 2, 1, NO, NO, NO, NO, NO),
	OF_HANDLES("MPI_Waitall", MPI_WAIT_ALL, NO, NO, NO, NO, NO, 1, 0, 2, NO),
	OF_HANDLES("MPI_Testall", MPI_WAIT_ALL, NO, NO, NO, 2, NO, 1, 0, 3, NO),
	OF_HANDLES("MPI_Waitany", MPI_WAIT_ANY, NO, NO, 3, NO, 2, 1, 0, NO, NO),
	OF_HANDLES("MPI_Testany", MPI_WAIT_ANY, NO, NO, 4, 3, 2, 1, 0, NO, NO),
	OF_HANDLES("MPI_Waitsome", MPI_WAIT_SOME, NO, NO, NO, NO, 2, 1, 0, 4, 3),
	OF_HANDLES("MPI_Testsome", MPI_WAIT_SOME, NO, NO, NO, NO, 2, 1, 0, 4, 3),
	OF_HANDLES("MPI_Request_free", MPI_FORGET, 0, NO, NO, NO, NO, NO, NO, NO, NO),

	ALL("MPI_Barrier", 0, NO, NO),
	ALL("MPI_Allreduce", 5, 2, 3),
	ALL("MPI_Allgather", 6, 1, 2),
	ALL("MPI_Allgatherv", 7, 1, 2),
	ALL("MPI_Alltoall", 6, 1, 2),
	ALL("MPI_Alltoallv", 8, NO, NO),
	ALL("MPI_Alltoallw", 8, NO, NO),
	ALL("MPI_Reduce_scatter", 5, NO, NO),
	ALL("MPI_Reduce_scatter_block", 5, 2, 3),
	ROOTED("MPI_Bcast", MPI_FROM_ROOT, 4, 1, 2, 3),
	ROOTED("MPI_Reduce", MPI_TO_ROOT, 6, 2, 3, 5),
	ROOTED("MPI_Gather", MPI_TO_ROOT, 7, 1, 2, 6),
	ROOTED("MPI_Gatherv", MPI_TO_ROOT, 8, 1, 2, 7),
	ROOTED("MPI_Scatter", MPI_FROM_ROOT, 7, 1, 2, 6),
	ROOTED("MPI_Scatterv", MPI_FROM_ROOT, 8, NO, NO, 7),
	ROOTED("MPI_Scan", MPI_SCAN, 5, 2, 3, NO),
	ROOTED("MPI_Exscan", MPI_SCAN, 5, 2, 3, NO),
	BEGINS("MPI_Ibarrier", 0, NO, NO),
	BEGINS("MPI_Iallreduce", 5, 2, 3),
	BEGINS("MPI_Iallgather", 6, 1, 2),
	BEGINS("MPI_Iallgatherv", 7, 1, 2),
	BEGINS("MPI_Ialltoall", 6, 1, 2),
	BEGINS("MPI_Ialltoallv", 8, NO, NO),
	BEGINS("MPI_Ibcast", 4, 1, 2),
	BEGINS("MPI_Ireduce", 6, 2, 3),
	BEGINS("MPI_Igather", 7, 1, 2),
	BEGINS("MPI_Igatherv", 8, 1, 2),
	BEGINS("MPI_Iscatter", 7, 1, 2),
	BEGINS("MPI_Iscatterv", 8, NO, NO),

	COMMUNICATOR("MPI_Comm_dup", MPI_COMMUNICATOR_DUP, 1),
	COMMUNICATOR("MPI_Comm_dup_with_info", MPI_COMMUNICATOR_DUP, 2),
	COMMUNICATOR("MPI_Comm_split", MPI_COMMUNICATOR_SPLIT, 3),
	COMMUNICATOR("MPI_Comm_split_type", MPI_COMMUNICATOR_OTHER, 4),
	COMMUNICATOR("MPI_Comm_create", MPI_COMMUNICATOR_CREATE, 2),
	COMMUNICATOR("MPI_Cart_create", MPI_COMMUNICATOR_OTHER, 5),
	COMMUNICATOR("MPI_Cart_sub", MPI_COMMUNICATOR_OTHER, 2),
	COMMUNICATOR("MPI_Graph_create", MPI_COMMUNICATOR_OTHER, 5),
	COMMUNICATOR("MPI_Dist_graph_create", MPI_COMMUNICATOR_OTHER, 8),
	COMMUNICATOR("MPI_Dist_graph_create_adjacent", MPI_COMMUNICATOR_OTHER, 9),
	OF_HANDLES("MPI_Comm_free", MPI_COMMUNICATOR_FREE, 0, NO, NO, NO, NO, NO, NO, NO, NO),
	OF_HANDLES("MPI_Comm_disconnect", MPI_COMMUNICATOR_FREE, 0, NO, NO, NO, NO, NO, NO, NO, NO),
	{ "MPI_Comm_group", MPI_GROUP_WHOLE, MAKES(1), 0, { NO, NO }, NO },
	{ "MPI_Group_incl",
	  MPI_GROUP_SOME,
	  { NO, 3, NO, NO, NO, 2, 1, NO, NO, { NO, NO }, sizeof(int32_t) },
	  NO,
	  { NO, NO },
	  NO },
	OF_HANDLES("MPI_Group_free", MPI_GROUP_FREE, 0, NO, NO, NO, NO, NO, NO, NO, NO),
	OTHER("MPI_Comm_create_group"),
	OTHER("MPI_Comm_idup"),
	OTHER("MPI_Intercomm_create"),
	OTHER("MPI_Intercomm_merge"),
	OTHER("MPI_Comm_spawn"),
	OTHER("MPI_Comm_accept"),
	OTHER("MPI_Comm_connect"),

	OTHER("MPI_Neighbor_allgather"),
	OTHER("MPI_Neighbor_alltoall"),
	OTHER("MPI_Neighbor_alltoallv"),
	OTHER("MPI_Win_create"),
	OTHER("MPI_Win_allocate"),
	OTHER("MPI_Win_allocate_shared"),
	OTHER("MPI_Win_fence"),
	OTHER("MPI_Win_lock"),
	OTHER("MPI_Win_lock_all"),
	OTHER("MPI_Win_unlock"),
	OTHER("MPI_Win_unlock_all"),
	OTHER("MPI_Win_flush"),
	OTHER("MPI_Win_flush_all"),
	OTHER("MPI_Win_start"),
	OTHER("MPI_Win_complete"),
	OTHER("MPI_Win_post"),
	OTHER("MPI_Win_wait"),
	OTHER("MPI_Win_free"),
	OTHER("MPI_Put"),
	OTHER("MPI_Get"),
	OTHER("MPI_Accumulate"),
	OTHER("MPI_Get_accumulate"),
	OTHER("MPI_Fetch_and_op"),
	OTHER("MPI_Compare_and_swap"),
	OTHER("MPI_File_open"),
	OTHER("MPI_File_close"),
	OTHER("MPI_File_sync"),
	OTHER("MPI_File_read"),
	OTHER("MPI_File_read_all"),
	OTHER("MPI_File_read_at"),
	OTHER("MPI_File_read_at_all"),
	OTHER("MPI_File_write"),
	OTHER("MPI_File_write_all"),
	OTHER("MPI_File_write_at"),
	OTHER("MPI_File_write_at_all"),
};

const size_t mpi_function_count = sizeof(mpi_functions) / sizeof(mpi_functions[0]);

_Static_assert(2 * sizeof(mpi_functions) / sizeof(mpi_functions[0]) <= MPI_FUNCTIONS_MAX,
	       "the program in the kernel has no room for all of them");

bool mpi_function_find(const char *name, unsigned *ret_number)
{
	size_t length = strlen(name);
	bool large = length > 2 && !strcmp(name + length - 2, "_c");

	if (large)
		length -= 2;
	for (unsigned i = 0; i < mpi_function_count; i++)
		if (!strncmp(mpi_functions[i].name, name, length) &&
		    !mpi_functions[i].name[length]) {
			*ret_number = large ? i + (unsigned)mpi_function_count : i;
			return true;
		}
	return false;
}

const char *mpi_function_name(unsigned number)
{
	return number < mpi_function_count ? mpi_functions[number].name : "MPI_?";
}

bool mpi_class_is_collective(enum mpi_class class)
{
	return class == MPI_COLLECTIVE || class == MPI_FROM_ROOT || class == MPI_TO_ROOT ||
	       class == MPI_SCAN || class == MPI_COMMUNICATOR_DUP ||
	       class == MPI_COMMUNICATOR_SPLIT || class == MPI_COMMUNICATOR_CREATE ||
	       class == MPI_COMMUNICATOR_OTHER;
}
