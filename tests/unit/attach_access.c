/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory operands: a table of assembled instructions with what each accesses,
 * and a live interpreter, where what the decoder says must be what the
 * processor then does.
 */
#include "attach/access.h"
#include "tests/unit/stepped_process.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define RIP 0x400000
#define RBX 0x555500002000
#define RSP 0x7ffd00001000
#define RBP 0x7ffd00002000
#define RSI 0x600000
#define RDI 0x700000
#define FS  0x7f0000000000
#define GS  0x7e0000000000

static const struct registers table_registers = {
	.general = { [REGISTER_RAX] = 0x105,
		     [REGISTER_RCX] = 0x10,
		     [REGISTER_RDX] = (uint64_t)-0x41,
		     [REGISTER_RBX] = RBX,
		     [REGISTER_RSP] = RSP,
		     [REGISTER_RBP] = RBP,
		     [REGISTER_RSI] = RSI,
		     [REGISTER_RDI] = RDI },
	.rip = RIP,
	.rflags = 0x202,
	.fs_base = FS,
	.gs_base = GS,
};

enum {
	L = ACCESS_LOAD,
	S = ACCESS_STORE,
	LS = ACCESS_LOAD | ACCESS_STORE,
	STACK = 1 << 4,
	TLS = 1 << 5,
	BRANCH = 1 << 6,
	UNKNOWN = 1 << 7, /* the address */
	F4 = 1 << 8,
	F8 = 1 << 9,
	KINDS = LS,
};

struct row {
	const char *text;
	const char *bytes;
	uint8_t length;
	bool rep;
	struct {
		remote_addr address;
		uint32_t size;
		unsigned what; /* 0: no more accesses */
	} accesses[INSTRUCTION_ACCESSES_MAX];
};

#define ROW(text, bytes) text, bytes, sizeof(bytes) - 1

static const struct row rows[] = {
	{ ROW("mov rax, [rbx+rcx*4-8]", "\x48\x8b\x44\x8b\xf8"), false, { { RBX + 56, 8, L } } },
	{ ROW("mov [rip+0x100], edx", "\x89\x15\x00\x01\x00\x00"),
	  false,
	  { { RIP + 0x106, 4, S } } },
	{ ROW("mov eax, [ebx+ecx*2+4]", "\x67\x8b\x44\x4b\x04"), false, { { 0x2024, 4, L } } },
	{ ROW("mov rax, fs:[0x28]", "\x64\x48\x8b\x04\x25\x28\x00\x00\x00"),
	  false,
	  { { FS + 0x28, 8, L | TLS } } },
	{ ROW("mov gs:[rbx], rax", "\x65\x48\x89\x03"), false, { { GS + RBX, 8, S | TLS } } },
	{ ROW("movabs eax, [0x1122334455667788]", "\xa1\x88\x77\x66\x55\x44\x33\x22\x11"),
	  false,
	  { { 0x1122334455667788, 4, L } } },
	{ ROW("mov qword ptr [rbp-16], 1", "\x48\xc7\x45\xf0\x01\x00\x00\x00"),
	  false,
	  { { RBP - 16, 8, S } } },
	/* the stack */
	{ ROW("push rax", "\x50"), false, { { RSP - 8, 8, S | STACK } } },
	{ ROW("addr32 push rax", "\x67\x50"), false, { { RSP - 8, 8, S | STACK } } },
	{ ROW("pushw 5", "\x66\x6a\x05"), false, { { RSP - 2, 2, S | STACK } } },
	{ ROW("push [rbx]", "\xff\x33"), false, { { RBX, 8, L }, { RSP - 8, 8, S | STACK } } },
	{ ROW("push [rsp+8]", "\xff\x74\x24\x08"),
	  false,
	  { { RSP + 8, 8, L | STACK }, { RSP - 8, 8, S | STACK } } },
	{ ROW("pop rax", "\x58"), false, { { RSP, 8, L | STACK } } },
	{ ROW("pop [rsp+8]", "\x8f\x44\x24\x08"),
	  false,
	  { { RSP + 16, 8, S | STACK }, { RSP, 8, L | STACK } } },
	{ ROW("leave", "\xc9"), false, { { RBP, 8, L | STACK } } },
	{ ROW("enter 16, 0", "\xc8\x10\x00\x00"), false, { { RSP - 8, 8, S | STACK } } },
	{ ROW("movups [rsp+16], xmm0", "\x0f\x11\x44\x24\x10"),
	  false,
	  { { RSP + 16, 16, S | STACK | F4 } } },
	/* branches */
	{ ROW("call rax", "\xff\xd0"), false, { { RSP - 8, 8, S | STACK } } },
	{ ROW("call [rbx+8]", "\xff\x53\x08"),
	  false,
	  { { RBX + 8, 8, L | BRANCH }, { RSP - 8, 8, S | STACK } } },
	{ ROW("jmp [rip+16]", "\xff\x25\x10\x00\x00\x00"), false, { { RIP + 22, 8, L | BRANCH } } },
	{ ROW("ret", "\xc3"), false, { { RSP, 8, L | STACK | BRANCH } } },
	/* strings: the first element */
	{ ROW("rep movsq", "\xf3\x48\xa5"), true, { { RDI, 8, S }, { RSI, 8, L } } },
	{ ROW("stosd", "\xab"), false, { { RDI, 4, S } } },
	{ ROW("cmpsw", "\x66\xa7"), false, { { RSI, 2, L }, { RDI, 2, L } } },
	{ ROW("repne scasb", "\xf2\xae"), true, { { RDI, 1, L } } },
	{ ROW("fs lodsb", "\x64\xac"), false, { { FS + RSI, 1, L | TLS } } },
	{ ROW("xlatb", "\xd7"), false, { { RBX + 5, 1, L } } },
	/* read-modify-write */
	{ ROW("lock cmpxchg16b [rdi]", "\xf0\x48\x0f\xc7\x0f"), false, { { RDI, 16, LS } } },
	{ ROW("add [rbx], ecx", "\x01\x0b"), false, { { RBX, 4, LS } } },
	{ ROW("cmp [rbx], ecx", "\x39\x0b"), false, { { RBX, 4, L } } },
	{ ROW("xchg [rbx], rax", "\x48\x87\x03"), false, { { RBX, 8, LS } } },
	{ ROW("bt [rbx], rdx", "\x48\x0f\xa3\x13"), false, { { RBX - 16, 8, L } } },
	{ ROW("bts [rbx], ecx", "\x0f\xab\x0b"), false, { { RBX, 4, LS } } },
	{ ROW("bt qword ptr [rbx], 5", "\x48\x0f\xba\x23\x05"), false, { { RBX, 8, L } } },
	{ ROW("movbe [rbx], ecx", "\x0f\x38\xf1\x0b"), false, { { RBX, 4, S } } },
	{ ROW("setz [rbx]", "\x0f\x94\x03"), false, { { RBX, 1, S } } },
	/* operands that are not accessed */
	{ ROW("lea rax, [rbx+rcx*4+5]", "\x48\x8d\x44\x8b\x05"), false, { { 0 } } },
	{ ROW("nop dword ptr [rax+rax]", "\x0f\x1f\x04\x00"), false, { { 0 } } },
	{ ROW("prefetcht0 [rax]", "\x0f\x18\x08"), false, { { 0 } } },
	{ ROW("clflush [rax]", "\x0f\xae\x38"), false, { { 0 } } },
	{ ROW("mov rax, rbx", "\x48\x89\xd8"), false, { { 0 } } },
	{ ROW("syscall", "\x0f\x05"), false, { { 0 } } },
	/* vectors and floats */
	{ ROW("movss xmm0, [rbx]", "\xf3\x0f\x10\x03"), false, { { RBX, 4, L | F4 } } },
	{ ROW("movsd [rbx], xmm0", "\xf2\x0f\x11\x03"), false, { { RBX, 8, S | F8 } } },
	{ ROW("movhpd xmm0, [rbx]", "\x66\x0f\x16\x03"), false, { { RBX, 8, L | F8 } } },
	{ ROW("unpcklps xmm0, [rbx]", "\x0f\x14\x03"), false, { { RBX, 16, L | F4 } } },
	{ ROW("movdqu xmm0, [rbx]", "\xf3\x0f\x6f\x03"), false, { { RBX, 16, L } } },
	{ ROW("cvtsi2sd xmm0, qword ptr [rbx]", "\xf2\x48\x0f\x2a\x03"), false, { { RBX, 8, L } } },
	{ ROW("pinsrw xmm0, [rbx], 1", "\x66\x0f\xc4\x03\x01"), false, { { RBX, 2, L } } },
	{ ROW("vmovupd ymm0, [rbx+rax]", "\xc5\xfd\x10\x04\x03"),
	  false,
	  { { RBX + 0x105, 32, L | F8 } } },
	{ ROW("vfmadd231sd xmm0, xmm1, [rbx]", "\xc4\xe2\xf1\xb9\x03"),
	  false,
	  { { RBX, 8, L | F8 } } },
	{ ROW("vbroadcastss ymm0, [rbx]", "\xc4\xe2\x7d\x18\x03"), false, { { RBX, 4, L | F4 } } },
	{ ROW("vmovups zmm0, [rbx+64]", "\x62\xf1\x7c\x48\x10\x43\x01"),
	  false,
	  { { RBX + 64, 64, L | F4 } } },
	{ ROW("vaddpd zmm0, zmm1, [rbx+8]{1to8}", "\x62\xf1\xf5\x58\x58\x43\x01"),
	  false,
	  { { RBX + 8, 8, L | F8 } } },
	{ ROW("vpmovdb [rbx], zmm0", "\x62\xf2\x7e\x48\x31\x03"), false, { { RBX, 16, S } } },
	{ ROW("fld qword ptr [rbx]", "\xdd\x03"), false, { { RBX, 8, L | F8 } } },
	{ ROW("fstp tbyte ptr [rbx]", "\xdb\x3b"), false, { { RBX, 10, S } } },
	/* which bytes they touch, the general registers do not say */
	{ ROW("vaddps zmm0{k1}, zmm1, [rbx]", "\x62\xf1\x74\x49\x58\x03"),
	  false,
	  { { 0, 64, L | F4 | UNKNOWN } } },
	{ ROW("vgatherdpd ymm0, [rax+xmm1*8], ymm2", "\xc4\xe2\xed\x92\x04\xc8"),
	  false,
	  { { 0, 8, L | F8 | UNKNOWN } } },
	{ ROW("vscatterdps [rax+zmm1*4]{k1}, zmm0", "\x62\xf2\x7d\x49\xa2\x04\x88"),
	  false,
	  { { 0, 4, S | F4 | UNKNOWN } } },
	{ ROW("vmaskmovps ymm0, ymm1, [rbx]", "\xc4\xe2\x75\x2c\x03"),
	  false,
	  { { 0, 32, L | F4 | UNKNOWN } } },
	{ ROW("maskmovdqu xmm0, xmm1", "\x66\x0f\xf7\xc1"), false, { { 0, 16, S | UNKNOWN } } },
	{ ROW("fxsave [rbx]", "\x0f\xae\x03"), false, { { 0, 64, S | UNKNOWN } } },
	{ ROW("xsave [rbx]", "\x0f\xae\x23"), false, { { 0, 64, LS | UNKNOWN } } },
};

static void accesses_of_assembled_instructions(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct row *row = &rows[i];
		uint8_t bytes[INSTRUCTION_BYTES_MAX];
		struct instruction decoded;
		size_t expected = 0;

		/* What follows in memory must not matter. */
		memset(bytes, 0xcc, sizeof(bytes));
		memcpy(bytes, row->bytes, row->length);
		if (instruction_decode(&table_registers, bytes, sizeof(bytes), &decoded))
			fail_msg("%s: not decoded", row->text);
		while (expected < INSTRUCTION_ACCESSES_MAX && row->accesses[expected].what)
			expected++;
		if (decoded.access_count != expected || decoded.length != row->length ||
		    decoded.is_rep_string != row->rep || decoded.address != RIP)
			fail_msg("%s: %zu accesses, length %u, rep %d", row->text,
				 decoded.access_count, decoded.length, decoded.is_rep_string);
		for (size_t k = 0; k < expected; k++) {
			const struct access *access = &decoded.accesses[k];
			unsigned what = row->accesses[k].what;
			unsigned element = what & F4 ? 4 : what & F8 ? 8 : 0;

			if (access->address != row->accesses[k].address ||
			    access->size != row->accesses[k].size ||
			    access->kinds != (what & KINDS) || access->instruction != RIP ||
			    access->address_known != !(what & UNKNOWN) ||
			    access->stack != !!(what & STACK) ||
			    access->thread_local_storage != !!(what & TLS) ||
			    access->indirect_branch != !!(what & BRANCH) ||
			    access->element_size != element ||
			    access->floating_point != (element != 0))
				fail_msg("%s: access %zu at %#" PRIx64
					 ", %u bytes, kinds %u, known %d, stack %d, tls %d, "
					 "branch %d, element %u",
					 row->text, k, access->address, access->size, access->kinds,
					 access->address_known, access->stack,
					 access->thread_local_storage, access->indirect_branch,
					 access->element_size);
		}
	}
}

static void bytes_that_are_no_instruction(void **state)
{
	struct instruction decoded = { .address = 1 };

	(void)state;
	/* push es: gone in 64-bit mode; a mov cut short; nothing at all; prefixes without end */
	assert_int_equal(instruction_decode(&table_registers, (const uint8_t *)"\x06", 1, &decoded),
			 -EILSEQ);
	assert_int_equal(instruction_decode(&table_registers, (const uint8_t *)"\x48\x8b\x44\x8b",
					    4, &decoded),
			 -EILSEQ);
	assert_int_equal(instruction_decode(&table_registers, (const uint8_t *)"", 0, &decoded),
			 -EILSEQ);
	assert_int_equal(instruction_decode(&table_registers,
					    (const uint8_t *)"\x66\x66\x66\x66\x66\x66\x66\x66"
							     "\x66\x66\x66\x66\x66\x66\x66\x90",
					    16, &decoded),
			 -EILSEQ);
	assert_int_equal(decoded.address, 1);
}

/* Random bytes and registers: whatever comes out keeps its promises. */
static void any_bytes_are_survived(void **state)
{
	uint64_t seed = 20250117;
	unsigned good = 0;

	(void)state;
	for (unsigned i = 0; i < 200000; i++) {
		struct registers registers = { .rip = stepped_random(&seed) };
		uint8_t bytes[INSTRUCTION_BYTES_MAX];
		struct instruction decoded;
		size_t size = stepped_random(&seed) % (sizeof(bytes) + 1);

		for (size_t k = 0; k < sizeof(bytes); k++)
			bytes[k] = (uint8_t)stepped_random(&seed);
		for (size_t k = 0; k < REGISTER_COUNT; k++)
			registers.general[k] = stepped_random(&seed);
		if (instruction_decode(&registers, bytes, size, &decoded))
			continue;
		good++;
		assert_in_range(decoded.length, 1, size);
		assert_in_range(decoded.access_count, 0, INSTRUCTION_ACCESSES_MAX);
		for (size_t k = 0; k < decoded.access_count; k++) {
			assert_in_range(decoded.accesses[k].size, 1, 64);
			assert_in_range(decoded.accesses[k].kinds, 1, 3);
			assert_true(decoded.accesses[k].address_known ||
				    decoded.accesses[k].address == 0);
		}
	}
	printf("%u of 200000 random strings are instructions\n", good);
	assert_true(good > 1000);
}

/* ---- against the processor ---- */

struct tally {
	unsigned steps, accesses, unknown;
	unsigned loads, loads_wrong, stores, stores_wrong;
};

/* A step whose effect can be compared with memory. */
struct check {
	bool is_load;
	remote_addr address;
	unsigned size;
	int general; /* register loaded or stored, or -1 */
	int vector;  /* its number when it is a vector register, or -1 */
	bool sign_extends;
	bool high_byte;
	uint8_t before[16]; /* load: memory; store: the register */
};

static bool is_plain_move(ZydisMnemonic mnemonic)
{
	switch (mnemonic) {
	case ZYDIS_MNEMONIC_MOV:
	case ZYDIS_MNEMONIC_MOVZX:
	case ZYDIS_MNEMONIC_MOVSX:
	case ZYDIS_MNEMONIC_MOVSXD:
	case ZYDIS_MNEMONIC_PUSH:
	case ZYDIS_MNEMONIC_POP:
	case ZYDIS_MNEMONIC_MOVUPS:
	case ZYDIS_MNEMONIC_MOVUPD:
	case ZYDIS_MNEMONIC_MOVAPS:
	case ZYDIS_MNEMONIC_MOVAPD:
	case ZYDIS_MNEMONIC_MOVDQU:
	case ZYDIS_MNEMONIC_MOVDQA:
	case ZYDIS_MNEMONIC_MOVSS:
	case ZYDIS_MNEMONIC_MOVSD:
	case ZYDIS_MNEMONIC_MOVQ:
	case ZYDIS_MNEMONIC_MOVD:
	case ZYDIS_MNEMONIC_VMOVUPS:
	case ZYDIS_MNEMONIC_VMOVUPD:
	case ZYDIS_MNEMONIC_VMOVDQU:
	case ZYDIS_MNEMONIC_VMOVDQA:
	case ZYDIS_MNEMONIC_VMOVAPS:
	case ZYDIS_MNEMONIC_VMOVSD:
		return true;
	default:
		return false;
	}
}

/* The register that the instruction's one memory operand is moved from or to. */
static bool prepare_check(const struct live_process *process,
			  const struct stepped_instruction *step, struct check *check)
{
	const ZydisDecodedOperand *other = NULL;
	const struct access *access = NULL;
	ZydisRegister name;

	if (!is_plain_move(step->decoded.mnemonic) || step->decoded.operand_count_visible == 0 ||
	    step->decoded.meta.category == ZYDIS_CATEGORY_STRINGOP ||
	    step->instruction.access_count != 1)
		return false;
	for (unsigned i = 0; i < step->decoded.operand_count_visible; i++)
		if (step->operands[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    ZydisRegisterGetClass(step->operands[i].reg.value) != ZYDIS_REGCLASS_MASK)
			other = &step->operands[i];
	access = &step->instruction.accesses[0];
	if (!other || !access->address_known)
		return false;
	name = other->reg.value;
	*check = (struct check){
		.is_load = access->kinds == ACCESS_LOAD,
		.address = access->address,
		.size = access->size < 16 ? access->size : 16,
		.general = operand_register(other),
		.vector = -1,
		.sign_extends = step->decoded.mnemonic == ZYDIS_MNEMONIC_MOVSX ||
				step->decoded.mnemonic == ZYDIS_MNEMONIC_MOVSXD,
		.high_byte = name >= ZYDIS_REGISTER_AH && name <= ZYDIS_REGISTER_BH,
	};
	switch (ZydisRegisterGetClass(name)) {
	case ZYDIS_REGCLASS_XMM:
	case ZYDIS_REGCLASS_YMM:
	case ZYDIS_REGCLASS_ZMM:
		check->vector = ZydisRegisterGetId(name);
		break;
	default:
		if (check->general < 0)
			return false;
	}
	if (check->is_load)
		return memory_read(&process->reader, check->address, check->before, check->size) ==
		       0;
	if (check->vector >= 0)
		return stepped_vector_register(process->pid, (unsigned)check->vector,
					       check->before);
	memcpy(check->before,
	       (const uint8_t *)&step->registers.general[check->general] + check->high_byte,
	       8 - check->high_byte);
	return true;
}

static bool check_holds(const struct live_process *process, const struct check *check,
			const struct registers *after)
{
	uint8_t now[16] = { 0 };

	if (!check->is_load)
		return memory_read(&process->reader, check->address, now, check->size) == 0 &&
		       memcmp(now, check->before, check->size) == 0;
	if (check->vector >= 0) {
		if (!stepped_vector_register(process->pid, (unsigned)check->vector, now))
			return true; /* xmm16 to xmm31 are not among those that can be asked for */
	} else {
		memcpy(now, (const uint8_t *)&after->general[check->general] + check->high_byte,
		       8 - check->high_byte);
	}
	return memcmp(now, check->before, check->size) == 0;
}

static void predicted_accesses_are_made(void **state)
{
	struct live_process *process = stepped_process_start();
	struct tally tally = { 0 };
	uint64_t seed = 7;

	(void)state;
	if (!process) {
		print_message("skipped: no Python interpreter to step\n");
		skip();
	}
	for (unsigned stop = 0; stop < 40; stop++) {
		assert_true(stepped_run(process, 500 + stepped_random(&seed) % 3000));
		for (unsigned i = 0; i < 700; i++) {
			struct stepped_instruction step;
			struct registers after;
			struct check check;
			bool checked;

			if (!stepped_decode(process, &step))
				break;
			tally.accesses += (unsigned)step.instruction.access_count;
			for (size_t k = 0; k < step.instruction.access_count; k++)
				tally.unknown += !step.instruction.accesses[k].address_known;
			checked = prepare_check(process, &step, &check);
			assert_true(stepped_step(process->pid));
			tally.steps++;
			if (!checked || !stepped_registers(process->pid, &after))
				continue;
			if (check.is_load)
				tally.loads++;
			else
				tally.stores++;
			if (check_holds(process, &check, &after))
				continue;
			print_message("%#" PRIx64 ": %s of %u bytes at %#" PRIx64 " is wrong\n",
				      step.registers.rip, check.is_load ? "load" : "store",
				      check.size, check.address);
			if (check.is_load)
				tally.loads_wrong++;
			else
				tally.stores_wrong++;
		}
	}
	live_process_end(process);
	printf("%u steps, %u accesses (%u of unknown address); compared: %u loads, %u wrong; "
	       "%u stores, %u wrong\n",
	       tally.steps, tally.accesses, tally.unknown, tally.loads, tally.loads_wrong,
	       tally.stores, tally.stores_wrong);
	assert_int_equal(tally.loads_wrong, 0);
	assert_int_equal(tally.stores_wrong, 0);
	assert_true(tally.loads > 1000 && tally.stores > 500);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(accesses_of_assembled_instructions),
		cmocka_unit_test(bytes_that_are_no_instruction),
		cmocka_unit_test(any_bytes_are_survived),
		cmocka_unit_test(predicted_accesses_are_made),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
