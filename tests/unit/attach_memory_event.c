/* SPDX-License-Identifier: Apache-2.0 */
/* Trees as sysfs has them on processors with a PMU, written out from the kernel's formats. */
#include "attach/memory_event.h"

#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[64];

static void put(const char *path, const char *text)
{
	char whole[256];
	FILE *file;

	snprintf(whole, sizeof(whole), "%s/%s", folder, path);
	for (char *slash = whole + strlen(folder) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		(void)mkdir(whole, 0755);
		*slash = '/';
	}
	file = fopen(whole, "w");
	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

static int begin(void **state)
{
	(void)state;
	snprintf(folder, sizeof(folder), "/tmp/pieprofd-devices-XXXXXX");
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *walk)
{
	(void)status;
	(void)type;
	(void)walk;
	return remove(path);
}

static int end(void **state)
{
	(void)state;
	return nftw(folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

static void put_intel(const char *device, const char *type)
{
	static const char *const files[][2] = {
		{ "format/event", "config:0-7\n" },
		{ "format/umask", "config:8-15\n" },
		{ "format/ldlat", "config1:0-15\n" },
		{ "events/cpu-cycles", "event=0x3c\n" },
		{ "events/mem-loads", "event=0xcd,umask=0x1,ldlat=3\n" },
		{ "events/mem-stores", "event=0xd0,umask=0x82\n" },
	};
	char path[128];

	snprintf(path, sizeof(path), "%s/type", device);
	put(path, type);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", device, files[i][0]);
		put(path, files[i][1]);
	}
}

static void test_nothing(void **state)
{
	struct memory_event events[MEMORY_EVENTS_MAX];

	(void)state;
	assert_int_equal(memory_event_find("/nonexistent", ACCESS_LOAD, events), 0);
	put("software/type", "1\n");
	assert_int_equal(memory_event_find(folder, ACCESS_LOAD | ACCESS_STORE, events), 0);
}

static void test_intel(void **state)
{
	struct memory_event events[MEMORY_EVENTS_MAX];

	(void)state;
	put_intel("cpu", "4\n");
	assert_int_equal(memory_event_find(folder, ACCESS_LOAD | ACCESS_STORE, events), 2);
	assert_string_equal(events[0].name, "cpu/mem-loads");
	assert_int_equal(events[0].type, 4);
	assert_int_equal(events[0].config[0], 0x1cd);
	assert_int_equal(events[0].config[1], 3);
	assert_int_equal(events[0].kinds, ACCESS_LOAD);
	assert_string_equal(events[1].name, "cpu/mem-stores");
	assert_int_equal(events[1].config[0], 0x82d0);
	assert_int_equal(events[1].config[1], 0);
	assert_int_equal(events[1].kinds, ACCESS_STORE);
	assert_int_equal(memory_event_find(folder, ACCESS_STORE, events), 1);
	assert_string_equal(events[0].name, "cpu/mem-stores");
}

/* Where mem-loads needs a leader, all loads are counted by the event that needs none. */
static void test_intel_with_leader(void **state)
{
	struct memory_event events[MEMORY_EVENTS_MAX];

	(void)state;
	put_intel("cpu", "4\n");
	put("cpu/events/mem-loads-aux", "event=0x03,umask=0x82\n");
	assert_int_equal(memory_event_find(folder, ACCESS_LOAD, events), 1);
	assert_string_equal(events[0].name, "cpu/all-loads");
	assert_int_equal(events[0].config[0], 0x81d0);
	put("cpu/events/mem-stores", "event=0x11,umask=0x82\n");
	assert_int_equal(memory_event_find(folder, ACCESS_LOAD, events), 0);
}

static void test_two_kinds_of_cores(void **state)
{
	struct memory_event events[MEMORY_EVENTS_MAX];

	(void)state;
	put_intel("cpu_core", "4\n");
	put_intel("cpu_atom", "10\n");
	assert_int_equal(memory_event_find(folder, ACCESS_LOAD | ACCESS_STORE, events), 4);
	assert_string_equal(events[0].name, "cpu_atom/mem-loads");
	assert_int_equal(events[0].type, 10);
	assert_string_equal(events[3].name, "cpu_core/mem-stores");
}

static void test_amd(void **state)
{
	struct memory_event events[MEMORY_EVENTS_MAX];
	union perf_mem_data_src source = { .mem_op = PERF_MEM_OP_STORE };

	(void)state;
	put("ibs_op/type", "9\n");
	put("ibs_op/format/cnt_ctl", "config:19\n");
	/* Without the filter it would sample the kernel too. */
	assert_int_equal(memory_event_find(folder, ACCESS_LOAD, events), 0);
	put("ibs_op/format/swfilt", "config2:0\n");
	assert_int_equal(memory_event_find(folder, ACCESS_LOAD, events), 1);
	assert_string_equal(events[0].name, "ibs_op");
	assert_int_equal(events[0].type, 9);
	assert_int_equal(events[0].config[0], 1u << 19);
	assert_int_equal(events[0].config[2], 1);
	assert_int_equal(memory_event_kinds(&events[0], source.val), ACCESS_STORE);
	source.mem_op = PERF_MEM_OP_NA;
	assert_int_equal(memory_event_kinds(&events[0], source.val), 0);
}

static void test_what_is_not_understood(void **state)
{
	static const char *const formats[] = { "config3:0-7\n", "config:7-0\n",  "config:0-64\n",
					       "config:\n",     "config:0-7,\n", "other:0\n",
					       "config:0-3\n",  "config:0-7x\n", "config:-1\n" };
	static const char *const terms[] = { "event=\n",
					     "event=0xcd,\n,",
					     "=3\n",
					     "event=-1\n",
					     "unknown=1\n",
					     "event=0x1cd\n",
					     "event=0xfffffffffffffffff\n" };
	struct memory_event events[MEMORY_EVENTS_MAX];

	(void)state;
	put_intel("cpu", "4\n");
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		put("cpu/format/event", formats[i]);
		assert_int_equal(memory_event_find(folder, ACCESS_LOAD, events), 0);
	}
	put("cpu/format/event", "config:0-7\n");
	for (size_t i = 0; i < sizeof(terms) / sizeof(terms[0]); i++) {
		put("cpu/events/mem-loads", terms[i]);
		assert_int_equal(memory_event_find(folder, ACCESS_LOAD, events), i == 1);
	}
	put("cpu/events/mem-loads", "event=0xcd\n");
	put("cpu/type", "four\n");
	assert_int_equal(memory_event_find(folder, ACCESS_LOAD, events), 0);
}

/* A value that is spread over several ranges of bits. */
static void test_spread(void **state)
{
	struct memory_event events[MEMORY_EVENTS_MAX];

	(void)state;
	put_intel("cpu", "4\n");
	put("cpu/format/event", "config:0-7,32-35\n");
	put("cpu/events/mem-loads", "event=0xfcd\n");
	assert_int_equal(memory_event_find(folder, ACCESS_LOAD, events), 1);
	assert_int_equal(events[0].config[0], 0xf000000cd);
}

static void test_precision(void **state)
{
	struct memory_event event = { .type = 4, .config = { 1, 2, 3 }, .kinds = ACCESS_LOAD };
	struct perf_event_attr attributes = { .sample_type = PERF_SAMPLE_IP };

	(void)state;
	memory_event_attributes(&event, 0, &attributes);
	assert_int_equal(attributes.precise_ip, 3);
	assert_int_equal(attributes.config2, 3);
	assert_true(attributes.sample_type & PERF_SAMPLE_ADDR);
	assert_true(attributes.sample_type & PERF_SAMPLE_IP);
	memory_event_attributes(&event, 3, &attributes);
	assert_int_equal(attributes.precise_ip, 0);
	assert_int_equal(memory_event_kinds(&event, 0), ACCESS_LOAD);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_nothing, begin, end),
		cmocka_unit_test_setup_teardown(test_intel, begin, end),
		cmocka_unit_test_setup_teardown(test_intel_with_leader, begin, end),
		cmocka_unit_test_setup_teardown(test_two_kinds_of_cores, begin, end),
		cmocka_unit_test_setup_teardown(test_amd, begin, end),
		cmocka_unit_test_setup_teardown(test_what_is_not_understood, begin, end),
		cmocka_unit_test_setup_teardown(test_spread, begin, end),
		cmocka_unit_test(test_precision),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
