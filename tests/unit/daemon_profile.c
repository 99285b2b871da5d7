/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From tree and pairs to the finished profile. The Python code is compiled by
 * a real interpreter; the native functions are this program's own, found
 * through its real map and symbols.
 */
#include "compiled_python.h"
#include "daemon/report/model/profile_build.h"
#include "symbolize_self.h"
#include "unit_random.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define MS    1000000ull
#define PAIRS 4096 /* as in docs/SECURITY.md */

static const char program[] =
	/* 1 */ "def back(g, d, r, n):\n"
		/* 2 */ "    for f in range(n):\n"
		/* 3 */ "        g[f] += d[f, 1] * r\n"
		/* 4 */ "        g[f] += d[f, 2]\n"
		/* 5 */ "    return g.dot(d)\n"
		/* 6 */ "def again(k):\n"
		/* 7 */ "    return again(k - 1) if k else [back(i) for i in 'ab']\n"
		/* 8 */ "again(3)\n";

/* Stand-ins for a library's functions: only their names and addresses count. */
__attribute__((noinline, used)) static int array_subscript(int x)
{
	__asm__ volatile("");
	return x + 1;
}

__attribute__((noinline, used)) static int vector_kernel(int x)
{
	__asm__ volatile("");
	return x + 2;
}

__attribute__((noinline, used)) static int gc_collect_main(int x)
{
	__asm__ volatile("");
	return x + 3;
}

struct fixture {
	struct compiled_python compiled;
	const struct compiled_code *module, *back, *again;
	struct mapping_list mappings;
	struct mapping_opener opener;
	struct memory_reader reader;
	struct module_table *modules;
	struct symbolizer *symbolizer;
	char source_path[64];
	/* for each test */
	struct cct *cct;
	struct pair_table *pairs;
	struct profile_facts facts;
	struct profile *profile;
};

/* Every path is the program's. */
static int open_source(void *context, const char *path)
{
	const struct fixture *fixture = context;
	int fd;

	if (strstr(path, "/site-packages/"))
		return -ENOENT;
	fd = open(fixture->source_path, O_RDONLY | O_CLOEXEC);
	assert_string_equal(path, "/project/program.py");
	return fd < 0 ? -errno : fd;
}

static int group_set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	int fd;

	if (!fixture || !live_pythons()->count)
		return -1;
	fixture->compiled = compiled_python(&live_pythons()->items[0], program);
	fixture->module = compiled_function(&fixture->compiled, "<module>");
	fixture->back = compiled_function(&fixture->compiled, "back");
	fixture->again = compiled_function(&fixture->compiled, "again");
	self_read_maps(&fixture->mappings);
	fixture->opener.open = self_open;
	fixture->reader.read = self_read;
	fixture->modules = module_table_create(&fixture->opener, &fixture->reader);
	fixture->symbolizer = symbolizer_create();
	if (!fixture->modules || module_table_update(fixture->modules, &fixture->mappings))
		return -1;
	strcpy(fixture->source_path, "/tmp/pieprofd-test-XXXXXX");
	fd = mkstemp(fixture->source_path);
	if (fd < 0 || write(fd, program, sizeof(program) - 1) != sizeof(program) - 1)
		return -1;
	close(fd);
	*state = fixture;
	return 0;
}

static int group_tear_down(void **state)
{
	struct fixture *fixture = *state;

	unlink(fixture->source_path);
	symbolizer_destroy(fixture->symbolizer);
	module_table_destroy(fixture->modules);
	mapping_list_deinit(&fixture->mappings);
	compiled_python_free(&fixture->compiled);
	free(fixture);
	return 0;
}

static int set_up(void **state)
{
	struct fixture *fixture = *state;

	fixture->cct = cct_create(100000);
	fixture->pairs = pair_table_create(100000);
	fixture->profile = NULL;
	fixture->facts = (struct profile_facts){
		.version = "1",
		.sampler = "clock",
		.open_source = open_source,
		.open_source_context = fixture,
	};
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	profile_destroy(fixture->profile);
	pair_table_destroy(fixture->pairs);
	cct_destroy(fixture->cct);
	return 0;
}

static const struct profile *build(struct fixture *fixture)
{
	profile_destroy(fixture->profile);
	fixture->profile =
		profile_build(fixture->cct, fixture->pairs, fixture->symbolizer, &fixture->facts);
	assert_non_null(fixture->profile);
	return fixture->profile;
}

/* ---- stacks ---- */

static struct frame python(const struct compiled_code *code, int line, const char *opcode, size_t n)
{
	struct frame frame = { .kind = FRAME_PYTHON, .python = { .code = &code->code } };

	frame.python.instruction_offset = compiled_offset(code, line, opcode, n);
	assert_true(frame.python.instruction_offset >= 0);
	return frame;
}

static struct frame native(const struct fixture *fixture, int (*function)(int), unsigned offset)
{
	remote_addr address = (uintptr_t)function;

	return (struct frame){ .kind = FRAME_NATIVE,
			       .native = { .module = module_find(fixture->modules, address),
					   .function = address,
					   .pc = address + offset } };
}

#define INSERT(fixture, ...)                                                                       \
	cct_insert((fixture)->cct, (const struct frame[]){ __VA_ARGS__ },                          \
		   sizeof((const struct frame[]){ __VA_ARGS__ }) / sizeof(struct frame))

static struct frame module_frame(const struct fixture *fixture)
{
	return python(fixture->module, 8, "CALL", 0);
}

/* 3.14 made it an operator like the others, and the first two of lines 3 and 4. */
static const char *subscript(const struct fixture *fixture)
{
	return fixture->back->code.minor >= 14 ? "BINARY_OP" : "BINARY_SUBSCR";
}

/* The element access of line 3 or 4, the n-th subscript there. */
static struct cct_node *element(const struct fixture *fixture, int line, size_t n)
{
	return INSERT(fixture, module_frame(fixture),
		      python(fixture->back, line, subscript(fixture), n),
		      native(fixture, array_subscript, 1));
}

static struct cct_node *vectorised(const struct fixture *fixture)
{
	return INSERT(fixture, module_frame(fixture), python(fixture->back, 5, "CALL", 0),
		      native(fixture, vector_kernel, 1));
}

static void add(struct fixture *fixture, enum pair_kind kind, const struct cct_node *first,
		const struct cct_node *second, enum access_verdict verdict, uint64_t left_ns,
		int count)
{
	struct pair_evidence evidence = {
		.call_ns = left_ns, .distance_ns = 1, .memory = MEMORY_HEAP, .bytes = 8
	};

	while (count-- > 0)
		assert_int_equal(
			pair_table_add(fixture->pairs, kind, first, second, verdict, &evidence), 0);
}

static const struct profile_line *line_of(const struct profile *profile, int line)
{
	for (size_t i = 0; i < profile->line_count; i++)
		if (profile->lines[i].line == line)
			return &profile->lines[i];
	return NULL;
}

/* ---- tests ---- */

static void test_empty(void **state)
{
	const struct profile *profile = build(*state);

	assert_int_equal(profile->line_count, 0);
	assert_int_equal(profile->pair_count, 0);
	assert_int_equal(profile->pairs_omitted, 0);
	profile_destroy(NULL);
}

static void test_time_by_line(void **state)
{
	struct fixture *fixture = *state;
	struct cct_node *leaf, *node;
	const struct profile *profile;
	const struct profile_line *line;

	leaf = element(fixture, 3, 0);
	cct_node_charge(leaf, TIME_NATIVE, 1, 30 * MS);
	cct_node_charge(leaf->parent, TIME_PYTHON, 1, 5 * MS);
	cct_node_charge(leaf->parent, TIME_SYSTEM, 1, 1 * MS);
	cct_node_charge(vectorised(fixture), TIME_NATIVE, 1, 50 * MS);
	node = INSERT(fixture, native(fixture, vector_kernel, 0));
	cct_node_charge(node, TIME_NATIVE, 1, 2 * MS); /* no Python at all */
	profile = build(fixture);

	assert_int_equal(profile->time_ns[TIME_NATIVE], 82 * MS);
	assert_int_equal(profile->time_ns[TIME_PYTHON], 5 * MS);
	assert_int_equal(profile->line_count, 4);
	line = &profile->lines[0];
	assert_int_equal(line->line, 8);
	assert_string_equal(line->function, "<module>");
	assert_string_equal(line->source, "again(3)");
	assert_int_equal(line->total_ns, 86 * MS);
	assert_int_equal(line->self_ns[TIME_NATIVE], 0);
	line = &profile->lines[1];
	assert_int_equal(line->line, 5);
	assert_string_equal(line->function, "back");
	assert_int_equal(line->self_ns[TIME_NATIVE], 50 * MS);
	assert_int_equal(line->total_ns, 50 * MS);
	line = &profile->lines[2];
	assert_int_equal(line->line, 3);
	assert_string_equal(line->file, "/project/program.py");
	assert_string_equal(line->source, "g[f] += d[f, 1] * r");
	assert_int_equal(line->self_ns[TIME_NATIVE], 30 * MS);
	assert_int_equal(line->self_ns[TIME_PYTHON], 5 * MS);
	assert_int_equal(line->self_ns[TIME_SYSTEM], 1 * MS);
	assert_int_equal(line->total_ns, 36 * MS);
	/* Nothing was sampled there: nothing is said. */
	assert_int_equal(line->avoidable_ns, 0);
	assert_int_equal(line->reason_count, 0);
	assert_int_equal(line->category, CATEGORY_UNCLEAR);
	/* Without Python on the stack the native function stands for a line. */
	line = &profile->lines[3];
	assert_int_equal(line->line, 0);
	assert_null(line->source);
	assert_int_equal(line->self_ns[TIME_NATIVE], 2 * MS);
	assert_int_equal(line->total_ns, 2 * MS);
}

static void test_recursion_counts_once(void **state)
{
	struct fixture *fixture = *state;
	struct frame call = python(fixture->again, 7, "CALL", 0);
	struct cct_node *deep = INSERT(fixture, module_frame(fixture), call, call, call);
	struct cct_node *shallow = INSERT(fixture, module_frame(fixture), call);
	const struct profile_line *line;

	cct_node_charge(deep, TIME_PYTHON, 1, 10 * MS);
	cct_node_charge(shallow, TIME_PYTHON, 1, 3 * MS);
	line = line_of(build(fixture), 7);
	assert_int_equal(line->self_ns[TIME_PYTHON], 13 * MS);
	assert_int_equal(line->total_ns, 13 * MS);
}

static void test_instruction_without_line_counts_for_the_function(void **state)
{
	struct fixture *fixture = *state;
	struct frame frame = { .kind = FRAME_PYTHON,
			       .python = { .code = &fixture->back->code,
					   .instruction_offset = -2 } };

	cct_node_charge(INSERT(fixture, frame), TIME_PYTHON, 1, MS);
	assert_int_equal(build(fixture)->lines[0].line, 1);
}

static void test_pair(void **state)
{
	struct fixture *fixture = *state;
	const struct cct_node *first = element(fixture, 3, 0), *second = element(fixture, 3, 1);
	const struct profile *profile;
	const struct profile_pair *pair;
	const struct profile_line *line;

	cct_node_charge(element(fixture, 3, 0), TIME_NATIVE, 1, 100 * MS);
	add(fixture, PAIR_LOAD, first, second, VERDICT_REDUNDANT, 300, 15);
	add(fixture, PAIR_LOAD, first, second, VERDICT_NEW, 100, 4);
	add(fixture, PAIR_LOAD, first, second, VERDICT_APPROXIMATE, 300, 1);
	profile = build(fixture);
	assert_int_equal(profile->pair_count, 1);
	pair = &profile->pairs[0];
	assert_int_equal(pair->kind, PAIR_LOAD);
	assert_int_equal(pair->sampled, 20);
	assert_int_equal(pair->redundant, 15);
	assert_int_equal(pair->approximate, 1);
	assert_true(pair->share == 0.75);
	assert_true(pair->share_low > 0.53 && pair->share_low < 0.54);
	assert_true(pair->share_high > 0.88 && pair->share_high < 0.89);
	assert_int_equal(pair->category, CATEGORY_SLICE_UNDERUTILISATION);
	assert_string_equal(pair->advice, category_advice(CATEGORY_SLICE_UNDERUTILISATION));

	assert_int_equal(pair->first_count, 3);
	assert_int_equal(pair->first[0].kind, FRAME_PYTHON);
	assert_string_equal(pair->first[0].function, "<module>");
	assert_int_equal(pair->first[1].line, 3);
	assert_string_equal(pair->first[1].source, "g[f] += d[f, 1] * r");
	assert_string_equal(pair->first[1].opcode, subscript(fixture));
	assert_int_equal(pair->first[2].kind, FRAME_NATIVE);
	assert_string_equal(pair->first[2].function, "array_subscript");
	assert_non_null(strstr(pair->first[2].file, "daemon_profile"));
	assert_int_equal(pair->first[2].address,
			 (uintptr_t)array_subscript + 1 - first->frame.native.module->bias);

	line = pair->line;
	assert_ptr_equal(line, line_of(profile, 3));
	assert_int_equal(line->accesses[PAIR_LOAD].sampled, 20);
	assert_int_equal(line->accesses[PAIR_LOAD].reaccessed, 20);
	assert_int_equal(line->accesses[PAIR_LOAD].redundant, 15);
	assert_int_equal(line->accesses[PAIR_LOAD].approximate, 1);
	assert_int_equal(line->accesses[PAIR_STORE].sampled, 0);
	assert_int_equal(line->call_ns, 100); /* the only line is its own measure */
	assert_int_equal(line->category, CATEGORY_SLICE_UNDERUTILISATION);
	assert_in_range(line->avoidable_ns, 60 * MS, 100 * MS);
	assert_int_equal(pair->avoidable_ns, line->avoidable_ns);
	assert_int_equal(line->reason_count, 5);
	assert_string_equal(
		line->reasons[0],
		"16 of 20 sampled loads found the value unchanged (95% interval 58 to 92%)");
	assert_non_null(strstr(line->reasons[1], "2.0 us or less"));
	assert_int_equal(profile->accesses[PAIR_LOAD].sampled, 20);
}

static void test_pairs_a_reader_cannot_tell_apart_are_one(void **state)
{
	struct fixture *fixture = *state;
	const struct cct_node *a = element(fixture, 3, 0), *b = element(fixture, 3, 1);
	const struct cct_node *other = element(fixture, 4, 0);
	const struct profile *profile;

	/* Two subscripts of one line, in all combinations; loads and stores apart; another line
	 * apart. */
	add(fixture, PAIR_LOAD, a, a, VERDICT_REDUNDANT, 300, 1);
	add(fixture, PAIR_LOAD, a, b, VERDICT_REDUNDANT, 300, 2);
	add(fixture, PAIR_LOAD, b, a, VERDICT_NEW, 300, 4);
	add(fixture, PAIR_STORE, a, b, VERDICT_REDUNDANT, 300, 8);
	add(fixture, PAIR_LOAD, a, other, VERDICT_REDUNDANT, 300, 16);
	profile = build(fixture);
	assert_int_equal(profile->pair_count, 3);
	assert_int_equal(profile->pairs[0].redundant, 16);
	assert_int_equal(profile->pairs[0].category, CATEGORY_SLICE_UNDERUTILISATION);
	assert_int_equal(profile->pairs[1].redundant, 8);
	assert_int_equal(profile->pairs[1].kind, PAIR_STORE);
	assert_int_equal(profile->pairs[2].redundant, 3);
	assert_int_equal(profile->pairs[2].sampled, 7);
	assert_int_equal(line_of(profile, 3)->accesses[PAIR_LOAD].sampled, 23);
	assert_null(line_of(profile, 4)); /* a later access is not the line's own sample */
}

static const struct profile_line *line_in(const struct profile *profile, const char *folder,
					  int line)
{
	for (size_t i = 0; i < profile->line_count; i++)
		if (profile->lines[i].line == line && strstr(profile->lines[i].file, folder))
			return &profile->lines[i];
	return NULL;
}

/*
 * A library's thin function: its time stays its own, but is charged, as are its
 * accesses, to the line that calls it.
 */
static void test_library_wrappers_charge_their_caller(void **state)
{
	struct fixture *fixture = *state;
	struct python_code library = fixture->back->code;
	struct frame caller = python(fixture->again, 7, "CALL", 0), thin, looping, deep;
	const struct profile *profile;
	const struct profile_line *line;
	struct cct_node *node;

	library.file = "/home/user/lib/site-packages/arrays/wrappers.py";
	thin = python(fixture->back, 5, "CALL", 0);
	looping = python(fixture->back, 3, subscript(fixture), 0);
	thin.python.code = looping.python.code = &library;
	deep = native(fixture, vector_kernel, 1);

	/* Through one wrapper and through two. */
	node = INSERT(fixture, module_frame(fixture), caller, thin, deep);
	cct_node_charge(node, TIME_NATIVE, 1, 30 * MS);
	add(fixture, PAIR_LOAD, node, node, VERDICT_REDUNDANT, 300, 4);
	node = INSERT(fixture, module_frame(fixture), caller, thin, thin, deep);
	cct_node_charge(node, TIME_NATIVE, 1, 20 * MS);
	/* A library's own loop answers for itself, and so does what is called from there. */
	node = INSERT(fixture, module_frame(fixture), caller, looping, deep);
	cct_node_charge(node, TIME_NATIVE, 1, 7 * MS);
	node = INSERT(fixture, module_frame(fixture), caller, looping, thin, deep);
	cct_node_charge(node, TIME_NATIVE, 1, 2 * MS);
	/* Started from a module, outside of a loop, or with nothing else around it: its own. */
	node = INSERT(fixture, module_frame(fixture), thin, deep);
	cct_node_charge(node, TIME_NATIVE, 1, 500 * MS);
	node = INSERT(fixture, thin, thin, deep);
	cct_node_charge(node, TIME_NATIVE, 1, 600 * MS);
	profile = build(fixture);

	line = line_in(profile, "/project/", 7);
	assert_int_equal(line->self_ns[TIME_NATIVE], 0);
	assert_int_equal(line->charged_ns, 50 * MS);
	assert_int_equal(line->accesses[PAIR_LOAD].sampled, 4);
	line = line_in(profile, "/site-packages/", 3);
	assert_int_equal(line->self_ns[TIME_NATIVE], 7 * MS);
	assert_int_equal(line->charged_ns, 9 * MS);
	line = line_in(profile, "/site-packages/", 5);
	assert_int_equal(line->self_ns[TIME_NATIVE], 1152 * MS);
	assert_int_equal(line->charged_ns, 1100 * MS);
	assert_int_equal(line->accesses[PAIR_LOAD].sampled, 0);
	/* The path keeps all its frames. */
	assert_int_equal(profile->pair_count, 1);
	assert_int_equal(profile->pairs[0].first_count, 4);
	assert_string_equal(profile->pairs[0].line->file, "/project/program.py");
}

#define CALLEES 10

/* A line that calls so many functions of libraries, 100 ms each; in two something is redundant. */
static const struct profile_line *line_of_callees(struct fixture *fixture, size_t count,
						  struct python_code libraries[CALLEES])
{
	static const char *const files[CALLEES] = {
		"/site-packages/a.py", "/site-packages/b.py", "/site-packages/c.py",
		"/site-packages/d.py", "/site-packages/e.py", "/site-packages/f.py",
		"/site-packages/g.py", "/site-packages/h.py", "/site-packages/i.py",
		"/site-packages/j.py",
	};
	struct frame caller = python(fixture->again, 7, "CALL", 0);

	for (size_t i = 0; i < count; i++) {
		struct frame thin = python(fixture->back, 5, "CALL", 0);
		struct cct_node *node;

		libraries[i] = fixture->back->code;
		libraries[i].file = files[i];
		libraries[i].id = 100 + (uint32_t)i;
		thin.python.code = &libraries[i];
		node = INSERT(fixture, module_frame(fixture), caller, thin,
			      native(fixture, vector_kernel, 1));
		cct_node_charge(node, TIME_NATIVE, 1, 100 * MS);
		if (i < 2)
			add(fixture, PAIR_LOAD, node, node, VERDICT_REDUNDANT, 300, 5);
	}
	return line_in(build(fixture), "/project/", 7);
}

/* What calls every test of a library has none of their work to answer for: they have. */
static void test_line_of_many_callees(void **state)
{
	struct fixture *fixture = *state;
	struct python_code libraries[CALLEES];
	const struct profile_line *line = line_of_callees(fixture, CALLEES, libraries);

	assert_int_equal(line->total_ns, 1000 * MS);
	assert_int_equal(line->charged_ns, 0);
	assert_int_equal(line->accesses[PAIR_LOAD].sampled, 0);
	assert_int_equal(line->avoidable_ns, 0);
	line = line_in(fixture->profile, "/site-packages/b.py", 5);
	assert_int_equal(line->charged_ns, 100 * MS);
	assert_int_equal(line->accesses[PAIR_LOAD].redundant, 5);
	assert_int_equal(line_in(fixture->profile, "/site-packages/j.py", 5)->charged_ns, 100 * MS);
}

/* But a few wrappers are the doing of who calls them. */
static void test_line_of_few_callees(void **state)
{
	struct python_code libraries[CALLEES];
	const struct profile_line *line = line_of_callees(*state, 4, libraries);

	assert_int_equal(line->charged_ns, 400 * MS);
	assert_int_equal(line->accesses[PAIR_LOAD].redundant, 10);
	assert_in_range(line->avoidable_ns, 200 * MS, 400 * MS);
}

/* Bulk calls whose stores all put other values, but which leave in the end what was there. */
static void test_whole_calls_made_again(void **state)
{
	struct fixture *fixture = *state;
	struct cct_node *node = vectorised(fixture);
	struct pair_evidence evidence = { .call_ns = MS / 2, .memory = MEMORY_HEAP, .bytes = 8 };
	const struct profile_line *line;

	cct_node_charge(node, TIME_NATIVE, 1, 1000 * MS);
	for (int i = 0; i < 30; i++)
		assert_int_equal(pair_table_add(fixture->pairs, PAIR_STORE, node, node, VERDICT_NEW,
						&evidence),
				 0);
	line = line_of(build(fixture), 5);
	assert_int_equal(line->avoidable_ns, 0);
	assert_int_equal(line->category, CATEGORY_UNCLEAR);
	evidence.settled = evidence.settled_same = true;
	for (int i = 0; i < 300; i++)
		assert_int_equal(pair_table_add(fixture->pairs, PAIR_STORE, node, node, VERDICT_NEW,
						&evidence),
				 0);
	line = line_of(build(fixture), 5);
	assert_in_range(line->avoidable_ns, 800 * MS, 1000 * MS);
	assert_int_equal(line->accesses[PAIR_STORE].redundant, 0);
	assert_int_equal(line->category, CATEGORY_REPEATED_CALL);
}

static void test_never_reaccessed(void **state)
{
	struct fixture *fixture = *state;
	struct pair_evidence evidence = { .call_ns = 100, .memory = MEMORY_HEAP };
	const struct profile *profile;
	const struct profile_line *line;

	add(fixture, PAIR_STORE, vectorised(fixture), vectorised(fixture), VERDICT_NEW, 100, 1);
	for (int i = 0; i < 3; i++)
		assert_int_equal(pair_table_add_never(fixture->pairs, PAIR_STORE,
						      vectorised(fixture), &evidence),
				 0);
	profile = build(fixture);
	assert_int_equal(profile->pair_count, 0); /* it always found a new value: no finding */
	line = line_of(profile, 5);
	assert_int_equal(line->accesses[PAIR_STORE].sampled, 4);
	assert_int_equal(line->accesses[PAIR_STORE].reaccessed, 1);
	assert_int_equal(line->accesses[PAIR_STORE].redundant, 0);
	assert_int_equal(line->avoidable_ns, 0);
}

/* Two lines equally hot and equally redundant, one of them vectorised. */
static void test_inefficient_line_goes_before_the_vectorised(void **state)
{
	struct fixture *fixture = *state;
	const struct cct_node *slow = element(fixture, 3, 0);
	struct unit_random random = { .state = 8 };
	const struct profile_line *inefficient, *bulk;
	const struct profile *profile;

	cct_node_charge(element(fixture, 3, 0), TIME_NATIVE, 1, 1000 * MS);
	cct_node_charge(vectorised(fixture), TIME_NATIVE, 1, 1100 * MS);
	for (int i = 0; i < 200; i++) {
		enum access_verdict verdict =
			unit_random_below(&random, 10) < 6 ? VERDICT_REDUNDANT : VERDICT_NEW;

		add(fixture, PAIR_LOAD, slow, slow, verdict, unit_random_below(&random, 800) + 1,
		    1);
		add(fixture, PAIR_LOAD, vectorised(fixture), vectorised(fixture), verdict,
		    unit_random_below(&random, MS) + 1, 1);
	}
	profile = build(fixture);
	inefficient = line_of(profile, 3);
	bulk = line_of(profile, 5);
	assert_true(bulk->total_ns > inefficient->total_ns);
	assert_int_equal(bulk->accesses[PAIR_LOAD].redundant,
			 inefficient->accesses[PAIR_LOAD].redundant);
	assert_true(inefficient->avoidable_ns > 500 * MS);
	assert_true(bulk->avoidable_ns < inefficient->avoidable_ns / 100);
	assert_ptr_equal(profile->pairs[0].line, inefficient);
	assert_true(inefficient->call_ns < 1000);
	assert_in_range(bulk->call_ns, 750000, 1250000);
}

static void test_collector_is_taken_out(void **state)
{
	struct fixture *fixture = *state;
	const struct cct_node *line = element(fixture, 3, 0);
	const struct cct_node *collector = INSERT(
		fixture, module_frame(fixture), python(fixture->back, 3, subscript(fixture), 0),
		native(fixture, gc_collect_main, 1), native(fixture, vector_kernel, 1));
	/* A finaliser: Python code that the collector runs. */
	const struct cct_node *finaliser =
		INSERT(fixture, module_frame(fixture), native(fixture, gc_collect_main, 1),
		       python(fixture->back, 5, "CALL", 0), native(fixture, vector_kernel, 1));
	const struct profile *profile;

	fixture->facts.losses.counts[LOSS_FILTER_COLLECTOR] = 100;
	add(fixture, PAIR_LOAD, line, line, VERDICT_REDUNDANT, 300, 5);
	add(fixture, PAIR_LOAD, line, collector, VERDICT_REDUNDANT, 300, 3);
	add(fixture, PAIR_LOAD, collector, line, VERDICT_REDUNDANT, 300, 7);
	add(fixture, PAIR_LOAD, finaliser, line, VERDICT_REDUNDANT, 300, 2);
	profile = build(fixture);
	assert_int_equal(profile->facts.losses.counts[LOSS_FILTER_COLLECTOR], 110);
	assert_int_equal(profile->pair_count, 2);
	assert_int_equal(profile->accesses[PAIR_LOAD].sampled, 7);
	assert_int_equal(line_of(profile, 3)->accesses[PAIR_LOAD].sampled, 5);
	assert_int_equal(line_of(profile, 3)->accesses[PAIR_LOAD].redundant, 5);
	assert_int_equal(line_of(profile, 5)->accesses[PAIR_LOAD].sampled, 2);
}

static void test_unknown_native_functions(void **state)
{
	struct fixture *fixture = *state;
	struct frame nowhere = { .kind = FRAME_NATIVE, .native = { .pc = 0x1234 } };
	struct frame elsewhere = { .kind = FRAME_NATIVE, .native = { .pc = 0x5678 } };
	const struct cct_node *a = INSERT(fixture, module_frame(fixture), nowhere);
	const struct cct_node *b = INSERT(fixture, module_frame(fixture), elsewhere);
	const struct cct_node *no_python = INSERT(fixture, nowhere);
	const struct profile *profile;

	add(fixture, PAIR_LOAD, a, a, VERDICT_REDUNDANT, 300, 2);
	add(fixture, PAIR_LOAD, b, b, VERDICT_REDUNDANT, 300, 3);
	add(fixture, PAIR_LOAD, no_python, no_python, VERDICT_REDUNDANT, 300, 1);
	profile = build(fixture);
	assert_int_equal(profile->pair_count, 3);
	for (size_t i = 0; i < 3; i++) {
		const struct profile_pair *pair = &profile->pairs[i];
		const struct profile_frame *leaf = &pair->first[pair->first_count - 1];

		assert_string_equal(leaf->function, "?");
		assert_string_equal(leaf->file, "?");
		assert_int_equal(leaf->address, pair->redundant == 3 ? 0x5678 : 0x1234);
		assert_int_equal(pair->line == NULL, pair->redundant == 1);
	}
	/* Names are a help, not a need. */
	profile_destroy(fixture->profile);
	fixture->profile = profile_build(fixture->cct, fixture->pairs, NULL, &fixture->facts);
	assert_int_equal(fixture->profile->pair_count, 3);
}

/* The whole profile as text, but for what depends on which of several equals came first. */
static char *describe(const struct profile *profile)
{
	char *text = NULL;
	size_t size = 0;
	FILE *file = open_memstream(&text, &size);

	for (size_t i = 0; i < profile->line_count; i++) {
		const struct profile_line *line = &profile->lines[i];

		fprintf(file, "%s:%d %s %lu %lu %lu %lu %lu %d\n", line->file, line->line,
			line->function, line->total_ns, line->accesses[0].sampled,
			line->accesses[1].redundant, line->avoidable_ns, line->call_ns,
			(int)line->category);
		for (size_t r = 0; r < line->reason_count; r++)
			fprintf(file, "  %s\n", line->reasons[r]);
	}
	for (size_t i = 0; i < profile->pair_count; i++) {
		const struct profile_pair *pair = &profile->pairs[i];

		fprintf(file, "%d %lu %lu %lu %d:", (int)pair->kind, pair->sampled, pair->redundant,
			pair->avoidable_ns, (int)pair->category);
		for (size_t f = 0; f < pair->first_count; f++)
			fprintf(file, " %s:%d", pair->first[f].function, pair->first[f].line);
		fprintf(file, " |");
		for (size_t f = 0; f < pair->second_count; f++)
			fprintf(file, " %s:%d", pair->second[f].function, pair->second[f].line);
		fprintf(file, "\n");
	}
	fclose(file);
	return text;
}

/* The same samples in any order make the same report: nothing hangs on addresses or on who came
 * first. */
static void test_order_is_of_the_content(void **state)
{
	struct fixture *fixture = *state;
	struct unit_random random = { .state = 9 };
	int steps[60];
	char *first = NULL;

	for (int i = 0; i < 60; i++)
		steps[i] = i;
	for (int round = 0; round < 20; round++) {
		char *text;

		for (size_t i = 59; i > 0; i--) {
			size_t with = unit_random_below(&random, i + 1);
			int step = steps[i];

			steps[i] = steps[with];
			steps[with] = step;
		}
		for (size_t i = 0; i < 60; i++) {
			struct cct_node *nodes[] = { element(fixture, 3, 0), element(fixture, 4, 1),
						     vectorised(fixture), element(fixture, 4, 0) };
			struct cct_node *a = nodes[steps[i] % 4], *b = nodes[steps[i] / 4 % 4];

			/* Many ties. */
			cct_node_charge(a, TIME_NATIVE, 1, MS);
			add(fixture, steps[i] % 2 ? PAIR_LOAD : PAIR_STORE, a, b, VERDICT_REDUNDANT,
			    100 + (uint64_t)steps[i], 1);
		}
		text = describe(build(fixture));
		if (first)
			assert_string_equal(text, first);
		else
			first = text;
		if (text != first)
			free(text);
		tear_down(state);
		set_up(state);
	}
	assert_true(strlen(first) > 500);
	free(first);
}

static void test_limit_of_pairs(void **state)
{
	struct fixture *fixture = *state;
	const struct cct_node *nodes[70];
	const struct profile *profile;

	for (size_t i = 0; i < 70; i++) {
		struct frame frame = { .kind = FRAME_NATIVE, .native = { .pc = 0x1000 + i } };

		nodes[i] = INSERT(fixture, module_frame(fixture), frame);
	}
	for (size_t i = 0; i < 70; i++)
		for (size_t k = 0; k < 70; k++)
			add(fixture, PAIR_LOAD, nodes[i], nodes[k], VERDICT_REDUNDANT, 100,
			    i == 69 ? 2 : 1);
	profile = build(fixture);
	assert_int_equal(profile->pair_count, PAIRS);
	assert_int_equal(profile->pairs_omitted, 4900 - PAIRS);
	assert_int_equal(profile->pairs[0].redundant, 2); /* those that say most are kept */
	assert_int_equal(line_of(profile, 8)->accesses[PAIR_LOAD].redundant, 4900 + 70);
}

static void test_facts_are_copied(void **state)
{
	struct fixture *fixture = *state;
	char sampler[] = "clock", word[] = "python3";
	const char *command[] = { word, "x.py", NULL };
	const struct profile *profile;

	fixture->facts.sampler = sampler;
	fixture->facts.target.command = command;
	fixture->facts.samples = 17;
	profile = build(fixture);
	memset(sampler, 'x', sizeof(sampler));
	memset(word, 'x', sizeof(word));
	command[1] = NULL;
	assert_string_equal(profile->facts.sampler, "clock");
	assert_string_equal(profile->facts.target.command[0], "python3");
	assert_string_equal(profile->facts.target.command[1], "x.py");
	assert_null(profile->facts.target.command[2]);
	assert_int_equal(profile->facts.samples, 17);
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(test_empty),
		TEST(test_time_by_line),
		TEST(test_recursion_counts_once),
		TEST(test_instruction_without_line_counts_for_the_function),
		TEST(test_pair),
		TEST(test_pairs_a_reader_cannot_tell_apart_are_one),
		TEST(test_library_wrappers_charge_their_caller),
		TEST(test_line_of_many_callees),
		TEST(test_line_of_few_callees),
		TEST(test_whole_calls_made_again),
		TEST(test_never_reaccessed),
		TEST(test_inefficient_line_goes_before_the_vectorised),
		TEST(test_collector_is_taken_out),
		TEST(test_unknown_native_functions),
		TEST(test_order_is_of_the_content),
		TEST(test_limit_of_pairs),
		TEST(test_facts_are_copied),
	};

	return cmocka_run_group_tests(tests, group_set_up, group_tear_down);
}
