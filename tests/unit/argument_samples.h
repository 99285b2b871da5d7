/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples made by hand, of call sites in code that real interpreters have
 * compiled, and the rule's verdicts on them. Numbers are far from the rule's
 * bounds, but for where a test is about one.
 */
#ifndef PIEPROFD_TESTS_UNIT_ARGUMENT_SAMPLES_H
#define PIEPROFD_TESTS_UNIT_ARGUMENT_SAMPLES_H

#include "compiled_python.h"
#include "daemon/detect/argument_rule.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define MANY 40
#define MS   1000000ull

static const char program[] =
	/*  1 */ "def loop(f, m, out, n):\n"
		 /*  2 */ "    s = 0\n"
		 /*  3 */ "    for i in range(n):\n"
		 /*  4 */ "        a = f(m)\n"
		 /*  5 */ "        f(m)\n"
		 /*  6 */ "        b = f(m)\n"
		 /*  7 */ "        b[i] = 1\n"
		 /*  8 */ "        c = f(out)\n"
		 /*  9 */ "        out[i] = a\n"
		 /* 10 */ "        e = m[i]\n"
		 /* 11 */ "        s += f(m[i])\n"
		 /* 12 */ "        g = f(m[i], n)\n"
		 /* 13 */ "    return s, c, e, g\n"
		 /* 14 */ "def once(f, m):\n"
		 /* 15 */ "    a = f(m)\n"
		 /* 16 */ "    return a\n"
		 /* 17 */ "def eat(m, n):\n"
		 /* 18 */ "    for i in range(n):\n"
		 /* 19 */ "        m = m[n]\n"
		 /* 20 */ "        e = m[n]\n"
		 /* 21 */ "    return e\n"
		 /* 22 */ "def join(f, m, n):\n"
		 /* 23 */ "    for i in range(n):\n"
		 /* 24 */ "        m = f(m)\n"
		 /* 25 */ "    return m\n"
		 /* 26 */ "def nested(f, m, n):\n"
		 /* 27 */ "    i = 0\n"
		 /* 28 */ "    while i < n:\n"
		 /* 29 */ "        i += 1\n"
		 /* 30 */ "        for k in m:\n"
		 /* 31 */ "            f(k)\n"
		 /* 32 */ "        f(m)\n"
		 /* 33 */ "    return m\n"
		 /* 34 */ "def only(f, m):\n"
		 /* 35 */ "    m = f(m)\n"
		 /* 36 */ "    m = f(m)\n"
		 /* 37 */ "    return m\n"
		 /* 38 */ "def ends(f, m):\n"
		 /* 39 */ "    a = f(m)[0]\n"
		 /* 40 */ "    b = f(m)[-1]\n"
		 /* 41 */ "    return a, b, f(m)\n"
		 /* 42 */ "def digest(f, g, m):\n"
		 /* 43 */ "    return f(g(m))\n"
		 /* 44 */ "def grow(m, n):\n"
		 /* 45 */ "    for i in range(n):\n"
		 /* 46 */ "        m = [*m, i]\n"
		 /* 47 */ "    return m\n"
		 /* 48 */ "def twice(f, m, n):\n"
		 /* 49 */ "    for k in m:\n"
		 /* 50 */ "        a = f(k)\n"
		 /* 51 */ "        b = n(f(k))\n"
		 /* 52 */ "    return a, b\n";

struct fixture {
	const struct live_python *python;
	const struct compiled_python *compiled;
	struct argument_log log;
	struct call_site_table table;
	struct cct *cct; /* NULL: samples have no stacks */
	struct argument_findings findings;
	uint64_t now_ns;
};

static const struct live_python *interpreter;
static struct compiled_python compiled;

/* Compiles with the next interpreter, one of each version: what differs is the bytecode. */
static inline bool next_interpreter(void)
{
	static size_t next;
	static int done;
	const struct live_pythons *pythons = live_pythons();

	if (!pythons->count)
		print_message("skipped: no CPython 3.6 to 3.15 found\n");
	if (interpreter)
		compiled_python_free(&compiled);
	while (next < pythons->count && done & 1 << pythons->items[next].minor)
		next++;
	if (next == pythons->count)
		return false;
	interpreter = &pythons->items[next];
	done |= 1 << interpreter->minor;
	compiled = compiled_python(interpreter, program);
	return true;
}

/* Runs an array of tests on an interpreter of each version; the program's status. */
#define run_on_interpreters(tests)                                                                 \
	({                                                                                         \
		int failed = 0;                                                                    \
                                                                                                   \
		while (next_interpreter())                                                         \
			failed += cmocka_run_group_tests(tests, NULL, NULL);                       \
		failed != 0;                                                                       \
	})

static inline int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	if (!fixture)
		return -1;
	fixture->python = interpreter;
	fixture->compiled = &compiled;
	argument_log_init(&fixture->log);
	call_site_table_init(&fixture->table);
	*state = fixture;
	return 0;
}

static inline int tear_down(void **state)
{
	struct fixture *fixture = *state;

	argument_findings_deinit(&fixture->findings);
	call_site_table_deinit(&fixture->table);
	cct_destroy(fixture->cct);
	argument_log_deinit(&fixture->log);
	free(fixture);
	return 0;
}

/* ---- sites */

static inline struct argument_site *site_of(struct fixture *fixture, uint32_t id)
{
	return &fixture->log.sites[id];
}

static inline uint32_t site_at(struct fixture *fixture, const char *function, int line,
			       const char *instruction)
{
	const struct compiled_code *code = compiled_function(fixture->compiled, function);
	int offset = compiled_offset(code, line, instruction, 0);
	struct argument_site *site;
	uint32_t id;

	assert_true(offset >= 0);
	site = argument_log_site(&fixture->log, &code->code, offset, &id);
	assert_non_null(site);
	return id;
}

/* f(x) with one operand, a list that was compared as a whole. */
static inline uint32_t call_at(struct fixture *fixture, const char *function, int line)
{
	uint32_t id =
		site_at(fixture, function, line, fixture->python->minor == 11 ? "PRECALL" : "CALL");
	struct argument_site *site = site_of(fixture, id);

	site->kind = OPERATION_CALL;
	site->operand_count = 2;
	site->operands[0] = (struct argument_operand){ .role = OPERAND_CALLABLE,
						       .kind = CONTENT_CALLABLE,
						       .whole = true,
						       .callable = true,
						       .hashable = true,
						       .shape = "function" };
	site->operands[1] = (struct argument_operand){
		.kind = CONTENT_LIST, .whole = true, .size = 9, .shape = "list(9)"
	};
	return id;
}

/* m[i] */
static inline uint32_t subscript_at(struct fixture *fixture, int line, const char *container_shape,
				    enum content_kind index_kind)
{
	uint32_t id = site_at(fixture, line < 17 ? "loop" : "eat", line,
			      fixture->python->minor >= 14 ? "BINARY_OP" : "BINARY_SUBSCR");
	struct argument_site *site = site_of(fixture, id);

	site->kind = OPERATION_SUBSCRIPT;
	site->operand_count = 2;
	site->operands[0] = (struct argument_operand){ .role = OPERAND_CONTAINER,
						       .kind = CONTENT_ARRAY,
						       .whole = true };
	snprintf(site->operands[0].shape, sizeof(site->operands[0].shape), "%s", container_shape);
	site->operands[1] = (struct argument_operand){
		.role = OPERAND_INDEX, .kind = (uint8_t)index_kind, .whole = true, .size = 2
	};
	return id;
}

/* ---- samples */

static inline struct argument_frame frame(uint32_t site, uint64_t contents, uint32_t round)
{
	return (struct argument_frame){ .site = site,
					.flags = ARGUMENT_JUDGED | ARGUMENT_DATA,
					.loop_count = 1,
					.operand_count = 2,
					.largest = 9,
					.contents = contents,
					.rounds = { round },
					.remaining = { ITERATOR_UNKNOWN } };
}

static inline void add_frames(struct fixture *fixture, const struct argument_frame *frames,
			      size_t count)
{
	struct argument_sample sample = { .event_ns = fixture->now_ns += 10 * MS,
					  .time_ns = 10 * MS,
					  .frame_count = (uint8_t)count };

	assert_true(count <= ARGUMENT_FRAMES_MAX);
	memcpy(sample.frames, frames, count * sizeof(*frames));
	assert_int_equal(argument_log_add(&fixture->log, &sample), 0);
}

static inline void add(struct fixture *fixture, struct argument_frame only)
{
	add_frames(fixture, &only, 1);
}

static inline void add_two(struct fixture *fixture, struct argument_frame inner,
			   struct argument_frame outer)
{
	add_frames(fixture, (struct argument_frame[]){ inner, outer }, 2);
}

/* The same contents in MANY rounds. */
static inline void add_same(struct fixture *fixture, uint32_t site)
{
	for (uint32_t i = 0; i < MANY; i++)
		add(fixture, frame(site, 7, i));
}

/* Other contents in each of so many rounds. */
static inline void add_others(struct fixture *fixture, uint32_t site, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		add(fixture, frame(site, 100 + i, i));
}

static inline void judge(struct fixture *fixture)
{
	argument_findings_deinit(&fixture->findings);
	assert_int_equal(argument_findings_make(&fixture->findings, &fixture->log, fixture->cct,
						&fixture->table),
			 0);
}

/* How many samples got this verdict for this site. */
static inline unsigned votes(const struct fixture *fixture, enum argument_verdict verdict,
			     uint32_t site)
{
	unsigned count = 0;

	for (size_t i = 0; i < fixture->log.sample_count; i++)
		count += fixture->findings.votes[i].verdict == verdict &&
			 fixture->findings.votes[i].site == site;
	return count;
}

/* All samples have this verdict for this site. */
static inline void all_are(struct fixture *fixture, enum argument_verdict verdict, uint32_t site)
{
	judge(fixture);
	if (votes(fixture, verdict, site) != fixture->log.sample_count)
		fail_msg("3.%d: verdict %d, expected %d", fixture->python->minor,
			 fixture->findings.votes[0].verdict, verdict);
}

static inline void forget_samples(struct fixture *fixture)
{
	fixture->log.sample_count = 0;
}

#endif
