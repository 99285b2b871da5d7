/* SPDX-License-Identifier: Apache-2.0 */
/* One thread's user registers, as copied while it was stopped (x86-64). */
#ifndef PIEPROFD_COMMON_REGISTERS_H
#define PIEPROFD_COMMON_REGISTERS_H

#include "common/address.h"

/* Instruction-encoding order, which is also Zydis's register id order. */
enum register_id {
	REGISTER_RAX,
	REGISTER_RCX,
	REGISTER_RDX,
	REGISTER_RBX,
	REGISTER_RSP,
	REGISTER_RBP,
	REGISTER_RSI,
	REGISTER_RDI,
	REGISTER_R8,
	REGISTER_R9,
	REGISTER_R10,
	REGISTER_R11,
	REGISTER_R12,
	REGISTER_R13,
	REGISTER_R14,
	REGISTER_R15,
	REGISTER_COUNT
};

struct registers {
	uint64_t general[REGISTER_COUNT];
	remote_addr rip;
	uint64_t rflags;
	remote_addr fs_base;
	remote_addr gs_base;
};

#endif
