/* SPDX-License-Identifier: Apache-2.0 */
/* Traces of several nodes as one: whose clocks are shifted and drift, and files that are damaged.
 */
#include "daemon/trace/trace_set.h"

#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/trace/trace_recording.h"
#include "daemon/trace/trace_writer.h"
#include "tests/unit/trace_sample.h"

#define NODES  3
#define EPOCH  1700000000000000000ll
#define SECOND 1000000000ull

/* What a node's clock shows at a time: from when it was booted, and how wrong it is. */
static const struct clock {
	int64_t booted_ns, wrong_ns;
	double drift;
} clocks[NODES] = {
	{ 100 * SECOND, 0, 0 },
	{ 5000 * SECOND, 3700000, 40e-6 },
	{ 70 * SECOND, -250000000, -20e-6 },
};

static struct trace_sample sample;
static struct trace_set set;
static char folder[] = "/tmp/pieprofd-unit-XXXXXX";
static char files[NODES][64];

static uint64_t shown(size_t node, uint64_t ns)
{
	const struct clock *clock = &clocks[node];

	return (uint64_t)(clock->booted_ns + (int64_t)ns + clock->wrong_ns +
			  (int64_t)(clock->drift * (double)ns));
}

/* A rank on each node. */
static void begin(void)
{
	sample_begin(&sample, NODES);
	for (size_t i = 0; i < NODES; i++) {
		sample.processes[i].pid = 100;
		sample_plain(&sample, "MPI_Init", i, shown(i, SECOND / 2), shown(i, SECOND));
	}
}

static void barrier(uint64_t last_ns)
{
	for (size_t i = 0; i < NODES; i++)
		sample_plain(&sample, "MPI_Barrier", i, shown(i, last_ns - 5000 * i),
			     shown(i, last_ns + 6000 + 1000 * i));
}

/* Sent then, and received after a while. */
static void message(size_t from, size_t to, uint64_t sent_ns, uint64_t took_ns, int tag)
{
	sample_message(&sample, "MPI_Send", from, shown(from, sent_ns), shown(from, sent_ns + 1000),
		       (int)to, tag, 10);
	sample_message(&sample, "MPI_Recv", to, shown(to, sent_ns + took_ns / 2),
		       shown(to, sent_ns + took_ns), (int)from, tag, 10);
}

/* Each node's trace in a file of its own, read again. same: they are one node after all. */
static void merge(uint64_t end_ns, bool same)
{
	const char *paths[NODES];
	struct error error;

	for (size_t i = 0; i < NODES; i++) {
		struct trace_process *process = &sample.processes[i];
		struct trace trace = { .processes = &sample.pointers[i],
				       .count = 1,
				       .begin_ns = shown(i, 0),
				       .end_ns = shown(i, end_ns) };
		const struct trace_analysis analysis = { .trace = &trace };
		FILE *file = fopen(files[i], "w");

		process->begin_ns = trace.begin_ns;
		process->end_ns = trace.end_ns;
		must(file && trace_file_map(&process->file) == 0);
		snprintf(trace.node.boot, sizeof(trace.node.boot), "boot-%zu", same ? 0 : i);
		snprintf(trace.node.host, sizeof(trace.node.host), "node-%zu", i);
		trace.node.wall_ns = EPOCH - clocks[i].booted_ns;
		assert_int_equal(trace_recording_write(&analysis, file), 0);
		must(fclose(file) == 0);
		paths[i] = files[i];
	}
	if (trace_set_read(&set, paths, NODES, &error))
		fail_msg("%s", error.cause);
}

static void finish(void)
{
	trace_set_deinit(&set);
	for (size_t i = 0; i < NODES; i++) {
		mpi_decoder_deinit(&sample.processes[i].decoder);
		trace_file_close(&sample.processes[i].file);
	}
}

/* Every time of every event is what it was, by the first node's clock. */
static int64_t largest_error(void)
{
	int64_t largest = 0;

	for (size_t i = 0; i < NODES; i++) {
		const struct trace_file *was = &sample.processes[i].file;
		const struct trace_file *is = &set.trace.processes[i]->file;

		assert_int_equal(is->count, was->count);
		for (uint64_t k = 0; k < was->count; k++) {
			double true_ns =
				((double)was->events[k].begin_ns - (double)clocks[i].booted_ns -
				 (double)clocks[i].wrong_ns) /
				(1 + clocks[i].drift);
			int64_t off_ns = (int64_t)is->events[k].begin_ns -
					 (int64_t)(true_ns + (double)clocks[0].booted_ns);

			if (llabs(off_ns) > largest)
				largest = llabs(off_ns);
			assert_int_equal(is->events[k].kind, was->events[k].kind);
			assert_int_equal(is->events[k].function, was->events[k].function);
			assert_int_equal(is->events[k].bytes, was->events[k].bytes);
		}
	}
	return largest;
}

/* Along a chain of nodes: the first and the last one exchange nothing. */
static void test_messages(void **state)
{
	struct trace_analysis analysis;

	(void)state;
	begin();
	for (unsigned i = 0; i < 1000; i++) {
		uint64_t at_ns = SECOND + 10000000ull * i;

		message(0, 1, at_ns, 9000 + i * 7919 % 4000, 1);
		message(1, 0, at_ns + 100000, 9000 + i * 104729 % 4000, 2);
		message(1, 2, at_ns + 200000, 9000 + i * 7907 % 9000, 3);
		message(2, 1, at_ns + 300000, 9000 + i * 6133 % 9000, 4);
	}
	merge(12 * SECOND, false);
	assert_int_equal(set.node_count, NODES);
	/* Half of what the fastest ones take, there and back, and what drift leaves. */
	assert_in_range(largest_error(), 0, 3000);
	assert_true(fabs(set.clocks.nodes[1].drift - 40e-6) < 1e-6);
	assert_true(fabs(set.clocks.nodes[2].drift + 20e-6) < 1e-6);
	assert_int_equal(set.clocks.nodes[2].basis, CLOCK_MESSAGES);
	assert_int_equal(set.clocks.nodes[2].towards, 1);
	assert_in_range(set.clocks.nodes[1].error_ns, 5000, 20000);
	assert_in_range(largest_error(), 0, set.clocks.nodes[2].error_ns);
	assert_int_equal(set.clocks.contradictions, 0);
	/* All had the same pid. */
	assert_true(set.pids_differ && set.trace.processes[0]->pid != set.trace.processes[1]->pid);
	assert_int_equal(trace_analysis_init(&analysis, &set.trace), 0);
	assert_int_equal(analysis.messages.count, 4000);
	assert_int_equal(analysis.messages.unmatched_sends, 0);
	for (size_t i = 0; i < analysis.messages.count; i++)
		assert_in_range(analysis.messages.items[i].receive->end_ns -
					analysis.messages.items[i].send->begin_ns,
				1000, 30000);
	trace_analysis_deinit(&analysis);
	finish();
}

/* Barriers alone tell it, too. */
static void test_collectives(void **state)
{
	(void)state;
	begin();
	for (unsigned i = 0; i < 200; i++)
		barrier(SECOND + 50000000ull * i);
	merge(12 * SECOND, false);
	/* Whoever comes last is always the same: what is said of the error is what it is. */
	assert_in_range(set.clocks.nodes[2].error_ns, 10000, 40000);
	assert_in_range(largest_error(), 0, set.clocks.nodes[2].error_ns);
	assert_int_equal(set.clocks.nodes[1].basis, CLOCK_MESSAGES);
	assert_int_equal(set.clocks.nodes[2].basis, CLOCK_MESSAGES);
	finish();
}

/* One way alone: no receive is before its send; the third node has the clock on the wall. */
static void test_one_side(void **state)
{
	(void)state;
	begin();
	for (unsigned i = 0; i < 100; i++)
		message(1, 0, SECOND + 1000000ull * i, 10000, 1);
	merge(2 * SECOND, false);
	assert_int_equal(set.clocks.nodes[1].basis, CLOCK_ONE_SIDE);
	assert_int_equal(set.clocks.nodes[1].error_ns, UINT64_MAX);
	assert_int_equal(set.clocks.nodes[2].basis, CLOCK_WALL);
	assert_int_equal(set.clocks.contradictions, 0);
	/* That node's clock is ahead, and gains 40 us in that second. */
	assert_in_range(set.clocks.nodes[1].offset_ns, 3700000, 3750000);
	finish();
}

/* Processes of one boot have one clock, and several files. */
static void test_one_node(void **state)
{
	(void)state;
	begin();
	message(0, 1, SECOND, 10000, 1);
	merge(2 * SECOND, true);
	assert_int_equal(set.node_count, 1);
	assert_int_equal(set.trace.count, NODES);
	for (size_t i = 0; i < NODES; i++)
		assert_int_equal(set.trace.processes[i]->file.events[0].begin_ns,
				 sample.processes[i].file.events[0].begin_ns);
	finish();
}

/* Python functions, and what is known of their calls: as many, and no fewer words for their share.
 */
static void test_python_functions(void **state)
{
	static struct span_list spans = { .count = 1 };
	struct trace_event call = { .kind = TRACE_SPAN,
				    .begin_ns = shown(0, SECOND),
				    .end_ns = shown(0, SECOND + 1000),
				    .flags = TRACE_BEFORE | TRACE_RAISED };
	struct trace_process *process = &sample.processes[0];
	const struct trace_process *read;
	const char *path = files[0];
	struct error error = { 0 };
	FILE *file;

	(void)state;
	begin();
	spans.items[0].kind = SPAN_PYTHON;
	snprintf(spans.items[0].name, sizeof(spans.items[0].name), "Python functions");
	spans.functions.max_overhead = 0.1;
	process->end_ns = shown(0, 2 * SECOND);
	process->functions.observed_ns = 7;
	process->functions.pauses = 3;
	process->functions.counts.compiled = 5;
	trace_file_add(&process->file, &call);
	must(trace_file_map(&process->file) == 0);
	{
		struct trace trace = { .processes = &sample.pointers[0],
				       .count = 1,
				       .begin_ns = shown(0, 0),
				       .end_ns = shown(0, 2 * SECOND),
				       .spans = &spans };
		const struct trace_analysis analysis = { .trace = &trace };

		file = fopen(path, "w");
		must(file != NULL);
		assert_int_equal(trace_recording_write(&analysis, file), 0);
		must(fclose(file) == 0);
	}
	if (trace_set_read(&set, &path, 1, &error))
		fail_msg("%s", error.cause);
	read = set.trace.processes[0];
	assert_int_equal(read->functions.observed_ns, 7);
	assert_int_equal(read->functions.pauses, 3);
	assert_int_equal(read->functions.counts.compiled, 5);
	assert_int_equal(read->file.count, process->file.count);
	assert_int_equal(read->file.events[read->file.count - 1].kind, TRACE_SPAN);
	assert_int_equal(read->file.events[read->file.count - 1].flags,
			 TRACE_BEFORE | TRACE_RAISED);
	assert_int_equal(set.spans.items[0].kind, SPAN_PYTHON);
	assert_true(set.spans.functions.max_overhead > 0.09);
	finish();
}

static int read_damaged(const char *bytes, size_t size)
{
	const char *path = files[0];
	struct error error = { 0 };
	FILE *file = fopen(path, "w");
	int result;

	must(file && fwrite(bytes, 1, size, file) == size && fclose(file) == 0);
	result = trace_set_read(&set, &path, 1, &error);
	assert_true(!result || error.cause[0]);
	trace_set_deinit(&set);
	return result;
}

/* Cut anywhere, and with any byte another one, it is refused or read, and nothing else happens. */
static void test_damaged(void **state)
{
	char *bytes;
	struct stat status;
	FILE *file;

	(void)state;
	begin();
	message(0, 1, SECOND, 10000, 1);
	merge(2 * SECOND, false);
	finish();
	must(stat(files[0], &status) == 0);
	bytes = malloc((size_t)status.st_size);
	file = fopen(files[0], "r");
	must(bytes && file &&
	     fread(bytes, 1, (size_t)status.st_size, file) == (size_t)status.st_size);
	fclose(file);
	assert_int_equal(read_damaged(bytes, (size_t)status.st_size), 0);
	for (size_t size = 0; size < (size_t)status.st_size; size += 13)
		assert_int_equal(read_damaged(bytes, size), -1);
	for (size_t i = 0; i < (size_t)status.st_size; i += 7) {
		bytes[i] ^= 0x41;
		/* What is reserved alone may be anything. */
		if (i < 12 || i >= 16)
			assert_int_equal(read_damaged(bytes, (size_t)status.st_size), -1);
		bytes[i] ^= 0x41;
	}
	free(bytes);
}

static int make_folder(void **state)
{
	(void)state;
	must(mkdtemp(folder));
	for (size_t i = 0; i < NODES; i++)
		snprintf(files[i], sizeof(files[i]), "%s/%zu.pietrace", folder, i);
	return 0;
}

static int remove_folder(void **state)
{
	(void)state;
	for (size_t i = 0; i < NODES; i++)
		unlink(files[i]);
	return rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_messages),         cmocka_unit_test(test_collectives),
		cmocka_unit_test(test_one_side),         cmocka_unit_test(test_one_node),
		cmocka_unit_test(test_python_functions), cmocka_unit_test(test_damaged),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
