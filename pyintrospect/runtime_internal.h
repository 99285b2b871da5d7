/* SPDX-License-Identifier: Apache-2.0 */
/* struct python_runtime, for the files of this folder alone. */
#ifndef PIEPROFD_PYINTROSPECT_RUNTIME_INTERNAL_H
#define PIEPROFD_PYINTROSPECT_RUNTIME_INTERNAL_H

#include "pyintrospect/offsets.h"
#include "pyintrospect/python_frame.h"
#include "pyintrospect/remote_copy.h"
#include "pyintrospect/thread_table.h"
#include "pyintrospect/version.h"

struct code_cache;

/* Bytes to read of each structure from its start, so that every field used is in. */
struct python_block_sizes {
	size_t thread, frame, code, cframe;
};

/* Frames of one reading, hidden ones included. */
#define RAW_FRAMES_MAX (PYTHON_STACK_FRAMES_MAX + 128)

/* A frame as it was read, before its code object is known. */
struct raw_frame {
	remote_addr address;
	remote_addr code;
	remote_addr anchor;
	int64_t instruction; /* byte offset into the bytecode */
	/* Free-threaded 3.14+: the thread's copy of the bytecode that it runs; 0: the code's own.
	 */
	uint32_t tlbc;
	uint8_t owner;
	bool entry;
};

struct python_runtime {
	const struct memory_reader *reader;
	struct python_version version;
	enum python_offsets_source source;
	struct python_layout layout;
	struct python_block_sizes sizes;
	remote_addr interpreters; /* address of the pointer to the first interpreter */
	remote_addr code_type;
	remote_addr type_type;      /* 0: not exported */
	struct address_range eval;  /* empty: no symbol */
	remote_addr current_thread; /* to 3.11: of the pointer to the GIL's holder; 0: unknown */
	remote_addr collecting;     /* to 3.8: of gc.collecting; 0: unknown */
	struct address_ranges gil_locks; /* to 3.11, see gil_read_locks() */
	/*
	 * Offset of the kernel's tid in struct pthread: to 3.10, and where a library has forked
	 * without telling the interpreter, whose native_thread_id is then the parent's (the
	 * layout's is ABSENT).
	 */
	uint32_t pthread_tid;
	struct thread_table threads;
	struct code_cache *codes;
	struct remote_copy copy;
	struct raw_frame raw_frames[RAW_FRAMES_MAX];
	size_t raw_count;
	remote_addr visited[2048];   /* frames of this walk, by hash: a cycle is noticed */
	struct python_stack result;  /* being filled */
	bool gil_off;                /* free-threaded: result.gil says who is attached */
	struct python_stack earlier; /* the look before, of a thread that runs */
};

#define OBJECT_HEAD_BYTES 16

/* By how much more than in builds with the GIL all that follows an object's head is moved. */
static inline uint64_t object_head_extra(const struct python_runtime *runtime)
{
	return (uint64_t)runtime->layout.offsets.variable_size - OBJECT_HEAD_BYTES;
}

#endif
