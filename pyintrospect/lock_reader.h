/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which locks a sleeping thread holds, and which one it waits for, as far as its
 * frames tell: `with lock:` keeps the lock's __exit__ on the frame's evaluation stack,
 * and a call of acquire() the lock itself.
 *
 *   frame of `with a:`     slot 0: a.__exit__      held
 *     frame of `with b:`   slot 0: b.__exit__      the thread sleeps in it: waited for
 *
 * What a lock was taken by without `with` is not known, but of an RLock, which knows
 * its owner. Up to 3.12 the lock that is waited for is told by the address that
 * the thread gave to futex(2). Later ones are a byte, and the address is another one:
 * there the instruction has to be one that acquires or enters it.
 *
 * For one look at a process: it makes many system calls. All that is read is hostile.
 */
#ifndef PIEPROFD_PYINTROSPECT_LOCK_READER_H
#define PIEPROFD_PYINTROSPECT_LOCK_READER_H

#include "pyintrospect/python_stack.h"

/* Of a thread; further ones are left out, as are locks of frames further out. */
#define LOCK_USES_MAX   16
#define LOCK_FRAMES_MAX 128

struct lock_use {
	remote_addr lock;
	size_t frame;     /* number in the stack */
	int offset;       /* of the frame's instruction that took it, or is about to */
	bool waited;      /* else held */
	bool owner_known; /* an RLock */
	uint64_t owner;   /* its ident; 0: nobody */
};

struct lock_uses {
	struct lock_use items[LOCK_USES_MAX];
	size_t count;
	uint64_t joined;     /* ident of the thread whose end it waits for; 0: of none */
	size_t joined_frame; /* in which frame */
};

/*
 * Of a thread that sleeps in a futex(2) on this address. 0, -ENOMEM, or what the memory
 * reader said.
 */
__attribute__((warn_unused_result)) int lock_uses_read(const struct python_runtime *runtime,
						       const struct python_stack *stack,
						       remote_addr futex,
						       struct lock_uses *ret_uses);

#endif
