/* SPDX-License-Identifier: Apache-2.0 */
/* Counters of threads over time: what becomes an event, sums, and what every format makes of them.
 */
#include "daemon/trace/counter_watch.h"

#include "common/clock.h"
#include "daemon/trace/counter_analysis.h"
#include "daemon/trace/trace_writer.h"
#include "tests/must.h"

#include <jansson.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/trace_sample.h"

static struct trace_sample sample;
static struct trace_analysis analysis;
static struct span_list list;

/* ---- watching ---- */

static uint64_t own_ns, other_ns, events, last_end_ns;
static bool in_order;

static void take(void *context, const struct trace_event *event)
{
	(void)context;
	must(event->kind == TRACE_COUNTER && event->function == COUNTER_CPU);
	if (event->thread == (uint32_t)gettid()) {
		in_order &= event->begin_ns >= last_end_ns && event->end_ns >= event->begin_ns;
		last_end_ns = event->end_ns;
		own_ns += event->bytes;
	} else {
		other_ns += event->bytes;
	}
	events++;
}

static const struct counter_taker taker = { take, NULL };

static void *burn(void *argument)
{
	uint64_t until_ns = clock_thread_cpu_ns() + 2 * NS_PER_MS;

	(void)argument;
	while (clock_thread_cpu_ns() < until_ns)
		;
	return NULL;
}

static void test_watch(void **state)
{
	struct counter_watch watch;
	uint64_t cpu_ns, until_ns;
	pthread_t thread;
	struct error error;

	(void)state;
	if (counter_set_check(1u << COUNTER_CPU, &error))
		skip();
	counter_watch_init(&watch, 1u << COUNTER_CPU);
	in_order = true;
	counter_watch_look(&watch, getpid(), clock_now_ns(), &taker);
	cpu_ns = clock_thread_cpu_ns();
	assert_int_equal(watch.thread_count, 1);
	/* Not before it is time again. */
	counter_watch_look(&watch, getpid(), watch.next_ns - 1, &taker);
	assert_int_equal(events, 0);
	must(!pthread_create(&thread, NULL, burn, NULL));
	until_ns = clock_now_ns() + 4 * NS_PER_SECOND;
	while (watch.thread_count < 2 && clock_now_ns() < until_ns) {
		watch.next_ns = 0;
		counter_watch_look(&watch, getpid(), clock_now_ns(), &taker);
	}
	must(!pthread_join(thread, NULL));
	watch.next_ns = 0;
	counter_watch_look(&watch, getpid(), clock_now_ns(), &taker);
	assert_int_equal(watch.thread_count, 1);
	counter_watch_end(&watch, &taker);
	cpu_ns = clock_thread_cpu_ns() - cpu_ns;
	/* Between its last look and ours there is little. */
	assert_true(own_ns > 0 && in_order);
	assert_true(own_ns <= 2 * cpu_ns + NS_PER_MS);
	/* It may have been over before it was seen. */
	assert_true(other_ns <= 20 * NS_PER_MS);
	assert_int_equal(watch.thread_count, 0);
	counter_watch_deinit(&watch);
}

static void test_nothing_asked(void **state)
{
	struct counter_watch watch;

	(void)state;
	counter_watch_init(&watch, 0);
	counter_watch_look(&watch, getpid(), clock_now_ns(), &taker);
	assert_int_equal(watch.thread_count, 0);
	counter_watch_deinit(&watch);
}

/* ---- what is said ---- */

static void count(size_t process, uint32_t thread, enum counter_kind kind, uint64_t begin_ns,
		  uint64_t end_ns, uint64_t more)
{
	const struct trace_event event = { .kind = TRACE_COUNTER,
					   .thread = thread,
					   .function = (uint16_t)kind,
					   .begin_ns = begin_ns,
					   .end_ns = end_ns,
					   .bytes = more,
					   .peer = -1,
					   .tag = -1 };

	trace_file_add(&sample.processes[process].file, &event);
}

static void begin(void)
{
	list = (struct span_list){ .counters = 1u << COUNTER_CPU | 1u << COUNTER_FAULTS |
					       1u << COUNTER_INSTRUCTIONS |
					       1u << COUNTER_MIGRATIONS };
	sample_begin(&sample, 2);
	sample.trace.spans = &list;
	sample.processes[0].library = sample.processes[1].library = NULL;
	count(0, 100, COUNTER_CPU, 1000000, 2000000, 900000);
	count(0, 100, COUNTER_CPU, 2000000, 3000000, 0);
	count(0, 101, COUNTER_CPU, 1000000, 3000000, 1500000);
	count(0, 100, COUNTER_FAULTS, 1000000, 2000000, 7);
	count(1, 200, COUNTER_INSTRUCTIONS, 1000000, 2000000, 12345678);
	sample.processes[1].counters.threads_left_out = 3;
	sample_end(&sample, 10000000, &analysis);
}

static void test_sums(void **state)
{
	const struct counter_analysis *counters = &analysis.counters;

	(void)state;
	begin();
	assert_int_equal(counters->count, 4);
	assert_int_equal(counters->sums[COUNTER_CPU], 2400000);
	assert_int_equal(counters->rows[0].thread, 101);
	assert_int_equal(counters->rows[1].sum, 900000);
	assert_int_equal(counters->rows[1].events, 2);
	assert_int_equal(counters->threads_left_out, 3);
	sample_free(&sample, &analysis);
}

static char *written(int (*write)(const struct trace_analysis *, FILE *), size_t *ret_size)
{
	char *text = NULL;
	FILE *file = open_memstream(&text, ret_size);

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
	size_t size;
	char *text = written(write, &size);

	for (; *words; words++)
		if (!memmem(text, size, *words, strlen(*words)))
			fail_msg("no '%s' in %s", *words, text);
	free(text);
}

static void test_formats(void **state)
{
	(void)state;
	begin();
	check_words(write_text, (const char *const[]){
					"Traced by counters of the kernel: nothing was written",
					"COUNTERS  of all threads, in 10.0 ms",
					"  cpu                         2.40 ms           240 ms\n",
					"1.50 ms           150 ms  thread 101 of pid 100",
					"  page-faults                       7              700\n",
					"  cpu-migrations                    0              0.0\n",
					"and at a time 3 threads without counters", NULL });
	check_words(trace_chrome_write,
		    (const char *const[]){ "\"name\":\"cpu of thread 100\"",
					   "\"args\":{\"cpu\":900000}", "\"args\":{\"cpu\":0}",
					   "\"args\":{\"page-faults\":7}", NULL });
	check_words(trace_prv_write, (const char *const[]){ ":62000010:900000\n", ":62000013:7\n",
							    ":42000050:12345678\n", NULL });
	check_words(trace_pcf_write,
		    (const char *const[]){ "7    62000010    cpu\n",
					   "7    42000050    instructions\n",
					   "7    62000012    cpu-migrations\n", NULL });
	check_words(trace_perfetto_write,
		    (const char *const[]){ "page-faults", "instructions", NULL });
	sample_free(&sample, &analysis);
}

static void test_json(void **state)
{
	json_t *said, *counters, *row;
	size_t size;
	char *text;

	(void)state;
	begin();
	text = written(trace_json_write, &size);
	said = json_loads(text, 0, NULL);
	assert_string_equal(json_string_value(json_object_get(said, "method")), "counters");
	counters = json_object_get(said, "counters");
	assert_int_equal(json_integer_value(json_object_get(counters, "threads_left_out")), 3);
	counters = json_object_get(counters, "counters");
	assert_int_equal(json_array_size(counters), 4);
	row = json_array_get(counters, 0);
	assert_string_equal(json_string_value(json_object_get(row, "name")), "cpu");
	assert_string_equal(json_string_value(json_object_get(row, "unit")), "ns");
	row = json_array_get(json_object_get(row, "threads"), 0);
	assert_int_equal(json_integer_value(json_object_get(row, "sum")), 1500000);
	json_decref(said);
	free(text);
	sample_free(&sample, &analysis);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_watch), cmocka_unit_test(test_nothing_asked),
		cmocka_unit_test(test_sums),  cmocka_unit_test(test_formats),
		cmocka_unit_test(test_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
