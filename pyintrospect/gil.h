/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who may run Python now: the holder of the global interpreter lock, and
 * whether the garbage collector is at work, which it is in that thread.
 *
 *   3.6            _PyThreadState_Current -> PyThreadState, 0 when nobody holds it
 *   3.7 to 3.11    _PyRuntime.gilstate.tstate_current, the same
 *   3.12           interpreter.ceval.gil -> {last_holder, locked}; valid when locked is 1
 *   3.13+          the same, and the holder's state is "attached"
 *   free-threaded  where interpreter.ceval.gil -> enabled is 0 there is none, and every thread
 *                  whose state is "attached" may run Python
 *
 * All of it is read from a process that runs: true of one moment each.
 */
#ifndef PIEPROFD_PYINTROSPECT_GIL_H
#define PIEPROFD_PYINTROSPECT_GIL_H

#include "common/debug_info.h"
#include "common/memory.h"
#include "pyintrospect/python_frame.h"

struct python_runtime;

/* Once the layout is known: where the facts are. What cannot be found stays unknown. */
void gil_locate(struct python_runtime *runtime, const struct debug_info *info,
		remote_addr runtime_address);

struct gil_facts {
	bool off; /* a free-threaded build without one; holder_known is false */
	bool holder_known;
	remote_addr holder; /* its PyThreadState; 0: nobody */
	bool collecting_known;
	bool collecting;
};

/* Of one interpreter. 0 or what the reader said; what could not be read is unknown. */
__attribute__((warn_unused_result)) int gil_read(const struct python_runtime *runtime,
						 remote_addr interpreter,
						 struct gil_facts *ret_facts);

/*
 * Where threads sleep that wait for the lock: the addresses that they give to
 * futex(2) lie in these ranges, and those of no other lock do. To 3.11 it is in
 * _PyRuntime, whose other locks are elsewhere; in 3.6 in static variables. None
 * where the symbols are missing. 0 or what the reader said.
 */
__attribute__((warn_unused_result)) int gil_read_locks(const struct python_runtime *runtime,
						       struct address_ranges *ret_locks);

/*
 * The words of the main interpreter that gil_tenure_of() and gil_is_collecting() look at, apart
 * from the thread's own state: who copies a thread without stopping it copies them at the same
 * moment. Returns how many there are, at most maximum.
 */
size_t gil_words(const struct python_runtime *runtime, struct address_range *words, size_t maximum);

/*
 * Whether a thread holds the lock, through runtime->copy: no system call when
 * its last reading foretold it. thread_bytes is its state as just read. Where
 * the lock is off: whether the thread is attached.
 */
enum gil_tenure gil_tenure_of(struct python_runtime *runtime, remote_addr thread,
			      remote_addr interpreter, const uint8_t *thread_bytes);

/* Whether this is a free-threaded build whose lock is off, likewise; unknown is yes. */
bool gil_is_off(struct python_runtime *runtime, remote_addr interpreter);

/* Whether the interpreter's garbage collector is at work, likewise; unknown is no. */
bool gil_is_collecting(struct python_runtime *runtime, remote_addr interpreter);

#endif
