/* SPDX-License-Identifier: Apache-2.0 */
/* Records of the program in the kernel, written by hand: good ones, and what no kernel writes. */
#include "attach/clock_sample.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define RECORD_MAX (sizeof(struct clock_record) + (512u << 10))
#define PAGE       CLOCK_PAGE_BYTES
#define STACK      0x7ffc00001000ull
#define STATE      0x560000000100ull

struct built {
	uint8_t bytes[RECORD_MAX];
	size_t size;
};

static struct built built;
static struct clock_sample sample;

static void begin_record(void)
{
	struct clock_record head = {
		.time_ns = 11,
		.since_ns = 22,
		.started_ns = 33,
		.state = STATE,
		.cost_ns = 44,
		.tid = 55,
		.inner_tid = 5,
		.cpu = 6,
		.flags = CLOCK_IN_KERNEL,
	};

	for (unsigned i = 0; i < CLOCK_REGISTERS; i++)
		head.registers[i] = 100 + i;
	/* No NUL: the kernel's names have one, a record need not. */
	memset(head.comm, 'n', sizeof(head.comm));
	memcpy(built.bytes, &head, sizeof(head));
	built.size = sizeof(head);
}

/* Says it has `said` bytes; so many are put there, padded. All are `fill`. */
static void put_piece(uint64_t address, uint32_t said, uint32_t kind, int fill)
{
	struct clock_piece piece = { .address = address, .bytes = said, .kind = kind };
	size_t padded = said <= 2 * PAGE ? (said + 7u) & ~7u : 8;

	assert_true(built.size + sizeof(piece) + padded <= sizeof(built.bytes));
	memcpy(built.bytes + built.size, &piece, sizeof(piece));
	memset(built.bytes + built.size + sizeof(piece), fill, padded);
	built.size += sizeof(piece) + padded;
}

/* From an allocation of that size: what reads beyond is seen by the sanitizers. */
static uint8_t *parse_first(size_t size, int expected)
{
	uint8_t *copy = malloc(size ? size : 1);

	assert_non_null(copy);
	memcpy(copy, built.bytes, size);
	memset(&sample, 0xee, sizeof(sample));
	assert_int_equal(clock_sample_parse(copy, size, &sample), expected);
	return copy;
}

static void parse(void)
{
	static uint8_t *last;

	free(last);
	last = parse_first(built.size, 0);
}

static void test_good_record(void **state)
{
	(void)state;
	begin_record();
	put_piece(STATE, 13, CLOCK_PIECE_STATE, 'a');
	put_piece(0x1000, 8, CLOCK_PIECE_DATA, 'b');
	put_piece(STACK, PAGE, CLOCK_PIECE_STACK, 'c');
	parse();
	assert_int_equal(sample.time_ns, 11);
	assert_int_equal(sample.stands_for_ns, 22);
	assert_int_equal(sample.started_ns, 33);
	assert_int_equal(sample.cost_ns, 44);
	assert_int_equal(sample.state, STATE);
	assert_int_equal(sample.tid, 55);
	assert_int_equal(sample.inner_tid, 5);
	assert_int_equal(sample.cpu, 6);
	assert_true(sample.in_kernel);
	assert_false(sample.cut_short);
	assert_string_equal(sample.comm, "nnnnnnnnnnnnnnn");
	for (unsigned i = 0; i < CLOCK_REGISTER_IP; i++)
		assert_int_equal(sample.registers.general[i], 100 + i);
	assert_int_equal(sample.registers.rip, 100 + CLOCK_REGISTER_IP);
	assert_int_equal(sample.piece_count, 3);
	assert_int_equal(sample.stack_pieces, 1);
	assert_int_equal(sample.pieces[0].address, STATE);
	assert_int_equal(sample.pieces[0].size, 13);
	assert_int_equal(sample.pieces[0].bytes[12], 'a');
	assert_int_equal(sample.pieces[1].bytes[7], 'b');
	assert_int_equal(sample.pieces[2].bytes[PAGE - 1], 'c');
}

/* No memory: it hides none, and more than there may be is left out. */
static void test_kernel_stack(void **state)
{
	struct clock_record head;

	(void)state;
	begin_record();
	put_piece(0, 19, CLOCK_PIECE_KERNEL, 'k');
	put_piece(STATE, 8, CLOCK_PIECE_STATE, 'a');
	parse();
	assert_int_equal(sample.piece_count, 1);
	assert_int_equal(sample.pieces[0].address, STATE);
	assert_int_equal(sample.kernel_count, 2);
	assert_true(clock_sample_kernel_address(&sample, 1) == 0x6b6b6b6b6b6b6b6bull);
	assert_int_equal(sample.system_call, 0);
	begin_record();
	put_piece(0, PAGE, CLOCK_PIECE_KERNEL, 'k');
	put_piece(STACK, 8, CLOCK_PIECE_STACK, 's');
	parse();
	assert_int_equal(sample.kernel_count, CLOCK_KERNEL_MAX);
	assert_int_equal(sample.stack_pieces, 1);
	begin_record();
	put_piece(0, 7, CLOCK_PIECE_KERNEL, 'k');
	memcpy(&head, built.bytes, sizeof(head));
	head.system_call = CLOCK_SYSTEM_CALL_MAX + 1;
	memcpy(built.bytes, &head, sizeof(head));
	parse();
	assert_int_equal(sample.kernel_count, 0);
	assert_int_equal(sample.system_call, -1);
	assert_int_equal(sample.piece_count, 0);
}

/* At each byte: a head that is not all there is no record, a piece that is not all there is none.
 */
static void test_truncated(void **state)
{
	const size_t head = sizeof(struct clock_record), piece = sizeof(struct clock_piece);

	(void)state;
	begin_record();
	put_piece(STATE, 20, CLOCK_PIECE_STATE, 'a');
	put_piece(STACK, 30, CLOCK_PIECE_STACK, 'b');
	for (size_t size = 0; size <= built.size; size++) {
		uint8_t *copy = parse_first(size, size < head ? -EBADMSG : 0);
		size_t pieces = (size >= head + piece + 24) + (size == built.size);

		if (size >= head)
			assert_int_equal(sample.piece_count, pieces);
		free(copy);
	}
}

static void set_tids(uint32_t tid, uint32_t inner_tid)
{
	struct clock_record head;

	begin_record();
	memcpy(&head, built.bytes, sizeof(head));
	head.tid = tid;
	head.inner_tid = inner_tid;
	memcpy(built.bytes, &head, sizeof(head));
}

static void test_not_a_record(void **state)
{
	(void)state;
	set_tids(0, 5);
	free(parse_first(built.size, -EBADMSG));
	set_tids(0x80000000u, 5);
	free(parse_first(built.size, -EBADMSG));
	set_tids(55, UINT32_MAX);
	free(parse_first(built.size, -EBADMSG));
	set_tids(INT32_MAX, 0);
	free(parse_first(built.size, 0));
}

/* What is behind a piece that cannot be is left out; what is before it stays. */
static void test_bad_pieces(void **state)
{
	static const struct {
		uint64_t address;
		uint32_t bytes;
	} bad[] = {
		{ STACK, 0 },          { STACK, PAGE + 1 },
		{ STACK, UINT32_MAX }, { STACK, UINT32_MAX - 6 },
		{ UINT64_MAX, 8 },     { (uint64_t)INT64_MAX + 1, 8 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		begin_record();
		put_piece(STATE, 8, CLOCK_PIECE_STATE, 'a');
		put_piece(bad[i].address, bad[i].bytes, CLOCK_PIECE_DATA, 'b');
		put_piece(STACK, 8, CLOCK_PIECE_STACK, 'c');
		parse();
		assert_int_equal(sample.piece_count, 1);
		assert_int_equal(sample.stack_pieces, 0);
	}
	begin_record();
	put_piece(INT64_MAX, 8, CLOCK_PIECE_DATA, 'a');
	parse();
	assert_int_equal(sample.piece_count, 1);
}

static void test_too_many_pieces(void **state)
{
	(void)state;
	begin_record();
	for (unsigned i = 0; i < CLOCK_SAMPLE_PIECES_MAX + 10; i++)
		put_piece(STACK + 8 * i, 8, CLOCK_PIECE_STACK, 'a');
	parse();
	assert_int_equal(sample.piece_count, CLOCK_SAMPLE_PIECES_MAX);
	assert_int_equal(sample.stack_pieces, CLOCK_SAMPLE_PIECES_MAX);
}

/* ---- its stack ---- */

static uint8_t stack_bytes[CLOCK_SAMPLE_STACK_BYTES];

static void test_stack(void **state)
{
	struct stack_snapshot stack;

	(void)state;
	begin_record();
	parse();
	stack = clock_sample_stack(&sample, stack_bytes);
	assert_int_equal(stack.size, 0);
	put_piece(STATE, 8, CLOCK_PIECE_STATE, 's');
	put_piece(STACK - 72, 72, CLOCK_PIECE_STACK, 'a');
	put_piece(STACK, PAGE, CLOCK_PIECE_STACK, 'b');
	put_piece(STACK + PAGE, 100, CLOCK_PIECE_STACK, 'c');
	parse();
	stack = clock_sample_stack(&sample, stack_bytes);
	assert_int_equal(stack.start, STACK - 72);
	assert_int_equal(stack.size, 72 + PAGE + 100);
	assert_ptr_equal(stack.bytes, stack_bytes);
	assert_int_equal(stack_bytes[71], 'a');
	assert_int_equal(stack_bytes[72], 'b');
	assert_int_equal(stack_bytes[71 + PAGE], 'b');
	assert_int_equal(stack_bytes[72 + PAGE], 'c');
}

/* It ends where a piece is missing, goes back, or lies over the one before. */
static void test_stack_with_gaps(void **state)
{
	static const int64_t elsewhere[] = { 8, -8, PAGE, -(int64_t)PAGE, -(int64_t)PAGE - 72 };

	(void)state;
	for (size_t i = 0; i < sizeof(elsewhere) / sizeof(elsewhere[0]); i++) {
		struct stack_snapshot stack;

		begin_record();
		put_piece(STACK - 72, 72, CLOCK_PIECE_STACK, 'a');
		put_piece(STACK, PAGE, CLOCK_PIECE_STACK, 'b');
		put_piece(STACK + PAGE + (uint64_t)elsewhere[i], PAGE, CLOCK_PIECE_STACK, 'c');
		parse();
		stack = clock_sample_stack(&sample, stack_bytes);
		assert_int_equal(stack.start, STACK - 72);
		assert_int_equal(stack.size, 72 + PAGE);
		assert_int_equal(stack_bytes[71 + PAGE], 'b');
	}
}

/* More of it than fits is left out by the piece. */
static void test_stack_too_large(void **state)
{
	const unsigned most = CLOCK_SAMPLE_STACK_BYTES / PAGE;
	struct stack_snapshot stack;

	(void)state;
	begin_record();
	put_piece(STACK - 72, 72, CLOCK_PIECE_STACK, 'a');
	for (unsigned i = 0; i < most + 2; i++)
		put_piece(STACK + i * PAGE, PAGE, CLOCK_PIECE_STACK, 'b');
	parse();
	stack = clock_sample_stack(&sample, stack_bytes);
	assert_int_equal(stack.size, 72 + (most - 1) * PAGE);
}

/* ---- reading ---- */

#define LIVE_SIZE 8192u

/* A process with memory from STATE on, all 'L', and below it none. */
struct live {
	int error; /* of the whole call */
	size_t asked, calls, most_at_once;
};

static int live_read(void *context, struct memory_range *ranges, size_t count)
{
	struct live *live = context;

	live->calls++;
	live->asked += count;
	if (count > live->most_at_once)
		live->most_at_once = count;
	if (live->error)
		return live->error;
	for (size_t i = 0; i < count; i++) {
		uint64_t offset = ranges[i].address - STATE;
		bool there = offset < LIVE_SIZE && ranges[i].size <= LIVE_SIZE - offset;

		ranges[i].error = there ? 0 : -EFAULT;
		if (there)
			memset(ranges[i].buffer, 'L', ranges[i].size);
	}
	return 0;
}

static struct live live;
static struct copied_memory copied;
static struct memory_reader reader;

static void begin_reading(void)
{
	live = (struct live){ 0 };
	copied = (struct copied_memory){ .process = { live_read, &live } };
	copied_memory_show(&copied, &sample);
	reader = copied_memory_reader(&copied);
}

static char read_text[64];

/* The bytes at an address, as text; the range's error. */
static int read_at(uint64_t address, size_t size)
{
	struct memory_range range = {
		.address = address, .size = size, .buffer = read_text, .error = -ENOTTY
	};
	int error;

	memset(read_text, 0, sizeof(read_text));
	error = reader.read(reader.context, &range, 1);
	return error ? error : range.error;
}

static void build_pieces(void)
{
	begin_record();
	put_piece(STATE, 8, CLOCK_PIECE_STATE, 'a');
	put_piece(STATE + 16, 8, CLOCK_PIECE_DATA, 'b');
	put_piece(STATE + 24, 8, CLOCK_PIECE_DATA, 'c');
	parse();
	begin_reading();
}

static void test_reading(void **state)
{
	(void)state;
	build_pieces();
	/* Wholly inside of one, and of two beside each other: the process is not asked. */
	assert_int_equal(read_at(STATE, 8), 0);
	assert_string_equal(read_text, "aaaaaaaa");
	assert_int_equal(read_at(STATE + 3, 2), 0);
	assert_string_equal(read_text, "aa");
	assert_int_equal(read_at(STATE + 20, 8), 0);
	assert_string_equal(read_text, "bbbbcccc");
	assert_int_equal(live.calls, 0);
	assert_int_equal(copied.ranges_copied, 3);
	/* Partly over: at the end, at the beginning, around. */
	assert_int_equal(read_at(STATE + 6, 4), 0);
	assert_string_equal(read_text, "aaLL");
	assert_int_equal(read_at(STATE + 14, 4), 0);
	assert_string_equal(read_text, "LLbb");
	assert_int_equal(read_at(STATE + 6, 28), 0);
	assert_string_equal(read_text, "aaLLLLLLLLbbbbbbbbccccccccLL");
	/* Outside. */
	assert_int_equal(read_at(STATE + 40, 4), 0);
	assert_string_equal(read_text, "LLLL");
	assert_int_equal(read_at(8, 4), -EFAULT);
	assert_int_equal(copied.ranges_read, 5);
	/* To the end of the address space and beyond. */
	assert_int_equal(read_at(UINT64_MAX - 2, 8), -EFAULT);
	/* No sample: the process alone. */
	copied_memory_show(&copied, NULL);
	assert_int_equal(read_at(STATE, 4), 0);
	assert_string_equal(read_text, "LLLL");
}

static void *read_elsewhere(void *context)
{
	*(int *)context = read_at(STATE, 4);
	return NULL;
}

/* Who does not look at the sample sees the process. */
static void test_another_thread(void **state)
{
	struct copied_memory other = { .process = { live_read, &live } };
	struct memory_reader process = copied_memory_reader(&other);
	pthread_t thread;
	int error = -1;

	(void)state;
	build_pieces();
	assert_int_equal(pthread_create(&thread, NULL, read_elsewhere, &error), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(error, 0);
	assert_string_equal(read_text, "LLLL");
	/* Another process is not what was sampled. */
	assert_int_equal(memory_read(&process, STATE, read_text, 4), 0);
	assert_string_equal(read_text, "LLLL");
	assert_int_equal(read_at(STATE, 4), 0);
	assert_string_equal(read_text, "aaaa");
}

/* Above the copied stack there is another moment's: neither the sample's nor the process's. */
static void test_beyond_the_stack(void **state)
{
	(void)state;
	begin_record();
	put_piece(STATE, 8, CLOCK_PIECE_STATE, 'a');
	put_piece(STATE + 48, 16, CLOCK_PIECE_STACK, 's');
	parse();
	begin_reading();
	assert_int_equal(read_at(STATE + 56, 8), 0);
	assert_string_equal(read_text, "ssssssss");
	assert_int_equal(read_at(STATE + 40, 8), 0);
	assert_string_equal(read_text, "LLLLLLLL");
	assert_int_equal(read_at(STATE + 60, 8), -EFAULT);
	assert_int_equal(read_at(STATE + 64, 8), -EFAULT);
	assert_int_equal(live.calls, 1);
	copied_memory_show(&copied, NULL);
	assert_int_equal(read_at(STATE + 64, 8), 0);
}

/* What was copied is there when the process is gone; what was not is not made up. */
static void test_process_gone(void **state)
{
	char first[8], second[8];
	struct memory_range both[] = {
		{ .address = STATE, .size = 8, .buffer = first },
		{ .address = STATE + 40, .size = 8, .buffer = second },
	};

	(void)state;
	build_pieces();
	live.error = -ESRCH;
	assert_int_equal(read_at(STATE, 8), 0);
	assert_int_equal(read_at(STATE + 16, 16), 0);
	assert_string_equal(read_text, "bbbbbbbbcccccccc");
	assert_int_equal(read_at(STATE + 6, 4), -ESRCH);
	assert_int_equal(read_at(STATE + 40, 8), -ESRCH);
	assert_int_equal(reader.read(reader.context, both, 2), 0);
	assert_int_equal(both[0].error, 0);
	assert_memory_equal(first, "aaaaaaaa", 8);
	assert_int_equal(both[1].error, -EFAULT);
}

/* Of pieces that lie over each other, the ones that came later hide the earlier where both are. */
static void test_overlaps(void **state)
{
	(void)state;
	begin_record();
	put_piece(STATE, 16, CLOCK_PIECE_STATE, 'a');
	put_piece(STATE + 8, 16, CLOCK_PIECE_DATA, 'b');
	put_piece(STATE + 4, 8, CLOCK_PIECE_DATA, 'c');
	parse();
	begin_reading();
	/* What is whole in the first is the first's: all were copied at one moment. */
	assert_int_equal(read_at(STATE + 4, 8), 0);
	assert_string_equal(read_text, "aaaaaaaa");
	assert_int_equal(read_at(STATE + 2, 24), 0);
	assert_string_equal(read_text, "aaccccccccbbbbbbbbbbbbLL");
	assert_int_equal(copied.ranges_copied, 1);
}

/* More ranges than are asked for at a time, every other one of them copied. */
static void test_many_ranges(void **state)
{
	enum {
		COUNT = 300
	};
	static struct memory_range ranges[COUNT];
	static char buffers[COUNT][4];

	(void)state;
	build_pieces();
	for (size_t i = 0; i < COUNT; i++)
		ranges[i] = (struct memory_range){
			.address = i % 2 ? STATE + 100 + i : STATE + 1,
			.size = 4,
			.buffer = buffers[i],
			.error = -ENOTTY,
		};
	assert_int_equal(reader.read(reader.context, ranges, COUNT), 0);
	for (size_t i = 0; i < COUNT; i++) {
		assert_int_equal(ranges[i].error, 0);
		assert_memory_equal(buffers[i], i % 2 ? "LLLL" : "aaaa", 4);
	}
	assert_int_equal(copied.ranges_copied, COUNT / 2);
	assert_int_equal(copied.ranges_read, COUNT / 2);
	assert_int_equal(live.asked, COUNT / 2);
	assert_true(live.most_at_once <= 128);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good_record),     cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_not_a_record),    cmocka_unit_test(test_bad_pieces),
		cmocka_unit_test(test_too_many_pieces), cmocka_unit_test(test_stack),
		cmocka_unit_test(test_stack_with_gaps), cmocka_unit_test(test_stack_too_large),
		cmocka_unit_test(test_reading),         cmocka_unit_test(test_process_gone),
		cmocka_unit_test(test_another_thread),  cmocka_unit_test(test_beyond_the_stack),
		cmocka_unit_test(test_overlaps),        cmocka_unit_test(test_many_ranges),
		cmocka_unit_test(test_kernel_stack),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
