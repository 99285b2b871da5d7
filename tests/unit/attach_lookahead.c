/* SPDX-License-Identifier: Apache-2.0 */
/* The search for the next access on assembled code, one situation each. */
#include "attach/lookahead.h"
#include "tests/unit/stepped_process.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

asm(".pushsection .text\n"
    ".intel_syntax noprefix\n"
    "case_plain:        mov rax, [rdi]\n"
    "case_plain_2:      mov [rsi+8], rax\n"
    "                   add dword ptr [rsi+16], 1\n"
    "case_plain_end:    ud2\n"

    "case_chase:        mov rax, [rdi]\n"
    "case_chase_2:      mov rcx, [rax+8]\n"
    "                   ud2\n"

    "case_refused:      push rbx\n mov rax, [rsp+8]\n mov rax, fs:[0x28]\n"
    "                   lea rdx, [rsp+64]\n mov rax, [rdx]\n pop rbx\n"
    "case_refused_2:    mov rcx, [rdi+24]\n"
    "                   ud2\n"

    "case_call:         call 1f\n"
    "case_call_2:       mov rcx, [rdi+32]\n"
    "                   ud2\n"
    "1:                 xor eax, eax\n test eax, eax\n jnz 2f\n ret\n"
    "2:                 mov rcx, [rdi+40]\n"

    "case_overlay:      mov [rdi], rsi\n mov rax, [rdi]\n"
    "case_overlay_2:    mov rcx, [rax+8]\n"
    "                   ud2\n"

    "case_flags:        ucomisd xmm0, xmm1\n"
    "case_flags_2:      ja case_flags\n"
    "                   mov rax, [rdi]\n"

    "case_rep:          rep stosq\n"
    "case_rep_2:        mov rax, [rdi]\n"
    "                   ud2\n"
    "case_rep_unknown:  cpuid\n"
    "case_rep_unknown_1: rep stosq\n"
    "case_rep_unknown_2: mov rax, [rsi]\n"
    "                   ud2\n"
    "case_scan:         repne scasb\n"
    "case_scan_2:       nop\n mov rax, [rsi]\n"

    "case_gather:       nop\n vgatherdpd ymm0, [rax+xmm1*8], ymm2\n"
    "case_system_call:  nop\n syscall\n mov rax, [rdi]\n"
    "case_spin:         pause\n jmp case_spin\n"
    "case_long:         .rept 255\n nop\n .endr\n"
    "case_long_last:    nop\n nop\n mov rax, [rdi]\n"
    "case_jump:         jmp [rdi]\n"
    "case_transaction:  nop\n xbegin case_spin\n mov rax, [rdi]\n"

    /* An interpreter's end of an instruction: it pushes, and goes where its table says. */
    "case_dispatch:     mov [rdi+8], rsi\n mov rax, rsi\n inc rax\n mov [rdi+16], rax\n"
    "                   mov [rdi+24], edx\n movups [rdi+32], xmm0\n mov [rdi+8], rax\n"
    "                   jmp [rdi]\n mov [rdi+40], rax\n"
    "case_anywhere:     cpuid\n mov [rax], rdi\n jmp [rdi]\n"
    ".att_syntax\n"
    ".popsection\n");

extern const uint8_t case_plain[], case_plain_2[], case_plain_end[], case_chase[], case_chase_2[],
	case_refused[], case_refused_2[], case_call[], case_call_2[], case_overlay[],
	case_overlay_2[], case_flags[], case_flags_2[], case_rep[], case_rep_2[],
	case_rep_unknown[], case_rep_unknown_1[], case_rep_unknown_2[], case_scan[], case_scan_2[],
	case_gather[], case_system_call[], case_spin[], case_long[], case_long_last[], case_jump[],
	case_transaction[], case_dispatch[], case_anywhere[];

struct fixture {
	struct live_process self; /* this process, for its reader */
	struct registers registers;
	uint64_t data[16];
	uint8_t stack_bytes[512];
	struct stack_snapshot stack;
};

static remote_addr address_of(const void *local)
{
	return (remote_addr)(uintptr_t)local;
}

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	fixture->self.pid = getpid();
	fixture->self.reader = (struct memory_reader){ live_process_read, &fixture->self };
	fixture->registers.general[REGISTER_RDI] = address_of(&fixture->data[0]);
	fixture->registers.general[REGISTER_RSI] = address_of(&fixture->data[8]);
	fixture->registers.general[REGISTER_RSP] = 0x7ffd00000080;
	fixture->registers.rflags = 0x202;
	fixture->registers.fs_base = 0x1000;
	fixture->stack = (struct stack_snapshot){ 0x7ffd00000000, sizeof(fixture->stack_bytes),
						  fixture->stack_bytes };
	fixture->data[0] = address_of(&fixture->data[4]);
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	free(*state);
	return 0;
}

static struct lookahead look(struct fixture *fixture, const uint8_t *from, enum access_kind sought,
			     unsigned skip_count)
{
	struct lookahead found;

	fixture->registers.rip = address_of(from);
	lookahead_next(&fixture->registers, sought, skip_count, &fixture->self.reader,
		       &fixture->stack, &fixture->self.reader, NULL, &found);
	return found;
}

#define expect_found(found, where, what)                                                           \
	do {                                                                                       \
		assert_int_equal((found).end, LOOKAHEAD_FOUND);                                    \
		assert_int_equal((found).access.instruction, address_of(where));                   \
		assert_int_equal((found).access.address, what);                                    \
		assert_true((found).access.address_known);                                         \
	} while (0)

#define expect_run_to(found, where, passed)                                                        \
	do {                                                                                       \
		assert_int_equal((found).end, LOOKAHEAD_RUN_TO);                                   \
		assert_int_equal((found).run_to, address_of(where));                               \
		assert_int_equal((found).skipped, passed);                                         \
	} while (0)

static void finds_by_kind(void **state)
{
	struct fixture *fixture = *state;
	struct lookahead found = look(fixture, case_plain, ACCESS_LOAD, 0);

	expect_found(found, case_plain, address_of(&fixture->data[0]));
	assert_int_equal(found.access.size, 8);
	assert_int_equal(found.instructions, 1);
	found = look(fixture, case_plain, ACCESS_STORE, 0);
	expect_found(found, case_plain_2, address_of(&fixture->data[9]));
	/* A read-modify-write is a store and no load. */
	found = look(fixture, case_plain, ACCESS_STORE, 1);
	assert_int_equal(found.end, LOOKAHEAD_FOUND);
	assert_int_equal(found.access.address, address_of(&fixture->data[10]));
	assert_int_equal(found.access.kinds, ACCESS_LOAD | ACCESS_STORE);
	assert_int_equal(look(fixture, case_plain, ACCESS_LOAD, 1).end, LOOKAHEAD_SYSTEM_CALL);
	assert_int_equal(look(fixture, case_plain_end, ACCESS_LOAD, 0).end, LOOKAHEAD_SYSTEM_CALL);
}

struct picky {
	remote_addr unwanted;
	unsigned asked;
};

static bool is_wanted(void *context, const struct access *access)
{
	struct picky *picky = context;

	picky->asked++;
	return access->address != picky->unwanted;
}

static struct lookahead look_filtered(struct fixture *fixture, const uint8_t *from,
				      enum access_kind sought, const struct memory_reader *memory,
				      struct picky *picky)
{
	struct lookahead_filter filter = { is_wanted, picky };
	struct lookahead found;

	fixture->registers.rip = address_of(from);
	lookahead_next(&fixture->registers, sought, 0, &fixture->self.reader, NULL, memory, &filter,
		       &found);
	return found;
}

/* What the filter passes over is as good as skipped, also for where to run to. */
static void asks_the_filter(void **state)
{
	struct fixture *fixture = *state;
	struct picky picky = { .unwanted = address_of(&fixture->data[9]) };
	struct lookahead found = look_filtered(fixture, case_plain, ACCESS_STORE, NULL, &picky);

	assert_int_equal(found.end, LOOKAHEAD_FOUND);
	assert_int_equal(found.access.address, address_of(&fixture->data[10]));
	assert_int_equal(picky.asked, 2);
	picky = (struct picky){ .unwanted = address_of(&fixture->data[0]) };
	found = look_filtered(fixture, case_chase, ACCESS_LOAD, NULL, &picky);
	expect_run_to(found, case_chase_2, 1);
	assert_int_equal(picky.asked, 1);
	picky = (struct picky){ .unwanted = address_of(&fixture->data[0]) };
	found = look_filtered(fixture, case_chase, ACCESS_LOAD, &fixture->self.reader, &picky);
	expect_found(found, case_chase_2, address_of(&fixture->data[5]));
	assert_int_equal(picky.asked, 2);
}

static void follows_pointers_where_it_may_read(void **state)
{
	struct fixture *fixture = *state;
	struct lookahead found = look(fixture, case_chase, ACCESS_LOAD, 1);

	expect_found(found, case_chase_2, address_of(&fixture->data[5]));
	fixture->registers.rip = address_of(case_chase);
	lookahead_next(&fixture->registers, ACCESS_LOAD, 1, &fixture->self.reader, NULL, NULL, NULL,
		       &found);
	expect_run_to(found, case_chase_2, 1);
	/* Asked again from there with real registers, and with nothing left to skip. */
	fixture->registers.general[REGISTER_RAX] = fixture->data[0];
	found = look(fixture, case_chase_2, ACCESS_LOAD, 0);
	expect_found(found, case_chase_2, address_of(&fixture->data[5]));
	assert_int_equal(look(fixture, case_chase, ACCESS_STORE, 0).end, LOOKAHEAD_SYSTEM_CALL);
}

static void passes_over_the_stack_and_thread_locals(void **state)
{
	struct fixture *fixture = *state;
	struct lookahead found = look(fixture, case_refused, ACCESS_LOAD, 0);

	expect_found(found, case_refused_2, address_of(&fixture->data[3]));
	/* Without the snapshot nobody knows that rdx points into the stack. */
	lookahead_next(&fixture->registers, ACCESS_LOAD, 0, &fixture->self.reader, NULL, NULL, NULL,
		       &found);
	assert_int_equal(found.end, LOOKAHEAD_FOUND);
	assert_int_equal(found.access.address, 0x7ffd00000078 + 64);
}

static void follows_calls_and_returns(void **state)
{
	struct fixture *fixture = *state;
	struct lookahead found = look(fixture, case_call, ACCESS_LOAD, 0);

	expect_found(found, case_call_2, address_of(&fixture->data[4]));
	assert_int_equal(found.instructions, 6);
}

static void remembers_stores(void **state)
{
	struct fixture *fixture = *state;
	struct lookahead found = look(fixture, case_overlay, ACCESS_LOAD, 1);

	expect_found(found, case_overlay_2, address_of(&fixture->data[9]));
	/* ... and has written nothing. */
	assert_int_equal(fixture->data[0], address_of(&fixture->data[4]));
}

static int stores_of(struct fixture *fixture, const uint8_t *from,
		     struct lookahead_store stores[LOOKAHEAD_STORES_MAX], size_t *ret_count)
{
	fixture->registers.rip = address_of(from);
	return lookahead_stores(&fixture->registers, &fixture->self.reader, &fixture->stack,
				&fixture->self.reader, stores, ret_count);
}

static void tells_stores_before_a_dispatch(void **state)
{
	struct fixture *fixture = *state;
	struct lookahead_store stores[LOOKAHEAD_STORES_MAX];
	uint64_t rsi = fixture->registers.general[REGISTER_RSI];
	size_t count;

	fixture->registers.general[REGISTER_RDX] = 0x1122334455;
	assert_int_equal(stores_of(fixture, case_dispatch, stores, &count), 0);
	assert_int_equal(count, 5);
	/* The last one first. */
	assert_int_equal(stores[0].address, address_of(&fixture->data[1]));
	assert_true(stores[0].known && stores[0].size == 8 && stores[0].value == rsi + 1);
	assert_int_equal(stores[1].address, address_of(&fixture->data[4]));
	assert_true(!stores[1].known && stores[1].size == 16);
	assert_true(stores[2].known && stores[2].size == 4 && stores[2].value == 0x22334455);
	assert_int_equal(stores[3].value, rsi + 1);
	assert_int_equal(stores[4].value, rsi);
	/* Nothing was written. */
	assert_int_equal(fixture->data[1], 0);
	/* It may have been any word; or the way there is not known; or there is none. */
	assert_int_equal(stores_of(fixture, case_anywhere, stores, &count), -ENOTSUP);
	assert_int_equal(stores_of(fixture, case_flags, stores, &count), -ENOTSUP);
	assert_int_equal(stores_of(fixture, case_spin, stores, &count), -ENOTSUP);
	assert_int_equal(stores_of(fixture, case_system_call, stores, &count), -ENOTSUP);
}

static void stops_at_a_branch_on_unknown_flags(void **state)
{
	struct fixture *fixture = *state;
	struct lookahead found = look(fixture, case_flags, ACCESS_LOAD, 0);

	expect_run_to(found, case_flags_2, 0);
	/*
	 * With the flags at hand the branch is taken, and met again: a breakpoint
	 * where the thread is would be of no use, one before it is.
	 */
	found = look(fixture, case_flags_2, ACCESS_LOAD, 0);
	expect_run_to(found, case_flags, 0);
	fixture->registers.rflags |= 1;
	found = look(fixture, case_flags_2, ACCESS_LOAD, 0);
	assert_int_equal(found.end, LOOKAHEAD_FOUND);
	assert_int_equal(found.access.address, address_of(&fixture->data[0]));
}

static void passes_over_repeated_strings(void **state)
{
	struct fixture *fixture = *state;
	uint64_t *rcx = &fixture->registers.general[REGISTER_RCX];
	struct lookahead found;

	*rcx = 3;
	found = look(fixture, case_rep, ACCESS_STORE, 0);
	expect_found(found, case_rep, address_of(&fixture->data[0]));
	assert_int_equal(found.access.size, 8);
	found = look(fixture, case_rep, ACCESS_LOAD, 0);
	expect_found(found, case_rep_2, address_of(&fixture->data[3]));
	fixture->registers.rflags |= 1 << 10;
	found = look(fixture, case_rep, ACCESS_LOAD, 0);
	expect_found(found, case_rep_2, address_of(&fixture->data[0]) - 24);
	fixture->registers.rflags &= ~(1ull << 10);
	*rcx = 0; /* makes no access at all */
	found = look(fixture, case_rep, ACCESS_LOAD, 0);
	expect_found(found, case_rep_2, address_of(&fixture->data[0]));
	assert_int_equal(look(fixture, case_rep, ACCESS_STORE, 0).end, LOOKAHEAD_SYSTEM_CALL);

	found = look(fixture, case_rep_unknown, ACCESS_LOAD, 0);
	expect_run_to(found, case_rep_unknown_2, 0);
	found = look(fixture, case_rep_unknown, ACCESS_STORE, 0);
	expect_run_to(found, case_rep_unknown_1, 0);
	*rcx = 5;
	found = look(fixture, case_scan, ACCESS_LOAD, 1);
	expect_run_to(found, case_scan_2, 1);
	found = look(fixture, case_scan, ACCESS_STORE, 0);
	expect_run_to(found, case_scan_2, 0);
}

static void says_why_it_found_nothing(void **state)
{
	struct fixture *fixture = *state;
	struct lookahead found;
	uint64_t unreadable = fixture->registers.general[REGISTER_RDI];

	assert_int_equal(look(fixture, case_gather, ACCESS_LOAD, 0).end, LOOKAHEAD_UNSUPPORTED);
	assert_int_equal(look(fixture, case_system_call, ACCESS_LOAD, 0).end,
			 LOOKAHEAD_SYSTEM_CALL);
	assert_int_equal(look(fixture, case_transaction, ACCESS_LOAD, 0).end,
			 LOOKAHEAD_UNSUPPORTED);
	/* Round and round: no breakpoint would lead anywhere. */
	found = look(fixture, case_spin, ACCESS_LOAD, 0);
	assert_int_equal(found.end, LOOKAHEAD_TOO_FAR);
	assert_int_equal(found.instructions, LOOKAHEAD_INSTRUCTIONS_MAX);
	found = look(fixture, case_long, ACCESS_LOAD, 0);
	expect_run_to(found, case_long_last, 0);
	fixture->registers.general[REGISTER_RDI] = 8; /* nothing is mapped there */
	assert_int_equal(look(fixture, case_jump, ACCESS_LOAD, 0).end, LOOKAHEAD_UNSUPPORTED);
	fixture->registers.general[REGISTER_RDI] = unreadable;
	fixture->data[0] = 8;
	assert_int_equal(look(fixture, case_jump, ACCESS_LOAD, 0).end, LOOKAHEAD_UNREADABLE);
}

/* Code that ends with its page: the last instruction is read without what is behind it. */
static void reads_code_up_to_its_end(void **state)
{
	struct fixture *fixture = *state;
	long page = sysconf(_SC_PAGESIZE);
	uint8_t *pages = mmap(NULL, 2 * (size_t)page, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct lookahead found;

	assert_ptr_not_equal(pages, MAP_FAILED);
	assert_int_equal(munmap(pages + page, (size_t)page), 0);
	memset(pages, 0x90, (size_t)page);
	memcpy(pages + page - 3, "\x48\x8b\x07", 3); /* mov rax, [rdi] */
	found = look(fixture, pages + page - 20, ACCESS_LOAD, 0);
	expect_found(found, pages + page - 3, address_of(&fixture->data[0]));
	assert_int_equal(look(fixture, pages + page - 20, ACCESS_STORE, 0).end,
			 LOOKAHEAD_UNREADABLE);
	pages[page - 1] = 0x8b; /* cut off */
	assert_int_equal(look(fixture, pages + page - 20, ACCESS_LOAD, 0).end,
			 LOOKAHEAD_UNREADABLE);
	munmap(pages, (size_t)page);
}

/* Random bytes as code and memory: it ends, and a breakpoint is never where the thread is. */
static void any_code_is_survived(void **state)
{
	struct fixture *fixture = *state;
	static uint8_t code[256];
	uint64_t seed = 99;
	unsigned ends[LOOKAHEAD_END_COUNT] = { 0 };

	for (unsigned i = 0; i < 30000; i++) {
		struct lookahead found;

		for (size_t k = 0; k < sizeof(code); k += 8) {
			uint64_t word = stepped_random(&seed);

			memcpy(code + k, &word, 8);
		}
		for (size_t k = 0; k < REGISTER_COUNT; k++)
			fixture->registers.general[k] = stepped_random(&seed) % 4
								? address_of(code) + k * 8
								: stepped_random(&seed);
		found = look(fixture, code, i & 1 ? ACCESS_LOAD : ACCESS_STORE, i % 5);
		assert_in_range(found.end, 0, LOOKAHEAD_END_COUNT - 1);
		assert_true(found.instructions <= LOOKAHEAD_INSTRUCTIONS_MAX);
		if (found.end == LOOKAHEAD_RUN_TO) {
			assert_int_not_equal(found.run_to, fixture->registers.rip);
			assert_true(found.skipped <= i % 5);
		}
		if (found.end == LOOKAHEAD_FOUND)
			assert_true(found.access.address_known);
		ends[found.end]++;
	}
	assert_true(ends[LOOKAHEAD_FOUND] > 1000 && ends[LOOKAHEAD_RUN_TO] > 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(finds_by_kind, set_up, tear_down),
		cmocka_unit_test_setup_teardown(asks_the_filter, set_up, tear_down),
		cmocka_unit_test_setup_teardown(follows_pointers_where_it_may_read, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(passes_over_the_stack_and_thread_locals, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(follows_calls_and_returns, set_up, tear_down),
		cmocka_unit_test_setup_teardown(remembers_stores, set_up, tear_down),
		cmocka_unit_test_setup_teardown(stops_at_a_branch_on_unknown_flags, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(passes_over_repeated_strings, set_up, tear_down),
		cmocka_unit_test_setup_teardown(says_why_it_found_nothing, set_up, tear_down),
		cmocka_unit_test_setup_teardown(reads_code_up_to_its_end, set_up, tear_down),
		cmocka_unit_test_setup_teardown(any_code_is_survived, set_up, tear_down),
		cmocka_unit_test_setup_teardown(tells_stores_before_a_dispatch, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
