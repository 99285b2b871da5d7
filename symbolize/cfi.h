/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Running one FDE's call frame program up to an address, into a rule of 8
 * bytes that says how to get from a frame to its caller.
 *
 * A rule knows the stack pointer, the frame pointer and the return address and
 * nothing else: that is all that is needed as long as no caller's CFA hangs on
 * another register, which holds for all code of GCC, clang and most assembly.
 * What does not fit becomes CFI_RULE_COMPLEX.
 */
#ifndef PIEPROFD_SYMBOLIZE_CFI_H
#define PIEPROFD_SYMBOLIZE_CFI_H

#include "symbolize/eh_frame.h"

enum cfi_rule_kind {
	CFI_RULE_NONE,          /* no unwind information */
	CFI_RULE_REGISTER,      /* CFA = register + offset */
	CFI_RULE_DEREFERENCE,   /* CFA = *(register + offset): realigned stacks (DRAP), assembly */
	CFI_RULE_DEREFERENCE_8, /* CFA = *(register + offset) + 8: OpenSSL's assembly */
	CFI_RULE_PLT,           /* CFA = rsp + 8 + 8 * ((rip & 15) >= offset) */
	CFI_RULE_SIGNAL,        /* signal trampoline: rsp points to a struct ucontext */
	CFI_RULE_END,           /* the return address is undefined: the outermost frame */
	CFI_RULE_COMPLEX,       /* something else */
};

enum cfi_rbp_rule {
	CFI_RBP_SAME,   /* not saved, or not yet */
	CFI_RBP_AT_CFA, /* saved at CFA + rbp_offset */
	CFI_RBP_AT_RBP, /* saved at rbp + rbp_offset: realigned stacks */
};

/* The return address lies at CFA - 8, except where kind says otherwise. */
struct cfi_rule {
	uint8_t kind;             /* enum cfi_rule_kind */
	uint8_t cfa_register : 4; /* enum register_id */
	uint8_t rbp : 4;          /* enum cfi_rbp_rule */
	int16_t rbp_offset;
	int32_t cfa_offset;
};

/* A rule and the code it holds for: [start, end) of the FDE's, never empty. */
struct cfi_row {
	uint64_t start;
	uint64_t end;
	struct cfi_rule rule;
};

/*
 * The row at an address the FDE covers. Never fails: a program that is broken
 * or too strange gives CFI_RULE_COMPLEX, for this address alone.
 */
struct cfi_row cfi_row_at(const struct eh_frame_fde *fde, uint64_t address);

static inline struct cfi_rule cfi_rule_at(const struct eh_frame_fde *fde, uint64_t address)
{
	return cfi_row_at(fde, address).rule;
}

/*
 * Whether an FDE may be shown to libunwind, which (1.6.2) trusts the numbers of
 * registers, asserts that there is a CFA, reads on where it does not know an
 * operation, and divides by what it is told. All of both programs is checked.
 */
bool cfi_is_safe_for_libunwind(const struct eh_frame_fde *fde);

/*
 * Whether code that begins with this rule has been jumped to from the middle of
 * a function: no function's first instruction has another CFA than rsp + 8.
 */
bool cfi_rule_is_mid_function(struct cfi_rule rule);

#endif
