/* SPDX-License-Identifier: Apache-2.0 */
/* Threads off the processor and page faults: sums by reason, line and thread, and what every format
 * makes of them.
 */
#include "daemon/trace/detail_analysis.h"

#include "daemon/trace/trace_writer.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/syscall.h>

#include <cmocka.h>

#include "tests/unit/trace_sample.h"

static struct trace_sample sample;
static struct trace_analysis analysis;
static struct span_list list;

static void off(size_t process, uint32_t thread, int32_t detail, uint64_t begin_ns, uint64_t end_ns)
{
	const struct trace_event event = { .kind = TRACE_SPAN,
					   .thread = thread,
					   .function = 1,
					   .begin_ns = begin_ns,
					   .end_ns = end_ns,
					   .peer = -1,
					   .tag = detail };

	trace_file_add(&sample.processes[process].file, &event);
}

/* Two processes without MPI: the first one's thread 100 waits in futex(2) twice, and so on. */
static void begin(void)
{
	list = (struct span_list){ .count = 0 };
	assert_int_equal(span_list_add(&list, SPAN_COLLECTION), 0);
	assert_int_equal(span_list_add(&list, SPAN_SWITCH), 0);
	sample_begin(&sample, 2);
	sample.trace.spans = &list;
	sample.processes[0].library = sample.processes[1].library = NULL;
	off(0, 100, SYS_futex, 1000000, 3000000);
	off(0, 100, SWITCH_READY, 3000000, 3100000);
	off(0, 100, SYS_futex, 4000000, 5000000);
	off(0, 101, SYS_read, 1000000, 6000000);
	off(1, 200, SWITCH_PREEMPTED, 1000000, 1500000);
	off(1, 200, 3999, 2000000, 2200000);
	sample.processes[0].spans[1] = (struct span_watch){
		.state = SPAN_SET,
		.counts = { .begun = 9,
			    .ended = 8,
			    .short_ones = 2,
			    .short_ns = 700,
			    .over_limit = 5,
			    .over_ns = 9000 },
	};
	sample_end(&sample, 10000000, &analysis);
}

static void check_thread(const struct detail_thread *thread, uint32_t process, uint32_t number,
			 uint64_t count, uint64_t ns)
{
	assert_int_equal(thread->process, process);
	assert_int_equal(thread->thread, number);
	assert_int_equal(thread->sums.count, count);
	assert_int_equal(thread->sums.ns, ns);
}

static void test_sums(void **state)
{
	const struct detail_analysis *switches = &analysis.switches;

	(void)state;
	begin();
	assert_int_equal(switches->span, 1);
	assert_int_equal(switches->sums.ns, 8800000);
	assert_int_equal(switches->reason_count, 5);
	assert_int_equal(switches->reasons[0].detail, SYS_read);
	assert_int_equal(switches->reasons[1].detail, SYS_futex);
	assert_int_equal(switches->reasons[1].sums.count, 2);
	assert_int_equal(switches->reasons[1].sums.ns, 3000000);
	assert_int_equal(switches->reasons[1].sums.longest_ns, 2000000);
	assert_int_equal(switches->thread_count, 3);
	check_thread(&switches->threads[0], 0, 101, 1, 5000000);
	check_thread(&switches->threads[1], 0, 100, 3, 3100000);
	check_thread(&switches->threads[2], 1, 200, 2, 700000);
	assert_int_equal(switches->part_count, 5);
	check_thread(&switches->parts[1], 0, 100, 2, 3000000);
	sample_free(&sample, &analysis);
}

/* Thread 100 takes two minor faults and a major one. */
static void begin_faults(void)
{
	list = (struct span_list){ .count = 0 };
	assert_int_equal(span_list_add(&list, SPAN_COLLECTION), 0);
	assert_int_equal(span_list_add(&list, SPAN_FAULT), 0);
	sample_begin(&sample, 1);
	sample.trace.spans = &list;
	sample.processes[0].library = NULL;
	off(0, 100, FAULT_MINOR, 1000000, 1002000);
	off(0, 100, FAULT_MAJOR, 3000000, 3500000);
	off(0, 100, FAULT_MINOR, 4000000, 4001000);
	sample.processes[0].spans[1] = (struct span_watch){
		.state = SPAN_SET,
		.counts = { .begun = 9, .ended = 9, .over_limit = 6, .over_ns = 9000 },
	};
	sample_end(&sample, 10000000, &analysis);
}

static char *written(int (*write)(const struct trace_analysis *, FILE *))
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	assert_non_null(file);
	assert_int_equal(write(&analysis, file), 0);
	fclose(file);
	return text;
}

static int write_text(const struct trace_analysis *said, FILE *file)
{
	const struct writer_options options = { .columns = 140 };

	return trace_text_write(said, &options, file);
}

static void check_words(int (*write)(const struct trace_analysis *, FILE *),
			const char *const *words)
{
	char *text = written(write);

	for (; *words; words++)
		if (!strstr(text, *words))
			fail_msg("no '%s' in %s", *words, text);
	free(text);
}

static void test_formats(void **state)
{
	(void)state;
	begin();
	check_words(write_text,
		    (const char *const[]){
			    "OFF THE PROCESSOR  8.80 ms of all threads", "waiting in futex",
			    "waiting in system call 3999",
			    "thread 100 of pid 100: 3.10 ms off, 3 times: waiting in futex "
			    "3.00 ms, waiting for a processor 100 us",
			    "and 2 times less than 10.0 us",
			    "and 5 times beyond the limit of 10000 a second",
			    "and 1 that were not seen to end", NULL });
	check_words(trace_chrome_write,
		    (const char *const[]){ "\"cat\":\"sched\",\"name\":\"waiting in futex\"",
					   "\"preempted\"", NULL });
	check_words(trace_prv_write, (const char *const[]){ ":62000003:206\n", ":62000003:2\n",
							    ":62000003:0\n", NULL });
	check_words(trace_pcf_write,
		    (const char *const[]){ "62000003    Off the processor",
					   "\n206   waiting in futex\n", "\n2   preempted\n",
					   "\n1   waiting for a processor\n", NULL });
	sample_free(&sample, &analysis);
}

static void test_json(void **state)
{
	json_t *said, *off_processor, *row;
	char *text;

	(void)state;
	begin();
	text = written(trace_json_write);
	said = json_loads(text, 0, NULL);
	off_processor = json_object_get(said, "off_processor");
	row = json_array_get(json_object_get(off_processor, "threads"), 1);
	assert_string_equal(json_string_value(json_object_get(row, "system_call")), "futex");
	assert_int_equal(json_integer_value(json_object_get(row, "thread")), 100);
	assert_int_equal(json_integer_value(json_object_get(row, "ns")), 3000000);
	assert_int_equal(json_array_size(json_object_get(off_processor, "reasons")), 5);
	json_decref(said);
	free(text);
	sample_free(&sample, &analysis);
}

static void test_faults(void **state)
{
	json_t *said, *faults, *row;
	char *text;

	(void)state;
	begin_faults();
	assert_int_equal(analysis.switches.span, -1);
	assert_int_equal(analysis.faults.reason_count, 2);
	check_words(write_text,
		    (const char *const[]){
			    "PAGE FAULTS  503 us of all threads", "major page fault",
			    "thread 100 of pid 100: 503 us, 3 times: major page fault 500 us, "
			    "minor page fault 3.00 us",
			    "and 6 times beyond the limit of 10000 a second", NULL });
	check_words(trace_chrome_write,
		    (const char *const[]){ "\"cat\":\"faults\",\"name\":\"major page fault\"",
					   "\"minor page fault\"", NULL });
	check_words(trace_prv_write,
		    (const char *const[]){ ":62000004:1\n", ":62000004:2\n", NULL });
	check_words(trace_pcf_write, (const char *const[]){ "62000004    Page fault",
							    "\n2   major page fault\n", NULL });
	text = written(trace_json_write);
	said = json_loads(text, 0, NULL);
	assert_true(json_is_null(json_object_get(said, "off_processor")));
	faults = json_object_get(said, "page_faults");
	assert_int_equal(json_integer_value(json_object_get(faults, "ns")), 503000);
	row = json_array_get(json_object_get(faults, "reasons"), 0);
	assert_string_equal(json_string_value(json_object_get(row, "what")), "major page fault");
	assert_null(json_object_get(row, "system_call"));
	json_decref(said);
	free(text);
	sample_free(&sample, &analysis);
}

static void test_words(void **state)
{
	char words[SPAN_NAME_BYTES];

	(void)state;
	span_detail_words(SPAN_SWITCH, SYS_epoll_wait, words);
	assert_string_equal(words, "waiting in epoll_wait");
	span_detail_words(SPAN_SWITCH, 449, words);
	assert_string_equal(words, "waiting in futex_waitv");
	span_detail_words(SPAN_SWITCH, 400, words);
	assert_string_equal(words, "waiting in system call 400");
	span_detail_words(SPAN_SWITCH, SWITCH_WAITING, words);
	assert_string_equal(words, "waiting");
	assert_int_equal(span_list_find(&(struct span_list){ .count = 0 }, SPAN_SWITCH), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sums),  cmocka_unit_test(test_formats),
		cmocka_unit_test(test_json),  cmocka_unit_test(test_faults),
		cmocka_unit_test(test_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
