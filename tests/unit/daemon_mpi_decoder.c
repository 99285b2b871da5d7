/* SPDX-License-Identifier: Apache-2.0 */
/* Calls made events: requests of all kinds, found messages, sizes, and arguments that are lies. */
#include "daemon/trace/mpi_decoder.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "tests/unit/trace_sample.h"

#define EVENTS_MAX 256

static struct mpi_library library;
static struct mpi_decoder decoder;
static struct trace_event events[EVENTS_MAX];
static size_t event_count;

/* Calls apart. */
static void take(void *context, const struct trace_event *event)
{
	(void)context;
	if (event->kind != TRACE_CALL && event_count < EVENTS_MAX)
		events[event_count++] = *event;
}

static void begin(enum mpi_kind kind)
{
	sample_library(&library, kind);
	mpi_decoder_init(&decoder, &library, take, NULL);
	event_count = 0;
}

static struct mpi_record message(const char *function, uint64_t at_ns, int peer, int tag,
				 uint64_t request)
{
	struct mpi_record record = sample_record(0, function, at_ns, at_ns + 5);

	record.words[1] = 4;
	record.words[2] = SAMPLE_DOUBLE;
	record.words[3] = (uint32_t)peer;
	record.words[4] = (uint32_t)tag;
	record.words[5] = SAMPLE_WORLD;
	record.handle_out = request;
	return record;
}

static void call(const struct mpi_record *record)
{
	mpi_decoder_call(&decoder, record);
}

static void chunk(const struct mpi_record *record, uint32_t kind, uint32_t first, const void *words,
		  uint16_t count, size_t bytes)
{
	struct mpi_chunk chunk = { .kind = kind,
				   .count = count,
				   .first = first,
				   .tid = record->tid,
				   .begin_ns = record->begin_ns };

	memcpy(chunk.words, words, bytes);
	mpi_decoder_chunk(&decoder, &chunk);
}

static void post(uint64_t at_ns, int peer, int tag, uint64_t request)
{
	struct mpi_record record = message("MPI_Irecv", at_ns, peer, tag, request);

	call(&record);
}

static void check_received(size_t number, int peer, int tag, uint64_t begin_ns, uint64_t end_ns)
{
	assert_true(number < event_count);
	assert_int_equal(events[number].kind, TRACE_RECEIVE);
	assert_int_equal(events[number].peer, peer);
	assert_int_equal(events[number].tag, tag);
	assert_int_equal(events[number].begin_ns, begin_ns);
	assert_int_equal(events[number].end_ns, end_ns);
	assert_int_equal(events[number].bytes, 32);
}

static void test_wait(void **state)
{
	struct mpi_record record;

	(void)state;
	begin(MPI_KIND_OPEN_MPI);
	post(100, 3, 7, 0x500);
	record = sample_record(0, "MPI_Test", 200, 205);
	record.handle_in = 0x500;
	record.flags |= MPI_HAS_FLAG;
	call(&record);
	assert_int_equal(event_count, 0);
	record = sample_record(0, "MPI_Wait", 300, 305);
	record.handle_in = 0x500;
	call(&record);
	check_received(0, 3, 7, 100, 305);
	assert_int_equal(events[0].wait_ns, 300);
	assert_string_equal(mpi_function_name(events[0].completed_by), "MPI_Wait");
	/* Once. */
	call(&record);
	assert_int_equal(event_count, 1);
	mpi_decoder_deinit(&decoder);
}

/* Status by status, in pieces; one is of a send, one is of nobody we know. */
static void test_wait_all(void **state)
{
	const uint64_t handles[] = { 0x500, 0x777, 0x600, 0x501 }, more[] = { 0x502 };
	/* source, tag, error, cancelled, count: 24 bytes each. */
	const int32_t statuses[4 * 6] = { 2, 8, 0, 0, 0, 0, 9, 9, 0, 0, 0, 0,
					  9, 9, 0, 0, 0, 0, 4, 9, 0, 0, 0, 0 };
	struct mpi_record record;

	(void)state;
	begin(MPI_KIND_OPEN_MPI);
	post(100, ANY, ANY, 0x500);
	post(110, 3, 7, 0x501);
	post(120, ANY, 7, 0x502);
	record = message("MPI_Isend", 130, 1, 1, 0x600);
	call(&record);
	assert_int_equal(events[0].kind, TRACE_SEND);
	record = sample_record(0, "MPI_Waitall", 200, 300);
	chunk(&record, MPI_RECORD_HANDLES, 0, handles, 4, sizeof(handles));
	chunk(&record, MPI_RECORD_HANDLES, 4, more, 1, sizeof(more));
	chunk(&record, MPI_RECORD_STATUSES, 0, statuses, 4, sizeof(statuses));
	/* One that skips a piece is left out. */
	chunk(&record, MPI_RECORD_STATUSES, 9, statuses, 1, 24);
	assert_int_equal(decoder.left_out, 1);
	call(&record);
	assert_int_equal(event_count, 4);
	check_received(1, 2, 8, 100, 300);
	check_received(2, 3, 7, 110, 300);
	assert_int_equal(events[3].flags, TRACE_ANY_PEER);
	mpi_decoder_deinit(&decoder);
}

static void test_wait_some_and_any(void **state)
{
	const uint64_t handles[] = { 0x500, 0x501, 0x502 };
	const int32_t indices[] = { 2, 77, 0 };
	const int32_t statuses[3 * 6] = { 5, 6, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 7, 8 };
	struct mpi_record record;

	(void)state;
	begin(MPI_KIND_OPEN_MPI);
	post(100, ANY, ANY, 0x500);
	post(110, 3, 7, 0x501);
	post(120, ANY, ANY, 0x502);
	record = sample_record(0, "MPI_Waitsome", 200, 300);
	chunk(&record, MPI_RECORD_HANDLES, 0, handles, 3, sizeof(handles));
	chunk(&record, MPI_RECORD_INDICES, 0, indices, 3, sizeof(indices));
	chunk(&record, MPI_RECORD_STATUSES, 0, statuses, 3, sizeof(statuses));
	record.flags |= MPI_HAS_INDEX;
	record.index = 3;
	call(&record);
	assert_int_equal(event_count, 2);
	check_received(0, 5, 6, 120, 300);
	check_received(1, 7, 8, 100, 300);
	record = sample_record(0, "MPI_Waitany", 400, 500);
	chunk(&record, MPI_RECORD_HANDLES, 0, handles, 3, sizeof(handles));
	record.flags |= MPI_HAS_INDEX;
	record.index = 55;
	call(&record);
	assert_int_equal(event_count, 2);
	record.index = 1;
	call(&record);
	check_received(2, 3, 7, 110, 500);
	mpi_decoder_deinit(&decoder);
}

/* A message that is found, and then received as such: who sent it is known from the probe. */
static void test_found_message(void **state)
{
	struct mpi_record record;

	(void)state;
	begin(MPI_KIND_OPEN_MPI);
	record = sample_record(0, "MPI_Mprobe", 100, 110);
	record.words[0] = record.words[1] = (uint32_t)ANY;
	record.words[2] = SAMPLE_WORLD;
	record.handle_out = 0x900;
	record.flags |= MPI_HAS_STATUS;
	record.source = 3;
	record.tag = 12;
	call(&record);
	assert_int_equal(event_count, 0);
	record = sample_record(0, "MPI_Mrecv", 120, 130);
	record.words[1] = 4;
	record.handle_in = 0x900;
	call(&record);
	check_received(0, 3, 12, 100, 130);
	assert_int_equal(events[0].communicator, TRACE_COMMUNICATOR_WORLD);
	mpi_decoder_deinit(&decoder);
}

static void test_persistent(void **state)
{
	struct mpi_record record;

	(void)state;
	begin(MPI_KIND_OPEN_MPI);
	record = message("MPI_Recv_init", 100, 3, 7, 0x500);
	call(&record);
	record = message("MPI_Send_init", 100, 2, 8, 0x501);
	call(&record);
	for (uint64_t round = 0; round < 3; round++) {
		record = sample_record(0, "MPI_Start", 200 + 100 * round, 205 + 100 * round);
		record.handle_in = 0x500;
		call(&record);
		record.handle_in = 0x501;
		call(&record);
		assert_int_equal(events[2 * round].kind, TRACE_SEND);
		record = sample_record(0, "MPI_Wait", 220 + 100 * round, 250 + 100 * round);
		record.handle_in = 0x500;
		call(&record);
		check_received(2 * round + 1, 3, 7, 200 + 100 * round, 250 + 100 * round);
	}
	record = sample_record(0, "MPI_Request_free", 900, 905);
	record.handle_in = 0x500;
	call(&record);
	assert_int_equal(decoder.requests.count, 1);
	mpi_decoder_deinit(&decoder);
}

/* To nobody, failed, without arguments, and of no function. */
static void test_no_message(void **state)
{
	struct mpi_record record;

	(void)state;
	begin(MPI_KIND_OPEN_MPI);
	record = message("MPI_Send", 100, -2, 7, 0);
	call(&record);
	record = message("MPI_Send", 100, 1, 7, 0);
	record.result = 3;
	call(&record);
	record.result = 0;
	record.function = 9999;
	call(&record);
	record = message("MPI_Send", 100, 1, 7, 0);
	record.end_ns = 10;
	call(&record);
	assert_int_equal(event_count, 0);
	/* The receiver's half is on the stack, which could not be read. */
	record = sample_record(0, "MPI_Sendrecv", 100, 110);
	record.flags &= ~(uint32_t)MPI_HAS_STACK;
	record.words[8] = 5;
	call(&record);
	assert_int_equal(events[1].peer, 0);
	mpi_decoder_deinit(&decoder);
}

static void test_sizes(void **state)
{
	struct mpi_record record;

	(void)state;
	begin(MPI_KIND_MPICH);
	record = message("MPI_Send", 100, 1, 7, 0);
	record.flags &= ~(uint32_t)(MPI_HAS_SIZE_0 | MPI_HAS_SIZE_1);
	record.words[2] = 0x4c00080b; /* MPI_DOUBLE */
	record.words[5] = 0x44000000;
	call(&record);
	assert_int_equal(events[0].bytes, 32);
	assert_int_equal(events[0].communicator, TRACE_COMMUNICATOR_WORLD);
	record.words[2] = 0xcc000001; /* made by the program */
	call(&record);
	assert_int_equal(events[1].bytes, 0);
	assert_true(events[1].flags & TRACE_SIZE_UNKNOWN);
	mpi_decoder_deinit(&decoder);

	begin(MPI_KIND_OPEN_MPI);
	record = message("MPI_Send", 100, 1, 7, 0);
	record.words[1] = (uint32_t)-4;
	call(&record);
	record.words[1] = INT32_MAX;
	record.sizes[0] = UINT64_MAX;
	call(&record);
	record.sizes[0] = UINT32_MAX;
	call(&record);
	assert_int_equal(events[0].bytes, 0);
	assert_int_equal(events[1].bytes, 0);
	assert_int_equal(events[2].bytes, (uint64_t)INT32_MAX * UINT32_MAX);
	mpi_decoder_deinit(&decoder);
}

/* A communicator's handle is another one's when it was freed. */
static void test_communicator(void **state)
{
	struct mpi_record record;

	(void)state;
	begin(MPI_KIND_OPEN_MPI);
	record = sample_record(0, "MPI_Comm_dup", 100, 110);
	record.words[0] = SAMPLE_WORLD;
	record.handle_out = 0x9000;
	call(&record);
	assert_int_equal(events[0].kind, TRACE_COMMUNICATOR);
	assert_int_equal(events[0].peer, TRACE_COMMUNICATOR_WORLD);
	record = message("MPI_Send", 120, 1, 7, 0);
	record.words[5] = 0x9000;
	call(&record);
	assert_int_equal(events[1].communicator, TRACE_COMMUNICATOR_FIRST);
	record = sample_record(0, "MPI_Comm_free", 130, 140);
	record.handle_in = 0x9000;
	call(&record);
	record = message("MPI_Send", 150, 1, 7, 0);
	record.words[5] = 0x9000;
	call(&record);
	assert_int_equal(events[2].communicator, TRACE_COMMUNICATOR_UNKNOWN);
	record.words[5] = SAMPLE_SELF;
	call(&record);
	assert_int_equal(events[3].communicator, TRACE_COMMUNICATOR_SELF);
	mpi_decoder_deinit(&decoder);
}

/* Requests that are never completed are bounded, and more threads than there is room for. */
static void test_bounds(void **state)
{
	(void)state;
	begin(MPI_KIND_OPEN_MPI);
	for (uint64_t i = 1; i <= REQUESTS_MAX + 10; i++)
		post(i, 1, 1, i * 16);
	assert_int_equal(decoder.requests.count, REQUESTS_MAX);
	assert_int_equal(decoder.requests.left_out, 10);
	for (uint32_t i = 1; i <= 3 * MPI_THREADS_MAX; i++) {
		struct mpi_record record = sample_record(0, "MPI_Waitall", i, i + 1);
		const uint64_t handle = i * 16;

		record.tid = 1000 + i;
		chunk(&record, MPI_RECORD_HANDLES, 0, &handle, 1, sizeof(handle));
		call(&record);
	}
	assert_int_equal(decoder.thread_count, MPI_THREADS_MAX);
	assert_int_equal(decoder.requests.count, REQUESTS_MAX - 3 * MPI_THREADS_MAX);
	mpi_decoder_deinit(&decoder);
}

static void test_request_table(void **state)
{
	struct request_table table = { 0 };
	bool there[64] = { false };
	unsigned random = 1, count = 0;

	(void)state;
	for (unsigned i = 0; i < 20000; i++) {
		struct request request = { .handle = 0 }, *found;
		unsigned at;

		random = random * 1103515245u + 12345u;
		at = random >> 16 & 63;
		request.handle = 0x7f0000000000 + at * 64;
		found = request_table_find(&table, request.handle);
		assert_int_equal(found != NULL, there[at]);
		if (found)
			request_table_remove(&table, found);
		else
			request_table_put(&table, &request);
		there[at] = !there[at];
		count += there[at] ? 1 : -1u;
		assert_int_equal(table.count, count);
	}
	request_table_deinit(&table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wait),
		cmocka_unit_test(test_wait_all),
		cmocka_unit_test(test_wait_some_and_any),
		cmocka_unit_test(test_found_message),
		cmocka_unit_test(test_persistent),
		cmocka_unit_test(test_no_message),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_communicator),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_request_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
