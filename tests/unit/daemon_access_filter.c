/* SPDX-License-Identifier: Apache-2.0 */
/* Whose accesses count: collector, allocator, the user's patterns. */
#include "daemon/report/model/access_filter.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

struct step {
	enum frame_kind kind;
	const char *function;
	const char *file;
	uint32_t flags;
};

static enum loss reason_of(const struct step *steps, size_t count,
			   const struct access_patterns *patterns)
{
	struct access_filter filter = { 0 };

	for (size_t i = 0; i < count; i++) {
		struct frame frame = { .kind = steps[i].kind, .flags = steps[i].flags };
		struct place place = { .kind = steps[i].kind,
				       .function = steps[i].function,
				       .file = steps[i].file };

		filter = access_filter_step(filter, &frame, &place, patterns);
	}
	return access_filter_reason(filter, patterns);
}

#define REASON(patterns, ...)                                                                      \
	reason_of((const struct step[]){ __VA_ARGS__ },                                            \
		  sizeof((const struct step[]){ __VA_ARGS__ }) / sizeof(struct step), patterns)
#define LINE                                                                                       \
	{                                                                                          \
		FRAME_PYTHON, "work", "/srv/app.py", 0                                             \
	}
#define ADD                                                                                        \
	{                                                                                          \
		FRAME_NATIVE, "DOUBLE_add", "/usr/lib/umath.so", 0                                 \
	}

static void test_own_work(void **state)
{
	(void)state;
	assert_int_equal(REASON(NULL, LINE, ADD), LOSS_COUNT);
	assert_int_equal(REASON(NULL, LINE, ADD, { FRAME_NATIVE, "malloc", "/lib/libc.so.6", 0 },
				{ FRAME_NATIVE, "?", "/lib/libc.so.6", 0 }),
			 LOSS_FILTER_ALLOCATOR);
	assert_int_equal(REASON(NULL, LINE, { FRAME_NATIVE, "je_calloc", "/lib/jemalloc.so", 0 }),
			 LOSS_FILTER_ALLOCATOR);
	assert_int_equal(REASON(NULL, LINE, { FRAME_NATIVE, "gc_collect_main", "/bin/python", 0 },
				{ FRAME_NATIVE, "visit", "/usr/lib/umath.so", 0 }),
			 LOSS_FILTER_COLLECTOR);
	/* Python code that the collector runs is code like any other. */
	assert_int_equal(REASON(NULL, LINE, { FRAME_NATIVE, "gc_collect_main", "/bin/python", 0 },
				{ FRAME_NATIVE, "eval", "/bin/python", FRAME_EVAL }, LINE, ADD),
			 LOSS_COUNT);
	assert_int_equal(REASON(NULL, LINE, { FRAME_NATIVE, "mallocate", "/usr/lib/x.so", 0 }),
			 LOSS_COUNT);
}

static void test_patterns(void **state)
{
	struct access_patterns exclude = { .exclude = { "*_add" }, .exclude_count = 1 };
	struct access_patterns include = { .include = { "umath.so" }, .include_count = 1 };
	struct access_patterns python = { .include = { "/srv/*" }, .include_count = 1 };
	struct access_patterns both = { .include = { "umath*" },
					.include_count = 1,
					.exclude = { "work" },
					.exclude_count = 1 };

	(void)state;
	assert_int_equal(REASON(&exclude, LINE, ADD), LOSS_FILTER_USER);
	assert_int_equal(REASON(&exclude, LINE, { FRAME_NATIVE, "add_", "/usr/lib/umath.so", 0 }),
			 LOSS_COUNT);
	assert_int_equal(REASON(&include, LINE, ADD), LOSS_COUNT);
	assert_int_equal(REASON(&include, LINE, { FRAME_NATIVE, "x", "/usr/lib/other.so", 0 }),
			 LOSS_FILTER_USER);
	assert_int_equal(REASON(&python, LINE, ADD), LOSS_COUNT);
	assert_int_equal(REASON(&both, LINE, ADD), LOSS_FILTER_USER);
	/* Only the innermost Python frame and what it called: the callers are others. */
	assert_int_equal(REASON(&exclude, LINE, ADD,
				{ FRAME_NATIVE, "eval", "/bin/python", FRAME_EVAL }, LINE,
				{ FRAME_NATIVE, "sub", "/usr/lib/umath.so", 0 }),
			 LOSS_COUNT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own_work),
		cmocka_unit_test(test_patterns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
