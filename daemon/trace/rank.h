/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which rank a process is, as the launcher has told it by its environment: mpirun of Open MPI and
 * of MPICH, srun, and whatever else speaks PMI or PMIx. The environment is the process's word.
 */
#ifndef PIEPROFD_DAEMON_TRACE_RANK_H
#define PIEPROFD_DAEMON_TRACE_RANK_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define RANK_MAX 1000000

struct rank {
	int32_t number;
	int32_t size; /* of the job; 0: not told */
};

/* 0, -ENODATA: it is none, or a negative errno. */
__attribute__((warn_unused_result)) int rank_read(pid_t pid, struct rank *ret_rank);

/* The same of such a file's text. */
__attribute__((warn_unused_result)) int rank_parse(const char *text, size_t size,
						   struct rank *ret_rank);

#endif
