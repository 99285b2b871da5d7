/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the program at the MPI functions (mpi.bpf.c) and the daemon say to each other.
 *
 *   a call: one record when it returns, with its arguments and what it left behind pointers
 *   a call from a Python line that was not seen before: first what tells which line that is, in
 *   pieces of memory, then a mark that this was all
 *   a call with an array of requests: first its handles, in pieces, when it begins; then the
 *   statuses, and which were done, in pieces, when it returns; then the record
 */
#ifndef PIEPROFD_ATTACH_BPF_MPI_RECORD_H
#define PIEPROFD_ATTACH_BPF_MPI_RECORD_H

#include "attach/bpf/clock_record.h"

#include <linux/types.h>

#define MPI_TARGETS_MAX   256
#define MPI_FUNCTIONS_MAX 256
#define MPI_WORDS         12 /* arguments that are taken: six registers, the rest of the stack */
#define MPI_ABSENT        0xff
#define MPI_CHUNK_WORDS   64
#define MPI_CHUNKS_MAX    64 /* of one array */
#define MPI_WINDOW_NS     100000000ull
#define MPI_FRAMES_MAX    64 /* of Python, innermost first: callers further out are left out */
/* Of a process, paths that are new, in MPI_WINDOW_NS; calls from further ones have none. */
#define MPI_PATHS_MAX 128
/* No one hands out pointers into the first page: MPI_STATUS_IGNORE is 0 or 1. */
#define MPI_POINTER_MIN 4096

/* Which argument is what; MPI_ABSENT: none is. */
struct mpi_shape {
	__u8 handle_in;   /* points to a request or message, read when the call begins */
	__u8 handle_out;  /* to a request, message or communicator, read when it returns */
	__u8 status;      /* to an MPI_Status */
	__u8 flag;        /* to an int, whether anything was done */
	__u8 index;       /* to an int, which request was done, or how many */
	__u8 array;       /* of requests, or of what array_bytes says; when the call begins */
	__u8 count;       /* how many */
	__u8 statuses;    /* array of statuses, as long */
	__u8 indices;     /* array of those done */
	__u8 types[2];    /* datatypes, whose sizes are looked up */
	__u8 array_bytes; /* of an item; 0: they are requests */
};

/* One process. The daemon writes the first half, the program counts in the second. */
struct mpi_target {
	__u32 recording;
	__u32 handle_bytes; /* of a request or communicator: 8 where it is a pointer, else 4 */
	__u32 status_bytes;
	__u32 status_source; /* offsets in an MPI_Status */
	__u32 status_tag;
	__u32 type_size;  /* offset of its size in a datatype; MPI_ABSENT: not known */
	__u32 limit;      /* records in MPI_WINDOW_NS; calls beyond it are counted alone */
	__u32 in_window;  /* records */
	__u64 window_ns;  /* when it began */
	__u64 over_limit; /* calls */
	__u64 over_ns;    /* their time */
	__u64 dropped;    /* calls for whose record there was no room */
	__u64 dropped_ns;
	__u64 nested; /* calls made by other MPI functions */
	__u64 requests_left_out;
	__u64 paths_window_ns; /* likewise, for paths */
	__u32 in_paths_window;
	__u32 unused;
};

enum mpi_record_kind {
	MPI_RECORD_CALL = 1,
	MPI_RECORD_HANDLES,
	MPI_RECORD_STATUSES,
	MPI_RECORD_INDICES,
	MPI_RECORD_STATE, /* of the PyThreadState, a piece: first is its offset, the address is in
			     front */
	MPI_RECORD_DATA,  /* all else that tells a path, likewise */
	MPI_RECORD_PATH,  /* a path's pieces are complete: words of enum mpi_path_word */
	MPI_RECORD_SPAN,  /* struct span_record */
	MPI_RECORD_FUNCTION, /* struct function_record */
	MPI_RECORD_CODE,     /* struct function_code_record */
};

/* Of a record of memory, the address comes first. */
#define MPI_PIECE_BYTES ((MPI_CHUNK_WORDS - 1) * 8u)

enum mpi_path_word {
	MPI_PATH_STATE, /* address of the PyThreadState */
	MPI_PATH_TID,   /* the thread's number in its own namespace */
	MPI_PATH_REST,  /* the next frame's address; 0: these were all */
};

#define MPI_HAS_STATUS (1u << 0)
#define MPI_HAS_FLAG   (1u << 1)
#define MPI_HAS_INDEX  (1u << 2)
#define MPI_HAS_SIZE_0 (1u << 3)
#define MPI_HAS_SIZE_1 (1u << 4)
#define MPI_IS_MAIN    (1u << 5) /* the process's first thread */
#define MPI_HAS_STACK  (1u << 6) /* words 6 and up could be read */
#define MPI_IS_OPEN    (1u << 7) /* has not returned: the daemon's, never the program's */
#define MPI_IS_LARGE   (1u << 8) /* its counts have 64 bits: likewise */

struct mpi_record {
	__u32 kind;
	__u16 slot;
	__u16 function;
	__u32 tid;
	__u32 flags;
	__u64 begin_ns;
	__u64 end_ns;
	__u64 sp, ip; /* when it begins */
	__u64 words[MPI_WORDS];
	__u64 sizes[2]; /* of a datatype */
	__u64 path;     /* the Python lines from which it was called; 0: not known */
	__u64 handle_in;
	__u64 handle_out;
	__s32 source, tag; /* of the status */
	__s32 flag, index;
	__s64 result;
};

/* A piece of an array, or of memory. Its call is known by tid and begin_ns, a path by tid and that
 * in place of begin_ns. */
struct mpi_chunk {
	__u32 kind;
	__u16 slot;
	__u16 count; /* items in it; of memory, bytes */
	__u32 tid;
	__u32 first; /* place of the first one in the array */
	__u64 begin_ns;
	__u64 words[MPI_CHUNK_WORDS]; /* packed as they lay in memory */
};

/* For the daemon's number of a thread. */
struct mpi_machine {
	__u64 namespace_device;
	__u64 namespace_inode;
};

#endif
