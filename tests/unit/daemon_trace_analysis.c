/* SPDX-License-Identifier: Apache-2.0 */
/* What a trace says: efficiencies, who is waited for, and which messages are matched, and not. */
#include "daemon/trace/trace_analysis.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "tests/unit/trace_sample.h"

static struct trace_sample sample;
static struct trace_analysis analysis;

static void begin(size_t ranks)
{
	sample_begin(&sample, ranks);
}

static void end(uint64_t end_ns)
{
	sample_end(&sample, end_ns, &analysis);
}

static void check_share(double value, double expected)
{
	if (value < expected - 1e-9 || value > expected + 1e-9)
		fail_msg("%g, not %g", value, expected);
}

/* Ranks 0 and 1 compute for 400 and 800 of the 1000 ns between MPI_Init and MPI_Finalize. */
static void test_metrics(void **state)
{
	(void)state;
	begin(2);
	sample_plain(&sample, "MPI_Init", 0, 10, 90);
	sample_plain(&sample, "MPI_Init", 1, 20, 100);
	sample_plain(&sample, "MPI_Barrier", 0, 500, 1100);
	sample_plain(&sample, "MPI_Barrier", 1, 900, 1100);
	sample_plain(&sample, "MPI_Finalize", 0, 1100, 1200);
	sample_plain(&sample, "MPI_Finalize", 1, 1150, 1200);
	end(1300);
	assert_int_equal(analysis.begin_ns, 100);
	assert_int_equal(analysis.end_ns, 1100);
	assert_int_equal(analysis.ranks[0].useful_ns, 400);
	assert_int_equal(analysis.ranks[1].useful_ns, 800);
	check_share(analysis.load_balance, 600.0 / 800);
	check_share(analysis.communication_efficiency, 0.8);
	check_share(analysis.parallel_efficiency, 0.6);
	assert_int_equal(analysis.collectives.operations, 1);
	assert_int_equal(analysis.ranks[0].waits_ns, 400);
	assert_int_equal(analysis.ranks[1].waited_for_ns, 400);
	assert_int_equal(trace_analysis_latest(&analysis), 1);
	assert_true(analysis.from_beginning);
	sample_free(&sample, &analysis);
}

static const struct path_figures *figures_of(uint32_t path)
{
	for (size_t i = 0; i < analysis.path_count; i++)
		if (analysis.paths[i].path == path)
			return &analysis.paths[i];
	fail_msg("no figures of path %u", (unsigned)path);
	return NULL;
}

static void plain_from(const char *function, size_t rank, uint64_t begin_ns, uint64_t end_ns,
		       uint32_t path)
{
	struct mpi_record record = sample_record(rank, function, begin_ns, end_ns);

	record.words[0] = SAMPLE_WORLD;
	record.path = path;
	sample_call(&sample, &record);
}

/* A barrier and a message, from lines 7, 8 and 9: each has its time, and who waited where. */
static void test_paths(void **state)
{
	struct mpi_record send, receive;

	(void)state;
	begin(2);
	plain_from("MPI_Barrier", 0, 100, 500, 7);
	plain_from("MPI_Barrier", 1, 400, 500, 7);
	send = sample_record(0, "MPI_Send", 800, 850);
	receive = sample_record(1, "MPI_Recv", 600, 900);
	send.words[5] = receive.words[5] = SAMPLE_WORLD;
	send.words[3] = 1;
	send.path = 8;
	receive.path = 9;
	sample_call(&sample, &send);
	sample_call(&sample, &receive);
	/* Of an unknown line. */
	plain_from("MPI_Barrier", 0, 1000, 1010, CALL_PATH_NONE);
	plain_from("MPI_Barrier", 1, 1000, 1010, CALL_PATH_NONE);
	end(1100);
	assert_int_equal(analysis.begin_ns, 400);
	assert_int_equal(figures_of(7)->sums.calls, 2);
	assert_int_equal(figures_of(7)->sums.ns, 200);
	assert_int_equal(figures_of(8)->sums.ns, 50);
	assert_int_equal(figures_of(9)->sums.ns, 300);
	assert_int_equal(figures_of(9)->sums.waits_ns, 200);
	assert_int_equal(analysis.unknown_paths, 2);
	assert_int_equal(analysis.wait_count, 1);
	assert_int_equal(analysis.waits[0].path, 9);
	assert_int_equal(analysis.waits[0].late_path, 8);
	sample_free(&sample, &analysis);
}

/* A rank that is in one call all the time has not computed. */
static void test_open_call(void **state)
{
	struct mpi_record record;

	(void)state;
	begin(2);
	sample_plain(&sample, "MPI_Init", 0, 10, 100);
	sample_plain(&sample, "MPI_Init", 1, 10, 100);
	record = sample_record(0, "MPI_Recv", 100, 1100);
	record.flags |= MPI_IS_OPEN;
	sample_call(&sample, &record);
	end(1100);
	assert_int_equal(analysis.ranks[0].useful_ns, 0);
	assert_int_equal(analysis.ranks[1].useful_ns, 1000);
	assert_int_equal(analysis.messages.unmatched_receives, 0);
	sample_free(&sample, &analysis);
}

static void test_late_sender(void **state)
{
	(void)state;
	begin(3);
	for (size_t i = 0; i < 3; i++)
		sample_plain(&sample, "MPI_Init", i, 0, 100);
	sample_message(&sample, "MPI_Recv", 0, 200, 710, 1, 5, 10);
	sample_message(&sample, "MPI_Send", 1, 700, 705, 0, 5, 10);
	/* This one was in time. */
	sample_message(&sample, "MPI_Send", 2, 150, 160, 0, 6, 4);
	sample_message(&sample, "MPI_Recv", 0, 720, 730, 2, 6, 4);
	end(1000);
	assert_int_equal(analysis.messages.count, 2);
	assert_int_equal(analysis.messages.items[0].late_ns, 0);
	assert_int_equal(analysis.messages.items[1].late_ns, 500);
	assert_int_equal(analysis.wait_count, 1);
	assert_int_equal(analysis.waits[0].who, 0);
	assert_int_equal(analysis.waits[0].whom, 1);
	assert_int_equal(analysis.waits[0].ns, 500);
	assert_int_equal(analysis.ranks[1].sent_bytes, 80);
	sample_free(&sample, &analysis);
}

/* A send that lasts until somebody asks for the message has waited; one that ends before has not.
 */
static void test_late_receiver(void **state)
{
	(void)state;
	begin(2);
	for (size_t i = 0; i < 2; i++)
		sample_plain(&sample, "MPI_Init", i, 0, 100);
	sample_message(&sample, "MPI_Send", 0, 200, 610, 1, 5, 10);
	sample_message(&sample, "MPI_Recv", 1, 600, 615, 0, 5, 10);
	sample_message(&sample, "MPI_Send", 0, 620, 630, 1, 5, 1);
	sample_message(&sample, "MPI_Recv", 1, 700, 710, 0, 5, 1);
	end(1000);
	assert_int_equal(analysis.messages.count, 2);
	assert_int_equal(analysis.messages.items[0].receiver_late_ns, 400);
	assert_int_equal(analysis.messages.items[1].receiver_late_ns, 0);
	assert_int_equal(analysis.ranks[0].waits_ns, 400);
	assert_int_equal(trace_analysis_latest(&analysis), 1);
	sample_free(&sample, &analysis);
}

static int tag_received_by(size_t number)
{
	return analysis.messages.items[number].receive->tag;
}

/* Of one channel in order; of others not at all. */
static void test_order_of_channels(void **state)
{
	(void)state;
	begin(3);
	for (int i = 0; i < 10; i++) {
		sample_message(&sample, "MPI_Send", 1, (uint64_t)(100 + 10 * i),
			       (uint64_t)(105 + 10 * i), 0, i % 2, i + 1);
		sample_message(&sample, "MPI_Send", 2, (uint64_t)(101 + 10 * i),
			       (uint64_t)(106 + 10 * i), 0, i % 2, 100 + i);
	}
	for (int i = 0; i < 10; i++)
		sample_message(&sample, "MPI_Recv", 0, (uint64_t)(500 + 10 * i),
			       (uint64_t)(505 + 10 * i), 2 - i % 2, i / 5, 1000);
	end(1000);
	/* Of tag 0: of rank 1 two, of rank 2 three; the rest of the sends is not received. */
	assert_int_equal(analysis.messages.count, 10);
	assert_int_equal(analysis.messages.unmatched_sends, 10);
	for (size_t i = 0; i < analysis.messages.count; i++) {
		const struct message *message = &analysis.messages.items[i];

		assert_int_equal(message->send->tag, tag_received_by(i));
		assert_int_equal(message->receive->peer, (int)message->from);
		for (size_t k = 0; k < i; k++)
			if (analysis.messages.items[k].from == message->from &&
			    analysis.messages.items[k].send->tag == message->send->tag)
				assert_true(analysis.messages.items[k].receive->order <
					    message->receive->order);
	}
	sample_free(&sample, &analysis);
}

/* Where the beginning was not seen: what was received before the next was sent is of an earlier
 * one. */
static void test_from_the_middle(void **state)
{
	(void)state;
	begin(2);
	for (size_t i = 0; i < 2; i++)
		sample.processes[i].from_beginning = false;
	sample_message(&sample, "MPI_Recv", 0, 100, 110, 1, 5, 10);
	sample_message(&sample, "MPI_Send", 1, 150, 160, 0, 5, 20);
	sample_message(&sample, "MPI_Recv", 0, 120, 170, 1, 5, 20);
	/* Rank 1 has left the barrier before that rank 0 leaves now. */
	sample_plain(&sample, "MPI_Barrier", 0, 180, 200);
	sample_plain(&sample, "MPI_Barrier", 0, 300, 400);
	sample_plain(&sample, "MPI_Barrier", 1, 350, 400);
	end(1000);
	assert_int_equal(analysis.messages.count, 1);
	assert_int_equal(analysis.messages.items[0].send->bytes, 160);
	assert_int_equal(analysis.messages.items[0].receive->begin_ns, 120);
	assert_int_equal(analysis.messages.unmatched_receives, 1);
	assert_int_equal(analysis.collectives.operations, 1);
	assert_int_equal(analysis.collectives.passed_over, 1);
	/* Not for the message: that was before the last rank's first call. */
	assert_int_equal(analysis.messages.items[0].late_ns, 30);
	assert_int_equal(analysis.ranks[0].waits_ns, 50);
	assert_false(analysis.from_beginning);
	/* From the first call of the last rank. */
	assert_int_equal(analysis.begin_ns, 150);
	sample_free(&sample, &analysis);
}

/* Whoever receives from anybody, and asks for no status, leaves all that it receives in doubt. */
static void test_anybody(void **state)
{
	struct mpi_record record;

	(void)state;
	begin(3);
	sample_message(&sample, "MPI_Send", 1, 100, 110, 0, 5, 10);
	sample_message(&sample, "MPI_Send", 2, 100, 110, 0, 5, 10);
	sample_message(&sample, "MPI_Send", 1, 100, 110, 2, 5, 10);
	sample_message(&sample, "MPI_Recv", 0, 120, 130, ANY, 5, 10);
	sample_message(&sample, "MPI_Recv", 0, 140, 150, 2, 5, 10);
	sample_message(&sample, "MPI_Recv", 2, 140, 150, 1, 5, 10);
	end(1000);
	assert_int_equal(analysis.messages.count, 1);
	assert_int_equal(analysis.messages.of_anybody, 1);
	assert_int_equal(analysis.messages.uncertain, 2);
	sample_free(&sample, &analysis);

	begin(2);
	sample_message(&sample, "MPI_Send", 1, 100, 110, 0, 5, 10);
	record = sample_record(0, "MPI_Recv", 120, 130);
	record.words[1] = 10;
	record.words[3] = record.words[4] = (uint32_t)ANY;
	record.words[5] = SAMPLE_WORLD;
	record.flags |= MPI_HAS_STATUS;
	record.source = 1;
	record.tag = 5;
	sample_call(&sample, &record);
	end(1000);
	assert_int_equal(analysis.messages.count, 1);
	assert_int_equal(analysis.messages.of_anybody, 0);
	sample_free(&sample, &analysis);
}

/* MPI_Comm_split by parity, in reverse order, and a duplicate of that. */
static void test_communicators(void **state)
{
	(void)state;
	begin(4);
	for (size_t i = 0; i < 4; i++) {
		struct mpi_record record = sample_record(i, "MPI_Comm_split", 100, 110);

		record.words[0] = SAMPLE_WORLD;
		record.words[1] = i % 2;
		record.words[2] = (uint32_t) - (int)i;
		record.handle_out = 0x9000 + i;
		sample_call(&sample, &record);
		record = sample_record(i, "MPI_Comm_dup", 120, 130);
		record.words[0] = 0x9000 + i;
		record.handle_out = 0xa000 + i;
		sample_call(&sample, &record);
	}
	for (size_t i = 0; i < 4; i += 2) {
		struct mpi_record record = sample_record(i, i ? "MPI_Send" : "MPI_Recv", 200, 210);

		/* Rank 2 of the world is the first one there. */
		record.words[1] = 3;
		record.words[3] = i ? 1 : 0;
		record.words[4] = 7;
		record.words[5] = 0xa000 + i;
		sample_call(&sample, &record);
	}
	end(1000);
	assert_int_equal(analysis.messages.count, 1);
	assert_int_equal(analysis.messages.items[0].from, 2);
	assert_int_equal(analysis.messages.items[0].to, 0);
	/* None, the world, two parts, and their duplicates. */
	assert_int_equal(analysis.communicators.count, 6);
	assert_int_equal(analysis.collectives.operations, 3);
	sample_free(&sample, &analysis);

	/* Of the world's four ranks one was not traced. */
	begin(3);
	sample.processes[0].size = 4;
	for (size_t i = 0; i < 3; i++) {
		struct mpi_record record = sample_record(i, "MPI_Comm_dup", 100, 110);

		record.words[0] = SAMPLE_WORLD;
		record.handle_out = 0x9000;
		sample_call(&sample, &record);
		record = sample_record(i, "MPI_Send", 200, 210);
		record.words[5] = 0x9000;
		sample_call(&sample, &record);
	}
	end(1000);
	assert_int_equal(analysis.messages.elsewhere, 3);
	assert_int_equal(analysis.communicators.count, 2);
	sample_free(&sample, &analysis);
}

/* A communicator of some ranks of the world. */
static void create(size_t rank, uint64_t at_ns, const int32_t *ranks, uint16_t count,
		   uint64_t handle)
{
	struct mpi_record record = sample_record(rank, "MPI_Comm_group", at_ns, at_ns + 1);

	record.words[0] = SAMPLE_WORLD;
	record.handle_out = 0xb000;
	sample_call(&sample, &record);
	record = sample_record(rank, "MPI_Group_incl", at_ns + 2, at_ns + 3);
	record.words[0] = 0xb000;
	record.words[1] = count;
	record.handle_out = 0xc000;
	sample_chunk(&sample, &record, MPI_RECORD_INDICES, ranks, count, count * sizeof(ranks[0]));
	sample_call(&sample, &record);
	record = sample_record(rank, "MPI_Comm_create", at_ns + 4, at_ns + 9);
	record.words[0] = SAMPLE_WORLD;
	record.words[1] = 0xc000;
	record.handle_out = handle;
	sample_call(&sample, &record);
	for (unsigned i = 0; i < 2; i++) {
		record = sample_record(rank, "MPI_Group_free", at_ns + 10, at_ns + 11);
		record.handle_in = i ? 0xb000 : 0xc000;
		sample_call(&sample, &record);
	}
}

static void send_in(size_t rank, const char *function, uint64_t communicator, int peer)
{
	struct mpi_record record = sample_record(rank, function, 400, 410);

	record.words[1] = 3;
	record.words[3] = (uint32_t)peer;
	record.words[4] = 7;
	record.words[5] = communicator;
	sample_call(&sample, &record);
}

/* Of groups that are another one for each half, of one for all, and of one that is not known. */
static void test_communicators_of_groups(void **state)
{
	static const int32_t halves[2][2] = { { 0, 2 }, { 1, 3 } }, middle[] = { 1, 2 },
			     mixed[] = { 2, 1 };

	(void)state;
	begin(4);
	for (size_t i = 0; i < 4; i++) {
		create(i, 100, halves[i % 2], 2, 0x9000);
		create(i, 200, middle, 2, i == 1 || i == 2 ? 0xa000 : SAMPLE_NULL);
		create(i, 300, mixed, 2, i == 1 || i == 2 ? 0xd000 : SAMPLE_NULL);
	}
	send_in(3, "MPI_Send", 0x9000, 0);
	send_in(1, "MPI_Recv", 0x9000, 1);
	send_in(1, "MPI_Send", 0xa000, 1);
	send_in(2, "MPI_Recv", 0xa000, 0);
	send_in(2, "MPI_Send", 0xd000, 1);
	end(1000);
	assert_int_equal(analysis.messages.count, 2);
	assert_int_equal(analysis.messages.elsewhere, 1);
	for (size_t i = 0; i < 2; i++) {
		const struct message *message = &analysis.messages.items[i];

		assert_true((message->from == 3 && message->to == 1) ||
			    (message->from == 1 && message->to == 2));
	}
	/* None, the world, two halves and the middle. */
	assert_int_equal(analysis.communicators.count, 5);
	assert_int_equal(analysis.communicators.not_followed, 1);
	sample_free(&sample, &analysis);
}

/* Rank 1 is traced from its second communicator on: the first one of rank 0 is nobody's. */
static void test_communicators_from_the_middle(void **state)
{
	(void)state;
	begin(2);
	for (uint64_t i = 0; i < 2; i++)
		for (uint64_t made = i; made < 2; made++) {
			struct mpi_record record = sample_record(
				i, "MPI_Comm_dup", 100 + 100 * made, 150 + 100 * made);

			record.words[0] = SAMPLE_WORLD;
			record.handle_out = 0x9000 + made;
			sample_call(&sample, &record);
		}
	for (uint64_t made = 0; made < 2; made++) {
		struct mpi_record record = sample_record(0, "MPI_Send", 300 + made, 310);

		record.words[3] = 1;
		record.words[5] = 0x9000 + made;
		sample_call(&sample, &record);
		record = sample_record(1, "MPI_Recv", 320 + made, 330);
		record.words[5] = 0x9000 + made;
		sample_call(&sample, &record);
	}
	end(1000);
	assert_int_equal(analysis.communicators.count, 3);
	assert_int_equal(analysis.messages.count, 1);
	assert_int_equal(analysis.messages.items[0].send->begin_ns, 301);
	assert_int_equal(analysis.messages.elsewhere, 2);
	sample_free(&sample, &analysis);
}

/* Everybody waits for the root that sends; the root alone for those that send to it. */
static void test_roots(void **state)
{
	(void)state;
	begin(3);
	for (size_t i = 0; i < 3; i++)
		sample_plain(&sample, "MPI_Init", i, 0, 50);
	for (size_t i = 0; i < 3; i++) {
		struct mpi_record record = sample_record(i, "MPI_Bcast", 100 + 100 * i, 320);

		record.words[3] = 1;
		record.words[4] = SAMPLE_WORLD;
		sample_call(&sample, &record);
		record = sample_record(i, "MPI_Reduce", 400 + 100 * i, 700);
		record.words[5] = 0;
		record.words[6] = SAMPLE_WORLD;
		sample_call(&sample, &record);
	}
	end(1000);
	assert_int_equal(analysis.collectives.operations, 2);
	assert_int_equal(analysis.wait_count, 2);
	assert_int_equal(analysis.ranks[0].waits_ns, 100 + 200);
	assert_int_equal(analysis.ranks[1].waited_for_ns, 100);
	assert_int_equal(analysis.ranks[1].waits_ns, 0);
	assert_int_equal(analysis.ranks[2].waited_for_ns, 200);
	sample_free(&sample, &analysis);
}

/* Rank 0 waits for rank 1, which waits for rank 2: it is rank 2 that holds both up. */
static void test_blame(void **state)
{
	(void)state;
	begin(3);
	for (size_t i = 0; i < 3; i++)
		sample_plain(&sample, "MPI_Init", i, 0, 100);
	sample_message(&sample, "MPI_Recv", 0, 200, 710, 1, 5, 1);
	sample_message(&sample, "MPI_Recv", 1, 300, 610, 2, 5, 1);
	sample_message(&sample, "MPI_Send", 2, 600, 605, 1, 5, 1);
	sample_message(&sample, "MPI_Send", 1, 700, 705, 0, 5, 1);
	end(1000);
	assert_int_equal(analysis.ranks[1].waited_for_ns, 500);
	assert_int_equal(analysis.ranks[2].waited_for_ns, 300);
	/* Of rank 0's 500 ns rank 2 has those from 300 to 600. */
	assert_int_equal(analysis.ranks[1].holds_up_ns, 200);
	assert_int_equal(analysis.ranks[2].holds_up_ns, 300 + 300);
	assert_int_equal(trace_analysis_latest(&analysis), 2);
	sample_free(&sample, &analysis);
}

/* The time of calls beyond the limit is known, and no time of computing. */
static void test_over_limit(void **state)
{
	(void)state;
	begin(1);
	sample_plain(&sample, "MPI_Init", 0, 0, 100);
	sample_plain(&sample, "MPI_Barrier", 0, 200, 300);
	sample.library.layout.over_limit = 5;
	sample.library.layout.over_ns = 400;
	end(1100);
	assert_int_equal(analysis.ranks[0].useful_ns, 500);
	assert_int_equal(analysis.unrecorded_calls, 5);
	sample_free(&sample, &analysis);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_late_receiver),
		cmocka_unit_test(test_communicators_from_the_middle),
		cmocka_unit_test(test_metrics),
		cmocka_unit_test(test_open_call),
		cmocka_unit_test(test_late_sender),
		cmocka_unit_test(test_order_of_channels),
		cmocka_unit_test(test_from_the_middle),
		cmocka_unit_test(test_anybody),
		cmocka_unit_test(test_communicators),
		cmocka_unit_test(test_communicators_of_groups),
		cmocka_unit_test(test_roots),
		cmocka_unit_test(test_over_limit),
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_blame),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
