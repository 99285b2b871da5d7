/* SPDX-License-Identifier: Apache-2.0 */
/* Which instruction trapped: real watchpoints on assembled functions in a child; random bytes. */
#include "attach/trap_instruction.h"
#include "tests/unit/stepped_process.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/*
 * rdi points at the watched word, in the middle of an arena; rsi at another
 * arena. Each function ends with int3; the label with _at is what must be found.
 */
asm(".pushsection .text\n"
    ".intel_syntax noprefix\n"
    "trap_store:     nop\n"
    "trap_store_at:  mov [rdi], rax\n nop\n int3\n"
    "trap_load:      xor eax, eax\n"
    "trap_load_at:   movzx eax, byte ptr [rdi+2]\n int3\n"
    "trap_modify:\n"
    "trap_modify_at: lock add dword ptr [rdi+4], 1\n int3\n"
    "trap_gone:      nop dword ptr [rax+rax]\n"
    "trap_gone_at:   mov rdi, [rdi]\n int3\n"
    "trap_vector:    nop\n"
    "trap_vector_at: movups [rdi-12], xmm0\n int3\n"
    "trap_float:     nop\n"
    "trap_float_at:  movsd xmm0, [rdi]\n int3\n"
    "trap_push:      lea rsp, [rdi+8]\n"
    "trap_push_at:   push rax\n int3\n"
    "trap_pop:       mov rsp, rdi\n"
    "trap_pop_at:    pop rax\n int3\n"
    "trap_leave:     mov rbp, rdi\n"
    "trap_leave_at:  leave\n int3\n"
    "trap_movs:      xchg rsi, rdi\n"
    "trap_movs_at:   movsq\n int3\n"
    "trap_cmps:      nop\n"
    "trap_cmps_at:   cmpsw\n int3\n"
    /* Of two memory operands, the one that was watched. */
    "trap_two:       lea rsp, [rsi+64]\n"
    "trap_two_at:    push [rdi]\n int3\n"
    /* Two stores at once behind each other: the first trapped, whatever follows. */
    "trap_first:     nop\n"
    "trap_first_at:  mov [rdi], rax\n mov [rdi+8], rax\n int3\n"
    /* A rep trapped in its midst, at its last element, and just before it starts. */
    "trap_rep:       lea rdi, [rdi-40]\n mov ecx, 90\n"
    "trap_rep_at:    rep movsb\n int3\n"
    "trap_rep_load:  xchg rsi, rdi\n sub rsi, 16\n mov ecx, 9\n"
    "trap_rep_load_at: rep movsq\n int3\n"
    "trap_rep_last:  lea rdi, [rdi-8]\n mov ecx, 2\n"
    "trap_rep_last_at: rep stosq\n int3\n"
    "trap_rep_down:  lea rdi, [rdi+41]\n lea rsi, [rsi+90]\n mov ecx, 90\n std\n"
    "trap_rep_down_at: rep movsb\n cld\n int3\n"
    "trap_rep_next:  mov ecx, 3\n lea rdi, [rdi+8]\n"
    "trap_rep_next_at: mov [rdi-8], rax\n rep stosq\n int3\n"
    "trap_scan:      mov ecx, 90\n lea rdi, [rdi-16]\n mov al, 0x99\n"
    "trap_scan_at:   repne scasb\n int3\n"
    /* Not by an instruction before rip: rip is where the call led. */
    "trap_call:      call [rdi]\n int3\n"
    "trap_called:    mov rax, [rsi]\n int3\n"
    /* What does not decode. */
    "trap_broken:    .byte 0x06\n"
    "                mov [rdi], rax\n int3\n"
    "trap_end:       nop\n"
    ".att_syntax\n"
    ".popsection\n");

#define DECLARE(name) extern const uint8_t trap_##name[], trap_##name##_at[]
DECLARE(store);
DECLARE(load);
DECLARE(modify);
DECLARE(gone);
DECLARE(vector);
DECLARE(float);
DECLARE(push);
DECLARE(pop);
DECLARE(leave);
DECLARE(movs);
DECLARE(cmps);
DECLARE(two);
DECLARE(first);
DECLARE(rep);
DECLARE(rep_load);
DECLARE(rep_last);
DECLARE(rep_down);
DECLARE(rep_next);
DECLARE(scan);
extern const uint8_t trap_call[], trap_called[], trap_broken[], trap_end[];

/* The same addresses in the child: it is a fork. */
static uint8_t arenas[2][4096] __attribute__((aligned(64)));
#define WATCHED (&arenas[0][2048])

struct trap_case {
	const char *name;
	const uint8_t *start, *at, *end;
	uint8_t kinds;
	uint32_t size;
	bool known;
	ptrdiff_t operand; /* from the watched word */
	uint8_t element_size;
};

#define CASE(name, next, ...) #name, trap_##name, trap_##name##_at, trap_##next, __VA_ARGS__

static const struct trap_case cases[] = {
	{ CASE(store, load, ACCESS_STORE, 8, true, 0, 0) },
	{ CASE(load, modify, ACCESS_LOAD, 1, true, 2, 0) },
	{ CASE(modify, gone, ACCESS_LOAD | ACCESS_STORE, 4, true, 4, 0) },
	{ CASE(gone, vector, ACCESS_LOAD, 8, false, 0, 0) },
	{ CASE(vector, float, ACCESS_STORE, 16, true, -12, 4) },
	{ CASE(float, push, ACCESS_LOAD, 8, true, 0, 8) },
	{ CASE(push, pop, ACCESS_STORE, 8, true, 0, 0) },
	{ CASE(pop, leave, ACCESS_LOAD, 8, true, 0, 0) },
	{ CASE(leave, movs, ACCESS_LOAD, 8, true, 0, 0) },
	{ CASE(movs, cmps, ACCESS_LOAD, 8, true, 0, 0) },
	{ CASE(cmps, two, ACCESS_LOAD, 2, true, 0, 0) },
	{ CASE(two, first, ACCESS_LOAD, 8, true, 0, 0) },
	{ CASE(first, rep, ACCESS_STORE, 8, true, 0, 0) },
	{ CASE(rep, rep_load, ACCESS_STORE, 1, true, 0, 0) },
	{ CASE(rep_load, rep_last, ACCESS_LOAD, 8, true, 0, 0) },
	{ CASE(rep_last, rep_down, ACCESS_STORE, 8, true, 0, 0) },
	{ CASE(rep_down, rep_next, ACCESS_STORE, 1, true, 7, 0) },
	{ CASE(rep_next, scan, ACCESS_STORE, 8, true, 0, 0) },
	{ CASE(scan, call, ACCESS_LOAD, 1, true, 0, 0) },
};

static remote_addr address_of(const void *local)
{
	return (remote_addr)(uintptr_t)local;
}

static struct address_range range_of(const void *start, const void *end)
{
	return (struct address_range){ address_of(start), address_of(end) };
}

static void stop_at_once(void *context)
{
	(void)context;
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	raise(SIGSTOP);
}

/*
 * Runs the child from start until the watchpoint traps. Registers in its own
 * debug registers are fine for a test's child; a profiler may not do that.
 */
static bool run_to_trap(pid_t pid, const struct trap_case *one, struct registers *ret)
{
	enum {
		WRITE = 1,
		READ_WRITE = 3,
		BYTES_8 = 2
	};
	unsigned long kind = one->kinds == ACCESS_LOAD ? READ_WRITE : WRITE;
	unsigned long control = 1 | kind << 16 | BYTES_8 << 18;
	struct registers registers = { 0 };
	uint64_t status;
	int wait_status;

	assert_true(stepped_registers(pid, &registers));
	registers.general[REGISTER_RAX] = 0x1122334455667788;
	registers.general[REGISTER_RDI] = address_of(WATCHED);
	registers.general[REGISTER_RSI] = address_of(&arenas[1][2048]);
	registers.rip = address_of(one->start);
	registers.rflags = 0x202;
	assert_true(stepped_set_registers(pid, &registers));
	if (ptrace(PTRACE_POKEUSER, pid, offsetof(struct user, u_debugreg[6]), 0) ||
	    ptrace(PTRACE_POKEUSER, pid, offsetof(struct user, u_debugreg[0]), WATCHED) ||
	    ptrace(PTRACE_POKEUSER, pid, offsetof(struct user, u_debugreg[7]), control))
		return false;
	assert_int_equal(ptrace(PTRACE_CONT, pid, NULL, NULL), 0);
	assert_int_equal(waitpid(pid, &wait_status, 0), pid);
	assert_true(WIFSTOPPED(wait_status) && WSTOPSIG(wait_status) == SIGTRAP);
	status = (uint64_t)ptrace(PTRACE_PEEKUSER, pid, offsetof(struct user, u_debugreg[6]), NULL);
	assert_true(stepped_registers(pid, ret));
	if (!(status & 1))
		fail_msg("%s: ended without a trap", one->name);
	return true;
}

struct counting_reader {
	const struct memory_reader *reader;
	unsigned reads;
};

static int counting_read(void *context, struct memory_range *ranges, size_t count)
{
	struct counting_reader *counting = context;

	counting->reads++;
	return memory_read_ranges(counting->reader, ranges, count);
}

static struct live_process *start_child(void)
{
	struct live_process *child = live_process_start(NULL, stop_at_once, NULL);
	int status;

	assert_non_null(child);
	assert_int_equal(waitpid(child->pid, &status, 0), child->pid);
	assert_true(WIFSTOPPED(status));
	return child;
}

static void check_case(struct trap_decoder *decoder, const struct trap_case *one,
		       const struct registers *registers)
{
	struct trap_instruction found;
	int error = trap_decode(decoder, registers, range_of(one->start, one->end),
				range_of(WATCHED, WATCHED + 8), &found);

	if (error)
		fail_msg("%s: error %d", one->name, error);
	if (found.address != address_of(one->at) || found.kinds != one->kinds ||
	    found.size != one->size || found.operand_known != one->known ||
	    found.element_size != one->element_size ||
	    found.floating_point != (one->element_size != 0) ||
	    found.operand != (one->known ? address_of(WATCHED) + (uint64_t)one->operand : 0))
		fail_msg("%s: %+d of %#" PRIx64 ", kinds %u, %u bytes, known %d, operand %+" PRId64,
			 one->name, (int)(found.address - address_of(one->start)),
			 address_of(one->start), found.kinds, found.size, found.operand_known,
			 (int64_t)(found.operand - address_of(WATCHED)));
}

static void instruction_of_a_real_trap(void **state)
{
	struct live_process *child = start_child();
	struct counting_reader counting = { &child->reader, 0 };
	struct memory_reader code = { counting_read, &counting };
	struct trap_decoder *decoder = trap_decoder_create(&code);

	(void)state;
	assert_non_null(decoder);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct trap_case *one = &cases[i];
		struct registers registers;
		unsigned reads;

		if (!run_to_trap(child->pid, one, &registers)) {
			live_process_end(child);
			trap_decoder_destroy(decoder);
			print_message("skipped: no debug registers here\n");
			skip();
		}
		check_case(decoder, one, &registers);
		reads = counting.reads;
		assert_true(reads > 0);
		check_case(decoder, one, &registers);
		assert_int_equal(counting.reads, reads); /* from the cache */
		trap_decoder_flush(decoder);
		check_case(decoder, one, &registers);
		assert_true(counting.reads > reads);
	}
	live_process_end(child);
	trap_decoder_destroy(decoder);
}

/* Processors that move strings in groups tell of the trap at the end of the group. */
static void rep_that_ran_on_for_a_group(void **state)
{
	struct live_process *child = start_child();
	struct trap_decoder *decoder = trap_decoder_create(&child->reader);
	struct address_range function = range_of(trap_rep, trap_rep_load);
	struct address_range watched = range_of(WATCHED, WATCHED + 8);
	struct registers registers = { .rip = address_of(trap_rep_at), .rflags = 0x202 };
	struct trap_instruction found = { 0 };

	(void)state;
	registers.general[REGISTER_RDI] = address_of(WATCHED) + 33;
	assert_int_equal(trap_decode(decoder, &registers, function, watched, &found), 0);
	assert_int_equal(found.address, address_of(trap_rep_at));
	assert_int_equal(found.operand, address_of(WATCHED) + 7);
	registers.general[REGISTER_RDI] = address_of(WATCHED) + 8 + 64;
	assert_int_equal(trap_decode(decoder, &registers, function, watched, &found), -ENOENT);
	registers.rflags |= ZYDIS_CPUFLAG_DF;
	registers.general[REGISTER_RDI] = address_of(WATCHED) - 33;
	found.operand = 0;
	assert_int_equal(trap_decode(decoder, &registers, function, watched, &found), 0);
	assert_int_equal(found.operand, address_of(WATCHED));
	/* Only the source was there. */
	registers.general[REGISTER_RDI] = 0;
	registers.general[REGISTER_RSI] = address_of(WATCHED) - 1;
	assert_int_equal(trap_decode(decoder, &registers, function, watched, &found), 0);
	assert_int_equal(found.kinds, ACCESS_LOAD);
	live_process_end(child);
	trap_decoder_destroy(decoder);
}

static void traps_without_an_instruction(void **state)
{
	struct live_process *child = start_child();
	struct trap_decoder *decoder = trap_decoder_create(&child->reader);
	struct address_range watched = range_of(WATCHED, WATCHED + 8), too_long;
	struct registers registers = { .rflags = 0x202 };
	struct trap_instruction found = { .address = 1 };

	(void)state;
	/* At the start of a function, and behind an instruction that did not do it. */
	registers.rip = address_of(trap_called);
	assert_int_equal(trap_decode(decoder, &registers, range_of(trap_called, trap_broken),
				     watched, &found),
			 -ENOENT);
	registers.rip = address_of(trap_store_at);
	assert_int_equal(
		trap_decode(decoder, &registers, range_of(trap_store, trap_load), watched, &found),
		-ENOENT);
	registers.rip += 3;
	registers.general[REGISTER_RDI] = address_of(WATCHED) + 8;
	assert_int_equal(
		trap_decode(decoder, &registers, range_of(trap_store, trap_load), watched, &found),
		-ENOENT);
	registers.general[REGISTER_RDI] = address_of(WATCHED) + 7;
	assert_int_equal(
		trap_decode(decoder, &registers, range_of(trap_store, trap_load), watched, &found),
		0);
	found.address = 1;
	/* Behind a call: a ret led here. */
	registers.rip = address_of(trap_call) + 2;
	assert_int_equal(
		trap_decode(decoder, &registers, range_of(trap_call, trap_called), watched, &found),
		-ENOENT);
	/* In the middle of an instruction. */
	registers.rip = address_of(trap_modify_at) + 2;
	assert_int_equal(
		trap_decode(decoder, &registers, range_of(trap_modify, trap_gone), watched, &found),
		-ENOENT);
	registers.rip = address_of(trap_broken) + 4;
	assert_int_equal(
		trap_decode(decoder, &registers, range_of(trap_broken, trap_end), watched, &found),
		-EILSEQ);
	/* Outside of the function it is said to be in, and too far from its start. */
	registers.rip = address_of(trap_end);
	assert_int_equal(
		trap_decode(decoder, &registers, range_of(trap_store, trap_load), watched, &found),
		-ENOENT);
	assert_int_equal(
		trap_decode(decoder, &registers, range_of(trap_end, trap_store), watched, &found),
		-ENOENT);
	too_long = range_of(trap_end, trap_end);
	too_long.start -= TRAP_FUNCTION_BYTES_MAX + 1;
	assert_int_equal(trap_decode(decoder, &registers, too_long, watched, &found), -E2BIG);
	/* Code that is not there. */
	registers.rip = 0x1010;
	assert_int_equal(trap_decode(decoder, &registers, (struct address_range){ 0x1000, 0x1020 },
				     watched, &found),
			 -EFAULT);
	assert_int_equal(found.address, 1);
	live_process_end(child);
	trap_decoder_destroy(decoder);
}

/* Random bytes as a function: it ends, with an instruction that is in it or an error. */
static void any_function_is_survived(void **state)
{
	static uint8_t code[512];
	struct live_process self = { .pid = getpid() };
	struct memory_reader reader = { live_process_read, &self };
	struct trap_decoder *decoder = trap_decoder_create(&reader);
	uint64_t seed = 5;
	unsigned found_count = 0;

	(void)state;
	for (unsigned i = 0; i < 40000; i++) {
		struct registers registers = { .rip = address_of(code) + i % 64 };
		struct trap_instruction found;
		struct address_range watched;

		if (i % 64 == 0) {
			for (size_t k = 0; k < sizeof(code); k += 8) {
				uint64_t word = stepped_random(&seed);

				memcpy(code + k, &word, 8);
			}
			trap_decoder_flush(decoder);
		}
		for (size_t k = 0; k < REGISTER_COUNT; k++)
			registers.general[k] = stepped_random(&seed) % 3 * 4096;
		watched.start = stepped_random(&seed) % 4 * 4096 - 8;
		watched.end = watched.start + 8;
		if (trap_decode(decoder, &registers, range_of(code, code + sizeof(code)), watched,
				&found))
			continue;
		found_count++;
		assert_in_range(found.address, address_of(code), registers.rip);
		assert_in_range(found.kinds, 1, 3);
		assert_in_range(found.size, 1, 64);
	}
	trap_decoder_destroy(decoder);
	printf("%u of 40000 found an instruction\n", found_count);
	assert_true(found_count > 50);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(instruction_of_a_real_trap),
		cmocka_unit_test(rep_that_ran_on_for_a_group),
		cmocka_unit_test(traps_without_an_instruction),
		cmocka_unit_test(any_function_is_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
