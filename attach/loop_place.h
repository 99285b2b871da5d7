/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where probes are to be in an evaluation loop that is called once for each call of a Python
 * function (3.6 to 3.10): one where it is entered, and of those where it is left exactly one on
 * each way out.
 *
 *   loop:   push %r15                          entered: the stack pointer is that of the call
 *           ...
 *           call _Py_CheckFunctionResult       left: its third argument is what will be returned
 *   out:    add  $0x128,%rsp                   jumps from elsewhere lead here: each of them is a
 *           pop  %rbx                          way out of its own, and a place
 *           ...
 *           ret                                the place where nothing better is found
 *
 * The kernel does jumps, calls by a distance and pushes itself; all others it has to single-step,
 * which costs several times as much. So a place is sought backwards from each ret, through
 * instructions that move the stack pointer by a known distance and leave the result alone. Such a
 * place has the stack pointer that the loop was entered with, by that distance: by it a call is
 * known when it is left.
 *
 * No return address is changed. A way out that is not understood is an error, no guess; a jump by a
 * table into the last instructions would not be seen, and has not been met.
 */
#ifndef PIEPROFD_ATTACH_LOOP_PLACE_H
#define PIEPROFD_ATTACH_LOOP_PLACE_H

#include "common/memory.h"
#include "common/registers.h"

#define LOOP_PLACES_MAX 16

struct loop_function {
	const struct address_ranges *parts; /* the first one begins where it is entered */
	unsigned frame_argument;            /* which of its arguments is the frame: 0, 1, 2 */
	remote_addr check; /* of the function by which it hands back its result; 0: not known */
	unsigned check_argument; /* which of the arguments of that is the result: 0, 1, 2 */
};

struct loop_place {
	remote_addr address;
	bool enters;
	bool stepped; /* the kernel has to single-step the instruction there */
	/* enum register_id: has the frame where the loop is entered, and its result where it is
	 * left; REGISTER_RSP: that is NULL. */
	unsigned number;
	unsigned above; /* bytes from the stack pointer there to where it was at the entry */
};

/*
 * code has the bytes of the function, memory is the process's. 0 with how many places, the first of
 * which enters; -ENOENT: it is left in a way that is not known here; -EILSEQ: it cannot be decoded;
 * -E2BIG: there are too many ways, or too much code; -ENOMEM, or what a reader said.
 */
__attribute__((warn_unused_result)) int loop_places_find(
	const struct memory_reader *code, const struct memory_reader *memory,
	const struct loop_function *function, struct loop_place places[static LOOP_PLACES_MAX],
	size_t *ret_count);

#endif
