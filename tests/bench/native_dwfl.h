/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libdwfl (elfutils) over the same copies of registers and stack that the
 * others unwind from. It maps the files by itself and keeps what it has
 * parsed. Separate debug files are not looked for: .eh_frame is enough.
 */
#ifndef PIEPROFD_TESTS_BENCH_NATIVE_DWFL_H
#define PIEPROFD_TESTS_BENCH_NATIVE_DWFL_H

#include "tests/unit/unwind_subject.h"

#include <elfutils/libdwfl.h>

struct native_dwfl {
	Dwfl *dwfl;
	const struct subject *subject;
	struct stack *stack; /* being filled */
};

static inline int native_dwfl_no_debuginfo(Dwfl_Module *module, void **user, const char *name,
					   Dwarf_Addr base, const char *file, const char *link,
					   GElf_Word crc, char **ret_path)
{
	(void)module;
	(void)user;
	(void)name;
	(void)base;
	(void)file;
	(void)link;
	(void)crc;
	(void)ret_path;
	return -1;
}

static inline pid_t native_dwfl_next_thread(Dwfl *dwfl, void *argument, void **thread)
{
	struct native_dwfl *self = argument;

	(void)dwfl;
	if (*thread)
		return 0;
	*thread = self;
	return self->subject->process->tid;
}

static inline bool native_dwfl_get_thread(Dwfl *dwfl, pid_t tid, void *argument, void **thread)
{
	(void)dwfl;
	(void)tid;
	*thread = argument;
	return true;
}

static inline bool native_dwfl_read(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *ret_word,
				    void *argument)
{
	struct native_dwfl *self = argument;

	(void)dwfl;
	return stack_view_read_u64(self->subject->view, address, ret_word) == 0;
}

static inline bool native_dwfl_registers(Dwfl_Thread *thread, void *argument)
{
	/* In DWARF's order; the last is the pc. */
	static const uint8_t order[16] = { REGISTER_RAX, REGISTER_RDX, REGISTER_RCX, REGISTER_RBX,
					   REGISTER_RSI, REGISTER_RDI, REGISTER_RBP, REGISTER_RSP,
					   REGISTER_R8,  REGISTER_R9,  REGISTER_R10, REGISTER_R11,
					   REGISTER_R12, REGISTER_R13, REGISTER_R14, REGISTER_R15 };
	struct native_dwfl *self = argument;
	const struct registers *registers = &self->subject->process->registers;
	Dwarf_Word words[17];

	for (size_t i = 0; i < 16; i++)
		words[i] = registers->general[order[i]];
	words[16] = registers->rip;
	return dwfl_thread_state_registers(thread, 0, 17, words);
}

/* The files mapped now. */
static inline void native_dwfl_report(struct native_dwfl *self)
{
	dwfl_report_begin(self->dwfl);
	live_must(dwfl_linux_proc_report(self->dwfl, self->subject->process->pid) == 0);
	live_must(dwfl_report_end(self->dwfl, NULL, NULL) == 0);
}

/* self must stay where it is. */
static inline void native_dwfl_open(struct native_dwfl *self, const struct subject *subject)
{
	static const Dwfl_Callbacks callbacks = {
		.find_elf = dwfl_linux_proc_find_elf,
		.find_debuginfo = native_dwfl_no_debuginfo,
	};
	static const Dwfl_Thread_Callbacks thread_callbacks = {
		.next_thread = native_dwfl_next_thread,
		.get_thread = native_dwfl_get_thread,
		.memory_read = native_dwfl_read,
		.set_initial_registers = native_dwfl_registers,
	};

	*self = (struct native_dwfl){ .dwfl = dwfl_begin(&callbacks), .subject = subject };
	live_must(self->dwfl);
	native_dwfl_report(self);
	live_must(dwfl_attach_state(self->dwfl, NULL, subject->process->pid, &thread_callbacks,
				    self));
}

static inline void native_dwfl_close(struct native_dwfl *self)
{
	dwfl_end(self->dwfl);
}

static inline int native_dwfl_frame(Dwfl_Frame *frame, void *argument)
{
	struct native_dwfl *self = argument;
	Dwarf_Addr pc;
	bool is_activation;

	if (self->stack->count == FRAMES_MAX || !dwfl_frame_pc(frame, &pc, &is_activation))
		return DWARF_CB_ABORT;
	self->stack->frames[self->stack->count++].pc = pc;
	return DWARF_CB_OK;
}

/* Only the pcs. */
static inline void native_dwfl_unwind(struct native_dwfl *self, struct stack *ret_stack)
{
	int result;

	stack_view_begin(self->subject->view, &self->subject->process->stack);
	self->stack = ret_stack;
	ret_stack->count = 0;
	result = dwfl_getthread_frames(self->dwfl, self->subject->process->tid, native_dwfl_frame,
				       self);
	ret_stack->end = result == 0 ? UNWIND_COMPLETE : UNWIND_CORRUPT;
}

#endif
