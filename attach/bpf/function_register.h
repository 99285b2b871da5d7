/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Part of mpi.bpf.c: registers of a thread that has met a probe, by the processor's numbers. */
#ifndef PIEPROFD_ATTACH_BPF_FUNCTION_REGISTER_H
#define PIEPROFD_ATTACH_BPF_FUNCTION_REGISTER_H

/* Where a compiler keeps what lives as long as the evaluation loop: all of these outlast a call. */
static __always_inline __u64 kept_register(struct pt_regs *context, __u32 number)
{
	__u64 value = 0;

	/* Each is read where it is chosen: the verifier takes no other place in the context. */
	if (number == 3) {
		value = context->rbx;
		barrier_var(value);
	} else if (number == 5) {
		value = context->rbp;
		barrier_var(value);
	} else if (number == 12) {
		value = context->r12;
		barrier_var(value);
	} else if (number == 13) {
		value = context->r13;
		barrier_var(value);
	} else if (number == 14) {
		value = context->r14;
		barrier_var(value);
	} else if (number == 15) {
		value = context->r15;
		barrier_var(value);
	}
	return value;
}

/* Where an argument, or a result, may be. Of the stack pointer's number: NULL. */
static __always_inline __u64 passed_register(struct pt_regs *context, __u32 number)
{
	__u64 value = 0;

	if (number == 0) {
		value = context->rax;
		barrier_var(value);
	} else if (number == 1) {
		value = context->rcx;
		barrier_var(value);
	} else if (number == 2) {
		value = context->rdx;
		barrier_var(value);
	} else if (number == 6) {
		value = context->rsi;
		barrier_var(value);
	} else if (number == 7) {
		value = context->rdi;
		barrier_var(value);
	} else {
		value = kept_register(context, number);
	}
	return value;
}

#endif
