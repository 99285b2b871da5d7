/* SPDX-License-Identifier: Apache-2.0 */
/* A stopped thread's registers as PTRACE_GETREGS has them, in the order that is used here. */
#ifndef PIEPROFD_ATTACH_USER_REGISTERS_H
#define PIEPROFD_ATTACH_USER_REGISTERS_H

#include "common/registers.h"

#include <sys/user.h>

static inline struct registers registers_from_user(const struct user_regs_struct *user)
{
	return (struct registers){
		.general = {
			[REGISTER_RAX] = user->rax, [REGISTER_RCX] = user->rcx,
			[REGISTER_RDX] = user->rdx, [REGISTER_RBX] = user->rbx,
			[REGISTER_RSP] = user->rsp, [REGISTER_RBP] = user->rbp,
			[REGISTER_RSI] = user->rsi, [REGISTER_RDI] = user->rdi,
			[REGISTER_R8] = user->r8,   [REGISTER_R9] = user->r9,
			[REGISTER_R10] = user->r10, [REGISTER_R11] = user->r11,
			[REGISTER_R12] = user->r12, [REGISTER_R13] = user->r13,
			[REGISTER_R14] = user->r14, [REGISTER_R15] = user->r15,
		},
		.rip = user->rip,
		.rflags = user->eflags,
		.fs_base = user->fs_base,
		.gs_base = user->gs_base,
	};
}

#endif
