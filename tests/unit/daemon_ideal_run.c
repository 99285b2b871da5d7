/* SPDX-License-Identifier: Apache-2.0 */
/* How long ranks would run if messages took no time: traces whose answer is known by hand. */
#include "daemon/trace/trace_analysis.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "tests/unit/trace_sample.h"

#define EAGER   10 /* items of 8 bytes */
#define LARGE   1000
#define MESSAGE 7

static struct trace_sample sample;
static struct trace_analysis analysis;

/* All ranks leave MPI_Init at 100. */
static void begin(size_t ranks)
{
	sample_begin(&sample, ranks);
	for (size_t i = 0; i < ranks; i++)
		sample_plain(&sample, "MPI_Init", i, 0, 100);
}

static void end(uint64_t end_ns)
{
	sample_end(&sample, end_ns, &analysis);
	assert_int_equal(analysis.begin_ns, 100);
	assert_int_equal(analysis.end_ns, end_ns);
}

static void sends(size_t rank, size_t to, uint64_t begin_ns, uint64_t end_ns)
{
	sample_message(&sample, "MPI_Send", rank, begin_ns, end_ns, (int)to, MESSAGE, EAGER);
}

static void receives(size_t rank, size_t from, uint64_t begin_ns, uint64_t end_ns)
{
	sample_message(&sample, "MPI_Recv", rank, begin_ns, end_ns, (int)from, MESSAGE, LARGE);
}

/* words: of which argument the communicator is, and the root. */
static void collective(const char *function, size_t rank, uint64_t begin_ns, uint64_t end_ns)
{
	const struct mpi_function *known = &mpi_functions[sample_function(function)];
	struct mpi_record record = sample_record(rank, function, begin_ns, end_ns);

	record.words[known->communicator] = SAMPLE_WORLD;
	sample_call(&sample, &record);
}

static void check_split(uint64_t ideal_ns, double serialisation, double transfer)
{
	char words[200];

	ideal_run_reason(&analysis.ideal, words, sizeof(words));
	if (analysis.ideal.state != IDEAL_KNOWN)
		fail_msg("not known: %s", words);
	assert_int_equal(analysis.ideal.ns, ideal_ns);
	if (analysis.serialisation_efficiency < serialisation - 1e-9 ||
	    analysis.serialisation_efficiency > serialisation + 1e-9)
		fail_msg("serialisation %g, not %g", analysis.serialisation_efficiency,
			 serialisation);
	if (analysis.transfer_efficiency < transfer - 1e-9 ||
	    analysis.transfer_efficiency > transfer + 1e-9)
		fail_msg("transfer %g, not %g", analysis.transfer_efficiency, transfer);
	sample_free(&sample, &analysis);
}

static void check_unknown(enum ideal_state state, uint64_t count, const char *words)
{
	char found[200];

	assert_int_equal(analysis.ideal.state, state);
	assert_int_equal(analysis.ideal.count, count);
	ideal_run_reason(&analysis.ideal, found, sizeof(found));
	assert_string_equal(found, words);
	assert_true(analysis.transfer_efficiency == 0);
	sample_free(&sample, &analysis);
}

/* Rank 0 computes for 400, rank 1 for 1000; the barrier takes no time. */
static void test_imbalanced(void **state)
{
	(void)state;
	begin(2);
	collective("MPI_Barrier", 0, 500, 1100);
	collective("MPI_Barrier", 1, 1099, 1100);
	end(1101);
	/* 1 for what comes after the barrier, and 1 in it. */
	check_split(1000, 1, 1000.0 / 1001);
}

/* Each computes for 300 once the one before has. */
static void test_chain(void **state)
{
	(void)state;
	begin(3);
	sends(0, 1, 400, 410);
	receives(1, 0, 100, 400);
	sends(1, 2, 700, 710);
	receives(2, 1, 100, 700);
	collective("MPI_Barrier", 0, 410, 1000);
	collective("MPI_Barrier", 1, 710, 1000);
	collective("MPI_Barrier", 2, 1000, 1001);
	end(1000);
	check_split(900, 300.0 / 900, 1);
}

/* The same, and each message takes 50. */
static void test_slow_chain(void **state)
{
	(void)state;
	begin(3);
	sends(0, 1, 400, 410);
	receives(1, 0, 100, 450);
	sends(1, 2, 750, 760);
	receives(2, 1, 100, 800);
	collective("MPI_Barrier", 0, 410, 1100);
	collective("MPI_Barrier", 1, 760, 1100);
	collective("MPI_Barrier", 2, 1100, 1101);
	end(1100);
	check_split(900, 300.0 / 900, 0.9);
}

/* Both compute for 100, and exchange for 100, twice; MPI_Isend's wait takes part of it. */
static void test_transfer(void **state)
{
	(void)state;
	begin(2);
	for (uint64_t at = 200; at < 600; at += 200)
		for (size_t i = 0; i < 2; i++) {
			sample_message(&sample, "MPI_Isend", i, at, at + 20, (int)(1 - i), MESSAGE,
				       LARGE);
			receives(i, 1 - i, at + 20, at + 100);
		}
	end(500);
	check_split(200, 1, 0.5);
}

/* What is received by a request is waited for where that is. */
static void test_request(void **state)
{
	struct mpi_record record;

	(void)state;
	begin(2);
	record = sample_record(0, "MPI_Irecv", 110, 120);
	record.words[1] = LARGE;
	record.words[2] = SAMPLE_DOUBLE;
	record.words[3] = 1;
	record.words[4] = MESSAGE;
	record.words[5] = SAMPLE_WORLD;
	record.handle_out = 0x1234;
	sample_call(&sample, &record);
	record = sample_record(0, "MPI_Wait", 300, 700);
	record.handle_in = 0x1234;
	sample_call(&sample, &record);
	sends(1, 0, 500, 520);
	end(800);
	/* Rank 0: 10, 180 and 100 of its own, of which 100 after 400 of rank 1, that computes 680.
	 */
	check_split(680, 1, 680.0 / 700);
}

/* A large one waits for its receiver, as others of that size have been seen to; a small one does
 * not. */
static void test_rendezvous(void **state)
{
	(void)state;
	begin(2);
	sample_message(&sample, "MPI_Send", 0, 200, 600, 1, MESSAGE, LARGE);
	receives(1, 0, 500, 600);
	end(700);
	/* Rank 0: 100, waits until 400, 100; rank 1: 400 and 100. */
	check_split(500, 1, 500.0 / 600);

	begin(2);
	sample_message(&sample, "MPI_Send", 0, 200, 400, 1, MESSAGE, LARGE);
	receives(1, 0, 500, 510);
	sample_message(&sample, "MPI_Send", 0, 500, 600, 1, MESSAGE, LARGE);
	receives(1, 0, 590, 600);
	end(1000);
	/* One of the size did not wait: rank 0 has 100, 100 and 400. Rank 1: 400, 80 and 400. */
	check_split(880, 1, 880.0 / 900);

	begin(2);
	sample_message(&sample, "MPI_Ssend", 0, 200, 600, 1, MESSAGE, EAGER);
	receives(1, 0, 500, 600);
	end(900);
	check_split(700, 1, 700.0 / 800);
}

/* All wait for the root that sends; the root alone for those that send to it. */
static void test_roots(void **state)
{
	(void)state;
	begin(2);
	collective("MPI_Bcast", 0, 300, 310);
	collective("MPI_Bcast", 1, 200, 310);
	collective("MPI_Reduce", 0, 400, 620);
	collective("MPI_Reduce", 1, 600, 610);
	end(720);
	/* Rank 0: 200, 90, until rank 1 comes at 200 + 290, 100; rank 1: 100, until 200, 290, 110.
	 */
	check_split(600, 500.0 / 600, 600.0 / 620);
}

/* Rank 1 waits for rank 0, rank 2 for both, and rank 0 for nobody. */
static void test_scan(void **state)
{
	(void)state;
	begin(3);
	collective("MPI_Scan", 0, 300, 310);
	collective("MPI_Scan", 1, 200, 330);
	collective("MPI_Scan", 2, 250, 350);
	end(950);
	/* 200 and 640; 200 and 620; 200 and 600. */
	check_split(840, 1, 840.0 / 850);

	begin(3);
	collective("MPI_Scan", 0, 300, 310);
	collective("MPI_Scan", 1, 600, 610);
	collective("MPI_Scan", 2, 250, 650);
	end(1250);
	/* 200 and 940; 500 and 640; 500 and 600. */
	check_split(1140, 1, 1140.0 / 1150);
}

/* A call that the end of the time cuts is not waited for; what was sent in it counts. */
static void test_cut(void **state)
{
	(void)state;
	begin(2);
	receives(0, 1, 200, 1000);
	sends(1, 0, 990, 1001);
	end(1000);
	check_split(890, 1, 890.0 / 900);
}

static void test_unknown(void **state)
{
	struct mpi_record record;

	(void)state;
	/* Nobody has sent this. */
	begin(2);
	receives(0, 1, 200, 300);
	sends(1, 0, 400, 410);
	end(1000);
	check_unknown(IDEAL_RECEIVES, 1, "of 1 receive the send is not known");

	begin(2);
	sample_plain(&sample, "MPI_Ibarrier", 0, 200, 210);
	sample_plain(&sample, "MPI_Ibarrier", 1, 200, 210);
	end(1000);
	check_unknown(IDEAL_UNFOLLOWED, 2,
		      "for whom 2 calls such as MPI_Ibarrier may wait is not followed");

	/* One that rank 1 has not called. */
	begin(2);
	collective("MPI_Barrier", 0, 200, 300);
	collective("MPI_Barrier", 0, 400, 500);
	collective("MPI_Barrier", 1, 290, 300);
	end(1000);
	check_unknown(IDEAL_COLLECTIVE, 1,
		      "of 1 call of collective operations the other ranks' are not known");

	begin(2);
	collective("MPI_Barrier", 0, 200, 300);
	collective("MPI_Barrier", 1, 290, 300);
	sample.library.layout.over_limit = 5;
	end(1000);
	check_unknown(IDEAL_MISSING, 10, "10 events were not recorded");

	begin(2);
	collective("MPI_Barrier", 0, 200, 300);
	record = sample_record(1, "MPI_Barrier", 290, 300);
	record.words[0] = SAMPLE_WORLD;
	sample_call(&sample, &record);
	record = sample_record(1, "MPI_Barrier", 400, 500);
	record.words[0] = SAMPLE_SELF;
	record.tid++;
	sample_call(&sample, &record);
	end(1000);
	check_unknown(IDEAL_THREADS, 1, "several threads of 1 rank call MPI");

	/* Rank 0 has left before rank 1 had come, who had waited for what rank 0 did then. */
	begin(2);
	collective("MPI_Reduce", 0, 200, 300);
	sends(0, 1, 400, 410);
	receives(1, 0, 300, 410);
	collective("MPI_Reduce", 1, 500, 510);
	end(1000);
	check_unknown(IDEAL_STUCK, 2,
		      "played again, 2 ranks would wait for ever: something was matched wrongly");
}

/* What was received, sent and called before the time is over. */
static void test_from_before(void **state)
{
	(void)state;
	begin(2);
	sample_plain(&sample, "MPI_Barrier", 0, 50, 60);
	sends(0, 1, 60, 70);
	receives(1, 0, 200, 210);
	sends(0, 1, 90, 200);
	receives(1, 0, 210, 220);
	end(400);
	/* Rank 0: 200; rank 1: 100 and 180. */
	check_split(280, 1, 280.0 / 300);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_imbalanced),  cmocka_unit_test(test_chain),
		cmocka_unit_test(test_slow_chain),  cmocka_unit_test(test_transfer),
		cmocka_unit_test(test_request),     cmocka_unit_test(test_rendezvous),
		cmocka_unit_test(test_roots),       cmocka_unit_test(test_scan),
		cmocka_unit_test(test_cut),         cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_from_before),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
