/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A child that the test steps instruction by instruction: the truth that
 * decoding ahead and behind is compared with. Only tests may single-step, as
 * its stop is a SIGTRAP that would kill the target with its tracer.
 */
#ifndef PIEPROFD_TESTS_STEPPED_PROCESS_H
#define PIEPROFD_TESTS_STEPPED_PROCESS_H

#include "attach/access.h"
#include "attach/user_registers.h"
#include "tests/unit/live_process.h"

#include <Zydis/Zydis.h>

#include <stdint.h>
#include <sys/user.h>

/* One instruction that the child is about to run, decoded with its true registers. */
struct stepped_instruction {
	struct registers registers;
	uint8_t bytes[INSTRUCTION_BYTES_MAX];
	size_t size;
	struct instruction instruction;
	ZydisDecodedInstruction decoded;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
};

/* xorshift64*: the same numbers in every run. */
static inline uint64_t stepped_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545f4914f6cdd1dull;
}

static inline bool stepped_can_import_numpy(const char *python)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		int sink = open("/dev/null", O_RDWR);

		dup2(sink, STDOUT_FILENO);
		dup2(sink, STDERR_FILENO);
		execl(python, python, "-c", "import numpy", (char *)NULL);
		_exit(127);
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
	       WEXITSTATUS(status) == 0;
}

/*
 * An interpreter in the middle of live_workload, seized and stopped; with
 * numpy where one on this machine has it. NULL: there is no interpreter.
 */
static inline struct live_process *stepped_process_start(void)
{
	struct live_interpreters found = live_interpreters_find();
	struct live_process *process = NULL;
	size_t chosen = 0;

	for (size_t i = found.count; i-- > 0;)
		if (stepped_can_import_numpy(found.paths[i]))
			chosen = i;
	if (found.count) {
		char option[] = "-c", program[sizeof(live_workload)];
		char *argv[] = { found.paths[chosen], option, program, NULL };

		memcpy(program, live_workload, sizeof(program));
		printf("stepping %s\n", found.paths[chosen]);
		process = live_process_start(argv, NULL, NULL);
	}
	live_interpreters_free(&found);
	if (process && (!live_process_wait_line(process) || !live_process_seize(process) ||
			!live_process_stop(process))) {
		live_process_end(process);
		return NULL;
	}
	if (process)
		live_process_read_mappings(process);
	return process;
}

static inline bool stepped_registers(pid_t pid, struct registers *ret)
{
	struct user_regs_struct user;

	if (ptrace(PTRACE_GETREGS, pid, NULL, &user))
		return false;
	*ret = registers_from_user(&user);
	return true;
}

/* All of struct registers; the rest stays. */
static inline bool stepped_set_registers(pid_t pid, const struct registers *registers)
{
	struct user_regs_struct user;
	const uint64_t *general = registers->general;

	if (ptrace(PTRACE_GETREGS, pid, NULL, &user))
		return false;
	user.rax = general[REGISTER_RAX];
	user.rcx = general[REGISTER_RCX];
	user.rdx = general[REGISTER_RDX];
	user.rbx = general[REGISTER_RBX];
	user.rsp = general[REGISTER_RSP];
	user.rbp = general[REGISTER_RBP];
	user.rsi = general[REGISTER_RSI];
	user.rdi = general[REGISTER_RDI];
	user.r8 = general[REGISTER_R8];
	user.r9 = general[REGISTER_R9];
	user.r10 = general[REGISTER_R10];
	user.r11 = general[REGISTER_R11];
	user.r12 = general[REGISTER_R12];
	user.r13 = general[REGISTER_R13];
	user.r14 = general[REGISTER_R14];
	user.r15 = general[REGISTER_R15];
	user.rip = registers->rip;
	user.eflags = registers->rflags;
	user.fs_base = registers->fs_base;
	user.gs_base = registers->gs_base;
	user.orig_rax = (unsigned long long)-1; /* no system call to restart */
	return ptrace(PTRACE_SETREGS, pid, NULL, &user) == 0;
}

/* The low 16 bytes of a vector register, before or after a step. */
static inline bool stepped_vector_register(pid_t pid, unsigned number, uint8_t ret[16])
{
	struct user_fpregs_struct vectors;

	if (number >= 16 || ptrace(PTRACE_GETFPREGS, pid, NULL, &vectors))
		return false;
	memcpy(ret, (const uint8_t *)vectors.xmm_space + 16 * number, 16);
	return true;
}

/* Decodes what the stopped child runs next. False: it is not readable code. */
static inline bool stepped_decode(const struct live_process *process,
				  struct stepped_instruction *ret)
{
	ZydisDecoder decoder;

	if (!stepped_registers(process->pid, &ret->registers))
		return false;
	for (ret->size = INSTRUCTION_BYTES_MAX; ret->size; ret->size--)
		if (memory_read(&process->reader, ret->registers.rip, ret->bytes, ret->size) == 0)
			break;
	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	return instruction_decode(&ret->registers, ret->bytes, ret->size, &ret->instruction) == 0 &&
	       ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, ret->bytes, ret->size, &ret->decoded,
						   ret->operands));
}

/* One instruction further; a rep string instruction takes one step an element. */
static inline bool stepped_step(pid_t pid)
{
	int status, signal_number = 0;

	for (;;) {
		if (ptrace(PTRACE_SINGLESTEP, pid, NULL, (void *)(long)signal_number) ||
		    waitpid(pid, &status, __WALL) != pid || !WIFSTOPPED(status))
			return false;
		if (WSTOPSIG(status) == SIGTRAP)
			return true;
		signal_number = status >> 16 ? 0 : WSTOPSIG(status);
	}
}

/* Off to another part of the program. */
static inline bool stepped_run(const struct live_process *process, unsigned microseconds)
{
	live_process_continue(process);
	usleep(microseconds);
	return live_process_stop(process);
}

#endif
