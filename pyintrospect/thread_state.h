/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a kernel tid to its PyThreadState.
 *
 * Every interpreter keeps a list of thread states, newest first. It is walked
 * when an unknown tid is asked for; a thread that has no state costs one
 * system call as long as the heads of the lists stay what they were. That is
 * believed only so many times in a row, since a walk over a running target's
 * lists may have come to a wrong end.
 */
#ifndef PIEPROFD_PYINTROSPECT_THREAD_STATE_H
#define PIEPROFD_PYINTROSPECT_THREAD_STATE_H

#include "pyintrospect/thread_table.h"

struct python_runtime;

/* One thread state as it is now, its id resolved to a kernel tid (0: it has none). */
struct thread_facts {
	remote_addr next;
	remote_addr interpreter;
	uint64_t pthread;
	pid_t tid;
};

/*
 * The state of the thread with this tid. 0, -ESRCH, -ENOMEM, or what the
 * reader said. *ret_thread lives until thread_table_forget() or the next
 * thread_state_find().
 */
__attribute__((warn_unused_result)) int thread_state_find(struct python_runtime *runtime, pid_t tid,
							  struct thread_state **ret_thread);

/*
 * Tells whether bytes, the thread state as it was just read, is still this
 * thread's. Up to 3.10 the tid comes from its struct pthread, through copy. Whose tid is 0 is
 * not asked for it.
 */
bool thread_state_is_current(struct python_runtime *runtime, const struct thread_state *thread,
			     const uint8_t *bytes);

/* The thread state at this address, whatever it is; 0 or what the reader said. */
__attribute__((warn_unused_result)) int thread_facts_read(const struct python_runtime *runtime,
							  remote_addr address,
							  struct thread_facts *ret_facts);
/* An interpreter's link and the head of its thread states; 0, -EFAULT or what the reader said. */
__attribute__((warn_unused_result)) int thread_interpreter_read(
	const struct python_runtime *runtime, remote_addr interpreter, remote_addr *ret_next,
	remote_addr *ret_first);

/*
 * Does this interpreter's list still consist of these states, and then states[count] (0: no
 * more)? 0; -EAGAIN: no longer; or what the reader said. To be asked after a walk: one ends too
 * early, and nothing shows it, when a state is unlinked, freed and taken anew while it is looked
 * at, for the new one has no link yet, and the list's head may be what it was.
 */
__attribute__((warn_unused_result)) int thread_links_hold(const struct python_runtime *runtime,
							  remote_addr interpreter,
							  const remote_addr *states, size_t count);

/* Walks all lists afresh. 0 or what the reader said. */
__attribute__((warn_unused_result)) int thread_table_refresh(struct python_runtime *runtime);

#endif
