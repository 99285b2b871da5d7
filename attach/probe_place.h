/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where at the beginning of a function a uprobe costs least. The kernel emulates some instructions
 * (push, nop, jumps); any other is executed apart and stepped over, which takes twenty times as
 * long. Pure.
 */
#ifndef PIEPROFD_ATTACH_PROBE_PLACE_H
#define PIEPROFD_ATTACH_PROBE_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROBE_ARGUMENTS 3
/* The first three arguments of a function, as bits. */
#define PROBE_ARGUMENT(number) (1u << (number))

struct probe_place {
	size_t offset; /* behind the beginning */
	/* In which register each of the wanted arguments is there: rdi, rsi, rdx, rcx, rax. */
	unsigned registers[PROBE_ARGUMENTS];
};

/*
 * Of code with so many bytes: a place where each call comes by before it changes the stack pointer
 * and while registers have those arguments. False: there is none, and the place is the beginning.
 */
bool probe_place_choose(const uint8_t *code, size_t size, unsigned arguments,
			struct probe_place *ret_place);

#endif
